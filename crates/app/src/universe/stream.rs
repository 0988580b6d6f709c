//! The universe's stream kind: its events in the journal, its read models, and the faults for its refusals.

use std::borrow::Cow;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use skald_domain::universe::{
    Created, Replaced, StoredPart, Universe, UniverseEvent, UniverseIdentity, UniverseRefusal, UniverseRefusalKind,
    UniverseRules,
};

use super::render_cache::RenderCache;
use crate::{Code, EVERY_CAMPAIGN, Fault, truncate_for_message};
use skald_journal::{Document, ReadModelChange, SnapshotPart, StreamKind, StreamName};

/// The read model of all universes, the newest first.
pub(crate) const UNIVERSES: &str = "universes";
/// The read model with the campaign of each universe. Deleted ones stay in it, to know who is notified of the deletion.
pub(crate) const UNIVERSE_CAMPAIGNS: &str = "universe_places";
/// Approximate size of a snapshot part; parts are parsed in parallel. Larger parts would leave some cores idle at the
/// end; for smaller ones fetching would take as long as parsing.
const PART_BYTES: usize = 128 << 10;

/// A universe in a list: who it is, not what it holds.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListedUniverse {
    pub id: String,
    pub name: String,
    /// The campaign it belongs to, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub campaign_id: Option<String>,
    pub created_at: String,
    /// When it was last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<String>,
    /// How often it was changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
}

impl ListedUniverse {
    pub(super) fn from_identity(about: &UniverseIdentity) -> Self {
        Self {
            id: about.id.clone(),
            name: about.name.clone(),
            campaign_id: about.campaign_id.clone(),
            created_at: format_time(about.created_at),
            updated_at: None,
            revision: None,
        }
    }

    pub(super) fn role_campaign(&self) -> &str {
        role_campaign(self.campaign_id.as_deref())
    }
}

/// Formats a time as the original does: in UTC, with milliseconds.
pub(super) fn format_time(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// The campaign whose roles count: a universe without one is open to those whose role is in every campaign.
pub(super) fn role_campaign(campaign_id: Option<&str>) -> &str {
    campaign_id.unwrap_or(EVERY_CAMPAIGN)
}

/// The stream kind of universes.
pub struct UniverseStream;

impl StreamKind for UniverseStream {
    type Rules = UniverseRules;
    const NAME: &'static str = "universe";
    const SNAPSHOT_VERSION: u32 = 1;
    const USES_SNAPSHOTS: bool = true;
    type Parts = UniversePart;
    type ReadCache = RenderCache;

    fn next_read_cache(before: &RenderCache) -> RenderCache {
        before.for_next_revision()
    }

    fn event_kind(event: &UniverseEvent) -> &'static str {
        event.kind()
    }

    fn read_model_changes(stream: &StreamName, state: &Universe, events: &[UniverseEvent]) -> Vec<ReadModelChange> {
        events.iter().flat_map(|event| read_model_changes(stream, state, event)).collect()
    }

    fn referenced_side_rows(_: &StreamName, _: &Universe) -> Vec<(Cow<'static, str>, String)> {
        Vec::new()
    }

    fn removed_side_rows(_: &StreamName, _: &[UniverseEvent]) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// A part of a universe's snapshot.
pub struct UniversePart(StoredPart);

impl SnapshotPart<Universe> for UniversePart {
    fn write(universe: &Universe) -> Result<Vec<String>, serde_json::Error> {
        StoredPart::write(universe, PART_BYTES)
    }

    fn read(text: &str, is_first: bool) -> Result<Self, serde_json::Error> {
        StoredPart::read(text, is_first).map(Self)
    }

    fn join(parts: Vec<Self>) -> Option<Universe> {
        StoredPart::join(parts.into_iter().map(|part| part.0).collect())
    }
}

/// The changes of read models after an event. Commands on bodies change none.
fn read_model_changes(stream: &StreamName, state: &Universe, event: &UniverseEvent) -> Vec<ReadModelChange> {
    let put = |collection: &str, campaign_id: Option<&String>, rank: i64, body: String| {
        let (collection, partition) = (collection.to_owned(), campaign_id.cloned().unwrap_or_default());
        ReadModelChange::Put(Document { collection, partition, id: stream.id().to_owned(), rank, body, search: None })
    };
    let listed = || {
        let about = state.identity()?;
        let body = serde_json::to_string(&ListedUniverse::from_identity(about)).expect("a universe in a list is JSON");
        Some(put(UNIVERSES, about.campaign_id.as_ref(), about.created_at.as_microsecond(), body))
    };
    match event {
        UniverseEvent::Created(Created { campaign_id, .. }) => {
            let place = json!({"campaign_id": role_campaign(campaign_id.as_deref())}).to_string();
            listed().into_iter().chain([put(UNIVERSE_CAMPAIGNS, campaign_id.as_ref(), 0, place)]).collect()
        }
        UniverseEvent::Renamed(_) | UniverseEvent::Replaced(Replaced { name: Some(_), .. }) => {
            listed().into_iter().collect()
        }
        UniverseEvent::Deleted(_) => {
            vec![ReadModelChange::Delete { collection: UNIVERSES.to_owned(), id: stream.id().to_owned() }]
        }
        UniverseEvent::Replaced(_) | UniverseEvent::Commanded(_) => Vec::new(),
    }
}

pub(super) fn universe_stream(universe_id: &str) -> StreamName {
    StreamName::new(UniverseStream::NAME, universe_id)
}

/// The fault for a refusal, on every surface. `within` is the input field that contains the refused command.
pub(super) fn refusal_fault(universe_id: &str, within: &str, refusal: &UniverseRefusal) -> Fault {
    let code = match refusal.kind() {
        UniverseRefusalKind::NotFound => return universe_not_found_fault(universe_id),
        UniverseRefusalKind::Invalid => Code::InvalidParams,
        UniverseRefusalKind::TooLarge => Code::TooLarge,
        UniverseRefusalKind::Rejected => Code::Rejected,
    };
    let mut fault = Fault::new(code, refusal.to_string()).hint(refusal.hint()).universe(universe_id);
    match refusal.pointer().as_deref() {
        Some("/id") if within.is_empty() => fault = fault.with_path("/universeId"),
        Some(pointer) => fault = fault.with_path(format!("{within}{pointer}")),
        None => {}
    }
    if let Some(value) = refusal.value() {
        fault = fault.value(&value.into());
    }
    fault.events(refusal.failure().map(|failure| json!(failure)))
}

/// The fault for a missing universe. A universe that the caller may not see gets the same one.
pub(super) fn universe_not_found_fault(universe_id: &str) -> Fault {
    Fault::new(Code::NotFound, format!("universe not found: {:?}", truncate_for_message(universe_id)))
        .with_path("/universeId")
        .value(&universe_id.into())
        .hint("send the id of a universe that is there; `universes://list` has them; `universe` creates one")
        .universe(universe_id)
}
