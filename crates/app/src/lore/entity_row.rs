//! Entities, posts and tags as rows for programs: every id as a number, texts as HTML, moments with all their digits.

use std::collections::BTreeSet;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_domain::lore::{Entity, EntityType, TextRef};
use skald_markup::{Entry, Mention, MentionKind};

use super::access::EnteredLore;
use super::row_page::exact_moment;
use super::texts::Texts;
use crate::{App, Code, Fault, limits};

/// Entities whose entries are read at once.
const ENTRIES_AT_ONCE: usize = 20;

/// What a row has besides its short fields.
#[derive(Debug, Default, Clone, Copy, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RowParts {
    /// The entry.
    entry: bool,
    /// The posts with their texts.
    posts: bool,
    /// What is below it, and where it is mentioned.
    relations: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct EntityRow {
    /// Its number among the entities of its type.
    id: u64,
    entity_id: u64,
    entity_type: EntityType,
    name: String,
    /// The subtype, such as NPC or City; empty if there is none.
    #[serde(rename = "type")]
    subtype: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<RowText>,
    /// Ids of its tags.
    tags: Vec<u32>,
    aliases: Vec<String>,
    is_private: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<ParentRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    date: Option<String>,
    /// For game masters: it counts marks of the canon too.
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<u64>,
    created_at: String,
    updated_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    archived_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    posts: Option<Vec<PostRow>>,
    /// Those whose parent it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    children: Option<Vec<u64>>,
    /// Texts that mention it.
    #[serde(skip_serializing_if = "Option::is_none")]
    mentioned_by: Option<Vec<MentioningText>>,
}

/// A text as HTML.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct RowText {
    /// As it was written, with mentions such as [entity:12]; empty if there is none.
    html: String,
    /// Safe to show: mentions are names, and what could do harm is left out.
    shown: String,
}

