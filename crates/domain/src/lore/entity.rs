//! Heads of lore: entities, posts and tags, and the references to their texts, which are stored beside the journal.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, LazyLock};

use jiff::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::canon::CanonMark;
use super::short_list::ShortList;
use crate::case_insensitive_enum::case_insensitive_enum;

/// What an entity is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EntityType {
    Character,
    Creature,
    Location,
    Organization,
    Race,
    Note,
    Journal,
    Quest,
    Item,
    Clue,
    Event,
    Document,
    Other,
}

case_insensitive_enum!(EntityType {
    Character = "character",
    Creature = "creature",
    Location = "location",
    Organization = "organization",
    Race = "race",
    Note = "note",
    Journal = "journal",
    Quest = "quest",
    Item = "item",
    Clue = "clue",
    Event = "event",
    Document = "document",
    Other = "other",
});

impl EntityType {
    pub const ALL: [Self; 13] = [
        Self::Character,
        Self::Creature,
        Self::Location,
        Self::Organization,
        Self::Race,
        Self::Note,
        Self::Journal,
        Self::Quest,
        Self::Item,
        Self::Clue,
        Self::Event,
        Self::Document,
        Self::Other,
    ];

    /// Whether an entity of this type is private unless its creator says otherwise.
    pub fn is_private_by_default(self) -> bool {
        self == Self::Note
    }

    /// Its place in [`EntityType::ALL`].
    pub(super) fn place(self) -> usize {
        self as usize
    }
}

/// The key of the row that holds a text: the SHA-256 of the row's body, 64 lower-case hexadecimal digits as text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextKey([u8; 32]);

impl From<[u8; 32]> for TextKey {
    fn from(hash: [u8; 32]) -> Self {
        Self(hash)
    }
}

impl TextKey {
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for TextKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut digits = [0; 64];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(self.0) {
            pair[0] = hex_digit(byte >> 4);
            pair[1] = hex_digit(byte & 15);
        }
        formatter.write_str(std::str::from_utf8(&digits).unwrap_or_default())
    }
}

impl fmt::Debug for TextKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl FromStr for TextKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (mut hash, mut seen) = ([0; 32], 0);
        for (byte, pair) in hash.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let (high, low) = (HEX_VALUES[usize::from(pair[0])], HEX_VALUES[usize::from(pair[1])]);
            *byte = (high << 4) | low;
            seen |= high | low;
        }
        if text.len() != 64 || seen > 15 {
            return Err("a text key is 64 lower-case hexadecimal digits".to_owned());
        }
        Ok(Self(hash))
    }
}

fn hex_digit(half: u8) -> u8 {
    if half < 10 { b'0' + half } else { b'a' + half - 10 }
}

/// The value of each digit, and 16 for what is none.
const HEX_VALUES: [u8; 256] = {
    let mut values = [16; 256];
    let mut value = 0_u8;
    while value < 16 {
        let digit = if value < 10 { b'0' + value } else { b'a' + value - 10 };
        values[digit as usize] = value;
        value += 1;
    }
    values
};

impl Serialize for TextKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TextKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<'de, str>::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for TextKey {
    fn schema_name() -> Cow<'static, str> {
        "TextKey".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[0-9a-f]{64}$" })
    }
}

/// Where a text is stored, and which entities it mentions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TextRef {
    pub key: TextKey,
    /// Ids of the entities that the text mentions, ascending.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub mentions: Box<[u64]>,
}

impl TextRef {
    /// What its mentions count towards the limit of the heads of a campaign.
    pub(super) fn mention_bytes(&self) -> usize {
        self.mentions.len() * size_of::<u64>()
    }
}

/// Where an imported entity came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportSource {
    /// Names the imported file or entity, such as `kanka:12345` or a path in a vault. One entity of a campaign has it.
    pub id: String,
    /// The hash of it as it was imported, to see whether it changed since.
    pub hash: String,
    /// The imported posts, by the id that each has in the source.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub posts: BTreeMap<String, SourcePost>,
}

/// A post as the last import left it. What is otherwise now, somebody has changed since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourcePost {
    pub post_id: u64,
    pub name: String,
    pub is_private: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<TextKey>,
}

