//! Tests of `find_entities`: ranking, words, filters, pages and limits.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use skald_app::{Caller, Code, Engine, RequestControl, limits};

use super::{LoreCampaign, ids, names, numbered_places, rows};
use crate::universe::run;

#[test]
fn better_matches_come_first() {
    run(async {
        let lore = LoreCampaign::new().await;
        // The best match is created last, so that the order is not that of the ids.
        lore.create(json!([
            {"entity_type": "location", "name": "Pond", "entry": "Here a dragon slept."},
            {"entity_type": "location", "name": "Lake", "entry": "A dragon, another dragon, and a third dragon."},
            {"entity_type": "creature", "name": "Ash", "type": "Dragon"},
            {"entity_type": "creature", "name": "Ember", "tags": ["dragon"]},
            {"entity_type": "creature", "name": "Old Smoke", "aliases": ["The Dragon"]},
            {"entity_type": "location", "name": "Snapdragon Field"},
            {"entity_type": "item", "name": "A Dragon's Tooth"},
            {"entity_type": "location", "name": "Dragon Keep"},
            {"entity_type": "creature", "name": "Dragon"},
            {"entity_type": "creature", "name": "Drake"}
        ]))
        .await;
        let expected = [
            "Dragon",
            "Dragon Keep",
            "A Dragon's Tooth",
            "Snapdragon Field",
            "Old Smoke",
            "Ash",
            "Ember",
            "Lake",
            "Pond",
        ];
        assert_eq!(lore.find_names(json!({"query": "dragon"})).await, expected);
        assert_eq!(lore.find_names(json!({"query": " DRAGON "})).await, expected, "in any case");
        assert_eq!(
            lore.find_names(json!({"query": "dragon", "entity_type": "location"})).await,
            ["Dragon Keep", "Snapdragon Field", "Lake", "Pond"]
        );
        assert_eq!(
            lore.find_names(json!({"query": "creature", "limit": 2})).await,
            ["Ash", "Ember"],
            "a type is found"
        );
    });
}

#[test]
fn words_of_three_letters_match_whole_and_prefixes_need_four() {
    run(async {
        let lore = LoreCampaign::new().await;
        lore.create(json!([
            {"entity_type": "location", "name": "Grove", "entry": "An elf lives here."},
            {"entity_type": "location", "name": "Hall", "entry": "The elfin crown lies here."}
        ]))
        .await;
        for (query, found) in [
            ("elf", &["Grove"][..]),
            ("elfi", &["Hall"]),
            ("elfin cro", &[]),
            ("elfin crow", &["Hall"]),
            ("crown elfin", &["Hall"]),
            ("elfi crown", &[]),
            ("here", &["Hall", "Grove"]),
            ("here elf", &["Grove"]),
            ("elf crown", &[]),
        ] {
            assert_eq!(lore.find_names(json!({"query": query})).await, found, "{query}");
        }
    });
}

#[test]
fn no_query_fails() {
    run(async {
        let lore = LoreCampaign::new().await;
        let entry = "A red dragon, the 東京都庁 and a 🐉: don't wake it.";
        lore.create(json!([{"entity_type": "location", "name": "Cave", "entry": entry}])).await;
        let long = "x".repeat(5_000);
        let many_words = "dragon ".repeat(800);
        for query in [
            "\"dragon",
            "dragon\"",
            "\"dragon\"",
            "-dragon",
            "dragon)",
            "(dragon",
            "dragon*",
            "dragon:",
            "{dragon}",
            "dragon\0",
            "don't",
            "京都",
            "京",
            "🐉",
            "DRAGON",
            "drágon",
            "^dragon",
            "dragon; DROP TABLE records; --red",
        ] {
            let found = lore.find_names(json!({"query": query})).await;
            let expected: &[&str] = if query.contains("DROP") { &[] } else { &["Cave"] };
            assert_eq!(found, expected, "{query:?}");
        }
        for query in [
            "AND",
            "OR NOT",
            "dragon AND",
            "NEAR(a b)",
            "a",
            "\0",
            "*",
            "\"",
            "\"\"",
            "()",
            "'",
            ":",
            "-",
            "%",
            "_",
            "\\",
            "京庁",
            "🦄",
            "\u{200d}",
            "\u{feff}",
            "\n",
            &long,
            &many_words,
            "name:dragon",
            "body : dragon",
        ] {
            lore.find(json!({"query": query})).await;
            lore.find(json!({"name": query})).await;
            lore.find(json!({"name": query, "name_fuzzy": true})).await;
            lore.find(json!({"name": query, "name_exact": true})).await;
            lore.find(json!({"tags": [query], "type": query})).await;
        }
        for query in ["", "   "] {
            assert_eq!(lore.find_names(json!({"query": query})).await, ["Cave"], "an empty query is none");
        }
    });
}

