//! The keys of the issuer: fetched over HTTPS, cached, and fetched again when a token names a key that is not known.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use jsonwebtoken::jwk::{Jwk, JwkSet, PublicKeyUse};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use skald_app::limits;
use tokio::time::{Instant, timeout_at};

/// How soon keys are fetched again, whatever tokens name: a flood of tokens with made-up keys is no flood of requests to
/// the issuer.
const REFETCH_INTERVAL: Duration = Duration::from_mins(1);
/// How long keys are used before they are fetched again: a key that the issuer withdrew ends then.
const KEYS_LIFETIME: Duration = Duration::from_hours(1);
/// How long keys count beyond their lifetime while the issuer cannot be reached. Tokens that it gave out before it went
/// away live about that long. Without an end, whoever keeps the issuer from being reached would keep a withdrawn key valid.
const UNREACHABLE_GRACE: Duration = Duration::from_hours(1);
/// How long an issuer has for a fetch, with all its documents.
const FETCH_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a request waits for a fetch, from the beginning of the fetch. The fetch goes on without it.
const FETCH_WAIT: Duration = Duration::from_secs(2);
/// Documents in which an issuer says where its keys are, below its address.
const METADATA_PATHS: [&str; 2] = [".well-known/openid-configuration", ".well-known/oauth-authorization-server"];

/// The keys that an issuer publishes.
pub(crate) struct IssuerKeys {
    shared: Arc<KeyCache>,
    last_fetch: Mutex<Option<KeyFetch>>,
}

/// The fetch that was begun last.
struct KeyFetch {
    begun: Instant,
    /// Completes with the fetch, for everybody who waits.
    end: Shared<BoxFuture<'static, ()>>,
}

struct KeyCache {
    issuer: Url,
    /// Where the keys are; asked of the issuer if `None`.
    jwks: Option<Url>,
    client: Client,
    fetched: RwLock<Arc<FetchedKeys>>,
}

#[derive(Default)]
struct FetchedKeys {
    keys: Vec<Jwk>,
    at: Option<Instant>,
}

/// What is known of the key that a token names.
pub(crate) enum FoundKey {
    Known(Box<Jwk>),
    /// The issuer has no such key, as far as it was asked within the last minute.
    Unknown,
    /// The issuer's keys could not be fetched, or not for too long.
    Unavailable,
}

impl FetchedKeys {
    fn find(&self, key_id: Option<&str>) -> Option<Jwk> {
        let mut fitting = self.keys.iter().filter(|key| match key_id {
            Some(id) => key.common.key_id.as_deref() == Some(id),
            None => true,
        });
        // A token that names no key is only taken where there is one.
        match (fitting.next(), fitting.next()) {
            (Some(key), None) => Some(key.clone()),
            _ => None,
        }
    }

    fn is_younger_than(&self, age: Duration) -> bool {
        self.at.is_some_and(|at| at.elapsed() < age)
    }
}

impl IssuerKeys {
    pub(crate) fn new(issuer: &str, jwks: Option<&str>) -> Result<Self, String> {
        let shared = KeyCache {
            issuer: parse_url(issuer)?,
            jwks: jwks.map(parse_url).transpose()?,
            client: http_client()?,
            fetched: RwLock::default(),
        };
        Ok(Self { shared: Arc::new(shared), last_fetch: Mutex::new(None) })
    }

    /// The key that a token names.
    pub(crate) async fn find(&self, key_id: Option<&str>) -> FoundKey {
        let known = self.shared.fetched();
        if let Some(key) = known.find(key_id).filter(|_| known.is_younger_than(KEYS_LIFETIME)) {
            return FoundKey::Known(Box::new(key));
        }
        let (begun, end) = self.current_fetch();
        // An error means that the issuer is slow: what is known has to do.
        let _ = timeout_at(begun + FETCH_WAIT, end).await;
        let newest = self.shared.fetched();
        if !newest.is_younger_than(KEYS_LIFETIME + UNREACHABLE_GRACE) {
            return FoundKey::Unavailable;
        }
        newest.find(key_id).map_or(FoundKey::Unknown, |key| FoundKey::Known(Box::new(key)))
    }

    /// The last fetch, or a new one if that began long enough ago. One fetch is for all requests.
    fn current_fetch(&self) -> (Instant, Shared<BoxFuture<'static, ()>>) {
        let mut last = self.last_fetch.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fetch) = last.as_ref().filter(|fetch| fetch.begun.elapsed() < REFETCH_INTERVAL) {
            return (fetch.begun, fetch.end.clone());
        }
        let shared = Arc::clone(&self.shared);
        // A task of its own, so that it does not end with the request that began it.
        let fetching = tokio::spawn(async move { shared.refresh().await });
        // An error is a panic, which the log has.
        let end = fetching.map(|_| ()).boxed().shared();
        let fetch = last.insert(KeyFetch { begun: Instant::now(), end });
        (fetch.begun, fetch.end.clone())
    }
}

