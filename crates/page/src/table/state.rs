//! The state of a table, as the engine answers it to this caller: campaign, people, session, trackers and the log.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use skald_app::{Caller, Code, Fault, limits};

use crate::PageContext;
use crate::components::encode;
use crate::layout::CampaignHead;
use crate::lore::RevealedRow;
use crate::visitor::Visitor;

/// Events of a session that the log shows at once.
const LOG_ROWS: u64 = 60;
/// Rows of a list that are read at once.
const LIST_ROWS: usize = limits::PAGE_MAX;
/// Characters that a table shows. A list of more says so.
const CHARACTERS_SHOWN: usize = 1_000;

#[derive(Debug, Deserialize)]
pub(crate) struct TableCampaign {
    pub id: String,
    pub name: String,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct TableSpotlight {
    pub scene: Option<String>,
    /// `GM`, or an actor's name.
    pub up: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct TrackerRow {
    #[serde(default)]
    pub actor_id: Option<String>,
    #[serde(default)]
    pub participant_id: Option<String>,
    pub name: String,
    pub value: i64,
    #[serde(default)]
    pub min: i64,
    pub max: Option<i64>,
    pub meaning: Option<String>,
    /// Who may see it, where that is not everybody.
    pub visible_to: Option<Value>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ActorRow {
    pub id: String,
    pub name: String,
    pub kind: String,
    pub controller: Option<String>,
    pub template: Option<String>,
    #[serde(default)]
    pub trackers: Vec<TrackerRow>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ParticipantRow {
    pub id: String,
    pub display_name: String,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct SessionRow {
    pub id: String,
    pub name: String,
    pub status: String,
    pub note_count: u64,
    pub roll_count: u64,
    pub started_at: String,
    pub ended_at: Option<String>,
}

impl SessionRow {
    pub(crate) fn is_active(&self) -> bool {
        self.status == "ACTIVE"
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct EventRow {
    /// Guests do not get it.
    pub revision: Option<u64>,
    pub at: String,
    pub event: Value,
}

impl EventRow {
    pub(crate) fn kind(&self) -> &str {
        self.event.get("type").and_then(Value::as_str).unwrap_or_default()
    }

    pub(crate) fn text(&self, field: &str) -> Option<&str> {
        self.event.get(field)?.as_str()
    }

    /// Whether it happened just now: it is marked for a moment.
    pub(crate) fn is_fresh(&self) -> bool {
        let age = self.at.parse::<Timestamp>().map(|at| Timestamp::now().duration_since(at).as_secs());
        age.is_ok_and(|age| (0..4).contains(&age))
    }
}

#[derive(Debug, Default, Deserialize)]
struct ReadAnswer {
    campaign: Option<TableCampaign>,
    #[serde(default)]
    spotlight: TableSpotlight,
    #[serde(default)]
    actors: Vec<ActorRow>,
    #[serde(default)]
    participants: Vec<ParticipantRow>,
    #[serde(default)]
    sessions: Vec<SessionRow>,
    next_cursor: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct TrackerAnswer {
    #[serde(default)]
    trackers: Vec<TrackerRow>,
}

/// A part of the log, newest first.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct EventLog {
    #[serde(default)]
    pub events: Vec<EventRow>,
    next_cursor: Option<String>,
}

impl EventLog {
    /// The address of the entries before these, on the page of the session.
    pub(crate) fn older_path(&self, campaign_id: &str, session_number: Option<usize>) -> Option<String> {
        let (cursor, number) = (self.next_cursor.as_deref()?, session_number?);
        Some(format!("/c/{campaign_id}/sessions/{number}?cursor={}#log", encode(cursor)))
    }
}

#[derive(Debug, Default, Deserialize)]
struct HandoutAnswer {
    #[serde(default)]
    revealed: Vec<RevealedRow>,
    revealed_count: Option<usize>,
}

/// The whole of a table.
pub(crate) struct TableState {
    pub head: CampaignHead,
    pub campaign: TableCampaign,
    pub spotlight: TableSpotlight,
    /// Oldest first, as they came to the table.
    pub actors: Vec<ActorRow>,
    /// Whether there are older actors that are not among these.
    pub has_more_actors: bool,
    pub people: BTreeMap<String, String>,
    /// Newest first.
    pub sessions: Vec<SessionRow>,
    /// Trackers of the campaign itself.
    pub trackers: Vec<TrackerRow>,
    /// The log of the session that is shown, newest first.
    pub events: Vec<EventRow>,
    /// The address of older entries of the log, if there are some.
    pub older_events: Option<String>,
    /// The newest of what was revealed to the visitor, and lately to the whole table.
    pub handouts: Vec<RevealedRow>,
    /// How many of those there are.
    pub handout_count: usize,
    /// Whether the visitor may roll, note and change trackers.
    pub plays: bool,
    pub is_game_master: bool,
}

impl TableState {
    pub(crate) async fn read(context: &PageContext, visitor: &Visitor, campaign: &str) -> Result<Self, Fault> {
        let (mut state, session_id) = Self::read_people(context, visitor, campaign).await?;
        let log = read_log(context, visitor, &state.head.id, session_id.as_deref(), None).await?;
        let number = session_id.as_deref().and_then(|id| state.session_number(id));
        state.older_events = log.older_path(&state.head.id, number);
        state.events = log.events;
        if !state.is_game_master && context.offers("browse_lore") {
            let input = json!({"campaign_id": state.head.id, "limit": 1});
            let answer: HandoutAnswer = context.read(&visitor.caller, "browse_lore", input).await?;
            state.handout_count = answer.revealed_count.unwrap_or(answer.revealed.len());
            state.handouts = answer.revealed;
        }
        Ok(state)
    }

    /// Reads everything but the log. The second value is the id of the active session, or of the last one.
    pub(crate) async fn read_people(
        context: &PageContext,
        visitor: &Visitor,
        campaign: &str,
    ) -> Result<(Self, Option<String>), Fault> {
        let caller = &visitor.caller;
        let read: ReadAnswer =
            context.read(caller, "campaign_read", json!({"campaign_id": campaign, "view": "campaign"})).await?;
        let fields = read.campaign.ok_or_else(|| {
            Fault::new(Code::NotFound, "there is no such campaign")
                .hint("the campaigns that you take part in are at home")
        })?;
        let (mut actors, has_more_actors) =
            context.read_list(caller, campaign, "actors", CHARACTERS_SHOWN, |answer| answer.actors).await?;
        let (people, _) = context
            .read_list(caller, campaign, "participants", limits::PARTICIPANTS_MAX, |answer| answer.participants)
            .await?;
        // All of them, since a session is called by its place among all.
        let (sessions, _) = context
            .read_list(caller, campaign, "sessions", limits::PLAY_SESSIONS_MAX, |answer| answer.sessions)
            .await?;
        let plays = visitor.plays_in(&fields.id) && !context.options.visible.read_only;
        // Guests may not call it. They do not see the trackers of the campaign itself.
        let trackers: TrackerAnswer = context
            .read(caller, "tracker", json!({"campaign_id": campaign, "method": "read"}))
            .await
            .unwrap_or_default();
        let is_own = |row: &TrackerRow| row.actor_id.is_none() && row.participant_id.is_none();
        let session_id = sessions.first().map(|session| session.id.clone());
        let is_game_master = plays && visitor.is_game_master_of(&fields.id);
        actors.reverse();
        let state = Self {
            head: CampaignHead { id: fields.id.clone(), name: fields.name.clone() },
            campaign: fields,
            spotlight: read.spotlight,
            actors,
            has_more_actors,
            people: people.into_iter().map(|row| (row.id, row.display_name)).collect(),
            sessions,
            trackers: trackers.trackers.into_iter().filter(is_own).collect(),
            events: Vec::new(),
            older_events: None,
            handouts: Vec::new(),
            handout_count: 0,
            plays,
            is_game_master,
        };
        Ok((state, session_id))
    }

    /// The session that goes on.
    pub(crate) fn active_session(&self) -> Option<&SessionRow> {
        self.sessions.iter().find(|session| session.is_active())
    }

    /// The number of a session: the first one of a campaign is 1.
    pub(crate) fn session_number(&self, id: &str) -> Option<usize> {
        self.sessions.iter().position(|session| session.id == id).map(|at| self.sessions.len() - at)
    }

    pub(crate) fn actor_name(&self, id: &str) -> Option<&str> {
        self.actors.iter().find(|actor| actor.id == id).map(|actor| actor.name.as_str())
    }

    /// Who plays an actor, in words.
    pub(crate) fn player_of(&self, actor: &ActorRow) -> Option<&str> {
        match actor.controller.as_deref()? {
            "GM" => Some("Game master"),
            id => self.people.get(id).map(String::as_str),
        }
    }
}

impl PageContext {
    /// The names of the participants and the actors of a campaign, by id.
    pub(crate) async fn people_names(
        &self,
        caller: &Caller,
        campaign: &str,
    ) -> Result<BTreeMap<String, String>, Fault> {
        let rows_of = |answer: ReadAnswer| answer.participants;
        let (people, _) = self.read_list(caller, campaign, "participants", limits::PARTICIPANTS_MAX, rows_of).await?;
        let (actors, _) = self.read_list(caller, campaign, "actors", CHARACTERS_SHOWN, |answer| answer.actors).await?;
        let people = people.into_iter().map(|row| (row.id, row.display_name));
        Ok(people.chain(actors.into_iter().map(|actor| (actor.id, actor.name))).collect())
    }

    /// The rows of a list of a campaign, the newest first, up to a number; and whether there are more.
    async fn read_list<T>(
        &self,
        caller: &Caller,
        campaign: &str,
        view: &str,
        most: usize,
        rows_of: impl Fn(ReadAnswer) -> Vec<T>,
    ) -> Result<(Vec<T>, bool), Fault> {
        let (mut rows, mut cursor): (Vec<T>, Option<String>) = (Vec::new(), None);
        loop {
            let mut input = json!({"campaign_id": campaign, "view": view, "limit": LIST_ROWS});
            if let Some(cursor) = &cursor {
                input["cursor"] = cursor.as_str().into();
            }
            let mut answer: ReadAnswer = self.read(caller, "campaign_read", input).await?;
            cursor = answer.next_cursor.take();
            rows.extend(rows_of(answer));
            if cursor.is_none() || rows.len() >= most {
                return Ok((rows, cursor.is_some()));
            }
        }
    }
}

/// What happened in a session, or in the whole campaign while it has none. Newest first.
pub(crate) async fn read_log(
    context: &PageContext,
    visitor: &Visitor,
    campaign_id: &str,
    session_id: Option<&str>,
    cursor: Option<&str>,
) -> Result<EventLog, Fault> {
    let mut input = json!({
        "campaign_id": campaign_id,
        "types": ["roll.", "note.", "tracker.changed", "spotlight.", "session."],
        "limit": LOG_ROWS,
    });
    if let Some(session_id) = session_id {
        input["session_id"] = session_id.into();
    }
    if let Some(cursor) = cursor {
        input["cursor"] = cursor.into();
    }
    context.read(&visitor.caller, "events_list", input).await
}
