//! Search over the lore: names, aliases, types and tags in memory, texts in the store's search rows, merged by rank.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use skald_domain::lore::{EntityFilter, EntityMatch, MatchRank, NameFilter, fold_name};

use super::access::EnteredLore;
use super::stream::{ENTITIES, POSTS, TIMELINE};
use crate::{App, Fault, limits};
use skald_journal::search_tokens::{self, SearchTerm};
use skald_journal::{SearchClass, SearchHit, SearchQuery};

/// What was found, the best first.
pub(super) struct SearchResult {
    pub matches: Vec<EntityMatch>,
    /// For each entity whose text was found: where.
    places: HitPlaces,
    /// If there are more hits than are ranked: where they go on.
    pub rest: Option<UnrankedRest>,
}

/// The parts in which texts are searched, one after the other. An entity is a hit of the first one that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SearchSection {
    /// Entries with all words as they were typed.
    WordsInEntries,
    WordsInPosts,
    /// Entries with all words, of which the last may go on.
    PrefixInEntries,
    PrefixInPosts,
}

impl SearchSection {
    const ALL: [Self; 4] = [Self::WordsInEntries, Self::WordsInPosts, Self::PrefixInEntries, Self::PrefixInPosts];

    /// The section of this number in a cursor.
    pub(super) fn from_number(number: u32) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }

    fn is_of_posts(self) -> bool {
        matches!(self, Self::WordsInPosts | Self::PrefixInPosts)
    }

    fn is_of_prefix(self) -> bool {
        matches!(self, Self::PrefixInEntries | Self::PrefixInPosts)
    }

    fn collection(self) -> &'static str {
        if self.is_of_posts() { POSTS } else { ENTITIES }
    }
}

/// Where the hits begin that are not ranked. They follow the ranked ones, section by section, the newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UnrankedRest {
    pub section: SearchSection,
    /// The next hits of the section have lower ids, of entities or of posts.
    pub below: u32,
}

/// Entities that fit a filter, with the score of a fuzzy name.
type FittingEntities = BTreeMap<u64, Option<f64>>;

/// Entities that were found by name and whose mentions are followed.
const FOLLOWED_NAMES_MAX: usize = 20;

pub(super) type HitPlaces = BTreeMap<u64, FoundBy>;

/// The text in which an entity was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FoundBy {
    /// The post, or `None` for the entity's own entry.
    pub post_id: Option<u64>,
    /// Whether all words are in it as they were typed; otherwise the last is the beginning of one.
    is_whole: bool,
    is_frequent: bool,
}

impl SearchResult {
    pub(super) fn without_query(matches: Vec<EntityMatch>) -> Self {
        Self { matches, places: HitPlaces::new(), rest: None }
    }

    /// Where the texts of these entities were found.
    pub(super) fn hit_places(&self, ids: impl Iterator<Item = u64>) -> HitPlaces {
        ids.filter_map(|id| Some((id, *self.places.get(&id)?))).collect()
    }
}

/// Filters with at most so many entities are handed to the store, which then reads no other rows.
const LISTED_ENTITIES_MAX: usize = 5_000;

/// Posts that are looked up at once: an entity may have many.
const POSTS_AT_ONCE: usize = 10_000;

/// Texts to search for.
struct TextSearch<'a> {
    lore: &'a EnteredLore,
    fits: Option<Arc<FittingEntities>>,
    /// The fitting entities and their posts, if they are few.
    listed: Option<[Arc<[u32]>; 2]>,
    /// The terms of the query; the last may be a prefix.
    terms: Vec<SearchTerm>,
    /// The same terms as whole words.
    whole_terms: Vec<SearchTerm>,
}

impl<'a> TextSearch<'a> {
    fn new(lore: &'a EnteredLore, fits: Option<Arc<FittingEntities>>, query: &str) -> Self {
        let terms = search_tokens::query_terms(query);
        let whole_word = |term: &SearchTerm| match term {
            SearchTerm::Prefix(word) => SearchTerm::Word(word.clone()),
            SearchTerm::Word(_) | SearchTerm::Phrase(_) => term.clone(),
        };
        let whole_terms = terms.iter().map(whole_word).collect();
        let few = fits.as_ref().filter(|fits| fits.len() <= LISTED_ENTITIES_MAX);
        let listed = few.map(|fits| [false, true].map(|of_posts| lore.serials_of(fits.keys().copied(), of_posts)));
        Self { lore, fits, listed, terms, whole_terms }
    }

    fn terms_of(&self, section: SearchSection) -> &[SearchTerm] {
        if section.is_of_prefix() { &self.terms } else { &self.whole_terms }
    }