impl KeyCache {
    fn fetched(&self) -> Arc<FetchedKeys> {
        Arc::clone(&self.fetched.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn store(&self, keys: Vec<Jwk>) {
        let fetched = FetchedKeys { keys, at: Some(Instant::now()) };
        *self.fetched.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(fetched);
    }

    /// Fetches the keys. If that fails, those of the last time stay.
    async fn refresh(&self) {
        let fetched = tokio::time::timeout(FETCH_TIMEOUT, self.fetch()).await;
        match fetched.unwrap_or_else(|_| Err(format!("no answer within {} seconds", FETCH_TIMEOUT.as_secs()))) {
            Ok(keys) => self.store(keys),
            Err(error) => tracing::warn!(error, "the keys of the authorization server cannot be fetched"),
        }
    }

    async fn fetch(&self) -> Result<Vec<Jwk>, String> {
        let jwks = match &self.jwks {
            Some(jwks) => jwks.clone(),
            None => self.discover().await?,
        };
        let found = self.get(jwks).await?;
        let keys = found.get("keys").and_then(Value::as_array).ok_or("the answer has no keys")?;
        // A key of a kind that is not known is skipped: the others still count.
        let keys = keys.iter().take(limits::JWKS_KEYS_MAX).filter_map(|key| serde_json::from_value(key.clone()).ok());
        let set = JwkSet { keys: keys.collect() };
        let signs = |key: &Jwk| !matches!(key.common.public_key_use, Some(PublicKeyUse::Encryption));
        Ok(set.keys.into_iter().filter(signs).collect())
    }

    /// Asks the issuer where its keys are.
    async fn discover(&self) -> Result<Url, String> {
        let mut why = String::new();
        for path in METADATA_PATHS {
            let place = format!("{}/{path}", self.issuer.as_str().trim_end_matches('/'));
            match self.get(parse_url(&place)?).await {
                Ok(metadata) => {
                    let jwks =
                        metadata.get("jwks_uri").and_then(Value::as_str).ok_or("the issuer names no jwks_uri")?;
                    return parse_url(jwks);
                }
                Err(error) => why = error,
            }
        }
        Err(why)
    }

    /// A document of JSON, of limited size and within a limited time.
    async fn get(&self, url: Url) -> Result<Value, String> {
        let mut answer = self.client.get(url).send().await.map_err(|error| error.without_url().to_string())?;
        if !answer.status().is_success() {
            return Err(format!("the answer has the status {}", answer.status()));
        }
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(|error| error.without_url().to_string())? {
            body.extend_from_slice(&chunk);
            if body.len() > limits::JWKS_BYTES_MAX {
                return Err(format!("the answer has more than {} bytes", limits::JWKS_BYTES_MAX));
            }
        }
        serde_json::from_slice(&body).map_err(|_| "the answer is no JSON".to_owned())
    }
}

/// An address that keys may be fetched from: HTTPS, or HTTP on this machine.
fn parse_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("{text:?} is no URL: {error}"))?;
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    let is_local = host == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_local => Ok(url),
        _ => Err(format!("{text:?} is not an https URL")),
    }
}

