//! Finds the ids that were probably meant where a name or a misspelt id was sent.

use skald_domain::universe::{MissingItem, Snapshot, ThingKind, is_same_word};

use super::stream::ListedUniverse;
use crate::{input, truncate_for_message};

/// Maximum things whose ids and names are compared with a misspelt id.
const SIMILAR_SEARCHED_MAX: usize = 2_000;
/// Maximum things of the same name that are listed.
const SAME_NAME_MAX: usize = 3;

/// The ids of the things with this name or, without any, the id of the one whose id or name is nearest.
pub(super) fn nearest_ids<'a>(given: &str, things: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<&'a str> {
    let (mut named, mut searched) = (Vec::new(), Vec::new());
    for (id, name) in things {
        if is_same_word(name, given) {
            named.push(id);
            if named.len() == SAME_NAME_MAX {
                break;
            }
        }
        if searched.len() < SIMILAR_SEARCHED_MAX {
            searched.push((id, name));
        }
    }
    if !named.is_empty() {
        return named;
    }
    let words: Vec<&str> = searched.iter().flat_map(|(id, name)| [*id, *name]).collect();
    let nearest = input::nearest_word(given, &words);
    let thing = nearest.and_then(|word| searched.iter().find(|(id, name)| *id == word || *name == word));
    thing.map(|(id, _)| *id).into_iter().collect()
}

pub(super) fn nearest_body_ids<'a>(snapshot: &'a Snapshot, given: &str) -> Vec<&'a str> {
    nearest_ids(given, snapshot.bodies().values().map(|star| (&*star.id, &*star.name)))
}

pub(super) fn nearest_group_ids<'a>(snapshot: &'a Snapshot, given: &str) -> Vec<&'a str> {
    nearest_ids(given, snapshot.groups().values().map(|group| (&*group.id, &*group.name)))
}

/// A question for the ids, such as `did you mean "mars"?`; `None` without any.
pub(super) fn did_you_mean(ids: &[&str]) -> Option<String> {
    let ids: Vec<String> = ids.iter().map(|id| format!("{:?}", truncate_for_message(id))).collect();
    (!ids.is_empty()).then(|| format!("did you mean {}?", ids.join(" or ")))
}

/// What to say about a thing that a command names and that does not exist.
pub(super) fn missing_thing_hint(snapshot: &Snapshot, missing: &MissingItem) -> Option<String> {
    let id = &*missing.id;
    let ids = match missing.kind {
        ThingKind::Body if snapshot.group(id).is_some() => return Some("it is a group, and no body".to_owned()),
        ThingKind::Group if snapshot.body(id).is_some() => return Some("it is a body, and no group".to_owned()),
        ThingKind::Body => nearest_body_ids(snapshot, id),
        ThingKind::Group => nearest_group_ids(snapshot, id),
        ThingKind::BodyOrGroup => {
            let bodies = snapshot.bodies().values().map(|star| (&*star.id, &*star.name));
            let groups = snapshot.groups().values().map(|group| (&*group.id, &*group.name));
            nearest_ids(id, bodies.chain(groups))
        }
        ThingKind::SmallBodyField => {
            let fields = snapshot.small_body_fields().values();
            nearest_ids(id, fields.map(|field| (&*field.id, &**field.name.as_ref().unwrap_or(&field.region_label))))
        }
        ThingKind::ProtoplanetaryDisk => {
            let disks = snapshot.protoplanetary_disks().values();
            nearest_ids(id, disks.map(|disk| (&*disk.id, disk.name.as_deref().unwrap_or(&disk.id))))
        }
        ThingKind::Nebula => nearest_ids(id, snapshot.nebulae().values().map(|nebula| (&*nebula.id, &*nebula.name))),
    };
    did_you_mean(&ids)
}

/// What to say about a universe that does not exist, from those that the caller may see.
pub(super) fn missing_universe_hint(listed: &[ListedUniverse], given: &str) -> Option<String> {
    did_you_mean(&nearest_ids(given, listed.iter().map(|universe| (&*universe.id, &*universe.name))))
}