#[test]
fn a_post_is_found_and_shown_around_the_word() {
    run(async {
        let lore = LoreCampaign::new().await;
        let hall = lore.create_one(json!({"entity_type": "location", "name": "Hall", "entry": "A hall."})).await;
        let other = lore.create_one(json!({"entity_type": "location", "name": "Yard", "entry": "A yard."})).await;
        let entry = format!("{} a lever behind the tapestry {}", "long before ".repeat(40), "long after ".repeat(40));
        let post = json!({"entity_id": hall, "name": "Hidden door", "entry": entry, "is_private": true});
        let post_id = lore.create_post(post).await;
        lore.create_post(json!({"entity_id": other, "name": "Well"})).await;
        let found = lore.find(json!({"query": "tapestry"})).await;
        assert_eq!(names(&found), ["Hall"]);
        let snippet = found["entities"][0]["snippet"].as_str().unwrap();
        assert!(
            snippet.contains("behind the tapestry") && snippet.starts_with('…') && snippet.ends_with('…'),
            "{snippet}"
        );
        assert!(snippet.trim_matches('…').chars().count() <= limits::SNIPPET_CHARS_MAX, "{snippet}");
        assert_eq!(found["entities"][0]["entry"], "A hall.", "the row is that of the entity");
        assert_eq!(lore.find_names(json!({"query": "hidden door"})).await, ["Hall"], "by the title of the post");
        let changed = json!({"entity_id": hall, "post_id": post_id, "entry": "A lever behind the curtain."});
        lore.call("update_posts", json!({"updates": [changed]})).await;
        assert_eq!(lore.find_names(json!({"query": "tapestry"})).await, [""; 0]);
        assert_eq!(lore.find_names(json!({"query": "curtain"})).await, ["Hall"]);
        lore.call("delete_posts", json!({"deletions": [{"entity_id": hall, "post_id": post_id}]})).await;
        assert_eq!(lore.find_names(json!({"query": "curtain"})).await, [""; 0]);
    });
}

#[test]
fn a_snippet_is_short_and_names_mentioned_entities() {
    run(async {
        let lore = LoreCampaign::new().await;
        lore.create(json!([{"entity_type": "character", "name": "Aelysh"}])).await;
        let entry = format!("In **Willow Hall**, [[Aelysh]] keeps the amber lantern. {}", "And more. ".repeat(60));
        lore.create(json!([{"entity_type": "note", "name": "Digest", "entry": entry}])).await;
        let found = lore.find(json!({"query": "amber"})).await;
        let snippet = found["entities"][0]["snippet"].as_str().unwrap();
        assert!(snippet.contains("Aelysh keeps the amber lantern"), "{snippet}");
        assert!(!snippet.contains("**") && !snippet.contains("[entity:"), "{snippet}");
        assert!(snippet.trim_matches('…').chars().count() <= limits::SNIPPET_CHARS_MAX, "{snippet}");
    });
}

