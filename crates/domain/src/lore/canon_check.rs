//! Checks the lore for contradictions: deeds after a death, one actor in two places, names that are the same or nearly
//! so, and references to what is gone. A check reads heads alone, and its order is the same every time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;

use super::canon::CanonField;
use super::entity::{Entity, EntityType};
use super::find::fold_name;
use super::fuzzy::{FuzzyQuery, FuzzyScratch, comparable_form, match_score};
use super::state::LoreState;
use super::timeline::TimelineEvent;
use super::timeline_date::DatePrecision;

/// Names from this ratio on are nearly the same.
const NEAR_RATIO: f64 = 0.85;
/// Shorter names are too often alike by chance.
const NEAR_CHARS_MIN: usize = 4;
/// Names that are nearly the same as one other name, at most.
const NEAR_NAMES_OF_ONE: usize = 5;
/// A pair of letters that more names have says too little to compare them all.
const NAMES_PER_PAIR_MAX: usize = 2_000;

/// How bad a contradiction is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CanonSeverity {
    Critical,
    Major,
    Minor,
}

/// What contradicts what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CanonFindingKind {
    ActsAfterDeath,
    TwoPlaces,
    SameName,
    GoneReference,
    NearName,
}

impl CanonFindingKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ActsAfterDeath => "acts_after_death",
            Self::TwoPlaces => "two_places",
            Self::SameName => "same_name",
            Self::GoneReference => "gone_reference",
            Self::NearName => "near_name",
        }
    }
}

/// Something that cannot be true as it is, or is likely an error.
#[derive(Debug, Clone, PartialEq)]
pub struct CanonFinding {
    pub severity: CanonSeverity,
    pub kind: CanonFindingKind,
    /// The entity that it is about comes first.
    pub entity_ids: Vec<u64>,
    /// Events of the timeline.
    pub event_ids: Vec<u64>,
    /// Of names that are nearly the same.
    pub similarity: Option<f64>,
}

impl CanonFinding {
    fn new(severity: CanonSeverity, kind: CanonFindingKind, entity_ids: Vec<u64>, event_ids: Vec<u64>) -> Self {
        Self { severity, kind, entity_ids, event_ids, similarity: None }
    }

    /// Names the finding, the same as long as it is about the same things.
    pub fn id(&self) -> String {
        let ids = self.entity_ids.iter().map(ToString::to_string);
        let events = self.event_ids.iter().map(|id| format!("t{id}"));
        [self.kind.as_str().to_owned()].into_iter().chain(ids).chain(events).collect::<Vec<_>>().join(":")
    }
}

impl LoreState {
    /// Everything that a check finds, the worst first, or only what is about one entity. A check of a whole campaign may
    /// be given up; then its answer is incomplete.
    pub fn check_canon(&self, entity_id: Option<u64>, is_given_up: &dyn Fn() -> bool) -> Vec<CanonFinding> {
        let mut findings = Vec::new();
        self.find_acts_after_death(&mut findings);
        self.find_two_places(&mut findings);
        self.find_same_names(&mut findings);
        self.find_gone_references(&mut findings);
        match entity_id {
            Some(entity_id) => self.find_names_near_one(entity_id, &mut findings),
            None => self.find_near_names(is_given_up, &mut findings),
        }
        if let Some(entity_id) = entity_id {
            findings.retain(|finding| finding.entity_ids.contains(&entity_id));
        }
        findings.sort_by(|one, other| {
            let key = |finding: &CanonFinding| (finding.severity, finding.kind);
            key(one)
                .cmp(&key(other))
                .then_with(|| one.entity_ids.cmp(&other.entity_ids))
                .then_with(|| one.event_ids.cmp(&other.event_ids))
        });
        findings
    }

    /// The entities that are not superseded, by their ids: those of lists, counts and searches.
    pub fn current_entities(&self) -> impl Iterator<Item = &Arc<Entity>> {
        self.entities().filter(|entity| !entity.is_superseded())
    }

    /// Events after the last day on which somebody may have died, of which even the first possible day is later.
    fn find_acts_after_death(&self, findings: &mut Vec<CanonFinding>) {
        for (entity_id, died) in &self.canon.deaths {
            for event in self.timeline.of_entity(*entity_id) {
                if event.span().is_some_and(|span| span.first > died.span().last) {
                    let (entities, events) = (vec![*entity_id], vec![event.event_id]);
                    let kind = CanonFindingKind::ActsAfterDeath;
                    findings.push(CanonFinding::new(CanonSeverity::Critical, kind, entities, events));
                }
            }
        }
    }

