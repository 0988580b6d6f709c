//! Decides commands on groups and their children: add, update, remove, move.

use std::collections::BTreeSet;

use super::super::check_bounds::{Check, Reason, truncate_for_message};
use super::super::command::{AddGroup, MoveToGroup, UpdateGroup};
use super::super::failure::{Failure, ThingKind};
use super::super::group::{Group, GroupChild, GroupChildType};
use super::super::id_name_color::Id;
use super::super::snapshot::Snapshot;
use super::super::wire_event::WireEvent;
use super::{CommandResult, check_link_unchanged};
use crate::limits;

pub(super) fn add(snapshot: &Snapshot, AddGroup { id, payload }: &AddGroup) -> CommandResult {
    let refused = |reason: Reason, message: String, field: String| {
        Err(Failure::command_failed("addGroup", reason, message).with_id(id).with_pointer(field))
    };
    id.check().map_err(|misfit| Failure::from_misfit("addGroup", &misfit.in_field("id")).with_id(id))?;
    if snapshot.groups.contains_key(id) {
        return refused(Reason::DuplicateId, format!("there is a group {id:?} already"), "/id".to_owned());
    }
    check_link_unchanged("addGroup", payload.id.value().is_none_or(|same| same == id), "id", id)?;
    let parent_field = || "/payload/parentGroupId".to_owned();
    match payload.parent_group_id.value() {
        Some(parent_id) if parent_id == id => {
            return refused(Reason::SelfParent, format!("group {id:?} cannot be in itself"), parent_field());
        }
        Some(parent_id) if !snapshot.groups.contains_key(parent_id) => {
            let message = format!("there is no group {:?} to be in", truncate_for_message(parent_id));
            return refused(Reason::UnknownParent, message, parent_field())
                .map_err(|failure| failure.with_missing(ThingKind::Group, parent_id));
        }
        _ => {}
    }
    if snapshot.groups.len() >= limits::GROUPS_MAX {
        let message = format!("a universe has at most {} groups", limits::GROUPS_MAX);
        return refused(Reason::TooMany, message, String::new());
    }
    payload.check().map_err(|misfit| Failure::from_misfit("addGroup", &misfit.in_field("payload")).with_id(id))?;
    let mut seen = BTreeSet::new();
    for (number, child) in payload.children().iter().enumerate() {
        let field = format!("/payload/children/{number}");
        if !seen.insert(child) {
            return refused(
                Reason::ListedTwice,
                format!("{:?} is listed twice", truncate_for_message(&child.id)),
                field,
            );
        }
        if !snapshot.contains(child) {
            return refused(Reason::NotFound, format!("{:?} is not there", truncate_for_message(&child.id)), field)
                .map_err(|failure| failure.with_missing(child_kind(child.kind), &child.id));
        }
        let above = payload.parent_group_id.value().filter(|_| child.kind == GroupChildType::Group);
        if above.is_some_and(|above| snapshot.is_group_within(above, &child.id)) {
            let message = format!("group {:?} cannot be in a group below it", truncate_for_message(&child.id));
            return refused(Reason::Cycle, message, field);
        }
    }
    check_room(snapshot, payload.children().len() + 1).or_else(|message| {
        refused(Reason::TooMany, message, "/payload/children".to_owned()).map(|_: Vec<WireEvent>| ())
    })?;
    Ok(vec![WireEvent::GroupAdded { id: id.clone() }])
}

pub(super) fn update(snapshot: &Snapshot, UpdateGroup { id, payload }: &UpdateGroup) -> CommandResult {
    let group = find_group(snapshot, id)?;
    check_link_unchanged("updateGroup", payload.id.value().is_none_or(|same| *same == group.id), "id", id)?;
    check_link_unchanged(
        "updateGroup",
        payload.parent_group_id.is_unchanged_from(group.parent_group_id.as_ref()),
        "parentGroupId",
        id,
    )?;
    let children = payload.children.value();
    check_link_unchanged("updateGroup", children.is_none_or(|same| group.children.iter().eq(same)), "children", id)?;
    payload.check().map_err(|misfit| Failure::from_misfit("updateGroup", &misfit.in_field("payload")).with_id(id))?;
    Ok(vec![WireEvent::GroupUpdated { id: id.clone() }])
}

