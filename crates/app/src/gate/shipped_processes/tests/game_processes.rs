//! Tests of the four game processes: each to its end, and along its alternative paths.

use std::sync::Arc;

use serde_json::json;
use skald_domain::gate::{ActingRole, Facts, Override, RunCommand, RunRefusal, RunStatus};

use super::Walk;

pub(super) fn walk_session_preparation() -> Walk {
    let mut walk = Walk::start("session-preparation", json!({"campaign_name": "Emberfall", "hours": 4}));
    assert_eq!(
        walk.assert_guard_refuses("submit_recap", json!({}), &[]),
        ["may_begin: hand in recap.md first, 200 bytes at least"]
    );
    walk.assert_agent_reaches("submit_recap", json!({}), &[("recap.md", "They fled.")], "outline");
    let outline = json!({"goal": "free the smith's daughter", "strong_start": "The inn is on fire."});
    walk.assert_agent_reaches("submit_outline", outline, &[], "scenes");
    walk.assert_agent_reaches(
        "submit_scene",
        json!({"title": "The mill"}),
        &[("scene-mill.md", "m"), ("scene-copy.md", "m")],
        "scenes",
    );
    walk.assert_agent_reaches("submit_scene", json!({}), &[("scene-ford.md", "f")], "scenes");
    walk.assert_agent_reaches("submit_scene", json!({}), &[("scene-tower.md", "t")], "secrets");
    let few = walk.assert_guard_refuses("submit_secrets", json!({"clues": 2}), &[("secrets.md", "s")]);
    assert!(few[0].starts_with("useful_secrets: fewer than three clues"), "{few:?}");
    walk.assert_agent_reaches("submit_secrets", json!({"clues": 7}), &[("secrets.md", "s")], "last_look");
    walk.assert_agent_reaches("submit_check", json!({"weak_spots": 1, "spotlights": 4}), &[], "scenes");
    walk.assert_agent_reaches("submit_scene", json!({}), &[("scene-ford.md", "with a ferry")], "secrets");
    walk.assert_agent_reaches("submit_secrets", json!({"clues": 7}), &[], "last_look");
    walk.assert_agent_reaches("submit_check", json!({"weak_spots": 0, "spotlights": 4}), &[], "ready");
    walk
}

#[test]
fn a_short_evening_needs_two_scenes_and_rework_has_an_end() {
    let mut walk = Walk::start("session-preparation", json!({"hours": 2, "party_size": 3}));
    walk.assert_agent_reaches("submit_recap", json!({}), &[("recap.md", "r")], "outline");
    let outline = json!({"goal": "cross the mountains", "strong_start": "An avalanche comes down."});
    walk.assert_agent_reaches("submit_outline", outline, &[], "scenes");
    walk.assert_agent_reaches("submit_scene", json!({}), &[("scene-1.md", "1")], "scenes");
    walk.assert_agent_reaches("submit_scene", json!({}), &[("scene-2.md", "2")], "secrets");
    walk.assert_agent_reaches("submit_secrets", json!({"clues": 3}), &[("secrets.md", "s")], "last_look");
    let weak = json!({"weak_spots": 2, "spotlights": 3});
    for _ in 0..3 {
        walk.assert_agent_reaches("submit_check", weak.clone(), &[], "scenes");
        walk.assert_agent_reaches("submit_scene", json!({}), &[], "secrets");
        walk.assert_agent_reaches("submit_secrets", json!({"clues": 3}), &[], "last_look");
    }
    let refused = walk.assert_guard_refuses("submit_check", weak, &[]);
    assert_eq!(refused[1], "may_rework: reworked 3 times already; a person decides whether this is good enough");
    let override_ = |is_human: bool| {
        RunCommand::Override(Box::new(Override {
            process: Arc::clone(&walk.process),
            acting_role: ActingRole { role: if is_human { "human" } else { "agent" }.to_owned(), is_human },
            event: "submit_check".to_owned(),
            to: Some("ready".to_owned()),
            reason: "they will never notice".to_owned(),
            facts: Facts::default(),
            facts_of: walk.run.revision(),
        }))
    };
    let (robot, person) = (override_(false), override_(true));
    assert!(walk.execute("robot", &robot).is_err());
    walk.execute("hanna", &person).unwrap();
    assert_eq!(walk.run.status(), RunStatus::Finished);
}

