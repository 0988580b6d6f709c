//! The conflict inbox of a linked campaign: lists what both sides changed, and resolves it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skald_domain::lore::{
    Entity, EntityChange, LoreCommand, LoreRefusal, LoreRefusalKind, LoreState, Post, PostChange,
};

use super::apply_remote::{DELETED, DELETED_THERE, copy_field, copy_post_field};
use super::merge_versions::{alias_travels, assumed_fields, assumed_post};
use super::rows::{AgreedPost, AgreedRow, MirrorLink};
use super::sync_run::{SyncFailure, SyncRun};
use crate::lore::access::EnteredLore;
use crate::lore::stream::refusal_fault;
use crate::{App, Code, Fault};

/// Characters of a text in a list of conflicts; the conflicts of one entity have it whole.
const LISTED_CHARS: usize = 300;

/// A field that both sides changed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct ConflictView {
    pub entity_id: u64,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub post_id: Option<u64>,
    /// The field, or `deleted` if one side deleted what the other changed.
    pub field: String,
    /// What is here.
    pub ours: Value,
    /// What is in Kanka; texts as Markdown.
    pub theirs: Value,
}

/// Which side a conflict is resolved for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum KeptSide {
    Ours,
    Theirs,
}

/// What to resolve, and how.
pub(super) struct Resolution {
    pub entity_id: u64,
    pub post_id: Option<u64>,
    /// All fields of the entity or post if left out.
    pub field: Option<String>,
    pub keep: KeptSide,
}

impl App {
    /// The conflicts of a campaign, by entity.
    pub(super) async fn list_conflicts(
        &self,
        lore: &EnteredLore,
        entity_id: Option<u64>,
    ) -> Result<Vec<ConflictView>, Fault> {
        let state = lore.state();
        let entity_id = entity_id.map(|entity_id| state.current_id(entity_id));
        let mut views = Vec::new();
        for (id, row) in self.open_rows(&lore.campaign_id).await? {
            if entity_id.is_some_and(|wanted| wanted != id) {
                continue;
            }
            let Some(entity) = state.entity(id) else { continue };
            for (field, theirs) in &row.conflicts {
                let ours = self.our_value(lore, entity, None, field).await?;
                views.push(conflict_view(entity, None, field, ours, theirs));
            }
            for agreed in &row.posts {
                let post = entity.post(agreed.post_id);
                for (field, theirs) in &agreed.conflicts {
                    let ours = self.our_value(lore, entity, post.map(|post| &**post), field).await?;
                    views.push(conflict_view(entity, Some(agreed.post_id), field, ours, theirs));
                }
            }
        }
        if entity_id.is_none() {
            for view in &mut views {
                shorten(&mut view.ours);
                shorten(&mut view.theirs);
            }
        }
        Ok(views)
    }

    async fn our_value(
        &self,
        lore: &EnteredLore,
        entity: &Entity,
        post: Option<&Post>,
        field: &str,
    ) -> Result<Value, Fault> {
        Ok(match (field, post) {
            ("name", None) => json!(entity.name),
            ("name", Some(post)) => json!(post.name),
            ("type", _) => json!(entity.subtype),
            ("is_private", None) => json!(entity.is_private),
            ("is_private", Some(post)) => json!(post.is_private),
            ("parent", _) => json!(entity.details().parent),
            ("date", _) => json!(entity.details().date),
            ("tags", _) => json!(lore.state().tag_names(entity)),
            ("aliases", _) => json!(entity.details().aliases),
            ("entry", post) => {
                let text = post.map_or(entity.text.as_ref(), |post| post.text.as_ref());
                let texts = self.load_texts(&lore.campaign_id, text.into_iter()).await?;
                json!(texts.markdown(text))
            }
            _ => {
                let is_archived = entity.is_archived() || post.is_some_and(Post::is_archived);
                json!(if is_archived { "deleted" } else { "changed" })
            }
        })
    }

