//! The gate noun: operations and resources for processes and the runs that go through them.

mod access;
mod acting_role;
mod artifact_view;
mod campaign_facts;
mod changed_resources;
mod create_run;
mod diagram;
mod emit_event;
mod emit_refusal;
mod evidence_files;
mod files_port;
mod get_state;
mod history;
mod list_runs;
mod manage;
mod path_redaction;
mod process_document;
mod process_lookup;
mod quota;
mod read;
mod recorded_gates;
mod refused_attempts;
mod resources;
mod shipped_processes;
mod stream;
mod submit_process;
mod submitted_artifacts;
mod tool_permission;
mod watch_artifacts;

pub(crate) use acting_role::AGENT;
pub use evidence_files::EvidenceFile;
pub(crate) use files_port::NoFiles;
pub use files_port::{ArtifactFile, ContentRequest, FilesError, GateFiles, ProcessFile};
pub(crate) use process_lookup::ProcessCache;
pub(crate) use refused_attempts::AttemptCounts;
pub(crate) use stream::RUNS;
pub(crate) use stream::RunStream;
pub(crate) use watch_artifacts::ArtifactWatch;

use futures::FutureExt;
use futures::future::BoxFuture;
use skald_journal::{Record, RegisteredKind, SideRowCheck, StoreError, StreamKind};

use crate::noun_registry::{CampaignEffect, RecordAudience};
use crate::{App, FaultField, Noun, OperationEntry, PromptEntry, Resource, ResourceChange, Toolset};

/// The instructions for models.
const INSTRUCTIONS: &str = "Work that a process gates: begin with state_gate.get_state, do what its prompt says, submit evidence with \
        state_gate.emit_event and the revision that you read; the gate decides. stategate://processes lists the processes.";

/// The gate: processes, and the runs that go through them.
pub(crate) struct GateNoun;

impl Noun for GateNoun {
    fn operations(&self) -> Vec<OperationEntry> {
        vec![
            OperationEntry::from_operation::<get_state::GetState>(),
            OperationEntry::from_operation::<get_state::ListEvents>(),
            OperationEntry::from_operation::<emit_event::EmitEvent>(),
            OperationEntry::from_operation::<create_run::CreateRun>(),
            OperationEntry::from_operation::<list_runs::ListRuns>(),
            OperationEntry::from_operation::<manage::RunOperation>(),
            OperationEntry::from_operation::<submit_process::SubmitProcess>(),
            OperationEntry::from_operation::<read::GateRead>(),
            OperationEntry::from_operation::<process_document::GateDocument>(),
            OperationEntry::from_operation::<tool_permission::ToolPermission>(),
        ]
    }

    fn resources(&self) -> Vec<Resource> {
        resources::resources()
    }

    fn prompts(&self) -> Vec<PromptEntry> {
        Vec::new()
    }

    fn instructions(&self) -> Option<(Toolset, &'static str)> {
        Some((Toolset::Gate, INSTRUCTIONS))
    }

    fn fault_fields(&self) -> &'static [FaultField] {
        process_lookup::FAULT_FIELDS
    }

    fn stream_kind(&self) -> Option<RegisteredKind> {
        Some(RegisteredKind::new::<RunStream>())
    }

    fn side_rows(&self) -> Vec<(&'static str, SideRowCheck)> {
        SIDE_ROWS.to_vec()
    }

    fn changed_resources(&self, record: &Record) -> Vec<ResourceChange> {
        changed_resources::record_changes(record)
    }

    fn containing_resource(&self, uri: &str) -> Option<String> {
        changed_resources::containing_run_uri(uri)
    }

    fn record_audience(&self) -> RecordAudience {
        RecordAudience::GameMastersAndCreatorInDocument(RUNS)
    }

    fn wait_for_published_state<'a>(
        &'a self,
        app: &'a App,
        record: &'a Record,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        app.runs.wait_for_revision(&record.stream, record.revision).boxed()
    }

    fn record_appended(&self, app: &App, record: &Record) {
        if record.stream.noun() == RunStream::NAME {
            app.watching.start();
        }
    }

    fn changed_by_campaign(&self, app: &App, record: &Record, campaign_id: &str) -> Vec<CampaignEffect> {
        // Guards read the campaign, its universes and its lore, but no other run.
        if record.stream.noun() == RunStream::NAME { Vec::new() } else { app.watching.changes_by_campaign(campaign_id) }
    }

    fn secret_fields(&self) -> &'static [&'static str] {
        &[]
    }
}

/// The checks of the gate's side rows, by kind of row.
const SIDE_ROWS: [(&str, SideRowCheck); 7] = [
    (refused_attempts::ATTEMPTS, SideRowCheck::Row(refused_attempts::check_attempt)),
    (refused_attempts::ATTEMPT_SUMS, SideRowCheck::SumsOf(refused_attempts::ATTEMPTS)),
    (submitted_artifacts::CONTENTS, SideRowCheck::Row(submitted_artifacts::check_content)),
    (submitted_artifacts::INLINE_BYTES_COUNTED, SideRowCheck::NotCovered),
    (quota::PROCESS_VERSION_COUNT_KIND, SideRowCheck::NotCovered),
    (process_lookup::SOURCES, SideRowCheck::Row(process_lookup::check_source)),
    (process_lookup::SUBMITTED_PROCESSES, SideRowCheck::ReplaceableRow(process_lookup::check_submission)),
];
