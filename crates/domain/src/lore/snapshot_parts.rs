//! Stored form of the state of lore: parts of whole chunks that are parsed independently, entities as arrays.
//!
//! Indexes are not stored; they are built again from the entities. The first part has the revision, the highest ids, the
//! tags and the number of entities, by which the loss of a part is noticed.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::canon::{CanonMark, Conflict, FindingReview};
use super::entity::{Entity, EntityDetails, EntityType, ImportSource, Post, Tag, TextKey, TextRef};
use super::entity_chunk::{EntityChunk, chunk_number};
use super::find::name_identity;
use super::index_keys::IndexKeys;
use super::reveals::LoreSubject;
use super::short_list::ShortList;
use super::snapshot_relations::{StoredRelationships, StoredTimeline};
use super::state::{HighestIds, LoreState};
use super::timeline_date::SortDate;
use crate::visibility::VisibilityStep;

/// A part ends with the chunk that brings it to so many entities.
const PART_ENTITIES: usize = 8_192;

/// One part of a stored state.
#[derive(Debug)]
pub struct LoreStatePart {
    /// In the first part only.
    header: Option<StoredHeader>,
    chunks: Vec<(u64, Arc<EntityChunk>)>,
    /// A part that is parsed has it, so that it is computed on several processors.
    summary: Option<PartSummary>,
}

/// What indexes and totals need of the entities of a part.
#[derive(Debug, Default)]
struct PartSummary {
    /// Sorted.
    keys: IndexKeys,
    archived_ids: Vec<u64>,
    post_total: usize,
    head_bytes: usize,
    /// Tags in order, each with the number of entities that have it.
    tag_uses: Vec<(u32, usize)>,
}

impl PartSummary {
    fn new(chunks: &[(u64, Arc<EntityChunk>)]) -> Self {
        let (mut summary, mut tags) = (Self::default(), Vec::new());
        for entity in chunks.iter().flat_map(|(_, chunk)| chunk.entities()) {
            summary.keys.add(entity);
            summary.archived_ids.extend(entity.is_archived().then_some(entity.entity_id));
            summary.post_total += entity.details().posts.len();
            summary.head_bytes += entity.head_bytes();
            tags.extend_from_slice(&entity.tags);
        }
        summary.keys.sort();
        tags.sort_unstable();
        summary.tag_uses = tags.chunk_by(|one, other| one == other).map(|tags| (tags[0], tags.len())).collect();
        summary
    }
}

impl LoreState {
    /// The state in at least one part.
    pub fn to_parts(&self) -> Vec<LoreStatePart> {
        let mut parts = vec![LoreStatePart { header: Some(self.header()), chunks: Vec::new(), summary: None }];
        let mut count = 0;
        for (number, chunk) in &self.chunks {
            if count >= PART_ENTITIES {
                parts.push(LoreStatePart { header: None, chunks: Vec::new(), summary: None });
                count = 0;
            }
            count += chunk.entities().len();
            if let Some(part) = parts.last_mut() {
                part.chunks.push((*number, chunk.clone()));
            }
        }
        parts
    }

    fn header(&self) -> StoredHeader {
        StoredHeader {
            revision: self.revision,
            entity_total: self.entity_total,
            highest_entity_id: self.highest.entity_id,
            highest_post_id: self.highest.post_id,
            highest_tag_id: self.highest.tag_id,
            highest_ids: self.highest.ids,
            tags: self.tags.values().map(StoredTag::new).collect(),
            earlier_tags: self.earlier_tags.iter().map(|((name, until), id)| (name.clone(), *until, *id)).collect(),
            renumbered: self.renumbered.iter().map(|(old, new)| (*old, *new)).collect(),
            highest_conflict_id: self.canon.highest_conflict_id,
            conflicts: self.canon.conflicts.values().map(|conflict| Conflict::clone(conflict)).collect(),
            deaths: self.canon.deaths.iter().map(|(id, date)| (*id, *date)).collect(),
            reviews: self.canon.reviews.iter().map(|(id, review)| (id.clone(), review.clone())).collect(),
            relationships: StoredRelationships::new(&self.relationships),
            timeline: StoredTimeline::new(&self.timeline),
            reveals: self.reveals.iter().map(|(of, steps)| (*of, steps.clone())).collect(),
        }
    }

