//! `read_article` and `preview_entry`: an entity and a text as HTML for people, safe to put into a page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_domain::lore::{EntityType, TextRef};
use skald_markup::{Mention, MentionKind};

use super::access::EnteredLore;
use super::entity_reference::EntityReference;
use super::entity_row::entry_html;
use super::entity_view::EntityView;
use super::entry_input::{check_entry, link_names};
use super::texts::Texts;
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Exposed, Fault, Operation, OperationKind, PermissionClass, Toolset,
};

pub(super) struct ReadArticle;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadArticleInput {
    /// The campaign.
    campaign_id: String,
    /// The entity.
    entity_id: EntityReference,
    /// What the address of an entity begins with; its id follows.
    link_prefix: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ReadArticleOutput {
    campaign_id: String,
    campaign_name: String,
    entity: EntityView,
    /// The entry, safe to show.
    html: String,
    /// The texts of its posts, in their order, safe to show.
    post_html: Vec<String>,
    /// The types of the entities that it refers to and that refer to it.
    entity_types: Vec<TypedEntity>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct TypedEntity {
    entity_id: u64,
    entity_type: EntityType,
}

impl Operation for ReadArticle {
    const NAME: &'static str = "read_article";
    const TITLE: &'static str = "An entity to read";
    const SUMMARY: &'static str = "One entity with its texts as safe HTML, in which mentions are links.";
    const TOOLSET: Toolset = Toolset::Lore;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    const CLASS: PermissionClass = PermissionClass::ReadCampaign;
    const EXPOSED: Exposed = Exposed::EngineOnly;
    type Input = ReadArticleInput;
    type Output = ReadArticleOutput;

    async fn run(app: &App, call: &Call<'_>, input: ReadArticleInput) -> Result<ReadArticleOutput, Fault> {
        let lore = app.enter_lore::<Self>(call, Some(&input.campaign_id)).await?;
        let entity_id = lore.resolve_entity(&input.entity_id, "/entity_id")?;
        let texts = app.texts_of_entities(&lore, [entity_id].into_iter(), true).await?;
        let missing = || lore.missing_entity(&input.entity_id, "/entity_id");
        let entity = lore.whole_entity(entity_id, true, &texts).ok_or_else(missing)?;
        let stored = lore.visible_entity(entity_id).ok_or_else(missing)?;
        let shown = |text: Option<&TextRef>| lore.page_html(text, &texts, &input.link_prefix);
        let html = shown(stored.text.as_ref());
        let post_html = lore.visible_posts(stored).map(|post| shown(post.text.as_ref())).collect();
        let named = [&entity.mentions, &entity.mentioned_by, &entity.children].into_iter().flatten();
        let mut ids: Vec<u64> = named.chain(&entity.parent).map(|named| named.entity_id).collect();
        ids.sort_unstable();
        ids.dedup();
        let entity_types = ids.into_iter().filter_map(|entity_id| {
            Some(TypedEntity { entity_id, entity_type: lore.visible_entity(entity_id)?.entity_type })
        });
        let entity_types = entity_types.collect();
        let (campaign_id, campaign_name) = (lore.campaign_id.clone(), lore.campaign_name.clone());
        Ok(ReadArticleOutput { campaign_id, campaign_name, entity, html, post_html, entity_types })
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }
}

pub(super) struct PreviewEntry;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PreviewEntryInput {
    /// The campaign.
    campaign_id: String,
    /// Markdown.
    entry: String,
    /// What the address of an entity begins with; its id follows.
    link_prefix: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PreviewEntryOutput {
    /// Safe to show.
    html: String,
    /// Names in [[…]] that lead nowhere, or to several entities.
    unresolved: Vec<String>,
}

impl Operation for PreviewEntry {
    const NAME: &'static str = "preview_entry";
    const TITLE: &'static str = "Preview of a text";
    const SUMMARY: &'static str = "Markdown as it would be shown, with names in [[…]] linked. Nothing is stored.";
    const TOOLSET: Toolset = Toolset::Lore;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Gm);
    const CLASS: PermissionClass = PermissionClass::WriteLore;
    const EXPOSED: Exposed = Exposed::EngineOnly;
    type Input = PreviewEntryInput;
    type Output = PreviewEntryOutput;

    async fn run(app: &App, call: &Call<'_>, input: PreviewEntryInput) -> Result<PreviewEntryOutput, Fault> {
        check_entry(&input.entry, "/entry")?;
        let lore = app.enter_lore::<Self>(call, Some(&input.campaign_id)).await?;
        let linked = link_names(&lore, &input.entry, |_| None);
        let html = lore.linked_html(&skald_markup::markdown_to_html(&linked), &input.link_prefix);
        Ok(PreviewEntryOutput { html, unresolved: lore.links_to_nowhere(Some(&input.entry)) })
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }
}

impl EnteredLore {
    fn page_html(&self, text: Option<&TextRef>, texts: &Texts, link_prefix: &str) -> String {
        texts.entry(text).map(|entry| self.linked_html(&entry_html(entry), link_prefix)).unwrap_or_default()
    }

    /// Links are put in first, so that whatever the names contain is made safe with the rest.
    fn linked_html(&self, html: &str, link_prefix: &str) -> String {
        let linked = skald_markup::replace_mentions(html, |mention| self.mention_link(mention, link_prefix));
        skald_markup::sanitize_page_html(&linked)
    }

    /// A link to a mentioned entity. One that the caller may not see is its label alone, or nothing that tells of it.
    fn mention_link(&self, mention: &Mention, link_prefix: &str) -> Option<String> {
        if mention.in_code || mention.kind != MentionKind::Entity {
            return None;
        }
        let entity = self.visible_entity(mention.id?);
        let text = match (&mention.label, entity) {
            (Some(label), _) => label.as_str(),
            (None, Some(entity)) => &entity.name,
            (None, None) => "unknown",
        };
        let text = escape_html(text);
        Some(match entity {
            Some(entity) => format!("<a href=\"{}{}\">{text}</a>", escape_html(link_prefix), entity.entity_id),
            None => text,
        })
    }
}

fn escape_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
