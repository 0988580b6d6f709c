//! `/c/{campaign}/timeline`: the events that were written and those that the journal recorded, ordered by their days, with
//! filters; and for game masters the forms that add, change and remove events.
//!
//! The form of an event sends what was changed in it and nothing else: who sees an event can be more than its form shows.

use std::collections::BTreeMap;

use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, json};
use skald_app::{Code, Fault};

use crate::SharedContext;
use crate::components::{TextField, empty_state, encode, fault_box, next_page, time};
use crate::extractors::PagePath;
use crate::form::Form;
use crate::layout::{CampaignHead, CampaignPart, PageLayout};
use crate::live_pages::LivePage;
use crate::lore::browse::private_mark;
use crate::lore::conflict::{ConflictSubject, EditBase, FieldText, apply_choices, conflict_page, is_same, merge_form};
use crate::lore::edit::with_status;
use crate::lore::{check_game_master, entity_path, notice};
use crate::middleware::PageError;
use crate::visitor::Visitor;

#[derive(Debug, Default, Deserialize)]
struct TimelinePage {
    #[serde(default)]
    events: Vec<TimelineLine>,
    next_cursor: Option<String>,
    #[serde(default)]
    truncated: bool,
}

#[derive(Debug, Deserialize)]
struct TimelineLine {
    id: Option<u64>,
    kind: Option<String>,
    date: Option<String>,
    sort: Option<Value>,
    at: Option<String>,
    description: String,
    #[serde(default)]
    truncated: bool,
    #[serde(default)]
    entities: Vec<TimelineEntity>,
    session_id: Option<String>,
    is_player_known: Option<bool>,
    /// For game masters; empty if the whole table sees it.
    #[serde(default)]
    visible_to: Vec<String>,
    /// Zero for players, who do not change it.
    #[serde(default)]
    revision: u64,
}

impl TimelineLine {
    fn is_for_people(&self) -> bool {
        self.visible_to.iter().any(|word| word != "gm")
    }

    /// Who sees it, for game masters, if that is not the table. `names` are those of the people by id.
    fn audience_mark(&self, names: &BTreeMap<String, String>) -> Markup {
        let names: Vec<&str> = self.visible_to.iter().filter_map(|id| names.get(id).map(String::as_str)).collect();
        html! {
            @if self.is_for_people() {
                " " span.badge.badge-private dir="auto" { "for " (if names.is_empty() { "some".to_owned() } else { names.join(", ") }) }
            } @else if !self.visible_to.is_empty() {
                " " (private_mark())
            }
        }
    }
}

#[derive(Debug, Deserialize)]
struct TimelineEntity {
    id: u64,
    name: String,
}

/// What a list has, in the words of the form.
const INCLUDES: [(&str, &str); 4] =
    [("story", "The story"), ("written", "What was written"), ("recorded", "What was recorded"), ("all", "Everything")];

fn timeline_path(campaign_id: &str) -> String {
    format!("/c/{campaign_id}/timeline")
}

/// `GET /c/{campaign}/timeline`.
pub(crate) async fn show(
    State(context): State<SharedContext>,
    PagePath(campaign): PagePath<String>,
    RawQuery(query): RawQuery,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let query = Form::parse(&query.unwrap_or_default());
    timeline_page(&context, &campaign, &visitor, &query, &Form::default(), None).await
}

async fn timeline_page(
    context: &SharedContext,
    campaign: &str,
    visitor: &Visitor,
    query: &Form,
    typed: &Form,
    fault: Option<&Fault>,
) -> Result<Response, PageError> {
    let head = context.campaign_head(visitor, campaign).await?;
    let found = context.read::<TimelinePage>(&visitor.caller, "read_timeline", query_input(&head.id, query)).await;
    // A date that does not sort is shown beside its field; the rest of the page stays.
    let (found, bad_filter) = match found {
        Ok(found) => (found, None),
        Err(fault) if fault.code() == Code::InvalidParams => (TimelinePage::default(), Some(fault)),
        Err(fault) => return Err(fault.into()),
    };
    let is_game_master = visitor.is_game_master_of(&head.id);
    let names = audience_names(context, visitor, &head.id, &found.events).await?;
    let layout = PageLayout::for_visitor("Timeline", visitor).campaign(&head, CampaignPart::Timeline);
    let layout = layout.script("live-parts.js");
    Ok(layout.render(html! {
        div.lore data-live-parts=(LivePage::Timeline.path(&head.id)) {
            h1 { "Timeline" }
            @if let Some(done) = notice(query) { p.notice role="status" { (done) } }
            (filter_form(&head.id, query))
            @if let Some(fault) = &bad_filter { (fault_box(fault)) }
            div.lore-found #moments data-live-part {
                @if found.events.is_empty() && bad_filter.is_none() { (empty_timeline(&head, query, is_game_master)) }
                (events(&head.id, &found.events, is_game_master, &names))
                @if found.truncated { p.muted { "Older rolls are left out. Choose a session to see all of its rolls." } }
                (next_page(&filter_path(&head.id, query), found.next_cursor.as_deref()))
            }
            @if is_game_master {
                section.card.no-print #add {
                    h2 { "Write what happened" }
                    @if let Some(fault) = fault { (fault_box(fault)) }
                    (event_form(&timeline_path(&head.id), typed, None, fault, "Add"))
                }
            }
        }
    }))
}