impl ImportSource {
    /// What it counts towards the limit of the heads of a campaign.
    pub(super) fn head_bytes(&self) -> usize {
        let posts = self.posts.iter().map(|(id, post)| id.len() + post.name.len() + size_of::<TextKey>());
        self.id.len() + self.hash.len() + posts.sum::<usize>()
    }
}

/// The head of an entity. Short forms of strings and lists, and details that are stored only where there are any, keep
/// 100,000 of them small.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entity {
    /// Its number among the entities of its type.
    pub id: u64,
    /// Its number among the entities of the campaign.
    pub entity_id: u64,
    pub entity_type: EntityType,
    pub is_private: bool,
    pub name: Box<str>,
    /// Shared with entities near it that have the same.
    pub subtype: Arc<str>,
    /// Ids of its tags, in the order in which they were given.
    pub tags: ShortList,
    pub created_at: Timestamp,
    /// When its own fields changed last. Its posts have their own moments, see [`Entity::updated_for`].
    pub updated_at: Timestamp,
    /// Counts its own changes, from 1. Changes of its posts do not count.
    pub revision: u64,
    /// Revisions of the stream of everything that happened to it, its posts included.
    pub changes: ShortList,
    pub text: Option<TextRef>,
    /// `None` stands for empty ones, so that two equal entities are equal in memory too.
    pub(super) details: Option<Box<EntityDetails>>,
}

/// Fields of an entity that many entities do not have.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EntityDetails {
    pub aliases: Box<[Box<str>]>,
    pub parent: Option<u64>,
    pub image: Option<Box<str>>,
    pub date: Option<Box<str>>,
    /// The actor of the campaign that it describes.
    pub actor_id: Option<Box<str>>,
    pub archived_at: Option<Timestamp>,
    /// Its posts in the order in which they were added, archived ones included.
    pub posts: Box<[Arc<Post>]>,
    pub source: Option<Box<ImportSource>>,
    /// `None` for a draft.
    pub canon: Option<CanonMark>,
}

static NO_DETAILS: LazyLock<EntityDetails> = LazyLock::new(EntityDetails::default);

/// The head of a post: a further text on the page of an entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Post {
    /// Its number among the posts of the campaign.
    pub post_id: u64,
    pub name: Box<str>,
    pub is_private: bool,
    /// Counts its changes, from 1.
    pub revision: u64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub archived_at: Option<Timestamp>,
    pub text: Option<TextRef>,
}

/// A tag, in the spelling in which it was first used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    pub id: u32,
    pub name: Arc<str>,
    /// How many entities have it, archived ones included. A tag that no entity has is dropped, unless it is kept.
    pub uses: usize,
    /// It was created by itself, so it stays until it is deleted.
    pub is_kept: bool,
    pub created_at: Timestamp,
    /// When its name changed last.
    pub updated_at: Timestamp,
}

impl Entity {
    pub fn details(&self) -> &EntityDetails {
        self.details.as_deref().unwrap_or(&NO_DETAILS)
    }

    pub(super) fn change_details(&mut self, change: impl FnOnce(&mut EntityDetails)) {
        let mut details = self.details.take().unwrap_or_default();
        change(&mut details);
        self.details = (*details != *NO_DETAILS).then_some(details);
    }

    /// Replaces all details. Most entities have none, and then nothing is allocated.
    pub(super) fn set_details(&mut self, details: EntityDetails) {
        self.details = (details != *NO_DETAILS).then(|| Box::new(details));
    }

    pub fn is_archived(&self) -> bool {
        self.details().archived_at.is_some()
    }

    /// When it or one of its posts changed last, as far as a reader may know: of the posts only those count that they see.
    pub fn updated_for(&self, sees_post: impl Fn(&Post) -> bool) -> Timestamp {
        let posts = self.details().posts.iter().filter(|post| sees_post(post));
        posts.map(|post| post.updated_at).chain([self.updated_at]).max().unwrap_or(self.updated_at)
    }

    /// The post of this id, archived or not.
    pub fn post(&self, post_id: u64) -> Option<&Arc<Post>> {
        self.details().posts.iter().find(|post| post.post_id == post_id)
    }

