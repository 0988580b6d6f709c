//! Tests of what an entity is answered with: its children, what it mentions, and what mentions it.

use serde_json::{Value, json};
use skald_app::{CampaignRole, Code};

use super::{LoreCampaign, character, ids, named, rows};
use crate::universe::run;

/// The lists end at 50 names, and did not say so.
#[test]
fn a_list_of_names_that_is_cut_says_how_many_there_are() {
    run(async {
        let lore = LoreCampaign::new().await;
        let hub = lore.create_one(json!({"entity_type": "location", "name": "Hub"})).await;
        let child = |number: usize| {
            json!({
                "entity_type": "location", "name": format!("Place {number}"), "parent": "Hub", "entry": "Near [[Hub]].",
                "is_private": number == 50
            })
        };
        let children = lore.create((0..51).map(child).collect()).await;
        let entry: Vec<String> = children.iter().map(|id| format!("[entity:{id}]")).collect();
        lore.update(json!({"entity_id": hub, "entry": entry.join(" ")})).await;
        let read = lore.get(hub).await;
        for (list, total) in
            [("children", "children_total"), ("mentions", "mentions_total"), ("mentioned_by", "mentioned_by_total")]
        {
            assert_eq!((rows(&read, list).len(), &read[total]), (50, &json!(51)), "{list}");
        }
        // All of them are found by their parent.
        let found = lore.find(json!({"parent": "hub", "limit": 100, "include_full": false})).await;
        assert_eq!((ids(&found), &found["sync_info"]["total_count"]), (children, &json!(51)));
        assert_eq!(lore.find_names(json!({"parent": hub, "query": "Place 7"})).await, ["Place 7"]);
        assert_eq!(lore.find_names(json!({"parent": "Place 7"})).await, [""; 0]);
        let missing = lore.refusal("find_entities", json!({"parent": "Nowhere"})).await;
        assert_eq!((missing.code(), missing.body().path.as_deref()), (Code::NotFound, Some("/parent")));
        // Players are told of those that they see, which are all in the list.
        let ask = json!({"entity_ids": [hub], "include_posts": true});
        let seen = lore.call_as(&lore.caller(CampaignRole::Player), "get_entities", ask).await.unwrap();
        let seen = &seen["results"][0];
        for list in ["children", "mentions", "mentioned_by"] {
            assert_eq!((rows(seen, list).len(), seen.get(format!("{list}_total"))), (50, None), "{list}");
        }
    });
}

/// Only the names in the entry were told, so that a post said `[entity:2]` and nothing said who that is.
#[test]
fn what_posts_mention_is_told_with_them() {
    run(async {
        let lore = LoreCampaign::new().await;
        let created =
            lore.create(json!([character("Inn"), character("Ann"), character("Ben"), character("Cat")])).await;
        let hidden = lore.create_one(json!({"entity_type": "note", "name": "Plot"})).await;
        lore.update(json!({"entity_id": "Inn", "entry": "Of [[Ann]]."})).await;
        let post = |name: &str, entry: &str, is_private: bool| json!({"entity_id": "Inn", "name": name, "entry": entry, "is_private": is_private});
        lore.create_post(post("News", "[[Ben]] came with [[Ann]], see [[Plot]].", false)).await;
        lore.create_post(post("Secret", "[[Cat]] and [[Ben]] met.", true)).await;
        let mentions = async |role: Option<CampaignRole>, with_posts: bool| -> Value {
            let ask = json!({"entity_ids": ["Inn"], "include_posts": with_posts});
            let caller = role.map_or(skald_app::Caller::owner(), |role| lore.caller(role));
            let answer = lore.call_as(&caller, "get_entities", ask).await.unwrap();
            answer["results"][0]["mentions"].clone()
        };
        let [ann, ben, cat] = [(1, "Ann"), (2, "Ben"), (3, "Cat")].map(|(place, name)| named(created[place], name));
        let plot = named(hidden, "Plot");
        assert_eq!(mentions(None, false).await, json!([ann]));
        assert_eq!(mentions(None, true).await, json!([ann, ben, plot, cat]), "each once");
        assert_eq!(mentions(Some(CampaignRole::Player), true).await, json!([ann, ben]));
        let read = lore.call("read_entity", json!({"campaign_id": lore.campaign_id, "entity_id": "Inn"})).await;
        assert_eq!(rows(&read["entity"], "mentions").len(), 4);
    });
}