pub(super) fn remove(snapshot: &Snapshot, id: &Id) -> CommandResult {
    find_group(snapshot, id)?;
    Ok(vec![WireEvent::GroupRemoved { id: id.clone() }])
}

pub(super) fn add_child(snapshot: &Snapshot, group_id: &Id, child: &GroupChild) -> CommandResult {
    find_group(snapshot, group_id)?;
    if snapshot.group_places.contains_key(&(child.clone(), group_id.clone())) {
        return Err(Failure::already_in_group(group_id, &child.id));
    }
    if !snapshot.contains(child) {
        let failure = Failure::add_to_group_failed(Reason::NotFound, group_id, &child.id);
        return Err(failure.with_missing(child_kind(child.kind), &child.id));
    }
    if child.kind == GroupChildType::Group && snapshot.is_group_within(group_id, &child.id) {
        return Err(Failure::add_to_group_failed(Reason::Cycle, group_id, &child.id));
    }
    check_room(snapshot, 1).map_err(|message| {
        Failure::command_failed("addToGroup", Reason::TooMany, message).with_group(group_id, &child.id)
    })?;
    Ok(vec![WireEvent::ChildAddedToGroup { group_id: group_id.clone(), child_id: child.id.clone() }])
}

pub(super) fn remove_child(snapshot: &Snapshot, group_id: &Id, child_id: &Id) -> CommandResult {
    find_group(snapshot, group_id)?;
    if !snapshot.group_contains(group_id, child_id) {
        let failure = Failure::not_in_group(group_id, child_id);
        let is_there = snapshot.stars.contains_key(child_id) || snapshot.groups.contains_key(child_id);
        return Err(if is_there { failure } else { failure.with_missing(ThingKind::BodyOrGroup, child_id) });
    }
    Ok(vec![WireEvent::ChildRemovedFromGroup { group_id: group_id.clone(), child_id: child_id.clone() }])
}

pub(super) fn move_child(snapshot: &Snapshot, command: &MoveToGroup) -> CommandResult {
    let MoveToGroup { child_id, child_type, target_group_id } = command;
    let target = target_group_id.as_ref();
    let fails = |reason: Reason| Err(Failure::move_to_group_failed(reason, child_id, target));
    if let Some(target) = target {
        find_group(snapshot, target)?;
    }
    if !snapshot.contains(&GroupChild { id: child_id.clone(), kind: *child_type }) {
        return fails(Reason::NotFound).map_err(|failure| failure.with_missing(child_kind(*child_type), child_id));
    }
    let is_group = *child_type == GroupChildType::Group;
    if is_group && target.is_some_and(|target| snapshot.is_group_within(target, child_id)) {
        return fails(Reason::Cycle);
    }
    if target.is_some() && check_room(snapshot, 1).is_err() {
        return fails(Reason::TooMany);
    }
    Ok(vec![WireEvent::MovedToGroup { child_id: child_id.clone(), target_group_id: target_group_id.clone() }])
}

fn child_kind(kind: GroupChildType) -> ThingKind {
    match kind {
        GroupChildType::System => ThingKind::Body,
        GroupChildType::Group => ThingKind::Group,
    }
}

fn check_room(snapshot: &Snapshot, more: usize) -> Result<(), String> {
    if snapshot.group_places.len() + more <= limits::GROUP_PLACES_MAX {
        return Ok(());
    }
    Err(format!("the groups of a universe have at most {} places", limits::GROUP_PLACES_MAX))
}

fn find_group<'a>(snapshot: &'a Snapshot, id: &Id) -> Result<&'a Group, Failure> {
    snapshot.groups.get(id).map(AsRef::as_ref).ok_or_else(|| Failure::group_not_found(id))
}