    /// The sections with texts to search, in order.
    fn sections(&self) -> impl Iterator<Item = SearchSection> {
        let has_terms = !self.terms.is_empty();
        let (has_prefix, has_posts) = (self.terms != self.whole_terms, self.lore.state().next_post_id() > 1);
        let is_needed = move |section: &SearchSection| {
            has_terms && (has_prefix || !section.is_of_prefix()) && (has_posts || !section.is_of_posts())
        };
        SearchSection::ALL.into_iter().filter(is_needed)
    }

    /// The entity of a row of a section, and the post if it is one.
    fn entity_of_hit(&self, section: SearchSection, serial: u32) -> Option<(u64, Option<u64>)> {
        let serial = u64::from(serial);
        if !section.is_of_posts() {
            return Some((serial, None));
        }
        self.lore.state().post(serial).map(|(entity, _)| (entity.entity_id, Some(serial)))
    }

    /// The query for the next rows of a section, without those of some entities.
    fn query(&self, section: SearchSection, below: Option<u32>, rejected: Arc<BTreeSet<u64>>) -> SearchQuery {
        let is_of_posts = section.is_of_posts();
        let (committed, fits) = (Arc::clone(&self.lore.committed), self.fits.clone());
        let may_find = self.lore.row_filter(is_of_posts);
        let accepts = move |serial: u32| {
            let entity_id = if is_of_posts {
                committed.state.post(serial.into()).map(|(entity, _)| entity.entity_id)
            } else {
                Some(u64::from(serial))
            };
            let fits = |id: u64| fits.as_ref().is_none_or(|fits| fits.contains_key(&id));
            entity_id.is_some_and(|id| fits(id) && !rejected.contains(&id)) && may_find(serial)
        };
        SearchQuery {
            collection: section.collection().to_owned(),
            partition: self.lore.campaign_id.clone(),
            classes: self.lore.visible_classes(),
            terms: self.terms_of(section).to_vec(),
            below,
            within: self.listed.as_ref().map(|listed| Arc::clone(&listed[usize::from(is_of_posts)])),
            limit: if is_of_posts { POSTS_AT_ONCE } else { limits::RANKED_HITS_MAX + 1 },
            accepts: Arc::new(accepts),
        }
    }
}

impl App {
    /// Entities that fit a filter and a query. Names come before texts. Of more than `limits::RANKED_HITS_MAX` entities
    /// with texts only the first are ranked; `rest` asks for the others. Nothing but entities `among` the given is found.
    pub(super) async fn search_lore(
        &self,
        lore: &EnteredLore,
        filter: EntityFilter,
        query: &str,
        rest: Option<UnrankedRest>,
        among: Option<&BTreeSet<u64>>,
    ) -> Result<SearchResult, Fault> {
        let search = TextSearch::new(lore, lore.fitting_entities(&filter, among), query);
        let score = |id: u64| search.fits.as_ref().and_then(|fits| *fits.get(&id)?);
        let text_match = |entity_id| EntityMatch { entity_id, rank: MatchRank::NoQuery, score: score(entity_id) };
        // With a fuzzy name the most similar comes first, wherever the query was found.
        let is_fuzzy = matches!(filter.name, Some(NameFilter::Fuzzy(_)));
        let mut named = lore.state().find(&EntityFilter { query: Some(query.to_owned()), ..filter });
        let mentioning = lore.mentioning_entities(&named, query, search.fits.as_deref());
        named.retain(|found| among.is_none_or(|among| among.contains(&found.entity_id)));
        let mut seen: BTreeSet<u64> = named.iter().map(|found| found.entity_id).collect();
        let other_hits: BTreeSet<u64> = seen.iter().copied().chain(mentioning.iter().copied()).collect();
        let (places, next) = self.search_sections(&search, rest, &other_hits).await?;
        let mut hits: Vec<(u64, FoundBy)> = places.iter().map(|(id, place)| (*id, *place)).collect();
        if rest.is_some() {
            hits.sort_by_key(|(id, _)| Reverse(*id));
            let matches = hits.into_iter().map(|(id, _)| text_match(id)).collect();
            return Ok(SearchResult { matches, places, rest: next });
        }
        hits.sort_by_key(|(id, place)| (!place.is_whole, !place.is_frequent, Reverse(*id)));
        let texts = hits.into_iter().map(|(id, _)| id).chain(mentioning).filter(|id| seen.insert(*id));
        let texts: Vec<EntityMatch> = texts.map(text_match).collect();
        let mut matches: Vec<EntityMatch> = named.into_iter().chain(texts).collect();
        if is_fuzzy {
            matches.sort_by(|one, other| other.score.unwrap_or_default().total_cmp(&one.score.unwrap_or_default()));
        }
        Ok(SearchResult { matches, places, rest: next })
    }

