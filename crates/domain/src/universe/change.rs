//! What an accepted command does. Nothing here fails: a command about what is not there changes nothing. Each change
//! costs what it changes, however long the lists are in which it happens.

use std::sync::Arc;

use super::body::Star;
use super::command::{AddGroup, AddStar, Command, MoveToGroup};
use super::group::{Group, GroupChild, GroupChildType};
use super::number::{Number, Within};
use super::part::{PlanetaryRing, RingPatch};
use super::snapshot::{Regions, Snapshot};
use super::state::UniverseState;
use super::text::Id;

pub(super) fn apply(state: &mut UniverseState, command: &Command) {
    use Command as C;
    let snapshot = &mut state.snapshot;
    match command {
        C::Tick(tick) => state.time = Number(state.time.0 + tick.seconds()),
        C::AddStar(command) => snapshot.add_body(command),
        C::UpdateStar(command) => snapshot.update_body(&command.id, |star| command.payload.apply(star)),
        C::RemoveStar(command) => snapshot.remove_body(&command.id),
        C::AttachStar(command) => snapshot.attach(&command.child_id, &command.parent_id),
        C::DetachStar(command) => snapshot.detach(&command.child_id),
        C::UpdateRing(command) => {
            snapshot.update_body(&command.planet_id, |star| change_ring(star, &command.patch));
        }
        C::RemoveRing(command) => snapshot.update_body(&command.planet_id, |star| star.ring = None),
        C::AddGroup(command) => snapshot.add_group(command),
        C::UpdateGroup(command) => {
            if let Some(group) = snapshot.group_mut(&command.id) {
                command.payload.apply(group);
            }
        }
        C::RemoveGroup(command) => snapshot.remove_group(&command.id),
        C::AddToGroup(command) => snapshot.enter(&command.group_id, &command.child),
        C::RemoveFromGroup(command) => snapshot.leave(&command.group_id, &command.child_id),
        C::MoveToGroup(command) => snapshot.move_to_group(command),
        C::SetSmallBodyFields(command) => snapshot.small_body_fields = command.fields.clone(),
        C::UpdateSmallBodyField(command) => {
            change(&mut snapshot.small_body_fields, &command.id, |field| command.patch.apply(field));
        }
        C::RemoveSmallBodyField(command) => drop(snapshot.small_body_fields.remove(&command.id)),
        C::SetProtoplanetaryDisks(command) => snapshot.protoplanetary_disks = command.disks.clone(),
        C::AddProtoplanetaryDisk(command) => {
            snapshot.protoplanetary_disks.insert(command.disk.id.clone(), Arc::clone(&command.disk));
        }
        C::UpdateProtoplanetaryDisk(command) => {
            change(&mut snapshot.protoplanetary_disks, &command.id, |disk| command.patch.apply(disk));
        }
        C::RemoveProtoplanetaryDisk(command) => drop(snapshot.protoplanetary_disks.remove(&command.id)),
        C::SetNebulae(command) => snapshot.nebulae = command.nebulae.clone(),
        C::UpdateNebula(command) => change(&mut snapshot.nebulae, &command.id, |nebula| command.patch.apply(nebula)),
        C::RemoveNebula(command) => drop(snapshot.nebulae.remove(&command.id)),
        C::ReplaceSnapshot(command) => *snapshot = command.snapshot.clone(),
    }
}

fn change<T: Clone>(regions: &mut Regions<T>, id: &Id, change: impl FnOnce(&mut T)) {
    if let Some(region) = regions.get_mut(id) {
        change(Arc::make_mut(region));
    }
}

/// A body without a ring gets one that suits it, and then the changes.
fn change_ring(star: &mut Star, patch: &RingPatch) {
    let ring = star.ring.get_or_insert_with(|| {
        Arc::new(PlanetaryRing {
            inner_radius_multiplier: Number(1.5),
            outer_radius_multiplier: Number(3.0),
            thickness: Number(star.radius.0 * 0.1),
            opacity: Within(0.6),
            albedo: Number(0.8),
            color: star.color.clone(),
            density: Within(0.6),
            warp_factor: None,
            seed: None,
            extensions: None,
        })
    });
    patch.apply(Arc::make_mut(ring));
}

/// Bodies.
impl Snapshot {
    fn body_mut(&mut self, id: &Id) -> Option<&mut Star> {
        self.stars.get_mut(id).map(Arc::make_mut)
    }

    fn add_body(&mut self, AddStar { id, payload }: &AddStar) {
        if self.stars.contains_key(id) {
            return;
        }
        let place = match payload.parent_id.set() {
            Some(parent_id) => self.body_mut(parent_id).map(|parent| parent.children.push(id.clone())),
            None => Some(self.root_ids.push(id.clone())),
        };
        if let Some(place) = place {
            self.stars.insert(id.clone(), Arc::new(payload.body(id, place)));
        }
    }

    /// Whoever is no longer a rogue planet joins the roots, if no list has them yet.
    fn update_body(&mut self, id: &Id, change: impl FnOnce(&mut Star)) {
        let Some(star) = self.stars.get_mut(id).map(Arc::make_mut) else { return };
        change(star);
        if star.parent_id.is_none() && star.place.is_none() && !star.is_rogue() {
            star.place = Some(self.root_ids.push(id.clone()));
        }
    }

    /// Takes a body out of the list that has it.
    fn unlink(&mut self, id: &Id) {
        let Some(star) = self.stars.get(id) else { return };
        let Some(place) = star.place else { return };
        match star.parent_id.clone() {
            Some(parent_id) => drop(self.body_mut(&parent_id).and_then(|parent| parent.children.remove(place))),
            None => drop(self.root_ids.remove(place)),
        }
    }

