//! `ChunkIndex`: what a search needs of the entities of one chunk, in contiguous memory.
//!
//! A slot is an entity's place in its chunk. Names and aliases lie folded in one text, each ended by a line feed, which
//! no name contains.

use std::sync::{Arc, OnceLock};

use jiff::Timestamp;
use memchr::memmem::Finder;

use super::entity::{Entity, EntityType};
use super::find::MatchRank;
use super::fuzzy::{FuzzyQuery, FuzzyScratch, PackedBag, comparable_form};
use super::slot_set::SlotSet;
use crate::text_fold::fold_text;

#[derive(Debug)]
pub(super) struct ChunkIndex {
    /// Entities that are not archived.
    pub(super) live: SlotSet,
    /// Those of them that are not private.
    pub(super) public: SlotSet,
    /// The latest change of any of them.
    pub(super) newest_update: Timestamp,
    types: Box<[EntityType]>,
    /// Pairs of a tag and a slot, ordered by tag; tags and slots lie apart.
    tag_ids: Box<[u32]>,
    tag_slots: Box<[u8]>,
    /// Folded subtypes in order.
    subtypes: Box<[(Box<str>, SlotSet)]>,
    names: Box<str>,
    entries: Box<[NameEntry]>,
    /// Names whose form for fuzzy search is not the folded one, by their entry.
    unfolded: Box<[(usize, Box<str>)]>,
    fuzzy: OnceLock<FuzzyIndex>,
}

/// A name or an alias in the text of the names.
#[derive(Debug)]
struct NameEntry {
    /// Where it ends.
    end: u32,
    slot: u8,
    is_alias: bool,
}

/// What fuzzy search needs of each name, built at the first one.
#[derive(Debug)]
struct FuzzyIndex {
    lengths: Box<[u16]>,
    bags: Box<[PackedBag]>,
}

impl ChunkIndex {
    pub(super) fn new(entities: &[Arc<Entity>]) -> Self {
        let slots = || (0..=u8::MAX).zip(entities);
        let live: SlotSet = slots()
            .filter(|(_, entity)| !entity.is_archived() && !entity.is_superseded())
            .map(|(slot, _)| slot)
            .collect();
        let public = slots().filter(|(_, entity)| !entity.is_private).map(|(slot, _)| slot).collect();
        let mut tags: Vec<(u32, u8)> =
            slots().flat_map(|(slot, entity)| entity.tags.iter().map(move |tag| (*tag, slot))).collect();
        tags.sort_unstable();
        let mut subtypes: Vec<(Box<str>, SlotSet)> = Vec::new();
        for (slot, entity) in slots().filter(|(_, entity)| !entity.subtype.is_empty()) {
            let subtype = fold_text(&entity.subtype).into_boxed_str();
            let place = subtypes.binary_search_by(|(known, _)| known.cmp(&subtype)).unwrap_or_else(|place| {
                subtypes.insert(place, (subtype, SlotSet::default()));
                place
            });
            subtypes[place].1.insert(slot);
        }
        let (mut names, mut entries, mut unfolded) = (String::new(), Vec::with_capacity(entities.len()), Vec::new());
        for (slot, entity) in slots() {
            let aliases = entity.details().aliases.iter().map(|alias| (alias, true));
            for (name, is_alias) in std::iter::once((&entity.name, false)).chain(aliases) {
                let folded = fold_text(name);
                if !name.is_ascii() {
                    let comparable = comparable_form(name);
                    unfolded.extend((comparable != folded).then(|| (entries.len(), comparable.into_boxed_str())));
                }
                names.push_str(&folded);
                entries.push(NameEntry { end: u32::try_from(names.len()).unwrap_or(u32::MAX), slot, is_alias });
                names.push('\n');
            }
        }
        Self {
            live,
            public: live.intersection(public),
            newest_update: entities.iter().map(|entity| entity.updated_for(|_| true)).max().unwrap_or(Timestamp::MIN),
            types: entities.iter().map(|entity| entity.entity_type).collect(),
            tag_ids: tags.iter().map(|(tag, _)| *tag).collect(),
            tag_slots: tags.iter().map(|(_, slot)| *slot).collect(),
            subtypes: subtypes.into(),
            names: names.into(),
            entries: entries.into(),
            unfolded: unfolded.into(),
            fuzzy: OnceLock::new(),
        }
    }

    pub(super) fn of_type(&self, entity_type: EntityType) -> SlotSet {
        let slots = (0..=u8::MAX).zip(&self.types);
        slots.filter(|(_, known)| **known == entity_type).map(|(slot, _)| slot).collect()
    }

    pub(super) fn of_subtype(&self, folded: &str) -> SlotSet {
        let place = self.subtypes.binary_search_by(|(known, _)| (**known).cmp(folded));
        place.map(|place| self.subtypes[place].1).unwrap_or_default()
    }

