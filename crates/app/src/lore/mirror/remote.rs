//! The port to another place that holds the lore of a campaign, such as Kanka: what the mirror asks of it, and how it can
//! fail. Routes, field names and numbers of that place are its implementation's business.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use jiff::Timestamp;
use skald_domain::lore::EntityType;

use crate::Fault;

/// What a remote place calls a kind of entity.
#[derive(Debug, PartialEq, Eq)]
pub struct RemoteKind {
    /// The remote place's word for it.
    pub word: &'static str,
    /// `None` for kinds that the lore does not have: they are mirrored as `other`, and never written.
    pub entity_type: Option<EntityType>,
    /// Whether its entities have a date.
    pub has_date: bool,
}

/// Where the lore is mirrored from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteAddress {
    pub base_url: String,
    pub campaign_id: u64,
}

/// An entity there. A field that an answer does not have is `None`, and counts as agreed on; only a field that is there
/// and empty is cleared.
#[derive(Debug, Clone)]
pub struct RemoteEntity {
    pub kind: &'static RemoteKind,
    /// Among the entities of its kind.
    pub id: u64,
    pub entity_id: u64,
    pub name: String,
    pub subtype: Option<String>,
    /// Empty if it has no text.
    pub html: Option<String>,
    pub tags: Option<Vec<String>>,
    /// Ids of tags that stay there, since not everybody there may see them. They are sent back with every list of tags.
    pub hidden_tags: Vec<u64>,
    pub is_private: Option<bool>,
    pub parent: RemoteParent,
    pub image: Option<Option<String>>,
    pub date: Option<Option<String>>,
    pub updated_at: Option<Timestamp>,
    /// Without those that not everybody there may see: these stay there.
    pub aliases: Option<Vec<RemoteAlias>>,
    pub posts: Option<Vec<RemotePost>>,
}

/// The parent of an entity, as an answer names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoteParent {
    /// The answer does not say.
    Unknown,
    None,
    Entity(u64),
    /// By its id among the entities of the same kind.
    SameKind(u64),
}

/// An entity that was created there.
#[derive(Debug, Clone)]
pub struct RemoteCreated {
    /// Among the entities of its kind.
    pub id: u64,
    pub entity_id: u64,
    /// `None` if the answer has only the ids: then it says nothing about what was stored.
    pub entity: Option<RemoteEntity>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteAlias {
    pub id: u64,
    pub name: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemotePost {
    pub id: u64,
    pub name: String,
    pub html: String,
    pub is_private: bool,
    pub updated_at: Option<Timestamp>,
}

/// An entity in a list of changes.
#[derive(Debug, Clone)]
pub struct RemoteHead {
    pub entity_id: u64,
    /// `None` for a kind that is not mirrored.
    pub kind: Option<&'static RemoteKind>,
    pub updated_at: Option<Timestamp>,
}

#[derive(Debug, Clone)]
pub struct RemotePage<T> {
    pub rows: Vec<T>,
    /// The moment of the answer by the remote clock.
    pub sync: Option<Timestamp>,
    /// How many rows all pages have.
    pub total: usize,
    /// Rows of this page that the place does not show.
    pub hidden: usize,
    pub is_last: bool,
}

/// An entity to create there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RemoteDraft {
    pub name: String,
    pub subtype: String,
    pub html: String,
    pub tags: Vec<String>,
    pub is_private: bool,
    pub parent: Option<u64>,
    pub date: Option<String>,
}

/// Changes of an entity there. What is `None` stays.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RemoteChange {
    pub name: Option<String>,
    /// The name there, for a place that takes no change without one.
    pub name_there: String,
    pub subtype: Option<String>,
    pub html: Option<String>,
    pub tags: Option<Vec<String>>,
    /// Sent with `tags`, so that a list of tags does not remove them.
    pub hidden_tags: Vec<u64>,
    pub is_private: Option<bool>,
    pub parent: Option<Option<u64>>,
    pub date: Option<Option<String>>,
}

/// Changes of a post there, or a new one. What is `None` stays.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RemotePostChange {
    pub name: Option<String>,
    /// The name there, for a place that takes no change without one.
    pub name_there: String,
    pub html: Option<String>,
    pub is_private: Option<bool>,
}

impl RemoteChange {
    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self { name_there: self.name_there.clone(), ..Self::default() }
    }
}

impl RemotePostChange {
    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self { name_there: self.name_there.clone(), ..Self::default() }
    }
}

/// Which entity of the remote place a write is about.
#[derive(Debug, Clone, Copy)]
pub struct RemoteTarget {
    pub kind: &'static RemoteKind,
    pub id: u64,
    pub entity_id: u64,
}