    /// Resolves conflicts of an entity or post, and sends what follows from it if Kanka can be reached.
    pub(super) async fn resolve_conflicts(&self, campaign_id: &str, resolution: &Resolution) -> Result<usize, Fault> {
        let lease = self.take_mirror_lease_from_sync(campaign_id).await?;
        let link = self.require_link(campaign_id).await?;
        let remote = self.connect_remote(campaign_id, &link.address(), Some(link.requests_per_minute))?;
        let mut run = SyncRun::new(self, campaign_id, remote, &lease, link);
        let resolved = run.resolve(resolution).await;
        let link = MirrorLink { resend: run.link.resend, ..self.require_link(campaign_id).await? };
        self.store_link(campaign_id, &link).await?;
        lease.release().await;
        match resolved {
            Ok(count) => {
                self.mirrors.link_changed.notify_waiters();
                Ok(count)
            }
            Err(SyncFailure::Fault(fault)) => Err(*fault),
            Err(SyncFailure::Remote(failure) | SyncFailure::Unread(failure)) => {
                self.mirrors.forget_refused_token(campaign_id, &failure);
                Err(super::sync::remote_fault(&failure))
            }
            Err(SyncFailure::LeaseLost) => {
                Err(Fault::new(Code::Unavailable, "another process syncs this campaign").hint("try again"))
            }
        }
    }
}

