//! Tests of substance: a shipped process does not let evidence through that says nothing.

use serde_json::{Value, json};
use skald_domain::gate::{CampaignNumbers, GuardResult, RunRefusal, load};

use super::{Walk, shipped_processes, write_out};

const AGENT: (&str, &str) = ("robot", "agent");

/// The agent submits files as they are written, and a guard refuses them. Returns what the guards say.
fn refused_as_written(walk: &mut Walk, event: &str, payload: Value, files: &[(&str, &str)]) -> Vec<String> {
    match walk.emit_as_written(AGENT, event, payload, files) {
        Err(RunRefusal::GuardFailed { results }) => results.iter().map(GuardResult::line).collect(),
        other => panic!("{other:?}"),
    }
}

fn outline() -> Value {
    json!({"goal": "free the smith's daughter", "strong_start": "The inn is on fire."})
}

#[test]
fn a_recap_of_one_space_is_none() {
    let mut walk = Walk::start("session-preparation", json!({}));
    for blank in [" ", "\n", "They fled.", &" ".repeat(1_000), &"\u{200b}".repeat(1_000)] {
        let said = refused_as_written(&mut walk, "submit_recap", json!({}), &[("recap.md", blank)]);
        let bytes = blank.trim().trim_matches('\u{200b}').len();
        let thin = format!("Artifact 'recap.md' does not count: bytes of text: {bytes}, required 200");
        assert_eq!(said, [format!("may_begin: hand in recap.md first, 200 bytes at least, {thin}")]);
    }
    walk.assert_agent_reaches("submit_recap", json!({}), &[("recap.md", "They fled.")], "outline");
}

#[test]
fn three_scenes_of_one_character_are_no_evening() {
    let mut walk = Walk::start("session-preparation", json!({}));
    walk.assert_agent_reaches("submit_recap", json!({}), &[("recap.md", "They fled.")], "outline");
    walk.assert_agent_reaches("submit_outline", outline(), &[], "scenes");
    let thin = [("scene-1.md", "a"), ("scene-2.md", "b"), ("scene-3.md", "c")];
    let recorded = walk.emit_as_written(AGENT, "submit_scene", json!({}), &thin).unwrap();
    assert!(recorded.recorded && walk.run.state() == "scenes", "{recorded:?}");
    let said = recorded.guards[0].missing.join(", ");
    assert!(said.contains("scenes: 0 of 3"), "{said}");
    let lacks = "does not count: bytes of text: 1, required 200; lines: 1, required 4; without 'Place', 'Wants', 'Now', \
                 'Ways out'";
    assert!(said.contains(&format!("Artifact 'scene-1.md' {lacks}")), "{said}");
    let scene = write_out("scene-1.md", "The mill");
    let without_ways_out = scene.replace("Ways out", "No way out");
    let long = "A very long night. ".repeat(200);
    for (content, lack) in [(&*without_ways_out, "without 'Ways out'"), (&long, "lines: 1, required 4")] {
        let emitted = walk.emit_as_written(AGENT, "submit_scene", json!({}), &[("scene-1.md", content)]).unwrap();
        assert!(emitted.guards[0].missing.join(", ").contains(lack), "{emitted:?}");
    }
    let scenes = [("scene-1.md", "The mill"), ("scene-2.md", "The ford"), ("scene-3.md", "The tower")];
    walk.assert_agent_reaches("submit_scene", json!({}), &scenes, "secrets");
    let said = refused_as_written(&mut walk, "submit_secrets", json!({"clues": 3}), &[("secrets.md", "s")]);
    assert!(said[0].contains("Artifact 'secrets.md' does not count"), "{said:?}");
    walk.assert_agent_reaches("submit_secrets", json!({"clues": 3}), &[("secrets.md", "three")], "last_look");
}

