//! The lore on the page: what the engine answers about entities, and parts that its pages share.

pub(crate) mod article;
pub(crate) mod block_diff;
pub(crate) mod browse;
pub(crate) mod conflict;
pub(crate) mod edit;
pub(crate) mod entity_form;
pub(crate) mod history;
pub(crate) mod posts;
pub(crate) mod reveal;
pub(crate) mod routes;
pub(crate) mod type_icon;

use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, json};
use skald_app::{Code, Fault};

use crate::PageContext;
use crate::components::time;
use crate::form::Form;
use crate::layout::CampaignHead;
use crate::visitor::Visitor;
use type_icon::type_icon;

/// The address of a campaign's lore.
pub(crate) fn lore_path(campaign_id: &str) -> String {
    format!("/c/{campaign_id}/lore")
}

pub(crate) fn entity_path(campaign_id: &str, entity_id: u64) -> String {
    format!("/c/{campaign_id}/lore/{entity_id}")
}

/// An entity with everything that its page shows.
#[derive(Debug, Deserialize)]
pub(crate) struct Article {
    campaign_id: String,
    campaign_name: String,
    pub entity: ArticleEntity,
    pub html: String,
    pub post_html: Vec<String>,
    /// Set if the campaign is linked to Kanka.
    pub mirror: Option<KankaFreshness>,
    entity_types: Vec<ArticleType>,
}

#[derive(Debug, Deserialize)]
struct ArticleType {
    entity_id: u64,
    entity_type: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ArticleEntity {
    pub entity_id: u64,
    pub name: String,
    pub entity_type: String,
    #[serde(default, rename = "type")]
    pub subtype: String,
    #[serde(default)]
    pub entry: String,
    #[serde(default)]
    pub tags: Vec<String>,
    #[serde(default)]
    pub aliases: Vec<String>,
    #[serde(default)]
    pub is_private: bool,
    pub parent: Option<EntityLink>,
    pub date: Option<String>,
    /// Zero for players, who do not change it.
    #[serde(default)]
    pub revision: u64,
    #[serde(default)]
    pub updated_at: String,
    #[serde(default)]
    pub posts: Vec<ArticlePost>,
    #[serde(default)]
    pub children: Vec<EntityLink>,
    #[serde(default)]
    pub mentions: Vec<EntityLink>,
    #[serde(default)]
    pub mentioned_by: Vec<EntityLink>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ArticlePost {
    pub id: u64,
    pub name: String,
    pub entry: String,
    pub is_private: bool,
    pub revision: u64,
}

/// An entity that another one refers to; without a name it was deleted.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct EntityLink {
    pub entity_id: u64,
    pub name: Option<String>,
}

/// An entity or a post that was revealed to the visitor, or lately to the whole table.
#[derive(Debug, Deserialize)]
pub(crate) struct RevealedRow {
    entity_id: u64,
    post_id: Option<u64>,
    name: String,
    entity_type: String,
}

impl RevealedRow {
    /// A link to it, with the icon of its entity.
    pub(crate) fn link(&self, campaign_id: &str, class: &str) -> Markup {
        let place = self.post_id.map(|post_id| format!("#post-{post_id}")).unwrap_or_default();
        html! {
            a class=(class) href={ (entity_path(campaign_id, self.entity_id)) (place) } {
                (type_icon(&self.entity_type)) bdi { (self.name) }
            }
        }
    }

    /// The id of its element on the table.
    pub(crate) fn element_id(&self) -> String {
        match self.post_id {
            Some(post_id) => format!("h-{}-{post_id}", self.entity_id),
            None => format!("h-{}", self.entity_id),
        }
    }
}

impl Article {
    pub(crate) fn campaign(&self) -> CampaignHead {
        CampaignHead { id: self.campaign_id.clone(), name: self.campaign_name.clone() }
    }

    pub(crate) fn path(&self) -> String {
        entity_path(&self.campaign_id, self.entity.entity_id)
    }

    fn type_of(&self, entity_id: u64) -> &str {
        let found = self.entity_types.iter().find(|row| row.entity_id == entity_id);
        found.map_or("other", |row| &row.entity_type)
    }

    /// A link to an entity with the icon of its type; nothing for one that was deleted.
    fn link(&self, link: &EntityLink) -> Markup {
        html! {
            @if let Some(name) = &link.name {
                a.entity-link href=(entity_path(&self.campaign_id, link.entity_id)) {
                    (type_icon(self.type_of(link.entity_id))) bdi { (name) }
                }
            } @else {
                span.muted { "deleted" }
            }
        }
    }
}

impl PageContext {
    /// An entity to read, by the id in the address.
    pub(crate) async fn article(&self, visitor: &Visitor, campaign: &str, entity: &str) -> Result<Article, Fault> {
        let entity: Value = entity.parse::<u64>().map_or_else(|_| entity.into(), Into::into);
        let prefix = format!("{}/", lore_path(campaign));
        let input = json!({"campaign_id": campaign, "entity_id": entity, "link_prefix": prefix});
        self.read(&visitor.caller, "read_article", input).await
    }