/// The word was searched for as it was typed, with its comma and without the accent, and no place was found.
#[test]
fn a_snippet_is_at_the_word_however_it_is_written() {
    run(async {
        let lore = LoreCampaign::new().await;
        let entry = format!("{} king Ælfric (the Dragon) slept. {}", "Long before. ".repeat(50), "After. ".repeat(50));
        lore.create(json!([{"entity_type": "note", "name": "Digest", "entry": entry}])).await;
        for query in ["aelfric", "Dragon,", "\"ÆLFRIC\"", "(dragon"] {
            let found = lore.find(json!({"query": query})).await;
            let snippet = found["entities"][0]["snippet"].as_str().unwrap_or_default().to_owned();
            assert!(snippet.contains("Ælfric (the Dragon)"), "{query}: {snippet}");
        }
    });
}

/// A link by name becomes a mention by number. The text still names the entity for its readers.
#[test]
fn a_text_is_found_by_the_name_of_an_entity_that_it_mentions() {
    run(async {
        let lore = LoreCampaign::new().await;
        lore.create(json!([{"entity_type": "character", "name": "Aelysh"}])).await;
        lore.create(
            json!([{"entity_type": "journal", "name": "Session 4", "entry": "They met [[Aelysh]] by the river."}]),
        )
        .await;
        assert_eq!(lore.find_names(json!({"query": "aelysh"})).await, ["Aelysh", "Session 4"]);
        assert_eq!(lore.find_names(json!({"query": "entity"})).await, [""; 0], "the syntax of a mention is no word");
        let several = lore.find_names(json!({"query": "aelysh river"})).await;
        assert_eq!(several, [""; 0], "the name is not looked for among other words");
    });
}

#[test]
fn filters_combine() {
    run(async {
        let lore = LoreCampaign::new().await;
        lore.create(json!([
            {"entity_type": "character", "name": "Mira Vale", "type": "NPC", "tags": ["harbour", "thief"], "entry": "Sells maps."},
            {"entity_type": "character", "name": "Miro", "type": "NPC", "tags": ["harbour"], "entry": "Sells maps."},
            {"entity_type": "character", "name": "Mirabel", "type": "Player Character", "tags": ["harbour", "thief"], "entry": "Buys maps."},
            {"entity_type": "location", "name": "Mira's Rest", "type": "NPC", "tags": ["harbour", "thief"], "entry": "Maps on walls."},
            {"entity_type": "journal", "name": "Day at Mira's", "tags": ["harbour"], "date": "2025-05-30", "entry": "Maps were found."}
        ]))
        .await;
        for (filter, found) in [
            (json!({"name": "mira", "type": "npc"}), &["Mira Vale", "Mira's Rest"][..]),
            (json!({"name": "mira", "type": "NPC", "entity_type": "character"}), &["Mira Vale"]),
            (json!({"tags": ["THIEF", "harbour"], "entity_type": "character"}), &["Mira Vale", "Mirabel"]),
            (json!({"query": "maps", "tags": ["thief"], "type": "NPC"}), &["Mira's Rest", "Mira Vale"]),
            (json!({"query": "sells", "name": "miro"}), &["Miro"]),
            (json!({"query": "maps", "name": "Mirabell", "name_fuzzy": true}), &["Mirabel"]),
            (
                json!({"query": "mira", "entity_type": "journal", "date_range": {"start": "2025-05-30"}}),
                &["Day at Mira's"],
            ),
            (json!({"query": "maps", "date_range": {"start": "2025-05-31"}}), &[]),
            (json!({"entity_type": "npc", "tags": ["thief"]}), &["Mira Vale"]),
        ] {
            let answer = lore.find(filter.clone()).await;
            assert_eq!(names(&answer), found, "{filter}");
            assert_eq!(answer["sync_info"]["total_count"], found.len(), "{filter}");
            let mut short = filter.clone();
            short["include_full"] = false.into();
            assert_eq!(lore.find_names(short).await, found, "{filter} with short rows");
        }
    });
}

