//! Applies an accepted command to the state of a universe. It never fails: a command about something unknown changes
//! nothing. The cost depends on what a command changes, not on the length of the lists that contain it.

use std::sync::Arc;

use super::body::Star;
use super::body_parts::{PlanetaryRing, RingPatch};
use super::check_bounds::Check;
use super::command::{AddGroup, AddStar, Command, MoveToGroup};
use super::group::{Group, GroupChild, GroupChildType};
use super::id_name_color::Id;
use super::number::{Number, NumberInRange};
use super::region::{NebulaRegion, ProtoplanetaryDisk, SmallBodyField};
use super::snapshot::{Regions, Snapshot, text_bytes_of};
use super::state::UniverseState;

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
            if let Some(group) = snapshot.groups.get_mut(&command.id) {
                change_and_recount(&mut snapshot.text_bytes, group, |group| command.payload.apply(group));
            }
        }
        C::RemoveGroup(command) => snapshot.remove_group(&command.id),
        C::AddToGroup(command) => snapshot.add_to_group(&command.group_id, &command.child),
        C::RemoveFromGroup(command) => snapshot.remove_from_group(&command.group_id, &command.child_id),
        C::MoveToGroup(command) => snapshot.move_to_group(command),
        C::SetSmallBodyFields(command) => snapshot.small_body_fields_mut().set(&command.fields),
        C::UpdateSmallBodyField(command) => {
            snapshot.small_body_fields_mut().change(&command.id, |field| command.patch.apply(field));
        }
        C::RemoveSmallBodyField(command) => snapshot.small_body_fields_mut().remove(&command.id),
        C::SetProtoplanetaryDisks(command) => snapshot.protoplanetary_disks_mut().set(&command.disks),
        C::AddProtoplanetaryDisk(command) => snapshot.protoplanetary_disks_mut().put(&command.disk.id, &command.disk),
        C::UpdateProtoplanetaryDisk(command) => {
            snapshot.protoplanetary_disks_mut().change(&command.id, |disk| command.patch.apply(disk));
        }
        C::RemoveProtoplanetaryDisk(command) => snapshot.protoplanetary_disks_mut().remove(&command.id),
        C::SetNebulae(command) => snapshot.nebulae_mut().set(&command.nebulae),
        C::UpdateNebula(command) => snapshot.nebulae_mut().change(&command.id, |nebula| command.patch.apply(nebula)),
        C::RemoveNebula(command) => snapshot.nebulae_mut().remove(&command.id),
        C::ReplaceSnapshot(command) => *snapshot = command.snapshot.clone(),
    }
}

/// Changes a thing and updates the count of text bytes.
fn change_and_recount<T: Check + Clone>(text_bytes: &mut usize, thing: &mut Arc<T>, change: impl FnOnce(&mut T)) {
    let before = thing.text_bytes();
    change(Arc::make_mut(thing));
    *text_bytes = (*text_bytes + thing.text_bytes()).saturating_sub(before);
}

/// The regions of one kind, with the universe's count of text bytes, which every change updates.
struct CountedRegions<'a, T> {
    regions: &'a mut Regions<T>,
    text_bytes: &'a mut usize,
}

impl<T: Check + Clone> CountedRegions<'_, T> {
    fn set(self, regions: &Regions<T>) {
        let (before, after) = (text_bytes_of(self.regions), text_bytes_of(regions));
        *self.text_bytes = (*self.text_bytes + after).saturating_sub(before);
        *self.regions = regions.clone();
    }

    fn put(self, id: &Id, region: &Arc<T>) {
        *self.text_bytes += region.text_bytes();
        if let Some(before) = self.regions.insert(id.clone(), Arc::clone(region)) {
            *self.text_bytes = self.text_bytes.saturating_sub(before.text_bytes());
        }
    }

    fn change(self, id: &Id, change: impl FnOnce(&mut T)) {
        if let Some(region) = self.regions.get_mut(id) {
            change_and_recount(self.text_bytes, region, change);
        }
    }

    fn remove(self, id: &Id) {
        if let Some(before) = self.regions.remove(id) {
            *self.text_bytes = self.text_bytes.saturating_sub(before.text_bytes());
        }
    }
}

