//! The table: what a game master, a player and a guest see of it, and its forms with and without scripts.

use axum::body::Body;
use serde_json::json;
use skald_app::{Caller, CampaignRole};

use crate::{World, form_request};

#[tokio::test]
async fn each_role_has_a_whole_page_of_its_own() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("The Drowned Bells").await;
    let path = format!("/c/{campaign}");
    let (player, _) = world.holder("Ana", &campaign, CampaignRole::Player).await;
    let (guest, _) = world.holder("Gil", &campaign, CampaignRole::Guest).await;
    let (stranger, _) = world.holder("Sam", "*", CampaignRole::Guest).await;
    let page = world.get(&Caller::owner(), &path).await.body;
    assert!(page.contains("id=\"roll-box\"") && page.contains("End the session"), "{page}");
    let page = world.get(&player, &path).await.body;
    assert!(
        page.contains("id=\"roll-box\"") && !page.contains("End the session") && !page.contains("spotlight-box"),
        "{page}"
    );
    let page = world.get(&guest, &path).await.body;
    assert!(page.contains("Mira") && !page.contains("roll-box") && !page.contains("class=\"step\""), "{page}");
    assert_eq!(world.get(&stranger, &path).await.status, 200, "a guest of every campaign");
    let (nobody, _) = world.holder("Nobody", &world.campaign("Another").await.0, CampaignRole::Player).await;
    let missing = world.get(&nobody, &path).await;
    assert_eq!(missing.status, 404);
    assert!(!missing.body.contains("Drowned"), "{}", missing.body);
    assert_eq!(
        missing.body.replace(&campaign, ""),
        world.get(&nobody, "/c/camp_none").await.body.replace("camp_none", "")
    );
}

#[tokio::test]
async fn forms_work_without_scripts_and_with_them() {
    let world = World::new().await;
    let (campaign, actor, _) = world.campaign("The Drowned Bells").await;
    let owner = Caller::owner();
    let table = format!("/c/{campaign}");
    let rolled = world
        .post(Some(&owner), &format!("{table}/roll"), &format!("expression=2d8%2B3&reason=Strikes&actor_id={actor}"))
        .await;
    assert_eq!((rolled.status.as_u16(), rolled.headers["location"].to_str().unwrap()), (303, &*table));
    let page = world.get(&owner, &table).await.body;
    assert!(page.contains("Strikes") && page.contains("d8 shows"), "{page}");

    let mut request = form_request(&format!("{table}/tracker"), &format!("name=Hope&actor_id={actor}&by=1"));
    request.headers_mut().insert("hx-request", "true".parse().unwrap());
    let part = world.answer(request, Some(&owner)).await;
    assert_eq!(part.status, 200);
    // The stream brings what changed, in order.
    assert_eq!(part.body, "");
    let page = world.get(&owner, &table).await.body;
    assert!(page.contains("<span class=\"value\">3<span class=\"muted\">/6"), "{page}");
}

#[tokio::test]
async fn what_was_typed_is_shown_again_when_it_is_refused() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("The Drowned Bells").await;
    let owner = Caller::owner();
    let path = format!("/c/{campaign}/roll");
    let refused = world.post(Some(&owner), &path, "expression=2dd6&reason=A+long+story").await;
    assert_eq!(refused.status, 400);
    for kept in ["value=\"2dd6\"", "value=\"A long story\"", "class=\"fault\"", "INVALID_PARAMS"] {
        assert!(refused.body.contains(kept), "{kept} is not in {}", refused.body);
    }
    let mut request = form_request(&path, "expression=2dd6");
    request.headers_mut().insert("hx-request", "true".parse().unwrap());
    let part = world.answer(request, Some(&owner)).await;
    assert!(part.status == 400 && part.body.starts_with("<div class=\"fault\""), "{}", part.body);
}

#[tokio::test]
async fn odds_of_half_an_expression_are_no_error() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("The Drowned Bells").await;
    let odds = |expression: &str| format!("/c/{campaign}/odds?expression={expression}");
    let whole = world.get(&Caller::owner(), &odds("2d6%2B3")).await;
    assert!(whole.status == 200 && whole.body.contains("5 to 15") && whole.body.contains("<svg"), "{}", whole.body);
    assert_eq!(world.get(&Caller::owner(), &odds("2d6%2B")).await.status, 200);
}

#[tokio::test]
async fn an_evening_is_told_and_a_picture_has_its_own_policy() {
    let world = World::new().await;
    let (campaign, actor, session) = world.campaign("The Drowned Bells").await;
    let owner = Caller::owner();
    let roll = json!({"session_id": session, "actor_id": actor, "expression": "duality(+2, dc 14)", "reason": "Leaps"});
    world.call(&owner, "roll", roll).await;
    let page = world.get(&owner, &format!("/c/{campaign}/sessions/1")).await;
    assert!(page.status == 200 && page.body.contains("The first bell") && page.body.contains("Leaps"), "{}", page.body);
    for path in ["0", "2", "99"] {
        assert_eq!(world.get(&owner, &format!("/c/{campaign}/sessions/{path}")).await.status, 404, "{path}");
    }
    let picture = world.get(&owner, &format!("/c/{campaign}/luck.svg?session={session}")).await;
    assert!(picture.body.starts_with("<svg"), "{}", picture.body);
    assert!(picture.headers["content-security-policy"].to_str().unwrap().starts_with("default-src 'none'"));
    let explored = world.get(&owner, "/dice?e=2d6%2B3&e2=1d12&mode=at_least").await.body;
    assert!(explored.contains("/dice/odds.svg?e=2d6%2B3&amp;e2=1d12&amp;mode=at_least"), "{explored}");
    let request = axum::extract::Request::builder().uri("/assets/nothing.js").body(Body::empty()).unwrap();
    assert_eq!(world.answer(request, None).await.status, 404);
}
