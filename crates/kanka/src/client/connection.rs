//! One connection to a Kanka: sends requests with its token, paced, with timeouts, retries and limits, and classifies
//! failures.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Method, Response, StatusCode};
use serde_json::Value;
use skald_app::{RemoteFailure, RemoteFailureKind};

use super::pacing::{Pace, PaceClock};

/// How long to wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long to wait for a whole answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// A page of 45 entities with long entries and posts stays far below.
const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;
/// How often a request that is safe to repeat is sent again.
const RETRIES: u32 = 4;
const FIRST_RETRY: Duration = Duration::from_secs(1);
/// How long to wait after a rate-limit refusal that names no time.
const LIMIT_PAUSE: Duration = Duration::from_secs(15);
/// The longest pause that an answer can ask for.
const PAUSE_MAX: Duration = Duration::from_mins(2);
const MESSAGE_CHARS_MAX: usize = 300;

/// Timeouts of a connection, which tests shorten.
#[derive(Debug, Clone, Copy)]
pub struct ConnectionTimeouts {
    pub connect: Duration,
    pub answer: Duration,
}

impl Default for ConnectionTimeouts {
    fn default() -> Self {
        Self { connect: CONNECT_TIMEOUT, answer: ANSWER_TIMEOUT }
    }
}

pub(super) struct ApiConnection {
    client: Client,
    base_url: String,
    /// Left out of everything that is shown, also if an answer repeats it.
    token: String,
    pub(super) pace: Pace,
}

impl fmt::Debug for ApiConnection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ApiConnection({})", self.base_url)
    }
}

/// A failed attempt.
struct Attempt {
    failure: RemoteFailure,
    /// Whether the request certainly changed nothing, so that even a `POST` may be repeated.
    is_undone: bool,
    /// How long to wait before another attempt, if the answer says so or the limit is reached.
    pause: Option<Duration>,
}

impl Attempt {
    fn new(kind: RemoteFailureKind, message: impl Into<String>, is_undone: bool) -> Self {
        Self { failure: RemoteFailure::new(kind, message), is_undone, pause: None }
    }
}

impl ApiConnection {
    pub(super) fn new(
        base_url: &str,
        token: &str,
        clock: Arc<dyn PaceClock>,
        timeouts: ConnectionTimeouts,
    ) -> Result<Self, String> {
        let mut authorization = HeaderValue::from_str(&format!("Bearer {token}"))
            .map_err(|_| "the token has characters that no token has".to_owned())?;
        authorization.set_sensitive(true);
        let headers = HeaderMap::from_iter([
            (AUTHORIZATION, authorization),
            (ACCEPT, HeaderValue::from_static("application/json")),
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        ]);
        let client = Client::builder()
            .tls_backend_preconfigured(tls_config()?)
            .default_headers(headers)
            .user_agent(concat!("skald/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(timeouts.connect)
            .timeout(timeouts.answer)
            // A redirect would carry the token to wherever it leads.
            .redirect(reqwest::redirect::Policy::none());
        // Plain HTTP leads to this machine alone: a proxy elsewhere would see the token.
        let client = if base_url.starts_with("http://") { client.no_proxy() } else { client };
        let client = client.build().map_err(|error| error.to_string())?;
        Ok(Self { client, base_url: base_url.to_owned(), token: token.to_owned(), pace: Pace::new(clock) })
    }

    pub(super) async fn get(&self, path: &str) -> Result<Value, RemoteFailure> {
        self.send(&Method::GET, path, None).await
    }

    /// Sends a request, with retries. A `POST` whose outcome is unknown is not repeated.
    pub(super) async fn send(&self, method: &Method, path: &str, body: Option<&Value>) -> Result<Value, RemoteFailure> {
        let is_repeatable = *method != Method::POST;
        // The idempotency key. Kanka ignores it; if the remote place is a Skald, a repeated request gets the first answer.
        let key = (*method != Method::GET).then(request_key);
        let mut delay = FIRST_RETRY;
        let mut retries = 0;
        loop {
            self.pace.wait().await;
            let attempt = match self.try_send(method, path, body, key.as_deref()).await {
                Ok(answer) => return Ok(answer),
                Err(attempt) => attempt,
            };
            let is_passing = matches!(
                attempt.failure.kind,
                RemoteFailureKind::RateLimited
                    | RemoteFailureKind::ServerError
                    | RemoteFailureKind::Timeout
                    | RemoteFailureKind::Unreachable
                    | RemoteFailureKind::BrokenAnswer
            );
            if !is_passing || retries == RETRIES || !(is_repeatable || attempt.is_undone) {
                return Err(attempt.failure);
            }
            // Nothing listens at the address: retry once, then let the caller decide when to try again.
            if attempt.failure.kind == RemoteFailureKind::Unreachable && retries > 0 {
                return Err(attempt.failure);
            }
            retries += 1;
            self.pace.pause(attempt.pause.unwrap_or(delay).min(PAUSE_MAX)).await;
            delay *= 2;
        }
    }

    async fn try_send(
        &self,
        method: &Method,
        path: &str,
        body: Option<&Value>,
        key: Option<&str>,
    ) -> Result<Value, Attempt> {
        let mut request = self.client.request(method.clone(), format!("{}/{path}", self.base_url));
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        if let Some(body) = body {
            request = request.body(body.to_string());
        }
        let response = request.send().await.map_err(|error| failed_request(&error))?;
        let number = |name: &str| response.headers().get(name)?.to_str().ok()?.trim().parse::<u32>().ok();
        self.pace.note_limit(number("x-ratelimit-limit"), number("x-ratelimit-remaining"));
        let status = response.status();
        let retry_after = retry_after(response.headers());
        let text = read_body(response).await;
        if status.is_success() {
            let text = text?;
            if text.is_empty() {
                return Ok(Value::Null);
            }
            return serde_json::from_slice(&text).map_err(|_| {
                Attempt::new(
                    RemoteFailureKind::BrokenAnswer,
                    format!("the answer to {method} {path} is no JSON"),
                    false,
                )
            });
        }
        let message = error_message(status, &text.unwrap_or_default(), &self.token);
        Err(match status.as_u16() {
            401 => Attempt::new(RemoteFailureKind::BadToken, format!("the token is not accepted: {message}"), true),
            403 => Attempt::new(RemoteFailureKind::Forbidden, message, true),
            404 => Attempt::new(RemoteFailureKind::NotFound, message, true),
            429 => {
                let attempt =
                    Attempt::new(RemoteFailureKind::RateLimited, format!("too many requests: {message}"), true);
                Attempt { pause: Some(retry_after.unwrap_or(LIMIT_PAUSE)), ..attempt }
            }
            500..=599 => Attempt::new(RemoteFailureKind::ServerError, message, false),
            300..=399 => Attempt::new(
                RemoteFailureKind::BrokenAnswer,
                format!("{status}: the address leads elsewhere; use the address of the API itself"),
                true,
            ),
            _ => Attempt::new(RemoteFailureKind::Invalid, message, true),
        })
    }
}

/// One provider of cryptography in the process, and the authorities of the system.
fn tls_config() -> Result<rustls::ClientConfig, String> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| error.to_string())?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

/// The failure of a request without an answer. Its message may contain the address, but never a header with the token.
fn failed_request(error: &reqwest::Error) -> Attempt {
    if error.is_connect() {
        let kind = if error.is_timeout() { RemoteFailureKind::Timeout } else { RemoteFailureKind::Unreachable };
        return Attempt::new(RemoteFailureKind::Unreachable, format!("no connection ({})", root_cause(error)), true)
            .with_kind(kind);
    }
    if error.is_timeout() {
        return Attempt::new(RemoteFailureKind::Timeout, "no answer in time", false);
    }
    Attempt::new(RemoteFailureKind::BrokenAnswer, format!("the connection broke ({})", root_cause(error)), false)
}

impl Attempt {
    fn with_kind(mut self, kind: RemoteFailureKind) -> Self {
        self.failure.kind = kind;
        self
    }
}

fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

/// The body up to the limit.
async fn read_body(mut response: Response) -> Result<Vec<u8>, Attempt> {
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if body.len() + chunk.len() > ANSWER_BYTES_MAX => {
                let message = format!("an answer has more than {ANSWER_BYTES_MAX} bytes");
                return Err(Attempt::new(RemoteFailureKind::BrokenAnswer, message, false));
            }
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => return Ok(body),
            Err(error) if error.is_timeout() => {
                return Err(Attempt::new(RemoteFailureKind::Timeout, "an answer did not end in time", false));
            }
            Err(_) => return Err(Attempt::new(RemoteFailureKind::BrokenAnswer, "an answer ended too early", false)),
        }
    }
}