    /// The entities whose entry has a word, as far as the caller may see them.
    pub(super) async fn entities_with_term(&self, lore: &EnteredLore, term: SearchTerm) -> Result<Vec<u64>, Fault> {
        let hits = self.journal.search(SearchQuery {
            collection: ENTITIES.to_owned(),
            partition: lore.campaign_id.clone(),
            classes: lore.visible_classes(),
            terms: vec![term],
            below: None,
            within: None,
            limit: usize::MAX,
            accepts: lore.row_filter(false),
        });
        let hits = hits.await.map_err(|error| self.store_fault(&error))?;
        Ok(hits.into_iter().map(|hit| hit.serial.into()).collect())
    }

    /// At most `limits::RANKED_HITS_MAX` entities with hits, from the beginning or from where others were answered up to,
    /// and where the next ones begin.
    ///
    /// Whole words come first: an index reads them from the newest and stops at the limit. For a prefix it has to read
    /// all texts with any of its words, which takes longer, and is done only if there is room for them.
    ///
    /// `other_hits` are the entities that were found by more than their texts. They are answered with the ranked ones, so
    /// nothing of them is left for later.
    async fn search_sections(
        &self,
        search: &TextSearch<'_>,
        from: Option<UnrankedRest>,
        other_hits: &BTreeSet<u64>,
    ) -> Result<(HitPlaces, Option<UnrankedRest>), Fault> {
        let mut places = HitPlaces::new();
        for section in search.sections().filter(|section| from.is_none_or(|from| from.section <= *section)) {
            let mut below = from.filter(|from| from.section == section).map(|from| from.below);
            let with_words = places.iter().filter(|(_, place)| section.is_of_prefix() && place.is_whole);
            let known: BTreeSet<u64> = with_words.map(|(id, _)| *id).collect();
            let mut rejected = Arc::new(known);
            loop {
                if places.len() >= limits::RANKED_HITS_MAX || from.is_some() {
                    // Only a hit that was not answered otherwise says that there are more.
                    let answered = rejected.iter().chain(other_hits.iter()).copied();
                    rejected = Arc::new(answered.collect());
                }
                let query = search.query(section, below, Arc::clone(&rejected));
                let most = query.limit;
                let hits = self.journal.search(query).await.map_err(|error| self.store_fault(&error))?;
                let answered = self.entities_answered_before(search, section, &hits, from).await?;
                for hit in &hits {
                    let Some((entity_id, post_id)) = search.entity_of_hit(section, hit.serial) else { continue };
                    let is_answered = places.len() >= limits::RANKED_HITS_MAX && other_hits.contains(&entity_id);
                    if answered.contains(&entity_id) || is_answered {
                        continue;
                    }
                    if let Some(place) = places.get_mut(&entity_id) {
                        place.is_frequent |= hit.is_frequent;
                    } else if places.len() < limits::RANKED_HITS_MAX {
                        let (is_whole, is_frequent) = (!section.is_of_prefix(), hit.is_frequent);
                        places.insert(entity_id, FoundBy { post_id, is_whole, is_frequent });
                    } else {
                        return Ok((places, Some(UnrankedRest { section, below: hit.serial.saturating_add(1) })));
                    }
                }
                match hits.last() {
                    Some(last) if hits.len() == most => below = Some(last.serial),
                    _ => break,
                }
            }
        }
        Ok((places, None))
    }

    /// Of the entities of these hits, those that were answered before a search went on: they have hits in an earlier
    /// section, or newer ones in the one where it goes on.
    async fn entities_answered_before(
        &self,
        search: &TextSearch<'_>,
        section: SearchSection,
        hits: &[SearchHit],
        from: Option<UnrankedRest>,
    ) -> Result<BTreeSet<u64>, Fault> {
        let mut answered = BTreeSet::new();
        let Some(from) = from else { return Ok(answered) };
        let ids: BTreeSet<u64> =
            hits.iter().filter_map(|hit| Some(search.entity_of_hit(section, hit.serial)?.0)).collect();
        for earlier in search.sections().filter(|earlier| *earlier <= from.section) {
            let mut within = search.lore.serials_of(ids.iter().copied(), earlier.is_of_posts());
            if earlier == from.section {
                within = within.iter().copied().filter(|serial| *serial >= from.below).collect();
            }
            if within.is_empty() {
                continue;
            }
            let limit = within.len();
            let query = SearchQuery { within: Some(within), limit, ..search.query(earlier, None, Arc::default()) };
            let found = self.journal.search(query).await.map_err(|error| self.store_fault(&error))?;
            let found = found.iter().filter_map(|hit| search.entity_of_hit(earlier, hit.serial));
            answered.extend(found.map(|(entity_id, _)| entity_id));
        }
        Ok(answered)
    }
}

