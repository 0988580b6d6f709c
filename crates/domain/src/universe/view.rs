//! Views of a universe: summaries and parts, for reading without the whole state.

use std::collections::BTreeMap;
use std::ops::Bound;

use schemars::JsonSchema;
use serde::Serialize;

use super::body::{BodyType, Star};
use super::body_parts::Position;
use super::group::{Group, GroupChild, GroupChildType};
use super::id_name_color::{Id, Name};
use super::motion::{local_position, period};
use super::number::Number;
use super::snapshot::Snapshot;
use super::state::UniverseState;
use super::units::days;

/// How many roots a summary names.
const SUMMARY_ROOTS: usize = 20;

/// What a body counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum BodyKind {
    Star,
    Planet,
    Moon,
    Asteroid,
    Comet,
    LagrangePoint,
    BlackHole,
    Unspecified,
}

impl Star {
    /// The kind by its `body_type`. Without one, a rogue planet counts as a planet and a root as a star, as the
    /// original draws them.
    pub fn kind(&self) -> BodyKind {
        match self.body_type {
            Some(BodyType::Star) => BodyKind::Star,
            Some(BodyType::Planet) => BodyKind::Planet,
            Some(BodyType::Moon) => BodyKind::Moon,
            Some(BodyType::Asteroid) => BodyKind::Asteroid,
            Some(BodyType::Comet) => BodyKind::Comet,
            Some(BodyType::LagrangePoint) => BodyKind::LagrangePoint,
            Some(BodyType::BlackHole) => BodyKind::BlackHole,
            None if self.is_rogue() => BodyKind::Planet,
            None if self.parent_id.is_none() => BodyKind::Star,
            None => BodyKind::Unspecified,
        }
    }
}

/// A related body or group, in a line.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Relative {
    pub id: Id,
    pub name: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<BodyKind>,
}

impl From<&Star> for Relative {
    fn from(star: &Star) -> Self {
        Self { id: star.id.clone(), name: star.name.clone(), kind: Some(star.kind()) }
    }
}

impl From<&Group> for Relative {
    fn from(group: &Group) -> Self {
        Self { id: group.id.clone(), name: group.name.clone(), kind: None }
    }
}

/// A universe in a page.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// In simulated seconds.
    pub time: Number,
    pub time_days: Number,
    pub body_count: usize,
    pub bodies_by_kind: BTreeMap<BodyKind, usize>,
    pub rogue_planet_count: usize,
    pub ringed_count: usize,
    pub root_count: usize,
    /// The first of the roots.
    pub roots: Vec<Relative>,
    /// How many bodies stand above each other at most, both ends included.
    pub deepest_nesting: usize,
    pub total_mass: Number,
    pub group_count: usize,
    pub root_group_count: usize,
    pub belt_count: usize,
    pub small_body_field_count: usize,
    pub protoplanetary_disk_count: usize,
    pub nebula_count: usize,
}

/// One body and those around it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BodyView {
    /// Its children are those of this page.
    pub body: Star,
    pub kind: BodyKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Relative>,
    /// How many bodies are above it.
    pub depth: usize,
    pub child_count: usize,
    /// A page of them, in their order.
    pub children: Vec<Relative>,
    /// The last child of this page, where more follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_child_after: Option<Id>,
    pub group_count: usize,
    /// The first of the groups that hold it, as many as children at most.
    pub groups: Vec<Relative>,
    /// The time of the positions.
    pub time: Number,
    pub time_days: Number,
    /// Seen from its parent.
    pub position: Position,
    pub world_position: Position,
    /// Simulated seconds until it is there again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<Number>,
    /// The days of one turn, as follows from orbitalSpeed; negative for one that goes backwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orbital_period_days: Option<Number>,
}

/// Where a body is.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Placed")]
pub struct BodyPosition {
    pub id: Id,
    pub name: Name,
    pub kind: BodyKind,
    pub position: Position,
}

impl UniverseState {
    pub fn summary(&self) -> Summary {
        let snapshot = &self.snapshot;
        let mut bodies_by_kind = BTreeMap::new();
        let (mut total_mass, mut rogue_planet_count, mut ringed_count) = (0.0_f64, 0, 0);
        for star in snapshot.stars.values() {
            *bodies_by_kind.entry(star.kind()).or_default() += 1;
            // Clamp at every step: infinity minus infinity would be NaN.
            total_mass = (total_mass + star.mass.0).clamp(f64::MIN, f64::MAX);
            rogue_planet_count += usize::from(star.is_rogue());
            ringed_count += usize::from(star.ring.is_some());
        }
        let roots = snapshot.root_ids.iter().filter_map(|id| snapshot.stars.get(id));
        Summary {
            time: self.time,
            time_days: days(self.time.0),
            body_count: snapshot.stars.len(),
            bodies_by_kind,
            rogue_planet_count,
            ringed_count,
            root_count: snapshot.root_ids.len(),
            roots: roots.take(SUMMARY_ROOTS).map(|star| Relative::from(star.as_ref())).collect(),
            deepest_nesting: snapshot.deepest_nesting(),
            total_mass: Number(total_mass),
            group_count: snapshot.groups.len(),
            root_group_count: snapshot.root_group_ids.len(),
            belt_count: snapshot.belts.len(),
            small_body_field_count: snapshot.small_body_fields.len(),
            protoplanetary_disk_count: snapshot.protoplanetary_disks.len(),
            nebula_count: snapshot.nebulae.len(),
        }
    }