pub(super) fn walk_quest() -> Walk {
    let mut walk = Walk::start("quest", json!({"quest": "the silent bell", "patron": "Abbot Ruan", "clock_size": 4}));
    walk.assert_agent_reaches("accept_quest", json!({"terms": "half now", "reward": "200 gold"}), &[], "investigation");
    let clue = |source: &str| json!({"summary": "it was not the wind", "source": source});
    walk.assert_agent_reaches("submit_clue", clue("witness"), &[("clue-1.md", "a sexton")], "investigation");
    assert_eq!(
        walk.assert_guard_refuses("follow_hunch", json!({"hunch": "the crypt"}), &[]),
        ["grounded_hunch: clues for a hunch: 1 of 2"]
    );
    walk.assert_agent_reaches("advance_clock", json!({"clock": 2}), &[], "investigation");
    let back = walk.assert_guard_refuses("advance_clock", json!({"clock": 1}), &[]);
    assert!(back[1].starts_with("clock_goes_on: say in the payload"), "{back:?}");
    walk.assert_agent_reaches("submit_clue", clue("place"), &[("clue-2.md", "fresh mortar")], "investigation");
    walk.assert_agent_reaches("follow_hunch", json!({"hunch": "the crypt"}), &[], "confrontation");
    walk.assert_agent_reaches(
        "submit_outcome",
        json!({"outcome": "defeat", "summary": "they ran"}),
        &[],
        "investigation",
    );
    let second = walk.assert_guard_refuses("follow_hunch", json!({"hunch": "the tower"}), &[]);
    assert_eq!(second, ["grounded_hunch: a hunch was followed already; find the third clue"]);
    walk.assert_agent_reaches("submit_clue", clue("document"), &[("clue-3.md", "a bill for bronze")], "confrontation");
    walk.assert_agent_reaches(
        "submit_outcome",
        json!({"outcome": "bargain", "summary": "the founder confessed"}),
        &[],
        "aftermath",
    );
    let open = walk.assert_guard_refuses("close_quest", json!({}), &[]);
    assert_eq!(open, ["all_settled: hand in at least one consequence, emit settle_reward first"]);
    walk.assert_agent_reaches(
        "submit_consequence",
        json!({}),
        &[("consequence-bell.md", "it rings again")],
        "aftermath",
    );
    walk.assert_agent_reaches(
        "settle_reward",
        json!({"reward_paid": true, "reward": "150 gold and a bell"}),
        &[],
        "aftermath",
    );
    walk.assert_agent_reaches("close_quest", json!({}), &[], "resolved");
    walk
}

#[test]
fn a_quest_fails_when_its_time_is_up_or_after_two_defeats() {
    let mut slow = Walk::start("quest", json!({"clock_size": 4}));
    slow.assert_agent_reaches("accept_quest", json!({"terms": "none"}), &[], "investigation");
    slow.assert_agent_reaches("advance_clock", json!({"clock": 4}), &[], "failed");

    let mut beaten = Walk::start("quest", json!({}));
    beaten.assert_agent_reaches("accept_quest", json!({"terms": "none"}), &[], "investigation");
    let clue = json!({"summary": "s", "source": "magic"});
    let three = [("clue-1.md", "1"), ("clue-2.md", "2"), ("clue-3.md", "3")];
    beaten.assert_agent_reaches("submit_clue", clue.clone(), &three, "confrontation");
    let defeat = json!({"outcome": "defeat", "summary": "d"});
    beaten.assert_agent_reaches("submit_outcome", defeat.clone(), &[], "investigation");
    beaten.assert_agent_reaches("submit_clue", clue, &[], "confrontation");
    beaten.assert_agent_reaches("submit_outcome", defeat, &[], "failed");

    let mut declined = Walk::start("quest", json!({}));
    assert!(declined.emit(("robot", "agent"), "accept_quest", json!({"terms": "t", "clock": 9}), &[]).is_err());
    declined.assert_agent_reaches("decline_quest", json!({}), &[], "declined");
}