#[test]
fn a_score_is_given_with_every_row_of_a_fuzzy_name() {
    run(async {
        let lore = LoreCampaign::new().await;
        let entry = "The warden of the grove.";
        lore.create(json!([
            {"entity_type": "character", "name": "Alesh", "entry": entry},
            {"entity_type": "character", "name": "Aelysh", "entry": entry},
            {"entity_type": "character", "name": "Ailish", "entry": entry}
        ]))
        .await;
        for filter in [
            json!({"name": "Aelysh", "name_fuzzy": true}),
            json!({"name": "Aelysh", "name_fuzzy": true, "query": "warden"}),
        ] {
            let found = lore.find(filter.clone()).await;
            let scores: Vec<(&Value, &Value)> =
                rows(&found, "entities").iter().map(|row| (&row["name"], &row["match_score"])).collect();
            let expected = [(json!("Aelysh"), json!(1.0)), (json!("Alesh"), json!(0.73))];
            assert_eq!(scores, expected.iter().map(|(name, score)| (name, score)).collect::<Vec<_>>(), "{filter}");
        }
    });
}

#[test]
fn an_exact_name_is_the_whole_name() {
    run(async {
        let lore = LoreCampaign::new().await;
        lore.create(json!([
            {"entity_type": "character", "name": "Aelysh the Old"},
            {"entity_type": "character", "name": "Aelysh"},
            {"entity_type": "character", "name": "The Warden", "aliases": ["aelysh"]}
        ]))
        .await;
        assert_eq!(lore.find_names(json!({"name": "AELYSH", "name_exact": true})).await, ["Aelysh", "The Warden"]);
        assert_eq!(lore.find_names(json!({"name": "AELYSH"})).await.len(), 3);
    });
}

#[test]
fn what_changed_since_a_moment_is_found() {
    run(async {
        let lore = LoreCampaign::new().await;
        let first = lore.create_one(json!({"entity_type": "location", "name": "First"})).await;
        lore.advance(60);
        lore.create(json!([{"entity_type": "location", "name": "Second"}])).await;
        let since = |moment: &str| json!({"last_synced": moment});
        assert_eq!(lore.find_names(since("2026-01-15T11:59:59Z")).await, ["First", "Second"]);
        let found = lore.find(since("2026-01-15T12:00:30Z")).await;
        assert_eq!(names(&found), ["Second"]);
        assert_eq!(found["sync_info"]["newest_updated_at"], "2026-01-15T12:01:00Z");
        assert_eq!(found["sync_info"]["request_timestamp"], "2026-01-15T12:01:00Z");
        for other in
            ["2026-01-15T12:00:30+00:00", "2026-01-15T13:00:30+01:00", "2026-01-15T12:00:30", "2026-01-15 12:00:30"]
        {
            assert_eq!(lore.find_names(since(other)).await, ["Second"], "{other}");
        }
        assert_eq!(lore.find_names(since("2026-01-15")).await, ["First", "Second"], "a day begins at midnight");
        lore.advance(60);
        lore.create_post(json!({"entity_id": first, "name": "News"})).await;
        assert_eq!(lore.find_names(since("2026-01-15T12:01:30Z")).await, ["First"], "a post is a change");
        let nothing = lore.find(since("2026-01-15T12:02:00Z")).await;
        assert_eq!((names(&nothing).len(), &nothing["sync_info"]["newest_updated_at"]), (0, &Value::Null));
        let fault = lore.refusal("find_entities", since("yesterday")).await;
        assert_eq!((fault.code(), fault.body().path.as_deref()), (Code::InvalidParams, Some("/last_synced")));
    });
}

