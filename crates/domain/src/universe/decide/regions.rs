//! Decides commands on regions of space (small-body fields, disks, nebulae): replaced as a whole, or one by one.

use std::sync::Arc;

use super::super::check_bounds::{Check, FieldMisfit, Reason};
use super::super::command::{UpdateNebula, UpdateProtoplanetaryDisk, UpdateSmallBodyField};
use super::super::failure::Failure;
use super::super::id_name_color::{Id, is_same_word};
use super::super::patch::Change;
use super::super::region::{NebulaRegion, ProtoplanetaryDisk, SmallBodyField};
use super::super::snapshot::{Regions, Snapshot, check_regions};
use super::super::wire_event::WireEvent;
use super::CommandResult;
use crate::limits;

pub(super) fn set_fields(fields: &Regions<SmallBodyField>) -> CommandResult {
    check_regions(fields, "fields").map_err(|misfit| Failure::from_misfit("setSmallBodyFields", &misfit))?;
    Ok(vec![WireEvent::SmallBodyFieldsSet {}])
}

pub(super) fn update_field(snapshot: &Snapshot, command: &UpdateSmallBodyField) -> CommandResult {
    let UpdateSmallBodyField { id, patch } = command;
    if !snapshot.small_body_fields.contains_key(id) {
        return Err(Failure::field_not_found(id));
    }
    check_patch("updateSmallBodyField", id, &patch.id, patch.check())?;
    Ok(vec![WireEvent::SmallBodyFieldUpdated { id: id.clone() }])
}

/// Removing what is not there succeeds, as in the original, unless the name of a field was sent for its id.
pub(super) fn remove_field(snapshot: &Snapshot, id: &Id) -> CommandResult {
    let fields = &snapshot.small_body_fields;
    let is_named = |field: &Arc<SmallBodyField>| is_same_word(field.name.as_ref().unwrap_or(&field.region_label), id);
    if !fields.contains_key(id) && fields.values().any(is_named) {
        return Err(Failure::field_not_found(id));
    }
    Ok(vec![WireEvent::SmallBodyFieldRemoved { id: id.clone() }])
}

pub(super) fn set_disks(disks: &Regions<ProtoplanetaryDisk>) -> CommandResult {
    check_regions(disks, "disks").map_err(|misfit| Failure::from_misfit("setProtoplanetaryDisks", &misfit))?;
    Ok(vec![WireEvent::ProtoplanetaryDisksSet {}])
}

/// Replaces a disk with the same id, as in the original.
pub(super) fn add_disk(snapshot: &Snapshot, disk: &ProtoplanetaryDisk) -> CommandResult {
    let misfit =
        |misfit: FieldMisfit| Failure::from_misfit("addProtoplanetaryDisk", &misfit.in_field("disk")).with_id(&disk.id);
    disk.check().map_err(misfit)?;
    let disks = &snapshot.protoplanetary_disks;
    if disks.len() >= limits::REGIONS_MAX && !disks.contains_key(&disk.id) {
        let message = format!("a universe has at most {} protoplanetary disks", limits::REGIONS_MAX);
        return Err(Failure::command_failed("addProtoplanetaryDisk", Reason::TooMany, message).with_id(&disk.id));
    }
    Ok(vec![WireEvent::ProtoplanetaryDiskAdded { id: disk.id.clone() }])
}

pub(super) fn update_disk(snapshot: &Snapshot, command: &UpdateProtoplanetaryDisk) -> CommandResult {
    let UpdateProtoplanetaryDisk { id, patch } = command;
    if !snapshot.protoplanetary_disks.contains_key(id) {
        return Err(Failure::disk_not_found(id));
    }
    check_patch("updateProtoplanetaryDisk", id, &patch.id, patch.check())?;
    Ok(vec![WireEvent::ProtoplanetaryDiskUpdated { id: id.clone() }])
}

/// Like `remove_field`.
pub(super) fn remove_disk(snapshot: &Snapshot, id: &Id) -> CommandResult {
    let disks = &snapshot.protoplanetary_disks;
    let is_named = |disk: &Arc<ProtoplanetaryDisk>| disk.name.as_ref().is_some_and(|name| is_same_word(name, id));
    if !disks.contains_key(id) && disks.values().any(is_named) {
        return Err(Failure::disk_not_found(id));
    }
    Ok(vec![WireEvent::ProtoplanetaryDiskRemoved { id: id.clone() }])
}

pub(super) fn set_nebulae(nebulae: &Regions<NebulaRegion>) -> CommandResult {
    check_regions(nebulae, "nebulae").map_err(|misfit| Failure::from_misfit("setNebulae", &misfit))?;
    Ok(vec![WireEvent::NebulaeSet {}])
}

pub(super) fn update_nebula(snapshot: &Snapshot, command: &UpdateNebula) -> CommandResult {
    let UpdateNebula { id, patch } = command;
    if !snapshot.nebulae.contains_key(id) {
        return Err(Failure::nebula_not_found(id));
    }
    check_patch("updateNebula", id, &patch.id, patch.check())?;
    Ok(vec![WireEvent::NebulaUpdated { id: id.clone() }])
}

/// Like `remove_field`.
pub(super) fn remove_nebula(snapshot: &Snapshot, id: &Id) -> CommandResult {
    let nebulae = &snapshot.nebulae;
    if !nebulae.contains_key(id) && nebulae.values().any(|nebula| is_same_word(&nebula.name, id)) {
        return Err(Failure::nebula_not_found(id));
    }
    Ok(vec![WireEvent::NebulaRemoved { id: id.clone() }])
}

/// Checks a patch: its id, if given, must be the current one, and its fields must be within bounds.
fn check_patch(command: &str, id: &Id, repeated: &Change<Id>, bounds: Result<(), FieldMisfit>) -> Result<(), Failure> {
    if repeated.value().is_some_and(|repeated| repeated != id) {
        let failure =
            Failure::command_failed(command, Reason::LinkChange, format!("id cannot be changed by {command}"));
        return Err(failure.with_id(id).with_pointer("/patch/id".to_owned()));
    }
    bounds.map_err(|misfit| Failure::from_misfit(command, &misfit.in_field("patch")).with_id(id))
}
