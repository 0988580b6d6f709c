//! Signing in with a token or an invitation, signing out, and the list of browsers that are signed in.

use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, USER_AGENT};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;
use skald_app::{Code, Fault, page_session_id};

use crate::SharedContext;
use crate::components::{TextField, empty_state, fault_box, time};
use crate::extractors::{PagePath, PageQuery};
use crate::form::Form;
use crate::layout::{MainPart, PageLayout};
use crate::middleware::{PageError, status};
use crate::session_cookie::{clear_session, is_https, session_secret, set_session};
use crate::theme::is_local_path;
use crate::view_as::clear_view;
use crate::visitor::{Browser, Visitor};

/// Where to go once somebody is signed in.
#[derive(Debug, Deserialize)]
pub(crate) struct NextPath {
    #[serde(default)]
    next: String,
}

/// `GET /sign-in`.
pub(crate) async fn show(browser: Browser, PageQuery(NextPath { next }): PageQuery<NextPath>) -> Response {
    sign_in_page(browser, &next, None)
}

/// Renders the form for a token. It is also the answer to a request without a known caller.
pub(crate) fn sign_in_page(browser: Browser, next: &str, fault: Option<&Fault>) -> Response {
    // A first visit without a token shows no error.
    let fault = fault.filter(|fault| !fault.body().message.contains("is required"));
    let layout = PageLayout::new("Sign in", None, browser);
    forbid_caching(layout.render(html! {
        div.narrow {
            h1 { "Sign in" }
            @if let Some(fault) = fault { (fault_box(fault)) }
            section.card {
                form method="post" action="/sign-in" {
                    input type="hidden" name="next" value=(next);
                    div.field {
                        label for="token" { "Token" }
                        input #token type="password" name="token" required autocomplete="current-password"
                            spellcheck="false" aria-describedby="token-note";
                        p.field-note #token-note {
                            "The game master makes one with " code { "skald token create" } ". It begins with " code { "skald_" } "."
                        }
                    }
                    button.primary { "Sign in" }
                }
            }
            p { "Were you invited? " a href="/join" { "Use your invitation" } "." }
        }
    }))
}

/// `POST /sign-in`.
pub(crate) async fn sign_in(
    State(context): State<SharedContext>,
    browser: Browser,
    headers: HeaderMap,
    form: Form,
) -> Result<Response, PageError> {
    let next = form.text("next").to_owned();
    let Some(token) = form.filled("token") else {
        let fault = Fault::new(Code::InvalidParams, "there is no token in the form").with_path("/token");
        return Ok(with_refusal_status(sign_in_page(browser, &next, Some(&fault)), &fault));
    };
    match context.engine.start_page_session(token, &browser_name(&headers), "POST /sign-in").await {
        Ok(session) => {
            let mut response = Redirect::to(destination(&next)).into_response();
            set_session(&mut response, &headers, &session);
            Ok(forbid_caching(response))
        }
        Err(fault) => Ok(with_refusal_status(sign_in_page(browser, &next, Some(&fault)), &fault)),
    }
}

fn with_refusal_status(mut response: Response, fault: &Fault) -> Response {
    *response.status_mut() = status(fault.class());
    response
}

/// The path to go to after signing in: a path of this server other than the sign-in page.
fn destination(next: &str) -> &str {
    if is_local_path(next) && !next.starts_with("/sign-") { next } else { "/" }
}

/// `POST /sign-out`: ends the session of this browser.
pub(crate) async fn sign_out(
    State(context): State<SharedContext>,
    visitor: Visitor,
    headers: HeaderMap,
) -> Result<Response, PageError> {
    if let Some(id) = session_secret(&headers).and_then(page_session_id) {
        context.engine.end_page_session(&visitor.caller, &id, "POST /sign-out").await?;
    }
    let mut response = Redirect::to("/sign-in").into_response();
    clear_session(&mut response);
    clear_view(&mut response);
    Ok(response)
}

/// `GET /join`: the form for a code that somebody read aloud.
pub(crate) async fn show_join(browser: Browser) -> Response {
    join_page(browser, "", None)
}

/// `GET /join/{code}`: the link of an invitation. Opening it changes nothing.
pub(crate) async fn show_join_code(browser: Browser, PagePath(code): PagePath<String>) -> Response {
    join_page(browser, &code, None)
}

fn join_page(browser: Browser, code: &str, fault: Option<&Fault>) -> Response {
    let layout = PageLayout::new("Invitation", None, browser);
    let code_field = TextField {
        name: "code",
        label: "Invitation",
        value: code,
        kind: "text",
        note: Some("It is in the link that you were sent, and begins with skaldinvite_."),
        is_required: true,
        fault,
    };
    forbid_caching(layout.render(html! {
        div.narrow {
            h1 { "You are invited" }
            @if let Some(fault) = fault { (fault_box(fault)) }
            section.card {
                p { "Join the table on this device. The invitation works once; afterwards this browser stays signed in." }
                form method="post" action="/join" {
                    (code_field.render())
                    button.primary { "Join" }
                }
            }
            p { "Have you a token already? " a href="/sign-in" { "Sign in" } "." }
        }
    }))
}