#[test]
fn a_range_of_days_may_have_one_end() {
    run(async {
        let lore = LoreCampaign::new().await;
        lore.create(json!([
            {"entity_type": "journal", "name": "April", "entry": "# 2025-04-30\n\nRain."},
            {"entity_type": "event", "name": "May", "date": "30 May 2025", "entry": "**Date: 2020-01-01**"},
            {"entity_type": "journal", "name": "June", "entry": "**Date:** 2025-06-01"},
            {"entity_type": "journal", "name": "Never", "entry": "No day."},
            {"entity_type": "event", "name": "Elsewhen", "date": "3 Mirtul 1492"}
        ]))
        .await;
        let range = |start: Value, end: Value| json!({"date_range": {"start": start, "end": end}});
        for (filter, found) in [
            (range(json!("2025-05-01"), Value::Null), &["May", "June"][..]),
            (range(Value::Null, json!("2025-05-30")), &["April", "May"]),
            (range(json!("2025-05-30"), json!("2025-05-30")), &["May"]),
            (range(json!(""), json!("30 April 2025")), &["April"]),
            (range(json!("2025-06-02"), json!("2025-05-01")), &[]),
        ] {
            assert_eq!(lore.find_names(filter.clone()).await, found, "{filter}");
        }
        for (filter, path) in [
            (range(json!("soon"), Value::Null), "/date_range/start"),
            (range(json!("2025-05-01"), json!("2025-02-30")), "/date_range/end"),
        ] {
            let fault = lore.refusal("find_entities", filter.clone()).await;
            assert_eq!((fault.code(), fault.body().path.as_deref()), (Code::InvalidParams, Some(path)), "{filter}");
        }
    });
}

/// Of many years the texts are searched for by their first digit, and only those that have it are read.
#[test]
fn a_range_of_many_years_finds_what_is_dated_in_its_text() {
    run(async {
        let lore = LoreCampaign::new().await;
        for begin in (0..600).step_by(limits::BATCH_ITEMS_MAX) {
            lore.create(numbered_places(begin..begin + limits::BATCH_ITEMS_MAX, Some("2 stones, 12 pebbles"))).await;
        }
        lore.create(json!([
            {"entity_type": "journal", "name": "Old", "entry": "**Date:** 30 May 0987"},
            {"entity_type": "journal", "name": "Late", "entry": "# 2025-05-30"},
            {"entity_type": "journal", "name": "Own", "date": "1492-03-01", "entry": "No year."}
        ]))
        .await;
        for (range, expected) in [
            (json!({"start": "1000-01-01"}), &["Late", "Own"][..]),
            (json!({"end": "1999-12-31"}), &["Old", "Own"]),
            (json!({"start": "0900-01-01", "end": "1600-01-01"}), &["Old", "Own"]),
            (json!({"start": "2020-01-01", "end": "2030-01-01"}), &["Late"]),
            (json!({"start": "2026-01-01"}), &[]),
        ] {
            assert_eq!(lore.find_names(json!({"date_range": range})).await, expected, "{range}");
        }
    });
}

#[test]
fn a_cursor_that_was_never_answered_is_refused() {
    run(async {
        let lore = LoreCampaign::new().await;
        lore.create(numbered_places(0..3, Some("stone"))).await;
        for cursor in ["x", "", "-1", "1.2.3", "9.2.3.4", "1.x.3.4", "1.2.3.4.5", "5.x", "99999999999.0"] {
            let fault = lore.refusal("find_entities", json!({"cursor": cursor, "query": "stone"})).await;
            assert_eq!(
                (fault.code(), fault.body().path.as_deref()),
                (Code::InvalidParams, Some("/cursor")),
                "{cursor}"
            );
        }
        let both = lore.refusal("find_entities", json!({"cursor": "1", "page": 2})).await;
        assert_eq!((both.code(), both.body().path.as_deref()), (Code::InvalidParams, Some("/page")));
        let past = lore.find(json!({"cursor": "18446744073709551615"})).await;
        assert_eq!(ids(&past), [0; 0]);
    });
}

/// More texts than are ranked, each with both words; the first entity is also called Pebble.
async fn crowded_lore() -> (LoreCampaign, usize) {
    let lore = LoreCampaign::new().await;
    let count = limits::RANKED_HITS_MAX + 5;
    lore.create(json!([{"entity_type": "location", "name": "Pebble", "entry": "a stone, a pebble"}])).await;
    for begin in (1..count).step_by(limits::BATCH_ITEMS_MAX) {
        let end = count.min(begin + limits::BATCH_ITEMS_MAX);
        lore.create(numbered_places(begin..end, Some("a stone, a pebble"))).await;
    }
    (lore, count)
}

