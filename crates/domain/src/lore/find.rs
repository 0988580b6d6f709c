//! Finds entities by type, tags, names and last change, over the indexes of all chunks.
//!
//! Names are compared folded; a name filter and a query look at aliases too. Archived entities are never found.

use std::collections::BTreeSet;

use jiff::Timestamp;
use memchr::memmem::Finder;

use super::entity::{EntityType, Post};
use super::entity_chunk::EntityChunk;
use super::fuzzy::{FuzzyQuery, FuzzyScratch, comparable_form, match_score};
use super::state::LoreState;
use crate::text_fold::fold_text;

/// What entities must have to be found: everything that is given.
#[derive(Debug, Clone, Default)]
pub struct EntityFilter {
    pub entity_type: Option<EntityType>,
    pub subtype: Option<String>,
    /// This subtype, or a tag of this name.
    pub subtype_or_tag: Option<String>,
    /// All of these tags.
    pub tags: Vec<String>,
    pub name: Option<NameFilter>,
    /// Whether private entities are found.
    pub sees_private: bool,
    /// Private entities that are found nevertheless.
    pub revealed: BTreeSet<u64>,
    /// Private posts that count for `updated_after` nevertheless.
    pub revealed_posts: BTreeSet<u64>,
    /// A part of a name or an alias, or a whole type, subtype or tag. The better it matches, the earlier an entity comes.
    pub query: Option<String>,
    /// Only what changed after this moment, posts included.
    pub updated_after: Option<Timestamp>,
}

/// How a name or an alias must match. An empty text matches every name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NameFilter {
    Contains(String),
    Exactly(String),
    /// At least as similar as [`super::fuzzy::SIMILAR_RATIO`] says.
    Fuzzy(String),
}

/// How well an entity matches a query, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MatchRank {
    ExactName,
    NamePrefix,
    /// A word of the name begins with it.
    NameWord,
    NamePart,
    Alias,
    TypeOrTag,
    /// No query was given.
    NoQuery,
}

impl MatchRank {
    const ALL: [Self; 7] = [
        Self::ExactName,
        Self::NamePrefix,
        Self::NameWord,
        Self::NamePart,
        Self::Alias,
        Self::TypeOrTag,
        Self::NoQuery,
    ];
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EntityMatch {
    pub entity_id: u64,
    pub rank: MatchRank,
    /// The similarity of the most similar name, for a fuzzy name filter: with two decimals.
    pub score: Option<f64>,
}

/// The form in which names are compared: folded, without spaces around.
pub fn fold_name(name: &str) -> String {
    fold_text(name.trim())
}

/// The form in which tags and aliases are compared to find out whether they are the same: composed, in lower case, without
/// spaces around. Unlike [`fold_name`] it keeps accents: `Öl` and `Ol` are two tags.
pub fn name_identity(name: &str) -> String {
    comparable_form(name)
}

impl LoreState {
    /// The entities that match: with a fuzzy name filter the most similar first, with a query the best rank first, and
    /// otherwise, and among equals, by `entity_id`.
    pub fn find(&self, filter: &EntityFilter) -> Vec<EntityMatch> {
        let Some(search) = PreparedEntityFilter::new(self, filter) else { return Vec::new() };
        let (mut matches, mut scratch) = (Vec::new(), FuzzyScratch::default());
        for (number, chunk) in &self.chunks {
            search.add_matches(*number, chunk, &mut scratch, &mut matches);
        }
        // Both orders are stable, and the matches come by their ids.
        if matches!(search.name, NameSearch::Fuzzy(_)) {
            matches.sort_by(|one, other| other.score.unwrap_or_default().total_cmp(&one.score.unwrap_or_default()));
        } else if search.query.is_some() {
            matches = order_by_rank(&matches);
            self.put_exact_spelling_first(&mut matches, filter.query.as_deref().unwrap_or_default());
        }
        matches
    }

    /// Whether an entity that the filter may find has the tag.
    fn is_tag_visible(&self, tag_id: u32, filter: &EntityFilter) -> bool {
        filter.sees_private
            || self.chunks.iter().any(|(number, chunk)| {
                let index = chunk.index();
                let tagged = index.tagged_any(&[tag_id]).intersection(index.live);
                let is_revealed = |slot: u8| filter.revealed.contains(&chunk.id_at(slot, *number));
                !tagged.intersection(index.public).is_empty() || tagged.iter().any(is_revealed)
            })
    }

