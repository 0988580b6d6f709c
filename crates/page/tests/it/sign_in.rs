//! Signing in with a token or an invitation, what a cookie is worth, and forms of other sites.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{Method, StatusCode};
use jiff::SignedDuration;
use skald_app::{
    Caller, CampaignRole, Clock, Code, Engine, Fault, NewInvitation, Principal, TokenRestrictions, limits,
};

use crate::{Answer, World, form_request};

/// The secret in the cookie that an answer sets.
fn cookie_secret(answer: &Answer) -> String {
    let cookie = answer.headers["set-cookie"].to_str().unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"), "{cookie}");
    cookie.split(';').next().unwrap().split_once('=').unwrap().1.to_owned()
}

#[tokio::test]
async fn a_token_signs_a_browser_in_until_it_is_revoked() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("The Drowned Bells").await;
    let (ana, token) = world.holder("Ana", &campaign, CampaignRole::Player).await;
    let answer = world.post(None, "/sign-in", &format!("token={token}&next=%2Fc%2F{campaign}")).await;
    assert_eq!(
        (answer.status.as_u16(), answer.headers["location"].to_str().unwrap()),
        (303, &*format!("/c/{campaign}"))
    );
    let secret = cookie_secret(&answer);
    assert!(!secret.contains(&token), "the token itself is in the cookie");
    assert_eq!(world.engine.authenticate_page_session(&secret).await.unwrap().principal, ana.principal);
    // No surface for programs takes it.
    assert_eq!(world.engine.authenticate(&secret).await.unwrap_err().code(), Code::Unauthorized);
    assert_eq!(world.engine.list_page_sessions(&ana).await.unwrap().len(), 1);

    world.engine.app().revoke_token(ana.id(), "a test").await.unwrap();
    assert_eq!(world.engine.authenticate_page_session(&secret).await.unwrap_err().code(), Code::Unauthorized);
}

#[tokio::test]
async fn a_session_ends_after_its_days_or_when_it_is_ended() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("The Drowned Bells").await;
    let (ana, token) = world.holder("Ana", &campaign, CampaignRole::Player).await;
    let (ben, _) = world.holder("Ben", &campaign, CampaignRole::Player).await;
    let secret = cookie_secret(&world.post(None, "/sign-in", &format!("token={token}")).await);
    let id = world.engine.list_page_sessions(&ana).await.unwrap()[0].id.clone();
    // Others do not see it, so that they cannot end it.
    let refused = world.post(Some(&ben), "/browsers/end", &format!("session={id}")).await;
    assert_eq!(refused.status, 404);
    assert!(world.engine.list_page_sessions(&ben).await.unwrap().is_empty());

    let days = i64::try_from(limits::PAGE_SESSION_DAYS).unwrap();
    world.clock.0.fetch_add(days * 86_400 - 1, Ordering::Relaxed);
    assert!(world.engine.authenticate_page_session(&secret).await.is_ok());
    world.clock.0.fetch_add(1, Ordering::Relaxed);
    assert!(world.engine.authenticate_page_session(&secret).await.is_err());
    world.clock.0.fetch_sub(60, Ordering::Relaxed);
    let ended = world.post(Some(&ana), "/browsers/end", &format!("session={id}")).await;
    assert_eq!(ended.status, 303);
    assert!(world.engine.authenticate_page_session(&secret).await.is_err());
}

#[tokio::test]
async fn a_wrong_token_is_refused_beside_the_form() {
    let world = World::new().await;
    for (form, status) in [("", 400), ("token=+", 400), ("token=skald_x_y", 401), ("token=hello", 401)] {
        let answer = world.post(None, "/sign-in", form).await;
        assert_eq!(answer.status, status, "{form}");
        assert!(answer.body.contains("role=\"alert\"") && answer.body.contains("name=\"token\""), "{}", answer.body);
        assert!(!answer.headers.contains_key("set-cookie"));
    }
}

#[tokio::test]
async fn an_invitation_is_redeemed_once_and_only_by_a_form() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("The Drowned Bells").await;
    let new = NewInvitation {
        name: "Cleo".to_owned(),
        person: None,
        roles: BTreeMap::from([(campaign, CampaignRole::Player)]),
        participants: Vec::new(),
        restrictions: TokenRestrictions::default(),
        expires_at: world.clock.now() + SignedDuration::from_hours(1),
        program: "a test".to_owned(),
    };
    let (code, _) = world.engine.app().create_invitation(new).await.unwrap();
    for _ in 0..2 {
        let request = Request::builder().uri(format!("/join/{code}")).body(Body::empty()).unwrap();
        let page = world.answer(request, None).await;
        assert!(page.status == 200 && page.body.contains(&code), "{}", page.body);
    }
    let joined = world.post(None, "/join", &format!("code={code}")).await;
    assert_eq!(joined.status, 303);
    let cleo = world.engine.authenticate_page_session(&cookie_secret(&joined)).await.unwrap();
    let Principal::Holder(holder) = &cleo.principal else { panic!("a holder") };
    assert_eq!(holder.name, "Cleo");
    let again = world.post(None, "/join", &format!("code={code}")).await;
    assert_eq!(again.status, 404);
    assert!(again.body.contains("Ask the game master for another invitation."), "{}", again.body);
}