impl SyncRun<'_> {
    async fn resolve(&mut self, resolution: &Resolution) -> Result<usize, SyncFailure> {
        let committed = self.read_lore().await?;
        let entity_id = committed.state.current_id(resolution.entity_id);
        let nothing = || {
            let message = format!("entity {} has no such conflict", resolution.entity_id);
            Fault::new(Code::NotFound, message).with_path("/entity_id").hint("method conflicts lists what there is")
        };
        let Some(row) = self.agreed_row(entity_id).await? else { return Err(nothing().into()) };
        let entity = committed.state.entity(entity_id).cloned();
        let wanted = |field: &String| resolution.field.as_ref().is_none_or(|wanted| wanted == field);
        let count = match resolution.post_id {
            None => {
                let fields: Vec<String> = row.conflicts.keys().filter(|field| wanted(field)).cloned().collect();
                if fields.is_empty() {
                    return Err(nothing().into());
                }
                self.resolve_fields(&committed.state, entity_id, entity.as_deref(), row, &fields, resolution.keep)
                    .await?;
                fields.len()
            }
            Some(post_id) => {
                let agreed = row.posts.iter().find(|post| post.post_id == post_id).cloned();
                let Some(agreed) = agreed else { return Err(nothing().into()) };
                let fields: Vec<String> = agreed.conflicts.keys().filter(|field| wanted(field)).cloned().collect();
                let (Some(entity), false) = (entity, fields.is_empty()) else { return Err(nothing().into()) };
                self.resolve_post(&entity, row, agreed, &fields, resolution.keep).await?;
                fields.len()
            }
        };
        self.link.resend.insert(entity_id);
        Ok(count)
    }

    async fn resolve_fields(
        &mut self,
        state: &LoreState,
        entity_id: u64,
        entity: Option<&Entity>,
        row: AgreedRow,
        fields: &[String],
        keep: KeptSide,
    ) -> Result<(), SyncFailure> {
        if let Some(side) = row.conflicts.get(DELETED) {
            return self.resolve_deletion(entity_id, entity, &row, side == DELETED_THERE, keep).await;
        }
        let Some(entity) = entity else { return self.remove_row(entity_id).await };
        let (theirs, mut next) = (assumed_fields(&row), row.clone());
        let (mut change, mut side_rows) = (EntityChange::default(), Vec::new());
        for field in fields {
            copy_field(field, &theirs, &mut next.base);
            next.conflicts.remove(field);
            if keep == KeptSide::Ours {
                if field == "entry" {
                    next.entry_key = None;
                }
                continue;
            }
            match field.as_str() {
                "name" => change.name = Some(theirs.name.clone()),
                "type" => change.subtype = Some(theirs.subtype.clone()),
                "is_private" => change.is_private = Some(theirs.is_private),
                "parent" => {
                    let is_here = |parent: &u64| state.entity(*parent).is_some_and(|parent| !parent.is_archived());
                    change.parent = Some(theirs.parent.filter(is_here));
                }
                "date" => change.date = Some(theirs.date.clone()),
                "tags" => change.tags = Some(theirs.tags.clone()),
                "aliases" => {
                    let kept =
                        entity.details().aliases.iter().map(ToString::to_string).filter(|alias| !alias_travels(alias));
                    change.aliases = Some(theirs.aliases.iter().cloned().chain(kept).collect());
                }
                "entry" => {
                    let html = row.conflicts.get(field).and_then(Value::as_str).unwrap_or_default();
                    let text = self.text_from_html(html)?;
                    next.entry_key = text.as_ref().map(|(reference, _)| reference.key);
                    let (reference, side_row) = text.unzip();
                    side_rows.extend(side_row);
                    change.text = Some(reference);
                }
                _ => {}
            }
        }
        if change != EntityChange::default() {
            side_rows.extend(self.side_rows(entity_id, &next)?);
            let command = LoreCommand::UpdateEntity { entity_id, expected_revision: None, change: Box::new(change) };
            if let Err(refusal) = self.execute(command, side_rows).await? {
                self.refuse_if_not_done(entity_id, &row, &refusal).await?;
            }
        }
        self.put_row(entity_id, &next).await
    }

    /// One side deleted what the other changed.
    async fn resolve_deletion(
        &mut self,
        entity_id: u64,
        entity: Option<&Entity>,
        row: &AgreedRow,
        is_deleted_there: bool,
        keep: KeptSide,
    ) -> Result<(), SyncFailure> {
        match (is_deleted_there, keep) {
            // Without a row it counts as new, so the next push creates it there again.
            (true, KeptSide::Ours) => self.remove_row(entity_id).await,
            (true, KeptSide::Theirs) => {
                let command = LoreCommand::ArchiveEntity { entity_id, expected_revision: None };
                self.archive_or_refuse(command).await?;
                self.remove_row(entity_id).await
            }
            // Without the conflict it is deleted there by the next push.
            (false, KeptSide::Ours) => {
                let mut next = row.clone();
                next.conflicts.clear();
                self.put_row(entity_id, &next).await
            }
            (false, KeptSide::Theirs) => {
                self.check_lease()?;
                let Some(seen) = self.remote.entity(entity_id).await? else {
                    return self.apply_remote_deletion(entity_id).await;
                };
                if entity.is_some() {
                    let _ = self.execute(LoreCommand::RestoreEntity { entity_id }, Vec::new()).await?;
                }
                let committed = self.read_lore().await?;
                let Some(entity) = committed.state.entity(entity_id) else {
                    self.remove_row(entity_id).await?;
                    return self.apply_remote_entity(&seen).await.map(drop);
                };
                // Use the local version as merge base, so that all remote fields win.
                let mut next = AgreedRow { entry_key: None, ..row.clone() };
                next.conflicts.clear();
                let (ours, _) = self.our_version(&committed, entity, seen.kind, &next).await?;
                next.base = ours;
                next.entry_key = entity.text.as_ref().map(|text| text.key);
                next.posts.retain(|agreed| entity.post(agreed.post_id).is_some());
                for agreed in &mut next.posts {
                    let Some(post) = entity.post(agreed.post_id) else { continue };
                    agreed.entry_key = None;
                    agreed.base = self.our_post_version(&committed, post, agreed).await?.0;
                    agreed.entry_key = post.text.as_ref().map(|text| text.key);
                }
                self.put_row(entity_id, &next).await?;
                self.apply_remote_entity(&seen).await.map(drop)
            }
        }
    }

    async fn resolve_post(
        &mut self,
        entity: &Entity,
        row: AgreedRow,
        agreed: AgreedPost,
        fields: &[String],
        keep: KeptSide,
    ) -> Result<(), SyncFailure> {
        let (entity_id, post_id) = (entity.entity_id, agreed.post_id);
        let mut next = row.clone();
        let Some(place) = next.posts.iter().position(|post| post.post_id == post_id) else { return Ok(()) };
        if let Some(side) = agreed.conflicts.get(DELETED) {
            match (side == DELETED_THERE, keep) {
                (true, KeptSide::Ours) => drop(next.posts.remove(place)),
                (true, KeptSide::Theirs) => {
                    next.posts.remove(place);
                    let command = LoreCommand::ArchivePost { entity_id, post_id, expected_revision: None };
                    self.archive_or_refuse(command).await?;
                }
                (false, KeptSide::Ours) => next.posts[place].conflicts.clear(),
                (false, KeptSide::Theirs) => {
                    // Without a row the post counts as new there, so it is created here again.
                    next.posts.remove(place);
                    self.put_row(entity_id, &next).await?;
                    return self.fetch(entity_id).await;
                }
            }
            return self.put_row(entity_id, &next).await;
        }
        let theirs = assumed_post(&agreed);
        let (mut change, mut side_rows) = (PostChange::default(), Vec::new());
        let post = &mut next.posts[place];
        for field in fields {
            copy_post_field(field, &theirs, &mut post.base);
            let html = post.conflicts.remove(field).and_then(|html| html.as_str().map(ToOwned::to_owned));
            match (field.as_str(), keep) {
                ("entry", KeptSide::Ours) => post.entry_key = None,
                (_, KeptSide::Ours) => {}
                ("name", KeptSide::Theirs) => change.name = Some(theirs.name.clone()),
                ("is_private", KeptSide::Theirs) => change.is_private = Some(theirs.is_private),
                (_, KeptSide::Theirs) => {
                    let text = self.text_from_html(html.as_deref().unwrap_or_default())?;
                    post.entry_key = text.as_ref().map(|(reference, _)| reference.key);
                    let (reference, side_row) = text.unzip();
                    side_rows.extend(side_row);
                    change.text = Some(reference);
                }
            }
        }
        if change != PostChange::default() {
            side_rows.extend(self.side_rows(entity_id, &next)?);
            let command =
                LoreCommand::UpdatePost { entity_id, post_id, expected_revision: None, change: Box::new(change) };
            if let Err(refusal) = self.execute(command, side_rows).await? {
                self.refuse_if_not_done(entity_id, &row, &refusal).await?;
            }
        }
        self.put_row(entity_id, &next).await
    }

    /// Archives what is deleted there. If the canon holds the deletion, that is a refusal, and the conflict stays.
    async fn archive_or_refuse(&self, command: LoreCommand) -> Result<(), SyncFailure> {
        match self.execute(command, Vec::new()).await? {
            Err(refusal) if refusal.kind() == LoreRefusalKind::Held => Err(refusal_fault(&refusal).into()),
            _ => Ok(()),
        }
    }

    /// Returns a refusal as a fault, unless there was nothing to change. If the canon holds the change, the old row is
    /// stored again.
    async fn refuse_if_not_done(
        &self,
        entity_id: u64,
        before: &AgreedRow,
        refusal: &LoreRefusal,
    ) -> Result<(), SyncFailure> {
        match refusal.kind() {
            LoreRefusalKind::Unchanged => return Ok(()),
            LoreRefusalKind::Held => self.put_row(entity_id, before).await?,
            _ => {}
        }
        Err(refusal_fault(refusal).into())
    }

    fn text_from_html(
        &self,
        html: &str,
    ) -> Result<Option<(skald_domain::lore::TextRef, skald_journal::SideRow)>, SyncFailure> {
        let entry = skald_markup::entry_from_html(html);
        if entry.markdown.trim().is_empty() {
            return Ok(None);
        }
        let text = self.app.new_text(self.campaign_id, entry)?;
        Ok(Some((text.reference, text.row)))
    }
}

fn conflict_view(entity: &Entity, post_id: Option<u64>, field: &str, ours: Value, theirs: &Value) -> ConflictView {
    let theirs = match (field, theirs.as_str()) {
        ("entry", Some(html)) => json!(skald_markup::html_to_markdown(html)),
        (DELETED, Some(DELETED_THERE)) => json!("deleted"),
        (DELETED, _) => json!("changed"),
        _ => theirs.clone(),
    };
    ConflictView {
        entity_id: entity.entity_id,
        name: entity.name.to_string(),
        post_id,
        field: field.to_owned(),
        ours,
        theirs,
    }
}

fn shorten(value: &mut Value) {
    if let Value::String(text) = value
        && text.chars().count() > LISTED_CHARS
    {
        *text = text.chars().take(LISTED_CHARS).chain(['…']).collect();
    }
}
