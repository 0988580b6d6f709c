//! `OrderedList`, a persistent list in insertion order that adds and removes items without a scan.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use imbl::OrdMap;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The slot of an item in its list. The listed thing stores it, so that it can be removed without a search.
///
/// Slot numbers are not stored, and differ after a reload. Only the order counts, which the list has. So all slots
/// compare equal, and two bodies never differ by them.
#[derive(Debug, Clone, Copy)]
pub(super) struct ListSlot(pub(super) u64);

impl PartialEq for ListSlot {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A list in insertion order. On the wire it is a plain array.
#[derive(Clone)]
pub struct OrderedList<T> {
    next: u64,
    places: OrdMap<u64, T>,
}

impl<T> OrderedList<T> {
    pub fn len(&self) -> usize {
        self.places.len()
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + '_ {
        self.places.values()
    }

    /// The items after a slot, each with its own slot, so that a reader can continue with the next page.
    pub fn iter_after(&self, place: Option<u64>) -> impl Iterator<Item = (u64, &T)> + '_ {
        let from = place.map_or(0, |place| place.saturating_add(1));
        self.places.range(from..).map(|(place, item)| (*place, item))
    }
}

impl<T: Clone> OrderedList<T> {
    pub(super) fn push(&mut self, item: T) -> ListSlot {
        let place = self.next;
        self.places.insert(place, item);
        self.next += 1;
        ListSlot(place)
    }

    pub(super) fn remove(&mut self, place: ListSlot) -> Option<T> {
        self.places.remove(&place.0)
    }
}

impl<T> Default for OrderedList<T> {
    fn default() -> Self {
        Self { next: 0, places: OrdMap::new() }
    }
}

impl<T: PartialEq> PartialEq for OrderedList<T> {
    fn eq(&self, other: &Self) -> bool {
        self.places.ptr_eq(&other.places) || self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl<T: fmt::Debug> fmt::Debug for OrderedList<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.places.values()).finish()
    }
}

impl<T: Clone> FromIterator<T> for OrderedList<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut order = Self::default();
        items.into_iter().for_each(|item| {
            order.push(item);
        });
        order
    }
}

impl<T: Serialize> Serialize for OrderedList<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.places.values())
    }
}

impl<'de, T: Deserialize<'de> + Clone> Deserialize<'de> for OrderedList<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ItemsVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de> + Clone> Visitor<'de> for ItemsVisitor<T> {
            type Value = OrderedList<T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<OrderedList<T>, A::Error> {
                let mut order = OrderedList::default();
                while let Some(item) = items.next_element()? {
                    order.push(item);
                }
                Ok(order)
            }
        }

        deserializer.deserialize_seq(ItemsVisitor(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for OrderedList<T> {
    fn schema_name() -> Cow<'static, str> {
        <Vec<T>>::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        <Vec<T>>::schema_id()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        <Vec<T>>::json_schema(generator)
    }
}