    /// Joins all parts of a state, in order; `None` if they do not fit together.
    pub fn from_parts(parts: Vec<LoreStatePart>) -> Option<Self> {
        parts.first()?;
        let mut state = Self::default();
        let (mut chunks, mut keys, mut tags, mut last_chunk) =
            (Vec::new(), IndexKeys::default(), BTreeMap::new(), None);
        let mut expected_total = 0;
        for (number, part) in parts.into_iter().enumerate() {
            if (number == 0) != part.header.is_some() {
                return None;
            }
            if let Some(header) = part.header {
                state.revision = header.revision;
                state.highest = header.highest();
                let earlier_tags = header.earlier_tags.into_iter();
                state.earlier_tags = earlier_tags.map(|(name, until, id)| ((name, until), id)).collect();
                state.renumbered = header.renumbered.iter().copied().collect();
                state.canon.highest_conflict_id = header.highest_conflict_id;
                for conflict in header.conflicts {
                    state.canon.put_conflict(conflict);
                }
                state.canon.deaths = header.deaths.into_iter().collect();
                state.canon.reviews = header.reviews.into_iter().collect();
                expected_total = header.entity_total;
                state.relationships = header.relationships.into_relationships()?;
                state.timeline = header.timeline.into_timeline()?;
                state.reveals = header.reveals.into_iter().collect();
                for tag in header.tags {
                    tags.insert(tag.0, tag.into_tag()?);
                }
            }
            for (number, chunk) in &part.chunks {
                if last_chunk.is_some_and(|last| last >= *number) {
                    return None;
                }
                last_chunk = Some(*number);
                state.entity_total += chunk.entities().len();
            }
            let summary = part.summary.unwrap_or_else(|| PartSummary::new(&part.chunks));
            chunks.extend(part.chunks);
            keys.append(summary.keys);
            state.archived_ids.extend(summary.archived_ids);
            state.post_total += summary.post_total;
            state.head_bytes += summary.head_bytes;
            for (tag_id, uses) in summary.tag_uses {
                tags.get_mut(&tag_id)?.uses += uses;
            }
        }
        if state.entity_total != expected_total {
            return None;
        }
        state.tag_ids = tags.values().map(|tag| (Arc::from(name_identity(&tag.name)), tag.id)).collect();
        state.tags = tags.into_iter().collect();
        state.indexes = keys.into();
        state.chunks = chunks.into_iter().collect();
        Some(state)
    }
}

impl Serialize for LoreState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_parts().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for LoreState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let parts = Vec::deserialize(deserializer)?;
        Self::from_parts(parts).ok_or_else(|| D::Error::custom("the parts of the lore do not fit together"))
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredHeader {
    revision: u64,
    entity_total: usize,
    highest_entity_id: u64,
    highest_post_id: u64,
    highest_tag_id: u32,
    /// By the place of the type.
    highest_ids: [u64; EntityType::ALL.len()],
    tags: Vec<StoredTag>,
    /// Names that tags had, the revisions in which they were given up, and the tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    earlier_tags: Vec<(Arc<str>, u64, u32)>,
    /// Earlier and current ids of renumbered entities.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    renumbered: Vec<(u64, u64)>,
    #[serde(default)]
    highest_conflict_id: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    conflicts: Vec<Conflict>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    deaths: Vec<(u64, SortDate)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    reviews: Vec<(String, FindingReview)>,
    #[serde(default, skip_serializing_if = "StoredRelationships::is_unused")]
    relationships: StoredRelationships,
    #[serde(default, skip_serializing_if = "StoredTimeline::is_unused")]
    timeline: StoredTimeline,
    /// What was revealed or hidden, each with its steps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    reveals: Vec<(LoreSubject, Arc<[VisibilityStep]>)>,
}

/// A tag: its id, name, whether it is kept, and its moments.
#[derive(Debug, Serialize, Deserialize)]
struct StoredTag(u32, Arc<str>, bool, Micros, Micros);

impl StoredTag {
    fn new(tag: &Tag) -> Self {
        let (created, updated) = (tag.created_at.as_microsecond(), tag.updated_at.as_microsecond());
        Self(tag.id, tag.name.clone(), tag.is_kept, created, updated)
    }

    /// `None` if a moment is out of range.
    fn into_tag(self) -> Option<Tag> {
        let Self(id, name, is_kept, created, updated) = self;
        Some(Tag { id, name, uses: 0, is_kept, created_at: moment(created)?, updated_at: moment(updated)? })
    }
}

