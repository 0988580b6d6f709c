//! Ids of everything that a command changed, so that a client who knows the universe need not read all of it again.

use schemars::JsonSchema;
use serde::Serialize;
use skald_domain::universe::{Command, GroupChild, GroupChildType, Id, Number, Universe, UniverseEvent, WireEvent};

/// Things that were added, changed, moved or removed, by id. Lists that hold them (children of a parent, roots, groups
/// that a body has left) follow from the events.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChangedIds {
    /// The time now, if it has moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>")]
    time: Option<Number>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stars: Vec<Id>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    groups: Vec<Id>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    small_body_fields: Vec<Id>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    protoplanetary_disks: Vec<Id>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    nebulae: Vec<Id>,
    /// Keys of the state that were replaced as a whole.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    replaced: Vec<&'static str>,
}

/// All keys of the state except `time`.
const SNAPSHOT_KEYS: [&str; 8] =
    ["stars", "rootIds", "groups", "rootGroupIds", "belts", "smallBodyFields", "protoplanetaryDisks", "nebulae"];

impl ChangedIds {
    pub(super) fn from_events(events: &[UniverseEvent], now: &Universe) -> Self {
        let mut changed = Self::default();
        for event in events {
            if let UniverseEvent::Commanded(commanded) = event {
                changed.add_command(&commanded.command, &commanded.events, now);
            }
        }
        changed
    }

    fn add_command(&mut self, command: &Command, events: &[WireEvent], now: &Universe) {
        use Command as C;
        match command {
            C::Tick(_) => self.time = Some(now.state().time().into()),
            C::AddStar(command) => self.stars.push(command.id.clone()),
            C::UpdateStar(command) => self.stars.push(command.id.clone()),
            C::RemoveStar(_) => {
                for event in events {
                    if let WireEvent::StarRemoved { removed_ids, .. } = event {
                        self.stars.extend(removed_ids.iter().cloned());
                    }
                }
            }
            C::AttachStar(command) => self.stars.push(command.child_id.clone()),
            C::DetachStar(command) => self.stars.push(command.child_id.clone()),
            C::UpdateRing(command) => self.stars.push(command.planet_id.clone()),
            C::RemoveRing(command) => self.stars.push(command.planet_id.clone()),
            C::AddGroup(command) => self.groups.push(command.id.clone()),
            C::UpdateGroup(command) => self.groups.push(command.id.clone()),
            C::RemoveGroup(command) => self.groups.push(command.id.clone()),
            C::AddToGroup(command) => {
                self.groups.push(command.group_id.clone());
                self.add_group_child(&command.child);
            }
            C::RemoveFromGroup(command) => {
                self.groups.push(command.group_id.clone());
                // A group that was removed from another one becomes a root.
                let is_group = now.state().snapshot().groups().contains_key(&command.child_id);
                self.groups.extend(is_group.then(|| command.child_id.clone()));
            }
            C::MoveToGroup(command) => {
                self.groups.extend(command.target_group_id.clone());
                self.add_group_child(&GroupChild { id: command.child_id.clone(), kind: command.child_type });
            }
            C::SetSmallBodyFields(_) => self.replaced.push("smallBodyFields"),
            C::UpdateSmallBodyField(command) => self.small_body_fields.push(command.id.clone()),
            C::RemoveSmallBodyField(command) => self.small_body_fields.push(command.id.clone()),
            C::SetProtoplanetaryDisks(_) => self.replaced.push("protoplanetaryDisks"),
            C::AddProtoplanetaryDisk(command) => self.protoplanetary_disks.push(command.disk.id.clone()),
            C::UpdateProtoplanetaryDisk(command) => self.protoplanetary_disks.push(command.id.clone()),
            C::RemoveProtoplanetaryDisk(command) => self.protoplanetary_disks.push(command.id.clone()),
            C::SetNebulae(_) => self.replaced.push("nebulae"),
            C::UpdateNebula(command) => self.nebulae.push(command.id.clone()),
            C::RemoveNebula(command) => self.nebulae.push(command.id.clone()),
            C::ReplaceSnapshot(_) => self.replaced.extend(SNAPSHOT_KEYS),
        }
    }

    fn add_group_child(&mut self, child: &GroupChild) {
        match child.kind {
            GroupChildType::Group => self.groups.push(child.id.clone()),
            GroupChildType::System => self.stars.push(child.id.clone()),
        }
    }
}