#[test]
fn a_short_evening_asks_for_scenes_with_substance_too() {
    let mut walk = Walk::start("session-preparation", json!({"hours": 2}));
    walk.assert_agent_reaches("submit_recap", json!({}), &[("recap.md", "They fled.")], "outline");
    walk.assert_agent_reaches("submit_outline", outline(), &[], "scenes");
    walk.emit_as_written(AGENT, "submit_scene", json!({}), &[("scene-1.md", "a"), ("scene-2.md", "b")]).unwrap();
    assert_eq!(walk.run.state(), "scenes");
}

/// In every shipped process, no guard over artifacts is satisfied by content of one character or of white space.
#[test]
fn every_guard_over_artifacts_asks_for_substance() {
    for (id, source) in shipped_processes() {
        let process = load(source).process.unwrap();
        let asked = source.matches("type: artifact\n").count();
        let minimums = source.matches(" min_bytes: ").count().max(source.matches(" min_lines: ").count());
        let with_schema = process.artifacts.iter().filter(|kind| kind.schema.is_some()).count();
        assert_eq!(asked, minimums + with_schema, "{id}");
    }
    let mut exploration = Walk::start("exploration-process", json!({}));
    let blank = [("experiment_plan.md", " ")];
    let kept = exploration.emit_as_written(AGENT, "submit_experiment_plan", json!({"plan": "look"}), &blank).unwrap();
    assert_eq!(
        kept.guards[0].missing,
        ["成果物 'experiment_plan' が未提出", "成果物 'experiment_plan.md' は数えられません: 行数: 0 (必要: 1)"]
    );
}

#[test]
fn clues_backgrounds_and_drafts_of_one_character_do_not_count() {
    let mut quest = Walk::start("quest", json!({}));
    quest.assert_agent_reaches("accept_quest", json!({"terms": "none"}), &[], "investigation");
    let clues = [("clue-1.md", "1"), ("clue-2.md", "2"), ("clue-3.md", "3")];
    let clue = json!({"summary": "s", "source": "magic"});
    let kept = quest.emit_as_written(AGENT, "submit_clue", clue, &clues).unwrap();
    assert!(kept.recorded && kept.guards[0].missing[0] == "clues: 0 of 3", "{kept:?}");
    let mut canon = Walk::start("canon-review", json!({}));
    let said = refused_as_written(&mut canon, "submit_draft", json!({}), &[("draft.md", "d")]);
    assert!(said[0].starts_with("has_draft: hand in draft.md, 150 bytes at least, Artifact 'draft.md'"), "{said:?}");
    let mut character = Walk::start("character-creation", json!({}));
    let concept = json!({"name": "Ash", "concept": "the last of the wardens", "player": "Ben"});
    character.assert_agent_reaches("submit_concept", concept, &[], "traits");
    let sheet = r#"{"name": "Ash", "traits": {"wits": 1}, "points_spent": 1}"#;
    let spent = json!({"points_spent": 1, "highest_trait": 1});
    character.assert_agent_reaches("submit_sheet", spent, &[("sheet.json", sheet)], "background");
    let no_secret = write_out("background.md", "Ash").replace("## Secret", "Secret");
    let said = refused_as_written(&mut character, "submit_background", json!({}), &[("background.md", &no_secret)]);
    assert!(said[0].ends_with("Artifact 'background.md' does not count: without '## Secret'"), "{said:?}");
}

#[test]
fn a_party_is_as_large_as_the_campaign_says() {
    let numbers = CampaignNumbers { players: 3, actors: 9, open_sessions: 1 };
    for (id, source) in shipped_processes() {
        let process = load(source).process.unwrap();
        let taken = process.context_from_campaign(numbers, &process.initial_context);
        let expected = match id {
            "session-preparation" => json!({"party_size": 3, "open_sessions": 1}),
            "character-creation" => json!({"party_size": 3}),
            _ => json!({}),
        };
        assert_eq!(Value::Object(taken), expected, "{id}");
        let empty = process.context_from_campaign(CampaignNumbers::default(), &process.initial_context);
        assert!(!empty.contains_key("party_size"), "{id}: nobody is no party");
    }
}