    fn remove_body(&mut self, id: &Id) {
        self.unlink(id);
        for removed_id in self.with_descendants(id) {
            self.stars.remove(&removed_id);
            self.leave_all(&GroupChild { id: removed_id, kind: GroupChildType::System });
        }
    }

    fn attach(&mut self, child_id: &Id, parent_id: &Id) {
        if !self.can_attach(child_id, parent_id) {
            return;
        }
        self.unlink(child_id);
        let place = self.body_mut(parent_id).map(|parent| parent.children.push(child_id.clone()));
        if let Some(child) = self.body_mut(child_id) {
            (child.parent_id, child.place) = (Some(parent_id.clone()), place);
        }
    }

    fn detach(&mut self, child_id: &Id) {
        if self.stars.get(child_id).is_none_or(|child| child.parent_id.is_none()) {
            return;
        }
        self.unlink(child_id);
        let place = self.root_ids.push(child_id.clone());
        if let Some(child) = self.body_mut(child_id) {
            (child.parent_id, child.place, child.orbital_distance) = (None, Some(place), Number(0.0));
        }
    }
}

/// Groups.
impl Snapshot {
    fn group_mut(&mut self, id: &Id) -> Option<&mut Group> {
        self.groups.get_mut(id).map(Arc::make_mut)
    }

    fn add_group(&mut self, AddGroup { id, payload }: &AddGroup) {
        let parent_id = payload.parent_group_id.set();
        if self.groups.contains_key(id) || parent_id.is_some_and(|parent_id| !self.groups.contains_key(parent_id)) {
            return;
        }
        self.groups.insert(id.clone(), Arc::new(payload.group(id)));
        self.settle(id, parent_id);
        for child in payload.children() {
            self.enter(id, child);
        }
    }

    /// The groups below join the one above, in their order.
    fn remove_group(&mut self, id: &Id) {
        let Some(group) = self.groups.get(id).cloned() else { return };
        self.lift(id);
        for child in group.children.iter() {
            self.group_places.remove(&(child.clone(), id.clone()));
            if child.kind == GroupChildType::Group {
                self.settle(&child.id, group.parent_group_id.as_ref());
            }
        }
        self.groups.remove(id);
    }

    /// Puts a child into a group; a child that is a group leaves where it was.
    fn enter(&mut self, group_id: &Id, child: &GroupChild) {
        match child.kind {
            GroupChildType::System => self.put(group_id, child.clone()),
            GroupChildType::Group
                if self.groups.contains_key(group_id) && !self.is_group_within(group_id, &child.id) =>
            {
                self.lift(&child.id);
                self.settle(&child.id, Some(group_id));
            }
            GroupChildType::Group => {}
        }
    }

    /// Takes whatever has this id out of a group; a group becomes a root.
    fn leave(&mut self, group_id: &Id, child_id: &Id) {
        self.take(group_id, &GroupChild { id: child_id.clone(), kind: GroupChildType::System });
        let child = GroupChild { id: child_id.clone(), kind: GroupChildType::Group };
        if self.take(group_id, &child) {
            self.settle(child_id, None);
        }
    }

    fn move_to_group(&mut self, command: &MoveToGroup) {
        let MoveToGroup { child_id, child_type, target_group_id } = command;
        let child = GroupChild { id: child_id.clone(), kind: *child_type };
        match (child_type, target_group_id) {
            (GroupChildType::Group, Some(target)) => self.enter(target, &child),
            (GroupChildType::Group, None) => {
                if self.groups.get(child_id).is_some_and(|group| group.parent_group_id.is_some()) {
                    self.lift(child_id);
                    self.settle(child_id, None);
                }
            }
            (GroupChildType::System, target) => {
                self.leave_all(&child);
                if let Some(target) = target {
                    self.put(target, child);
                }
            }
        }
    }

    /// Lists a child in a group, once.
    fn put(&mut self, group_id: &Id, child: GroupChild) {
        let key = (child.clone(), group_id.clone());
        if self.group_places.contains_key(&key) {
            return;
        }
        if let Some(group) = self.group_mut(group_id) {
            let place = group.children.push(child);
            self.group_places.insert(key, place);
        }
    }

    /// Whether the child was listed there.
    fn take(&mut self, group_id: &Id, child: &GroupChild) -> bool {
        let Some(place) = self.group_places.remove(&(child.clone(), group_id.clone())) else { return false };
        if let Some(group) = self.group_mut(group_id) {
            group.children.remove(place);
        }
        true
    }

    fn leave_all(&mut self, child: &GroupChild) {
        if self.group_places.is_empty() {
            return;
        }
        let holders: Vec<Id> = self.groups_of(child).cloned().collect();
        for holder in holders {
            self.take(&holder, child);
        }
    }

    /// Takes a group out of the group or the list of roots that has it.
    fn lift(&mut self, id: &Id) {
        let Some(group) = self.group_mut(id) else { return };
        let (parent_id, place) = (group.parent_group_id.take(), group.place.take());
        if let Some(parent_id) = parent_id {
            self.take(&parent_id, &GroupChild { id: id.clone(), kind: GroupChildType::Group });
        }
        if let Some(place) = place {
            self.root_group_ids.remove(place);
        }
    }

    /// Gives a group that no list has its place: in another group, or among the roots.
    fn settle(&mut self, id: &Id, parent_id: Option<&Id>) {
        if !self.groups.contains_key(id) {
            return;
        }
        let place = match parent_id {
            Some(parent_id) => {
                self.put(parent_id, GroupChild { id: id.clone(), kind: GroupChildType::Group });
                None
            }
            None => Some(self.root_group_ids.push(id.clone())),
        };
        if let Some(group) = self.group_mut(id) {
            (group.parent_group_id, group.place) = (parent_id.cloned(), place);
        }
    }
}
