//! `Snapshot`, the content of a universe apart from its time: eight maps and lists on the wire, with indexes.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use imbl::OrdMap;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::body::Star;
use super::check_bounds::{Check, FieldMisfit, Reason};
use super::check_links::{self, Entries, LinkedById};
use super::group::{Group, GroupChild, GroupChildType};
use super::id_name_color::Id;
use super::ordered_list::{ListSlot, OrderedList};
use super::region::{AsteroidBelt, NebulaRegion, ProtoplanetaryDisk, SmallBodyField};
use super::repair::{self, Repair};
use crate::limits;

/// Things of one kind by id.
pub type Regions<T> = OrdMap<Id, Arc<T>>;

/// Cheap to clone. Its links always agree: a body or group with a parent is listed by it exactly once, one without a
/// parent is listed among the roots (a rogue planet need not be), and there are no cycles.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    pub(super) stars: OrdMap<Id, Arc<Star>>,
    pub(super) root_ids: OrderedList<Id>,
    pub(super) groups: OrdMap<Id, Arc<Group>>,
    pub(super) root_group_ids: OrderedList<Id>,
    /// The slot of each child in each group, so that a removed child is found without a scan of all groups.
    pub(super) group_places: OrdMap<(GroupChild, Id), ListSlot>,
    pub(super) belts: Regions<AsteroidBelt>,
    pub(super) small_body_fields: Regions<SmallBodyField>,
    pub(super) protoplanetary_disks: Regions<ProtoplanetaryDisk>,
    pub(super) nebulae: Regions<NebulaRegion>,
    /// Bytes of text in all fields above. It is derived from them, so it is neither stored nor compared.
    pub(super) text_bytes: usize,
}

/// What a snapshot is made of, before its links are looked at. Bodies and the list of roots must be there.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Snapshot")]
struct SnapshotParts {
    /// Bodies of every kind, by id.
    stars: Entries<Star>,
    /// The bodies without a parent, in order. Rogue planets need not be among them.
    root_ids: OrderedList<Id>,
    #[serde(default)]
    groups: Entries<Group>,
    /// The groups without a parent, in order.
    #[serde(default)]
    root_group_ids: OrderedList<Id>,
    #[serde(default)]
    #[schemars(with = "std::collections::BTreeMap<String, AsteroidBelt>")]
    belts: Regions<AsteroidBelt>,
    #[serde(default)]
    #[schemars(with = "std::collections::BTreeMap<String, SmallBodyField>")]
    small_body_fields: Regions<SmallBodyField>,
    #[serde(default)]
    #[schemars(with = "std::collections::BTreeMap<String, ProtoplanetaryDisk>")]
    protoplanetary_disks: Regions<ProtoplanetaryDisk>,
    #[serde(default)]
    #[schemars(with = "std::collections::BTreeMap<String, NebulaRegion>")]
    nebulae: Regions<NebulaRegion>,
}

impl SnapshotParts {
    fn into_snapshot(self) -> Result<Snapshot, FieldMisfit> {
        check_links::check_keys(&self.belts, "belts")?;
        check_links::check_keys(&self.small_body_fields, "smallBodyFields")?;
        check_links::check_keys(&self.protoplanetary_disks, "protoplanetaryDisks")?;
        check_links::check_keys(&self.nebulae, "nebulae")?;
        let stars = check_links::link_bodies(self.stars, &self.root_ids)?;
        let (groups, group_places) = check_links::link_groups(self.groups, &self.root_group_ids)?;
        let mut snapshot = Snapshot {
            stars,
            root_ids: self.root_ids,
            groups,
            root_group_ids: self.root_group_ids,
            group_places,
            belts: self.belts,
            small_body_fields: self.small_body_fields,
            protoplanetary_disks: self.protoplanetary_disks,
            nebulae: self.nebulae,
            text_bytes: 0,
        };
        snapshot.text_bytes = snapshot.count_text_bytes();
        Ok(snapshot)
    }
}

/// The schema of what a client sends as a snapshot.
static SCHEMA: LazyLock<Value> = LazyLock::new(|| schemars::schema_for!(SnapshotParts).to_value());

