//! The 25 commands of a universe: flat objects with a `type`, as clients send them and as the journal stores them.

use std::borrow::Cow;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::body::{StarPatch, StarPayload};
use super::body_parts::RingPatch;
use super::check_bounds::Check;
use super::failure::Failure;
use super::group::{GroupChild, GroupChildType, GroupPatch, GroupPayload};
use super::id_name_color::Id;
use super::number::Number;
use super::patch::{Change, is_keep};
use super::region::{
    NebulaPatch, NebulaRegion, ProtoplanetaryDisk, ProtoplanetaryDiskPatch, SmallBodyField, SmallBodyFieldPatch,
};
use super::repair::Repair;
use super::snapshot::{Regions, Snapshot, text_bytes_of};
use super::tagged_objects::{self, Tagged};
use super::units;

/// Generates the commands. An entry has the type, the wire name, the name of the general failure event, and the fields.
macro_rules! commands {
    ($(
        $(#[$about:meta])*
        $variant:ident = $name:literal, $failed:literal {
            $($(#[$field_about:meta])* $field:ident: $kind:ty,)*
        }
    )+) => {
        $(
            $(#[$about])*
            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
            #[serde(rename_all = "camelCase", deny_unknown_fields)]
            pub struct $variant {
                $($(#[$field_about])* pub $field: $kind,)*
            }
        )+

        /// What can be asked of what a universe holds.
        #[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
        #[serde(tag = "type")]
        pub enum Command {
            $(#[serde(rename = $name)] $variant($variant),)+
        }

        impl Command {
            /// All names, in the order of the original.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// The name on the wire.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => $name,)+ }
            }

            /// The name of a command's general failure event, for failures without an event of their own.
            pub(super) fn general_failure_name(name: &str) -> Option<&'static str> {
                match name {
                    $($name => Some($failed),)+
                    _ => None,
                }
            }

            /// The schema of the command of this name, with its `type`.
            pub fn schema_of(name: &str, generator: &mut SchemaGenerator) -> Option<Schema> {
                let (mut schema, name) = match name {
                    $($name => ($variant::json_schema(generator), $name),)+
                    _ => return None,
                };
                let object = schema.ensure_object();
                if let Some(properties) = object.entry("properties").or_insert_with(|| Map::new().into()).as_object_mut()
                {
                    properties.shift_insert(0, "type".to_owned(), serde_json::json!({ "const": name }));
                }
                if let Some(required) = object.entry("required").or_insert_with(|| Vec::<Value>::new().into()).as_array_mut() {
                    required.insert(0, "type".into());
                }
                Some(schema)
            }

            fn deserialize_fields<'de, D: Deserializer<'de>>(name: &str, fields: D) -> Result<Self, D::Error> {
                match name {
                    $($name => $variant::deserialize(fields).map(Self::$variant),)+
                    _ => Err(D::Error::unknown_variant(name, Self::NAMES)),
                }
            }
        }
    };
}

commands! {
    /// Lets time pass; nothing else changes.
    Tick = "tick", "tickFailed" {
        /// Simulated seconds, 1 if left out. Negative ones go back. Null is refused: it is what a client writes for a
        /// number that is none.
        #[serde(default, skip_serializing_if = "is_keep")]
        dt: Change<Number>,
    }
    /// Adds a body under an id of its own.
    AddStar = "addStar", "addStarFailed" {
        id: Id,
        payload: StarPayload,
    }
    /// Changes the fields of a body that are mentioned.
    UpdateStar = "updateStar", "updateStarFailed" {
        id: Id,
        payload: StarPatch,
    }
    /// Removes a body and all that moves around it.
    RemoveStar = "removeStar", "removeStarFailed" {
        id: Id,
    }
    /// Lets a body move around another one.
    AttachStar = "attachStar", "attachFailed" {
        child_id: Id,
        parent_id: Id,
    }
    /// Makes a body a root; its orbitalDistance becomes 0.
    DetachStar = "detachStar", "detachFailed" {
        child_id: Id,
    }
    /// Adds a group under an id of its own.
    AddGroup = "addGroup", "addGroupFailed" {
        id: Id,
        payload: GroupPayload,
    }
    /// Changes the fields of a group that are mentioned.
    UpdateGroup = "updateGroup", "updateGroupFailed" {
        id: Id,
        payload: GroupPatch,
    }
    /// Removes a group. Its groups join the one above; its systems stay, without it.
    RemoveGroup = "removeGroup", "removeGroupFailed" {
        id: Id,
    }
    /// Puts a system or a group into a group. A group leaves where it was; a system may be in several.
    AddToGroup = "addToGroup", "addToGroupFailed" {
        group_id: Id,
        child: GroupChild,
    }
    /// Takes a system or a group out of a group. A group becomes a root.
    RemoveFromGroup = "removeFromGroup", "removeFromGroupFailed" {
        group_id: Id,
        child_id: Id,
    }
    /// Takes a system or a group out of every group, and puts it into one or, with null, into none.
    MoveToGroup = "moveToGroup", "moveToGroupFailed" {
        child_id: Id,
        child_type: GroupChildType,
        #[serde(default)]
        target_group_id: Option<Id>,
    }
    /// Replaces all small body fields.
    SetSmallBodyFields = "setSmallBodyFields", "setSmallBodyFieldsFailed" {
        #[schemars(with = "std::collections::BTreeMap<String, SmallBodyField>")]
        fields: Regions<SmallBodyField>,
    }
    /// Changes the fields that are mentioned.
    UpdateSmallBodyField = "updateSmallBodyField", "updateSmallBodyFieldFailed" {
        id: Id,
        patch: SmallBodyFieldPatch,
    }
    /// Removes a small body field, if it is there.
    RemoveSmallBodyField = "removeSmallBodyField", "removeSmallBodyFieldFailed" {
        id: Id,
    }
    /// Replaces all protoplanetary disks.
    SetProtoplanetaryDisks = "setProtoplanetaryDisks", "setProtoplanetaryDisksFailed" {
        #[schemars(with = "std::collections::BTreeMap<String, ProtoplanetaryDisk>")]
        disks: Regions<ProtoplanetaryDisk>,
    }
    /// Adds a protoplanetary disk, in place of one with the same id.
    AddProtoplanetaryDisk = "addProtoplanetaryDisk", "addProtoplanetaryDiskFailed" {
        disk: Arc<ProtoplanetaryDisk>,
    }
    /// Changes the fields that are mentioned.
    UpdateProtoplanetaryDisk = "updateProtoplanetaryDisk", "updateProtoplanetaryDiskFailed" {
        id: Id,
        patch: ProtoplanetaryDiskPatch,
    }
    /// Removes a protoplanetary disk, if it is there.
    RemoveProtoplanetaryDisk = "removeProtoplanetaryDisk", "removeProtoplanetaryDiskFailed" {
        id: Id,
    }
    /// Replaces all nebulae.
    SetNebulae = "setNebulae", "setNebulaeFailed" {
        #[schemars(with = "std::collections::BTreeMap<String, NebulaRegion>")]
        nebulae: Regions<NebulaRegion>,
    }
    /// Changes the fields that are mentioned.
    UpdateNebula = "updateNebula", "updateNebulaFailed" {
        id: Id,
        patch: NebulaPatch,
    }
    /// Removes a nebula, if it is there.
    RemoveNebula = "removeNebula", "removeNebulaFailed" {
        id: Id,
    }
    /// Changes the ring of a body, or gives it one.
    UpdateRing = "updateRing", "updateRingFailed" {
        planet_id: Id,
        patch: RingPatch,
    }
    /// Takes the ring of a body away.
    RemoveRing = "removeRing", "removeRingFailed" {
        planet_id: Id,
    }
    /// Replaces all that the universe holds. Time goes on as it is.
    ReplaceSnapshot = "replaceSnapshot", "replaceSnapshotFailed" {
        snapshot: Snapshot,
    }
}

impl Tick {
    pub(super) fn seconds(&self) -> f64 {
        self.dt.value().map_or(1.0, |dt| dt.0)
    }
}

/// Bytes of the default colour that a new ring takes from its body.
const COLOR_BYTES_MAX: usize = 9;

impl Command {
    /// The most bytes of text that the command can add to a universe; 0 for a command without new text.
    pub(super) fn text_bytes_max(&self) -> usize {
        match self {
            Self::AddStar(command) => command.id.len() + command.payload.text_bytes(),
            Self::UpdateStar(command) => command.payload.text_bytes(),
            // The id counts twice: for the group itself, and for its entry in a parent group.
            Self::AddGroup(AddGroup { id, payload }) => {
                let children: usize = payload.children().iter().map(|child| child.id.len()).sum();
                2 * id.len() + payload.text_bytes() + children
            }
            Self::UpdateGroup(command) => command.payload.text_bytes(),
            Self::AddToGroup(command) => command.child.id.len(),
            Self::MoveToGroup(command) => command.child_id.len(),
            Self::SetSmallBodyFields(command) => text_bytes_of(&command.fields),
            Self::UpdateSmallBodyField(command) => command.patch.text_bytes(),
            Self::SetProtoplanetaryDisks(command) => text_bytes_of(&command.disks),
            Self::AddProtoplanetaryDisk(command) => command.disk.text_bytes(),
            Self::UpdateProtoplanetaryDisk(command) => command.patch.text_bytes(),
            Self::SetNebulae(command) => text_bytes_of(&command.nebulae),
            Self::UpdateNebula(command) => command.patch.text_bytes(),
            Self::UpdateRing(command) => COLOR_BYTES_MAX + command.patch.text_bytes(),
            Self::ReplaceSnapshot(command) => command.snapshot.text_bytes,
            Self::Tick(_)
            | Self::RemoveStar(_)
            | Self::AttachStar(_)
            | Self::DetachStar(_)
            | Self::RemoveGroup(_)
            | Self::RemoveFromGroup(_)
            | Self::RemoveSmallBodyField(_)
            | Self::RemoveProtoplanetaryDisk(_)
            | Self::RemoveNebula(_)
            | Self::RemoveRing(_) => 0,
        }
    }

    /// The sent command with hours, days, years and periods converted to the fields of the original.
    pub fn convert_units(sent: &Value) -> Result<Cow<'_, Value>, Failure> {
        units::convert_command(sent).map_err(|misfit| {
            let failure = Failure::unreadable_command(sent, &misfit.to_string());
            failure.with_reason(misfit.reason).with_pointer(misfit.pointer)
        })
    }

    /// Parses a command and returns it with the repairs of its snapshot. An unknown `type` has a failure of its own.
    pub fn read(sent: &Value) -> Result<(Self, Vec<Repair>), Failure> {
        let name = sent.get("type").and_then(Value::as_str).unwrap_or_default();
        if !Self::NAMES.contains(&name) {
            return Err(Failure::unknown_command(sent));
        }
        let sent = Self::convert_units(sent)?;
        let (sent, mut repairs) = Self::clean_snapshot_names(&sent);
        let error = match Self::deserialize(&*sent) {
            Ok(command) => return Ok((command, repairs)),
            Err(error) => error,
        };
        let (repaired, others) = Self::repair_snapshot(&sent);
        if others.is_empty() {
            return Err(Self::read_failure(name, &sent, &error.to_string()));
        }
        repairs.extend(others);
        let read = Self::deserialize(&repaired).map(|command| (command, repairs));
        read.map_err(|error| Self::read_failure(name, &repaired, &error.to_string()))
    }

    /// The sent command, with the names in its snapshot cleaned, as in any whole state. Other commands are refused for
    /// such a name.
    fn clean_snapshot_names(sent: &Value) -> (Cow<'_, Value>, Vec<Repair>) {
        let snapshot = sent.get("snapshot").filter(|_| sent["type"] == REPLACE_SNAPSHOT);
        let Some((snapshot, repairs)) = snapshot.map(Snapshot::clean_names) else {
            return (Cow::Borrowed(sent), Vec::new());
        };
        let Cow::Owned(snapshot) = snapshot else { return (Cow::Borrowed(sent), Vec::new()) };
        let mut command = sent.clone();
        command["snapshot"] = snapshot;
        (Cow::Owned(command), prefix_snapshot_paths(repairs))
    }

    /// The sent command with its snapshot repaired as far as possible, and the repairs.
    pub fn repair_snapshot(sent: &Value) -> (Value, Vec<Repair>) {
        let mut command = sent.clone();
        let snapshot = command.get_mut("snapshot").filter(|_| sent["type"] == REPLACE_SNAPSHOT);
        let Some(snapshot) = snapshot else { return (command, Vec::new()) };
        let (repaired, repairs) = Snapshot::repair(snapshot);
        *snapshot = repaired;
        (command, prefix_snapshot_paths(repairs))
    }

    fn read_failure(name: &str, sent: &Value, problem: &str) -> Failure {
        let offence = sent.get("snapshot").filter(|_| name == REPLACE_SNAPSHOT).and_then(Snapshot::find_broken_link);
        match offence {
            Some(misfit) => Failure::from_misfit(name, &misfit.in_field("snapshot")),
            None => Failure::unreadable_command(sent, problem),
        }
    }
}

/// Prefixes the paths of a snapshot's repairs, so that they are relative to the command.
fn prefix_snapshot_paths(mut repairs: Vec<Repair>) -> Vec<Repair> {
    for repair in &mut repairs {
        repair.path.insert_str(0, "/snapshot");
    }
    repairs
}

/// The only command that contains a whole state.
const REPLACE_SNAPSHOT: &str = "replaceSnapshot";

impl Tagged for Command {
    fn from_fields<'de, D: Deserializer<'de>>(name: &str, fields: D) -> Result<Self, D::Error> {
        Self::deserialize_fields(name, fields)
    }
}

impl<'de> Deserialize<'de> for Command {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        tagged_objects::deserialize_tagged(deserializer)
    }
}
