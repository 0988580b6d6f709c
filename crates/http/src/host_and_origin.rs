//! Middleware before every route: checks `Host` and `Origin`, answers CORS, adds security headers, and measures times.
//!
//! A web page anywhere can make a browser send requests to a server on the same machine. The `Host` check stops a page
//! that points its own name here; the `Origin` check stops every page that is not ours.

use std::convert::Infallible;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::extract::Request;
use axum::http::header::{
    ACCEPT, ACCESS_CONTROL_REQUEST_METHOD, AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
    HOST, HeaderName, IF_MATCH, IF_NONE_MATCH, LINK, LOCATION, ORIGIN, REFERRER_POLICY, RETRY_AFTER, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::response::Response;
use pin_project_lite::pin_project;
use skald_app::{Code, Fault, FaultShape, truncate_for_message};
use tower_http::cors::{AllowOrigin, Cors, CorsLayer, ResponseFuture};
use tower_layer::Layer;
use tower_service::Service;

use crate::Readiness;
use crate::identify::IdentifyHttp;
use crate::mounted_routes::{Section, first_segment};
use crate::page_routes::{self, PageHooks, wants_html};
use crate::prometheus_metrics::Meter;

/// No page of another origin may embed an answer.
const SAME_ORIGIN: HeaderValue = HeaderValue::from_static("same-origin");
/// The policy of an answer that is no page: a browser that opens it runs and loads nothing.
const NO_CONTENT: HeaderValue = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
/// How long a browser may remember the answer to a preflight.
const PREFLIGHT_MAX_AGE: Duration = Duration::from_mins(10);

/// The methods and headers for pages of allowed origins. No cookies: the answers do not allow credentials.
fn cors_layer() -> CorsLayer {
    let header = HeaderName::from_static;
    CorsLayer::new()
        // Requests of other origins are refused before this layer.
        .allow_origin(AllowOrigin::mirror_request())
        .vary([ORIGIN])
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
        .allow_headers([
            AUTHORIZATION,
            CONTENT_TYPE,
            ACCEPT,
            header("idempotency-key"),
            IF_MATCH,
            IF_NONE_MATCH,
            header("mcp-session-id"),
            header("mcp-protocol-version"),
            header("mcp-method"),
            header("mcp-name"),
            header("last-event-id"),
            header("x-mcp-toolsets"),
            header("x-mcp-readonly"),
        ])
        .expose_headers([
            header("mcp-session-id"),
            ETAG,
            LINK,
            LOCATION,
            RETRY_AFTER,
            WWW_AUTHENTICATE,
            header("x-ratelimit-limit"),
            header("x-ratelimit-remaining"),
            header("x-ratelimit-reset"),
            header("x-skald-synced-at"),
            header("x-skald-stale"),
        ])
        .max_age(PREFLIGHT_MAX_AGE)
}

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
        let mut hosts: Vec<&str> = headers.get_all(HOST).iter().map(header_text).collect();
        hosts.extend(uri.authority().map(Authority::as_str));
        let stranger =
            if hosts.is_empty() { Some("") } else { hosts.into_iter().find(|host| !self.is_allowed_host(host)) };
        if let Some(host) = stranger {
            let message = format!("the host {:?} is not one of this server's names", truncate_for_message(host));
            let hint = "use 127.0.0.1 or localhost, or start the server with --allowed-hosts";
            return Err(Fault::new(Code::Forbidden, message).hint(hint));
        }
        let host = headers.get(HOST).map(header_text).unwrap_or_default();
        let is_allowed = |origin: &&str| self.is_allowed_origin(origin) || is_same_origin(origin, host);
        match headers.get_all(ORIGIN).iter().map(header_text).find(|origin| !is_allowed(origin)) {
            Some(origin) => {
                let message =
                    format!("pages of the origin {:?} may not call this server", truncate_for_message(origin));
                Err(Fault::new(Code::Forbidden, message).hint("start the server with --allowed-origins to let them"))
            }
            None => Ok(()),
        }
    }

    /// A page of another site can make a browser fetch an image or submit a form without an `Origin`. The browser
    /// reports it in `Sec-Fetch-Site`, which no page can change. Following a link is allowed.
    fn check_site(method: &Method, headers: &HeaderMap) -> Result<(), Fault> {
        let is = |name: &str, value: &str| headers.get(name).is_some_and(|found| found == value);
        let is_link = method == Method::GET && is("sec-fetch-mode", "navigate") && is("sec-fetch-dest", "document");
        if headers.contains_key(ORIGIN) || !is("sec-fetch-site", "cross-site") || is_link {
            return Ok(());
        }
        Err(Fault::new(Code::Forbidden, "pages of other sites may not call this server")
            .hint("open the address itself, or start the server with --allowed-origins"))
    }

    fn is_allowed_host(&self, host: &str) -> bool {
        if is_loopback(host_name(host)) {
            return true;
        }
        self.hosts.iter().any(|allowed| {
            let exact = allowed.eq_ignore_ascii_case(host);
            exact || (host_name(allowed) == allowed && allowed.eq_ignore_ascii_case(host_name(host)))
        })
    }

    fn is_allowed_origin(&self, origin: &str) -> bool {
        let local = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        local.is_some_and(|host| is_loopback(host_name(host)))
            || self.origins.iter().any(|allowed| allowed.trim_end_matches('/').eq_ignore_ascii_case(origin))
    }
}

