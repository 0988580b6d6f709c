//! Decides commands on bodies and their rings: add, update, remove, attach, detach.

use super::super::body::Star;
use super::super::check::{Check, Reason, short};
use super::super::command::{AddStar, UpdateRing, UpdateStar};
use super::super::failure::Failure;
use super::super::snapshot::Snapshot;
use super::super::text::Id;
use super::super::wire::WireEvent;
use super::{Done, unchanged};
use crate::limits;

pub(super) fn add(snapshot: &Snapshot, AddStar { id, payload }: &AddStar) -> Done {
    let refused = |reason: Reason, message: String, field: &str| {
        Err(Failure::refused("addStar", reason, message).with_id(id).at(field.to_owned()))
    };
    id.check().map_err(|misfit| Failure::misfit("addStar", &misfit.within("id")).with_id(id))?;
    if snapshot.stars.contains_key(id) {
        return refused(Reason::DuplicateId, format!("there is a body {id:?} already"), "/id");
    }
    unchanged("addStar", payload.id.set().is_none_or(|same| same == id), "id", id)?;
    unchanged("addStar", payload.children.set().is_none_or(Vec::is_empty), "children", id)?;
    match payload.parent_id.set() {
        Some(parent_id) if parent_id == id => {
            return refused(Reason::SelfParent, format!("{id:?} cannot move around itself"), "/payload/parentId");
        }
        Some(parent_id) if !snapshot.stars.contains_key(parent_id) => {
            let message = format!("there is no body {:?} to move around", short(parent_id));
            return refused(Reason::UnknownParent, message, "/payload/parentId");
        }
        _ => {}
    }
    if snapshot.stars.len() >= limits::BODIES_MAX {
        return refused(Reason::TooMany, format!("a universe has at most {} bodies", limits::BODIES_MAX), "");
    }
    payload.check().map_err(|misfit| Failure::misfit("addStar", &misfit.within("payload")).with_id(id))?;
    Ok(vec![WireEvent::StarAdded { id: id.clone() }])
}

pub(super) fn update(snapshot: &Snapshot, UpdateStar { id, payload }: &UpdateStar) -> Done {
    let star = found(snapshot, id)?;
    unchanged("updateStar", payload.id.set().is_none_or(|same| *same == star.id), "id", id)?;
    unchanged("updateStar", payload.parent_id.repeats(star.parent_id.as_ref()), "parentId", id)?;
    let children = payload.children.set();
    unchanged("updateStar", children.is_none_or(|same| star.children.iter().eq(same)), "children", id)?;
    payload.check().map_err(|misfit| Failure::misfit("updateStar", &misfit.within("payload")).with_id(id))?;
    Ok(vec![WireEvent::StarUpdated { id: id.clone() }])
}

pub(super) fn remove(snapshot: &Snapshot, id: &Id) -> Done {
    found(snapshot, id)?;
    Ok(vec![WireEvent::StarRemoved { id: id.clone(), removed_ids: snapshot.with_descendants(id) }])
}

pub(super) fn attach(snapshot: &Snapshot, child_id: &Id, parent_id: &Id) -> Done {
    let are_there = snapshot.stars.contains_key(child_id) && snapshot.stars.contains_key(parent_id);
    if !snapshot.can_attach(child_id, parent_id) {
        let reason = if are_there { Reason::Cycle } else { Reason::NotFound };
        return Err(Failure::attach(reason, child_id, parent_id));
    }
    Ok(vec![WireEvent::StarAttached { child_id: child_id.clone(), parent_id: parent_id.clone() }])
}

pub(super) fn detach(snapshot: &Snapshot, child_id: &Id) -> Done {
    match snapshot.stars.get(child_id) {
        Some(star) if star.parent_id.is_some() => Ok(vec![WireEvent::StarDetached { child_id: child_id.clone() }]),
        _ => Err(Failure::detach(child_id)),
    }
}

pub(super) fn update_ring(snapshot: &Snapshot, UpdateRing { planet_id, patch }: &UpdateRing) -> Done {
    found(snapshot, planet_id)?;
    let misfit =
        |misfit: super::FieldMisfit| Failure::misfit("updateRing", &misfit.within("patch")).with_planet(planet_id);
    patch.check().map_err(misfit)?;
    Ok(vec![WireEvent::RingUpdated { planet_id: planet_id.clone() }])
}

pub(super) fn remove_ring(snapshot: &Snapshot, planet_id: &Id) -> Done {
    match snapshot.stars.get(planet_id) {
        Some(star) if star.ring.is_some() => Ok(vec![WireEvent::RingRemoved { planet_id: planet_id.clone() }]),
        _ => Err(Failure::ring_not_found(planet_id)),
    }
}

fn found<'a>(snapshot: &'a Snapshot, id: &Id) -> Result<&'a Star, Failure> {
    snapshot.stars.get(id).map(AsRef::as_ref).ok_or_else(|| Failure::star_not_found(id))
}
