//! The theme that a visitor chose: that of the system, light or dark. It is stored in a cookie of its own.

use axum::http::header::{COOKIE, REFERER, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue, Uri};
use axum::response::{IntoResponse, Redirect, Response};
use skald_app::{Code, Fault};

use crate::form::Form;
use crate::middleware::PageError;

/// A cookie that scripts may write too: it is no secret.
const COOKIE_NAME: &str = "skald-theme";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum ChosenTheme {
    /// As the system has it.
    #[default]
    System,
    Light,
    Dark,
}

impl ChosenTheme {
    pub(crate) fn from_headers(headers: &HeaderMap) -> Self {
        match cookie(headers, COOKIE_NAME) {
            Some("light") => Self::Light,
            Some("dark") => Self::Dark,
            _ => Self::System,
        }
    }

    /// The attribute of the root element; none for the system's colours.
    pub(crate) fn attribute(self) -> Option<&'static str> {
        match self {
            Self::System => None,
            Self::Light => Some("light"),
            Self::Dark => Some("dark"),
        }
    }
}

/// The value of a cookie, the first of that name.
pub(crate) fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(found, _)| *found == name).map(|(_, value)| value)
}

/// `POST /theme`: back to where the visitor was.
pub(crate) async fn choose(headers: HeaderMap, form: Form) -> Result<Response, PageError> {
    let value = match form.text("theme") {
        "light" => "light",
        "dark" => "dark",
        "system" => "system",
        other => {
            let fault = Fault::new(Code::InvalidParams, format!("{other:?} is not a theme"));
            return Err(fault.with_path("/theme").allowed(["light", "dark", "system"]).into());
        }
    };
    let mut response = Redirect::to(&path_before(&headers)).into_response();
    let cookie = format!("{COOKIE_NAME}={value}; Path=/; Max-Age=31536000; SameSite=Lax");
    if let Ok(cookie) = HeaderValue::try_from(cookie) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    Ok(response)
}

/// The path of the page that a form was sent from. The host is left out, so that it leads nowhere else.
pub(crate) fn path_before(headers: &HeaderMap) -> String {
    let referer = headers.get(REFERER).and_then(|value| value.to_str().ok());
    let path = referer
        .and_then(|text| text.parse::<Uri>().ok())
        .and_then(|uri| uri.path_and_query().map(|path| path.as_str().to_owned()));
    path.filter(|path| is_local_path(path)).unwrap_or_else(|| "/".to_owned())
}

/// Whether a path stays on this server: `//host` and `/\host` lead elsewhere.
pub(crate) fn is_local_path(path: &str) -> bool {
    path.starts_with('/')
        && !path.starts_with("//")
        && !path.contains('\\')
        && path.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_this_server_are_gone_back_to() {
        for path in ["/", "/c/camp_1?x=1#now", "/dice?e=2d6%2B1"] {
            assert!(is_local_path(path), "{path}");
        }
        for path in ["", "https://evil.example/", "//evil.example", "/\\evil.example", "/a b", "javascript:alert(1)"] {
            assert!(!is_local_path(path), "{path}");
        }
    }

    #[test]
    fn the_first_cookie_of_a_name_counts() {
        let mut headers = HeaderMap::new();
        headers.insert(COOKIE, HeaderValue::from_static("a=1; skald-theme=dark; skald-theme=light"));
        assert_eq!(ChosenTheme::from_headers(&headers), ChosenTheme::Dark);
    }
}