/// Whether an origin is that of the host, which is one of this server's names: then it is our own page.
fn is_same_origin(origin: &str, host: &str) -> bool {
    let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    authority.is_some_and(|authority| !host.is_empty() && authority.eq_ignore_ascii_case(host))
}

/// A header as text. Invalid text becomes empty, which matches nothing.
fn header_text(value: &HeaderValue) -> &str {
    value.to_str().unwrap_or_default()
}

/// A host without its port; the brackets of an IPv6 address stay.
fn host_name(host: &str) -> &str {
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

/// The outermost service. It boxes nothing: a request costs two header look-ups and two clock readings.
#[derive(Clone)]
pub(crate) struct HostAndOriginCheck<S> {
    inner: Cors<S>,
    shared: Arc<HostAndOriginState>,
}

struct HostAndOriginState {
    allowlist: Allowlist,
    readiness: Readiness,
    /// Each surface's paths and meter.
    surfaces: Vec<(Section, Meter)>,
    /// The page, if there is one: it answers a browser at an address of no surface.
    page: Option<PageHooks>,
    /// The first segments of routes of no surface, such as those of health and metrics. Their callers are programs.
    no_pages: Vec<String>,
    /// For requests of no surface: health, metrics and unknown paths.
    other: Meter,
}

impl<S> HostAndOriginCheck<IdentifyHttp<S>> {
    /// Takes `IdentifyHttp`, so that no service without identification can be served.
    pub(crate) fn new(
        inner: IdentifyHttp<S>,
        sections: &[Section],
        no_pages: Vec<String>,
        allowlist: Allowlist,
        readiness: Readiness,
    ) -> Self {
        let surfaces = sections.iter().map(|section| (section.clone(), Meter::for_surface(&section.surface)));
        let shared = HostAndOriginState {
            allowlist,
            readiness,
            surfaces: surfaces.collect(),
            page: sections.iter().find_map(|section| section.page),
            no_pages,
            other: Meter::for_surface("other"),
        };
        Self { inner: cors_layer().layer(inner), shared: Arc::new(shared) }
    }
}

impl HostAndOriginState {
    /// The index in `surfaces` of the surface that a path belongs to.
    fn surface_index(&self, path: &str) -> Option<usize> {
        let matching = self.surfaces.iter().enumerate().filter(|(_, (section, _))| section.has_path(path));
        // A surface below another one has its own paths.
        matching.max_by_key(|(_, (section, _))| section.path_len()).map(|(index, _)| index)
    }

    /// The hooks of the page, if the request is for a page, or a browser's for an address of no surface.
    fn page_hooks(&self, request: &Request, surface: Option<usize>) -> Option<PageHooks> {
        match surface {
            Some(at) => self.surfaces[at].0.page,
            None if self.no_pages.iter().any(|segment| segment == first_segment(request.uri().path())) => None,
            None => self.page.filter(|_| wants_html(request.headers())),
        }
    }

    fn fault_shape(&self, surface: Option<usize>) -> FaultShape {
        surface.map_or(FaultShape::Object, |at| self.surfaces[at].0.fault_shape)
    }

    fn check(&self, request: &Request, surface: Option<usize>) -> Result<(), Fault> {
        self.allowlist.check(request.uri(), request.headers())?;
        Allowlist::check_site(request.method(), request.headers())?;
        if surface.is_some() && !self.readiness.is_accepting_requests() {
            let fault = Fault::new(Code::Unavailable, "the server is stopping");
            return Err(fault.hint("send the request again, to the server that takes over").retry_after_ms(1_000));
        }
        Ok(())
    }

    fn meter(&self, surface: Option<usize>) -> &Meter {
        surface.map_or(&self.other, |at| &self.surfaces[at].1)
    }
}

impl<S> Service<Request> for HostAndOriginCheck<S>
where
    S: Service<Request, Response = Response, Error = Infallible>,
{
    type Response = Response;
    type Error = Infallible;
    type Future = HostAndOriginFuture<S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        let began = Instant::now();
        let surface = self.shared.surface_index(request.uri().path());
        let fault_shape = self.shared.fault_shape(surface);
        if fault_shape != FaultShape::Object {
            request.extensions_mut().insert(fault_shape);
        }
        if let Some(hooks) = self.shared.page_hooks(&request, surface) {
            request.extensions_mut().insert(hooks);
        }
        let is_preflight = is_preflight(&request);
        // The CORS layer answers every OPTIONS itself. Without a requested method it is not a preflight, so bypass the
        // layer.
        let is_cors = is_preflight || (request.headers().contains_key(ORIGIN) && request.method() != Method::OPTIONS);
        let step = match self.shared.check(&request, surface) {
            Ok(()) if is_cors => ResponseStep::Cors { answer: self.inner.call(request) },
            Ok(()) => ResponseStep::Inside { answer: self.inner.get_mut().call(request) },
            Err(fault) => ResponseStep::Refused { response: Some(page_routes::refuse(&request, &fault)) },
        };
        HostAndOriginFuture { step, began, surface, is_preflight, shared: Arc::clone(&self.shared) }
    }
}