/// `POST /join`: redeems the code, and signs the browser in with the token that it was redeemed for.
pub(crate) async fn join(
    State(context): State<SharedContext>,
    browser: Browser,
    headers: HeaderMap,
    form: Form,
) -> Result<Response, PageError> {
    let Some(code) = form.filled("code") else {
        let fault = Fault::new(Code::InvalidParams, "there is no code in the form").with_path("/code");
        return Ok(with_refusal_status(join_page(browser, "", Some(&fault)), &fault));
    };
    let redeemed = match context.engine.redeem_invitation(code, "POST /join").await {
        Ok(redeemed) => redeemed,
        Err(fault) => return Ok(with_refusal_status(join_page(browser, code, Some(&fault)), &fault)),
    };
    let session = context.engine.start_page_session(&redeemed.token, &browser_name(&headers), "POST /join").await?;
    let mut response = Redirect::to("/").into_response();
    set_session(&mut response, &headers, &session);
    Ok(forbid_caching(response))
}

/// `GET /browsers`: where the visitor is signed in.
pub(crate) async fn browsers(
    State(context): State<SharedContext>,
    visitor: Visitor,
    headers: HeaderMap,
) -> Result<Response, PageError> {
    let sessions = context.engine.list_page_sessions(&visitor.caller).await?;
    let own = session_secret(&headers).and_then(page_session_id);
    let list: Markup = html! {
        @if sessions.is_empty() {
            (empty_state("No browser is signed in", &html! {
                p { "Whoever signs in with a token or an invitation is listed here." }
            }))
        } @else {
            ul.rows {
                @for session in &sessions {
                    @let is_own = own.as_deref() == Some(&session.id);
                    li.row {
                        div.row-main {
                            strong dir="auto" { (session.name) }
                            span.muted { (session.browser) @if is_own { " · this browser" } }
                            span.muted { "since " (time(&session.started_at.to_string())) }
                        }
                        form method="post" action="/browsers/end" {
                            input type="hidden" name="session" value=(session.id);
                            button { "Sign out" span.visually-hidden { " " (session.name) ", " (session.browser) } }
                        }
                    }
                }
            }
        }
    };
    let layout = PageLayout::for_visitor("Browsers", &visitor).part(MainPart::Browsers);
    Ok(layout.render(html! {
        div.narrow {
            h1 { "Browsers" }
            p.lead { @if visitor.is_owner() { "Every browser that is signed in here." } @else { "Where you are signed in." } }
            @if !is_https(&headers) && visitor.browser.is_signed_in {
                p.warning { "This connection is not encrypted: others in the same network could read along." }
            }
            section.card { (list) }
        }
    }))
}

/// `POST /browsers/end`.
pub(crate) async fn end_browser(
    State(context): State<SharedContext>,
    visitor: Visitor,
    headers: HeaderMap,
    form: Form,
) -> Result<Response, PageError> {
    let id = form.text("session");
    context.engine.end_page_session(&visitor.caller, id, "POST /browsers/end").await?;
    let is_own = session_secret(&headers).and_then(page_session_id).as_deref() == Some(id);
    let mut response = Redirect::to(if is_own { "/sign-in" } else { "/browsers" }).into_response();
    if is_own {
        clear_session(&mut response);
    }
    Ok(response)
}

/// The names of browser and system from the header `User-Agent`.
fn browser_name(headers: &HeaderMap) -> String {
    let agent = headers.get(USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let find =
        |known: &[(&str, &'static str)]| known.iter().find(|(mark, _)| agent.contains(mark)).map(|(_, name)| *name);
    let program = find(&[("Edg/", "Edge"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari")]);
    let system = find(&[
        ("Android", "Android"),
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Windows", "Windows"),
        ("Mac OS", "Mac"),
        ("Linux", "Linux"),
    ]);
    match (program, system) {
        (Some(program), Some(system)) => format!("{program} on {system}"),
        (Some(name), None) | (None, Some(name)) => name.to_owned(),
        (None, None) => "a browser".to_owned(),
    }
}

/// Forbids caches to store a page with a form for a secret.
fn forbid_caching(mut response: Response) -> Response {
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_are_named_in_words() {
        let name = |agent: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(USER_AGENT, HeaderValue::from_static(agent));
            browser_name(&headers)
        };
        assert_eq!(
            name("Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36"),
            "Chrome on Android"
        );
        assert_eq!(name("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"), "Firefox on Linux");
        assert_eq!(name("curl/8"), "a browser");
    }

    #[test]
    fn nobody_is_sent_elsewhere_after_signing_in() {
        assert_eq!(destination("/c/camp_1"), "/c/camp_1");
        for next in ["", "//evil.example", "https://evil.example", "/sign-in?next=/", "/sign-out"] {
            assert_eq!(destination(next), "/", "{next}");
        }
    }
}
