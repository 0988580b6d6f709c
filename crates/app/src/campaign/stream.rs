//! The campaign's stream kind: its events in the journal, its read models, and the faults for its refusals.

use std::borrow::Cow;

use serde_json::json;
use skald_domain::campaign::{CampaignEvent, CampaignRefusal, CampaignRefusalKind, CampaignRules, CampaignState};

use super::note_documents::note_changes;
use crate::{Code, Fault};
use skald_journal::{Document, ReadModelChange, StreamKind, StreamName, WholeSnapshot};

/// The read model of all campaigns, the newest first.
pub(crate) const CAMPAIGNS: &str = "campaigns";
/// The read model with the campaign of each session.
pub(super) const SESSIONS: &str = "sessions";
/// The read model with the campaign of each participant.
pub(crate) const PARTICIPANTS: &str = "participants";

/// The streams of the noun in the journal.
pub struct CampaignStream;

impl StreamKind for CampaignStream {
    type Rules = CampaignRules;
    const NAME: &'static str = "campaign";
    type Parts = WholeSnapshot<CampaignState>;
    type ReadCache = ();
    // Raised when secrets knew when they were written: an older snapshot does not have that.
    const SNAPSHOT_VERSION: u32 = 4;
    const USES_SNAPSHOTS: bool = true;

    fn next_read_cache((): &()) {}

    fn event_kind(event: &CampaignEvent) -> &'static str {
        event.kind()
    }

    fn read_model_changes(
        stream: &StreamName,
        state: &CampaignState,
        events: &[CampaignEvent],
    ) -> Vec<ReadModelChange> {
        let Some(campaign) = state.campaign() else { return Vec::new() };
        let put = |collection: &str, id: &str, rank: i64, body: String| {
            let (collection, partition) = (collection.to_owned(), stream.id().to_owned());
            ReadModelChange::Put(Document { collection, partition, id: id.to_owned(), rank, body, search: None })
        };
        let here = || json!({"campaign_id": stream.id()}).to_string();
        let places = events.iter().filter_map(|event| match event {
            CampaignEvent::SessionStarted { session_id, .. } => Some(put(SESSIONS, session_id, 0, here())),
            CampaignEvent::ParticipantAdded { participant_id, .. } => {
                Some(put(PARTICIPANTS, participant_id, 0, here()))
            }
            CampaignEvent::ParticipantRemoved { participant_id, .. } => {
                Some(ReadModelChange::Delete { collection: PARTICIPANTS.to_owned(), id: participant_id.clone() })
            }
            _ => None,
        });
        // Events of play change nothing that a list of campaigns shows.
        let is_listed = !events.iter().all(CampaignEvent::is_play);
        let listed = is_listed.then(|| {
            let body = serde_json::to_string(campaign).expect("a campaign is JSON");
            put(CAMPAIGNS, stream.id(), state.created_micros(), body)
        });
        let notes = events.iter().filter_map(|event| note_changes(stream, state, event));
        listed.into_iter().chain(places).chain(notes).collect()
    }

    fn referenced_side_rows(_: &StreamName, _: &CampaignState) -> Vec<(Cow<'static, str>, String)> {
        Vec::new()
    }

    fn removed_side_rows(_: &StreamName, _: &[CampaignEvent]) -> Vec<(String, String)> {
        Vec::new()
    }
}

pub(crate) fn campaign_stream(campaign_id: &str) -> StreamName {
    StreamName::new(CampaignStream::NAME, campaign_id)
}

pub(super) fn refusal_fault(campaign_id: &str, refusal: &CampaignRefusal) -> Fault {
    let code = match refusal.kind() {
        CampaignRefusalKind::NotFound => Code::NotFound,
        CampaignRefusalKind::Invalid => Code::InvalidParams,
        CampaignRefusalKind::ActiveSessionExists => Code::ActiveSessionExists,
        CampaignRefusalKind::TooLarge => Code::TooLarge,
        CampaignRefusalKind::Rejected => Code::Rejected,
    };
    if matches!(refusal, CampaignRefusal::CampaignNotFound) {
        return campaign_not_found(campaign_id);
    }
    let mut fault = Fault::new(code, refusal.to_string()).hint(refusal.hint());
    if let Some(pointer) = refusal.pointer() {
        fault = fault.with_path(pointer);
    }
    if let Some(value) = refusal.value() {
        fault = fault.value(&value.into());
    }
    if let Some(number) = refusal.number() {
        fault = fault.value(&number.into());
    }
    fault.allowed(refusal.allowed_values())
}

/// The fault for a campaign that does not exist, or that the caller has no role in: both look the same.
pub(super) fn campaign_not_found(campaign_id: &str) -> Fault {
    Fault::new(Code::NotFound, format!("there is no campaign {:?}", crate::truncate_for_message(campaign_id)))
        .with_path("/campaign_id")
        .value(&campaign_id.into())
        .hint("send the id of a campaign that is there; `campaign_read` with view campaigns lists them; `campaign_create` makes one")
}
