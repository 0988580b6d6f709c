//! The door before every route: whose pages may call us, under which names we answer, and how long it took.
//!
//! A web page anywhere can make a browser send requests to a server on the same machine. The `Host` check stops a page
//! that points its own name here; the `Origin` check stops every page that is not ours.

use std::convert::Infallible;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use app::{Code, Fault, short};
use axum::extract::Request;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, HOST, ORIGIN, VARY,
};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::response::Response;
use pin_project_lite::pin_project;
use tower_service::Service;

use crate::metering::{Meter, Surface};
use crate::{Readiness, fault};

/// What a page may send beside the headers that any page may.
const ALLOWED: HeaderValue = HeaderValue::from_static(
    "authorization, content-type, accept, idempotency-key, if-match, if-none-match, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name, last-event-id, x-mcp-toolsets, \
     x-mcp-readonly",
);
/// No page of another origin may embed an answer.
const SAME_ORIGIN: HeaderValue = HeaderValue::from_static("same-origin");
/// What a page may read beside the headers that any page may.
const EXPOSED: HeaderValue = HeaderValue::from_static("mcp-session-id, etag, link, location");

/// The names under which the server answers, and the pages that may call it. Loopback is always allowed.
#[derive(Debug, Clone, Default)]
pub struct Allowlist {
    /// Host names, with or without a port.
    pub hosts: Vec<String>,
    /// Origins: scheme, host and, unless it is the scheme's own, port.
    pub origins: Vec<String>,
}

impl Allowlist {
    fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Fault> {
        let mut hosts: Vec<&str> = headers.get_all(HOST).iter().map(text).collect();
        hosts.extend(uri.authority().map(Authority::as_str));
        let stranger = if hosts.is_empty() { Some("") } else { hosts.into_iter().find(|host| !self.takes_host(host)) };
        if let Some(host) = stranger {
            let message = format!("the host {:?} is not one of this server's names", short(host));
            let hint = "use 127.0.0.1 or localhost, or start the server with --allowed-hosts";
            return Err(Fault::new(Code::Forbidden, message).hint(hint));
        }
        match headers.get_all(ORIGIN).iter().map(text).find(|origin| !self.takes_origin(origin)) {
            Some(origin) => {
                let message = format!("pages of the origin {:?} may not call this server", short(origin));
                Err(Fault::new(Code::Forbidden, message).hint("start the server with --allowed-origins to let them"))
            }
            None => Ok(()),
        }
    }

    /// A page of another site makes a browser fetch an image or submit a form without naming its origin; the browser
    /// says so in a header of its own, which no page can change. Following a link is none of that.
    fn check_site(method: &Method, headers: &HeaderMap) -> Result<(), Fault> {
        let is = |name: &str, value: &str| headers.get(name).is_some_and(|found| found == value);
        let is_link = method == Method::GET && is("sec-fetch-mode", "navigate") && is("sec-fetch-dest", "document");
        if headers.contains_key(ORIGIN) || !is("sec-fetch-site", "cross-site") || is_link {
            return Ok(());
        }
        Err(Fault::new(Code::Forbidden, "pages of other sites may not call this server")
            .hint("open the address itself, or start the server with --allowed-origins"))
    }

    fn takes_host(&self, host: &str) -> bool {
        if is_loopback(name_of(host)) {
            return true;
        }
        self.hosts.iter().any(|allowed| {
            let exact = allowed.eq_ignore_ascii_case(host);
            exact || (name_of(allowed) == allowed && allowed.eq_ignore_ascii_case(name_of(host)))
        })
    }

    fn takes_origin(&self, origin: &str) -> bool {
        let local = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        local.is_some_and(|host| is_loopback(name_of(host)))
            || self.origins.iter().any(|allowed| allowed.trim_end_matches('/').eq_ignore_ascii_case(origin))
    }
}

/// A header as text; what is none matches nothing.
fn text(value: &HeaderValue) -> &str {
    value.to_str().unwrap_or_default()
}

/// A host without its port; the brackets of an IPv6 address stay.
fn name_of(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) && !port.is_empty() => {
            if name.contains(':') && !name.starts_with('[') { host } else { name }
        }
        _ => host,
    }
}

fn is_loopback(name: &str) -> bool {
    let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    let is_bare_v6 = address == name && name.contains(':');
    name.eq_ignore_ascii_case("localhost")
        || (!is_bare_v6 && address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback()))
}

/// The outermost service. It neither boxes nor reads: a request costs two header look-ups and two clock readings here.
#[derive(Clone)]
pub(crate) struct Door<S> {
    inner: S,
    shared: Arc<Shared>,
}

struct Shared {
    allowlist: Allowlist,
    readiness: Readiness,
    mcp: Meter,
    rest: Meter,
    other: Meter,
}