impl StoredHeader {
    fn highest(&self) -> HighestIds {
        HighestIds {
            entity_id: self.highest_entity_id,
            post_id: self.highest_post_id,
            tag_id: self.highest_tag_id,
            ids: self.highest_ids,
        }
    }
}

#[derive(Serialize)]
struct WrittenPart<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    header: Option<&'a StoredHeader>,
    entities: Vec<WrittenEntity<'a>>,
}

#[derive(Deserialize)]
struct BorrowedPart {
    header: Option<StoredHeader>,
    entities: ReadChunks,
}

impl Serialize for LoreStatePart {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let entities = self.chunks.iter().flat_map(|(_, chunk)| chunk.entities());
        let entities = entities.map(|entity| WrittenEntity::new(entity)).collect();
        WrittenPart { header: self.header.as_ref(), entities }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for LoreStatePart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let BorrowedPart { header, entities: ReadChunks(chunks) } = BorrowedPart::deserialize(deserializer)?;
        // The first search needs all indexes. Parts are read on several processors, a search runs on one.
        for (_, chunk) in &chunks {
            chunk.index();
        }
        Ok(Self { header, summary: Some(PartSummary::new(&chunks)), chunks })
    }
}

/// Entities, put into their chunks as they are read.
struct ReadChunks(Vec<(u64, Arc<EntityChunk>)>);

impl<'de> Deserialize<'de> for ReadChunks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ChunksVisitor)
    }
}

struct ChunksVisitor;

impl<'de> Visitor<'de> for ChunksVisitor {
    type Value = ReadChunks;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of entities")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entities: A) -> Result<ReadChunks, A::Error> {
        let (mut chunks, mut subtypes, mut last_id) = (Vec::new(), BTreeSet::new(), 0);
        let mut chunk = Vec::new();
        while let Some(entity) = entities.next_element::<BorrowedEntity>()? {
            let entity =
                entity.into_entity(&mut subtypes).ok_or_else(|| A::Error::custom("a moment is out of range"))?;
            if entity.entity_id <= last_id {
                return Err(A::Error::custom("entities are not in the order of their ids"));
            }
            if chunk_number(entity.entity_id) != chunk_number(last_id) {
                push_chunk(&mut chunks, last_id, &mut chunk);
            }
            last_id = entity.entity_id;
            chunk.push(Arc::new(entity));
        }
        push_chunk(&mut chunks, last_id, &mut chunk);
        Ok(ReadChunks(chunks))
    }
}

fn push_chunk(chunks: &mut Vec<(u64, Arc<EntityChunk>)>, last_id: u64, entities: &mut Vec<Arc<Entity>>) {
    if !entities.is_empty() {
        chunks.push((chunk_number(last_id), Arc::new(EntityChunk::new(entities))));
        entities.clear();
    }
}

/// Microseconds since 1970.
pub(super) type Micros = i64;
type StoredText<'a> = (TextKey, &'a [u64]);

/// An entity as an array, with what few entities have in an object at its end. The second moment is the time since the first.
#[derive(Serialize)]
struct WrittenEntity<'a>(
    u64,
    u64,
    EntityType,
    bool,
    &'a str,
    &'a str,
    &'a [u32],
    u64,
    Micros,
    Micros,
    &'a [u32],
    Option<StoredText<'a>>,
    WrittenDetails<'a>,
);

#[derive(Serialize)]
struct WrittenDetails<'a> {
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    aliases: &'a [Box<str>],
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    date: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    actor_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    archived_at: Option<Micros>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a ImportSource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    canon: Option<CanonMark>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    posts: Vec<WrittenPost<'a>>,
}

#[derive(Serialize)]
struct WrittenPost<'a>(u64, &'a str, bool, u64, Micros, Micros, Option<Micros>, Option<StoredText<'a>>);

impl<'a> WrittenEntity<'a> {
    fn new(entity: &'a Entity) -> Self {
        let details = entity.details();
        Self(
            entity.entity_id,
            entity.id,
            entity.entity_type,
            entity.is_private,
            &entity.name,
            &entity.subtype,
            &entity.tags,
            entity.revision,
            entity.created_at.as_microsecond(),
            // Most entities have not changed since, and a short number is read faster.
            entity.updated_at.as_microsecond() - entity.created_at.as_microsecond(),
            &entity.changes,
            stored_text(entity.text.as_ref()),
            WrittenDetails {
                aliases: &details.aliases,
                parent: details.parent,
                image: details.image.as_deref(),
                date: details.date.as_deref(),
                actor_id: details.actor_id.as_deref(),
                archived_at: details.archived_at.map(Timestamp::as_microsecond),
                source: details.source.as_deref(),
                canon: details.canon,
                posts: details.posts.iter().map(|post| WrittenPost::new(post)).collect(),
            },
        )
    }
}

