//! Stored form of a universe: parts that are parsed separately, so that a large one is read on several processors.
//!
//! The first part has the first chunk of each map and all fields that are not maps. Each further part is a state with
//! one chunk of one map and nothing else. A universe that fits into one part is stored as one value.

use std::sync::Arc;

use imbl::OrdMap;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Error, to_string};

use super::id_name_color::Id;
use super::snapshot::StateParts;
use super::state::{Universe, UniverseIdentity, UniverseState};

/// One parsed part of a universe.
pub struct StoredPart {
    about: Option<Arc<UniverseIdentity>>,
    updated_at: Option<Timestamp>,
    state: StateParts,
}

/// The format of the first part.
#[derive(Deserialize)]
struct FirstPart {
    about: Option<Arc<UniverseIdentity>>,
    updated_at: Option<Timestamp>,
    state: StateParts,
}

impl StoredPart {
    /// Serialises a universe into parts. A chunk of a map ends with the entry that brings it to `bytes`.
    pub fn write(universe: &Universe, bytes: usize) -> Result<Vec<String>, Error> {
        let snapshot = &universe.state.snapshot;
        let mut later = Vec::new();
        let stars = write_first_chunk("stars", &snapshot.stars, bytes, &mut later)?;
        let groups = write_first_chunk("groups", &snapshot.groups, bytes, &mut later)?;
        let belts = write_first_chunk("belts", &snapshot.belts, bytes, &mut later)?;
        let small_body_fields = write_first_chunk("smallBodyFields", &snapshot.small_body_fields, bytes, &mut later)?;
        let disks = write_first_chunk("protoplanetaryDisks", &snapshot.protoplanetary_disks, bytes, &mut later)?;
        let nebulae = write_first_chunk("nebulae", &snapshot.nebulae, bytes, &mut later)?;
        let about = to_string(&universe.about)?;
        let updated_at = to_string(&universe.updated_at)?;
        let root_ids = to_string(&snapshot.root_ids)?;
        let root_group_ids = to_string(&snapshot.root_group_ids)?;
        let time = to_string(&universe.state.time)?;
        let mut parts = vec![format!(
            r#"{{"about":{about},"updated_at":{updated_at},"state":{{"stars":{{{stars}}},"rootIds":{root_ids},"groups":{{{groups}}},"rootGroupIds":{root_group_ids},"belts":{{{belts}}},"smallBodyFields":{{{small_body_fields}}},"protoplanetaryDisks":{{{disks}}},"nebulae":{{{nebulae}}},"time":{time}}}}}"#
        )];
        parts.append(&mut later);
        Ok(parts)
    }

    /// Parses one part. Whether the parts fit together is checked when they are joined.
    pub fn read(text: &str, is_first: bool) -> Result<Self, Error> {
        if is_first {
            let FirstPart { about, updated_at, state } = serde_json::from_str(text)?;
            return Ok(Self { about, updated_at, state });
        }
        Ok(Self { about: None, updated_at: None, state: serde_json::from_str(text)? })
    }

    /// Joins all parts of a universe, in order; `None` if they do not fit together.
    pub fn join(parts: Vec<Self>) -> Option<Universe> {
        let mut parts = parts.into_iter();
        let Self { about, updated_at, mut state } = parts.next()?;
        parts.for_each(|part| state.extend(part.state));
        let time = state.time;
        Some(Universe { about, updated_at, state: UniverseState { snapshot: state.into_snapshot().ok()?, time } })
    }
}

/// Returns the first chunk of a map and appends the others to `later` as parts.
fn write_first_chunk<T: Serialize>(
    field: &str,
    map: &OrdMap<Id, Arc<T>>,
    bytes: usize,
    later: &mut Vec<String>,
) -> Result<String, Error> {
    let mut stretches = write_chunks(map, bytes)?.into_iter();
    let first = stretches.next().unwrap_or_default();
    later.extend(stretches.map(|stretch| format!(r#"{{"{field}":{{{stretch}}}}}"#)));
    Ok(first)
}

/// The entries of a map as JSON without the braces, in chunks.
fn write_chunks<T: Serialize>(map: &OrdMap<Id, Arc<T>>, bytes: usize) -> Result<Vec<String>, Error> {
    let mut stretches: Vec<String> = Vec::new();
    for (id, thing) in map {
        let (id, thing) = (to_string(id)?, to_string(thing)?);
        match stretches.last_mut() {
            Some(open) if open.len() < bytes => {
                open.extend([",", &id, ":", &thing]);
            }
            _ => stretches.push(format!("{id}:{thing}")),
        }
    }
    Ok(stretches)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::universe::tests::UniverseFixture;

    fn read_parts(parts: &[String]) -> Option<Universe> {
        let read = parts.iter().enumerate().map(|(number, part)| StoredPart::read(part, number == 0));
        StoredPart::join(read.collect::<Result<_, _>>().ok()?)
    }

    /// Checks that a universe reads back as it was, whatever the size of its chunks.
    pub(in crate::universe) fn check_round_trip(universe: &Universe) {
        let whole = to_string(universe).unwrap();
        assert_eq!(StoredPart::write(universe, usize::MAX).unwrap(), [whole.as_str()]);
        for bytes in [0, 300, 1_000] {
            let parts = StoredPart::write(universe, bytes).unwrap();
            let again = read_parts(&parts).unwrap();
            assert_eq!(again, *universe);
            assert_eq!(to_string(&again).unwrap(), whole);
        }
    }

    fn golden_universe() -> Universe {
        let state = serde_json::from_str(include_str!("golden/state.json")).unwrap();
        Universe { state, ..UniverseFixture::empty().universe }
    }

    #[test]
    fn every_map_is_cut_and_joined() {
        let universe = golden_universe();
        check_round_trip(&universe);
        let parts = StoredPart::write(&universe, 0).unwrap();
        let snapshot = universe.state.snapshot();
        let maps = [snapshot.stars.len(), snapshot.groups.len(), snapshot.belts.len()];
        let regions = [snapshot.small_body_fields.len(), snapshot.protoplanetary_disks.len(), snapshot.nebulae.len()];
        let later: usize = maps.iter().chain(&regions).map(|entries| entries - 1).sum();
        assert!(maps[0] > 2 && maps[1] > 1);
        assert_eq!(parts.len(), 1 + later);
    }

    #[test]
    fn bodies_without_the_others_are_no_universe() {
        let parts = StoredPart::write(&golden_universe(), 0).unwrap();
        // The loss of a rogue planet that is in no list goes unnoticed here: the store has to know the number of parts.
        let is_missed = |part: &str| part.starts_with(r#"{"stars""#) && !part.contains("isRoguePlanet");
        let bodies: Vec<usize> = (1..parts.len()).filter(|number| is_missed(&parts[*number])).collect();
        assert!(bodies.len() > 1);
        for number in bodies {
            let (mut fewer, mut twice, mut torn) = (parts.clone(), parts.clone(), parts.clone());
            fewer.remove(number);
            twice.insert(number, parts[number].clone());
            torn[number].truncate(parts[number].len() - 1);
            for parts in [fewer, twice, torn] {
                assert!(read_parts(&parts).is_none());
            }
        }
        assert!(read_parts(&[]).is_none() && read_parts(&parts[1..]).is_none());
    }
}
