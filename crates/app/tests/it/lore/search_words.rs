//! Tests of which words find a text: those of its readers, and whole aliases of what it mentions.

use serde_json::json;

use super::LoreCampaign;
use crate::universe::run;

/// Only names were followed to the texts that mention them.
#[test]
fn a_text_is_found_by_an_alias_of_an_entity_that_it_mentions() {
    run(async {
        let lore = LoreCampaign::new().await;
        let warden = json!({"entity_type": "character", "name": "Aelysh", "aliases": ["The Grove Warden"]});
        lore.create(json!([warden])).await;
        lore.create(json!([{"entity_type": "journal", "name": "Session 4", "entry": "They met [[Aelysh]]."}])).await;
        assert_eq!(lore.find_names(json!({"query": "the grove warden"})).await, ["Aelysh", "Session 4"]);
        assert_eq!(lore.find_names(json!({"query": "warden"})).await, ["Aelysh"], "a part of an alias is not followed");
    });
}

/// Words of markup were found in texts without a mention, and not in texts with one.
#[test]
fn markup_is_no_word_with_and_without_a_mention() {
    run(async {
        let lore = LoreCampaign::new().await;
        lore.create(json!([{"entity_type": "character", "name": "Aelysh"}])).await;
        let text = "<span style=\"color: red\">Blood</span> on [the map](https://example.org/harbour), **very** old.";
        let note = |name: &str, entry: String| json!({"entity_type": "journal", "name": name, "entry": entry});
        lore.create(json!([note("With", format!("{text} [[Aelysh]]")), note("Without", text.to_owned())])).await;
        for (query, found) in [
            ("style", &[][..]),
            ("color", &[]),
            ("span", &[]),
            ("harbour", &[]),
            ("blood", &["Without", "With"]),
            ("map", &["Without", "With"]),
            ("very", &["Without", "With"]),
        ] {
            assert_eq!(lore.find_names(json!({"query": query})).await, found, "{query}");
        }
    });
}
