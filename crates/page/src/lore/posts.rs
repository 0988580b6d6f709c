//! `/c/{campaign}/lore/{entity}/posts/…`: further texts of an entity, written and edited like its own.

use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use maud::html;
use serde_json::{Value, json};
use skald_app::{Code, Fault};

use super::conflict::{ConflictSubject, EditBase, FieldText, MergedForm, apply_choices, conflict_page, merge_form};
use super::edit::with_status;
use super::entity_form::{
    EditState, EntryPreview, changed_meanwhile, draft_key, edit_buttons, entry_editor, saved_version,
};
use super::{Article, ArticlePost, check_game_master, lore_navigation, lore_path};
use crate::SharedContext;
use crate::components::{TextField, fault_box};
use crate::extractors::PagePath;
use crate::form::Form;
use crate::layout::{CampaignPart, PageLayout};
use crate::middleware::PageError;
use crate::visitor::Visitor;

/// The fields of a post as they were typed.
#[derive(Default)]
struct PostFields {
    name: String,
    entry: String,
    is_private: bool,
}

impl PostFields {
    fn of_form(form: &Form) -> Self {
        let (name, entry) = (form.text("name").trim().to_owned(), form.text("entry").to_owned());
        Self { name, entry, is_private: form.is_set("is_private") }
    }

    fn of_post(post: &ArticlePost) -> Self {
        let (name, entry) = (post.name.clone(), post.entry.clone());
        Self { name, entry, is_private: post.is_private }
    }

    /// The fields as the form names them, the private mark first.
    fn texts(&self) -> Vec<FieldText> {
        let fields = [
            ("is_private", "Who sees it", if self.is_private { "yes" } else { "" }),
            ("name", "Title", &self.name),
            ("entry", "Text", &self.entry),
        ];
        fields.map(|(key, label, value)| FieldText { key, label, value: value.to_owned() }).into()
    }

    fn item(&self, entity_id: u64) -> Value {
        json!({"entity_id": entity_id, "name": self.name, "entry": self.entry, "is_private": self.is_private})
    }
}

fn page(
    visitor: &Visitor,
    article: &Article,
    post_id: Option<u64>,
    fields: &PostFields,
    base: Option<&EditBase>,
    state: &EditState<'_>,
) -> Response {
    let head = article.campaign();
    let title = if post_id.is_some() { "Edit a post" } else { "New post" };
    let place = post_id.map_or_else(|| "new".to_owned(), |id| id.to_string());
    let action = format!("{}/posts/{place}", article.path());
    let layout = PageLayout::for_visitor(title, visitor).campaign(&head, CampaignPart::Lore);
    let layout = layout.script("edit.js").script("live-parts.js");
    let name = TextField {
        name: "name",
        label: "Title",
        value: &fields.name,
        kind: "text",
        note: None,
        is_required: true,
        fault: state.fault,
    };
    layout.render(html! {
        div.lore data-live-parts=[base.map(|_| format!("{}/events", article.path()))] data-revision=[base.map(|base| base.revision)] {
            (lore_navigation(&head.id, "", true))
            div.split {
                h1 { (title) " of " bdi { (article.entity.name) } }
                a.button href=(article.path()) { "Back" }
            }
            (changed_meanwhile())
            @if let Some(fault) = state.fault { (fault_box(fault)) }
            form.edit-form method="post" action=(action) data-draft=(draft_key(visitor, &action)) data-preview={ (lore_path(&head.id)) "/preview" } {
                @if let Some(base) = base { (base.inputs()) }
                (name.render())
                (entry_editor(&fields.entry, state))
                label.check { input type="checkbox" name="is_private" value="yes" checked[fields.is_private]; " Private: only game masters see it" }
                (edit_buttons())
            }
            (saved_version(state))
            @if post_id.is_some() {
                form.delete-form method="post" action={ (action) "/delete" } { button.danger { "Delete the post" } }
            }
        }
    })
}

/// `GET /c/{campaign}/lore/{entity}/posts/new`.
pub(crate) async fn show_new(
    State(context): State<SharedContext>,
    PagePath((campaign, entity)): PagePath<(String, String)>,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let article = context.article(&visitor, &campaign, &entity).await?;
    check_game_master(&visitor, &article.campaign().id)?;
    // A post is where a secret about a public entry goes.
    let fields = PostFields { is_private: true, ..PostFields::default() };
    Ok(page(&visitor, &article, None, &fields, None, &EditState::default()))
}

/// `POST /c/{campaign}/lore/{entity}/posts/new`.
pub(crate) async fn create(
    State(context): State<SharedContext>,
    PagePath((campaign, entity)): PagePath<(String, String)>,
    visitor: Visitor,
    form: Form,
) -> Result<Response, PageError> {
    let article = context.article(&visitor, &campaign, &entity).await?;
    let head = article.campaign();
    check_game_master(&visitor, &head.id)?;
    let fields = PostFields::of_form(&form);
    if form.text("do") == "preview" {
        let preview: EntryPreview = context.entry_preview(&visitor, &campaign, &fields.entry).await?;
        let state = EditState { preview: Some(&preview), ..EditState::default() };
        return Ok(page(&visitor, &article, None, &fields, None, &state));
    }
    let item = fields.item(article.entity.entity_id);
    match context.send_item(&visitor, "create_posts", &head.id, ("posts", item)).await {
        Ok(_) => Ok(Redirect::to(&format!("{}?done=created", article.path())).into_response()),
        Err(fault) => {
            let state = EditState { fault: Some(&fault), ..EditState::default() };
            Ok(with_status(page(&visitor, &article, None, &fields, None, &state), &fault))
        }
    }
}

