//! Events of a command in the wire format of the original, as clients read them in the answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::id_name_color::Id;

/// `tick` alone does something without a word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum WireEvent {
    StarAdded {
        id: Id,
    },
    StarUpdated {
        id: Id,
    },
    StarRemoved {
        id: Id,
        /// The body and all that moved around it, parents before children.
        removed_ids: Vec<Id>,
    },
    StarAttached {
        child_id: Id,
        parent_id: Id,
    },
    StarDetached {
        child_id: Id,
    },
    GroupAdded {
        id: Id,
    },
    GroupUpdated {
        id: Id,
    },
    GroupRemoved {
        id: Id,
    },
    ChildAddedToGroup {
        group_id: Id,
        child_id: Id,
    },
    ChildRemovedFromGroup {
        group_id: Id,
        child_id: Id,
    },
    MovedToGroup {
        child_id: Id,
        target_group_id: Option<Id>,
    },
    SmallBodyFieldsSet {},
    SmallBodyFieldUpdated {
        id: Id,
    },
    SmallBodyFieldRemoved {
        id: Id,
    },
    ProtoplanetaryDisksSet {},
    ProtoplanetaryDiskAdded {
        id: Id,
    },
    ProtoplanetaryDiskUpdated {
        id: Id,
    },
    ProtoplanetaryDiskRemoved {
        id: Id,
    },
    NebulaeSet {},
    NebulaUpdated {
        id: Id,
    },
    NebulaRemoved {
        id: Id,
    },
    RingUpdated {
        planet_id: Id,
    },
    RingRemoved {
        planet_id: Id,
    },
    SnapshotReplaced {},
}
