//! Output schemas of answers about universes, deliberately coarse: the schemas of the commands have every field.

use super::views::StatePart;
use schemars::JsonSchema;
use serde_json::{Map, Value};

/// What a universe holds.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) struct StateShape {
    /// Bodies of every kind, by id.
    stars: Map<String, Value>,
    /// Bodies without a parent, in order.
    root_ids: Vec<String>,
    /// Groups, by id.
    groups: Map<String, Value>,
    /// Groups without a parent, in order.
    root_group_ids: Vec<String>,
    belts: Map<String, Value>,
    small_body_fields: Map<String, Value>,
    protoplanetary_disks: Map<String, Value>,
    nebulae: Map<String, Value>,
    /// Simulated seconds.
    time: f64,
}

/// All that a universe holds, or a part of it.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) struct StateOrPartShape {
    #[serde(flatten)]
    state: Option<StateShape>,
    #[serde(flatten)]
    part: Option<StatePart>,
}

/// What happened, such as starAdded, with the ids of what it happened to.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) struct EventShape {
    #[schemars(rename = "type")]
    kind: String,
}

/// A state as a client sends it: looked at only when it is used.
#[derive(Debug, serde::Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct SentObject(#[schemars(with = "Map<String, Value>")] pub Value);
