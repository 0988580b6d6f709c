//! `ShortList`, a list of numbers that needs no memory of its own while it has at most three.

use std::fmt;
use std::ops::Deref;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Most entities have few tags and few changes, and there are many entities.
const INLINE_MAX: usize = 3;

#[derive(Clone)]
pub struct ShortList(Numbers);

#[derive(Clone)]
enum Numbers {
    Few(u8, [u32; INLINE_MAX]),
    Many(Vec<u32>),
}

impl ShortList {
    pub fn push(&mut self, number: u32) {
        match &mut self.0 {
            Numbers::Few(count, numbers) if usize::from(*count) < INLINE_MAX => {
                numbers[usize::from(*count)] = number;
                *count += 1;
            }
            Numbers::Few(_, numbers) => {
                let mut many = Vec::with_capacity(INLINE_MAX + 1);
                many.extend(*numbers);
                many.push(number);
                self.0 = Numbers::Many(many);
            }
            Numbers::Many(numbers) => numbers.push(number),
        }
    }
}

impl Default for ShortList {
    fn default() -> Self {
        Self(Numbers::Few(0, [0; INLINE_MAX]))
    }
}

impl Deref for ShortList {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        match &self.0 {
            Numbers::Few(count, numbers) => &numbers[..usize::from(*count)],
            Numbers::Many(numbers) => numbers,
        }
    }
}

impl PartialEq for ShortList {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for ShortList {}

impl fmt::Debug for ShortList {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(formatter)
    }
}

impl FromIterator<u32> for ShortList {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Self {
        let mut list = Self::default();
        numbers.into_iter().for_each(|number| list.push(number));
        if let Numbers::Many(numbers) = &mut list.0 {
            numbers.shrink_to_fit();
        }
        list
    }
}

impl<'a> IntoIterator for &'a ShortList {
    type Item = &'a u32;
    type IntoIter = std::slice::Iter<'a, u32>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Serialize for ShortList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ShortList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ListVisitor)
    }
}

struct ListVisitor;

impl<'de> Visitor<'de> for ListVisitor {
    type Value = ShortList;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<ShortList, A::Error> {
        let mut list = ShortList::default();
        while let Some(number) = numbers.next_element()? {
            list.push(number);
        }
        if let Numbers::Many(numbers) = &mut list.0 {
            numbers.shrink_to_fit();
        }
        Ok(list)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json, to_value};

    use super::*;

    #[test]
    fn a_list_is_the_same_at_every_length() {
        for length in 0..8_u32 {
            let numbers: Vec<u32> = (0..length).collect();
            let list: ShortList = numbers.iter().copied().collect();
            assert_eq!((&*list, format!("{list:?}")), (numbers.as_slice(), format!("{numbers:?}")));
            assert_eq!(to_value(&list).unwrap(), json!(numbers));
            assert_eq!(from_value::<ShortList>(json!(numbers)).unwrap(), list);
            let (mut longer, expected) = (list.clone(), (0..=length).collect::<ShortList>());
            assert_ne!(longer, expected);
            longer.push(length);
            assert_eq!(longer, expected);
            assert!((&longer).into_iter().copied().eq(0..=length));
        }
        assert_eq!(size_of::<ShortList>(), size_of::<Vec<u32>>());
    }
}