/// Seconds from now on.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse::<u64>().ok()?;
    Some(Duration::from_secs(seconds.max(1)))
}

/// A unique key for a request, made of the process id, the time and a counter.
fn request_key() -> String {
    static REQUESTS: AtomicU64 = AtomicU64::new(0);
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let number = REQUESTS.fetch_add(1, Ordering::Relaxed);
    format!("mirror-{}-{:x}-{number}", std::process::id(), since_epoch.as_nanos())
}

/// What an error body says: Kanka has several shapes.
fn error_message(status: StatusCode, body: &[u8], token: &str) -> String {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let sentence = match &body {
        Value::Array(sentences) => sentences.first().and_then(Value::as_str),
        body => body.get("error").or(body.get("message")).and_then(Value::as_str),
    };
    let fields = body.get("fields").or(body.get("errors")).and_then(Value::as_object);
    let fields = fields.into_iter().flatten().map(|(field, messages)| match messages {
        Value::Array(messages) => {
            let texts: Vec<&str> = messages.iter().filter_map(Value::as_str).collect();
            format!("{field}: {}", texts.join(", "))
        }
        message => format!("{field}: {}", message.as_str().unwrap_or_default()),
    });
    let parts: Vec<String> = sentence.map(ToOwned::to_owned).into_iter().chain(fields).collect();
    let text = if parts.is_empty() { status.to_string() } else { format!("{} {}", status.as_u16(), parts.join("; ")) };
    // Remove control characters before the token is replaced, and cut afterwards: otherwise a part of it could remain.
    let text: String = text.chars().filter(|letter| !letter.is_control()).collect();
    let text = if token.is_empty() { text } else { text.replace(token, "***") };
    text.chars().take(MESSAGE_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_that_an_error_repeats_is_not_shown() {
        let token = "a-token-of-some-length";
        for body in [
            format!("{{\"error\": \"bad token {token}.\"}}"),
            format!("[\"Bearer {token}\"]"),
            format!("{{\"error\": \"bad\", \"fields\": {{\"{token}\": [\"{token}\"]}}}}"),
            format!("{{\"error\": \"{}{token}\"}}", "x".repeat(MESSAGE_CHARS_MAX - 10)),
            format!("{{\"error\": \"{}\\n{}\"}}", &token[..5], &token[5..]),
        ] {
            let message = error_message(StatusCode::UNAUTHORIZED, body.as_bytes(), token);
            assert!(!message.contains("a-tok") && message.contains("**"), "{message}");
            assert!(message.chars().count() <= MESSAGE_CHARS_MAX, "{message}");
        }
    }
}
