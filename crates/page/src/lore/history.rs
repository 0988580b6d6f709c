//! `/c/{campaign}/lore/{entity}/history` and `/archive`: versions with their differences, going back, and what was deleted.

use std::collections::BTreeMap;

use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{check_game_master, entity_path, lore_navigation, lore_path, notice};
use crate::SharedContext;
use crate::components::{count, empty_state, next_page, time};
use crate::extractors::PagePath;
use crate::form::Form;
use crate::layout::{CampaignPart, PageLayout};
use crate::live_pages::LivePage;
use crate::middleware::PageError;
use crate::visitor::Visitor;

#[derive(Debug, Deserialize)]
struct EntityHistoryAnswer {
    #[serde(default)]
    versions: Vec<HistoryVersion>,
    #[serde(default)]
    changes: BTreeMap<String, Value>,
    #[serde(default)]
    archived: Vec<ArchivedItem>,
    next_cursor: Option<String>,
}

#[derive(Debug, Deserialize)]
struct HistoryVersion {
    version: u64,
    at: String,
    by: String,
    kind: String,
    #[serde(default)]
    fields: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct ArchivedItem {
    entity_id: u64,
    name: String,
    post_id: Option<u64>,
    archived_at: Option<String>,
}

/// What happened, in words.
fn kind_words(kind: &str) -> String {
    let words = kind.rsplit_once(".v").map_or(kind, |(words, _)| words);
    match words {
        "entity.created" => "written".to_owned(),
        "entity.updated" => "changed".to_owned(),
        "entity.archived" => "deleted".to_owned(),
        "entity.restored" | "entity.unarchived" => "taken back".to_owned(),
        other => other.replace(['.', '_'], " "),
    }
}

/// `GET /c/{campaign}/lore/{entity}/history`.
pub(crate) async fn show(
    State(context): State<SharedContext>,
    PagePath((campaign, entity)): PagePath<(String, String)>,
    RawQuery(query): RawQuery,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let query = Form::parse(&query.unwrap_or_default());
    let article = context.article(&visitor, &campaign, &entity).await?;
    let head = article.campaign();
    check_game_master(&visitor, &head.id)?;
    let mut input = json!({"method": "list", "campaign_id": head.id, "entity_id": article.entity.entity_id});
    if let Some(cursor) = query.filled("cursor") {
        input["cursor"] = cursor.into();
    }
    let history: EntityHistoryAnswer = context.read(&visitor.caller, "lore_history", input).await?;
    let path = format!("{}/history", article.path());
    let layout = PageLayout::for_visitor("History", &visitor).campaign(&head, CampaignPart::Lore);
    let layout = layout.script("live-parts.js");
    Ok(layout.render(html! {
        div.lore data-live-parts={ (article.path()) "/events" } {
            (lore_navigation(&head.id, "", true))
            div.split {
                h1 { "History of " bdi { (article.entity.name) } }
                a.button href=(article.path()) { "Back" }
            }
            ol.versions #versions reversed data-live-part {
                @for row in &history.versions {
                    li.version {
                        div.row-main {
                            a href={ (path) "/" (row.version) } { "Version " (row.version) }
                            span.muted { (kind_words(&row.kind)) " by " bdi { (row.by) } " · " (time(&row.at)) }
                        }
                        @if !row.fields.is_empty() { p.muted { (row.fields.join(", ")) } }
                    }
                }
            }
            (next_page(&path, history.next_cursor.as_deref()))
        }
    }))
}

/// `GET /c/{campaign}/lore/{entity}/history/{version}`: what differs from the version before, or from another one.
pub(crate) async fn show_version(
    State(context): State<SharedContext>,
    PagePath((campaign, entity, version)): PagePath<(String, String, u64)>,
    RawQuery(query): RawQuery,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let query = Form::parse(&query.unwrap_or_default());
    let article = context.article(&visitor, &campaign, &entity).await?;
    let head = article.campaign();
    check_game_master(&visitor, &head.id)?;
    let mut input =
        json!({"method": "diff", "campaign_id": head.id, "entity_id": article.entity.entity_id, "to": version});
    let from = query.integer("from")?;
    if let Some(from) = from {
        input["from"] = from.into();
    }
    let history: EntityHistoryAnswer = context.read(&visitor.caller, "lore_history", input).await?;
    let path = format!("{}/history", article.path());
    let title = format!("Version {version}");
    let layout = PageLayout::for_visitor(&title, &visitor).campaign(&head, CampaignPart::Lore);
    Ok(layout.render(html! {
        div.lore {
            (lore_navigation(&head.id, "", true))
            div.split {
                h1 { (title) " of " bdi { (article.entity.name) } }
                a.button href=(path) { "All versions" }
            }
            p.muted {
                @match from {
                    Some(from) => { "Compared with version " (from) "." },
                    None => { "Compared with the one before." },
                }
            }
            @if history.changes.is_empty() {
                (empty_state("Nothing differs", &html! { a.button href=(path) { "All versions" } }))
            }
            @for (field, change) in &history.changes { (change_section(field, change)) }
            form.no-print method="post" action={ (path) "/" (version) } { button { "Go back to this version" } }
        }
    }))
}

