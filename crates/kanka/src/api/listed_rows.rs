//! The rows that the engine answers, as far as the API reads them.

use serde::Deserialize;

/// An entity as `list_entities` answers it.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct ListedEntity {
    pub id: u64,
    pub entity_id: u64,
    pub entity_type: String,
    pub name: String,
    #[serde(rename = "type")]
    pub subtype: String,
    #[serde(default)]
    pub entry: ListedText,
    pub tags: Vec<u32>,
    pub aliases: Vec<String>,
    pub is_private: bool,
    pub parent: Option<ListedParent>,
    pub image: Option<String>,
    pub date: Option<String>,
    /// Zero for players, who may not change the entity.
    #[serde(default)]
    pub revision: u64,
    pub created_at: String,
    pub updated_at: String,
    #[serde(default)]
    pub posts: Vec<ListedPost>,
    #[serde(default)]
    pub children: Vec<u64>,
    #[serde(default)]
    pub mentioned_by: Vec<ListedMention>,
}

#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct ListedText {
    pub html: String,
    pub shown: String,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct ListedParent {
    pub entity_id: u64,
    pub id: u64,
    pub entity_type: String,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct ListedPost {
    pub id: u64,
    pub name: String,
    pub entry: ListedText,
    pub is_private: bool,
    pub created_at: String,
    pub updated_at: String,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct ListedMention {
    pub entity_id: u64,
    pub name: String,
    pub post_id: Option<u64>,
}

#[derive(Debug, Deserialize)]
pub(super) struct EntityPage {
    pub rows: Vec<ListedEntity>,
    pub total: usize,
    pub read_at: String,
}

/// A tag as `list_tags` answers it.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct ListedTag {
    pub id: u32,
    pub name: String,
    pub entity_ids: Vec<u64>,
    pub created_at: String,
    pub updated_at: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct TagPage {
    pub rows: Vec<ListedTag>,
    pub total: usize,
    pub read_at: String,
}

/// A campaign as `list_numbered_campaigns` answers it.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct ListedCampaign {
    pub number: u64,
    pub campaign: CampaignFields,
    pub role: String,
    /// The moment of the request.
    #[serde(skip)]
    pub read_at: String,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct CampaignFields {
    pub id: String,
    pub name: String,
    pub created_at: String,
    pub updated_at: String,
}
