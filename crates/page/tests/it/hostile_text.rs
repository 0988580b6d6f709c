//! Hostile text in every field that a page shows: it stays text.

use std::fmt::Write;

use serde_json::json;
use skald_app::Caller;

use crate::World;

/// What would run, load or send something if it were taken as HTML.
pub(crate) const HOSTILE: [&str; 6] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' hx-get='/sign-out' hx-trigger='load",
    "<svg onload=alert(1)><style>*{display:none}</style></svg>",
    "<hx-partial hx-target=\"#log\">gone</hx-partial>",
    "</textarea><form action=//evil.example>",
];

#[tokio::test]
async fn hostile_text_is_text_on_every_page() {
    let world = World::new().await;
    let owner = Caller::owner();
    for hostile in HOSTILE {
        let campaign = json!({"name": hostile, "gm_mode": "AI", "theme_prompt": hostile});
        let campaign = world.call(&owner, "campaign_create", campaign).await["id"].as_str().unwrap().to_owned();
        let person = json!({"campaign_id": campaign, "display_name": hostile, "role": "PLAYER"});
        let person = world.call(&owner, "participant_create", person).await["id"].clone();
        let actor =
            json!({"campaign_id": campaign, "name": hostile, "kind": "PC", "controller": person, "notes": hostile});
        let actor = world.call(&owner, "actor_create", actor).await["id"].clone();
        let session = json!({"campaign_id": campaign, "name": hostile});
        let session = world.call(&owner, "session_start", session).await["id"].clone();
        let note = json!({"campaign_id": campaign, "text": hostile, "scene": hostile, "spotlight": actor});
        world.call(&owner, "session_note", note).await;
        let tracker = json!({"name": hostile, "value": 1, "max": 4, "meaning": hostile, "actor_id": actor});
        let tracker = json!({"campaign_id": campaign, "method": "set", "trackers": [tracker]});
        world.call(&owner, "tracker", tracker).await;
        let roll = json!({"session_id": session, "actor_id": actor, "expression": "2d6", "reason": hostile});
        world.call(&owner, "roll", roll).await;
        let table = format!("/c/{campaign}");
        let odds = format!("/dice?e={}", percent_encode(hostile));
        for path in ["/", &table, &format!("{table}/sessions"), &format!("{table}/sessions/1"), &odds] {
            let page = world.get(&owner, path).await;
            assert_eq!(page.status, 200, "{path}: {}", page.body);
            assert_harmless(&page.body, path);
        }
        let form = format!("text={}", percent_encode(hostile));
        assert_eq!(world.post(Some(&owner), &format!("{table}/note"), &form).await.status, 303);
    }
}

pub(crate) fn percent_encode(text: &str) -> String {
    text.bytes().fold(String::new(), |mut encoded, byte| {
        write!(encoded, "%{byte:02x}").unwrap();
        encoded
    })
}

/// No tag and no attribute of the texts is in the page; our own scripts are.
pub(crate) fn assert_harmless(html: &str, path: &str) {
    for tag in html.split('<').skip(1).filter_map(|tag| tag.split_once('>')).map(|(tag, _)| tag) {
        let name: String = tag.chars().take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '-').collect();
        // What is between double quotes is the value of an attribute, whatever is in it.
        let outside: String = tag.split('"').step_by(2).collect();
        for attribute in ["onerror", "onload", "hx-get='", "src=x"] {
            assert!(!outside.contains(attribute), "{path}: <{tag}>");
        }
        assert!(name != "style" && name != "hx-partial", "{path}: <{tag}>");
        if name == "script" {
            assert!(tag.contains("src=\"/assets/"), "{path}: <{tag}>");
        }
        if name == "form" {
            assert!(!tag.contains("evil.example"), "{path}: <{tag}>");
        }
    }
    assert!(!html.contains("alert(1)</script>"), "{path}");
}
