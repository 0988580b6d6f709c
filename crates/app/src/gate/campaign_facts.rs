//! Campaign facts for guards (`campaign` in expressions): the newest sessions, rolls, universes and entities of the
//! campaign. They are stored in the event that they decided, so their size is bounded, and nothing private is in them:
//! whoever may read the history of a run reads its facts.

use serde_json::{Value, json};
use skald_domain::campaign::{CampaignEvent, CampaignState, Role, SessionStatus};
use skald_domain::gate::CampaignNumbers;
use skald_domain::lore::Entity;

use crate::campaign::CampaignStream;
use crate::redaction::Redaction;
use crate::{App, Fault};
use skald_domain::visibility::Viewer;
use skald_journal::CommittedState;

/// Maximum of sessions, of rolls, of universes and of entities that a guard sees: the newest ones.
const ITEMS_MAX: usize = 50;
/// The tags of one entity that a guard sees.
const ENTITY_TAGS_MAX: usize = 20;
/// The number of last records of a campaign that are searched for rolls.
const ROLL_SEARCH_RECORDS: u64 = 500;

impl App {
    /// The numbers of a campaign that a process may take into the context of its runs.
    pub(super) async fn campaign_numbers(&self, campaign_id: &str) -> Result<CampaignNumbers, Fault> {
        let stream = crate::campaign::campaign_stream(campaign_id);
        let committed = self.campaigns.read(&stream).await.map_err(|error| self.store_fault(&error))?;
        Ok(count_numbers(&committed.state))
    }

    /// The campaign's sessions, rolls, universes and public entities, the newest first, and their counts.
    pub(super) async fn campaign_facts(&self, campaign_id: &str) -> Result<Value, Fault> {
        let stream = crate::campaign::campaign_stream(campaign_id);
        let committed = self.campaigns.read(&stream).await.map_err(|error| self.store_fault(&error))?;
        let sessions = committed.state.sessions();
        let redaction = Redaction::for_viewer(Some(Viewer::default()));
        let public = redaction.redact_sessions(&committed.state, sessions.newest_first());
        let newest: Vec<Value> = public
            .iter()
            .take(ITEMS_MAX)
            .map(|session| {
                json!({
                    "id": session.id, "name": session.name, "status": session.status,
                    "note_count": session.note_count, "roll_count": session.roll_count,
                })
            })
            .collect();
        let roll_count: u64 = public.iter().map(|session| session.roll_count).sum();
        let (universes, universe_count) = self.newest_universes(campaign_id, ITEMS_MAX).await?;
        let (entities, entity_count) = self.newest_entities(campaign_id).await?;
        let (campaign, numbers) = (committed.state.campaign(), count_numbers(&committed.state));
        Ok(json!({
            "id": campaign_id,
            "name": campaign.map(|campaign| &campaign.name),
            "status": campaign.map(|campaign| campaign.status),
            "participant_count": committed.state.participants().len(),
            "player_count": numbers.players,
            "actor_count": committed.state.actors().len(),
            "session_count": sessions.len(),
            "open_session_count": numbers.open_sessions,
            "sessions": newest,
            "roll_count": roll_count,
            "rolls": self.newest_rolls(&stream, &committed, &redaction).await?,
            "universe_count": universe_count,
            "universes": universes,
            "entity_count": entity_count,
            "entities": entities,
        }))
    }

    /// The newest entities of the campaign's lore that are not private, and how many there are.
    async fn newest_entities(&self, campaign_id: &str) -> Result<(Vec<Value>, usize), Fault> {
        let stream = crate::lore::lore_stream(campaign_id);
        let committed = self.lore.read(&stream).await.map_err(|error| self.store_fault(&error))?;
        let state = &committed.state;
        let is_counted = |entity: &&std::sync::Arc<Entity>| !entity.is_private && !entity.is_superseded();
        let newest = state.newest_entities().filter(is_counted).take(ITEMS_MAX).map(|entity| {
            let tags: Vec<&str> = state.tag_names(entity).into_iter().take(ENTITY_TAGS_MAX).collect();
            json!({
                "id": entity.entity_id, "name": &*entity.name, "entity_type": entity.entity_type,
                "type": &*entity.subtype, "tags": tags,
            })
        });
        Ok((newest.collect(), state.public_entity_count()))
    }

    /// The rolls among the last records of a campaign, as far as they may be seen.
    async fn newest_rolls(
        &self,
        stream: &skald_journal::StreamName,
        committed: &CommittedState<CampaignStream>,
        redaction: &Redaction,
    ) -> Result<Vec<Value>, Fault> {
        let after = committed.revision().saturating_sub(ROLL_SEARCH_RECORDS);
        let records =
            self.journal.read(stream, after, usize::try_from(ROLL_SEARCH_RECORDS).unwrap_or(usize::MAX)).await;
        let records = records.map_err(|error| self.store_fault(&error))?;
        let mut rolls = Vec::new();
        for record in records.iter().rev() {
            let events: Vec<CampaignEvent> =
                serde_json::from_str(&record.body).map_err(|error| Fault::internal(error, self.new_request_id()))?;
            for event in redaction.redact_events(&committed.state, Some(record.at), &events) {
                if let CampaignEvent::RollRecorded(roll) = event {
                    rolls.push(json!({
                        "id": roll.id, "session_id": roll.session_id, "participant_id": roll.participant_id,
                        "actor_id": roll.actor_id, "tool": roll.tool, "expression": roll.expression,
                        "result": shorten_result(roll.result),
                    }));
                }
            }
            if rolls.len() >= ITEMS_MAX {
                break;
            }
        }
        rolls.truncate(ITEMS_MAX);
        Ok(rolls)
    }
}

fn count_numbers(state: &CampaignState) -> CampaignNumbers {
    let players = state.participants().oldest_first().filter(|participant| participant.role == Role::Player);
    let open_sessions = state.sessions().newest_first().filter(|session| session.status == SessionStatus::Active);
    CampaignNumbers {
        players: players.count() as u64,
        actors: state.actors().len() as u64,
        open_sessions: open_sessions.count() as u64,
    }
}

/// A roll's result with more bytes than this is shortened.
const RESULT_BYTES_MAX: usize = 1_000;

/// The result unchanged, or only its numbers and short texts if it is long.
fn shorten_result(result: Value) -> Value {
    if result.to_string().len() <= RESULT_BYTES_MAX {
        return result;
    }
    let Value::Object(fields) = result else { return Value::Null };
    let is_short = |value: &Value| match value {
        Value::Array(_) | Value::Object(_) => false,
        Value::String(text) => text.len() <= 100,
        _ => true,
    };
    fields.into_iter().filter(|(_, value)| is_short(value)).take(20).collect()
}
