//! Decides commands on bodies and their rings: add, update, remove, attach, detach.

use super::super::body::Star;
use super::super::check_bounds::{Check, Reason, truncate_for_message};
use super::super::command::{AddStar, UpdateRing, UpdateStar};
use super::super::failure::{Failure, ThingKind};
use super::super::id_name_color::Id;
use super::super::snapshot::Snapshot;
use super::super::wire_event::WireEvent;
use super::{CommandResult, check_link_unchanged};
use crate::limits;

pub(super) fn add(snapshot: &Snapshot, AddStar { id, payload }: &AddStar) -> CommandResult {
    let refused = |reason: Reason, message: String, field: &str| {
        Err(Failure::command_failed("addStar", reason, message).with_id(id).with_pointer(field.to_owned()))
    };
    id.check().map_err(|misfit| Failure::from_misfit("addStar", &misfit.in_field("id")).with_id(id))?;
    if snapshot.stars.contains_key(id) {
        return refused(Reason::DuplicateId, format!("there is a body {id:?} already"), "/id");
    }
    check_link_unchanged("addStar", payload.id.value().is_none_or(|same| same == id), "id", id)?;
    check_link_unchanged("addStar", payload.children.value().is_none_or(Vec::is_empty), "children", id)?;
    match payload.parent_id.value() {
        Some(parent_id) if parent_id == id => {
            return refused(Reason::SelfParent, format!("{id:?} cannot move around itself"), "/payload/parentId");
        }
        Some(parent_id) if !snapshot.stars.contains_key(parent_id) => {
            let message = format!("there is no body {:?} to move around", truncate_for_message(parent_id));
            return refused(Reason::UnknownParent, message, "/payload/parentId")
                .map_err(|failure| failure.with_missing(ThingKind::Body, parent_id));
        }
        _ => {}
    }
    if snapshot.stars.len() >= limits::BODIES_MAX {
        return refused(Reason::TooMany, format!("a universe has at most {} bodies", limits::BODIES_MAX), "");
    }
    payload.check().map_err(|misfit| Failure::from_misfit("addStar", &misfit.in_field("payload")).with_id(id))?;
    Ok(vec![WireEvent::StarAdded { id: id.clone() }])
}

pub(super) fn update(snapshot: &Snapshot, UpdateStar { id, payload }: &UpdateStar) -> CommandResult {
    let star = find_body(snapshot, id)?;
    check_link_unchanged("updateStar", payload.id.value().is_none_or(|same| *same == star.id), "id", id)?;
    check_link_unchanged("updateStar", payload.parent_id.is_unchanged_from(star.parent_id.as_ref()), "parentId", id)?;
    let children = payload.children.value();
    check_link_unchanged("updateStar", children.is_none_or(|same| star.children.iter().eq(same)), "children", id)?;
    payload.check().map_err(|misfit| Failure::from_misfit("updateStar", &misfit.in_field("payload")).with_id(id))?;
    Ok(vec![WireEvent::StarUpdated { id: id.clone() }])
}

pub(super) fn remove(snapshot: &Snapshot, id: &Id) -> CommandResult {
    find_body(snapshot, id)?;
    Ok(vec![WireEvent::StarRemoved { id: id.clone(), removed_ids: snapshot.subtree_ids(id) }])
}

pub(super) fn attach(snapshot: &Snapshot, child_id: &Id, parent_id: &Id) -> CommandResult {
    if !snapshot.can_attach(child_id, parent_id) {
        let missing = [child_id, parent_id].into_iter().find(|id| !snapshot.stars.contains_key(*id));
        return Err(match missing {
            None => Failure::attach_failed(Reason::Cycle, child_id, parent_id),
            Some(id) => Failure::attach_failed(Reason::NotFound, child_id, parent_id).with_missing(ThingKind::Body, id),
        });
    }
    Ok(vec![WireEvent::StarAttached { child_id: child_id.clone(), parent_id: parent_id.clone() }])
}

pub(super) fn detach(snapshot: &Snapshot, child_id: &Id) -> CommandResult {
    match snapshot.stars.get(child_id) {
        Some(star) if star.parent_id.is_some() => Ok(vec![WireEvent::StarDetached { child_id: child_id.clone() }]),
        Some(_) => Err(Failure::detach_failed(child_id)),
        None => Err(Failure::detach_failed(child_id).with_missing(ThingKind::Body, child_id)),
    }
}

pub(super) fn update_ring(snapshot: &Snapshot, UpdateRing { planet_id, patch }: &UpdateRing) -> CommandResult {
    find_body(snapshot, planet_id)?;
    let misfit = |misfit: super::FieldMisfit| {
        Failure::from_misfit("updateRing", &misfit.in_field("patch")).with_planet(planet_id)
    };
    patch.check().map_err(misfit)?;
    Ok(vec![WireEvent::RingUpdated { planet_id: planet_id.clone() }])
}

pub(super) fn remove_ring(snapshot: &Snapshot, planet_id: &Id) -> CommandResult {
    match snapshot.stars.get(planet_id) {
        Some(star) if star.ring.is_some() => Ok(vec![WireEvent::RingRemoved { planet_id: planet_id.clone() }]),
        Some(_) => Err(Failure::ring_not_found(planet_id)),
        None => Err(Failure::ring_not_found(planet_id).with_missing(ThingKind::Body, planet_id)),
    }
}

fn find_body<'a>(snapshot: &'a Snapshot, id: &Id) -> Result<&'a Star, Failure> {
    snapshot.stars.get(id).map(AsRef::as_ref).ok_or_else(|| Failure::star_not_found(id))
}