#[tokio::test]
async fn forms_of_other_sites_are_refused() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("The Drowned Bells").await;
    for (name, value) in
        [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site"), ("origin", "http://table.example:81")]
    {
        let request = Request::builder().method(Method::POST).uri(format!("/c/{campaign}/note"));
        let request =
            request.header("host", "table.example").header(name, value).body(Body::from("text=hello")).unwrap();
        let answer = world.answer(request, Some(&Caller::owner())).await;
        assert_eq!(answer.status, 403, "{name}: {value}");
    }
    let own = world.answer(form_request(&format!("/c/{campaign}/note"), "text=hello"), Some(&Caller::owner())).await;
    assert_eq!(own.status, 303);
}

/// A browser always says which page sends a form.
#[tokio::test]
async fn a_form_with_a_cookie_says_where_it_comes_from() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("The Drowned Bells").await;
    let (_, token) = world.holder("Ana", &campaign, CampaignRole::Player).await;
    let session = world.engine.start_page_session(&token, "Firefox", "a test").await.unwrap();
    let caller = world.engine.authenticate_page_session(&session.secret).await.unwrap();
    let cookie = format!("skald={}", session.secret);
    for (name, value, status) in
        [("x-test", "1", 403), ("sec-fetch-site", "same-origin", 303), ("origin", "http://table.example", 303)]
    {
        let request = Request::builder().method(Method::POST).uri(format!("/c/{campaign}/note"));
        let request = request.header("host", "table.example").header("cookie", &cookie).header(name, value);
        let answer = world.answer(request.body(Body::from("text=hello")).unwrap(), Some(&caller)).await;
        assert_eq!(answer.status, status, "{name}: {value}");
    }
}

#[tokio::test]
async fn a_form_is_read_up_to_its_limit() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("The Drowned Bells").await;
    let path = format!("/c/{campaign}/roll");
    let filler = |length: usize| format!("expression=2d6&x={}", "a".repeat(length - "expression=2d6&x=".len()));
    let most = limits::PAGE_FORM_BYTES_MAX;
    assert_eq!(world.post(Some(&Caller::owner()), &path, &filler(most)).await.status, 303);
    assert_eq!(world.post(Some(&Caller::owner()), &path, &filler(most + 1)).await.status, 413);
    // Of somebody unknown little is read.
    let code = format!("code={}", "a".repeat(limits::REDEEM_BODY_BYTES_MAX));
    assert_eq!(world.post(None, "/join", &code).await.status, 413);
}

#[tokio::test]
async fn a_page_has_its_policies() {
    let world = World::new().await;
    let page = world.get(&Caller::owner(), "/").await;
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    assert_eq!(page.headers["referrer-policy"], "same-origin");
    for forbidden in ["style=", "<style", "onclick=", "onload=", "hx-on", "javascript:"] {
        assert!(!page.body.contains(forbidden), "{forbidden}");
    }
}

/// The answer to a request whose session has ended.
async fn refuse_session(request: Request) -> Answer {
    let fault = Fault::new(Code::Unauthorized, "the session has ended");
    let place = (request.method(), request.uri());
    let response = skald_page::render_refused(StatusCode::UNAUTHORIZED, &fault, place, request.headers());
    let (parts, body) = response.into_parts();
    let body = String::from_utf8(to_bytes(body, usize::MAX).await.unwrap().into()).unwrap();
    Answer { status: parts.status, headers: parts.headers, body }
}

#[tokio::test]
async fn a_part_of_a_page_is_never_the_sign_in() {
    let with = |mut request: Request, headers: &[(&'static str, &str)]| {
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        request
    };
    let get = |path: &str| Request::builder().uri(path).body(Body::empty()).unwrap();
    let (fragment, odds) = (("hx-request", "true"), "/c/camp_1/odds?expression=1d6");
    let here = ("referer", "http://table.example/c/camp_1/lore?q=bell&type=item");
    let there = "/sign-in?next=%2Fc%2Fcamp_1%2Flore%3Fq%3Dbell%26type%3Ditem";
    for (request, wanted) in [
        (with(get(odds), &[fragment, here]), there),
        (with(form_request("/c/camp_1/note", "text=x"), &[fragment, here]), there),
        (with(get(odds), &[fragment]), "/sign-in?next=%2F"),
        (with(get(odds), &[fragment, ("referer", "http://evil.example//evil.example")]), "/sign-in?next=%2F"),
    ] {
        let answer = refuse_session(request).await;
        assert_eq!((answer.status.as_u16(), answer.headers["hx-redirect"].to_str().unwrap()), (401, wanted));
        assert!(!answer.body.contains("<html") && !answer.body.contains("name=\"token\""), "{}", answer.body);
        assert!(answer.body.contains("You are signed out"), "{}", answer.body);
    }
    // A whole page is the form itself, which leads back to the page, or to the one that sent a form.
    let page = refuse_session(get("/c/camp_1/lore")).await;
    assert!(!page.headers.contains_key("hx-redirect"));
    assert!(page.body.contains("name=\"next\" value=\"/c/camp_1/lore\""), "{}", page.body);
    let sent = with(form_request("/c/camp_1/note", "text=x"), &[("referer", "http://table.example/c/camp_1")]);
    let page = refuse_session(sent).await;
    assert!(page.status == 401 && page.body.contains("name=\"next\" value=\"/c/camp_1\""), "{}", page.body);
}