/// The parent of an entity, with its number in its type.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ParentRow {
    entity_id: u64,
    id: u64,
    entity_type: EntityType,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PostRow {
    id: u64,
    name: String,
    entry: RowText,
    is_private: bool,
    created_at: String,
    updated_at: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct MentioningText {
    entity_id: u64,
    name: String,
    /// The post; the entry itself if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    post_id: Option<u64>,
}

impl App {
    /// The rows of entities that the caller sees.
    pub(super) async fn entity_rows(
        &self,
        lore: &EnteredLore,
        entities: &[&Arc<Entity>],
        parts: RowParts,
    ) -> Result<Vec<EntityRow>, Fault> {
        // One entity may have many long posts.
        let at_once = if parts.posts { 1 } else { ENTRIES_AT_ONCE };
        let (mut rows, mut bytes) = (Vec::with_capacity(entities.len()), 0);
        for part in entities.chunks(at_once) {
            if bytes >= limits::ENTITY_TEXTS_BYTES_MAX {
                return Err(full_page_fault());
            }
            let entries = part.iter().filter(|_| parts.entry).filter_map(|entity| entity.text.as_ref());
            let posts = part.iter().filter(|_| parts.posts).flat_map(|entity| lore.visible_posts(entity));
            let wanted: Vec<&TextRef> = entries.chain(posts.filter_map(|post| post.text.as_ref())).collect();
            let texts = self.load_texts(&lore.campaign_id, wanted.into_iter()).await?;
            bytes += texts.bytes();
            rows.extend(part.iter().map(|entity| lore.entity_row(entity, parts, &texts)));
        }
        Ok(rows)
    }
}

impl EnteredLore {
    fn entity_row(&self, entity: &Entity, parts: RowParts, texts: &Texts) -> EntityRow {
        let parent = self.visible_parent(entity).and_then(|parent| self.visible_entity(parent));
        EntityRow {
            id: entity.id,
            entity_id: entity.entity_id,
            entity_type: entity.entity_type,
            name: entity.name.to_string(),
            subtype: entity.subtype.to_string(),
            entry: parts.entry.then(|| self.row_text(texts.entry(entity.text.as_ref()))),
            tags: entity.tags.to_vec(),
            aliases: entity.details().aliases.iter().map(ToString::to_string).collect(),
            is_private: entity.is_private,
            parent: parent.map(|parent| ParentRow {
                entity_id: parent.entity_id,
                id: parent.id,
                entity_type: parent.entity_type,
            }),
            image: entity.details().image.as_ref().map(ToString::to_string),
            date: entity.details().date.as_ref().map(ToString::to_string),
            revision: self.sees_private.then_some(entity.revision),
            created_at: exact_moment(entity.created_at),
            updated_at: exact_moment(self.updated_at(entity)),
            archived_at: entity.details().archived_at.map(exact_moment),
            posts: parts.posts.then(|| self.post_rows(entity, texts)),
            children: parts.relations.then(|| self.visible_children(entity.entity_id)),
            mentioned_by: parts.relations.then(|| self.mentioning_texts(entity.entity_id)),
        }
    }

    fn post_rows(&self, entity: &Entity, texts: &Texts) -> Vec<PostRow> {
        let posts = self.visible_posts(entity).map(|post| PostRow {
            id: post.post_id,
            name: post.name.to_string(),
            entry: self.row_text(texts.entry(post.text.as_ref())),
            is_private: post.is_private,
            created_at: exact_moment(post.created_at),
            updated_at: exact_moment(post.updated_at),
        });
        posts.collect()
    }

    /// The parent of an entity, unless the caller may not see it.
    pub(super) fn visible_parent(&self, entity: &Entity) -> Option<u64> {
        entity.details().parent.filter(|parent| self.visible_entity(*parent).is_some())
    }

    fn visible_children(&self, entity_id: u64) -> Vec<u64> {
        let children = self.state().children(entity_id).into_iter();
        children.filter(|child| self.visible_entity(*child).is_some()).collect()
    }

    /// The texts that mention an entity, as far as the caller sees them.
    fn mentioning_texts(&self, entity_id: u64) -> Vec<MentioningText> {
        let places = self.state().mentioned_by(entity_id).into_iter();
        let visible = places.filter(|place| place.post_id.is_none_or(|post_id| self.is_post_visible(post_id)));
        let texts = visible.filter_map(|place| {
            let name = self.visible_entity(place.entity_id)?.name.to_string();
            Some(MentioningText { entity_id: place.entity_id, name, post_id: place.post_id })
        });
        texts.collect()
    }

    fn row_text(&self, entry: Option<&Entry>) -> RowText {
        let Some(entry) = entry else { return RowText::default() };
        let html = entry_html(entry);
        // Names are put in first, so that whatever they contain is made safe with the rest.
        let named = skald_markup::replace_mentions(&html, |mention| self.mention_text(mention));
        RowText { shown: skald_markup::sanitize_html(&named), html }
    }

    /// The text of a mention: its label, or the name of the entity, as far as the caller sees it.
    fn mention_text(&self, mention: &Mention) -> Option<String> {
        if mention.in_code || mention.kind != MentionKind::Entity {
            return None;
        }
        let entity = self.visible_entity(mention.id?);
        let text = match (&mention.label, entity) {
            (Some(label), _) => label.as_str(),
            (None, Some(entity)) => &entity.name,
            (None, None) => "unknown",
        };
        Some(text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"))
    }

    /// The tags that the caller may see: game masters all, others those of entities that they see.
    pub(super) fn visible_tag_ids(&self) -> BTreeSet<u32> {
        let state = self.state();
        if self.sees_private {
            return state.tags().map(|tag| tag.id).collect();
        }
        let entities = state.entities().filter(|entity| self.redaction.is_visible(&***entity));
        entities.flat_map(|entity| entity.tags.iter().copied()).collect()
    }
}

/// A row that is left out would look deleted, so the whole page is refused.
fn full_page_fault() -> Fault {
    let message = format!("the texts of this page have more than {} bytes", limits::ENTITY_TEXTS_BYTES_MAX);
    let fault = Fault::new(Code::TooLarge, message).with_path("/parts/posts");
    fault.hint("list the entities without their posts, and read the posts of each by itself")
}

/// The HTML of an entry: what it came as, or its Markdown converted.
pub(super) fn entry_html(entry: &Entry) -> String {
    entry.html.clone().unwrap_or_else(|| skald_markup::markdown_to_html(&entry.markdown))
}