impl<'a> WrittenPost<'a> {
    fn new(post: &'a Post) -> Self {
        Self(
            post.post_id,
            &post.name,
            post.is_private,
            post.revision,
            post.created_at.as_microsecond(),
            post.updated_at.as_microsecond(),
            post.archived_at.map(Timestamp::as_microsecond),
            stored_text(post.text.as_ref()),
        )
    }
}

fn stored_text(text: Option<&TextRef>) -> Option<StoredText<'_>> {
    text.map(|text| (text.key, &*text.mentions))
}

#[derive(Deserialize)]
struct BorrowedEntity<'a>(
    u64,
    u64,
    EntityType,
    bool,
    Box<str>,
    #[serde(borrow)] Cow<'a, str>,
    ShortList,
    u64,
    Micros,
    Micros,
    ShortList,
    Option<(TextKey, Vec<u64>)>,
    ReadDetails,
);

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct ReadDetails {
    aliases: Box<[Box<str>]>,
    parent: Option<u64>,
    image: Option<Box<str>>,
    date: Option<Box<str>>,
    actor_id: Option<Box<str>>,
    archived_at: Option<Micros>,
    source: Option<Box<ImportSource>>,
    canon: Option<CanonMark>,
    posts: Vec<ReadPost>,
}

#[derive(Deserialize)]
struct ReadPost(u64, Box<str>, bool, u64, Micros, Micros, Option<Micros>, Option<(TextKey, Vec<u64>)>);

impl BorrowedEntity<'_> {
    /// `None` if a moment is out of range. Equal subtypes share their memory.
    fn into_entity(self, subtypes: &mut BTreeSet<Arc<str>>) -> Option<Entity> {
        let Self(entity_id, id, entity_type, is_private, name, subtype, tags, revision, created, updated, ..) = self;
        let (changes, text, details) = (self.10, self.11, self.12);
        let subtype = subtypes.get(&*subtype).cloned().unwrap_or_else(|| {
            let subtype: Arc<str> = subtype.into();
            subtypes.insert(subtype.clone());
            subtype
        });
        let mut entity = Entity {
            id,
            entity_id,
            entity_type,
            is_private,
            name,
            subtype,
            tags,
            created_at: moment(created)?,
            updated_at: moment(created.checked_add(updated)?)?,
            revision,
            changes,
            text: text.map(text_ref),
            details: None,
        };
        entity.set_details(details.into_details()?);
        Some(entity)
    }
}

impl ReadDetails {
    /// `None` if a moment is out of range.
    fn into_details(self) -> Option<EntityDetails> {
        Some(EntityDetails {
            aliases: self.aliases,
            parent: self.parent,
            image: self.image,
            date: self.date,
            actor_id: self.actor_id,
            archived_at: optional_moment(self.archived_at)?,
            posts: self.posts.into_iter().map(ReadPost::into_post).collect::<Option<_>>()?,
            source: self.source,
            canon: self.canon,
        })
    }
}

impl ReadPost {
    fn into_post(self) -> Option<Arc<Post>> {
        let Self(post_id, name, is_private, revision, created, updated, archived, text) = self;
        Some(Arc::new(Post {
            post_id,
            name,
            is_private,
            revision,
            created_at: moment(created)?,
            updated_at: moment(updated)?,
            archived_at: optional_moment(archived)?,
            text: text.map(text_ref),
        }))
    }
}

fn text_ref((key, mentions): (TextKey, Vec<u64>)) -> TextRef {
    TextRef { key, mentions: mentions.into() }
}

pub(super) fn moment(micros: Micros) -> Option<Timestamp> {
    Timestamp::from_microsecond(micros).ok()
}

#[expect(clippy::option_option, reason = "the outer one says whether the moment is in range")]
fn optional_moment(micros: Option<Micros>) -> Option<Option<Timestamp>> {
    micros.map_or(Some(None), |micros| moment(micros).map(Some))
}