fn query_input(campaign_id: &str, query: &Form) -> Value {
    let mut input = json!({"campaign_id": campaign_id});
    let fields = [
        ("include", "include"),
        ("from", "start_date"),
        ("until", "end_date"),
        ("session", "session_id"),
        ("cursor", "cursor"),
    ];
    for (name, field) in fields {
        if let Some(value) = query.filled(name) {
            input[field] = value.into();
        }
    }
    if let Some(entity) = query.filled("entity") {
        input["entity_id"] = entity.parse::<u64>().map_or_else(|_| Value::from(entity), Value::from);
    }
    input
}

fn filter_path(campaign_id: &str, query: &Form) -> String {
    let names = ["include", "from", "until", "session", "entity"];
    let fields: Vec<String> =
        names.iter().filter_map(|name| Some(format!("{name}={}", encode(query.filled(name)?)))).collect();
    let join = if fields.is_empty() { "" } else { "?" };
    format!("{}{join}{}", timeline_path(campaign_id), fields.join("&"))
}

fn filter_form(campaign_id: &str, query: &Form) -> Markup {
    let chosen = query.filled("include").unwrap_or("story");
    let text = |name, label, note| {
        let field =
            TextField { name, label, value: query.text(name), kind: "text", note, is_required: false, fault: None };
        field.render()
    };
    html! {
        form.timeline-filter method="get" action=(timeline_path(campaign_id)) {
            div.field {
                label for="include" { "Show" }
                select #include name="include" {
                    @for (word, title) in INCLUDES { option value=(word) selected[word == chosen] { (title) } }
                }
            }
            (text("entity", "About", None))
            (text("from", "From", None))
            (text("until", "Until", None))
            @if let Some(session) = query.filled("session") { input type="hidden" name="session" value=(session); }
            button { "Filter" }
        }
    }
}

fn empty_timeline(head: &CampaignHead, query: &Form, is_game_master: bool) -> Markup {
    let is_filtered = ["include", "from", "until", "session", "entity"].iter().any(|name| query.is_set(name));
    html! {
        @if is_filtered {
            (empty_state("Nothing fits", &html! { a.button href=(timeline_path(&head.id)) { "The whole story" } }))
        } @else {
            (empty_state("Nothing has happened yet", &html! {
                @if is_game_master {
                    p { "Write the first event below, or play: sessions appear by themselves." }
                } @else {
                    p { "What happens at the table will stand here." }
                }
            }))
        }
    }
}

/// The names of the people of a campaign, if some of these events are for single people.
async fn audience_names(
    context: &SharedContext,
    visitor: &Visitor,
    campaign_id: &str,
    rows: &[TimelineLine],
) -> Result<BTreeMap<String, String>, Fault> {
    if rows.iter().any(TimelineLine::is_for_people) {
        return context.people_names(&visitor.caller, campaign_id).await;
    }
    Ok(BTreeMap::new())
}

