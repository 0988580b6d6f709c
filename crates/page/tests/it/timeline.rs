//! Events of the timeline on the page: what their form sends, and what somebody else changed meanwhile.

use axum::http::StatusCode;
use serde_json::{Value, json};
use skald_app::{Caller, CampaignRole};

use crate::World;
use crate::lore::{create_entity, hidden_fields, location};

/// A campaign with an event about a tower: its id, and the address of the event.
async fn campaign_with_event(world: &World, visible_to: &[&str]) -> (String, String) {
    let (campaign, ..) = world.campaign("Bells").await;
    create_entity(world, &campaign, json!({"entity_type": "location", "name": "Tower"})).await;
    let person = json!({"campaign_id": campaign, "display_name": "Ana", "role": "PLAYER"});
    world.call(&Caller::owner(), "participant_create", person).await;
    let event = json!({"method": "add", "campaign_id": campaign, "description": "The bel fell", "date": "3rd of Rain",
        "sort": "1204-03", "entity_ids": ["Tower"], "visible_to": visible_to});
    world.call(&Caller::owner(), "timeline", event).await;
    let path = format!("/c/{campaign}/timeline/1");
    (campaign, path)
}

async fn stored_event(world: &World, campaign: &str) -> Value {
    let input = json!({"campaign_id": campaign, "event_id": 1});
    world.call(&Caller::owner(), "timeline", input).await["events"][0].clone()
}

async fn update_event(world: &World, campaign: &str, mut fields: Value) {
    fields["method"] = "update".into();
    fields["campaign_id"] = campaign.into();
    fields["event_id"] = 1.into();
    world.call(&Caller::owner(), "timeline", fields).await;
}

#[tokio::test]
async fn an_edited_event_is_still_seen_by_those_to_whom_it_was_revealed() {
    let world = World::new().await;
    let (campaign, path) = campaign_with_event(&world, &["Ana"]).await;
    let owner = Caller::owner();
    let revealed_to = stored_event(&world, &campaign).await["visible_to"].clone();
    let base = hidden_fields(&world.get(&owner, &path).await.body, &path);
    let typed = "description=The+bell+fell&date=3rd+of+Rain&sort=1204-03&entities=Tower&do=save";
    assert!(location(&world.post(Some(&owner), &path, &format!("{base}&{typed}")).await).contains("done=saved"));
    let event = stored_event(&world, &campaign).await;
    assert_eq!((&event["description"], &event["visible_to"]), (&json!("The bell fell"), &revealed_to));
    for page in [world.get(&owner, &format!("/c/{campaign}/timeline")).await, world.get(&owner, &path).await] {
        assert!(page.body.contains(">for Ana</span>") && !page.body.contains(">private<"), "{}", page.body);
    }
    let base = hidden_fields(&world.get(&owner, &path).await.body, &path);
    location(&world.post(Some(&owner), &path, &format!("{base}&{typed}&is_player_known=yes")).await);
    let (player, _) = world.holder("Bo", &campaign, CampaignRole::Player).await;
    assert!(world.get(&player, &path).await.body.contains("The bell fell"));
    let base = hidden_fields(&world.get(&owner, &path).await.body, &path);
    location(&world.post(Some(&owner), &path, &format!("{base}&{typed}")).await);
    assert_eq!(stored_event(&world, &campaign).await["visible_to"], json!(["gm"]));
}

#[tokio::test]
async fn an_emptied_field_of_an_event_is_cleared() {
    let world = World::new().await;
    let (campaign, path) = campaign_with_event(&world, &["gm"]).await;
    let owner = Caller::owner();
    let save = async |typed: &str| {
        let base = hidden_fields(&world.get(&owner, &path).await.body, &path);
        location(&world.post(Some(&owner), &path, &format!("{base}&{typed}&do=save")).await);
        stored_event(&world, &campaign).await
    };
    // A date in other words is sorted as before.
    let event = save("description=The+bel+fell&date=3rd+of+the+Rain&sort=1204-03&entities=Tower").await;
    assert_eq!((&event["date"], &event["sort"]), (&json!("3rd of the Rain"), &json!("1204-03")));
    let event = save("description=The+bel+fell&date=&sort=1204-03&entities=").await;
    assert_eq!((event.get("date"), &event["sort"], event.get("entities")), (None, &json!("1204-03"), None), "{event}");
    let event = save("description=The+bel+fell&date=&sort=&entities=").await;
    assert_eq!(event.get("sort"), None, "{event}");
    // A date that sorts by itself does so again after it was changed.
    assert_eq!(save("description=The+bel+fell&date=1204&sort=&entities=").await["sort"], "1204");
    assert_eq!(save("description=The+bel+fell&date=1205&sort=1204&entities=").await["sort"], "1205");
}

#[tokio::test]
async fn an_event_keeps_what_somebody_else_changed_meanwhile() {
    let world = World::new().await;
    let (campaign, path) = campaign_with_event(&world, &["gm"]).await;
    let owner = Caller::owner();
    let base = hidden_fields(&world.get(&owner, &path).await.body, &path);
    update_event(&world, &campaign, json!({"date": "4th of Rain", "sort": "1204-04", "is_player_known": true})).await;
    let typed = "description=The+bell+fell&date=3rd+of+Rain&sort=1204-03&entities=Tower";
    let saved = world.post(Some(&owner), &path, &format!("{base}&{typed}&do=save")).await;
    assert!(location(&saved).contains("done=merged"), "{}", location(&saved));
    let event = stored_event(&world, &campaign).await;
    let fields = ["description", "date", "sort", "is_player_known"].map(|field| event[field].clone());
    assert_eq!(fields, [json!("The bell fell"), json!("4th of Rain"), json!("1204-04"), json!(true)]);

    // Both changed the same: one chooses.
    let base = hidden_fields(&world.get(&owner, &path).await.body, &path);
    update_event(&world, &campaign, json!({"description": "The bell sank"})).await;
    let typed = "description=The+bell+broke&date=4th+of+Rain&sort=1204-04&entities=Tower&is_player_known=yes";
    let conflict = world.post(Some(&owner), &path, &format!("{base}&{typed}&do=save")).await;
    assert_eq!(conflict.status, StatusCode::CONFLICT);
    let hidden = hidden_fields(&conflict.body, &path);
    let chosen = format!("{hidden}&pick_description=mine");
    let written = world.post(Some(&owner), &path, &format!("{chosen}&do=edit")).await;
    assert!(
        written.status == StatusCode::OK && written.body.contains(">The bell broke</textarea>"),
        "{}",
        written.body
    );
    assert_eq!(stored_event(&world, &campaign).await["description"], "The bell sank");
    location(&world.post(Some(&owner), &path, &format!("{chosen}&do=save")).await);
    assert_eq!(stored_event(&world, &campaign).await["description"], "The bell broke");
}
