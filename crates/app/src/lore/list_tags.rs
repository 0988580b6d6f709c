//! `list_tags`: the tags of a campaign with their ids, page by page, for programs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::get::parse_moment;
use super::row_page::{RowPage, exact_moment};
use super::text_condition::{FoldedConditions, TextCondition, check_term_count};
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Exposed, Fault, Operation, OperationKind, PermissionClass, Toolset,
};

pub(super) struct ListTags;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListTagsInput {
    /// The campaign.
    campaign_id: String,
    /// One of these; all if left out.
    ids: Option<Vec<u32>>,
    /// All of these, of the name.
    #[serde(default)]
    name: Vec<TextCondition>,
    /// Created or renamed after this moment.
    updated_after: Option<String>,
    page: RowPage,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ListTagsOutput {
    rows: Vec<TagRow>,
    /// How many rows all pages have.
    total: usize,
    /// The moment before the rows were read.
    read_at: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TagRow {
    id: u32,
    name: String,
    /// The entities that have it, as far as the caller sees them.
    entity_ids: Vec<u64>,
    created_at: String,
    updated_at: String,
}

impl Operation for ListTags {
    const NAME: &'static str = "list_tags";
    const TITLE: &'static str = "List tags";
    const SUMMARY: &'static str = "The tags of the lore with their ids, and the entities that have them.";
    const TOOLSET: Toolset = Toolset::Lore;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    const CLASS: PermissionClass = PermissionClass::ReadCampaign;
    const EXPOSED: Exposed = Exposed::EngineOnly;
    type Input = ListTagsInput;
    type Output = ListTagsOutput;

    async fn run(app: &App, call: &Call<'_>, input: ListTagsInput) -> Result<ListTagsOutput, Fault> {
        let read_at = exact_moment(app.clock.now());
        let page = input.page.check()?;
        let after = input.updated_after.as_deref().map(|text| parse_moment(text, "/updated_after")).transpose()?;
        check_term_count(input.ids.as_ref().map_or(0, Vec::len), "/ids")?;
        let name = FoldedConditions::new(&input.name, "/name")?;
        let lore = app.enter_lore::<Self>(call, Some(&input.campaign_id)).await?;
        let visible = lore.visible_tag_ids();
        let tags = lore.state().tags().filter(|tag| {
            visible.contains(&tag.id)
                && input.ids.as_ref().is_none_or(|ids| ids.contains(&tag.id))
                && name.match_all(&tag.name)
                && after.is_none_or(|after| tag.updated_at > after)
        });
        let found: Vec<_> = tags.collect();
        let shown = page.cut(&found);
        let mut entity_ids: BTreeMap<u32, Vec<u64>> = shown.iter().map(|tag| (tag.id, Vec::new())).collect();
        for entity in lore.state().entities().filter(|entity| lore.redaction.is_visible(&***entity)) {
            for tag_id in &*entity.tags {
                if let Some(ids) = entity_ids.get_mut(tag_id) {
                    ids.push(entity.entity_id);
                }
            }
        }
        let rows = shown.iter().map(|tag| TagRow {
            id: tag.id,
            name: tag.name.to_string(),
            entity_ids: entity_ids.remove(&tag.id).unwrap_or_default(),
            created_at: exact_moment(tag.created_at),
            updated_at: exact_moment(tag.updated_at),
        });
        Ok(ListTagsOutput { rows: rows.collect(), total: found.len(), read_at })
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }
}