fn events(campaign_id: &str, rows: &[TimelineLine], is_game_master: bool, names: &BTreeMap<String, String>) -> Markup {
    html! {
        @if !rows.is_empty() {
            ol.timeline {
                @for row in rows {
                    li.moment.moment-recorded[row.id.is_none()] {
                        p.moment-date {
                            @if let Some(date) = &row.date { bdi { (date) } }
                            @else if let Some(at) = &row.at { (time(at)) }
                            @else { (row.sort.as_ref().and_then(Value::as_str).unwrap_or("some day")) }
                        }
                        div.moment-body {
                            p dir="auto" {
                                (row.description) @if row.truncated { "…" }
                                (row.audience_mark(names))
                            }
                            p.muted {
                                @if let Some(kind) = &row.kind { span.moment-kind { (kind.replace(['.', '_'], " ")) } }
                                @for entity in &row.entities {
                                    a.entity-link href=(entity_path(campaign_id, entity.id)) { bdi { (entity.name) } }
                                }
                                @if let Some(session) = &row.session_id {
                                    a href={ (timeline_path(campaign_id)) "?include=all&session=" (encode(session)) } { "this session" }
                                }
                                @if let Some(id) = row.id.filter(|_| is_game_master || row.truncated) {
                                    a href={ (timeline_path(campaign_id)) "/" (id) } {
                                        (if is_game_master { "Edit" } else { "Read on" })
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn event_form(action: &str, typed: &Form, base: Option<&EditBase>, fault: Option<&Fault>, button: &str) -> Markup {
    let text = |name, label, kind, note, is_required| {
        TextField { name, label, value: typed.text(name), kind, note, is_required, fault }.render()
    };
    html! {
        form method="post" action=(action) {
            @if let Some(base) = base { (base.inputs()) }
            (text("description", "What happened", "textarea", None, true))
            div.edit-fields {
                (text("date", "When, as the table says it", "text", Some("3rd of Rain, 1204"), false))
                (text("sort", "When, to sort by", "text", Some("1204, 1204-03 or -44-03-15; may be left out"), false))
                (text("entities", "About", "text", Some("Names of entries, with commas between them"), false))
            }
            label.check {
                input type="checkbox" name="is_player_known" value="yes" checked[typed.is_set("is_player_known")];
                " The table knows it"
            }
            div.actions {
                button.primary name="do" value="save" { (button) }
            }
        }
    }
}

/// All that was typed, for an event that is not there yet.
fn new_event(form: &Form) -> Value {
    let mut input = json!({
        "description": form.text("description"),
        "is_player_known": form.is_set("is_player_known"),
        "entity_ids": entity_names(form),
    });
    for field in ["date", "sort"] {
        if let Some(value) = form.filled(field) {
            input[field] = value.into();
        }
    }
    input
}

fn entity_names(form: &Form) -> Vec<&str> {
    form.text("entities").split(',').map(str::trim).filter(|name| !name.is_empty()).collect()
}

/// The fields that were changed: those that differ both from what the form was filled with and from what is stored. An
/// empty text clears a field.
fn event_changes(form: &Form, base: &EditBase, stored: &[FieldText]) -> Value {
    let is_changed = |key: &str| {
        let stored = stored.iter().find(|field| field.key == key).map(|field| field.value.as_str());
        let typed = form.text(key);
        !base.has(key, typed) && !stored.is_some_and(|stored| is_same(stored, typed))
    };
    let mut input = json!({});
    for field in ["description", "date", "sort"] {
        if is_changed(field) {
            input[field] = form.text(field).trim().into();
        }
    }
    if is_changed("date") {
        // A new date is sorted as the form says. Where that says nothing, or what the old date said, it follows from the new
        // one.
        match form.filled("sort") {
            Some(sort) if is_changed("sort") || !base.has("date", sort) => input["sort"] = sort.into(),
            _ => drop(input.as_object_mut().and_then(|fields| fields.remove("sort"))),
        }
    }
    if is_changed("entities") {
        input["entity_ids"] = entity_names(form).into();
    }
    if is_changed("is_player_known") {
        input["is_player_known"] = form.is_set("is_player_known").into();
    }
    input
}

/// `POST /c/{campaign}/timeline`.
pub(crate) async fn add(
    State(context): State<SharedContext>,
    PagePath(campaign): PagePath<String>,
    visitor: Visitor,
    form: Form,
) -> Result<Response, PageError> {
    let mut input = new_event(&form);
    input["method"] = "add".into();
    input["campaign_id"] = campaign.clone().into();
    match context.send::<Value>(&visitor.caller, "timeline", input).await {
        Ok(_) => Ok(Redirect::to(&format!("{}?done=added", timeline_path(&campaign))).into_response()),
        Err(fault) if visitor.is_game_master_of(&campaign) => {
            let page = timeline_page(&context, &campaign, &visitor, &Form::default(), &form, Some(&fault)).await?;
            Ok(with_status(page, &fault))
        }
        Err(fault) => Err(fault.into()),
    }
}

/// `GET /c/{campaign}/timeline/{event}`: one event, whole; for game masters with its form.
pub(crate) async fn show_event(
    State(context): State<SharedContext>,
    PagePath((campaign, event)): PagePath<(String, u64)>,
    visitor: Visitor,
) -> Result<Response, PageError> {
    event_page(&context, &campaign, event, &visitor, None).await
}

/// The form of an event as somebody sent it, and why it was refused, if it was.
#[derive(Clone, Copy)]
struct SentEvent<'a> {
    form: &'a Form,
    fault: Option<&'a Fault>,
}

async fn event_page(
    context: &SharedContext,
    campaign: &str,
    event: u64,
    visitor: &Visitor,
    sent: Option<SentEvent<'_>>,
) -> Result<Response, PageError> {
    let head = context.campaign_head(visitor, campaign).await?;
    let row = read_event(context, visitor, &head.id, event).await?;
    let is_game_master = visitor.is_game_master_of(&head.id);
    let names = audience_names(context, visitor, &head.id, std::slice::from_ref(&row)).await?;
    let stored = event_texts(&row);
    let base = sent.map(|sent| EditBase::of_form(sent.form)).transpose()?.flatten();
    let base = base.unwrap_or_else(|| EditBase::of_stored(row.revision, &stored));
    let (typed, fault) = sent.map_or((base.form(), None), |sent| (sent.form, sent.fault));
    let action = format!("{}/{event}", timeline_path(&head.id));
    let layout = PageLayout::for_visitor("An event", visitor).campaign(&head, CampaignPart::Timeline);
    Ok(layout.render(html! {
        div.narrow {
            div.split {
                h1 { @if let Some(date) = &row.date { bdi { (date) } } @else { "An event" } (row.audience_mark(&names)) }
                a.button href=(timeline_path(&head.id)) { "Timeline" }
            }
            p.event-text dir="auto" { (row.description) }
            @if is_game_master {
                @if let Some(fault) = fault { (fault_box(fault)) }
                (event_form(&action, typed, Some(&base), fault, "Save"))
                form.delete-form method="post" action=(action) { button.danger name="do" value="remove" { "Remove it" } }
            }
        }
    }))
}

async fn read_event(
    context: &SharedContext,
    visitor: &Visitor,
    campaign_id: &str,
    event: u64,
) -> Result<TimelineLine, Fault> {
    let input = json!({"method": "query", "campaign_id": campaign_id, "event_id": event});
    let found: TimelinePage = context.read(&visitor.caller, "timeline", input).await?;
    found.events.into_iter().next().ok_or_else(|| {
        let fault = Fault::new(Code::NotFound, format!("there is no event {event} on this timeline"));
        fault.hint("go back to the timeline")
    })
}

/// What is stored, as the form names it.
fn event_texts(row: &TimelineLine) -> [FieldText; 5] {
    let entities: Vec<&str> = row.entities.iter().map(|entity| entity.name.as_str()).collect();
    let is_player_known = if row.is_player_known == Some(true) { "yes" } else { "" };
    let sort = row.sort.as_ref().and_then(Value::as_str).unwrap_or_default();
    [
        ("is_player_known", "Who knows it", is_player_known.to_owned()),
        ("description", "What happened", row.description.clone()),
        ("date", "When, as the table says it", row.date.clone().unwrap_or_default()),
        ("sort", "When, to sort by", sort.to_owned()),
        ("entities", "About", entities.join(", ")),
    ]
    .map(|(key, label, value)| FieldText { key, label, value })
}

/// `POST /c/{campaign}/timeline/{event}`.
pub(crate) async fn change(
    State(context): State<SharedContext>,
    PagePath((campaign, event)): PagePath<(String, u64)>,
    visitor: Visitor,
    form: Form,
) -> Result<Response, PageError> {
    check_game_master(&visitor, &campaign)?;
    let done_page = |done: &str| Redirect::to(&format!("{}?done={done}", timeline_path(&campaign))).into_response();
    if form.text("do") == "remove" {
        let input = json!({"method": "remove", "campaign_id": campaign, "event_id": event});
        context.send::<Value>(&visitor.caller, "timeline", input).await?;
        return Ok(done_page("removed"));
    }
    let form = apply_choices(&form);
    if form.text("do") == "edit" {
        let sent = SentEvent { form: &form, fault: None };
        return event_page(&context, &campaign, event, &visitor, Some(sent)).await;
    }
    let row = read_event(&context, &visitor, &campaign, event).await?;
    let stored = event_texts(&row);
    let base = EditBase::of_form(&form)?;
    let merged = merge_form(&form, base.as_ref(), row.revision, &stored);
    if !merged.conflicts.is_empty() {
        let head = context.campaign_head(&visitor, &campaign).await?;
        let path = format!("{}/{event}", timeline_path(&head.id));
        let subject = ConflictSubject {
            head,
            part: CampaignPart::Timeline,
            title: "Edit an event".to_owned(),
            action: path.clone(),
            path,
            revision: row.revision,
            stored: &stored,
        };
        return Ok(conflict_page(&visitor, &subject, &merged));
    }
    let mut input = event_changes(&merged.form, &base.unwrap_or_default(), &stored);
    input["method"] = "update".into();
    input["campaign_id"] = campaign.clone().into();
    input["event_id"] = event.into();
    match context.send::<Value>(&visitor.caller, "timeline", input).await {
        Ok(_) => Ok(done_page(if merged.their_fields.is_empty() { "saved" } else { "merged" })),
        Err(fault) => {
            let sent = SentEvent { form: &form, fault: Some(&fault) };
            let page = event_page(&context, &campaign, event, &visitor, Some(sent)).await?;
            Ok(with_status(page, &fault))
        }
    }
}