/// The ids on all pages, and the first and the last page.
async fn walk_pages(lore: &LoreCampaign, query: &str) -> (Vec<u64>, Value, Value) {
    let filter = |cursor: &Value| json!({"query": query, "limit": 100, "include_full": false, "cursor": cursor});
    let first = lore.find(filter(&Value::Null)).await;
    let (mut walked, mut last) = (ids(&first), first.clone());
    while last["sync_info"]["next_cursor"].is_string() {
        last = lore.find(filter(&last["sync_info"]["next_cursor"])).await;
        assert!(!ids(&last).is_empty(), "{}", last["sync_info"]);
        walked.extend(ids(&last));
    }
    (walked, first, last)
}

#[test]
fn a_cursor_goes_on_past_the_hits_that_are_ranked() {
    run(async {
        let (lore, count) = crowded_lore().await;
        let (walked, first, last) = walk_pages(&lore, "stone").await;
        let all: BTreeSet<u64> = walked.iter().copied().collect();
        assert_eq!((walked.len(), all.len()), (count, count), "each once");
        assert_eq!(first["sync_info"]["total_count"], limits::RANKED_HITS_MAX);
        assert_eq!((&first["sync_info"]["more"], last["sync_info"].get("more")), (&json!(true), None));
        assert_eq!(first["sync_info"]["returned_count"], 100);
    });
}

/// An entity that is found by its name, and among the texts that are not ranked, came twice.
#[test]
fn an_entity_that_is_found_by_name_does_not_come_again_past_the_ranked_hits() {
    run(async {
        let (lore, count) = crowded_lore().await;
        let (walked, first, _) = walk_pages(&lore, "pebble").await;
        assert_eq!(names(&first)[0], "Pebble");
        let all: BTreeSet<u64> = walked.iter().copied().collect();
        assert_eq!((walked.len(), all.len()), (count, count), "each once");
    });
}

/// Entries come first, then posts, the newest first; an entity that has the word in both, or in two posts, comes once.
#[test]
fn a_cursor_goes_on_through_posts() {
    run(async {
        let lore = LoreCampaign::new().await;
        let count = limits::RANKED_HITS_MAX + 400;
        for begin in (0..count).step_by(limits::BATCH_ITEMS_MAX) {
            let entry = (begin < 600).then_some("a stone");
            lore.create(numbered_places(begin..begin + limits::BATCH_ITEMS_MAX, entry)).await;
        }
        // All but the first 500 entities have a post with the word, and the last 100 a second one.
        let posts: Vec<usize> = (501..=count).chain(count - 99..=count).collect();
        for part in posts.chunks(limits::BATCH_ITEMS_MAX) {
            let post = |id: &usize| json!({"entity_id": id, "name": "News", "entry": "two stones, one stone"});
            lore.call("create_posts", json!({"posts": part.iter().map(post).collect::<Vec<_>>()})).await;
        }
        for query in ["stone", "ston"] {
            let (walked, first, last) = walk_pages(&lore, query).await;
            let all: BTreeSet<u64> = walked.iter().copied().collect();
            assert_eq!((walked.len(), all.len()), (count, count), "{query}: each once");
            assert_eq!(first["sync_info"]["total_count"], limits::RANKED_HITS_MAX, "{query}");
            let totals = (&last["sync_info"]["total_count"], last["sync_info"].get("more"));
            assert_eq!(totals, (&json!(count), None), "{query}: all are counted in the end");
        }
        // A tag that few have, with a word that many have.
        let tagged: Vec<_> = [3, 700, 2_000].map(|id| json!({"entity_id": id, "tags": ["rare"]})).into();
        lore.call("update_entities", json!({"updates": tagged})).await;
        let found = lore.find(json!({"query": "stone", "tags": ["rare"]})).await;
        assert_eq!((ids(&found), found["sync_info"].get("more")), (vec![2_000, 700, 3], None));
    });
}

