//! Middleware behind every page route: renders errors as pages, sets security headers, compresses.

use std::io::Write;
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName,
    REFERRER_POLICY, RETRY_AFTER, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use skald_app::{Caller, Class, Code, Fault, RateClass};

use crate::SharedContext;
use crate::assets::{Encoding, accepted_encoding};
use crate::components::{encode, fault_box};
use crate::layout::{PageLayout, html_response};
use crate::session_cookie::clear_session;
use crate::sign_in::sign_in_page;
use crate::theme::path_before;
use crate::unknown_address::{SimilarPage, similar_pages};
use crate::view_as::{ViewedAs, replace_caller};
use crate::visitor::{Browser, Visitor};

/// Nothing but our own files runs, nothing is loaded from elsewhere, and nobody may frame the page.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'; font-src 'self'",
);
/// `no-referrer` would take away the `Origin` that tells our own forms from others'.
const REFERRER: HeaderValue = HeaderValue::from_static("same-origin");
/// Shorter texts are not compressed.
const PACKED_BYTES_MIN: usize = 1_024;

/// A fault on its way to the page that shows it.
#[derive(Debug)]
pub(crate) struct PageError(Box<Fault>);

impl From<Fault> for PageError {
    fn from(fault: Fault) -> Self {
        Self(Box::new(fault))
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let mut response = Response::default();
        *response.status_mut() = status(self.0.class());
        response.extensions_mut().insert(Arc::new(*self.0));
        response
    }
}

/// The status of an error, as on every HTTP surface.
pub(crate) fn status(class: Class) -> StatusCode {
    StatusCode::from_u16(class.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

pub(crate) async fn finish_response(
    State(context): State<SharedContext>,
    mut request: Request,
    next: Next,
) -> Response {
    let browser = Browser::from_headers(request.headers());
    let encoding = accepted_encoding(request.headers());
    let uri = request.uri().clone();
    let page_path = page_path((request.method(), &uri), request.headers(), browser);
    let counted = match request.extensions().get::<Caller>() {
        Some(caller) => context.engine.check_rate(caller, RateClass::Page),
        None => Ok(()),
    };
    let admitted = match counted.and_then(|()| check_form_origin(&request, browser)) {
        Ok(()) => replace_caller(&context, &mut request).await,
        Err(fault) => Err(fault),
    };
    let extensions = request.extensions();
    let (caller, viewed_as) = (extensions.get::<Caller>().cloned(), extensions.get::<ViewedAs>().cloned());
    let mut response = match admitted {
        Ok(()) => next.run(request).await,
        Err(fault) => PageError::from(fault).into_response(),
    };
    if let Some(fault) = fault_of(&response) {
        let visitor = caller.map(|caller| Visitor { caller, browser, viewed_as });
        let similar = match &visitor {
            Some(visitor) if fault.class() == Class::NotFound && !browser.wants_fragment => {
                context.find_similar_pages(visitor, &uri).await
            }
            _ => Vec::new(),
        };
        let refused = RefusedRequest { browser, page_path: &page_path, similar: &similar };
        response = error_page(&fault, visitor.as_ref(), &refused, response.status());
    }
    add_policies(response.headers_mut());
    // `Vary`: under the same address htmx gets a part of the page, and a browser the whole page.
    response.headers_mut().append(VARY, HeaderValue::from_static("hx-request"));
    if encoding == Encoding::Plain { response } else { pack(response).await }
}

/// Refuses a form with a session cookie but without `Origin` and `Sec-Fetch-Site`. Every browser sends one of them, and
/// only browsers have a session cookie.
fn check_form_origin(request: &Request, browser: Browser) -> Result<(), Fault> {
    let is_read = request.method() == Method::GET || request.method() == Method::HEAD;
    let names_its_page = ["origin", "sec-fetch-site"].iter().any(|name| request.headers().contains_key(*name));
    if is_read || !browser.is_signed_in || names_its_page {
        return Ok(());
    }
    let fault = Fault::new(Code::Forbidden, "the form does not say which page sent it");
    Err(fault.hint("open the page in a browser and send it from there; a program uses REST with a token"))
}

/// The fault of a response: that of the handler, of the check of the origin, or of a method that the route does not have.
fn fault_of(response: &Response) -> Option<Arc<Fault>> {
    if let Some(fault) = response.extensions().get::<Arc<Fault>>() {
        return Some(Arc::clone(fault));
    }
    if response.extensions().get::<tower_http::csrf::ProtectionError>().is_some() {
        let fault = Fault::new(Code::Forbidden, "a page of another site sent this form");
        return Some(Arc::new(fault.hint("open the page itself and send it from there")));
    }
    let is_bare = response.headers().get(CONTENT_TYPE).is_none();
    (response.status() == StatusCode::METHOD_NOT_ALLOWED && is_bare).then(|| {
        let fault = Fault::new(Code::InvalidParams, "this address is not for that");
        Arc::new(fault.hint("go back, or home"))
    })
}

/// The path of the page that a request belongs to: one can go back there after signing in. A fragment and the answer to a
/// form are no pages, so it is the page that sent them.
fn page_path((method, uri): (&Method, &Uri), headers: &HeaderMap, browser: Browser) -> String {
    let is_page = (method == Method::GET || method == Method::HEAD) && !browser.wants_fragment;
    match uri.path_and_query().filter(|_| is_page) {
        Some(path) => path.as_str().to_owned(),
        None => path_before(headers),
    }
}

/// Tells a script that the session has ended, and where to sign in. A whole page would be put into a part of one.
fn signed_out_fragment(page_path: &str) -> Response {
    let address = format!("/sign-in?next={}", encode(page_path));
    let mut response = html_response(maud::html! {
        div.fault role="alert" { p.fault-message { "You are signed out. " a href=(address) { "Sign in" } } }
    });
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Ok(address) = HeaderValue::try_from(address) {
        headers.insert("hx-redirect", address);
    }
    response
}

/// The request that an error page answers.
struct RefusedRequest<'a> {
    browser: Browser,
    /// The path of the page that sent it.
    page_path: &'a str,
    /// Pages of a similar name, if there is no page at the address.
    similar: &'a [SimilarPage],
}

fn error_page(fault: &Fault, visitor: Option<&Visitor>, refused: &RefusedRequest<'_>, status: StatusCode) -> Response {
    let RefusedRequest { browser, page_path, similar } = *refused;
    let mut response = if fault.class() == Class::Unauthenticated {
        let mut response = if browser.wants_fragment {
            signed_out_fragment(page_path)
        } else {
            sign_in_page(browser, page_path, Some(fault))
        };
        if browser.is_signed_in {
            clear_session(&mut response);
        }
        response
    } else if browser.wants_fragment {
        html_response(fault_box(fault))
    } else {
        let layout = PageLayout::new(title_of(fault.class()), visitor, browser);
        layout.render(maud::html! {
            div.narrow {
                h1 { (title_of(fault.class())) }
                (fault_box(fault))
                (similar_pages(similar))
                p { a.button href="/" { "Home" } }
            }
        })
    };
    *response.status_mut() = status;
    if let Some(milliseconds) = fault.body().retry_after_ms {
        response.headers_mut().insert(RETRY_AFTER, milliseconds.div_ceil(1_000).into());
    }
    response
}

fn title_of(class: Class) -> &'static str {
    match class {
        Class::Invalid => "That does not fit",
        Class::Unauthenticated => "Sign in",
        Class::Denied => "Not for you",
        Class::NotFound => "Nothing here",
        Class::Refused => "The rules say no",
        Class::Conflict => "Somebody was faster",
        Class::Limited => "Too fast",
        Class::TooLarge => "Too much",
        Class::Unavailable => "Not right now",
        Class::Internal => "Something broke",
    }
}

