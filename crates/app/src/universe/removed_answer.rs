//! The part of an answer that lists what a replacing command removed, with commands that put it back.

use serde::Serialize;
use skald_domain::universe::{Command, Id, RemovedRegions, Universe, UniverseEvent, removed_regions};

use crate::limits;

/// Regions that one kind of command removed.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RemovedAnswer {
    by: &'static str,
    ids: Vec<Id>,
    hint: String,
    /// Commands that bring them back beside what is there now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    put_back: Vec<Command>,
}

impl RemovedAnswer {
    /// `before` is the universe before the first of the events.
    pub(super) fn from_events(before: &Universe, events: &[UniverseEvent]) -> Vec<Self> {
        let commands = events.iter().filter_map(|event| match event {
            UniverseEvent::Commanded(commanded) => Some(&*commanded.command),
            _ => None,
        });
        removed_regions(before.state(), commands).into_iter().map(Self::from_removed).collect()
    }

    fn from_removed(RemovedRegions { command: by, ids, put_back }: RemovedRegions) -> Self {
        let bytes = serde_json::to_vec(&put_back).map_or(usize::MAX, |json| json.len());
        let has_add = put_back.iter().any(|command| matches!(command, Command::AddProtoplanetaryDisk(_)));
        let about = match (has_add, bytes <= limits::PUT_BACK_BYTES_MAX) {
            (true, true) => "addProtoplanetaryDisk adds a single one, as putBack does for each of these".to_owned(),
            (true, false) => "addProtoplanetaryDisk adds a single one".to_owned(),
            (false, true) => "putBack has these and those that are there now".to_owned(),
            (false, false) => format!("putBack is left out, being longer than {} bytes", limits::PUT_BACK_BYTES_MAX),
        };
        let put_back = if bytes <= limits::PUT_BACK_BYTES_MAX { put_back } else { Vec::new() };
        Self { by, ids, hint: format!("{by} replaces all; {about}"), put_back }
    }
}
