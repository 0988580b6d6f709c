//! `/c/{campaign}/lore/new` and `/c/{campaign}/lore/{entity}/edit`: the editor of an entity with its preview. Changes that
//! somebody else saved meanwhile are merged, or the page asks which ones to keep.

use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use maud::html;
use serde_json::json;
use skald_app::{Code, Fault};

use super::conflict::{ConflictSubject, EditBase, MergedForm, apply_choices, conflict_page, merge_form};
use super::entity_form::{EditState, EntityFields, EntryPreview, changed_meanwhile, entity_form, preview_part};
use super::{Article, ItemOutcome, check_game_master, entity_path, lore_navigation, lore_path};
use crate::components::encode;
use crate::extractors::PagePath;
use crate::form::Form;
use crate::layout::{CampaignHead, CampaignPart, PageLayout, html_response};
use crate::middleware::{PageError, status};
use crate::visitor::Visitor;
use crate::{PageContext, SharedContext};

impl PageContext {
    /// The text as it will be shown.
    pub(crate) async fn entry_preview(
        &self,
        visitor: &Visitor,
        campaign: &str,
        entry: &str,
    ) -> Result<EntryPreview, Fault> {
        let prefix = format!("{}/", lore_path(campaign));
        let input = json!({"campaign_id": campaign, "entry": entry, "link_prefix": prefix});
        self.read(&visitor.caller, "preview_entry", input).await
    }
}

/// `POST /c/{campaign}/lore/preview`: the preview beside a text that somebody writes.
pub(crate) async fn preview(
    State(context): State<SharedContext>,
    PagePath(campaign): PagePath<String>,
    visitor: Visitor,
    form: Form,
) -> Result<Response, PageError> {
    let preview = context.entry_preview(&visitor, &campaign, form.text("entry")).await?;
    Ok(html_response(preview_part(Some(&preview))))
}

/// `GET /c/{campaign}/lore/new`.
pub(crate) async fn show_new(
    State(context): State<SharedContext>,
    PagePath(campaign): PagePath<String>,
    RawQuery(query): RawQuery,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let head = context.campaign_head(&visitor, &campaign).await?;
    check_game_master(&visitor, &head.id)?;
    let query = Form::parse(&query.unwrap_or_default());
    let fields = EntityFields { name: query.text("name").to_owned(), ..EntityFields::default() };
    Ok(new_page(&visitor, &head, &fields, &EditState::default()))
}

fn new_page(visitor: &Visitor, head: &CampaignHead, fields: &EntityFields, state: &EditState<'_>) -> Response {
    let action = format!("{}/new", lore_path(&head.id));
    let layout = PageLayout::for_visitor("New entry", visitor).campaign(head, CampaignPart::Lore).script("edit.js");
    layout.render(html! {
        div.lore {
            (lore_navigation(&head.id, "", true))
            h1 { "New entry" }
            (entity_form(visitor, &head.id, &action, fields, None, state))
        }
    })
}

/// `POST /c/{campaign}/lore/new`.
pub(crate) async fn create(
    State(context): State<SharedContext>,
    PagePath(campaign): PagePath<String>,
    visitor: Visitor,
    form: Form,
) -> Result<Response, PageError> {
    let head = context.campaign_head(&visitor, &campaign).await?;
    check_game_master(&visitor, &head.id)?;
    let fields = EntityFields::of_form(&form);
    if form.text("do") == "preview" {
        let preview = context.entry_preview(&visitor, &campaign, &fields.entry).await?;
        return Ok(new_page(&visitor, &head, &fields, &EditState { preview: Some(&preview), ..EditState::default() }));
    }
    let created = context.send_item(&visitor, "create_entities", &head.id, ("entities", fields.new_item())).await;
    match created {
        Ok(outcome) => Ok(done_page(&head.id, &outcome, "created")),
        Err(fault) => {
            let state = EditState { fault: Some(&fault), ..EditState::default() };
            Ok(with_status(new_page(&visitor, &head, &fields, &state), &fault))
        }
    }
}

/// Back to the entity, which says what was done.
fn done_page(campaign_id: &str, outcome: &ItemOutcome, done: &str) -> Response {
    let path = match outcome.entity_id {
        Some(entity_id) => entity_path(campaign_id, entity_id),
        None => lore_path(campaign_id),
    };
    let names = outcome.unresolved.join(", ");
    let unresolved = if names.is_empty() { String::new() } else { format!("&unresolved={}", encode(&names)) };
    Redirect::to(&format!("{path}?done={done}{unresolved}")).into_response()
}

pub(crate) fn with_status(mut response: Response, fault: &Fault) -> Response {
    *response.status_mut() = status(fault.class());
    response
}

