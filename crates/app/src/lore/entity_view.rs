//! Entities and posts as answers show them.

use std::collections::BTreeSet;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use skald_domain::Moment;
use skald_domain::lore::{Entity, EntityType, Post};

use super::access::EnteredLore;
use super::texts::Texts;

/// How many names a view lists of what mentions an entity, or is mentioned by it.
const NAMES_MAX: usize = 50;

/// An entity with its text, or with its names alone.
#[derive(Debug, Default, Clone, Serialize, JsonSchema)]
pub(super) struct EntityView {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    pub entity_id: u64,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entity_type: Option<EntityType>,
    /// The subtype, such as NPC or City.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub subtype: Option<String>,
    /// Markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    /// The entry was cut; `get_entities` has the whole.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_private: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<NamedEntity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The actor of the table that it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Moment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Moment>,
    /// How alike the names are, with `name_fuzzy`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_score: Option<f64>,
    /// Where the text has what was searched for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snippet: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub posts: Option<Vec<PostView>>,
    /// There are more posts: send it as `posts_after`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unlisted" = true))]
    pub posts_after: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<NamedEntity>,
    /// How many there are, if these are not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unlisted" = true))]
    pub children_total: Option<usize>,
    /// What its texts mention.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<NamedEntity>,
    /// How many there are, if these are not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unlisted" = true))]
    pub mentions_total: Option<usize>,
    /// What mentions it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mentioned_by: Vec<NamedEntity>,
    /// How many there are, if these are not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unlisted" = true))]
    pub mentioned_by_total: Option<usize>,
}

/// An entity that another one refers to.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct NamedEntity {
    pub entity_id: u64,
    /// Left out if it was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct PostView {
    pub id: u64,
    pub name: String,
    pub entry: String,
    pub is_private: bool,
    pub revision: u64,
}

impl EntityView {
    /// Id, name and type alone.
    pub(super) fn minimal(entity: &Entity) -> Self {
        Self {
            entity_id: entity.entity_id,
            name: entity.name.to_string(),
            entity_type: Some(entity.entity_type),
            ..Self::default()
        }
    }
}

impl EnteredLore {
    /// All fields of an entity, with its text.
    pub(super) fn full_view(&self, entity: &Entity, texts: &Texts) -> EntityView {
        EntityView {
            id: Some(entity.id),
            subtype: (!entity.subtype.is_empty()).then(|| entity.subtype.to_string()),
            entry: Some(texts.markdown(entity.text.as_ref()).to_owned()),
            tags: Some(self.state().tag_names(entity).into_iter().map(ToOwned::to_owned).collect()),
            aliases: entity.details().aliases.iter().map(ToString::to_string).collect(),
            is_private: Some(entity.is_private),
            parent: entity.details().parent.and_then(|id| self.named_entity(id)),
            image: entity.details().image.as_ref().map(ToString::to_string),
            date: entity.details().date.as_ref().map(ToString::to_string),
            actor_id: entity.details().actor_id.as_ref().map(ToString::to_string),
            // It counts marks of the canon too, so only game masters are told.
            revision: self.sees_private.then_some(entity.revision),
            created_at: Some(moment(entity.created_at)),
            updated_at: Some(moment(self.updated_at(entity))),
            ..EntityView::minimal(entity)
        }
    }

    /// What refers to an entity, and what its entry and the shown posts refer to, as far as the caller sees it.
    pub(super) fn with_relations(&self, entity: &Entity, shown_posts: &BTreeSet<u64>, view: EntityView) -> EntityView {
        let shown_posts = self.visible_posts(entity).filter(|post| shown_posts.contains(&post.post_id));
        let shown_texts = entity.text.iter().chain(shown_posts.filter_map(|post| post.text.as_ref()));
        let mut mentioned_before = BTreeSet::new();
        let mentions = shown_texts.flat_map(|text| &text.mentions).filter(|id| mentioned_before.insert(**id));
        let (mentions, mentions_total) = first_names(mentions.filter_map(|id| self.mention_target(*id)));
        let children = self.state().children(entity.entity_id).into_iter();
        let (children, children_total) = first_names(children.filter_map(|id| self.named_entity(id)));
        let mut mentioned_by: Vec<u64> = self
            .state()
            .mentioned_by(entity.entity_id)
            .into_iter()
            .filter(|place| place.post_id.is_none_or(|post_id| self.is_post_visible(post_id)))
            .map(|place| place.entity_id)
            .collect();
        mentioned_by.dedup();
        let mentioned_by = mentioned_by.into_iter();
        let (mentioned_by, mentioned_by_total) = first_names(mentioned_by.filter_map(|id| self.named_entity(id)));
        EntityView { children, children_total, mentions, mentions_total, mentioned_by, mentioned_by_total, ..view }
    }

    /// The posts of an entity that the caller sees.
    pub(super) fn visible_posts<'a>(&'a self, entity: &'a Entity) -> impl Iterator<Item = &'a Post> + 'a {
        let posts = entity.details().posts.iter().map(|post| &**post);
        posts.filter(|post| post.archived_at.is_none() && self.redaction.is_visible(*post))
    }

    pub(super) fn post_views(&self, entity: &Entity, texts: &Texts) -> Vec<PostView> {
        self.visible_posts(entity)
            .map(|post| PostView {
                id: post.post_id,
                name: post.name.to_string(),
                entry: texts.markdown(post.text.as_ref()).to_owned(),
                is_private: post.is_private,
                revision: post.revision,
            })
            .collect()
    }

    pub(super) fn is_post_visible(&self, post_id: u64) -> bool {
        let found = self.state().post(post_id);
        found.is_some_and(|(entity, post)| {
            self.visible_entity(entity.entity_id).is_some()
                && post.archived_at.is_none()
                && self.redaction.is_visible(&**post)
        })
    }

    /// The name of an entity; `None` if the caller may not see it.
    pub(super) fn named_entity(&self, entity_id: u64) -> Option<NamedEntity> {
        let name = self.visible_entity(entity_id)?.name.to_string();
        Some(NamedEntity { entity_id, name: Some(name), deleted: false })
    }

    /// The target of a mention. One that the caller may not see resolves to nothing; one that was deleted is marked, if the
    /// caller could see it before. Of one that was removed for good nobody knows that, so game masters alone are told.
    fn mention_target(&self, entity_id: u64) -> Option<NamedEntity> {
        let Some(entity) = self.state().entity(entity_id) else {
            let is_removed = self.sees_private && entity_id <= self.state().highest_entity_id();
            return is_removed.then_some(NamedEntity { entity_id, name: None, deleted: true });
        };
        if !self.redaction.is_visible(&**entity) {
            return None;
        }
        match entity.details().archived_at {
            Some(_) => Some(NamedEntity { entity_id, name: None, deleted: true }),
            None => self.named_entity(entity_id),
        }
    }
}

/// As many names as a view lists, and how many there are if that is not all.
fn first_names(names: impl Iterator<Item = NamedEntity>) -> (Vec<NamedEntity>, Option<usize>) {
    let mut names: Vec<NamedEntity> = names.collect();
    let total = (names.len() > NAMES_MAX).then_some(names.len());
    names.truncate(NAMES_MAX);
    (names, total)
}

fn moment(at: Timestamp) -> Moment {
    Moment::from(at)
}
