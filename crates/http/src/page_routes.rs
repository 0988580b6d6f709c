//! Routes that people open in a browser: their errors are pages, and their callers may have a session cookie.

use axum::extract::Request;
use axum::http::header::ACCEPT;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::Response;
use axum::routing::MethodRouter;
use skald_app::Fault;

use crate::fault;

/// The web page as another crate serves it. This crate knows neither its HTML nor its cookies.
pub struct PageRoutes<S = ()> {
    /// Each path, as a template, with its handler.
    pub routes: Vec<(&'static str, MethodRouter<S>)>,
    /// Answers a browser at an address that is no route.
    pub unknown_address: MethodRouter<S>,
    pub hooks: PageHooks,
}

/// What the middleware asks of the page.
#[derive(Debug, Clone, Copy)]
pub struct PageHooks {
    /// Renders an error that was found before a route was reached.
    pub render_fault: fn(&RefusedPage<'_>, &Fault) -> Response,
    /// The secret of the page session in the cookies.
    pub session_secret: fn(&HeaderMap) -> Option<&str>,
}

/// A request for a page that was refused.
#[derive(Debug, Clone, Copy)]
pub struct RefusedPage<'a> {
    pub status: StatusCode,
    pub method: &'a Method,
    pub uri: &'a Uri,
    pub headers: &'a HeaderMap,
}

/// Whether a browser asks for a page to show, or a script of a page for a part of one. Programs get JSON.
pub(crate) fn wants_html(headers: &HeaderMap) -> bool {
    let accept = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    headers.contains_key("hx-request")
        || accept.flat_map(|line| line.split(',')).any(|part| {
            part.split(';').next().is_some_and(|mime_type| mime_type.trim().eq_ignore_ascii_case("text/html"))
        })
}

/// The answer to a request that is refused before its route: a page, or JSON in the shape of the surface.
pub(crate) fn refuse(request: &Request, fault: &Fault) -> Response {
    let Some(hooks) = request.extensions().get::<PageHooks>() else {
        return fault::response(fault::fault_shape(request.extensions()), fault);
    };
    let (method, uri, headers) = (request.method(), request.uri(), request.headers());
    (hooks.render_fault)(&RefusedPage { status: fault::status(fault.class()), method, uri, headers }, fault)
}
