//! Indexes that follow from the entities, and the keys that an entity has in each of them.
//!
//! An index of texts has hashes, which take little memory; whoever looks something up compares the text itself.

use super::entity::Entity;
use super::find::fold_name;
use super::sorted_index::SortedIndex;

/// Pairs of a number, which may be a hash, and an entity.
pub(super) type EntityKey = (u32, u32);
/// Mentioned entity, mentioning entity, and the post in which it does, or 0 for its own text.
pub(super) type MentionKey = (u32, u32, u32);

/// Archived entities are in all indexes: whoever looks something up leaves them out.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct EntityIndexes {
    /// Hashes of folded names and aliases.
    pub(super) names: SortedIndex<EntityKey>,
    /// Hashes of the ids of actors.
    pub(super) actors: SortedIndex<EntityKey>,
    /// Hashes of the ids of sources.
    pub(super) sources: SortedIndex<EntityKey>,
    /// Parents and their children.
    pub(super) children: SortedIndex<EntityKey>,
    /// Posts and their entity.
    pub(super) posts: SortedIndex<EntityKey>,
    pub(super) mentions: SortedIndex<MentionKey>,
}

/// The keys of several entities.
#[derive(Debug, Default)]
pub(super) struct IndexKeys {
    names: Vec<EntityKey>,
    actors: Vec<EntityKey>,
    sources: Vec<EntityKey>,
    children: Vec<EntityKey>,
    posts: Vec<EntityKey>,
    mentions: Vec<MentionKey>,
}

impl SortedIndex<EntityKey> {
    /// The entities of a number or hash, in order.
    pub(super) fn entities_of(&self, key: u32) -> Vec<u64> {
        self.between((key, 0), (key, u32::MAX)).into_iter().map(|(_, entity_id)| u64::from(entity_id)).collect()
    }
}

impl EntityIndexes {
    /// Replaces the keys of an entity. Keys that it has before and after are left alone.
    pub(super) fn replace(&mut self, before: Option<&Entity>, after: Option<&Entity>) {
        let is_renamed = before.map(|entity| (&entity.name, &entity.details().aliases))
            != after.map(|entity| (&entity.name, &entity.details().aliases));
        if is_renamed {
            replace_keys(&mut self.names, before, after, |entity| name_keys(entity).collect());
        }
        replace_keys(&mut self.actors, before, after, |entity| actor_key(entity).into_iter().collect());
        replace_keys(&mut self.sources, before, after, |entity| source_key(entity).into_iter().collect());
        replace_keys(&mut self.children, before, after, |entity| child_key(entity).into_iter().collect());
        replace_keys(&mut self.posts, before, after, |entity| post_keys(entity).collect());
        replace_keys(&mut self.mentions, before, after, |entity| mention_keys(entity).collect());
    }
}

impl From<IndexKeys> for EntityIndexes {
    fn from(keys: IndexKeys) -> Self {
        Self {
            names: keys.names.into(),
            actors: keys.actors.into(),
            sources: keys.sources.into(),
            children: keys.children.into(),
            posts: keys.posts.into(),
            mentions: keys.mentions.into(),
        }
    }
}

impl IndexKeys {
    pub(super) fn add(&mut self, entity: &Entity) {
        self.names.extend(name_keys(entity));
        self.actors.extend(actor_key(entity));
        self.sources.extend(source_key(entity));
        self.children.extend(child_key(entity));
        self.posts.extend(post_keys(entity));
        self.mentions.extend(mention_keys(entity));
    }

    pub(super) fn sort(&mut self) {
        for keys in [&mut self.names, &mut self.actors, &mut self.sources, &mut self.children, &mut self.posts] {
            keys.sort_unstable();
        }
        self.mentions.sort_unstable();
    }

    pub(super) fn append(&mut self, mut other: Self) {
        self.names.append(&mut other.names);
        self.actors.append(&mut other.actors);
        self.sources.append(&mut other.sources);
        self.children.append(&mut other.children);
        self.posts.append(&mut other.posts);
        self.mentions.append(&mut other.mentions);
    }
}

fn replace_keys<K: Ord + Copy>(
    index: &mut SortedIndex<K>,
    before: Option<&Entity>,
    after: Option<&Entity>,
    keys: impl Fn(&Entity) -> Vec<K>,
) {
    let (gone, come) = (before.map(&keys).unwrap_or_default(), after.map(&keys).unwrap_or_default());
    if gone == come {
        return;
    }
    for key in gone {
        index.remove(key);
    }
    for key in come {
        index.insert(key);
    }
}

fn name_keys(entity: &Entity) -> impl Iterator<Item = EntityKey> {
    let names = std::iter::once(&entity.name).chain(&entity.details().aliases);
    names.map(|name| (name_hash(name), index_id(entity.entity_id)))
}

fn actor_key(entity: &Entity) -> Option<EntityKey> {
    Some((text_hash(entity.details().actor_id.as_deref()?), index_id(entity.entity_id)))
}

fn source_key(entity: &Entity) -> Option<EntityKey> {
    Some((text_hash(&entity.details().source.as_ref()?.id), index_id(entity.entity_id)))
}

fn child_key(entity: &Entity) -> Option<EntityKey> {
    Some((index_id(entity.details().parent?), index_id(entity.entity_id)))
}

fn post_keys(entity: &Entity) -> impl Iterator<Item = EntityKey> {
    entity.details().posts.iter().map(|post| (index_id(post.post_id), index_id(entity.entity_id)))
}

fn mention_keys(entity: &Entity) -> impl Iterator<Item = MentionKey> {
    let by = index_id(entity.entity_id);
    entity.mentions().map(move |(mentioned, post)| (index_id(mentioned), by, index_id(post)))
}

/// The hash of a folded name. Most names are in ASCII, and then nothing is copied.
fn name_hash(name: &str) -> u32 {
    if name.is_ascii() {
        bytes_hash(name.trim().bytes().map(|byte| byte.to_ascii_lowercase()))
    } else {
        text_hash(&fold_name(name))
    }
}

pub(super) fn text_hash(text: &str) -> u32 {
    bytes_hash(text.bytes())
}

/// FNV-1a: the same in every process.
fn bytes_hash(bytes: impl Iterator<Item = u8>) -> u32 {
    bytes.fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// An id in the short form of the indexes. Commands with larger ids are refused.
pub(super) fn index_id(id: u64) -> u32 {
    u32::try_from(id).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_the_hash_of_its_folded_form() {
        for name in ["Ann", " The OLD king ", "Élan", "ß", "", "\u{a0}Ann"] {
            assert_eq!(name_hash(name), text_hash(&fold_name(name)), "{name:?}");
        }
    }
}