    /// One body at `time`, or now, with a page of its children: those after the child `after`, or the first.
    pub fn body_view(&self, id: &str, time: Option<f64>, after: Option<&str>, limit: usize) -> Option<BodyView> {
        let snapshot = &self.snapshot;
        let star = snapshot.stars.get(id)?;
        let time = time.unwrap_or(self.time.0);
        let is_child = |child: &&Star| child.parent_id.as_deref() == Some(id);
        let after = after.and_then(|after| snapshot.body(after)).filter(is_child).and_then(|child| child.place);
        let mut page: Vec<&Id> = star
            .children
            .iter_after(after.map(|place| place.0))
            .map(|(_, id)| id)
            .take(limit.saturating_add(1))
            .collect();
        let is_more = page.len() > limit;
        page.truncate(limit);
        let child = GroupChild { id: star.id.clone(), kind: GroupChildType::System };
        let groups = snapshot.groups_of(&child).take(limit).filter_map(|id| snapshot.group(id));
        Some(BodyView {
            body: Star { children: page.iter().map(|id| (*id).clone()).collect(), ..star.with_clamped_numbers() },
            kind: star.kind(),
            parent: star.parent_id.as_ref().and_then(|id| snapshot.body(id)).map(Relative::from),
            depth: snapshot.ancestors(id).count(),
            child_count: star.children.len(),
            children: page.iter().filter_map(|id| snapshot.body(id)).map(Relative::from).collect(),
            next_child_after: page.last().filter(|_| is_more).map(|id| (*id).clone()),
            group_count: snapshot.groups_of(&child).count(),
            groups: groups.map(Relative::from).collect(),
            time: Number(time),
            time_days: days(time),
            position: local_position(star, time),
            world_position: snapshot.world_position(id, time).unwrap_or_default(),
            period: period(star).map(Number),
            orbital_period_days: star.orbital_period_days(),
        })
    }
}

impl Snapshot {
    pub fn body(&self, id: &str) -> Option<&Star> {
        self.stars.get(id).map(AsRef::as_ref)
    }

    pub fn group(&self, id: &str) -> Option<&Group> {
        self.groups.get(id).map(AsRef::as_ref)
    }

    /// The bodies after an id, in order of ids. The id need not exist any more.
    pub fn bodies_after(&self, after: Option<&str>) -> impl Iterator<Item = &Star> + '_ {
        self.stars.range::<_, str>(range_after(after)).map(|(_, star)| star.as_ref())
    }

    /// The groups after an id, in order of ids.
    pub fn groups_after(&self, after: Option<&str>) -> impl Iterator<Item = &Group> + '_ {
        self.groups.range::<_, str>(range_after(after)).map(|(_, group)| group.as_ref())
    }

    /// The world positions of the bodies after an id, in order of ids.
    pub fn world_positions_after(&self, after: Option<&str>, time: f64) -> impl Iterator<Item = BodyPosition> + '_ {
        self.world_positions_of(self.bodies_after(after), time)
    }

    /// The world positions of some bodies. The position of a shared ancestor is computed once.
    pub fn world_positions_of<'a>(
        &'a self,
        stars: impl Iterator<Item = &'a Star> + 'a,
        time: f64,
    ) -> impl Iterator<Item = BodyPosition> + 'a {
        let mut known = BTreeMap::new();
        stars.map(move |star| BodyPosition {
            id: star.id.clone(),
            name: star.name.clone(),
            kind: star.kind(),
            position: self.world_position_cached(star, time, &mut known),
        })
    }

    fn deepest_nesting(&self) -> usize {
        let mut deepest = 0;
        let roots = self.stars.values().filter(|star| star.parent_id.is_none());
        let mut waiting: Vec<(&Star, usize)> = roots.map(|star| (star.as_ref(), 1)).collect();
        while let Some((star, depth)) = waiting.pop() {
            deepest = deepest.max(depth);
            waiting.extend(star.children.iter().filter_map(|id| self.body(id)).map(|child| (child, depth + 1)));
        }
        deepest
    }
}

fn range_after(after: Option<&str>) -> (Bound<&str>, Bound<&str>) {
    (after.map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded)
}
