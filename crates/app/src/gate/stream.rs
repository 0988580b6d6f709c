//! The run's stream kind: its events in the journal, its read model, and the faults for its refusals.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_domain::Moment;
use skald_domain::gate::{RunEvent, RunRefusal, RunRefusalKind, RunRules, RunState, RunStatus};

use super::process_lookup::SOURCES;
use super::submitted_artifacts::CONTENTS;
use crate::{Code, Fault, limits, truncate_for_message};
use skald_journal::{Document, ReadModelChange, StreamKind, StreamName, WholeSnapshot};

/// The read model of all runs, the newest first.
pub(crate) const RUNS: &str = "runs";

/// A run in a list: its state, without what it contains.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ListedRun {
    pub run_id: String,
    pub process_id: String,
    pub process_version: String,
    pub current_state: String,
    pub status: RunStatus,
    /// How many events were accepted, its creation among them.
    pub revision: u64,
    pub created_at: Moment,
    pub updated_at: Moment,
    /// Who created it.
    pub created_by: String,
    /// The campaign it belongs to, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub campaign_id: Option<String>,
}

impl ListedRun {
    fn from_state(state: &RunState) -> Option<Self> {
        let run = state.run()?;
        Some(Self {
            run_id: run.id.clone(),
            process_id: run.process.id.clone(),
            process_version: run.process.version.clone(),
            current_state: state.state().to_owned(),
            status: state.status(),
            revision: state.revision(),
            created_at: run.created_at,
            updated_at: state.updated_at().unwrap_or(run.created_at),
            created_by: run.created_by.clone(),
            campaign_id: run.campaign_id.clone(),
        })
    }
}

/// The stream kind of runs.
pub(crate) struct RunStream;

impl StreamKind for RunStream {
    type Rules = RunRules;
    const NAME: &'static str = "run";
    const SNAPSHOT_VERSION: u32 = 1;
    const USES_SNAPSHOTS: bool = true;
    type Parts = WholeSnapshot<RunState>;
    type ReadCache = ();

    fn next_read_cache((): &()) {}

    fn event_kind(event: &RunEvent) -> &'static str {
        event.kind()
    }

    fn read_model_changes(stream: &StreamName, state: &RunState, _: &[RunEvent]) -> Vec<ReadModelChange> {
        let listed = ListedRun::from_state(state).map(|run| {
            ReadModelChange::Put(Document {
                collection: RUNS.to_owned(),
                partition: run.campaign_id.clone().unwrap_or_default(),
                id: stream.id().to_owned(),
                rank: state.run().map_or(0, |run| run.created_micros),
                body: serde_json::to_string(&run).expect("a run in a list is JSON"),
                search: None,
            })
        });
        listed.into_iter().collect()
    }

    fn referenced_side_rows(_: &StreamName, state: &RunState) -> Vec<(Cow<'static, str>, String)> {
        let process = state.run().map(|run| (SOURCES.into(), run.process.hash.clone()));
        let handed_in = state.evidence().iter().filter(|artifact| artifact.inline);
        let contents = handed_in.map(|artifact| (CONTENTS.into(), artifact.sha256.clone()));
        process.into_iter().chain(contents).collect()
    }

    fn removed_side_rows(_: &StreamName, _: &[RunEvent]) -> Vec<(String, String)> {
        Vec::new()
    }
}

pub(super) fn run_stream(run_id: &str) -> StreamName {
    StreamName::new(RunStream::NAME, run_id)
}

/// Whether an id is valid for a run. It is also the name of the run's folder.
pub(super) fn is_run_id(id: &str) -> bool {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.');
    !id.is_empty() && !limits::is_longer_than_id(id) && !id.starts_with('.') && id.chars().all(is_plain)
}

pub(super) fn refusal_code(refusal: &RunRefusal) -> Code {
    match refusal.kind() {
        RunRefusalKind::NotFound => Code::RunNotFound,
        RunRefusalKind::InvalidPayload => Code::InvalidPayload,
        RunRefusalKind::InvalidEvent => Code::InvalidEvent,
        RunRefusalKind::Forbidden => Code::Forbidden,
        RunRefusalKind::GuardFailed => Code::GuardFailed,
        RunRefusalKind::TooLarge => Code::TooLarge,
        RunRefusalKind::OutOfDate => Code::RevisionConflict,
        RunRefusalKind::Rejected => Code::Rejected,
    }
}

/// The fault for a refusal, on every surface.
pub(super) fn refusal_fault(run_id: &str, refusal: &RunRefusal) -> Fault {
    if refusal.kind() == RunRefusalKind::NotFound {
        return run_not_found_fault(run_id);
    }
    let mut message = refusal.to_string();
    for misfit in refusal.misfits() {
        message = format!("{message}; {}: {}", misfit.path, misfit.message);
    }
    for guard in refusal.guards().iter().filter(|guard| !guard.satisfied) {
        message = format!("{message}; {}", guard.line());
    }
    let mut fault = Fault::new(refusal_code(refusal), message).hint(refusal.hint());
    if let Some(pointer) = refusal.pointer() {
        fault = fault.with_path(pointer);
    }
    if let Some(value) = refusal.value() {
        fault = fault.value(&value.into());
    }
    fault
}

/// The fault for a missing run. A run that the caller may not see gets the same one.
pub(super) fn run_not_found_fault(run_id: &str) -> Fault {
    Fault::new(Code::RunNotFound, format!("Run '{}' not found", truncate_for_message(run_id)))
        .with_path("/run_id")
        .value(&run_id.into())
        .hint("send the id of a run that is there; `state_gate.list_runs` has them; `state_gate.create_run` makes one")
}
