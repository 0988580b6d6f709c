//! MCP resources of the gate: URIs for runs and processes, with the operations that read them.

use super::changed_resources;
use super::process_document::{MERMAID, SVG};
use crate::{MIME_JSON, MIME_YAML, Resource, Toolset};

const fn resource(
    uri: &'static str,
    name: &'static str,
    (title, summary): (&'static str, &'static str),
    (operation, mime_type): (&'static str, &'static str),
    fixed: Option<(&'static str, &'static str)>,
) -> Resource {
    Resource { uri, name, title, summary, toolset: Toolset::Gate, mime_type, operation, fixed, listed: None }
}

const RUNS: &str = "state_gate.list_runs";
const READ: &str = "state_gate.read";
const DOCUMENT: &str = "state_gate.document";

pub(crate) fn resources() -> Vec<Resource> {
    [process_resources(), run_resources()].concat()
}

fn process_resources() -> Vec<Resource> {
    vec![
        resource(
            changed_resources::PROCESSES,
            "gate_processes",
            ("Processes", "All processes that a run can go through, by id."),
            (READ, MIME_JSON),
            Some(("view", "processes")),
        ),
        resource(
            "stategate://processes/{process_id}",
            "gate_process",
            ("A process", "A process as new runs get it, as YAML."),
            (DOCUMENT, MIME_YAML),
            Some(("form", "source")),
        ),
        resource(
            "stategate://processes/{process_id}/diagram",
            "gate_process_diagram",
            ("The diagram of a process", "Its states and transitions, as a Mermaid stateDiagram-v2."),
            (DOCUMENT, MERMAID),
            Some(("form", "mermaid")),
        ),
        resource(
            "stategate://processes/{process_id}/diagram.svg{?theme}",
            "gate_process_picture",
            ("The picture of a process", "Its states and transitions, drawn."),
            (DOCUMENT, SVG),
            Some(("form", "svg")),
        ),
    ]
}

fn run_resources() -> Vec<Resource> {
    vec![
        resource(
            changed_resources::RUNS,
            "gate_runs",
            ("Runs", "All runs, the newest first."),
            (RUNS, MIME_JSON),
            None,
        ),
        resource(
            "stategate://runs{?cursor,limit}",
            "gate_runs_page",
            ("Runs, page by page", "The same from a next_cursor on, as many as are wanted."),
            (RUNS, MIME_JSON),
            None,
        ),
        Resource {
            listed: Some("run_id"),
            ..resource(
                "stategate://runs/{run_id}/summary",
                "gate_run_summary",
                ("A run in short", "Its state, and which states are done, current and ahead."),
                (READ, MIME_JSON),
                Some(("view", "summary")),
            )
        },
        resource(
            "stategate://runs/{run_id}/history{?cursor,limit}",
            "gate_run_history",
            (
                "The history of a run",
                "Every attempt, accepted or refused, with who, why and the guards that were asked.",
            ),
            (READ, MIME_JSON),
            Some(("view", "history")),
        ),
        resource(
            "stategate://runs/{run_id}/process",
            "gate_run_process",
            ("The process of a run", "The process that it is pinned to, as YAML."),
            (DOCUMENT, MIME_YAML),
            Some(("form", "source")),
        ),
        resource(
            "stategate://runs/{run_id}/diagram",
            "gate_run_diagram",
            ("The diagram of a run", "The process that it is pinned to, as a Mermaid stateDiagram-v2."),
            (DOCUMENT, MERMAID),
            Some(("form", "mermaid")),
        ),
        resource(
            "stategate://runs/{run_id}/diagram.svg{?theme}",
            "gate_run_picture",
            ("The picture of a run", "Its process as a picture, with the states that it is in and was in."),
            (DOCUMENT, SVG),
            Some(("form", "svg")),
        ),
    ]
}