const SHEET: &str = r#"{"name": "Mira", "traits": {"wits": 4, "might": 1}, "points_spent": 10}"#;

/// A character that waits for its review.
pub(super) fn walk_to_character_review() -> Walk {
    let mut walk = Walk::start("character-creation", json!({"system": "Emberfall", "setting": "a drowned city"}));
    let concept = json!({"name": "Mira", "concept": "a lamplighter who sees too much", "player": "Ana"});
    walk.assert_agent_reaches("submit_concept", concept, &[], "traits");
    let rich = walk.assert_guard_refuses(
        "submit_sheet",
        json!({"points_spent": 11, "highest_trait": 4}),
        &[("sheet.json", SHEET)],
    );
    assert!(rich[0].starts_with("sheet_keeps_the_rules: more points are spent"), "{rich:?}");
    let no_sheet = walk.emit(
        ("robot", "agent"),
        "submit_sheet",
        json!({"points_spent": 10, "highest_trait": 4}),
        &[("sheet.json", "{\"name\": \"Mira\"}")],
    );
    assert!(no_sheet.is_err(), "a sheet without traits is none");
    walk.assert_agent_reaches(
        "submit_sheet",
        json!({"points_spent": 10, "highest_trait": 4}),
        &[("sheet.json", SHEET)],
        "background",
    );
    walk.assert_agent_reaches("submit_background", json!({}), &[("background.md", "b")], "connections");
    walk.assert_agent_reaches(
        "submit_connection",
        json!({"with": "Tam"}),
        &[("connection-tam.md", "t")],
        "connections",
    );
    walk.assert_agent_reaches("submit_connection", json!({"with": "Oro"}), &[("connection-oro.md", "o")], "review");
    walk
}

pub(super) fn walk_character_creation() -> Walk {
    let mut walk = walk_to_character_review();
    let own = walk.emit(("robot", "human"), "approve", json!({}), &[]);
    assert_eq!(own, Err(RunRefusal::OwnWork { principal: "robot".to_owned() }));
    walk.assert_person_reaches("reject", json!({"wanted": "less might"}), "traits");
    assert!(walk.run_view().prompt("traits").unwrap().contains("The last review wanted: less might."));
    walk.assert_agent_reaches(
        "submit_sheet",
        json!({"points_spent": 9, "highest_trait": 4}),
        &[("sheet.json", SHEET)],
        "background",
    );
    walk.assert_agent_reaches("submit_background", json!({}), &[], "connections");
    walk.assert_agent_reaches("submit_connection", json!({}), &[], "review");
    walk.assert_person_reaches("approve", json!({"note": "welcome"}), "ready");
    walk
}

#[test]
fn a_character_is_shelved_at_the_third_rejection_and_may_be_alone() {
    let mut walk = walk_to_character_review();
    for round in 0..3 {
        walk.assert_person_reaches(
            "reject",
            json!({"wanted": "another one"}),
            if round < 2 { "traits" } else { "shelved" },
        );
        if round < 2 {
            walk.assert_agent_reaches(
                "submit_sheet",
                json!({"points_spent": 1, "highest_trait": 1}),
                &[],
                "background",
            );
            walk.assert_agent_reaches("submit_background", json!({}), &[], "connections");
            walk.assert_agent_reaches("submit_connection", json!({}), &[], "review");
        }
    }
    let mut alone = Walk::start("character-creation", json!({"party_size": 1}));
    let concept = json!({"name": "Ash", "concept": "the last of the wardens", "player": "Ben"});
    alone.assert_agent_reaches("submit_concept", concept.clone(), &[], "traits");
    for _ in 0..2 {
        alone.assert_agent_reaches("rethink", json!({}), &[], "concept");
        alone.assert_agent_reaches("submit_concept", concept.clone(), &[], "traits");
    }
    assert!(
        alone.assert_guard_refuses("rethink", json!({}), &[])[0].starts_with("may_rethink: rethought 2 times already")
    );
    alone.assert_agent_reaches(
        "submit_sheet",
        json!({"points_spent": 1, "highest_trait": 1}),
        &[("sheet.json", SHEET)],
        "background",
    );
    alone.assert_agent_reaches("submit_background", json!({}), &[("background.md", "b")], "connections");
    alone.assert_agent_reaches("play_solo", json!({}), &[], "review");
}