impl RemoteTarget {
    pub(super) fn from_entity(entity: &RemoteEntity) -> Self {
        Self { kind: entity.kind, id: entity.id, entity_id: entity.entity_id }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteProfile {
    pub campaign_name: String,
    pub requests_per_minute: u32,
    /// What the token's user may not do there, in words, as far as the place says it.
    pub missing_permissions: Vec<String>,
}

/// Why a request to the remote place failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoteFailureKind {
    /// There is no token, or the place does not take it.
    BadToken,
    /// The token's user may not do this.
    Forbidden,
    NotFound,
    /// The place refuses the values.
    Invalid,
    /// Too many requests, also after waiting.
    RateLimited,
    /// A fault on its side.
    ServerError,
    Timeout,
    /// No connection.
    Unreachable,
    /// An answer that ended too early, or is not what was expected.
    BrokenAnswer,
    /// An answer that says that the place cannot show this one entity. Others can be read.
    BrokenEntity,
    /// The request was given up here, since somebody else talks to the place now.
    Stopped,
}

impl RemoteFailureKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BadToken => "bad_token",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not_found",
            Self::Invalid => "invalid",
            Self::RateLimited => "rate_limited",
            Self::ServerError => "server_error",
            Self::Timeout => "timeout",
            Self::Unreachable => "unreachable",
            Self::BrokenAnswer | Self::BrokenEntity => "broken_answer",
            Self::Stopped => "stopped",
        }
    }

    /// Whether the place may fail in this way about one entity, and answer about others.
    pub(super) fn may_be_about_one(self) -> bool {
        matches!(self, Self::ServerError | Self::Timeout | Self::BrokenAnswer)
    }

    /// Whether the failure is about what was asked for. Any other one is about the place, and the next request fails too.
    pub(super) fn is_refusal(self) -> bool {
        matches!(self, Self::Forbidden | Self::NotFound | Self::Invalid | Self::BrokenEntity)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteFailure {
    pub kind: RemoteFailureKind,
    pub message: String,
}

impl RemoteFailure {
    pub fn new(kind: RemoteFailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

impl fmt::Display for RemoteFailure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

pub type RemoteFuture<'a, T> = BoxFuture<'a, Result<T, RemoteFailure>>;

/// The lore of one campaign in a remote place. An implementation paces its requests and repeats what can be repeated
/// safely. A failed `create` or `create_post` may have been done nevertheless, unless it was refused.
pub trait RemoteLore: Send + Sync + 'static {
    fn profile(&self) -> RemoteFuture<'_, RemoteProfile>;

    /// Sets the pace that the account may have, as it was known when the campaign was linked.
    fn set_requests_per_minute(&self, requests_per_minute: u32);

    /// Fails with `NotFound` if the campaign itself is not there.
    fn check_campaign(&self) -> RemoteFuture<'_, ()>;

    /// How many entities all kinds have together that are mirrored.
    fn count_entities(&self) -> RemoteFuture<'_, usize>;

    /// All kinds that are mirrored.
    fn kinds(&self) -> &'static [RemoteKind];

    /// A page of the entities of a kind, with posts and aliases, from 1. `None` if the place does not have the kind.
    fn list_kind(&self, kind: &'static RemoteKind, page: usize) -> RemoteFuture<'_, Option<RemotePage<RemoteEntity>>>;

    /// A page of what changed since a moment of the remote clock, from 1.
    fn list_changed(&self, since: Timestamp, page: usize) -> RemoteFuture<'_, RemotePage<RemoteHead>>;

    /// An entity with posts and aliases. `None` only if the place says that there is none: an entity that the token's user
    /// may not see, or whose kind is not mirrored, is `Forbidden`.
    fn entity(&self, entity_id: u64) -> RemoteFuture<'_, Option<RemoteEntity>>;

    /// How many entities of a kind to create with one request.
    fn created_at_once(&self) -> usize;

    /// Creates entities of a kind, as many as `created_at_once` says; the answer has them in order.
    fn create(&self, kind: &'static RemoteKind, drafts: Vec<RemoteDraft>) -> RemoteFuture<'_, Vec<RemoteCreated>>;

    fn update(&self, target: RemoteTarget, change: RemoteChange) -> RemoteFuture<'_, RemoteEntity>;

    /// Renames a tag for all entities that have it. False if there is no such tag, or several, or already one of the new
    /// name.
    fn rename_tag(&self, name: String, new_name: String) -> RemoteFuture<'_, bool>;

    fn delete(&self, target: RemoteTarget) -> RemoteFuture<'_, ()>;

    fn create_post(&self, entity_id: u64, post: RemotePostChange) -> RemoteFuture<'_, RemotePost>;

    fn update_post(&self, entity_id: u64, post_id: u64, change: RemotePostChange) -> RemoteFuture<'_, RemotePost>;

    fn delete_post(&self, entity_id: u64, post_id: u64) -> RemoteFuture<'_, ()>;

    fn create_alias(&self, entity_id: u64, name: String) -> RemoteFuture<'_, RemoteAlias>;

    fn delete_alias(&self, entity_id: u64, alias_id: u64) -> RemoteFuture<'_, ()>;
}

/// Makes connections to remote places. It knows the token, which nothing else does.
pub trait RemoteConnector: Send + Sync + 'static {
    /// The place that is meant if none is named.
    fn default_base_url(&self) -> &'static str;

    fn connect(&self, address: &RemoteAddress) -> Result<Arc<dyn RemoteLore>, Fault>;
}

/// For programs that mirror nothing.
pub(crate) struct NoRemotes;

impl RemoteConnector for NoRemotes {
    fn default_base_url(&self) -> &'static str {
        ""
    }

    fn connect(&self, _: &RemoteAddress) -> Result<Arc<dyn RemoteLore>, Fault> {
        let fault = Fault::new(crate::Code::Rejected, "this program cannot reach Kanka");
        Err(fault.hint("use `skald kanka`, or a server that `skald serve` runs"))
    }
}