impl Snapshot {
    /// The sent snapshot with its names cleaned, and the repairs.
    pub(super) fn clean_names(sent: &Value) -> (Cow<'_, Value>, Vec<Repair>) {
        repair::clean_names(sent, &SCHEMA)
    }

    /// The sent snapshot, repaired as far as possible, and the repairs. It is left as it is without `stars` or
    /// `rootIds`, which are required.
    pub(super) fn repair(sent: &Value) -> (Value, Vec<Repair>) {
        if sent.get("stars").is_none() || sent.get("rootIds").is_none() {
            return (sent.clone(), Vec::new());
        }
        repair::repair_state(sent, &SCHEMA)
    }

    /// The first fault in the links of a sent snapshot; `None` if there is none, or if it cannot be parsed.
    pub(super) fn find_broken_link(sent: &Value) -> Option<FieldMisfit> {
        SnapshotParts::deserialize(sent).ok()?.into_snapshot().err()
    }

    /// Counts the bytes of text from scratch.
    pub(super) fn count_text_bytes(&self) -> usize {
        let places: usize = self.group_places.keys().map(|(child, _)| child.id.len()).sum();
        let regions = text_bytes_of(&self.belts)
            + text_bytes_of(&self.small_body_fields)
            + text_bytes_of(&self.protoplanetary_disks)
            + text_bytes_of(&self.nebulae);
        text_bytes_of(&self.stars) + text_bytes_of(&self.groups) + places + regions
    }

    pub fn bodies(&self) -> &OrdMap<Id, Arc<Star>> {
        &self.stars
    }

    pub fn root_ids(&self) -> &OrderedList<Id> {
        &self.root_ids
    }

    pub fn groups(&self) -> &OrdMap<Id, Arc<Group>> {
        &self.groups
    }

    pub fn root_group_ids(&self) -> &OrderedList<Id> {
        &self.root_group_ids
    }

    pub fn belts(&self) -> &Regions<AsteroidBelt> {
        &self.belts
    }

    pub fn small_body_fields(&self) -> &Regions<SmallBodyField> {
        &self.small_body_fields
    }

    pub fn protoplanetary_disks(&self) -> &Regions<ProtoplanetaryDisk> {
        &self.protoplanetary_disks
    }

    pub fn nebulae(&self) -> &Regions<NebulaRegion> {
        &self.nebulae
    }