    /// Sends one item of a batch, and answers what became of it.
    pub(crate) async fn send_item(
        &self,
        visitor: &Visitor,
        operation: &str,
        campaign_id: &str,
        (field, item): (&str, Value),
    ) -> Result<ItemOutcome, Fault> {
        let mut input = json!({"campaign_id": campaign_id});
        input[field] = json!([item]);
        let mut answer: BatchAnswer = self.send(&visitor.caller, operation, input).await?;
        let missing = || Fault::new(Code::InternalError, "a batch of one item has no result");
        answer.results.pop().ok_or_else(missing)?.into_outcome()
    }
}

#[derive(Debug, Deserialize)]
struct BatchAnswer {
    results: Vec<ItemOutcome>,
}

/// What became of one item that was sent.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ItemOutcome {
    success: bool,
    error: Option<String>,
    code: Option<String>,
    pub entity_id: Option<u64>,
    /// Names in [[…]] that lead nowhere.
    pub unresolved: Vec<String>,
}

impl ItemOutcome {
    fn into_outcome(self) -> Result<Self, Fault> {
        if self.success {
            return Ok(self);
        }
        let code = self.code.as_deref().and_then(Code::from_name).unwrap_or(Code::InternalError);
        let message = self.error.unwrap_or_else(|| code.name().to_owned());
        let message = message.strip_prefix(code.name()).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(&message);
        Err(Fault::new(code, message))
    }
}

/// Refuses whoever is no game master of the campaign.
pub(crate) fn check_game_master(visitor: &Visitor, campaign_id: &str) -> Result<(), Fault> {
    if visitor.is_game_master_of(campaign_id) {
        return Ok(());
    }
    let fault = Fault::new(Code::Forbidden, "only game masters of this campaign do that");
    Err(fault.hint("go back, or ask your game master"))
}

/// How fresh the lore of a campaign is that is linked to Kanka.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct KankaFreshness {
    synced_at: Option<String>,
    #[serde(default)]
    stale: bool,
}

/// Says that Kanka may have something newer. Nothing is said of lore that is fresh, or not linked.
pub(crate) fn stale_mirror_notice(mirror: Option<&KankaFreshness>, campaign_id: &str, is_game_master: bool) -> Markup {
    html! {
        @if let Some(mirror) = mirror.filter(|mirror| mirror.stale) {
            p.warning.stale-mirror {
                "Kanka may have something newer: "
                @if let Some(at) = &mirror.synced_at { "the last sync was " (time(at)) "." } @else { "nothing was synced yet." }
                @if is_game_master { " " a href={ "/c/" (campaign_id) "/kanka" } { "Look at the mirror" } }
            }
        }
    }
}

/// The navigation within the lore, above each of its pages.
pub(crate) fn lore_navigation(campaign_id: &str, here: &str, is_game_master: bool) -> Markup {
    let link = |path: String, title: &str| {
        html! { a.way href=(path) aria-current=[(here == title).then_some("page")] { (title) } }
    };
    html! {
        nav.ways aria-label="Lore" {
            (link(lore_path(campaign_id), "Entries"))
            (link(format!("/c/{campaign_id}/graph"), "Graph"))
            @if is_game_master {
                (link(format!("{}/archive", lore_path(campaign_id)), "Archive"))
                (link(format!("/c/{campaign_id}/kanka"), "Kanka"))
            }
        }
    }
}

/// What was just done, as a page says it after the form that did it.
pub(crate) fn notice(query: &Form) -> Option<&'static str> {
    Some(match query.filled("done")? {
        "saved" => "Saved.",
        "merged" => "Saved, together with what somebody else changed meanwhile.",
        "created" => "Created.",
        "deleted" => "Deleted. It is in the archive.",
        "restored" => "It is as it was.",
        "revealed" => "Revealed.",
        "hidden" => "Hidden again.",
        "resolved" => "Decided.",
        "synced" => "Synced.",
        "added" => "Added.",
        "removed" => "Removed.",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_stale_mirror_is_told_of() {
        let notice = |mirror: Option<Value>, is_game_master: bool| {
            let mirror: Option<KankaFreshness> = mirror.map(|json| serde_json::from_value(json).expect("freshness"));
            stale_mirror_notice(mirror.as_ref(), "camp_1", is_game_master).into_string()
        };
        let at = "2026-01-15T12:00:00Z";
        assert_eq!(notice(None, true), "", "the campaign is not linked");
        assert_eq!(notice(Some(json!({"synced_at": at, "stale": false, "pending": 3})), true), "");
        let shown = notice(Some(json!({"synced_at": at, "stale": true})), false);
        assert!(shown.contains(at) && !shown.contains("/kanka"), "only game masters open the mirror: {shown}");
        let shown = notice(Some(json!({"synced_at": null, "stale": true})), true);
        assert!(shown.contains("nothing was synced yet") && shown.contains("href=\"/c/camp_1/kanka\""), "{shown}");
    }
}
