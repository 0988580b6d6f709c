//! `/c/{campaign}/canon`: changes of what is established, held until a person decides; for game masters.

use std::collections::BTreeMap;

use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, json};
use skald_app::{Code, Fault};

use crate::SharedContext;
use crate::components::{TextField, empty_state, fault_box, next_page, time};
use crate::extractors::PagePath;
use crate::form::Form;
use crate::layout::{CampaignPart, PageLayout};
use crate::live_pages::LivePage;
use crate::lore::edit::with_status;
use crate::lore::history::plain;
use crate::lore::{check_game_master, entity_path, notice};
use crate::middleware::PageError;
use crate::visitor::Visitor;

#[derive(Debug, Deserialize)]
struct CanonPage {
    #[serde(default)]
    rows: Vec<HeldChange>,
    next_cursor: Option<String>,
}

/// A held change with the stored value and the proposed one.
#[derive(Debug, Deserialize)]
struct HeldChange {
    id: Option<String>,
    status: Option<String>,
    #[serde(default)]
    entities: Vec<crate::lore::EntityLink>,
    #[serde(default)]
    what: String,
    #[serde(default)]
    fields: Vec<String>,
    #[serde(default)]
    values: BTreeMap<String, Value>,
    by: Option<String>,
    tool: Option<String>,
    at: Option<String>,
    #[serde(default)]
    log: Vec<Value>,
}

const STATUSES: [(&str, &str); 3] = [("", "Open"), ("ACKNOWLEDGED", "Seen, not decided"), ("RESOLVED", "Decided")];

/// `GET /c/{campaign}/canon`.
pub(crate) async fn show(
    State(context): State<SharedContext>,
    PagePath(campaign): PagePath<String>,
    RawQuery(query): RawQuery,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let query = Form::parse(&query.unwrap_or_default());
    let head = context.campaign_head(&visitor, &campaign).await?;
    check_game_master(&visitor, &head.id)?;
    let mut input = json!({"method": "list", "campaign_id": head.id});
    for field in ["status", "cursor"] {
        if let Some(value) = query.filled(field) {
            input[field] = value.into();
        }
    }
    let page: CanonPage = context.read(&visitor.caller, "canon", input).await?;
    let path = format!("/c/{}/canon", head.id);
    let status = query.text("status");
    let list_path = if status.is_empty() { path.clone() } else { format!("{path}?status={status}") };
    let layout = PageLayout::for_visitor("Canon", &visitor).campaign(&head, CampaignPart::Canon);
    let layout = layout.script("live-parts.js");
    Ok(layout.render(html! {
        div.lore data-live-parts=(LivePage::Lore.path(&head.id)) {
            h1 { "Canon" }
            p.lead { "What is established stays until a person decides. Changes of it wait here." }
            @if let Some(done) = notice(&query) { p.notice role="status" { (done) } }
            nav.chips aria-label="Which" {
                @for (word, title) in STATUSES {
                    @let target = if word.is_empty() { path.clone() } else { format!("{path}?status={word}") };
                    a.chip href=(target) aria-current=[(word == status).then_some("true")] { (title) }
                }
            }
            div.lore-found #held data-live-part {
            @if page.rows.is_empty() {
                (empty_state("Nothing waits", &html! {
                    p { "When a change contradicts what is marked as authoritative, it is held and appears here." }
                    a.button href={ "/c/" (head.id) "/lore" } { "To the lore" }
                }))
            } @else {
                ul.cards {
                    @for row in &page.rows { li.card { (held_change_card(&head.id, &path, row)) } }
                }
                (next_page(&list_path, page.next_cursor.as_deref()))
            }
            }
            p.muted { "Changes that differ from Kanka are decided " a href={ "/c/" (head.id) "/kanka" } { "beside its mirror" } "." }
        }
    }))
}

fn held_change_card(campaign_id: &str, path: &str, row: &HeldChange) -> Markup {
    html! {
        h2 {
            @match &row.id {
                Some(id) => { a href={ (path) "/" (id) } { (entity_names(row)) } },
                None => { (entity_names(row)) },
            }
        }
        @if !row.what.is_empty() { p dir="auto" { (row.what) } }
        @if !row.fields.is_empty() { p.muted { (row.fields.join(", ")) } }
        p.muted { (came_from(row)) }
        @for entity in row.entities.iter().filter(|entity| entity.name.is_some()) {
            p { a href=(entity_path(campaign_id, entity.entity_id)) { "Read the entry" } }
        }
    }
}

fn entity_names(row: &HeldChange) -> Markup {
    html! {
        @if row.entities.is_empty() { "A change" }
        @for (at, entity) in row.entities.iter().enumerate() {
            @if at > 0 { ", " }
            bdi { (entity.name.as_deref().unwrap_or("deleted")) }
        }
    }
}

fn came_from(row: &HeldChange) -> Markup {
    html! {
        @if let Some(by) = &row.by { "by " bdi { (by) } }
        @if let Some(tool) = &row.tool { " with " bdi { (tool) } }
        @if let Some(at) = &row.at { " · " (time(at)) }
    }
}

/// `GET /c/{campaign}/canon/{conflict}`.
pub(crate) async fn show_conflict(
    State(context): State<SharedContext>,
    PagePath((campaign, conflict)): PagePath<(String, String)>,
    visitor: Visitor,
) -> Result<Response, PageError> {
    conflict_page(&context, &campaign, &conflict, &visitor, &Form::default(), None).await
}

