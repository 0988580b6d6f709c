//! `/c/{campaign}/lore/{entity}`: an entity as an article, with what belongs to it in the margin; and deleting it.

use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, PreEscaped, html};
use serde::Deserialize;
use serde_json::{Value, json};

use super::browse::{private_mark, secret_mark};
use super::reveal::reveal_forms;
use super::type_icon::{type_icon, type_title};
use super::{
    Article, EntityLink, check_game_master, entity_path, lore_navigation, lore_path, notice, stale_mirror_notice,
};
use crate::components::{encode, time};
use crate::extractors::PagePath;
use crate::form::Form;
use crate::layout::{CampaignPart, PageLayout};
use crate::middleware::PageError;
use crate::resource_events::stream_changes;
use crate::visitor::Visitor;
use crate::{PageContext, SharedContext};

/// Relationships that the margin has at once.
const RELATIONSHIPS_SHOWN: usize = 50;

/// A relationship as the engine reads it from the entity's end.
#[derive(Debug, Deserialize)]
struct RelationshipLine {
    r#type: String,
    target: RelatedEntity,
    #[serde(default)]
    description: String,
    visible_to: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
struct RelatedEntity {
    id: u64,
    name: String,
}

#[derive(Debug, Default, Deserialize)]
struct RelationshipLines {
    #[serde(default)]
    relationships: Vec<RelationshipLine>,
    /// Where the next page begins.
    next_cursor: Option<String>,
    /// There are more, and no page has them.
    #[serde(default)]
    truncated: bool,
}

/// `GET /c/{campaign}/lore/{entity}`.
pub(crate) async fn show(
    State(context): State<SharedContext>,
    PagePath((campaign, entity)): PagePath<(String, String)>,
    RawQuery(query): RawQuery,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let query = Form::parse(&query.unwrap_or_default());
    let article = context.article(&visitor, &campaign, &entity).await?;
    let relationships = context.relationships(&visitor, &article, query.filled("relationships")).await?;
    let head = article.campaign();
    let is_game_master = visitor.is_game_master_of(&head.id);
    let knowledge = if is_game_master { Some(context.knowledge(&visitor, &article).await?) } else { None };
    let layout = PageLayout::for_visitor(&article.entity.name, &visitor)
        .campaign(&head, CampaignPart::Lore)
        .script("live-parts.js")
        .script("reveal.js");
    Ok(layout.render(html! {
        div.lore data-live-parts={ (article.path()) "/events" } {
            (lore_navigation(&head.id, "", is_game_master))
            @if let Some(done) = notice(&query) { p.notice role="status" { (done) } }
            @if let Some(names) = query.filled("unresolved") {
                p.warning role="status" { "These names lead nowhere yet: " bdi { (names) } ". Create them, or look at their spelling." }
            }
            div.article-page #entry data-live-part {
                article.article {
                    (stale_mirror_notice(article.mirror.as_ref(), &head.id, is_game_master))
                    (article_head(&article, is_game_master))
                    @if article.html.trim().is_empty() {
                        p.muted { "Nothing is written about it yet." }
                    } @else {
                        div.prose dir="auto" { (PreEscaped(&article.html)) }
                    }
                    (posts(&article, is_game_master))
                    @if is_game_master {
                        p.no-print { a.button href={ (article.path()) "/posts/new" } { "Add a post" } }
                    }
                }
                (margin(&article, &relationships, is_game_master))
            }
            @if let Some(knowledge) = &knowledge { (reveal_forms(&article, knowledge)) }
        }
    }))
}

/// `GET /c/{campaign}/lore/{entity}/events`: says when the entity or its relationships have changed.
pub(crate) async fn events(
    State(context): State<SharedContext>,
    PagePath((campaign, entity)): PagePath<(String, String)>,
    headers: HeaderMap,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let article = context.article(&visitor, &campaign, &entity).await?;
    let (campaign_id, entity_id) = (article.campaign().id, article.entity.entity_id);
    let uris = ["entity", "relationships"].map(|part| format!("lore://{campaign_id}/{part}/{entity_id}"));
    Ok(stream_changes(&context, &visitor, &headers, Vec::from(uris)).await)
}

impl PageContext {
    async fn relationships(
        &self,
        visitor: &Visitor,
        article: &Article,
        cursor: Option<&str>,
    ) -> Result<RelationshipLines, PageError> {
        let mut input = json!({"campaign_id": article.campaign().id, "entity_id": article.entity.entity_id, "limit": RELATIONSHIPS_SHOWN});
        // It has pages, but a server that only reads does not offer it.
        if self.offers("relationships") {
            input["method"] = "list".into();
            if let Some(cursor) = cursor {
                input["cursor"] = cursor.into();
            }
            return Ok(self.read(&visitor.caller, "relationships", input).await?);
        }
        if !self.offers("read_relationships") {
            return Ok(RelationshipLines::default());
        }
        Ok(self.read(&visitor.caller, "read_relationships", input).await?)
    }
}