/// Regions.
impl Snapshot {
    fn small_body_fields_mut(&mut self) -> CountedRegions<'_, SmallBodyField> {
        CountedRegions { regions: &mut self.small_body_fields, text_bytes: &mut self.text_bytes }
    }

    fn protoplanetary_disks_mut(&mut self) -> CountedRegions<'_, ProtoplanetaryDisk> {
        CountedRegions { regions: &mut self.protoplanetary_disks, text_bytes: &mut self.text_bytes }
    }

    fn nebulae_mut(&mut self) -> CountedRegions<'_, NebulaRegion> {
        CountedRegions { regions: &mut self.nebulae, text_bytes: &mut self.text_bytes }
    }
}

/// A body without a ring first gets a default ring; then the patch is applied.
fn change_ring(star: &mut Star, patch: &RingPatch) {
    let ring = star.ring.get_or_insert_with(|| {
        Arc::new(PlanetaryRing {
            inner_radius_multiplier: Number(1.5),
            outer_radius_multiplier: Number(3.0),
            thickness: Number(star.radius.0 * 0.1),
            opacity: NumberInRange(0.6),
            albedo: Number(0.8),
            color: star.color.clone(),
            density: NumberInRange(0.6),
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
        let place = match payload.parent_id.value() {
            Some(parent_id) => self.body_mut(parent_id).map(|parent| parent.children.push(id.clone())),
            None => Some(self.root_ids.push(id.clone())),
        };
        if let Some(place) = place {
            let star = payload.to_star(id, place);
            self.text_bytes += star.text_bytes();
            self.stars.insert(id.clone(), Arc::new(star));
        }
    }

    /// A body that is no longer a rogue planet is added to the roots, if it is in no list.
    fn update_body(&mut self, id: &Id, change: impl FnOnce(&mut Star)) {
        let Some(star) = self.stars.get_mut(id) else { return };
        change_and_recount(&mut self.text_bytes, star, change);
        let star = Arc::make_mut(star);
        if star.parent_id.is_none() && star.place.is_none() && !star.is_rogue() {
            star.place = Some(self.root_ids.push(id.clone()));
        }
    }

    /// Removes a body from the list that contains it: its parent's children, or the roots.
    fn unlink_body(&mut self, id: &Id) {
        let Some(star) = self.stars.get(id) else { return };
        let Some(place) = star.place else { return };
        match star.parent_id.clone() {
            Some(parent_id) => drop(self.body_mut(&parent_id).and_then(|parent| parent.children.remove(place))),
            None => drop(self.root_ids.remove(place)),
        }
    }

    fn remove_body(&mut self, id: &Id) {
        self.unlink_body(id);
        for removed_id in self.subtree_ids(id) {
            let removed = self.stars.remove(&removed_id).map_or(0, |star| star.text_bytes());
            self.text_bytes = self.text_bytes.saturating_sub(removed);
            self.remove_from_all_groups(&GroupChild { id: removed_id, kind: GroupChildType::System });
        }
    }

    fn attach(&mut self, child_id: &Id, parent_id: &Id) {
        if !self.can_attach(child_id, parent_id) {
            return;
        }
        self.unlink_body(child_id);
        let place = self.body_mut(parent_id).map(|parent| parent.children.push(child_id.clone()));
        if let Some(child) = self.body_mut(child_id) {
            (child.parent_id, child.place) = (Some(parent_id.clone()), place);
        }
    }

    fn detach(&mut self, child_id: &Id) {
        if self.stars.get(child_id).is_none_or(|child| child.parent_id.is_none()) {
            return;
        }
        self.unlink_body(child_id);
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
        let parent_id = payload.parent_group_id.value();
        if self.groups.contains_key(id) || parent_id.is_some_and(|parent_id| !self.groups.contains_key(parent_id)) {
            return;
        }
        let group = payload.to_group(id);
        self.text_bytes += group.text_bytes();
        self.groups.insert(id.clone(), Arc::new(group));
        self.link_group(id, parent_id);
        for child in payload.children() {
            self.add_to_group(id, child);
        }
    }

    /// Child groups move to the parent of the removed group, or to the roots, in their order.
    fn remove_group(&mut self, id: &Id) {
        let Some(group) = self.groups.get(id).cloned() else { return };
        self.unlink_group(id);
        for child in group.children.iter() {
            if self.group_places.remove(&(child.clone(), id.clone())).is_some() {
                self.text_bytes = self.text_bytes.saturating_sub(child.id.len());
            }
            if child.kind == GroupChildType::Group {
                self.link_group(&child.id, group.parent_group_id.as_ref());
            }
        }
        self.groups.remove(id);
        self.text_bytes = self.text_bytes.saturating_sub(group.text_bytes());
    }

    /// Adds a child to a group. A child that is a group leaves its previous parent.
    fn add_to_group(&mut self, group_id: &Id, child: &GroupChild) {
        match child.kind {
            GroupChildType::System => self.insert_child(group_id, child.clone()),
            GroupChildType::Group
                if self.groups.contains_key(group_id) && !self.is_group_within(group_id, &child.id) =>
            {
                self.unlink_group(&child.id);
                self.link_group(&child.id, Some(group_id));
            }
            GroupChildType::Group => {}
        }
    }

    /// Removes every child with this id from a group. A removed group becomes a root.
    fn remove_from_group(&mut self, group_id: &Id, child_id: &Id) {
        self.remove_child(group_id, &GroupChild { id: child_id.clone(), kind: GroupChildType::System });
        let child = GroupChild { id: child_id.clone(), kind: GroupChildType::Group };
        if self.remove_child(group_id, &child) {
            self.link_group(child_id, None);
        }
    }

    fn move_to_group(&mut self, command: &MoveToGroup) {
        let MoveToGroup { child_id, child_type, target_group_id } = command;
        let child = GroupChild { id: child_id.clone(), kind: *child_type };
        match (child_type, target_group_id) {
            (GroupChildType::Group, Some(target)) => self.add_to_group(target, &child),
            (GroupChildType::Group, None) => {
                if self.groups.get(child_id).is_some_and(|group| group.parent_group_id.is_some()) {
                    self.unlink_group(child_id);
                    self.link_group(child_id, None);
                }
            }
            (GroupChildType::System, target) => {
                self.remove_from_all_groups(&child);
                if let Some(target) = target {
                    self.insert_child(target, child);
                }
            }
        }
    }

    /// Adds a child to the list of a group, unless it is there already.
    fn insert_child(&mut self, group_id: &Id, child: GroupChild) {
        let key = (child.clone(), group_id.clone());
        if self.group_places.contains_key(&key) {
            return;
        }
        if let Some(group) = self.group_mut(group_id) {
            let place = group.children.push(child);
            self.text_bytes += key.0.id.len();
            self.group_places.insert(key, place);
        }
    }

    /// Removes a child from the list of a group. Returns whether it was there.
    fn remove_child(&mut self, group_id: &Id, child: &GroupChild) -> bool {
        let Some(place) = self.group_places.remove(&(child.clone(), group_id.clone())) else { return false };
        self.text_bytes = self.text_bytes.saturating_sub(child.id.len());
        if let Some(group) = self.group_mut(group_id) {
            group.children.remove(place);
        }
        true
    }

    fn remove_from_all_groups(&mut self, child: &GroupChild) {
        if self.group_places.is_empty() {
            return;
        }
        let holders: Vec<Id> = self.groups_of(child).cloned().collect();
        for holder in holders {
            self.remove_child(&holder, child);
        }
    }

    /// Removes a group from its parent, or from the list of roots.
    fn unlink_group(&mut self, id: &Id) {
        let Some(group) = self.group_mut(id) else { return };
        let (parent_id, place) = (group.parent_group_id.take(), group.place.take());
        if let Some(parent_id) = parent_id {
            self.remove_child(&parent_id, &GroupChild { id: id.clone(), kind: GroupChildType::Group });
        }
        if let Some(place) = place {
            self.root_group_ids.remove(place);
        }
    }

    /// Adds a group that is in no list to a parent group, or to the roots.
    fn link_group(&mut self, id: &Id, parent_id: Option<&Id>) {
        if !self.groups.contains_key(id) {
            return;
        }
        let place = match parent_id {
            Some(parent_id) => {
                self.insert_child(parent_id, GroupChild { id: id.clone(), kind: GroupChildType::Group });
                None
            }
            None => Some(self.root_group_ids.push(id.clone())),
        };
        if let Some(group) = self.group_mut(id) {
            (group.parent_group_id, group.place) = (parent_id.cloned(), place);
        }
    }
}