    /// Of the names that are the query but for accents, those that have its accents come first.
    fn put_exact_spelling_first(&self, matches: &mut [EntityMatch], query: &str) {
        let count = matches.iter().take_while(|found| found.rank == MatchRank::ExactName).count();
        if count > 1 {
            let identity = name_identity(query);
            let has_accents_of_query = |found: &EntityMatch| {
                self.entity(found.entity_id).is_some_and(|entity| name_identity(&entity.name) == identity)
            };
            matches[..count].sort_by_cached_key(|found| !has_accents_of_query(found));
        }
    }

    /// Entities with a similar name or alias, the most similar first, those with the same name included.
    pub fn similar_names(&self, name: &str, sees_private: bool, most: usize) -> Vec<u64> {
        let name = Some(NameFilter::Fuzzy(name.to_owned())).filter(|_| !name.trim().is_empty());
        if name.is_none() {
            return Vec::new();
        }
        let found = self.find(&EntityFilter { name, sees_private, ..EntityFilter::default() });
        found.into_iter().take(most).map(|found| found.entity_id).collect()
    }
}

/// There are few ranks, so this is faster than a sort.
fn order_by_rank(matches: &[EntityMatch]) -> Vec<EntityMatch> {
    let mut ordered = Vec::with_capacity(matches.len());
    for rank in MatchRank::ALL {
        ordered.extend(matches.iter().filter(|found| found.rank == rank));
    }
    ordered
}

/// A filter with everything folded and looked up.
struct PreparedEntityFilter {
    entity_type: Option<EntityType>,
    subtype: Option<String>,
    subtype_or_tags: Option<(String, Vec<u32>)>,
    /// One tag of each list.
    tags: Vec<Vec<u32>>,
    name: NameSearch,
    query: Option<QuerySearch>,
    sees_private: bool,
    revealed: BTreeSet<u64>,
    revealed_posts: BTreeSet<u64>,
    updated_after: Option<Timestamp>,
}

enum NameSearch {
    Any,
    Contains(Finder<'static>),
    Exactly(Finder<'static>),
    Fuzzy(Box<FuzzyQuery>),
}

struct QuerySearch {
    folded: String,
    finder: Finder<'static>,
    entity_type: Option<EntityType>,
    tags: Vec<u32>,
}

impl PreparedEntityFilter {
    /// `None` if a tag is unknown: no entity has it.
    fn new(state: &LoreState, filter: &EntityFilter) -> Option<Self> {
        // A tag that is there with other accents only is what is meant. One that only hidden entities have is not there.
        let exact = |name: &String| state.find_tag(name).filter(|tag| state.is_tag_visible(*tag, filter));
        let tags = filter.tags.iter().map(|name| exact(name).map_or_else(|| state.tags_like(name), |tag| vec![tag]));
        let tags: Vec<Vec<u32>> = tags.collect();
        if tags.iter().any(Vec::is_empty) {
            return None;
        }
        let finder = |folded: &str| Finder::new(folded).into_owned();
        let name = match &filter.name {
            Some(NameFilter::Contains(name) | NameFilter::Exactly(name) | NameFilter::Fuzzy(name))
                if fold_name(name).is_empty() =>
            {
                NameSearch::Any
            }
            Some(NameFilter::Contains(name)) => NameSearch::Contains(finder(&fold_name(name))),
            Some(NameFilter::Exactly(name)) => NameSearch::Exactly(finder(&fold_name(name))),
            Some(NameFilter::Fuzzy(name)) => NameSearch::Fuzzy(Box::new(FuzzyQuery::new(name))),
            None => NameSearch::Any,
        };
        let query = filter.query.as_deref().map(fold_name).filter(|query| !query.is_empty());
        let query = query.map(|folded| QuerySearch {
            finder: finder(&folded),
            entity_type: folded.parse().ok(),
            tags: state.tags_like(&folded),
            folded,
        });
        Some(Self {
            entity_type: filter.entity_type,
            subtype: filter.subtype.as_deref().map(fold_name),
            subtype_or_tags: filter.subtype_or_tag.as_deref().map(|word| (fold_name(word), state.tags_like(word))),
            tags,
            name,
            query,
            sees_private: filter.sees_private,
            revealed: filter.revealed.clone(),
            revealed_posts: filter.revealed_posts.clone(),
            updated_after: filter.updated_after,
        })
    }

    fn add_matches(
        &self,
        chunk_number: u64,
        chunk: &EntityChunk,
        scratch: &mut FuzzyScratch,
        matches: &mut Vec<EntityMatch>,
    ) {
        let index = chunk.index();
        let mut slots = if self.sees_private { index.live } else { index.public };
        if !self.sees_private && !self.revealed.is_empty() {
            let is_revealed = |slot: &u8| self.revealed.contains(&chunk.id_at(*slot, chunk_number));
            index.live.iter().filter(is_revealed).for_each(|slot| slots.insert(slot));
        }
        if let Some(after) = self.updated_after {
            if index.newest_update <= after {
                return;
            }
            let sees_post =
                |post: &Post| self.sees_private || !post.is_private || self.revealed_posts.contains(&post.post_id);
            let is_newer = |slot: &u8| chunk.entities()[usize::from(*slot)].updated_for(sees_post) > after;
            slots = slots.iter().filter(is_newer).collect();
        }
        for tags in &self.tags {
            slots = slots.intersection(index.tagged_any(tags));
        }
        if let Some(entity_type) = self.entity_type {
            slots = slots.intersection(index.of_type(entity_type));
        }
        if let Some(subtype) = &self.subtype {
            slots = slots.intersection(index.of_subtype(subtype));
        }
        if let Some((subtype, tags)) = &self.subtype_or_tags {
            let (of_subtype, tagged) = (index.of_subtype(subtype), index.tagged_any(tags));
            slots = slots.iter().filter(|slot| of_subtype.contains(*slot) || tagged.contains(*slot)).collect();
        }
        if slots.is_empty() {
            return;
        }
        let mut ratios: [Option<f64>; 256] = [None; 256];
        match &self.name {
            NameSearch::Any => {}
            NameSearch::Contains(text) => slots = slots.intersection(index.names_containing(text)),
            NameSearch::Exactly(text) => slots = slots.intersection(index.names_equal_to(text)),
            NameSearch::Fuzzy(query) => {
                index.each_similar(query, slots, scratch, |slot, ratio| {
                    let best = &mut ratios[usize::from(slot)];
                    *best = Some(best.map_or(ratio, |known| known.max(ratio)));
                });
                slots = slots.iter().filter(|slot| ratios[usize::from(*slot)].is_some()).collect();
            }
        }
        let ranks = match &self.query {
            None => None,
            Some(query) => match query.ranks(chunk) {
                None => return,
                ranks => ranks,
            },
        };
        for slot in slots.iter() {
            let place = usize::from(slot);
            let Some(rank) = ranks.as_ref().map_or(Some(MatchRank::NoQuery), |ranks| ranks[place]) else { continue };
            let entity_id = chunk.id_at(slot, chunk_number);
            matches.push(EntityMatch { entity_id, rank, score: ratios[place].map(match_score) });
        }
    }
}

impl QuerySearch {
    /// The rank of each slot, or `None` if there is no match: that is so in most chunks.
    fn ranks(&self, chunk: &EntityChunk) -> Option<[Option<MatchRank>; 256]> {
        let index = chunk.index();
        let mut ranks = [None; 256];
        let mut has_match = false;
        let typed = self.entity_type.map(|entity_type| index.of_type(entity_type));
        let tagged = Some(index.tagged_any(&self.tags));
        for set in [Some(index.of_subtype(&self.folded)), typed, tagged].into_iter().flatten() {
            for slot in set.iter() {
                ranks[usize::from(slot)] = Some(MatchRank::TypeOrTag);
                has_match = true;
            }
        }
        has_match |= index.rank_names(&self.finder, &mut ranks);
        has_match.then_some(ranks)
    }
}