/// Texts with the word as it was typed come before texts with a longer one, and more of them than are ranked leave the
/// others to the pages after them.
#[test]
fn whole_words_rank_before_longer_ones() {
    run(async {
        let lore = LoreCampaign::new().await;
        lore.create(json!([
            {"entity_type": "location", "name": "One", "entry": "a stone"},
            {"entity_type": "location", "name": "Two", "entry": "stones, stones, stones"},
            {"entity_type": "location", "name": "Three", "entry": "a stonemason"},
        ]))
        .await;
        let found = lore.find(json!({"query": "stone"})).await;
        assert_eq!(names(&found), ["One", "Two", "Three"]);
    });
}

#[test]
fn longer_words_are_found_past_more_whole_ones_than_are_ranked() {
    run(async {
        let (lore, count) = crowded_lore().await;
        let longer = numbered_places(count..count + 3, Some("two stonemasons"));
        lore.create(longer).await;
        let (walked, first, _) = walk_pages(&lore, "stone").await;
        let all: BTreeSet<u64> = walked.iter().copied().collect();
        assert_eq!((walked.len(), all.len()), (count + 3, count + 3), "each once");
        assert_eq!(first["sync_info"]["total_count"], limits::RANKED_HITS_MAX);
        let place_of = |id: u64| walked.iter().position(|walked| *walked == id).unwrap();
        let newest = *all.last().unwrap();
        assert!(place_of(newest) >= limits::RANKED_HITS_MAX, "{}", place_of(newest));
    });
}

#[test]
fn a_cursor_goes_on_past_longer_words_too() {
    run(async {
        let (lore, count) = crowded_lore().await;
        lore.create(json!([{"entity_type": "location", "name": "A typed word", "entry": "ston"}])).await;
        let (walked, first, _) = walk_pages(&lore, "ston").await;
        let all: BTreeSet<u64> = walked.iter().copied().collect();
        assert_eq!((walked.len(), all.len()), (count + 1, count + 1), "each once");
        assert_eq!(names(&first)[0], "A typed word");
    });
}

#[test]
fn all_rows_are_answered_up_to_a_limit() {
    run(async {
        let lore = LoreCampaign::new().await;
        let count = limits::FOUND_ROWS_MAX + 1;
        for begin in (0..count).step_by(limits::BATCH_ITEMS_MAX) {
            let end = count.min(begin + limits::BATCH_ITEMS_MAX);
            lore.create(numbered_places(begin..end, None)).await;
        }
        let found = lore.find(json!({"limit": 0, "include_full": false})).await;
        assert_eq!(ids(&found).len(), limits::FOUND_ROWS_MAX);
        assert_eq!(found["sync_info"]["total_count"], count);
        let cursor = &found["sync_info"]["next_cursor"];
        let rest = lore.find(json!({"limit": 0, "include_full": false, "cursor": cursor})).await;
        assert_eq!((ids(&rest).len(), rest["sync_info"].get("next_cursor")), (1, None));
    });
}

#[test]
fn long_entries_are_cut_and_short_ones_are_not() {
    run(async {
        let lore = LoreCampaign::new().await;
        let long = "A long tale. ".repeat(3_000);
        let created = lore
            .create(json!([
                {"entity_type": "journal", "name": "One", "entry": long},
                {"entity_type": "journal", "name": "Two", "entry": long},
                {"entity_type": "journal", "name": "Three", "entry": "Short."}
            ]))
            .await;
        let found = lore.find(json!({"entity_type": "journal"})).await;
        let [one, two, three] = rows(&found, "entities") else { panic!("three rows") };
        for cut in [one, two] {
            let entry = cut["entry"].as_str().unwrap();
            assert_eq!(cut["truncated"], true);
            assert!(
                entry.ends_with("[… cut here; get_entities has the whole entry]"),
                "{}",
                &entry[entry.len() - 80..]
            );
            assert!((15_000..25_000).contains(&entry.len()), "{}", entry.len());
        }
        assert_eq!((&three["entry"], three.get("truncated")), (&json!("Short."), None));
        let whole = lore.get(created[0]).await;
        assert_eq!((&whole["entry"], whole.get("truncated")), (&json!(long), None));
    });
}