fn article_head(article: &Article, is_game_master: bool) -> Markup {
    let entity = &article.entity;
    html! {
        header.article-head {
            p.article-kind {
                (type_icon(&entity.entity_type)) span { (type_title(&entity.entity_type)) }
                @if !entity.subtype.is_empty() { span { "·" } span dir="auto" { (entity.subtype) } }
                @if entity.is_private { (secret_mark(is_game_master)) }
            }
            h1 dir="auto" { (entity.name) }
            @if !entity.aliases.is_empty() {
                p.muted { "also " @for (at, alias) in entity.aliases.iter().enumerate() { @if at > 0 { ", " } bdi { (alias) } } }
            }
            @if is_game_master {
                div.actions.no-print {
                    a.button.primary href={ (article.path()) "/edit" } { "Edit" }
                    a.button href={ (article.path()) "/history" } { "History" }
                }
            }
        }
    }
}

fn posts(article: &Article, is_game_master: bool) -> Markup {
    html! {
        @for (post, text) in article.entity.posts.iter().zip(&article.post_html) {
            section.post id={ "post-" (post.id) } {
                div.split {
                    h2 dir="auto" { (post.name) @if post.is_private { " " (secret_mark(is_game_master)) } }
                    @if is_game_master {
                        a.no-print href={ (article.path()) "/posts/" (post.id) } aria-label={ "Edit " (post.name) } { "Edit" }
                    }
                }
                div.prose dir="auto" { (PreEscaped(text)) }
            }
        }
    }
}

fn margin(article: &Article, relationships: &RelationshipLines, is_game_master: bool) -> Markup {
    let entity = &article.entity;
    let campaign_id = article.campaign().id;
    let named = |links: &[EntityLink]| -> Vec<EntityLink> {
        links.iter().filter(|link| is_game_master || link.name.is_some()).cloned().collect()
    };
    html! {
        aside.margin aria-label="About it" {
            @if !entity.tags.is_empty() {
                section { h2 { "Tags" } div.chips {
                    @for tag in &entity.tags {
                        a.chip.tag href={ (lore_path(&campaign_id)) "?tag=" (encode(tag)) } { bdi { (tag) } }
                    }
                } }
            }
            @if let Some(date) = &entity.date { section { h2 { "Date" } p dir="auto" { (date) } } }
            @if let Some(parent) = entity.parent.as_ref().filter(|parent| parent.name.is_some()) {
                section { h2 { "Part of" } p { (article.link(parent)) } }
            }
            @if !relationships.relationships.is_empty() {
                section { h2 { "Relationships" } ul.link-list {
                    @for row in &relationships.relationships {
                        li {
                            span.relation { bdi { (row.r#type.replace('_', " ")) } } " "
                            a.entity-link href=(entity_path(&campaign_id, row.target.id)) { bdi { (row.target.name) } }
                            @if row.visible_to.is_some() { " " (private_mark()) }
                            @if !row.description.is_empty() { p.muted dir="auto" { (row.description) } }
                        }
                    }
                }
                @if let Some(cursor) = &relationships.next_cursor {
                    nav.pages aria-label="Relationships" { a.button href={ (article.path()) "?relationships=" (encode(cursor)) } { "More relationships" } }
                }
                @if relationships.truncated {
                    p.muted { "Only the first " (relationships.relationships.len()) " are here. " a href={ "/c/" (campaign_id) "/graph" } { "The graph has more" } "." }
                }
                }
            }
            (link_section(article, "Belonging to it", &named(&entity.children)))
            (link_section(article, "Mentions", &named(&entity.mentions)))
            (link_section(article, "Mentioned by", &named(&entity.mentioned_by)))
            @if !entity.updated_at.is_empty() { p.muted { "Changed " (time(&entity.updated_at)) } }
        }
    }
}

fn link_section(article: &Article, title: &str, links: &[EntityLink]) -> Markup {
    html! {
        @if !links.is_empty() {
            section { h2 { (title) } ul.link-list { @for link in links { li { (article.link(link)) } } } }
        }
    }
}

/// `POST /c/{campaign}/lore/{entity}/delete`: into the archive, from which it comes back.
pub(crate) async fn delete(
    State(context): State<SharedContext>,
    PagePath((campaign, entity)): PagePath<(String, u64)>,
    visitor: Visitor,
) -> Result<Response, PageError> {
    check_game_master(&visitor, &campaign)?;
    let item: (&str, Value) = ("entity_ids", entity.into());
    context.send_item(&visitor, "delete_entities", &campaign, item).await?;
    Ok(Redirect::to(&format!("{}/archive?done=deleted", lore_path(&campaign))).into_response())
}
