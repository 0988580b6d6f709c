//! Which resources read differently after a record of a run, or after something happened in its folder.

use crate::journal::Record;
use crate::{Change, segment};

pub(super) const PROCESSES: &str = "stategate://processes";
pub(super) const RUNS: &str = "stategate://runs";

/// Whatever is accepted may change the state, the evidence and what guards come to.
pub(crate) fn changed(record: &Record) -> Vec<Change> {
    touched(record.stream.id())
}

/// The same when a file of its evidence came, went or changed.
pub(super) fn touched(run_id: &str) -> Vec<Change> {
    let run = format!("{RUNS}/{}", segment(run_id));
    vec![Change::Resource(run.into()), Change::Resource(RUNS.into()), Change::ResourceList]
}

/// Of a resource that is read from a run, the name under which a change of the run is told.
pub(crate) fn whole(part: &str) -> Option<String> {
    let id = part.strip_prefix(RUNS)?.strip_prefix('/')?.split(['/', '?', '#']).next()?;
    let id = crate::resource::percent_decode(id)?;
    Some(format!("{RUNS}/{}", segment(&id)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_belongs_to_its_run() {
        for part in ["/summary", "/history?limit=2", "/diagram.svg", ""] {
            assert_eq!(whole(&format!("stategate://runs/run-1{part}")).as_deref(), Some("stategate://runs/run-1"));
            assert_eq!(whole(&format!("stategate://runs/run%2D1{part}")).as_deref(), Some("stategate://runs/run-1"));
        }
        for other in ["stategate://runs", "stategate://processes/x", "universe://u-1", "stategate://runs/%/summary"] {
            assert_eq!(whole(other), None, "{other}");
        }
    }
}