    /// Events of one certain day that name the same actor, and places that do not lie in each other.
    fn find_two_places(&self, findings: &mut Vec<CanonFinding>) {
        let is_day = |event: &&Arc<TimelineEvent>| {
            let is_exact = matches!(event.precision, DatePrecision::Exact | DatePrecision::Day);
            is_exact && event.sort.is_some_and(|sort| sort.day.is_some())
        };
        let days: Vec<&Arc<TimelineEvent>> = self.timeline.in_order().filter(is_day).collect();
        for day in days.chunk_by(|one, other| one.order_key() == other.order_key()).filter(|day| day.len() > 1) {
            let mut seen: BTreeMap<u64, &TimelineEvent> = BTreeMap::new();
            for event in day {
                if self.entities_of_type(event, &[EntityType::Location]).is_empty() {
                    continue;
                }
                for actor in self.entities_of_type(event, &[EntityType::Character, EntityType::Creature]) {
                    match seen.get(&actor) {
                        Some(other) if !self.is_same_place(other, event) => {
                            let events = vec![other.event_id, event.event_id];
                            let kind = CanonFindingKind::TwoPlaces;
                            findings.push(CanonFinding::new(CanonSeverity::Critical, kind, vec![actor], events));
                        }
                        Some(_) => {}
                        None => drop(seen.insert(actor, event)),
                    }
                }
            }
        }
    }

    fn entities_of_type(&self, event: &TimelineEvent, types: &[EntityType]) -> Vec<u64> {
        let is_of_type = |id: &&u64| self.live_entity(**id).is_some_and(|entity| types.contains(&entity.entity_type));
        event.entity_ids.iter().filter(is_of_type).copied().collect()
    }

    /// Whether a place of one event is a place of the other, or lies in one.
    fn is_same_place(&self, one: &TimelineEvent, other: &TimelineEvent) -> bool {
        let places = |event| self.entities_of_type(event, &[EntityType::Location]);
        let (ones, others) = (places(one), places(other));
        ones.iter().any(|place| others.iter().any(|other| self.lies_in(*place, *other) || self.lies_in(*other, *place)))
    }

    fn lies_in(&self, entity_id: u64, place: u64) -> bool {
        let mut above = Some(entity_id);
        for _ in 0..=self.entity_total {
            match above {
                None => return false,
                Some(id) if id == place => return true,
                Some(id) => above = self.entity(id).and_then(|entity| entity.details().parent),
            }
        }
        false
    }

    /// Entities of one type with the same name, or one with the other's alias. Each is compared with the first.
    fn find_same_names(&self, findings: &mut Vec<CanonFinding>) {
        let mut names: Vec<(EntityType, String, u64, bool)> = Vec::new();
        for entity in self.current_entities() {
            names.push((entity.entity_type, fold_name(&entity.name), entity.entity_id, false));
            let aliases = entity.details().aliases.iter();
            names.extend(aliases.map(|alias| (entity.entity_type, fold_name(alias), entity.entity_id, true)));
        }
        names.sort();
        let mut pairs = BTreeSet::new();
        for group in names.chunk_by(|one, other| (one.0, &one.1) == (other.0, &other.1)) {
            let Some(first) = group.iter().find(|(_, _, _, is_alias)| !is_alias) else { continue };
            for (_, _, entity_id, _) in group.iter().filter(|(_, _, entity_id, _)| *entity_id != first.2) {
                pairs.insert((first.2.min(*entity_id), first.2.max(*entity_id)));
            }
        }
        for (one, other) in pairs {
            let is_authoritative = |entity_id| {
                self.entity(entity_id).is_some_and(|entity| entity.canon_mark().fields.contains(CanonField::Name))
            };
            let severity = if is_authoritative(one) || is_authoritative(other) {
                CanonSeverity::Critical
            } else {
                CanonSeverity::Major
            };
            findings.push(CanonFinding::new(severity, CanonFindingKind::SameName, vec![one, other], Vec::new()));
        }
    }

    /// Texts, parents and events that name an entity that is archived or was never there.
    fn find_gone_references(&self, findings: &mut Vec<CanonFinding>) {
        let is_gone = |entity_id: u64| self.live_entity(entity_id).is_none();
        for entity in self.current_entities() {
            let mentioned = entity.mentions().map(|(mentioned, _)| mentioned);
            let named: BTreeSet<u64> = mentioned.chain(entity.details().parent).filter(|id| is_gone(*id)).collect();
            findings.extend(named.into_iter().map(|gone| {
                let entities = vec![entity.entity_id, gone];
                CanonFinding::new(CanonSeverity::Minor, CanonFindingKind::GoneReference, entities, Vec::new())
            }));
        }
        for event in self.timeline.in_order() {
            let gone: Vec<u64> = event.entity_ids.iter().copied().filter(|id| is_gone(*id)).collect();
            findings.extend(gone.into_iter().map(|gone| {
                let (entities, events) = (vec![gone], vec![event.event_id]);
                CanonFinding::new(CanonSeverity::Major, CanonFindingKind::GoneReference, entities, events)
            }));
        }
    }

    fn find_names_near_one(&self, entity_id: u64, findings: &mut Vec<CanonFinding>) {
        let Some(entity) = self.live_entity(entity_id) else { return };
        let (name, mut scratch) = (ComparedName::new(entity), FuzzyScratch::default());
        let query = FuzzyQuery::new(&entity.name);
        for other in self.current_entities().filter(|other| other.entity_type == entity.entity_type) {
            let other = ComparedName::new(other);
            if let Some(similarity) = name.near_similarity(&query, &other, &mut scratch) {
                findings.push(near_finding(entity_id, other.entity_id, similarity));
            }
        }
    }

