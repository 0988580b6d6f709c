//! Checks the links of a parsed state: parents and children agree, the lists of roots are complete, and there are no
//! cycles.
//!
//! Stored snapshots are checked too, so it has to be fast: one pass over sorted entries, with a hash index of their
//! ids.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use imbl::OrdMap;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{DeserializeSeed, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::body::Star;
use super::check_bounds::{FieldMisfit, Reason, truncate_for_message, truncate_to_line};
use super::group::{Group, GroupChild, GroupChildType};
use super::id_index::IdIndex;
use super::id_name_color::Id;
use super::ordered_list::{ListSlot, OrderedList};
use super::region::{AsteroidBelt, NebulaRegion, ProtoplanetaryDisk, SmallBodyField};

/// A parsed map that is not checked yet: ids may repeat, and a key may differ from the id of its entry.
pub(super) struct Entries<T> {
    things: Vec<Arc<T>>,
    /// The id of each thing, so that a comparison need not follow a pointer.
    ids: Vec<Id>,
    /// The first key that differs from the id of its entry, with that id.
    wrong: Option<(Id, Id)>,
}

impl<T> Default for Entries<T> {
    fn default() -> Self {
        Self { things: Vec::new(), ids: Vec::new(), wrong: None }
    }
}

impl<T> Entries<T> {
    /// Appends the entries of the next part of the same map.
    pub(super) fn extend(&mut self, mut other: Self) {
        self.things.append(&mut other.things);
        self.ids.append(&mut other.ids);
        self.wrong = self.wrong.take().or(other.wrong);
    }
}

/// An entry of a map whose key is the entry's id.
pub(super) trait LinkedById {
    fn id(&self) -> &Id;
}

macro_rules! impl_linked_by_id {
    ($($name:ident),+) => {
        $(impl LinkedById for $name {
            fn id(&self) -> &Id {
                &self.id
            }
        })+
    };
}

impl_linked_by_id!(Star, Group, AsteroidBelt, SmallBodyField, ProtoplanetaryDisk, NebulaRegion);

/// Deserialises a key, borrowed if possible: it is only compared.
struct BorrowedKey;

impl<'de> DeserializeSeed<'de> for BorrowedKey {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Cow<'de, str>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for BorrowedKey {
    type Value = Cow<'de, str>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(key))
    }

    fn visit_str<E>(self, key: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(key.to_owned()))
    }

    fn visit_string<E>(self, key: String) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(key))
    }
}