/// Renders an error that was found before a route was reached.
pub fn render_refused(
    status: StatusCode,
    fault: &Fault,
    (method, uri): (&Method, &Uri),
    headers: &HeaderMap,
) -> Response {
    let browser = Browser::from_headers(headers);
    let page_path = page_path((method, uri), headers, browser);
    let refused = RefusedRequest { browser, page_path: &page_path, similar: &[] };
    let mut response = error_page(fault, None, &refused, status);
    add_policies(response.headers_mut());
    response
}

fn add_policies(headers: &mut HeaderMap) {
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(POLICY);
    headers.insert(REFERRER_POLICY, REFERRER);
    headers.insert(HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin"));
}

/// Compresses a text. A stream is passed on as it is.
async fn pack(response: Response) -> Response {
    let is_text = response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|mime_type| mime_type.starts_with("text/html") || mime_type.starts_with("image/svg+xml"));
    if !is_text || response.headers().contains_key(CONTENT_ENCODING) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let Ok(plain) = to_bytes(body, usize::MAX).await else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    if plain.len() < PACKED_BYTES_MIN {
        return Response::from_parts(parts, Body::from(plain));
    }
    let mut encoder = GzEncoder::new(Vec::with_capacity(plain.len() / 3), Compression::fast());
    let Some(packed) = encoder.write_all(&plain).ok().and_then(|()| encoder.finish().ok()) else {
        return Response::from_parts(parts, Body::from(plain));
    };
    parts.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    parts.headers.append(VARY, HeaderValue::from_static("accept-encoding"));
    parts.headers.remove(CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(packed))
}