impl<S> Door<S> {
    pub(crate) fn new(inner: S, allowlist: Allowlist, readiness: Readiness) -> Self {
        let shared = Shared {
            allowlist,
            readiness,
            mcp: Meter::of(Surface::Mcp),
            rest: Meter::of(Surface::Rest),
            other: Meter::of(Surface::Other),
        };
        Self { inner, shared: Arc::new(shared) }
    }
}

impl Shared {
    fn check(&self, request: &Request, surface: Surface) -> Result<(), Fault> {
        self.allowlist.check(request.uri(), request.headers())?;
        Allowlist::check_site(request.method(), request.headers())?;
        match surface {
            Surface::Mcp | Surface::Rest if !self.readiness.takes_requests() => {
                let fault = Fault::new(Code::Unavailable, "the server is stopping");
                Err(fault.hint("send the request again, to the server that takes over").retry_after_ms(1_000))
            }
            Surface::Mcp | Surface::Rest | Surface::Other => Ok(()),
        }
    }

    fn meter(&self, surface: Surface) -> &Meter {
        match surface {
            Surface::Mcp => &self.mcp,
            Surface::Rest => &self.rest,
            Surface::Other => &self.other,
        }
    }
}

impl<S> Service<Request> for Door<S>
where
    S: Service<Request, Response = Response, Error = Infallible>,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Passing<S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let began = Instant::now();
        let surface = Surface::of(request.uri().path());
        let mut origin = request.headers().get(ORIGIN).cloned();
        let step = match self.shared.check(&request, surface) {
            Ok(()) if is_preflight(&request) => Step::Answered { response: Some(preflight()) },
            Ok(()) => Step::Inside { answer: self.inner.call(request) },
            Err(fault) => {
                origin = None;
                Step::Answered { response: Some(fault::response(request.uri().path(), &fault)) }
            }
        };
        Passing { step, began, surface, origin, shared: Arc::clone(&self.shared) }
    }
}

pin_project! {
    pub(crate) struct Passing<F> {
        #[pin]
        step: Step<F>,
        began: Instant,
        surface: Surface,
        // The page that called, if it may read the answer.
        origin: Option<HeaderValue>,
        shared: Arc<Shared>,
    }
}

pin_project! {
    #[project = StepProjection]
    enum Step<F> {
        Inside { #[pin] answer: F },
        Answered { response: Option<Response> },
    }
}

impl<F: Future<Output = Result<Response, Infallible>>> Future for Passing<F> {
    type Output = Result<Response, Infallible>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let mut response = match this.step.project() {
            StepProjection::Inside { answer } => std::task::ready!(answer.poll(context))?,
            StepProjection::Answered { response } => response.take().expect("a future is polled until it is ready"),
        };
        if let Some(origin) = this.origin.take() {
            let headers = response.headers_mut();
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
            headers.append(VARY, HeaderValue::from_static("origin"));
        }
        response.headers_mut().insert("cross-origin-resource-policy", SAME_ORIGIN);
        this.shared.meter(*this.surface).answered(response.status(), this.began.elapsed());
        Poll::Ready(Ok(response))
    }
}

/// A browser asks first whether a page may send a request like the one that it is about to send.
fn is_preflight(request: &Request) -> bool {
    request.method() == Method::OPTIONS && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// It may: the page's origin was checked already. No cookies, though: the answer does not allow credentials.
fn preflight() -> Response {
    let mut response = Response::default();
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, PUT, DELETE"));
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED);
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowlist() -> Allowlist {
        Allowlist {
            hosts: vec!["table.example".to_owned(), "dice.example:8443".to_owned()],
            origins: vec!["https://table.example".to_owned()],
        }
    }

    #[test]
    fn hosts() {
        let taken = |host| allowlist().takes_host(host);
        for host in [
            "localhost",
            "LOCALHOST:8081",
            "127.0.0.1:1",
            "127.0.0.2:1",
            "[::1]",
            "[::1]:8081",
            "table.example:99",
            "dice.example:8443",
        ] {
            assert!(taken(host), "{host} is refused");
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "dice.example",
            "dice.example:1",
            "::1",
            "localhost:x",
        ] {
            assert!(!taken(host), "{host} is taken");
        }
    }

    #[test]
    fn origins() {
        let taken = |origin| allowlist().takes_origin(origin);
        for origin in ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:5173", "https://table.example"] {
            assert!(taken(origin), "{origin} is refused");
        }
        for origin in [
            "null",
            "",
            "http://table.example",
            "https://table.example:444",
            "https://evil.example",
            "http://localhost.evil.example",
            "file://localhost",
        ] {
            assert!(!taken(origin), "{origin} is taken");
        }
    }
}
