//! The fields that only errors about universes have.

use serde_json::{Value, json};

use crate::{Fault, FaultField};

const UNIVERSE_ID: &str = "universeId";
const EVENTS: &str = "events";

pub(super) const FIELDS: &[FaultField] = &[
    FaultField {
        name: UNIVERSE_ID,
        description: "The universe that it is about.",
        schema: || json!({"type": ["string", "null"]}),
        subject: Some("universe"),
    },
    FaultField {
        name: EVENTS,
        description: "Why a command to a universe failed, as the event that it came to. Nothing was stored.",
        schema: || json!({"type": "array", "items": true}),
        subject: None,
    },
];

impl Fault {
    /// The universe that it is about.
    #[must_use]
    pub(super) fn universe(self, id: &str) -> Self {
        self.subject("universe", UNIVERSE_ID, id)
    }

    /// The events of a failed command; without any, no field is added.
    #[must_use]
    pub(super) fn events(self, events: impl IntoIterator<Item = Value>) -> Self {
        let events: Vec<Value> = events.into_iter().collect();
        if events.is_empty() { self } else { self.detail(EVENTS, events.into()) }
    }
}