/// A draft that waits for its review.
pub(super) fn walk_to_canon_review() -> Walk {
    let mut walk = Walk::start("canon-review", json!({"subject": "the fall of Emberhold"}));
    walk.assert_agent_reaches("submit_draft", json!({}), &[("draft.md", "It burned.")], "check");
    assert_eq!(
        walk.assert_guard_refuses("request_review", json!({}), &[]),
        ["may_be_reviewed: sources: 0 of 2, emit submit_check; at least two entries are compared, and not fewer than \
          there are sources, one of: contradictions left: not defined, allowed: 0; or explain them in retcon.md"]
    );
    walk.assert_agent_reaches(
        "submit_check",
        json!({"checked_entries": 2, "contradictions": 1}),
        &[("source-keep.md", "k")],
        "check",
    );
    let open = walk.assert_guard_refuses("request_review", json!({}), &[("source-duke.md", "d")]);
    assert_eq!(open, ["may_be_reviewed: one of: contradictions left: 1, allowed: 0; or explain them in retcon.md"]);
    walk.assert_agent_reaches(
        "request_review",
        json!({}),
        &[("source-duke.md", "d"), ("retcon.md", "a liar told it")],
        "review",
    );
    walk
}

pub(super) fn walk_canon_review() -> Walk {
    let mut walk = walk_to_canon_review();
    let own = walk.emit(("robot", "reviewer"), "approve", json!({"impact": "minor"}), &[]);
    assert_eq!(own, Err(RunRefusal::OwnWork { principal: "robot".to_owned() }));
    let agent = walk.emit(("other", "agent"), "approve", json!({"impact": "minor"}), &[]);
    assert!(matches!(agent, Err(RunRefusal::RoleForbidden { .. })), "{agent:?}");
    walk.emit(("rex", "reviewer"), "approve", json!({"impact": "major"}), &[]).unwrap();
    assert_eq!(walk.run.state(), "second_review");
    let again = walk.emit(("rex", "reviewer"), "approve", json!({"impact": "minor"}), &[]);
    assert!(matches!(again, Err(RunRefusal::TransitionsForbidden { .. })), "{again:?}");
    walk.assert_person_reaches("approve", json!({"impact": "major"}), "canon");
    walk
}

#[test]
fn a_minor_change_needs_one_reviewer_and_three_reviews_are_enough() {
    let mut minor = walk_to_canon_review();
    minor.emit(("rex", "reviewer"), "approve", json!({"impact": "minor"}), &[]).unwrap();
    assert_eq!(minor.run.state(), "canon");

    let mut worn = walk_to_canon_review();
    for round in 0..3 {
        worn.assert_person_reaches("reject", json!({"wanted": "dates"}), "draft");
        worn.assert_agent_reaches("submit_draft", json!({}), &[("draft.md", "It burned, in autumn.")], "check");
        if round < 2 {
            worn.assert_agent_reaches("request_review", json!({}), &[], "review");
        }
    }
    assert!(worn.assert_guard_refuses("request_review", json!({}), &[])[0].contains("three reviews were asked for"));
    worn.assert_agent_reaches("withdraw", json!({}), &[], "withdrawn");
}
