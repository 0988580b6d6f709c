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
mod noun;
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
mod submit;
mod unaccepted;
mod watching;

pub(crate) use attempts::AttemptsCounted;
pub(crate) use files::NoFiles;
pub use files::{ArtifactFile, FilesError, GateFiles, ProcessFile};
pub(crate) use news::{changed, whole};
pub(crate) use noun::RUNS;
pub(crate) use processes::Processes;
pub(crate) use resources::resources;
pub(crate) use standing::AGENT;
pub(crate) use watching::Watching;

use crate::Entry;
use crate::creation_quota::PROCESS_VERSIONS_COUNTED;
use crate::journal::BesideCheck;

/// How what the gate keeps beside the journal is checked, by kind.
pub(crate) const BESIDE: [(&str, BesideCheck); 7] = [
    (attempts::ATTEMPTS, BesideCheck::Row(attempts::check_attempt)),
    (attempts::SUMMED, BesideCheck::SumsOf(attempts::ATTEMPTS)),
    (evidence::CONTENTS, BesideCheck::Row(evidence::check_content)),
    (evidence::COUNTED, BesideCheck::NotCovered),
    (PROCESS_VERSIONS_COUNTED, BesideCheck::NotCovered),
    (processes::SOURCES, BesideCheck::Row(processes::check_source)),
    (processes::SUBMITTED, BesideCheck::ReplaceableRow(processes::check_submission)),
];

pub(crate) fn operations() -> Vec<Entry> {
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
