//! A game master looks at a campaign as a player sees it: what is shown, what is refused, and who may.

use axum::body::Body;
use axum::extract::Request;
use serde_json::json;
use skald_app::{Caller, CampaignRole};

use crate::{Answer, World, form_request};

impl World {
    async fn get_with_cookie(&self, caller: &Caller, path: &str, cookie: &str) -> Answer {
        let request = Request::builder().uri(path).header("cookie", cookie).body(Body::empty()).unwrap();
        self.answer(request, Some(caller)).await
    }
}

#[tokio::test]
async fn a_game_master_sees_what_the_player_sees_and_changes_nothing() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("The Drowned Bells").await;
    let table = format!("/c/{campaign}");
    let owner = Caller::owner();
    let participant = json!({"campaign_id": campaign, "display_name": "Ana", "role": "PLAYER"});
    let ana = world.call(&owner, "participant_create", participant).await["id"].as_str().unwrap().to_owned();
    for (text, visible_to) in [("The bell is their mother.", "gm"), ("Ana hears a voice.", "Ana")] {
        let note = json!({"campaign_id": campaign, "text": text, "visible_to": [visible_to]});
        world.call(&owner, "session_note", note).await;
    }
    let (game_master, _) = world.holder("Gil", &campaign, CampaignRole::Gm).await;
    let choices = world.get(&game_master, &format!("{table}/view-as")).await.body;
    assert!(choices.contains(&format!("value=\"{ana}\"")), "{choices}");

    let chosen = world.post(Some(&game_master), &format!("{table}/view-as"), &format!("who={ana}")).await;
    assert_eq!((chosen.status.as_u16(), chosen.headers["location"].to_str().unwrap()), (303, &*table));
    let cookie = chosen.headers["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let page = world.get_with_cookie(&game_master, &table, &cookie).await.body;
    assert!(page.contains("You see this campaign as") && page.contains("Ana hears a voice."), "{page}");
    assert!(!page.contains("The bell is their mother.") && !page.contains("End the session"), "{page}");
    assert_eq!(world.get_with_cookie(&game_master, &format!("{table}/canon"), &cookie).await.status, 403);

    let mut request = form_request(&format!("{table}/note"), "text=Mine");
    request.headers_mut().insert("cookie", cookie.parse().unwrap());
    let refused = world.answer(request, Some(&game_master)).await;
    assert_eq!(refused.status, 403);
    assert!(refused.body.to_lowercase().contains("nothing can be changed in the view of ana"), "{}", refused.body);
    assert!(refused.body.contains("You see this campaign as") && !refused.body.contains(">Canon<"), "{}", refused.body);

    // Another campaign is shown with the rights of the visitor.
    let (other, ..) = world.campaign("Another").await;
    let page = world.get_with_cookie(&owner, &format!("/c/{other}"), &cookie).await.body;
    assert!(page.contains("End the session") && !page.contains("You see this campaign as"), "{page}");

    let mut request = form_request(&format!("{table}/view-as"), "");
    request.headers_mut().insert("cookie", cookie.parse().unwrap());
    let back = world.answer(request, Some(&game_master)).await;
    assert!(back.headers["set-cookie"].to_str().unwrap().contains("Max-Age=0"), "{:?}", back.headers);
    assert!(world.get(&game_master, &table).await.body.contains("The bell is their mother."));
}

#[tokio::test]
async fn signing_out_ends_the_view() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("Bells").await;
    let (game_master, _) = world.holder("Gil", &campaign, CampaignRole::Gm).await;
    let out = world.post(Some(&game_master), "/sign-out", "").await;
    let cookies: Vec<_> = out.headers.get_all("set-cookie").iter().map(|value| value.to_str().unwrap()).collect();
    assert!(
        cookies.iter().any(|cookie| cookie.starts_with("skald-view-as=;") && cookie.contains("Max-Age=0")),
        "{cookies:?}"
    );
}

#[tokio::test]
async fn nobody_else_can_choose_a_view_or_gains_by_the_cookie() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("The Drowned Bells").await;
    let path = format!("/c/{campaign}/view-as");
    let (player, _) = world.holder("Ana", &campaign, CampaignRole::Player).await;
    assert_eq!(world.get(&player, &path).await.status, 403);
    assert_eq!(world.post(Some(&player), &path, "who=guest").await.status, 403);
    let missing = world.post(Some(&Caller::owner()), &path, "who=Nobody").await;
    assert!(missing.status.is_client_error() && missing.body.contains("Nobody"), "{}", missing.body);
    for who in ["guest", "gm", "%3Cscript%3E", ""] {
        let cookie = format!("skald-view-as=campaign={campaign}&who={who}");
        let page = world.get_with_cookie(&player, &format!("/c/{campaign}"), &cookie).await;
        assert_eq!(page.status, 200);
        assert!(page.body.contains("id=\"roll-box\"") && !page.body.contains("End the session"), "{}", page.body);
    }
}