fn http_client() -> Result<Client, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let tls = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let client = Client::builder()
        .tls_backend_preconfigured(tls)
        // A redirect could lead to another host, whose keys nobody has chosen.
        .redirect(Policy::none())
        .no_proxy()
        .timeout(FETCH_TIMEOUT);
    client.build().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use serde_json::json;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio::time::advance;

    use super::*;

    fn jwk(id: &str) -> Value {
        json!({"kty": "OKP", "crv": "Ed25519", "kid": id, "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"})
    }

    fn keys_at(address: &str) -> IssuerKeys {
        IssuerKeys::new(address, Some(&format!("{address}/keys"))).expect("a URL of this machine")
    }

    fn store(keys: &IssuerKeys, ids: &[&str]) {
        keys.shared.store(ids.iter().map(|id| serde_json::from_value(jwk(id)).expect("a key")).collect());
    }

    async fn is_known(keys: &IssuerKeys, id: &str) -> bool {
        matches!(keys.find(Some(id)).await, FoundKey::Known(_))
    }

    /// An issuer that publishes one key, and changes it when it is told to.
    struct RotatingIssuer {
        address: String,
        current: Arc<Mutex<&'static str>>,
        fetches: Arc<AtomicUsize>,
    }

    impl RotatingIssuer {
        async fn start(id: &'static str) -> Self {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let address = format!("http://{}", listener.local_addr().expect("an address"));
            let (current, fetches) = (Arc::new(Mutex::new(id)), Arc::new(AtomicUsize::new(0)));
            let (served, counted) = (Arc::clone(&current), Arc::clone(&fetches));
            tokio::spawn(async move {
                while let Ok((mut stream, _)) = listener.accept().await {
                    counted.fetch_add(1, Ordering::SeqCst);
                    let body = json!({"keys": [jwk(*served.lock().expect("a key"))]}).to_string();
                    let head =
                        format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
                    // One read is enough for the few lines of the request.
                    let _ = stream.read(&mut [0; 4_096]).await;
                    let _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
                }
            });
            Self { address, current, fetches }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_issuer_that_cannot_be_reached_keeps_its_keys_for_a_while_and_no_longer() {
        // Nothing answers there.
        let keys = keys_at("http://127.0.0.1:1");
        store(&keys, &["first"]);
        assert!(is_known(&keys, "first").await && matches!(keys.find(Some("second")).await, FoundKey::Unknown));
        advance(KEYS_LIFETIME + Duration::from_mins(1)).await;
        assert!(is_known(&keys, "first").await, "past their lifetime, but nobody can say that it was withdrawn");
        advance(UNREACHABLE_GRACE).await;
        assert!(matches!(keys.find(Some("first")).await, FoundKey::Unavailable), "past the grace");
        store(&keys, &["first"]);
        assert!(is_known(&keys, "first").await, "the issuer is back");
    }

    /// Time passes by hand: the issuer answers in real time.
    async fn pass(time: Duration) {
        tokio::time::pause();
        advance(time).await;
        tokio::time::resume();
    }

    #[tokio::test]
    async fn a_rotated_key_is_found_and_the_withdrawn_one_ends() {
        let issuer = RotatingIssuer::start("first").await;
        let keys = keys_at(&issuer.address);
        assert!(is_known(&keys, "first").await);
        *issuer.current.lock().expect("a key") = "second";
        assert!(!is_known(&keys, "second").await, "the keys were fetched less than a minute ago");
        pass(REFETCH_INTERVAL).await;
        assert!(is_known(&keys, "first").await, "a key that is known is not asked for");
        assert!(is_known(&keys, "second").await && !is_known(&keys, "first").await);
        assert_eq!(issuer.fetches.load(Ordering::SeqCst), 2);
        *issuer.current.lock().expect("a key") = "third";
        pass(KEYS_LIFETIME).await;
        assert!(!is_known(&keys, "second").await, "keys are fetched again after their lifetime");
    }

    #[tokio::test]
    async fn unknown_keys_are_asked_for_once_a_minute() {
        let issuer = RotatingIssuer::start("first").await;
        let keys = keys_at(&issuer.address);
        for minute in 1..=3 {
            let unknown = (0..100).map(|number| {
                let keys = &keys;
                async move { assert!(!is_known(keys, &format!("made-up-{number}")).await) }
            });
            futures::future::join_all(unknown).await;
            assert_eq!(issuer.fetches.load(Ordering::SeqCst), minute);
            pass(REFETCH_INTERVAL).await;
        }
    }

    /// The listener accepts in its backlog, and never answers.
    #[tokio::test(start_paused = true)]
    async fn nobody_waits_long_for_an_issuer_that_hangs() {
        let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let keys = keys_at(&format!("http://{}", silent.local_addr().expect("an address")));
        let begun = Instant::now();
        let first = (0..50).map(|_| async { assert!(matches!(keys.find(Some("first")).await, FoundKey::Unavailable)) });
        futures::future::join_all(first).await;
        assert!(begun.elapsed() < FETCH_WAIT + Duration::from_millis(50), "{:?}", begun.elapsed());
        let later = Instant::now();
        assert!(matches!(keys.find(Some("first")).await, FoundKey::Unavailable));
        assert!(later.elapsed() < Duration::from_millis(50), "a fetch that hangs is waited for once");
        // With keys past their lifetime, requests go on as soon as they have waited.
        store(&keys, &["first"]);
        advance(KEYS_LIFETIME + Duration::from_mins(1)).await;
        let begun = Instant::now();
        assert!(is_known(&keys, "first").await && is_known(&keys, "first").await);
        assert!(begun.elapsed() < FETCH_WAIT + Duration::from_millis(50), "{:?}", begun.elapsed());
    }
}