    /// The ids of the groups that contain a body or a group, in order.
    pub fn groups_of<'a>(&'a self, child: &'a GroupChild) -> impl Iterator<Item = &'a Id> + 'a {
        self.slots_of(child).map(|((_, group_id), _)| group_id)
    }

    pub(super) fn slots_of<'a>(
        &'a self,
        child: &'a GroupChild,
    ) -> impl Iterator<Item = (&'a (GroupChild, Id), &'a ListSlot)> + 'a {
        let first = (child.clone(), Id::from(""));
        self.group_places.range(first..).take_while(move |((held, _), _)| held == child)
    }

    pub fn contains(&self, child: &GroupChild) -> bool {
        match child.kind {
            GroupChildType::System => self.stars.contains_key(&child.id),
            GroupChildType::Group => self.groups.contains_key(&child.id),
        }
    }

    /// Whether a group contains a system or a group with this id.
    pub(super) fn group_contains(&self, group_id: &Id, child_id: &Id) -> bool {
        [GroupChildType::System, GroupChildType::Group].into_iter().any(|kind| {
            let child = GroupChild { id: child_id.clone(), kind };
            self.group_places.contains_key(&(child, group_id.clone()))
        })
    }

    /// The ids of a body and its descendants, parents before children.
    pub(super) fn subtree_ids(&self, id: &Id) -> Vec<Id> {
        let mut ids = Vec::new();
        let mut waiting = vec![id];
        while let Some(id) = waiting.pop() {
            if let Some(star) = self.stars.get(id) {
                ids.push(star.id.clone());
                waiting.extend(star.children.iter().rev());
            }
        }
        ids
    }

    /// The ancestors of a body, from its parent to a root.
    pub fn ancestors<'a>(&'a self, id: &str) -> impl Iterator<Item = &'a Star> + 'a {
        let parent = |star: &'a Star| star.parent_id.as_ref().and_then(|id| self.stars.get(id)).map(AsRef::as_ref);
        std::iter::successors(self.stars.get(id).and_then(move |star| parent(star)), move |star| parent(star))
    }

    /// Whether a body can become the child of another: both exist, and the parent is not the child or one of its
    /// descendants.
    pub(super) fn can_attach(&self, child_id: &Id, parent_id: &Id) -> bool {
        let Some(child) = self.stars.get(child_id) else { return false };
        // A body without children has no descendants, so the walk is skipped.
        let is_above = || !child.children.is_empty() && self.ancestors(parent_id).any(|star| star.id == *child_id);
        self.stars.contains_key(parent_id) && child_id != parent_id && !is_above()
    }

    /// Whether a group is the outer one itself, or nested in it.
    pub(super) fn is_group_within(&self, id: &Id, outer_id: &Id) -> bool {
        let parent = |group: &&Arc<Group>| group.parent_group_id.as_ref().and_then(|id| self.groups.get(id));
        std::iter::successors(self.groups.get(id), parent).any(|group| group.id == *outer_id)
    }

    /// Writes the eight fields, which a state has as well as a snapshot.
    pub(super) fn write_fields<S: SerializeStruct>(&self, fields: &mut S) -> Result<(), S::Error> {
        fields.serialize_field("stars", &self.stars)?;
        self.write_fields_after_stars(fields)
    }

    /// Writes the fields after `stars`.
    pub(super) fn write_fields_after_stars<S: SerializeStruct>(&self, fields: &mut S) -> Result<(), S::Error> {
        fields.serialize_field("rootIds", &self.root_ids)?;
        fields.serialize_field("groups", &self.groups)?;
        fields.serialize_field("rootGroupIds", &self.root_group_ids)?;
        fields.serialize_field("belts", &self.belts)?;
        fields.serialize_field("smallBodyFields", &self.small_body_fields)?;
        fields.serialize_field("protoplanetaryDisks", &self.protoplanetary_disks)?;
        fields.serialize_field("nebulae", &self.nebulae)
    }
}

impl PartialEq for Snapshot {
    fn eq(&self, other: &Self) -> bool {
        // `group_places` and `text_bytes` are derived from the other fields.
        self.stars == other.stars
            && self.root_ids == other.root_ids
            && self.groups == other.groups
            && self.root_group_ids == other.root_group_ids
            && self.belts == other.belts
            && self.small_body_fields == other.small_body_fields
            && self.protoplanetary_disks == other.protoplanetary_disks
            && self.nebulae == other.nebulae
    }
}

impl Snapshot {
    /// Checks bounds and counts, except the ranges of numbers. Links were checked when the snapshot was parsed.
    pub(super) fn check(&self) -> Result<(), FieldMisfit> {
        check_entries(&self.stars, "stars", limits::BODIES_MAX, Check::check_except_ranges)?;
        check_entries(&self.groups, "groups", limits::GROUPS_MAX, Check::check_except_ranges)?;
        check_count(self.group_places.len(), limits::GROUP_PLACES_MAX).map_err(|misfit| misfit.in_field("groups"))?;
        // A group may list a system that does not exist; such an id is checked nowhere else.
        for (child, group_id) in self.group_places.keys() {
            let at = |misfit: FieldMisfit| misfit.in_field("children").in_field(group_id).in_field("groups");
            child.id.check().map_err(at)?;
        }
        check_entries(&self.belts, "belts", limits::REGIONS_MAX, Check::check_except_ranges)?;
        check_entries(&self.small_body_fields, "smallBodyFields", limits::REGIONS_MAX, Check::check_except_ranges)?;
        let disks = &self.protoplanetary_disks;
        check_entries(disks, "protoplanetaryDisks", limits::REGIONS_MAX, Check::check_except_ranges)?;
        check_entries(&self.nebulae, "nebulae", limits::REGIONS_MAX, Check::check_except_ranges)
    }
}

