//! Resource changes of the gate: the URIs whose content changes with a run's record, its evidence or a new process.

use crate::{ResourceChange, percent_encode};
use skald_journal::Record;

pub(super) const PROCESSES: &str = "stategate://processes";
pub(super) const RUNS: &str = "stategate://runs";

/// The changes after a record of a run, which may change the state, the evidence and the results of guards.
pub(crate) fn record_changes(record: &Record) -> Vec<ResourceChange> {
    run_changes(record.stream.id())
}

/// The changes of a run, also after an evidence file was created, changed or removed.
pub(super) fn run_changes(run_id: &str) -> Vec<ResourceChange> {
    vec![
        ResourceChange::Resource(run_uri(run_id).into()),
        ResourceChange::Resource(RUNS.into()),
        ResourceChange::ResourceList,
    ]
}

/// The URI under which changes of a run are reported. It has to be a resource: other URIs are dropped.
fn run_uri(run_id: &str) -> String {
    format!("{RUNS}/{}/summary", percent_encode(run_id))
}

/// The changes after a process was submitted.
pub(super) fn process_changes(process_id: &str) -> [ResourceChange; 3] {
    let process = format!("{PROCESSES}/{}", percent_encode(process_id));
    [ResourceChange::Resource(PROCESSES.into()), ResourceChange::Resource(process.into()), ResourceChange::ResourceList]
}

/// For a resource that belongs to a run: the URI under which changes of the run are reported.
pub(crate) fn containing_run_uri(part: &str) -> Option<String> {
    run_id_in_uri(part).map(|id| run_uri(&id))
}

/// The run that a resource belongs to.
pub(super) fn run_id_in_uri(uri: &str) -> Option<String> {
    let id = uri.strip_prefix(RUNS)?.strip_prefix('/')?.split(['/', '?', '#']).next()?;
    crate::resource::percent_decode(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_belongs_to_its_run() {
        let told = Some("stategate://runs/run-1/summary");
        for part in ["/summary", "/history?limit=2", "/diagram.svg", ""] {
            assert_eq!(containing_run_uri(&format!("stategate://runs/run-1{part}")).as_deref(), told);
            assert_eq!(containing_run_uri(&format!("stategate://runs/run%2D1{part}")).as_deref(), told);
        }
        for other in ["stategate://runs", "stategate://processes/x", "universe://u-1", "stategate://runs/%/summary"] {
            assert_eq!(containing_run_uri(other), None, "{other}");
        }
    }
}
