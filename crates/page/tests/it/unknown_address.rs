//! Addresses that lead nowhere: a page with a way home, and what there is of a similar name for this visitor.

use serde_json::json;
use skald_app::{Caller, CampaignRole};

use crate::{World, assert_harmless, percent_encode};

#[tokio::test]
async fn a_wrong_address_is_a_page_with_the_nearest_names() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("The Drowned Bells").await;
    let owner = Caller::owner();
    let entity = json!({"entity_type": "character", "name": "Old Marrow"});
    world.call(&owner, "create_entities", json!({"campaign_id": campaign, "entities": [entity]})).await;
    let nearly = format!("{}x", &campaign[..campaign.len() - 1]);
    for (path, href, title) in [
        ("/dise".to_owned(), "/dice".to_owned(), "Dice"),
        ("/keepin".to_owned(), "/keeping".to_owned(), "Keeping"),
        ("/the-drowned-bels".to_owned(), format!("/c/{campaign}"), "The Drowned Bells"),
        ("/c/Drowned%20Bells".to_owned(), format!("/c/{campaign}"), "The Drowned Bells"),
        (format!("/c/{nearly}"), format!("/c/{campaign}"), "The Drowned Bells"),
        (format!("/c/{campaign}/loer"), format!("/c/{campaign}/lore"), "Lore"),
        (format!("/c/{campaign}/Lore/x/y/z/w"), format!("/c/{campaign}/lore"), "Lore"),
        (format!("/c/{campaign}/sesions/3/4/5"), format!("/c/{campaign}/sessions"), "Sessions"),
        (format!("/c/{campaign}/lore/old-marow"), format!("/c/{campaign}/lore/1"), "Old Marrow"),
    ] {
        let page = world.get(&owner, &path).await;
        assert_eq!(page.status, 404, "{path}: {}", page.body);
        assert!(page.headers["content-type"].to_str().unwrap().starts_with("text/html"), "{path}");
        let link = format!("<a href=\"{href}\"><bdi>{title}</bdi></a>");
        assert!(page.body.contains(&link), "{path} does not offer {link}: {}", page.body);
        assert!(page.body.contains("href=\"/\">Home</a>"), "{path}: {}", page.body);
    }
    let page = world.get(&owner, "/zzzzzzzz").await;
    assert!(page.status == 404 && !page.body.contains("Did you mean"), "{}", page.body);
}

/// What a part of the page may not be read as is a page too, and no line of a library.
#[tokio::test]
async fn what_does_not_fit_into_an_address_is_a_page() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("Bells").await;
    let owner = Caller::owner();
    for (path, status, words) in [
        (format!("/c/{campaign}/sessions/first"), 404, "There is nothing at"),
        (format!("/c/{campaign}/sessions/99999999999999999999999"), 404, "There is nothing at"),
        (format!("/c/{campaign}/sessions/%ff"), 404, "There is nothing at"),
        ("/?cursor=a&cursor=b".to_owned(), 400, "behind the ?"),
    ] {
        let page = world.get(&owner, &path).await;
        assert_eq!(page.status, status, "{path}: {}", page.body);
        assert!(page.headers["content-type"].to_str().unwrap().starts_with("text/html"), "{path}: {}", page.body);
        assert!(page.body.contains(words) && page.body.contains("<main"), "{path}: {}", page.body);
    }
}

/// A wrong address offers nothing that its visitor may not see.
#[tokio::test]
async fn a_wrong_address_tells_no_names() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("The Drowned Bells").await;
    let (other, ..) = world.campaign("Open Sea").await;
    let owner = Caller::owner();
    let secret = json!({"entity_type": "note", "name": "Murderous Abbot", "is_private": true});
    world.call(&owner, "create_entities", json!({"campaign_id": other, "entities": [secret]})).await;
    let (ana, _) = world.holder("Ana", &other, CampaignRole::Player).await;
    for path in [
        "/the-drowned-bells".to_owned(),
        "/c/the-drowned-bells".to_owned(),
        format!("/c/{campaign}"),
        format!("/c/{campaign}/loer"),
        format!("/c/{other}/lore/murderous-abbot"),
        format!("/c/{other}/lore/abbot"),
        format!("/c/{other}/cannon"),
        "/keepin".to_owned(),
    ] {
        let page = world.get(&ana, &path).await;
        assert_eq!(page.status, 404, "{path}: {}", page.body);
        for hidden in ["Drowned", "Murderous", "/keeping", "/canon\""] {
            assert!(!page.body.contains(hidden), "{path} tells {hidden}: {}", page.body);
        }
    }
    assert!(world.get(&ana, &format!("/c/{other}/timelin")).await.body.contains("/timeline\"><bdi>Timeline"));
}

#[tokio::test]
async fn hostile_addresses_stay_text() {
    let world = World::new().await;
    let owner = Caller::owner();
    for hostile in crate::hostile_text::HOSTILE {
        let (campaign, ..) = world.campaign(hostile).await;
        let text = percent_encode(hostile);
        for path in [
            format!("/{text}"),
            format!("/c/{text}"),
            format!("/c/{campaign}/{text}/x/y/z"),
            format!("/c/{campaign}/lore/{text}"),
        ] {
            assert_harmless(&world.get(&owner, &path).await.body, &path);
        }
    }
}