fn check_entries<T>(
    map: &OrdMap<Id, Arc<T>>,
    field: &str,
    count_max: usize,
    check: fn(&T) -> Result<(), FieldMisfit>,
) -> Result<(), FieldMisfit> {
    check_count(map.len(), count_max).map_err(|misfit| misfit.in_field(field))?;
    map.iter().try_for_each(|(id, thing)| check(thing).map_err(|misfit| misfit.in_field(id).in_field(field)))
}

/// Checks the map of a set command: its keys, its size, and the bounds of its entries.
pub(super) fn check_regions<T: LinkedById + Check>(map: &Regions<T>, field: &str) -> Result<(), FieldMisfit> {
    check_links::check_keys(map, field)?;
    check_entries(map, field, limits::REGIONS_MAX, Check::check)
}

/// Bytes of text in a map of things.
pub(super) fn text_bytes_of<T: Check>(map: &OrdMap<Id, Arc<T>>) -> usize {
    map.values().map(|thing| thing.text_bytes()).sum()
}

fn check_count(count: usize, count_max: usize) -> Result<(), FieldMisfit> {
    if count <= count_max {
        return Ok(());
    }
    Err(FieldMisfit::new(Reason::TooMany, format!("has {count} entries, at most {count_max} are allowed")))
}

impl Serialize for Snapshot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Snapshot", 8)?;
        self.write_fields(&mut fields)?;
        fields.end()
    }
}

impl<'de> Deserialize<'de> for Snapshot {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        SnapshotParts::deserialize(deserializer)?
            .into_snapshot()
            .map_err(|misfit| D::Error::custom(check_links::describe_misfit(&misfit)))
    }
}

impl JsonSchema for Snapshot {
    fn schema_name() -> Cow<'static, str> {
        SnapshotParts::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        SnapshotParts::json_schema(generator)
    }
}

/// The nine keys of a universe, before its links are looked at. What is left out is empty.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(rename = "UniverseState")]
pub(super) struct StateParts {
    stars: Entries<Star>,
    root_ids: OrderedList<Id>,
    groups: Entries<Group>,
    root_group_ids: OrderedList<Id>,
    #[schemars(with = "std::collections::BTreeMap<String, AsteroidBelt>")]
    belts: Regions<AsteroidBelt>,
    #[schemars(with = "std::collections::BTreeMap<String, SmallBodyField>")]
    small_body_fields: Regions<SmallBodyField>,
    #[schemars(with = "std::collections::BTreeMap<String, ProtoplanetaryDisk>")]
    protoplanetary_disks: Regions<ProtoplanetaryDisk>,
    #[schemars(with = "std::collections::BTreeMap<String, NebulaRegion>")]
    nebulae: Regions<NebulaRegion>,
    /// Simulated seconds.
    pub(super) time: super::number::Number,
}

impl Default for StateParts {
    fn default() -> Self {
        Self {
            stars: Entries::default(),
            root_ids: OrderedList::default(),
            groups: Entries::default(),
            root_group_ids: OrderedList::default(),
            belts: Regions::new(),
            small_body_fields: Regions::new(),
            protoplanetary_disks: Regions::new(),
            nebulae: Regions::new(),
            time: super::number::Number::default(),
        }
    }
}

impl StateParts {
    /// Appends the map entries of another part.
    pub(super) fn extend(&mut self, other: Self) {
        self.stars.extend(other.stars);
        self.groups.extend(other.groups);
        self.belts.extend(other.belts);
        self.small_body_fields.extend(other.small_body_fields);
        self.protoplanetary_disks.extend(other.protoplanetary_disks);
        self.nebulae.extend(other.nebulae);
    }

    pub(super) fn into_snapshot(self) -> Result<Snapshot, FieldMisfit> {
        let Self {
            stars,
            root_ids,
            groups,
            root_group_ids,
            belts,
            small_body_fields,
            protoplanetary_disks,
            nebulae,
            ..
        } = self;
        let parts = SnapshotParts {
            stars,
            root_ids,
            groups,
            root_group_ids,
            belts,
            small_body_fields,
            protoplanetary_disks,
            nebulae,
        };
        parts.into_snapshot()
    }
}
