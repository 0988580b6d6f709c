//! Hash index of a sorted list of ids: finds an id's position, mostly without a binary search.

use super::id_name_color::Id;

/// Slots that are probed for one id. Ids chosen to collide cost a binary search each, and no more.
const PROBES_MAX: usize = 16;

/// An open-addressing table of positions in a sorted list of ids. Ids without a free slot are found by binary search.
pub(super) struct IdIndex {
    slots: Vec<u32>,
}

impl IdIndex {
    pub(super) fn new(ids: &[Id]) -> Self {
        let mut slots = vec![u32::MAX; (ids.len() * 2).next_power_of_two()];
        for (place, id) in (0_u32..).zip(ids) {
            let free = probe_slots(id, slots.len()).find(|slot| slots[*slot] == u32::MAX);
            if let Some(slot) = free {
                slots[slot] = place;
            }
        }
        Self { slots }
    }

    /// `ids` must be the list that the index was built from.
    pub(super) fn find(&self, ids: &[Id], id: &Id) -> Option<usize> {
        for slot in probe_slots(id, self.slots.len()) {
            let place = usize::try_from(self.slots[slot]).ok().filter(|place| *place < ids.len())?;
            if ids[place] == *id {
                return Some(place);
            }
        }
        ids.binary_search(id).ok()
    }
}

/// The slots to probe for an id, in order.
fn probe_slots(id: &Id, slots: usize) -> impl Iterator<Item = usize> {
    let mask = slots - 1;
    #[expect(clippy::cast_possible_truncation, reason = "any part of a digest is one")]
    let first = id.digest() as usize;
    (0..PROBES_MAX).map(move |step| first.wrapping_add(step) & mask)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_found_and_nothing_else() {
        for count in [0, 1, 2, 3, 100, 5_000] {
            let mut ids: Vec<Id> = (0..count).map(|number| Id::from(format!("b{number}"))).collect();
            ids.sort();
            let index = IdIndex::new(&ids);
            for (place, id) in ids.iter().enumerate() {
                assert_eq!(index.find(&ids, id), Some(place));
            }
            assert_eq!(index.find(&ids, &Id::from("x")), None);
        }
    }

    #[test]
    fn a_full_table_still_finds() {
        let mut ids: Vec<Id> = (0..1_000).map(|number| Id::from(format!("b{number}"))).collect();
        ids.sort();
        let mut index = IdIndex::new(&ids);
        // As if every slot were taken by another id.
        index.slots.fill(7);
        for (place, id) in ids.iter().enumerate() {
            assert_eq!(index.find(&ids, id), Some(place));
        }
    }
}