    /// The entities that have one of these tags.
    pub(super) fn tagged_any(&self, tag_ids: &[u32]) -> SlotSet {
        tag_ids.iter().flat_map(|tag_id| self.tagged(*tag_id)).collect()
    }

    fn tagged(&self, tag_id: u32) -> impl Iterator<Item = u8> {
        let first = self.tag_ids.partition_point(|known| *known < tag_id);
        let tags = self.tag_ids[first..].iter().zip(&self.tag_slots[first..]);
        tags.take_while(move |(known, _)| **known == tag_id).map(|(_, slot)| *slot)
    }

    /// The folded name or alias of an entry, and where it begins.
    fn entry_text(&self, entry: usize) -> (usize, &str) {
        let start = entry.checked_sub(1).map_or(0, |before| self.entries[before].end as usize + 1);
        (start, &self.names[start..self.entries[entry].end as usize])
    }

    /// Calls `found` with each entry that contains a text, and the place of the first occurrence in it.
    fn each_containing(&self, text: &Finder<'_>, mut found: impl FnMut(&NameEntry, &str, usize)) {
        // No match goes from one name to the next.
        if text.needle().contains(&b'\n') {
            return;
        }
        let (mut from, mut entry) = (0, 0);
        while let Some(place) = text.find(&self.names.as_bytes()[from..]) {
            let place = from + place;
            while self.entries[entry].end as usize <= place {
                entry += 1;
            }
            let (start, name) = self.entry_text(entry);
            found(&self.entries[entry], name, place - start);
            from = self.entries[entry].end as usize + 1;
            entry += 1;
        }
    }

    /// Entities of which a name or an alias contains a folded text that is not empty.
    pub(super) fn names_containing(&self, text: &Finder<'_>) -> SlotSet {
        let mut slots = SlotSet::default();
        self.each_containing(text, |entry, _, _| slots.insert(entry.slot));
        slots
    }

    /// Entities of which a name or an alias is this folded text.
    pub(super) fn names_equal_to(&self, text: &Finder<'_>) -> SlotSet {
        let mut slots = SlotSet::default();
        self.each_containing(text, |entry, name, place| {
            if place == 0 && name.len() == text.needle().len() {
                slots.insert(entry.slot);
            }
        });
        slots
    }

    /// Lowers the rank of each slot of which a name or an alias contains a folded text that is not empty. Returns whether
    /// there is one.
    pub(super) fn rank_names(&self, text: &Finder<'_>, ranks: &mut [Option<MatchRank>; 256]) -> bool {
        let mut has_match = false;
        self.each_containing(text, |entry, name, place| {
            has_match = true;
            let found = if entry.is_alias { MatchRank::Alias } else { rank_in_name(name, place, text) };
            let rank = &mut ranks[usize::from(entry.slot)];
            *rank = Some(rank.map_or(found, |known| known.min(found)));
        });
        has_match
    }

    /// Calls `found` with each of these slots that has a similar name, and the ratio; with several similar names of one
    /// entity, several times.
    pub(super) fn each_similar(
        &self,
        query: &FuzzyQuery,
        slots: SlotSet,
        scratch: &mut FuzzyScratch,
        mut found: impl FnMut(u8, f64),
    ) {
        let fuzzy = self.fuzzy.get_or_init(|| self.fuzzy_index());
        for (number, (length, bag)) in fuzzy.lengths.iter().zip(&fuzzy.bags).enumerate() {
            let length = usize::from(*length);
            if !query.may_match(length, bag) || !slots.contains(self.entries[number].slot) {
                continue;
            }
            let name = self.comparable_name(number);
            if let Some(ratio) = query.prepared_similarity(name, length, scratch) {
                found(self.entries[number].slot, ratio);
            }
        }
    }
    /// The form of a name or an alias for fuzzy search.
    fn comparable_name(&self, entry: usize) -> &str {
        match self.unfolded.binary_search_by_key(&entry, |(known, _)| *known) {
            Ok(place) => &self.unfolded[place].1,
            Err(_) => self.entry_text(entry).1,
        }
    }

    fn fuzzy_index(&self) -> FuzzyIndex {
        let names = || (0..self.entries.len()).map(|entry| self.comparable_name(entry));
        let length = |name: &str| u16::try_from(name.chars().count()).unwrap_or(u16::MAX);
        FuzzyIndex { lengths: names().map(length).collect(), bags: names().map(PackedBag::new).collect() }
    }
}

/// How well a folded text that occurs in a name matches it.
fn rank_in_name(name: &str, place: usize, text: &Finder<'_>) -> MatchRank {
    let length = text.needle().len();
    if place == 0 {
        return if name.len() == length { MatchRank::ExactName } else { MatchRank::NamePrefix };
    }
    let begins_word = |place: &usize| !name[..*place].ends_with(char::is_alphanumeric);
    let mut places = text.find_iter(&name.as_bytes()[place..]).map(|further| place + further);
    if places.any(|place| begins_word(&place)) { MatchRank::NameWord } else { MatchRank::NamePart }
}
