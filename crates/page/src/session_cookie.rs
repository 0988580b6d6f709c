//! The cookie of a page session. Over HTTPS it has the prefix `__Host-` and `Secure`, so that a browser sends it to this
//! host only and never unencrypted. Over plain HTTP browsers accept neither.

use axum::http::header::{ORIGIN, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use skald_app::StartedPageSession;

use crate::theme::cookie;

/// The name over HTTPS: browsers take it only with `Secure`, `Path=/` and no domain.
const SECURE_NAME: &str = "__Host-skald";
/// The name over plain HTTP.
const PLAIN_NAME: &str = "skald";

/// The secret of the page session in the cookies of a request.
pub fn session_secret(headers: &HeaderMap) -> Option<&str> {
    cookie(headers, SECURE_NAME).or_else(|| cookie(headers, PLAIN_NAME)).filter(|secret| !secret.is_empty())
}

/// Whether the browser uses HTTPS: by `Origin`, or by the header that a proxy before the server sets.
pub(crate) fn is_https(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    text(ORIGIN.as_str()).starts_with("https://") || text("x-forwarded-proto").eq_ignore_ascii_case("https")
}

pub(crate) fn set_session(response: &mut Response, headers: &HeaderMap, session: &StartedPageSession) {
    let StartedPageSession { secret, max_age_seconds, .. } = session;
    let (name, secure) = if is_https(headers) { (SECURE_NAME, "; Secure") } else { (PLAIN_NAME, "") };
    append(response, &format!("{name}={secret}; Path=/; Max-Age={max_age_seconds}; HttpOnly; SameSite=Lax{secure}"));
}

/// Makes the browser forget its session, under either name.
pub(crate) fn clear_session(response: &mut Response) {
    append(response, &format!("{SECURE_NAME}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure"));
    append(response, &format!("{PLAIN_NAME}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax"));
}

fn append(response: &mut Response, cookie: &str) {
    if let Ok(value) = HeaderValue::try_from(cookie) {
        response.headers_mut().append(SET_COOKIE, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cookies_of(origin: &'static str) -> String {
        let (mut response, mut headers) = (Response::default(), HeaderMap::new());
        headers.insert(ORIGIN, HeaderValue::from_static(origin));
        let session = StartedPageSession { secret: "s".to_owned(), id: "page_1".to_owned(), max_age_seconds: 60 };
        set_session(&mut response, &headers, &session);
        response.headers()[SET_COOKIE].to_str().expect("text").to_owned()
    }

    #[test]
    fn a_cookie_is_bound_to_the_host_where_that_is_possible() {
        let secure = "__Host-skald=s; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure";
        assert_eq!(cookies_of("https://table.example"), secure);
        assert_eq!(cookies_of("http://192.168.1.7:8081"), "skald=s; Path=/; Max-Age=60; HttpOnly; SameSite=Lax");
    }
}
