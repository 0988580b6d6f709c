//! `/c/{campaign}/kanka`: the mirror of Kanka: how fresh it is, and the inbox of what both sides changed; for game masters.

use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::SharedContext;
use crate::components::{count, empty_state, next_page, time};
use crate::extractors::PagePath;
use crate::form::Form;
use crate::layout::{CampaignPart, PageLayout};
use crate::live_pages::LivePage;
use crate::lore::history::plain;
use crate::lore::{check_game_master, entity_path, lore_navigation, notice};
use crate::middleware::PageError;
use crate::visitor::Visitor;

#[derive(Debug, Deserialize)]
struct MirrorPage {
    summary: String,
    linked: bool,
    kanka_name: Option<String>,
    synced_at: Option<String>,
    #[serde(default)]
    stale: bool,
    pending: u64,
    #[serde(default)]
    conflicts: Vec<MirrorConflict>,
    #[serde(default)]
    problems: Vec<MirrorTrouble>,
    failure: Option<MirrorSyncFailure>,
    next_cursor: Option<String>,
}

#[derive(Debug, Deserialize)]
struct MirrorConflict {
    entity_id: u64,
    name: String,
    post_id: Option<u64>,
    field: String,
    ours: Value,
    theirs: Value,
}

#[derive(Debug, Deserialize)]
struct MirrorTrouble {
    entity_id: u64,
    reason: String,
}

#[derive(Debug, Deserialize)]
struct MirrorSyncFailure {
    message: String,
    at: String,
}

/// `GET /c/{campaign}/kanka`.
pub(crate) async fn show(
    State(context): State<SharedContext>,
    PagePath(campaign): PagePath<String>,
    RawQuery(query): RawQuery,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let query = Form::parse(&query.unwrap_or_default());
    let head = context.campaign_head(&visitor, &campaign).await?;
    check_game_master(&visitor, &head.id)?;
    let mut input = json!({"method": "conflicts", "campaign_id": head.id});
    if let Some(cursor) = query.filled("cursor") {
        input["cursor"] = cursor.into();
    }
    if let Some(entity_id) = query.integer("entity")? {
        input["entity_id"] = entity_id.into();
    }
    let page: MirrorPage = context.read(&visitor.caller, "kanka_mirror", input).await?;
    let path = format!("/c/{}/kanka", head.id);
    let layout = PageLayout::for_visitor("Kanka", &visitor).campaign(&head, CampaignPart::Lore);
    let layout = layout.script("live-parts.js");
    Ok(layout.render(html! {
        div.lore data-live-parts=(LivePage::Lore.path(&head.id)) {
            (lore_navigation(&head.id, "Kanka", true))
            h1 { "Kanka" }
            @if let Some(done) = notice(&query) { p.notice role="status" { (done) } }
            div.lore-found #mirror data-live-part {
            @if page.linked {
                (mirror_state(&path, &page))
                (inbox(&head.id, &path, &page))
                (next_page(&path, page.next_cursor.as_deref()))
            } @else {
                (empty_state("Not linked to Kanka", &html! {
                    p { (page.summary) }
                    p { "Whoever runs the server links it: " code { "skald kanka link" } "." }
                }))
            }
            }
        }
    }))
}

fn mirror_state(path: &str, page: &MirrorPage) -> Markup {
    html! {
        section.card {
            div.split {
                h2 { bdi { (page.kanka_name.as_deref().unwrap_or("Linked")) } @if page.stale { " " span.badge { "stale" } } }
                form.inline-form method="post" action=(path) {
                    button name="do" value="pull" { "Sync now" }
                    @if page.pending > 0 { button name="do" value="push" { "Send again" } }
                }
            }
            p { (page.summary) }
            p.muted {
                (count(page.pending, "write waits", "writes wait")) " to be sent"
                @if let Some(at) = &page.synced_at { " · synced " (time(at)) }
            }
            @if let Some(failure) = &page.failure {
                p.warning { "The last sync failed: " bdi { (failure.message) } " · " (time(&failure.at)) }
            }
            @for trouble in &page.problems { p.muted { "Entry " (trouble.entity_id) ": " bdi { (trouble.reason) } } }
        }
    }
}

fn inbox(campaign_id: &str, path: &str, page: &MirrorPage) -> Markup {
    let side = |title: &str, value: &Value| {
        html! { div.side { h3 { (title) } pre.block dir="auto" tabindex="0" { (plain(value)) } } }
    };
    html! {
        h2 { "Both sides changed" }
        @if page.conflicts.is_empty() {
            (empty_state("Nothing to decide", &html! { p { "What is changed here and in Kanka at once will wait here." } }))
        }
        @for row in &page.conflicts {
            section.card {
                h3 { a href=(entity_path(campaign_id, row.entity_id)) { bdi { (row.name) } } " · " (row.field) }
                div.sides { (side("Here", &row.ours)) (side("In Kanka", &row.theirs)) }
                form.inline-form method="post" action=(path) {
                    input type="hidden" name="entity_id" value=(row.entity_id);
                    @if let Some(post_id) = row.post_id { input type="hidden" name="post_id" value=(post_id); }
                    input type="hidden" name="field" value=(row.field);
                    button.primary name="do" value="ours" { "Keep ours" }
                    button name="do" value="theirs" { "Take theirs" }
                    a.button href={ (path) "?entity=" (row.entity_id) } { "Whole texts" }
                }
            }
        }
    }
}

/// `POST /c/{campaign}/kanka`: syncs, or decides one conflict.
pub(crate) async fn sync_or_resolve(
    State(context): State<SharedContext>,
    PagePath(campaign): PagePath<String>,
    visitor: Visitor,
    form: Form,
) -> Result<Response, PageError> {
    check_game_master(&visitor, &campaign)?;
    let mut input = json!({"campaign_id": campaign});
    let done = match form.text("do") {
        method @ ("pull" | "push") => {
            input["method"] = method.into();
            "synced"
        }
        keep => {
            input["method"] = "resolve".into();
            input["keep"] = keep.into();
            input["field"] = form.text("field").into();
            for field in ["entity_id", "post_id"] {
                if let Some(id) = form.integer(field)? {
                    input[field] = id.into();
                }
            }
            "resolved"
        }
    };
    context.send::<Value>(&visitor.caller, "kanka_mirror", input).await?;
    Ok(Redirect::to(&format!("/c/{campaign}/kanka?done={done}")).into_response())
}