impl<'de, T: Deserialize<'de> + LinkedById> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de> + LinkedById> Visitor<'de> for Pairs<T> {
            type Value = Entries<T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<T>, A::Error> {
                let mut entries = Entries::default();
                while let Some(key) = map.next_key_seed(BorrowedKey)? {
                    let thing: T = map.next_value()?;
                    if **thing.id() != *key && entries.wrong.is_none() {
                        entries.wrong = Some((Id::from(&*key), thing.id().clone()));
                    }
                    entries.ids.push(thing.id().clone());
                    entries.things.push(Arc::new(thing));
                }
                Ok(entries)
            }
        }

        deserializer.deserialize_map(Pairs(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for Entries<T> {
    fn schema_name() -> Cow<'static, str> {
        <BTreeMap<String, T>>::schema_name()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        <BTreeMap<String, T>>::json_schema(generator)
    }
}

/// A misfit as one sentence, with its JSON pointer.
pub(super) fn describe_misfit(misfit: &FieldMisfit) -> String {
    format!("{} {}", truncate_to_line(&misfit.pointer), misfit.problem)
}

/// Checks that every key is the id of its entry.
pub(super) fn check_keys<T: LinkedById>(map: &OrdMap<Id, Arc<T>>, field: &str) -> Result<(), FieldMisfit> {
    match map.iter().find(|(key, thing)| *key != thing.id()) {
        Some((key, thing)) => Err(wrong_key(key, thing.id()).in_field(field)),
        None => Ok(()),
    }
}

fn wrong_key(key: &Id, id: &Id) -> FieldMisfit {
    FieldMisfit::new(Reason::WrongKey, format!("is {:?}, and stands under another key", truncate_for_message(id)))
        .in_field("id")
        .in_field(key)
}

fn broken_links(problem: String) -> FieldMisfit {
    FieldMisfit::new(Reason::BrokenLinks, problem)
}

/// The parent that an entry names.
#[derive(Clone, Copy, PartialEq)]
enum NamedParent {
    Nobody,
    Somebody(usize),
    /// The named parent does not exist.
    Unknown,
}

/// The links under comparison: entries sorted by id, the parent that each names, and its slot in a list.
struct Tree {
    field: &'static str,
    parent_field: &'static str,
    ids: Vec<Id>,
    index: IdIndex,
    above: Vec<NamedParent>,
    places: Vec<Option<ListSlot>>,
}

impl Tree {
    fn new<'a>(
        field: &'static str,
        parent_field: &'static str,
        ids: Vec<Id>,
        parents: impl Iterator<Item = Option<&'a Id>>,
    ) -> Self {
        let index = IdIndex::new(&ids);
        let mut last: Option<(&Id, NamedParent)> = None;
        let above = parents.map(|parent| match (parent, last) {
            (None, _) => NamedParent::Nobody,
            // Siblings are often adjacent, so the last parent is remembered.
            (Some(parent), Some((id, above))) if parent == id => above,
            (Some(parent), _) => {
                let above = index.find(&ids, parent).map_or(NamedParent::Unknown, NamedParent::Somebody);
                last = Some((parent, above));
                above
            }
        });
        let (above, places) = (above.collect(), vec![None; ids.len()]);
        Self { field, parent_field, ids, index, above, places }
    }

    /// Records that a parent, or the list of roots, lists an id. The entry must name the same parent, and be listed
    /// once.
    fn record_listing(&mut self, lister: NamedParent, place: u64, id: &Id) -> Result<(), FieldMisfit> {
        let Some(index) = self.index.find(&self.ids, id) else {
            return Err(self.locate_in_list(
                lister,
                broken_links(format!("names {:?}, which is not there", truncate_for_message(id))),
            ));
        };
        if self.above[index] != lister {
            let problem = format!("names {:?}, whose {} says otherwise", truncate_for_message(id), self.parent_field);
            return Err(self.locate_in_list(lister, broken_links(problem)));
        }
        if self.places[index].replace(ListSlot(place)).is_some() {
            let problem = format!("names {:?} twice", truncate_for_message(id));
            return Err(self.locate_in_list(lister, FieldMisfit::new(Reason::ListedTwice, problem)));
        }
        Ok(())
    }

    fn locate_in_list(&self, lister: NamedParent, misfit: FieldMisfit) -> FieldMisfit {
        match lister {
            NamedParent::Somebody(lister) => {
                misfit.in_field("children").in_field(&self.ids[lister]).in_field(self.field)
            }
            NamedParent::Nobody | NamedParent::Unknown => {
                misfit.in_field(if self.field == "stars" { "rootIds" } else { "rootGroupIds" })
            }
        }
    }

    /// Checks that every entry is listed, unless it is excused, and that there are no cycles.
    fn check_listed_and_acyclic<'a>(
        &self,
        parent: impl Fn(usize) -> Option<&'a Id>,
        is_excused: impl Fn(usize) -> bool,
    ) -> Result<(), FieldMisfit> {
        let at = |misfit: FieldMisfit, index: usize| {
            misfit.in_field(self.parent_field).in_field(&self.ids[index]).in_field(self.field)
        };
        for index in (0..self.ids.len()).filter(|index| self.places[*index].is_none()) {
            let problem = match self.above[index] {
                NamedParent::Nobody if is_excused(index) => continue,
                NamedParent::Nobody => "is null, and the list of roots does not have it".to_owned(),
                NamedParent::Somebody(above) => {
                    format!("is {:?}, which does not list it as a child", truncate_for_message(&self.ids[above]))
                }
                NamedParent::Unknown => {
                    format!(
                        "is {:?}, which is not there",
                        parent(index).map_or_else(String::new, |id| truncate_for_message(id))
                    )
                }
            };
            return Err(at(broken_links(problem), index));
        }
        match self.find_cycle() {
            Some(index) => Err(at(FieldMisfit::new(Reason::Cycle, "leads in a ring, back to where it began"), index)),
            None => Ok(()),
        }
    }

    /// An entry on a cycle, if there is one. Every entry is visited once.
    fn find_cycle(&self) -> Option<usize> {
        const FREE: u32 = u32::MAX;
        let mut seen_by: Vec<u32> = vec![FREE; self.ids.len()];
        for (walk, start) in (0_u32..).zip(0..self.ids.len()) {
            let mut next = NamedParent::Somebody(start);
            while let NamedParent::Somebody(index) = next {
                if seen_by[index] == walk {
                    return Some(index);
                }
                if seen_by[index] != FREE {
                    break;
                }
                seen_by[index] = walk;
                next = self.above[index];
            }
        }
        None
    }
}

