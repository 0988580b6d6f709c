//! List rows of bodies and groups: only the first children are in a row, with their total number.

use schemars::JsonSchema;
use serde::Serialize;

use super::body::Star;
use super::group::Group;
use super::number::Number;
use super::view::BodyKind;

/// A body in a list.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BodyRow {
    /// Its children are the first of them.
    #[serde(flatten)]
    pub body: Star,
    /// The days of one turn, as follows from orbitalSpeed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orbital_period_days: Option<Number>,
    pub kind: BodyKind,
    pub child_count: usize,
}

impl BodyRow {
    /// A row with at most this many children.
    pub fn new(star: &Star, children: usize) -> Self {
        let mut body = star.with_clamped_numbers();
        if body.children.len() > children {
            body.children = star.children.iter().take(children).cloned().collect();
        }
        let orbital_period_days = star.orbital_period_days();
        Self { body, orbital_period_days, kind: star.kind(), child_count: star.children.len() }
    }
}

/// A group in a list.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupRow {
    /// Its children are the first of them.
    #[serde(flatten)]
    pub group: Group,
    pub child_count: usize,
}

impl GroupRow {
    /// A row with at most this many children.
    pub fn new(group: &Group, children: usize) -> Self {
        let mut shown = group.clone();
        if shown.children.len() > children {
            shown.children = group.children.iter().take(children).cloned().collect();
        }
        Self { group: shown, child_count: group.children.len() }
    }
}