pin_project! {
    pub(crate) struct HostAndOriginFuture<F> {
        #[pin]
        step: ResponseStep<F>,
        began: Instant,
        surface: Option<usize>,
        is_preflight: bool,
        shared: Arc<HostAndOriginState>,
    }
}

pin_project! {
    #[project = StepProjection]
    enum ResponseStep<F> {
        Inside { #[pin] answer: F },
        Cors { #[pin] answer: ResponseFuture<F> },
        Refused { response: Option<Response> },
    }
}

impl<F: Future<Output = Result<Response, Infallible>>> Future for HostAndOriginFuture<F> {
    type Output = Result<Response, Infallible>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let mut response = match this.step.project() {
            StepProjection::Inside { answer } => std::task::ready!(answer.poll(context))?,
            StepProjection::Cors { answer } => {
                let mut response = std::task::ready!(answer.poll(context))?;
                if *this.is_preflight {
                    *response.status_mut() = StatusCode::NO_CONTENT;
                }
                response
            }
            StepProjection::Refused { response } => response.take().expect("a future is polled until it is ready"),
        };
        let headers = response.headers_mut();
        headers.insert("cross-origin-resource-policy", SAME_ORIGIN);
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
        // A page or a document that needs more has set its own policies.
        headers.entry(REFERRER_POLICY).or_insert(HeaderValue::from_static("no-referrer"));
        headers.entry(CONTENT_SECURITY_POLICY).or_insert(NO_CONTENT);
        // Answers are of one caller; what may be cached has said so.
        headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("private, no-cache"));
        this.shared.meter(*this.surface).record_answer(response.status(), this.began.elapsed());
        Poll::Ready(Ok(response))
    }
}

/// Whether a browser asks if a page may send a request.
fn is_preflight(request: &Request) -> bool {
    request.method() == Method::OPTIONS && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD)
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
        let taken = |host| allowlist().is_allowed_host(host);
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
        let taken = |origin| allowlist().is_allowed_origin(origin);
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