/// The difference in one field: line by line for a text, otherwise the value before and after.
fn change_section(field: &str, change: &Value) -> Markup {
    html! {
        section.card.change {
            h2 dir="auto" { (field) }
            @if let Some(diff) = change.as_str() {
                div.diff dir="auto" tabindex="0" role="group" aria-label={ "What differs in " (field) } {
                    @for line in diff.lines() { (diff_line(line)) }
                }
            } @else {
                p { del dir="auto" { (plain(&change["from"])) } " → " ins dir="auto" { (plain(&change["to"])) } }
            }
        }
    }
}

fn diff_line(line: &str) -> Markup {
    let (sign, text) = line.split_at_checked(2).unwrap_or(("", line));
    html! {
        @match sign {
            "+ " => { ins.line { (text) } },
            "- " => { del.line { (text) } },
            "  " => { span.line { (text) } },
            _ => { span.line.gap { "…" } },
        }
    }
}

/// A value of any field in words.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::String(text) if text.is_empty() => "nothing".to_owned(),
        Value::String(text) => text.clone(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Array(items) if items.is_empty() => "nothing".to_owned(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// `POST /c/{campaign}/lore/{entity}/history/{version}`: goes back to it.
pub(crate) async fn restore(
    State(context): State<SharedContext>,
    PagePath((campaign, entity, version)): PagePath<(String, u64, u64)>,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let input = json!({"method": "restore", "campaign_id": campaign, "entity_id": entity, "to": version});
    context.send::<Value>(&visitor.caller, "lore_history", input).await?;
    Ok(Redirect::to(&format!("{}?done=restored", entity_path(&campaign, entity))).into_response())
}

/// `GET /c/{campaign}/lore/archive`.
pub(crate) async fn archive(
    State(context): State<SharedContext>,
    PagePath(campaign): PagePath<String>,
    RawQuery(query): RawQuery,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let query = Form::parse(&query.unwrap_or_default());
    let head = context.campaign_head(&visitor, &campaign).await?;
    check_game_master(&visitor, &head.id)?;
    let mut input = json!({"method": "archive", "campaign_id": head.id});
    if let Some(cursor) = query.filled("cursor") {
        input["cursor"] = cursor.into();
    }
    let history: EntityHistoryAnswer = context.read(&visitor.caller, "lore_history", input).await?;
    let path = format!("{}/archive", lore_path(&head.id));
    let layout = PageLayout::for_visitor("Archive", &visitor).campaign(&head, CampaignPart::Lore);
    let layout = layout.script("live-parts.js");
    Ok(layout.render(html! {
        div.lore data-live-parts=(LivePage::Lore.path(&head.id)) {
            (lore_navigation(&head.id, "Archive", true))
            h1 { "Archive" }
            @if let Some(done) = notice(&query) { p.notice role="status" { (done) } }
            div.lore-found #archived data-live-part {
            @if history.archived.is_empty() {
                (empty_state("Nothing was deleted", &html! { a.button href=(lore_path(&head.id)) { "To the lore" } }))
            } @else {
                p.muted { (count(history.archived.len() as u64, "deleted thing", "deleted things")) " here. Nobody finds them until you take them back." }
                ul.rows {
                    @for row in &history.archived {
                        li.row {
                            div.row-main {
                                bdi { (row.name) }
                                span.muted {
                                    @if row.post_id.is_some() { "a post · " }
                                    @if let Some(at) = &row.archived_at { (time(at)) }
                                }
                            }
                            form method="post" action={ (path) "/restore" } {
                                input type="hidden" name="entity_id" value=(row.entity_id);
                                @if let Some(post_id) = row.post_id { input type="hidden" name="post_id" value=(post_id); }
                                button aria-label={ "Take back " (row.name) } { "Take back" }
                            }
                        }
                    }
                }
                (next_page(&path, history.next_cursor.as_deref()))
            }
            }
        }
    }))
}

/// `POST /c/{campaign}/lore/archive/restore`.
pub(crate) async fn undelete(
    State(context): State<SharedContext>,
    PagePath(campaign): PagePath<String>,
    visitor: Visitor,
    form: Form,
) -> Result<Response, PageError> {
    let entity_id = form.integer("entity_id")?.unwrap_or_default();
    let mut input = json!({"method": "undelete", "campaign_id": campaign, "entity_id": entity_id});
    if let Some(post_id) = form.integer("post_id")? {
        input["post_id"] = post_id.into();
    }
    context.send::<Value>(&visitor.caller, "lore_history", input).await?;
    Ok(Redirect::to(&format!("{}/{entity_id}?done=restored", lore_path(&campaign))).into_response())
}