fn find_post(article: &Article, post_id: u64) -> Result<&ArticlePost, Fault> {
    article.entity.posts.iter().find(|post| post.id == post_id).ok_or_else(|| {
        let fault = Fault::new(Code::NotFound, format!("the entry has no post {post_id}"));
        fault.hint("go back to the entry, which has the others")
    })
}

/// `GET /c/{campaign}/lore/{entity}/posts/{post}`.
pub(crate) async fn show(
    State(context): State<SharedContext>,
    PagePath((campaign, entity, post_id)): PagePath<(String, String, u64)>,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let article = context.article(&visitor, &campaign, &entity).await?;
    check_game_master(&visitor, &article.campaign().id)?;
    let post = find_post(&article, post_id)?;
    let fields = PostFields::of_post(post);
    let base = EditBase::of_stored(post.revision, &fields.texts());
    let state = EditState { saved: Some(&post.entry), ..EditState::default() };
    Ok(page(&visitor, &article, Some(post_id), &fields, Some(&base), &state))
}

/// `POST /c/{campaign}/lore/{entity}/posts/{post}`.
pub(crate) async fn save(
    State(context): State<SharedContext>,
    PagePath((campaign, entity, post_id)): PagePath<(String, String, u64)>,
    visitor: Visitor,
    form: Form,
) -> Result<Response, PageError> {
    let article = context.article(&visitor, &campaign, &entity).await?;
    let head = article.campaign();
    check_game_master(&visitor, &head.id)?;
    let post = find_post(&article, post_id)?;
    let stored = PostFields::of_post(post).texts();
    let form = apply_choices(&form);
    let base = EditBase::of_form(&form)?;
    let shown_base = || base.clone().unwrap_or_else(|| EditBase::of_stored(post.revision, &stored));
    let saved = Some(post.entry.as_str());
    if ["preview", "edit"].contains(&form.text("do")) {
        let fields = PostFields::of_form(&form);
        let preview = context.entry_preview(&visitor, &campaign, &fields.entry).await?;
        let state = EditState { preview: Some(&preview), saved, ..EditState::default() };
        return Ok(page(&visitor, &article, Some(post_id), &fields, Some(&shown_base()), &state));
    }
    let merged = merge_form(&form, base.as_ref(), post.revision, &stored);
    if !merged.conflicts.is_empty() {
        return Ok(post_conflict_page(&visitor, &article, post, &merged));
    }
    let mut item = PostFields::of_form(&merged.form).item(article.entity.entity_id);
    item["post_id"] = post_id.into();
    item["expected_revision"] = post.revision.into();
    match context.send_item(&visitor, "update_posts", &head.id, ("updates", item)).await {
        Ok(_) => {
            let done = if merged.their_fields.is_empty() { "saved" } else { "merged" };
            Ok(Redirect::to(&format!("{}?done={done}#post-{post_id}", article.path())).into_response())
        }
        Err(fault) if fault.code() == Code::RevisionConflict => {
            let newest = context.article(&visitor, &campaign, &entity).await?;
            let post = find_post(&newest, post_id)?;
            let merged = merge_form(&form, base.as_ref(), post.revision, &PostFields::of_post(post).texts());
            Ok(post_conflict_page(&visitor, &newest, post, &merged))
        }
        Err(fault) => {
            let state = EditState { fault: Some(&fault), saved, ..EditState::default() };
            let fields = PostFields::of_form(&form);
            Ok(with_status(page(&visitor, &article, Some(post_id), &fields, Some(&shown_base()), &state), &fault))
        }
    }
}

fn post_conflict_page(visitor: &Visitor, newest: &Article, post: &ArticlePost, merged: &MergedForm) -> Response {
    let subject = ConflictSubject {
        head: newest.campaign(),
        part: CampaignPart::Lore,
        title: format!("Edit {}", post.name),
        action: format!("{}/posts/{}", newest.path(), post.id),
        path: newest.path(),
        revision: post.revision,
        stored: &PostFields::of_post(post).texts(),
    };
    conflict_page(visitor, &subject, merged)
}

/// `POST /c/{campaign}/lore/{entity}/posts/{post}/delete`.
pub(crate) async fn delete(
    State(context): State<SharedContext>,
    PagePath((campaign, entity, post_id)): PagePath<(String, u64, u64)>,
    visitor: Visitor,
) -> Result<Response, PageError> {
    check_game_master(&visitor, &campaign)?;
    let item = json!({"entity_id": entity, "post_id": post_id});
    context.send_item(&visitor, "delete_posts", &campaign, ("deletions", item)).await?;
    Ok(Redirect::to(&format!("{}/archive?done=deleted", lore_path(&campaign))).into_response())
}
