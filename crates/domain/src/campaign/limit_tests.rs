//! Tests of the limit on a campaign's texts: exactly at it, and one byte past it.

use super::tests::{CampaignFixture, add_participant, create, start_session};
use super::*;
use crate::decider::Decider;
use crate::limits;
use crate::visibility::Visibility;

fn add_actor_with_notes(id: &str, name: &str, bytes: usize) -> CampaignCommand {
    let (id, name, kind) = (id.to_owned(), name.to_owned(), ActorKind::Npc);
    CampaignCommand::AddActor { id, name, kind, notes: "x".repeat(bytes) }
}

fn update_notes(id: &str, bytes: usize) -> CampaignCommand {
    let notes = Some("x".repeat(bytes));
    CampaignCommand::UpdateActor { actor_id: id.to_owned(), name: None, kind: None, notes }
}

/// A campaign whose texts are `left` bytes below the limit.
fn nearly_full_campaign(left: usize) -> CampaignFixture {
    let mut table = CampaignFixture::empty();
    table.expect_events(create("C"));
    let mut number = 0;
    loop {
        let room = limits::CAMPAIGN_TEXT_BYTES_MAX - left - table.state.text_bytes();
        match room {
            0 => return table,
            1 => panic!("an actor has a name"),
            // Never leave a single byte: an actor needs a name and notes.
            room => {
                let most = limits::TEXT_CHARS_MAX + 1;
                let bytes = if room > most { most.min(room - 2) } else { room };
                table.expect_events(add_actor_with_notes(&format!("actor_{number}"), "n", bytes - 1));
            }
        }
        number += 1;
    }
}

#[test]
fn texts_of_a_campaign_have_an_end() {
    let eleven = "12345678901";
    let theme = |bytes: usize| CampaignCommand::Update {
        name: None,
        gm_mode: None,
        theme_prompt: Some("x".repeat("A cursed forest".len() + bytes)),
    };
    let rename = |bytes: usize| CampaignCommand::UpdateActor {
        actor_id: "actor_0".to_owned(),
        name: Some("x".repeat(1 + bytes)),
        kind: None,
        notes: None,
    };
    let table = nearly_full_campaign(10);
    let (bytes, bytes_max) = (limits::CAMPAIGN_TEXT_BYTES_MAX - 10, limits::CAMPAIGN_TEXT_BYTES_MAX);
    assert_eq!(table.state.text_bytes(), bytes);
    for (fits, past) in [
        (add_actor_with_notes("actor_more", "1", 9), add_actor_with_notes("actor_more", "1", 10)),
        (add_participant("part_more", &eleven[1..], Role::Player), add_participant("part_more", eleven, Role::Player)),
        (start_session("sess_more", &eleven[1..]), start_session("sess_more", eleven)),
        (theme(10), theme(11)),
        (rename(10), rename(11)),
    ] {
        let mut table = CampaignFixture { state: table.state.clone(), ..CampaignFixture::empty() };
        let refusal = table.run(&past).unwrap_err();
        assert_eq!(refusal, CampaignRefusal::TooMuchText { bytes, bytes_after: bytes_max + 1, bytes_max }, "{past:?}");
        assert_eq!(refusal.kind(), CampaignRefusalKind::TooLarge);
        table.expect_events(fits);
        assert_eq!(table.state.text_bytes(), bytes_max);
        // At the limit: additions are refused until a text gets shorter.
        assert_eq!(
            table.run(&add_participant("part_last", "L", Role::Gm)).unwrap_err().kind(),
            CampaignRefusalKind::TooLarge
        );
        table.expect_events(update_notes("actor_1", 1));
        table.expect_events(add_participant("part_last", "L", Role::Gm));
        table.expect_events(CampaignCommand::RemoveActor { actor_id: "actor_1".to_owned() });
        let stored = serde_json::to_string(&table.state).unwrap();
        let read: CampaignState = serde_json::from_str(&stored).unwrap();
        assert_eq!((read.text_bytes(), &read), (table.state.text_bytes(), &table.state));
    }
}

/// A campaign stored before the limit existed may shrink but not grow.
#[test]
fn a_campaign_past_the_limit_can_shrink() {
    let mut table = nearly_full_campaign(0);
    let given = CampaignFixture::given();
    let (actor_id, kind) = ("actor_old".to_owned(), ActorKind::Npc);
    let event = CampaignEvent::ActorAdded {
        actor_id,
        name: "Old".to_owned(),
        kind,
        notes: "x".repeat(1_000),
        notes_visible_to: Visibility::Table,
    };
    table.state = CampaignRules::evolve(table.state, &event, &given);
    assert_eq!(table.run(&add_participant("part_a", "A", Role::Gm)).unwrap_err().kind(), CampaignRefusalKind::TooLarge);
    assert_eq!(table.run(&update_notes("actor_old", 1_001)).unwrap_err().kind(), CampaignRefusalKind::TooLarge);
    table.expect_events(update_notes("actor_old", 999));
    assert!(table.state.text_bytes() > limits::CAMPAIGN_TEXT_BYTES_MAX);
    table.expect_events(update_notes("actor_old", 0));
    table.expect_events(CampaignCommand::RemoveActor { actor_id: "actor_old".to_owned() });
    assert_eq!(table.state.text_bytes(), limits::CAMPAIGN_TEXT_BYTES_MAX);
}