impl EnteredLore {
    /// The classes of search rows that the caller may see. No other row is read.
    fn visible_classes(&self) -> Vec<SearchClass> {
        let mut classes = vec![SearchClass::Public, SearchClass::Members];
        if self.sees_private || self.has_revealed_lore() {
            classes.push(SearchClass::GameMaster);
        }
        classes
    }

    /// Whether a row may be found. Of the rows of game masters others find what was revealed to them, before anything is
    /// ranked or counted.
    pub(super) fn row_filter(&self, is_post: bool) -> Arc<dyn Fn(u32) -> bool + Send + Sync> {
        if !self.has_revealed_lore() {
            return Arc::new(|_| true);
        }
        let (committed, redaction) = (Arc::clone(&self.committed), self.redaction.clone());
        Arc::new(move |serial| {
            let serial = u64::from(serial);
            if is_post {
                let found = committed.state.post(serial);
                return found
                    .is_some_and(|(entity, post)| redaction.is_visible(&**entity) && redaction.is_visible(&**post));
            }
            committed.state.entity(serial).is_some_and(|entity| redaction.is_visible(&**entity))
        })
    }

    /// The classes of search rows of a collection that the caller may see. What named people may see is found by all and
    /// filtered by who is named.
    pub(super) fn searched_classes(&self, collection: &str) -> Vec<SearchClass> {
        let mut classes = self.visible_classes();
        if collection == TIMELINE {
            classes.push(SearchClass::NamedPeople);
        }
        classes
    }

    /// The serials of the search rows of entities or of their posts, ascending.
    fn serials_of(&self, entity_ids: impl Iterator<Item = u64>, of_posts: bool) -> Arc<[u32]> {
        let serial = |id: u64| u32::try_from(id).ok();
        if !of_posts {
            return entity_ids.filter_map(serial).collect();
        }
        let entities = entity_ids.filter_map(|entity_id| self.state().entity(entity_id));
        let posts = entities.flat_map(|entity| entity.live_posts().filter_map(|post| serial(post.post_id)));
        let mut serials: Vec<u32> = posts.collect();
        serials.sort_unstable();
        serials.into()
    }

    /// The entities that fit a filter, and are among the given; `None` if all do.
    fn fitting_entities(&self, filter: &EntityFilter, among: Option<&BTreeSet<u64>>) -> Option<Arc<FittingEntities>> {
        let fits_all = among.is_none()
            && filter.entity_type.is_none()
            && filter.subtype.is_none()
            && filter.subtype_or_tag.is_none()
            && filter.tags.is_empty()
            && filter.name.is_none()
            && filter.updated_after.is_none();
        let is_among = |found: &EntityMatch| among.is_none_or(|among| among.contains(&found.entity_id));
        let matches = || self.state().find(filter).into_iter().filter(is_among);
        let found = || matches().map(|found| (found.entity_id, found.score)).collect();
        (!fits_all).then(|| Arc::new(found()))
    }

    /// The entities whose texts mention those that were found by their whole name or a word of it, or by a whole alias, as
    /// far as the caller sees them. A text has the number of what it mentions, not the name.
    fn mentioning_entities(&self, named: &[EntityMatch], query: &str, fits: Option<&FittingEntities>) -> Vec<u64> {
        let query = fold_name(query);
        let has_alias = |entity_id: u64| {
            let entity = self.visible_entity(entity_id);
            entity.is_some_and(|entity| entity.details().aliases.iter().any(|alias| fold_name(alias) == query))
        };
        let is_followed = |found: &&EntityMatch| match found.rank {
            MatchRank::ExactName | MatchRank::NamePrefix | MatchRank::NameWord => true,
            MatchRank::NamePart | MatchRank::Alias => has_alias(found.entity_id),
            MatchRank::TypeOrTag | MatchRank::NoQuery => false,
        };
        let named = named.iter().filter(is_followed).take(FOLLOWED_NAMES_MAX);
        let places = named.flat_map(|found| self.state().mentioned_by(found.entity_id));
        let visible = places.filter(|place| {
            self.visible_entity(place.entity_id).is_some()
                && place.post_id.is_none_or(|post_id| self.is_post_visible(post_id))
                && fits.is_none_or(|fits| fits.contains_key(&place.entity_id))
        });
        visible.map(|place| place.entity_id).collect()
    }
}
