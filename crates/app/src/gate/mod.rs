//! The gate noun: processes, and runs that go through them.

mod attempts;
mod create;
mod diagram;
mod document;
mod emit;
mod evidence;
mod files;
mod gatehouse;
mod history;
mod knowledge;
mod news;
mod path_view;
mod permission;
mod processes;
mod read;
mod resources;
mod run;
mod runs;
mod shipped;
mod shown;
mod standing;
mod state;
mod stream;
mod submit;
mod unaccepted;
mod watching;

pub(crate) use attempts::AttemptsCounted;
pub(crate) use files::NoFiles;
pub use files::{ArtifactFile, FilesError, GateFiles, ProcessFile};
pub(crate) use processes::Processes;
pub(crate) use standing::AGENT;
pub(crate) use stream::RUNS;
pub(crate) use stream::RunStream;
pub(crate) use watching::Watching;

use skald_journal::{Record, RegisteredKind, SideRowCheck, StreamKind};

use crate::creation_quota::PROCESS_VERSIONS_COUNTED;
use crate::noun::RecordAudience;
use crate::{App, Change, Entry, Noun, PromptEntry, Resource, Toolset};

/// What a model should know before it begins.
const INSTRUCTIONS: &str = "Work that a process gates: begin with state_gate.get_state, do what its prompt says, submit evidence with \
        state_gate.emit_event and the revision that you read; the gate decides. stategate://processes lists the processes.";

/// The gate: processes, and the runs that go through them.
pub(crate) struct GateNoun;

impl Noun for GateNoun {
    fn operations(&self) -> Vec<Entry> {
        vec![
            Entry::of::<state::GetState>(),
            Entry::of::<state::ListEvents>(),
            Entry::of::<emit::EmitEvent>(),
            Entry::of::<create::CreateRun>(),
            Entry::of::<runs::ListRuns>(),
            Entry::of::<run::RunOperation>(),
            Entry::of::<submit::SubmitProcess>(),
            Entry::of::<read::GateRead>(),
            Entry::of::<document::GateDocument>(),
            Entry::of::<permission::ToolPermission>(),
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

    fn stream_kind(&self) -> Option<RegisteredKind> {
        Some(RegisteredKind::of::<RunStream>())
    }

    fn side_rows(&self) -> Vec<(&'static str, SideRowCheck)> {
        SIDE_ROWS.to_vec()
    }

    fn changed_resources(&self, record: &Record) -> Vec<Change> {
        news::changed(record)
    }

    fn containing_resource(&self, uri: &str) -> Option<String> {
        news::whole(uri)
    }

    fn record_audience(&self) -> RecordAudience {
        RecordAudience::CampaignInDocument(RUNS)
    }

    fn record_appended(&self, app: &App, record: &Record) {
        if record.stream.noun() == RunStream::NAME {
            app.watching.begin();
        }
    }

    fn changed_by_campaign(&self, app: &App, record: &Record, campaign_id: &str) -> Vec<Change> {
        // Guards ask about the campaign and its universes.
        if record.stream.noun() == RunStream::NAME { Vec::new() } else { app.watching.touched_by(campaign_id) }
    }

    fn secret_fields(&self) -> &'static [&'static str] {
        &[]
    }
}

/// How what the gate keeps beside the journal is checked, by kind.
const SIDE_ROWS: [(&str, SideRowCheck); 7] = [
    (attempts::ATTEMPTS, SideRowCheck::Row(attempts::check_attempt)),
    (attempts::SUMMED, SideRowCheck::SumsOf(attempts::ATTEMPTS)),
    (evidence::CONTENTS, SideRowCheck::Row(evidence::check_content)),
    (evidence::COUNTED, SideRowCheck::NotCovered),
    (PROCESS_VERSIONS_COUNTED, SideRowCheck::NotCovered),
    (processes::SOURCES, SideRowCheck::Row(processes::check_source)),
    (processes::SUBMITTED, SideRowCheck::ReplaceableRow(processes::check_submission)),
];