    fn find_near_names(&self, is_given_up: &dyn Fn() -> bool, findings: &mut Vec<CanonFinding>) {
        let mut names: Vec<ComparedName> = self.current_entities().map(|entity| ComparedName::new(entity)).collect();
        names.retain(|name| name.characters >= NEAR_CHARS_MIN);
        names.sort_by(|one, other| {
            (one.entity_type, &one.form, one.entity_id).cmp(&(other.entity_type, &other.form, other.entity_id))
        });
        // Entities with the same name are reported as `same_name`. Each name is compared once with the names near it.
        names.dedup_by(|one, other| (one.entity_type, &one.form) == (other.entity_type, &other.form));
        for of_type in names.chunk_by(|one, other| one.entity_type == other.entity_type) {
            find_near_pairs(of_type, is_given_up, findings);
        }
    }
}

fn near_finding(one: u64, other: u64, similarity: f64) -> CanonFinding {
    let entities = vec![one.min(other), one.max(other)];
    let finding = CanonFinding::new(CanonSeverity::Minor, CanonFindingKind::NearName, entities, Vec::new());
    CanonFinding { similarity: Some(match_score(similarity)), ..finding }
}

/// A name as it is compared.
struct ComparedName {
    entity_type: EntityType,
    entity_id: u64,
    form: String,
    characters: usize,
    /// Names whose digits differ, such as Guard 1 and Guard 2, are alike on purpose and are not compared.
    digits: String,
}

impl ComparedName {
    fn new(entity: &Entity) -> Self {
        let form = comparable_form(&entity.name);
        let (characters, digits) = (form.chars().count(), form.chars().filter(char::is_ascii_digit).collect());
        Self { entity_type: entity.entity_type, entity_id: entity.entity_id, form, characters, digits }
    }

    /// The similarity of two names that are nearly the same.
    fn near_similarity(&self, query: &FuzzyQuery, other: &Self, scratch: &mut FuzzyScratch) -> Option<f64> {
        let is_comparable = self.characters.min(other.characters) >= NEAR_CHARS_MIN
            && self.form != other.form
            && self.digits == other.digits;
        is_comparable.then(|| query.similarity(&other.form, scratch))?.filter(|ratio| *ratio >= NEAR_RATIO)
    }

    /// Pairs of neighbouring characters, each once.
    fn pairs(&self) -> BTreeSet<u64> {
        let characters = self.form.chars().zip(self.form.chars().skip(1));
        characters.map(|(one, next)| (u64::from(u32::from(one)) << 32) | u64::from(u32::from(next))).collect()
    }
}

/// Compares names that share a rare pair of characters. Two names that are nearly the same share about half of their
/// pairs, so that one of the rarer half of each is among them.
fn find_near_pairs(names: &[ComparedName], is_given_up: &dyn Fn() -> bool, findings: &mut Vec<CanonFinding>) {
    let pairs: Vec<BTreeSet<u64>> = names.iter().map(ComparedName::pairs).collect();
    let mut uses: BTreeMap<u64, usize> = BTreeMap::new();
    for pair in pairs.iter().flatten() {
        *uses.entry(*pair).or_default() += 1;
    }
    let mut names_of_pair: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    let mut scratch = FuzzyScratch::default();
    for (place, name) in names.iter().enumerate() {
        if is_given_up() {
            return;
        }
        let mut rarest: Vec<u64> = pairs[place].iter().copied().collect();
        rarest.sort_by_key(|pair| (uses.get(pair).copied(), *pair));
        // A name of n characters shares at least 0.478 n - 1 of its pairs with one that is nearly the same.
        let shared = (name.characters * 478 / 1_000).saturating_sub(1);
        rarest.truncate((rarest.len() + 1).saturating_sub(shared.min(rarest.len())));
        let mut candidates = BTreeSet::new();
        for pair in rarest {
            let others = names_of_pair.entry(pair).or_default();
            if others.len() < NAMES_PER_PAIR_MAX {
                candidates.extend(others.iter().copied());
                others.push(place);
            }
        }
        if candidates.is_empty() {
            continue;
        }
        let query = FuzzyQuery::new(&name.form);
        let is_as_long = |other: &ComparedName| {
            let (short, long) = (name.characters.min(other.characters), name.characters.max(other.characters));
            long * 1_000 <= short * 1_353
        };
        let near = candidates
            .into_iter()
            .map(|other| &names[other])
            .filter(|other| is_as_long(other))
            .filter_map(|other| Some((other.entity_id, name.near_similarity(&query, other, &mut scratch)?)));
        for (other, similarity) in near.take(NEAR_NAMES_OF_ONE) {
            findings.push(near_finding(name.entity_id, other, similarity));
        }
    }
}