async fn conflict_page(
    context: &SharedContext,
    campaign: &str,
    conflict: &str,
    visitor: &Visitor,
    typed: &Form,
    fault: Option<&Fault>,
) -> Result<Response, PageError> {
    let head = context.campaign_head(visitor, campaign).await?;
    check_game_master(visitor, &head.id)?;
    let input = json!({"method": "get", "campaign_id": head.id, "id": conflict});
    let page: CanonPage = context.read(&visitor.caller, "canon", input).await?;
    let row = page
        .rows
        .into_iter()
        .next()
        .ok_or_else(|| Fault::new(Code::NotFound, "there is no such conflict").hint("go back to the list"))?;
    let path = format!("/c/{}/canon", head.id);
    let action = format!("{path}/{conflict}");
    let is_resolved = row.status.as_deref() == Some("RESOLVED");
    let layout = PageLayout::for_visitor("A held change", visitor).campaign(&head, CampaignPart::Canon);
    Ok(layout.render(html! {
        div.lore {
            div.split { h1 { (entity_names(&row)) } a.button href=(path) { "All" } }
            @if !row.what.is_empty() { p.lead dir="auto" { (row.what) } }
            p.muted { (came_from(&row)) }
            @for (field, values) in &row.values { (both_values(field, values)) }
            @if !row.log.is_empty() { (decisions(&row.log)) }
            @if let Some(fault) = fault { (fault_box(fault)) }
            (decision_form(&action, &row, is_resolved, typed, fault))
        }
    }))
}

/// The stored value and the proposed one, side by side.
fn both_values(field: &str, values: &Value) -> Markup {
    let side = |title: &str, side: &Value| {
        html! {
            div.side {
                h3 { (title) " " @if let Some(mark) = side["confidence"].as_str() { span.badge { (mark.to_lowercase()) } } }
                pre.block dir="auto" tabindex="0" { (plain(&side["value"])) }
            }
        }
    };
    html! {
        section.card {
            h2 dir="auto" { (field) }
            div.sides { (side("As it is", &values["current"])) (side("As it would be", &values["proposed"])) }
        }
    }
}

fn decisions(log: &[Value]) -> Markup {
    let text = |row: &Value, field: &str| row[field].as_str().unwrap_or_default().to_owned();
    html! {
        section {
            h2 { "What was decided" }
            ol.rows {
                @for row in log {
                    li.row {
                        div.row-main {
                            span { (text(row, "status").to_lowercase()) " " (text(row, "choice")) " by " bdi { (text(row, "by")) } }
                            @if !text(row, "reason").is_empty() { span.muted dir="auto" { (text(row, "reason")) } }
                        }
                        (time(&text(row, "at")))
                    }
                }
            }
        }
    }
}

fn decision_form(action: &str, row: &HeldChange, is_resolved: bool, typed: &Form, fault: Option<&Fault>) -> Markup {
    let reason = TextField {
        name: "reason",
        label: "Why",
        value: typed.text("reason"),
        kind: "text",
        note: Some("Kept with the decision"),
        is_required: true,
        fault,
    };
    html! {
        form.card.no-print method="post" action=(action) {
            h2 { (if is_resolved { "Open it again" } else { "Decide" }) }
            p.field-note {
                "A person decides: a game master whose token was made with " code { "--kind human --gate-role human" }
                ". Without a token you act as the server was started, which is an agent unless it says otherwise."
            }
            (reason.render())
            @if is_resolved {
                button name="do" value="reopen" { "Open it again" }
            } @else {
                div.actions {
                    button.primary name="do" value="current" { "Keep it as it is" }
                    button name="do" value="proposed" { "Take the change" }
                    button name="do" value="acknowledge" formnovalidate { "Decide later" }
                }
                @if !row.fields.is_empty() {
                    details.more open[typed.is_set("value")] {
                        summary { "Neither: write it yourself" }
                        div.field {
                            label for="field" { "Field" }
                            select #field name="field" {
                                @for field in &row.fields {
                                    option value=(field) selected[typed.text("field") == field] { (field) }
                                }
                            }
                        }
                        (TextField { name: "value", label: "What it shall be", value: typed.text("value"), kind: "textarea",
                            note: None, is_required: false, fault }.render())
                        button name="do" value="value" { "Take this" }
                    }
                }
            }
        }
    }
}

/// `POST /c/{campaign}/canon/{conflict}`.
pub(crate) async fn decide(
    State(context): State<SharedContext>,
    PagePath((campaign, conflict)): PagePath<(String, String)>,
    visitor: Visitor,
    form: Form,
) -> Result<Response, PageError> {
    check_game_master(&visitor, &campaign)?;
    let mut input = json!({"campaign_id": campaign, "id": conflict});
    match form.text("do") {
        method @ ("acknowledge" | "reopen") => input["method"] = method.into(),
        choice => {
            input["method"] = "resolve".into();
            input["choice"] = choice.into();
            if choice == "value" {
                input["fields"] = json!([form.text("field")]);
                input["value"] = form.text("value").into();
            }
        }
    }
    if let Some(reason) = form.filled("reason") {
        input["reason"] = reason.into();
    }
    match context.send::<Value>(&visitor.caller, "canon", input).await {
        Ok(_) => Ok(Redirect::to(&format!("/c/{campaign}/canon?done=resolved")).into_response()),
        Err(fault) => {
            let page = conflict_page(&context, &campaign, &conflict, &visitor, &form, Some(&fault)).await?;
            Ok(with_status(page, &fault))
        }
    }
}
