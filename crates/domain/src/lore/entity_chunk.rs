//! `EntityChunk`: up to 256 entities with neighbouring ids, and an index of them that is built when it is first needed.
//!
//! A change copies one chunk and drops its index, so that a search after it builds one small index anew.

use std::sync::{Arc, OnceLock};

use super::chunk_index::ChunkIndex;
use super::entity::Entity;

/// Ids of one chunk.
pub(super) const CHUNK_IDS: u64 = 256;

/// The chunk to which an entity belongs.
pub(super) fn chunk_number(entity_id: u64) -> u64 {
    entity_id / CHUNK_IDS
}

#[derive(Debug, Default)]
pub(super) struct EntityChunk {
    /// The lowest bytes of the ids, ascending: where an entity is, is found without looking at others.
    low_bytes: Vec<u8>,
    entities: Vec<Arc<Entity>>,
    index: OnceLock<Box<ChunkIndex>>,
}

impl Clone for EntityChunk {
    /// A copy is made to be changed, so the index is left out.
    fn clone(&self) -> Self {
        Self { low_bytes: self.low_bytes.clone(), entities: self.entities.clone(), index: OnceLock::new() }
    }
}

impl PartialEq for EntityChunk {
    fn eq(&self, other: &Self) -> bool {
        self.entities == other.entities
    }
}

impl EntityChunk {
    /// A chunk of these entities, which are in the order of their ids.
    pub(super) fn new(entities: &[Arc<Entity>]) -> Self {
        let low_bytes = entities.iter().map(|entity| low_byte(entity.entity_id)).collect();
        Self { low_bytes, entities: entities.to_vec(), index: OnceLock::new() }
    }

    pub(super) fn get(&self, entity_id: u64) -> Option<&Arc<Entity>> {
        self.low_bytes.binary_search(&low_byte(entity_id)).ok().map(|place| &self.entities[place])
    }

    /// Adds an entity, or replaces the one with its id.
    pub(super) fn put(&mut self, entity: Arc<Entity>) {
        self.index.take();
        match self.low_bytes.binary_search(&low_byte(entity.entity_id)) {
            Ok(place) => self.entities[place] = entity,
            Err(place) => {
                self.low_bytes.insert(place, low_byte(entity.entity_id));
                self.entities.insert(place, entity);
            }
        }
    }

    pub(super) fn remove(&mut self, entity_id: u64) {
        if let Ok(place) = self.low_bytes.binary_search(&low_byte(entity_id)) {
            self.index.take();
            self.low_bytes.remove(place);
            self.entities.remove(place);
        }
    }

    pub(super) fn entities(&self) -> &[Arc<Entity>] {
        &self.entities
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entities.is_empty()
    }

    /// The id of the entity at a place of the index.
    pub(super) fn id_at(&self, slot: u8, chunk_number: u64) -> u64 {
        chunk_number * CHUNK_IDS + u64::from(self.low_bytes.get(usize::from(slot)).copied().unwrap_or_default())
    }

    pub(super) fn index(&self) -> &ChunkIndex {
        self.index.get_or_init(|| Box::new(ChunkIndex::new(&self.entities)))
    }
}

fn low_byte(entity_id: u64) -> u8 {
    entity_id.to_le_bytes()[0]
}