/// `GET /c/{campaign}/lore/{entity}/edit`.
pub(crate) async fn show(
    State(context): State<SharedContext>,
    PagePath((campaign, entity)): PagePath<(String, String)>,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let article = context.article(&visitor, &campaign, &entity).await?;
    check_game_master(&visitor, &article.campaign().id)?;
    let fields = EntityFields::of_entity(&article.entity);
    let preview = EntryPreview { html: article.html.clone(), unresolved: Vec::new() };
    let state = EditState { preview: Some(&preview), saved: Some(&article.entity.entry), ..EditState::default() };
    let base = EditBase::of_stored(article.entity.revision, &fields.texts());
    Ok(edit_page(&visitor, &article, &fields, &base, &state))
}

fn edit_page(
    visitor: &Visitor,
    article: &Article,
    fields: &EntityFields,
    base: &EditBase,
    state: &EditState<'_>,
) -> Response {
    let head = article.campaign();
    let title = format!("Edit {}", article.entity.name);
    let layout = PageLayout::for_visitor(&title, visitor).campaign(&head, CampaignPart::Lore);
    let layout = layout.script("edit.js").script("live-parts.js");
    let action = format!("{}/edit", article.path());
    layout.render(html! {
        div.lore data-live-parts={ (article.path()) "/events" } data-revision=(base.revision) {
            (lore_navigation(&head.id, "", true))
            div.split {
                h1 { "Edit " bdi { (article.entity.name) } }
                div.actions {
                    a.button href=(article.path()) { "Back" }
                    a.button href={ (article.path()) "/history" } { "History" }
                }
            }
            (changed_meanwhile())
            (entity_form(visitor, &head.id, &action, fields, Some(base), state))
            form.delete-form method="post" action={ (article.path()) "/delete" } {
                button.danger { "Delete it" }
                p.field-note { "It goes to the archive, from which you can take it back." }
            }
        }
    })
}

/// `POST /c/{campaign}/lore/{entity}/edit`.
pub(crate) async fn save(
    State(context): State<SharedContext>,
    PagePath((campaign, entity)): PagePath<(String, String)>,
    visitor: Visitor,
    form: Form,
) -> Result<Response, PageError> {
    let article = context.article(&visitor, &campaign, &entity).await?;
    let head = article.campaign();
    check_game_master(&visitor, &head.id)?;
    let form = apply_choices(&form);
    let base = EditBase::of_form(&form)?;
    let typed =
        |form: &Form| EntityFields { entity_type: article.entity.entity_type.clone(), ..EntityFields::of_form(form) };
    let stored = EntityFields::of_entity(&article.entity);
    let shown_base = || base.clone().unwrap_or_else(|| EditBase::of_stored(article.entity.revision, &stored.texts()));
    let saved = Some(article.entity.entry.as_str());
    if ["preview", "edit"].contains(&form.text("do")) {
        let fields = typed(&form);
        let preview = context.entry_preview(&visitor, &campaign, &fields.entry).await;
        let (preview, fault) = (preview.as_ref().ok(), preview.as_ref().err());
        return Ok(edit_page(&visitor, &article, &fields, &shown_base(), &EditState { fault, preview, saved }));
    }
    let merged = merge_form(&form, base.as_ref(), article.entity.revision, &stored.texts());
    if !merged.conflicts.is_empty() {
        return Ok(entity_conflict_page(&visitor, &article, &merged));
    }
    let fields = typed(&merged.form);
    let mut item = fields.changes(&stored);
    item["entity_id"] = article.entity.entity_id.into();
    item["expected_revision"] = article.entity.revision.into();
    match context.send_item(&visitor, "update_entities", &head.id, ("updates", item)).await {
        Ok(outcome) => {
            let outcome = ItemOutcome { entity_id: Some(article.entity.entity_id), ..outcome };
            Ok(done_page(&head.id, &outcome, if merged.their_fields.is_empty() { "saved" } else { "merged" }))
        }
        Err(fault) if fault.code() == Code::RevisionConflict => {
            let newest = context.article(&visitor, &campaign, &entity).await?;
            let stored = EntityFields::of_entity(&newest.entity).texts();
            let merged = merge_form(&form, base.as_ref(), newest.entity.revision, &stored);
            Ok(entity_conflict_page(&visitor, &newest, &merged))
        }
        Err(fault) => {
            let state = EditState { fault: Some(&fault), saved, ..EditState::default() };
            Ok(with_status(edit_page(&visitor, &article, &typed(&form), &shown_base(), &state), &fault))
        }
    }
}

fn entity_conflict_page(visitor: &Visitor, newest: &Article, merged: &MergedForm) -> Response {
    let stored = EntityFields::of_entity(&newest.entity).texts();
    let subject = ConflictSubject {
        head: newest.campaign(),
        part: CampaignPart::Lore,
        title: format!("Edit {}", newest.entity.name),
        action: format!("{}/edit", newest.path()),
        path: newest.path(),
        revision: newest.entity.revision,
        stored: &stored,
    };
    conflict_page(visitor, &subject, merged)
}
