//! `Group`: systems and other groups under one name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::body_parts::Position;
use super::check_bounds::{Check, FieldMisfit};
use super::id_name_color::{Extensions, Id, Name, UniverseColor};
use super::ordered_list::{ListSlot, OrderedList};
use super::patch::{Change, Clearable, is_keep};
use super::wire_struct_macros::{wire_enum, wire_patch};

wire_enum! {
    /// A system is a body with all that moves around it.
    GroupChildType { System, Group, }
}

/// What a group holds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupChild {
    /// Of a body, or of a group.
    pub id: Id,
    #[serde(rename = "type")]
    pub kind: GroupChildType,
}

/// A group as it stands in a universe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Group {
    pub id: Id,
    pub name: Name,
    /// What it holds, in the order in which it came.
    #[serde(default)]
    pub children: OrderedList<GroupChild>,
    /// The group it belongs to; null for none.
    #[serde(default)]
    pub parent_group_id: Option<Id>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color: Option<UniverseColor>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
    /// Whatever else a client wants to keep here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extensions: Option<Extensions>,
    /// Where the list of root groups has it; nowhere, if it belongs to another group.
    #[serde(skip)]
    pub(super) place: Option<ListSlot>,
}

/// A group to add: its id comes with the command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GroupPayload {
    /// May repeat the id of the command.
    #[serde(default, skip_serializing_if = "is_keep")]
    pub id: Change<Id>,
    pub name: Name,
    /// Bodies and groups that are there already. A group leaves where it was.
    #[serde(default, skip_serializing_if = "is_keep")]
    pub children: Change<Vec<GroupChild>>,
    /// The group it belongs to; null or left out for none.
    #[serde(default, skip_serializing_if = "is_keep")]
    pub parent_group_id: Clearable<Id>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color: Option<UniverseColor>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
    /// Whatever else a client wants to keep here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extensions: Option<Extensions>,
}

impl GroupPayload {
    pub(super) fn children(&self) -> &[GroupChild] {
        self.children.value().map(Vec::as_slice).unwrap_or_default()
    }

    /// The group without its links.
    pub(super) fn to_group(&self, id: &Id) -> Group {
        Group {
            id: id.clone(),
            name: self.name.clone(),
            children: OrderedList::default(),
            parent_group_id: None,
            color: self.color.clone(),
            icon: self.icon.clone(),
            position: self.position,
            extensions: self.extensions.clone(),
            place: None,
        }
    }
}

/// Checks all fields except the links.
impl Check for GroupPayload {
    fn check(&self) -> Result<(), FieldMisfit> {
        check_group_fields(&self.name, self.color.as_ref(), self.icon.as_ref(), self.position, self.extensions.as_ref())
    }

    /// Without the id, which is counted with the command.
    fn text_bytes(&self) -> usize {
        self.name.len() + self.color.text_bytes() + self.icon.text_bytes() + self.extensions.text_bytes()
    }
}

/// Checks all fields except the links.
impl Check for Group {
    fn check(&self) -> Result<(), FieldMisfit> {
        self.id.check().map_err(|misfit| misfit.in_field("id"))?;
        check_group_fields(&self.name, self.color.as_ref(), self.icon.as_ref(), self.position, self.extensions.as_ref())
    }

    fn text_bytes(&self) -> usize {
        let optional = self.color.text_bytes() + self.icon.text_bytes() + self.extensions.text_bytes();
        self.id.len() + self.name.len() + optional
    }
}

fn check_group_fields(
    name: &Name,
    color: Option<&UniverseColor>,
    icon: Option<&Name>,
    position: Option<Position>,
    extensions: Option<&Extensions>,
) -> Result<(), FieldMisfit> {
    name.check().map_err(|misfit| misfit.in_field("name"))?;
    color.map_or(Ok(()), Check::check).map_err(|misfit| misfit.in_field("color"))?;
    icon.map_or(Ok(()), Check::check).map_err(|misfit| misfit.in_field("icon"))?;
    position.check().map_err(|misfit| misfit.in_field("position"))?;
    extensions.map_or(Ok(()), Check::check).map_err(|misfit| misfit.in_field("extensions"))
}

wire_patch! {
    /// A change to a group: what is left out stays, null clears an optional field. The links (id, parentGroupId,
    /// children) may be repeated as they are, and are changed by other commands.
    GroupPatch of Group {
        linked {
            id: Change<Id>,
            parent_group_id: Clearable<Id>,
            children: Change<Vec<GroupChild>>,
        }
        required { name: Name, }
        optional {
            color: UniverseColor,
            icon: Name,
            position: Position,
        }
    }
}
