//! Decides commands on groups and their children: add, update, remove, move.

use std::collections::BTreeSet;

use super::super::check::{Check, Reason, short};
use super::super::command::{AddGroup, MoveToGroup, UpdateGroup};
use super::super::failure::Failure;
use super::super::group::{Group, GroupChild, GroupChildType};
use super::super::snapshot::Snapshot;
use super::super::text::Id;
use super::super::wire::WireEvent;
use super::{Done, unchanged};
use crate::limits;

pub(super) fn add(snapshot: &Snapshot, AddGroup { id, payload }: &AddGroup) -> Done {
    let refused = |reason: Reason, message: String, field: String| {
        Err(Failure::refused("addGroup", reason, message).with_id(id).at(field))
    };
    id.check().map_err(|misfit| Failure::misfit("addGroup", &misfit.within("id")).with_id(id))?;
    if snapshot.groups.contains_key(id) {
        return refused(Reason::DuplicateId, format!("there is a group {id:?} already"), "/id".to_owned());
    }
    unchanged("addGroup", payload.id.set().is_none_or(|same| same == id), "id", id)?;
    let parent_field = || "/payload/parentGroupId".to_owned();
    match payload.parent_group_id.set() {
        Some(parent_id) if parent_id == id => {
            return refused(Reason::SelfParent, format!("group {id:?} cannot be in itself"), parent_field());
        }
        Some(parent_id) if !snapshot.groups.contains_key(parent_id) => {
            let message = format!("there is no group {:?} to be in", short(parent_id));
            return refused(Reason::UnknownParent, message, parent_field());
        }
        _ => {}
    }
    if snapshot.groups.len() >= limits::GROUPS_MAX {
        let message = format!("a universe has at most {} groups", limits::GROUPS_MAX);
        return refused(Reason::TooMany, message, String::new());
    }
    payload.check().map_err(|misfit| Failure::misfit("addGroup", &misfit.within("payload")).with_id(id))?;
    let mut seen = BTreeSet::new();
    for (number, child) in payload.children().iter().enumerate() {
        let field = format!("/payload/children/{number}");
        if !seen.insert(child) {
            return refused(Reason::ListedTwice, format!("{:?} is listed twice", short(&child.id)), field);
        }
        if !snapshot.has(child) {
            return refused(Reason::NotFound, format!("{:?} is not there", short(&child.id)), field);
        }
        let above = payload.parent_group_id.set().filter(|_| child.kind == GroupChildType::Group);
        if above.is_some_and(|above| snapshot.is_group_within(above, &child.id)) {
            let message = format!("group {:?} cannot be in a group below it", short(&child.id));
            return refused(Reason::Cycle, message, field);
        }
    }
    room(snapshot, payload.children().len() + 1).or_else(|message| {
        refused(Reason::TooMany, message, "/payload/children".to_owned()).map(|_: Vec<WireEvent>| ())
    })?;
    Ok(vec![WireEvent::GroupAdded { id: id.clone() }])
}

pub(super) fn update(snapshot: &Snapshot, UpdateGroup { id, payload }: &UpdateGroup) -> Done {
    let group = found(snapshot, id)?;
    unchanged("updateGroup", payload.id.set().is_none_or(|same| *same == group.id), "id", id)?;
    unchanged("updateGroup", payload.parent_group_id.repeats(group.parent_group_id.as_ref()), "parentGroupId", id)?;
    let children = payload.children.set();
    unchanged("updateGroup", children.is_none_or(|same| group.children.iter().eq(same)), "children", id)?;
    payload.check().map_err(|misfit| Failure::misfit("updateGroup", &misfit.within("payload")).with_id(id))?;
    Ok(vec![WireEvent::GroupUpdated { id: id.clone() }])
}

pub(super) fn remove(snapshot: &Snapshot, id: &Id) -> Done {
    found(snapshot, id)?;
    Ok(vec![WireEvent::GroupRemoved { id: id.clone() }])
}

pub(super) fn add_child(snapshot: &Snapshot, group_id: &Id, child: &GroupChild) -> Done {
    found(snapshot, group_id)?;
    if snapshot.group_places.contains_key(&(child.clone(), group_id.clone())) {
        return Err(Failure::already_in_group(group_id, &child.id));
    }
    if !snapshot.has(child) {
        return Err(Failure::add_to_group(Reason::NotFound, group_id, &child.id));
    }
    if child.kind == GroupChildType::Group && snapshot.is_group_within(group_id, &child.id) {
        return Err(Failure::add_to_group(Reason::Cycle, group_id, &child.id));
    }
    room(snapshot, 1)
        .map_err(|message| Failure::refused("addToGroup", Reason::TooMany, message).with_group(group_id, &child.id))?;
    Ok(vec![WireEvent::ChildAddedToGroup { group_id: group_id.clone(), child_id: child.id.clone() }])
}

pub(super) fn remove_child(snapshot: &Snapshot, group_id: &Id, child_id: &Id) -> Done {
    found(snapshot, group_id)?;
    if !snapshot.holds(group_id, child_id) {
        return Err(Failure::not_in_group(group_id, child_id));
    }
    Ok(vec![WireEvent::ChildRemovedFromGroup { group_id: group_id.clone(), child_id: child_id.clone() }])
}

pub(super) fn move_child(snapshot: &Snapshot, command: &MoveToGroup) -> Done {
    let MoveToGroup { child_id, child_type, target_group_id } = command;
    let target = target_group_id.as_ref();
    let fails = |reason: Reason| Err(Failure::move_to_group(reason, child_id, target));
    if let Some(target) = target {
        found(snapshot, target)?;
    }
    if !snapshot.has(&GroupChild { id: child_id.clone(), kind: *child_type }) {
        return fails(Reason::NotFound);
    }
    let is_group = *child_type == GroupChildType::Group;
    if is_group && target.is_some_and(|target| snapshot.is_group_within(target, child_id)) {
        return fails(Reason::Cycle);
    }
    if target.is_some() && room(snapshot, 1).is_err() {
        return fails(Reason::TooMany);
    }
    Ok(vec![WireEvent::MovedToGroup { child_id: child_id.clone(), target_group_id: target_group_id.clone() }])
}

fn room(snapshot: &Snapshot, more: usize) -> Result<(), String> {
    if snapshot.group_places.len() + more <= limits::GROUP_PLACES_MAX {
        return Ok(());
    }
    Err(format!("the groups of a universe have at most {} places", limits::GROUP_PLACES_MAX))
}

fn found<'a>(snapshot: &'a Snapshot, id: &Id) -> Result<&'a Group, Failure> {
    snapshot.groups.get(id).map(AsRef::as_ref).ok_or_else(|| Failure::group_not_found(id))
}