#[test]
fn a_resource_lists_and_finds_entities() {
    run(async {
        let lore = LoreCampaign::new().await;
        let entity_id = lore
            .create(json!([
                {"entity_type": "character", "name": "Aelysh", "entry": "Warden of the grove."},
                {"entity_type": "location", "name": "Grove"}
            ]))
            .await[0];
        let campaign_id = &lore.campaign_id;
        let read = async |uri: String| {
            let contents = lore.engine.read(&Caller::owner(), &uri, &RequestControl::default()).await;
            let text = contents.unwrap_or_else(|fault| panic!("{uri}: {fault}")).into_text();
            serde_json::from_str::<Value>(&text).unwrap_or_else(|error| panic!("{uri}: {error}"))
        };
        let all = read(format!("lore://{campaign_id}/entities")).await;
        assert_eq!(all, lore.find(json!({"include_full": false})).await);
        let found = read(format!("lore://{campaign_id}/entities?query=warden&entity_type=character&limit=1")).await;
        assert_eq!(names(&found), ["Aelysh"]);
        let one = read(format!("lore://{campaign_id}/entity/{entity_id}")).await;
        assert_eq!((&one["entity"]["name"], &one["entity"]["posts"]), (&json!("Aelysh"), &json!([])));
        assert_eq!(read("kanka://context".to_owned()).await, lore.call("kanka_context", json!({})).await);
        let missing = format!("lore://{campaign_id}/entity/999");
        let fault = lore.engine.read(&Caller::owner(), &missing, &RequestControl::default()).await.unwrap_err();
        assert_eq!(fault.code(), Code::NotFound);
    });
}

/// A client that asks with `If-None-Match` was told that nothing had changed, whatever was written into the lore.
#[test]
fn the_revision_of_a_read_changes_with_the_lore() {
    run(async {
        let lore = LoreCampaign::new().await;
        let revision = async || {
            let control = RequestControl::default();
            lore.engine.call(&Caller::owner(), "find_entities", json!({}), &control).await.expect("an answer");
            control.revision.get().copied()
        };
        let before = revision().await;
        lore.create(numbered_places(0..1, None)).await;
        let after = revision().await;
        assert_ne!(before, after);
        assert_eq!(revision().await, after);
    });
}

#[test]
fn with_a_fuzzy_name_the_most_similar_comes_first_wherever_the_query_is() {
    run(async {
        let lore = LoreCampaign::new().await;
        let person = |name: &str, entry: &str| json!({"entity_type": "character", "name": name, "entry": entry});
        lore.create(json!([
            person("Aelysha", "Rings the bell."),
            person("Aelysh", "Hears the bell."),
            person("Bellysh", "Nothing."),
            person("Aylysh", "Sold the bell bell bell.")
        ]))
        .await;
        let found = lore.find(json!({"name": "Aelysh", "name_fuzzy": true, "query": "bell"})).await;
        assert_eq!(names(&found), ["Aelysh", "Aelysha", "Aylysh", "Bellysh"]);
        let scores: Vec<f64> =
            rows(&found, "entities").iter().map(|row| row["match_score"].as_f64().unwrap()).collect();
        assert!(scores.is_sorted_by(|one, other| one >= other), "{scores:?}");
    });
}

#[test]
fn a_large_page_has_each_entry_cut_to_its_share() {
    run(async {
        let lore = LoreCampaign::new().await;
        let long = format!("{} needle {}", "filler ".repeat(2_000), "filler ".repeat(2_000));
        for first in (0..240).step_by(80) {
            lore.create(numbered_places(first..first + 80, Some(&long))).await;
        }
        lore.create_one(json!({"entity_type": "location", "name": "Short", "entry": "A needle."})).await;
        let found = lore.find(json!({"query": "needle", "limit": 0})).await;
        let rows = rows(&found, "entities");
        assert_eq!(rows.len(), 241);
        for row in rows {
            let entry = row["entry"].as_str().unwrap();
            let is_short = row["name"] == "Short";
            assert_eq!(row["truncated"] == true, !is_short, "{row}");
            assert!(entry.chars().count() < 500, "{}", entry.len());
            assert!(row["snippet"].as_str().unwrap().contains("needle"), "{row}");
        }
    });
}
