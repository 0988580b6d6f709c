//! `SlotSet`, a set of places in a chunk of entities: one bit for each of 256.

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct SlotSet([u64; 4]);

impl SlotSet {
    pub(super) fn insert(&mut self, slot: u8) {
        self.0[usize::from(slot >> 6)] |= 1 << (slot & 63);
    }

    pub(super) fn contains(&self, slot: u8) -> bool {
        self.0[usize::from(slot >> 6)] & (1 << (slot & 63)) != 0
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    pub(super) fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub(super) fn intersection(self, other: Self) -> Self {
        let mut both = self;
        both.0.iter_mut().zip(other.0).for_each(|(word, other)| *word &= other);
        both
    }

    /// The places in ascending order.
    pub(super) fn iter(&self) -> impl Iterator<Item = u8> {
        (0..4_u8).zip(self.0).flat_map(|(number, word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = u8::try_from(rest.trailing_zeros()).ok().filter(|bit| *bit < 64)?;
                rest &= rest - 1;
                Some(number * 64 + bit)
            })
        })
    }
}

impl FromIterator<u8> for SlotSet {
    fn from_iter<I: IntoIterator<Item = u8>>(slots: I) -> Self {
        let mut set = Self::default();
        slots.into_iter().for_each(|slot| set.insert(slot));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_what_was_put_in_in_order() {
        let set = SlotSet::from_iter([255, 0, 63, 64, 128, 0]);
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63, 64, 128, 255]);
        assert!(set.contains(64) && !set.contains(65) && !set.is_empty());
        assert_eq!((set.len(), SlotSet::default().len()), (5, 0));
        let both = set.intersection(SlotSet::from_iter([1, 63, 255]));
        assert_eq!(both.iter().collect::<Vec<_>>(), [63, 255]);
        assert!(both.intersection(SlotSet::default()).is_empty());
    }
}