/// Sorts entries by id, and refuses wrong keys and repeated ids. Returns the ids and the entries.
fn sort_entries<T: LinkedById>(entries: Entries<T>, field: &str) -> Result<(Vec<Id>, Vec<Arc<T>>), FieldMisfit> {
    let Entries { mut things, mut ids, wrong } = entries;
    if let Some((key, id)) = wrong {
        return Err(wrong_key(&key, &id).in_field(field));
    }
    if ids.is_sorted_by(|one, other| one < other) {
        return Ok((ids, things));
    }
    things.sort_by(|one, other| one.id().cmp(other.id()));
    ids.sort();
    match ids.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(FieldMisfit::new(Reason::ListedTwice, "is there twice").in_field(&pair[0]).in_field(field)),
        None => Ok((ids, things)),
    }
}

/// Checks the links of bodies with each other and with the list of roots, where rogue planets may be missing.
pub(super) fn link_bodies(
    entries: Entries<Star>,
    root_ids: &OrderedList<Id>,
) -> Result<OrdMap<Id, Arc<Star>>, FieldMisfit> {
    let (ids, mut stars) = sort_entries(entries, "stars")?;
    let mut listers = Vec::new();
    let parents = stars.iter().enumerate().map(|(index, star)| {
        // Most bodies have no children, and a second pass over all of them would take as long as the rest of the check.
        if !star.children.is_empty() {
            listers.push(index);
        }
        star.parent_id.as_ref()
    });
    let mut tree = Tree::new("stars", "parentId", ids, parents);
    for index in listers {
        for (place, child) in stars[index].children.iter_after(None) {
            tree.record_listing(NamedParent::Somebody(index), place, child)?;
        }
    }
    for (place, root) in root_ids.iter_after(None) {
        tree.record_listing(NamedParent::Nobody, place, root)?;
    }
    tree.check_listed_and_acyclic(|index| stars[index].parent_id.as_ref(), |index| stars[index].is_rogue())?;
    for (star, place) in stars.iter_mut().zip(tree.places) {
        Arc::make_mut(star).place = place;
    }
    Ok(tree.ids.into_iter().zip(stars).collect())
}

/// Groups by id, and the slot of each child in each group.
type LinkedGroups = (OrdMap<Id, Arc<Group>>, OrdMap<(GroupChild, Id), ListSlot>);

/// Checks the links of groups with each other and with the list of roots. A group may list a system that does not
/// exist: the original leaves removed systems in groups.
pub(super) fn link_groups(entries: Entries<Group>, root_ids: &OrderedList<Id>) -> Result<LinkedGroups, FieldMisfit> {
    let (ids, mut groups) = sort_entries(entries, "groups")?;
    let mut group_places = OrdMap::new();
    let parents = groups.iter().map(|group| group.parent_group_id.as_ref());
    let mut tree = Tree::new("groups", "parentGroupId", ids, parents);
    for (index, group) in groups.iter().enumerate() {
        for (place, child) in group.children.iter_after(None) {
            if child.kind == GroupChildType::Group {
                tree.record_listing(NamedParent::Somebody(index), place, &child.id)?;
            }
            if group_places.insert((child.clone(), group.id.clone()), ListSlot(place)).is_some() {
                let twice =
                    FieldMisfit::new(Reason::ListedTwice, format!("names {:?} twice", truncate_for_message(&child.id)));
                return Err(twice.in_field("children").in_field(&group.id).in_field("groups"));
            }
        }
    }
    for (place, root) in root_ids.iter_after(None) {
        tree.record_listing(NamedParent::Nobody, place, root)?;
    }
    tree.check_listed_and_acyclic(|index| groups[index].parent_group_id.as_ref(), |_| false)?;
    for (group, (place, above)) in groups.iter_mut().zip(tree.places.into_iter().zip(tree.above)) {
        Arc::make_mut(group).place = place.filter(|_| above == NamedParent::Nobody);
    }
    Ok((tree.ids.into_iter().zip(groups).collect(), group_places))
}