    /// Its posts that are not archived.
    pub fn live_posts(&self) -> impl Iterator<Item = &Arc<Post>> {
        self.details().posts.iter().filter(|post| !post.is_archived())
    }

    /// The keys of its text and of the texts of all its posts.
    pub(super) fn text_keys(&self) -> impl Iterator<Item = TextKey> {
        let posts = self.details().posts.iter().filter_map(|post| post.text.as_ref());
        self.text.iter().chain(posts).map(|text| text.key)
    }

    /// The entities that its text mentions, or that is its parent, and that it has no such link to after a change.
    pub(super) fn links_lost_in(&self, after: &Self) -> Vec<u64> {
        let mut ids = lost_mentions(self.text.as_ref(), after.text.as_ref());
        ids.extend(self.details().parent.filter(|parent| after.details().parent != Some(*parent)));
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// The entities that its text and its posts mention, each with the post; 0 stands for the entity's own text.
    pub(super) fn mentions(&self) -> impl Iterator<Item = (u64, u64)> {
        let own = self.text.iter().map(|text| (0, text));
        let posts = self.details().posts.iter().filter_map(|post| Some((post.post_id, post.text.as_ref()?)));
        own.chain(posts).flat_map(|(post_id, text)| text.mentions.iter().map(move |mentioned| (*mentioned, post_id)))
    }

    /// What it counts towards the limit of the heads of a campaign.
    pub(super) fn head_bytes(&self) -> usize {
        let length = |text: &Option<Box<str>>| text.as_ref().map_or(0, |text| text.len());
        let aliases: usize = self.details().aliases.iter().map(|alias| alias.len()).sum();
        let source = self.details().source.as_ref().map_or(0, |source| source.head_bytes());
        let posts: usize = self.details().posts.iter().map(|post| post.head_bytes()).sum();
        let fields = length(&self.details().image) + length(&self.details().date) + length(&self.details().actor_id);
        self.name.len() + self.subtype.len() + aliases + fields + source + mention_bytes(self.text.as_ref()) + posts
    }
}

impl Post {
    pub fn is_archived(&self) -> bool {
        self.archived_at.is_some()
    }

    fn head_bytes(&self) -> usize {
        self.name.len() + mention_bytes(self.text.as_ref())
    }
}

fn mention_bytes(text: Option<&TextRef>) -> usize {
    text.map_or(0, TextRef::mention_bytes)
}

/// The entities that a text mentions, and that the text after it does not.
pub(super) fn lost_mentions(before: Option<&TextRef>, after: Option<&TextRef>) -> Vec<u64> {
    let kept = after.map_or(&[][..], |text| &text.mentions);
    let mentioned = before.into_iter().flat_map(|text| text.mentions.iter().copied());
    mentioned.filter(|id| kept.binary_search(id).is_err()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json, to_value};

    use super::*;

    #[test]
    fn a_text_key_is_read_as_it_is_written() {
        let mut hash = [0; 32];
        (hash[0], hash[1], hash[31]) = (0x0f, 0xa0, 0xff);
        let key = TextKey::from(hash);
        let text = format!("0fa0{}ff", "0".repeat(58));
        assert_eq!((key.to_string(), format!("{key:?}")), (text.clone(), text.clone()));
        assert_eq!(text.parse::<TextKey>().unwrap(), key);
        assert_eq!(to_value(key).unwrap(), json!(text));
        assert_eq!(from_value::<TextKey>(json!(text)).unwrap().as_bytes(), &hash);
        for wrong in ["", "0f", &text[1..], &text.to_uppercase(), &format!("é{}", &text[2..]), &format!("{text}0")] {
            assert!(wrong.parse::<TextKey>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn types_have_their_words() {
        assert_eq!(EntityType::ALL.map(EntityType::as_str).as_slice(), EntityType::WORDS);
        for (place, entity_type) in EntityType::ALL.into_iter().enumerate() {
            assert_eq!(entity_type.place(), place);
            assert_eq!(to_value(entity_type).unwrap(), json!(entity_type.as_str()));
            assert_eq!(entity_type.as_str().to_uppercase().parse(), Ok(entity_type));
        }
        assert!(EntityType::Note.is_private_by_default() && !EntityType::Journal.is_private_by_default());
    }
}
