//! Finds what commands that replace all regions of a kind removed, and the commands that put it back beside the rest.

use std::sync::Arc;

use super::command::{AddProtoplanetaryDisk, Command, SetNebulae, SetSmallBodyFields};
use super::id_name_color::Id;
use super::snapshot::{Regions, Snapshot};
use super::state::UniverseState;

/// Regions of one kind that a command removed since it replaces all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct RemovedRegions {
    /// The command, such as `setNebulae`.
    pub command: &'static str,
    pub ids: Vec<Id>,
    /// Commands after which the removed regions are there beside those that are there now.
    pub put_back: Vec<Command>,
}

/// What the `set…` commands among these removed for good, by kind. `before` is the state before the first command.
pub fn removed_regions<'a>(
    before: &UniverseState,
    commands: impl IntoIterator<Item = &'a Command> + Clone,
) -> Vec<RemovedRegions> {
    let replaces_all = |command: &Command| {
        matches!(command, Command::SetSmallBodyFields(_) | Command::SetProtoplanetaryDisks(_) | Command::SetNebulae(_))
    };
    if !commands.clone().into_iter().any(replaces_all) {
        return Vec::new();
    }
    let (mut fields, mut disks, mut nebulae) = (Regions::default(), Regions::default(), Regions::default());
    let mut state = before.clone();
    for command in commands {
        let Snapshot { small_body_fields, protoplanetary_disks, nebulae: clouds, .. } = state.snapshot();
        match command {
            Command::SetSmallBodyFields(set) => add_removed(&mut fields, small_body_fields, &set.fields),
            Command::SetProtoplanetaryDisks(set) => add_removed(&mut disks, protoplanetary_disks, &set.disks),
            Command::SetNebulae(set) => add_removed(&mut nebulae, clouds, &set.nebulae),
            _ => {}
        }
        state = state.after_commands([command]);
    }
    let now = state.snapshot();
    let fields = RemovedRegions::new("setSmallBodyFields", fields, &now.small_body_fields, |removed| {
        let fields = merge_regions(removed, &now.small_body_fields);
        vec![Command::SetSmallBodyFields(SetSmallBodyFields { fields })]
    });
    let disks = RemovedRegions::new("setProtoplanetaryDisks", disks, &now.protoplanetary_disks, |removed| {
        let add = |disk: &Arc<_>| Command::AddProtoplanetaryDisk(AddProtoplanetaryDisk { disk: Arc::clone(disk) });
        removed.values().map(add).collect()
    });
    let nebulae = RemovedRegions::new("setNebulae", nebulae, &now.nebulae, |removed| {
        vec![Command::SetNebulae(SetNebulae { nebulae: merge_regions(removed, &now.nebulae) })]
    });
    [fields, disks, nebulae].into_iter().flatten().collect()
}

impl RemovedRegions {
    /// `None` if all that was removed is there again.
    fn new<T>(
        command: &'static str,
        removed: Regions<T>,
        now: &Regions<T>,
        put_back: impl FnOnce(&Regions<T>) -> Vec<Command>,
    ) -> Option<Self> {
        let removed: Regions<T> = removed.into_iter().filter(|(id, _)| !now.contains_key(id)).collect();
        let ids: Vec<Id> = removed.keys().cloned().collect();
        (!ids.is_empty()).then(|| Self { command, ids, put_back: put_back(&removed) })
    }
}

fn add_removed<T>(removed: &mut Regions<T>, before: &Regions<T>, after: &Regions<T>) {
    for (id, region) in before.iter().filter(|(id, _)| !after.contains_key(*id)) {
        removed.insert(id.clone(), Arc::clone(region));
    }
}

fn merge_regions<T>(removed: &Regions<T>, now: &Regions<T>) -> Regions<T> {
    let pairs = removed.iter().chain(now.iter());
    pairs.map(|(id, region)| (id.clone(), Arc::clone(region))).collect()
}
