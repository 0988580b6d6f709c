//! Tests of searches in a range of days among more texts than are ranked.

use serde_json::{Value, json};
use skald_app::limits;

use super::{LoreCampaign, ids, names};
use crate::universe::run;

/// The days were compared with the hits that were ranked, which are the newest: older ones were not found.
#[test]
fn a_range_of_days_finds_more_than_the_newest_hits() {
    run(async {
        let lore = LoreCampaign::new().await;
        let journal = |name: &str, date: Option<&str>, entry: String| json!({"entity_type": "journal", "name": name, "date": date, "entry": entry});
        let mut oldest = lore.create(json!([journal("First", Some("2019-05-01"), "A dragon.".to_owned())])).await;
        oldest.extend(lore.create(json!([journal("Second", None, "2019-06-01\n\nA dragon.".to_owned())])).await);
        lore.create(json!([journal("Lizard", Some("2019-05-02"), "A lizard.".to_owned())])).await;
        let count = limits::RANKED_HITS_MAX + 100;
        let later: Vec<Value> = (0..count)
            .map(|number| journal(&format!("J{number}"), Some("2025-05-30"), "A dragon.".to_owned()))
            .collect();
        for part in later.chunks(limits::BATCH_ITEMS_MAX) {
            lore.create(json!(part)).await;
        }
        let range = json!({"start": "2019-01-01", "end": "2019-12-31"});
        let found = lore.find(json!({"query": "dragon", "date_range": range})).await;
        assert_eq!(names(&found), ["Second", "First"], "the newest first");
        assert_eq!((&found["sync_info"]["total_count"], found["sync_info"].get("more")), (&json!(2), None));
        // Ranges with more hits than are ranked are walked to their end.
        let filter = |cursor: &Value| {
            let range = json!({"start": "2020-01-01"});
            json!({"query": "dragon", "date_range": range, "limit": 100, "include_full": false, "cursor": cursor})
        };
        let mut page = lore.find(filter(&Value::Null)).await;
        let mut walked = ids(&page);
        while page["sync_info"]["next_cursor"].is_string() {
            page = lore.find(filter(&page["sync_info"]["next_cursor"])).await;
            walked.extend(ids(&page));
        }
        walked.sort_unstable();
        walked.dedup();
        assert_eq!(walked.len(), count);
        assert!(!walked.contains(&oldest[0]) && !walked.contains(&oldest[1]));
    });
}
