//! `write_lore`: changes of entities, posts and tags in the words of programs: HTML, ids of tags, one result for each.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use skald_domain::decider::Decider;
use skald_domain::lore::{
    EntityChange, EntityType, LoreCommand, LoreEvent, LoreRules, NewEntity, NewPost, PostChange, TextRef,
};
use skald_markup::Entry;

use super::access::EnteredLore;
use super::batch::{PreparedItem, check_batch, is_unchanged};
use super::canon_hold::HeldChange;
use super::entity_reference::EntityReference;
use super::entity_row::entry_html;
use super::entry_input::{EntryChange, check_entry};
use super::stream::{LoreStream, refusal_fault};
use crate::execute_command::CommandTerms;
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Code, CommandAnswer, Exposed, Fault, FaultBody, Operation, OperationKind,
    PermissionClass, Toolset,
};
use skald_journal::{Applied, SideRow};

pub(super) struct WriteLore;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WriteLoreInput {
    /// The campaign.
    campaign_id: String,
    /// Up to 100, done in order.
    changes: Vec<LoreWrite>,
    /// Whether nothing is written unless every change would be accepted.
    #[serde(default)]
    all_or_nothing: bool,
}

/// One change.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum LoreWrite {
    CreateEntity(Box<WrittenEntityFields>),
    UpdateEntity(Box<WrittenEntityFields>),
    DeleteEntity { entity_id: u64 },
    CreatePost(WrittenPostFields),
    UpdatePost(WrittenPostFields),
    DeletePost { entity_id: u64, post_id: u64 },
    CreateTag { name: String },
    RenameTag { tag_id: u32, name: String },
    DeleteTag { tag_id: u32 },
}

/// Fields of an entity. In an update what is left out stays, and null clears.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenEntityFields {
    /// Which one to update.
    entity_id: Option<u64>,
    /// Which type to create.
    entity_type: Option<EntityType>,
    name: Option<String>,
    /// The subtype; empty for none.
    r#type: Option<String>,
    /// HTML; empty for none.
    entry: Option<String>,
    /// Ids of all its tags.
    tags: Option<Vec<u32>>,
    /// Names of further tags, which are created if they are new.
    #[serde(default)]
    tag_names: Vec<String>,
    is_private: Option<bool>,
    aliases: Option<Vec<String>>,
    #[serde(default, deserialize_with = "null_clears")]
    parent: Option<Option<u64>>,
    #[serde(default, deserialize_with = "null_clears")]
    image: Option<Option<String>>,
    #[serde(default, deserialize_with = "null_clears")]
    date: Option<Option<String>>,
    /// The revision that was read; another one is a conflict.
    expected_revision: Option<u64>,
}

/// Fields of a post. In an update what is left out stays.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenPostFields {
    entity_id: u64,
    /// Which one to update.
    post_id: Option<u64>,
    name: Option<String>,
    /// HTML; empty for none.
    entry: Option<String>,
    is_private: Option<bool>,
}

/// Reads null as `Some(None)`.
fn null_clears<'de, D, T>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::deserialize(deserializer).map(Some)
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct WriteLoreOutput {
    /// One for each change, in order.
    results: Vec<CommandAnswer<WrittenIds>>,
}

/// The ids of what was written, or why it was not.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct WrittenIds {
    #[serde(skip_serializing_if = "Option::is_none")]
    entity_id: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    post_id: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tag_id: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<FaultBody>,
}

impl Operation for WriteLore {
    const NAME: &'static str = "write_lore";
    const TITLE: &'static str = "Write lore";
    const SUMMARY: &'static str = "Create, change and delete entities, posts and tags, with HTML and ids of tags.";
    const TOOLSET: Toolset = Toolset::Lore;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Gm);
    const CLASS: PermissionClass = PermissionClass::WriteLore;
    const DESTRUCTIVE: bool = true;
    const EXPOSED: Exposed = Exposed::EngineOnly;
    type Input = WriteLoreInput;
    type Output = WriteLoreOutput;

    async fn run(app: &App, call: &Call<'_>, input: WriteLoreInput) -> Result<WriteLoreOutput, Fault> {
        check_batch(call, input.changes.len(), "changes")?;
        let entered = app.enter_lore::<Self>(call, Some(&input.campaign_id)).await?;
        if input.all_or_nothing
            && let Some(results) = app.find_refusals(call, &entered, &input.changes).await
        {
            return Ok(WriteLoreOutput { results });
        }
        let mut results = Vec::with_capacity(input.changes.len());
        for (index, change) in input.changes.iter().enumerate() {
            // Load the lore anew for each change, so that it sees the changes before it.
            let lore = app.load_lore(call, entered.campaign_id.clone()).await?;
            let done = app.write_change(call, &lore, change, index).await;
            results.push(done.unwrap_or_else(|fault| CommandAnswer::Now(WrittenIds::of_fault(&fault))));
        }
        Ok(WriteLoreOutput { results })
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }
}

fn written_ids(done: &Applied<LoreStream>) -> WrittenIds {
    let event = done.events.first();
    let error = HeldChange::of_events(&done.events).map(|held| held.fault().body().clone());
    let tag_id = event.and_then(|event| match event {
        LoreEvent::TagCreated { tag_id, .. }
        | LoreEvent::TagRenamed { tag_id, .. }
        | LoreEvent::TagDeleted { tag_id, .. } => Some(*tag_id),
        _ => None,
    });
    let (entity_id, post_id) = (event.and_then(LoreEvent::entity_id), event.and_then(LoreEvent::post_id));
    WrittenIds { entity_id, post_id, tag_id, error }
}

impl WrittenIds {
    fn of_fault(fault: &Fault) -> Self {
        Self { error: Some(fault.body().clone()), ..Self::default() }
    }
}

impl App {
    /// Results that say which changes would be refused, if any would; nothing is written.
    async fn find_refusals(
        &self,
        call: &Call<'_>,
        lore: &EnteredLore,
        changes: &[LoreWrite],
    ) -> Option<Vec<CommandAnswer<WrittenIds>>> {
        let (mut state, given) = (lore.state().clone(), self.time_and_caller(call));
        let (mut results, mut is_refused) = (Vec::with_capacity(changes.len()), false);
        for change in changes {
            let decided = self.prepare_write(lore, change).await.and_then(|prepared| {
                LoreRules::decide(&state, &prepared.command, &given).map_err(|refusal| refusal_fault(&refusal))
            });
            results.push(CommandAnswer::Now(match decided {
                // This pass stores nothing, so a change that would be held counts as refused.
                Ok(events) if let Some(held) = HeldChange::of_events(&events) => {
                    is_refused = true;
                    WrittenIds::of_fault(&held.fault())
                }
                Ok(events) => {
                    state = events.iter().fold(state, |state, event| LoreRules::evolve(state, event, &given));
                    WrittenIds::default()
                }
                Err(fault) => {
                    is_refused = true;
                    WrittenIds::of_fault(&fault)
                }
            }));
        }
        is_refused.then_some(results)
    }

    async fn write_change(
        &self,
        call: &Call<'_>,
        lore: &EnteredLore,
        change: &LoreWrite,
        index: usize,
    ) -> Result<CommandAnswer<WrittenIds>, Fault> {
        let key = call.control.idempotency_key.as_ref().map(|key| {
            let sent = call.input.pointer(&format!("/changes/{index}")).unwrap_or(&Value::Null);
            (format!("{key}#{index}"), sent.to_string())
        });
        if let Some((key, request)) = &key
            && let Some(answered) = self.find_stored_answer::<WriteLore, _>(call, &lore.stream, key, request).await?
        {
            return Ok(answered);
        }
        let prepared = self.reuse_held_text(lore, self.prepare_write(lore, change).await?).await?;
        let command = LoreCommand::FromTool { tool: WriteLore::NAME, command: Box::new(prepared.command) };
        let terms = CommandTerms { side_rows: prepared.side_rows, ..CommandTerms::new(None, key) };
        let stream = &lore.stream;
        let done = self.execute_with_terms::<WriteLore, _, _>(&self.lore, call, stream, command, terms, written_ids);
        match done.await {
            Ok((answered, _)) => Ok(answered),
            Err(not_done) if is_unchanged(&not_done.failure) => Ok(CommandAnswer::Now(change.unchanged_ids(lore))),
            Err(not_done) => Err(self.lore_fault(not_done.failure)),
        }
    }

    async fn prepare_write(&self, lore: &EnteredLore, change: &LoreWrite) -> Result<PreparedItem, Fault> {
        let command = match change {
            LoreWrite::CreateEntity(fields) => return self.prepare_new_entity(lore, fields),
            LoreWrite::UpdateEntity(fields) => return self.prepare_entity_change(lore, fields).await,
            LoreWrite::CreatePost(fields) => return self.prepare_new_post(lore, fields),
            LoreWrite::UpdatePost(fields) => return self.prepare_post_change(lore, fields).await,
            LoreWrite::DeleteEntity { entity_id } => {
                let entity_id = lore.resolve_entity(&EntityReference::Id(*entity_id), "/entity_id")?;
                LoreCommand::ArchiveEntity { entity_id, expected_revision: None }
            }
            LoreWrite::DeletePost { entity_id, post_id } => {
                let entity_id = lore.find_post(&EntityReference::Id(*entity_id), *post_id, "")?;
                LoreCommand::ArchivePost { entity_id, post_id: *post_id, expected_revision: None }
            }
            LoreWrite::CreateTag { name } => LoreCommand::CreateTag { name: name.clone() },
            LoreWrite::RenameTag { tag_id, name } => LoreCommand::RenameTag { tag_id: *tag_id, name: name.clone() },
            LoreWrite::DeleteTag { tag_id } => LoreCommand::DeleteTag { tag_id: *tag_id },
        };
        Ok(PreparedItem::new(command, None))
    }

    fn prepare_new_entity(&self, lore: &EnteredLore, fields: &WrittenEntityFields) -> Result<PreparedItem, Fault> {
        let entity_type = required(fields.entity_type, "entity_type")?;
        let (text, row) = self.written_text(lore, fields.entry.as_deref(), None)?;
        let mut new = NewEntity::new(entity_type, &required(fields.name.clone(), "name")?);
        new.subtype = fields.r#type.clone().unwrap_or_default();
        new.tags = fields.tag_names(lore)?.unwrap_or_default();
        new.aliases = fields.aliases.clone().unwrap_or_default();
        new.is_private = fields.is_private.unwrap_or(new.is_private);
        new.parent = fields.parent.flatten();
        new.image = fields.image.clone().flatten();
        new.date = fields.date.clone().flatten();
        new.text = text.flatten();
        Ok(PreparedItem::new(LoreCommand::CreateEntity(Box::new(new)), row))
    }

    async fn prepare_entity_change(
        &self,
        lore: &EnteredLore,
        fields: &WrittenEntityFields,
    ) -> Result<PreparedItem, Fault> {
        let entity_id = required(fields.entity_id, "entity_id")?;
        let entity_id = lore.resolve_entity(&EntityReference::Id(entity_id), "/entity_id")?;
        let old = lore.state().entity(entity_id).and_then(|entity| entity.text.as_ref());
        let (text, row) = self.changed_text(lore, fields.entry.as_deref(), old).await?;
        let change = EntityChange {
            name: fields.name.clone(),
            subtype: fields.r#type.clone(),
            tags: fields.tag_names(lore)?,
            aliases: fields.aliases.clone(),
            is_private: fields.is_private,
            parent: fields.parent,
            image: fields.image.clone(),
            date: fields.date.clone(),
            text,
            ..EntityChange::default()
        };
        let expected_revision = fields.expected_revision;
        let command = LoreCommand::UpdateEntity { entity_id, expected_revision, change: Box::new(change) };
        Ok(PreparedItem::new(command, row))
    }

    fn prepare_new_post(&self, lore: &EnteredLore, fields: &WrittenPostFields) -> Result<PreparedItem, Fault> {
        let entity_id = lore.resolve_entity(&EntityReference::Id(fields.entity_id), "/entity_id")?;
        let name = required(fields.name.clone(), "name")?;
        let (text, row) = self.written_text(lore, fields.entry.as_deref(), None)?;
        let is_private = fields.is_private.unwrap_or_default();
        let post = NewPost { entity_id, name, is_private, text: text.flatten(), post_id: None };
        Ok(PreparedItem::new(LoreCommand::CreatePost(Box::new(post)), row))
    }

    async fn prepare_post_change(&self, lore: &EnteredLore, fields: &WrittenPostFields) -> Result<PreparedItem, Fault> {
        let post_id = required(fields.post_id, "post_id")?;
        let entity_id = lore.find_post(&EntityReference::Id(fields.entity_id), post_id, "")?;
        let old = lore.state().post(post_id).and_then(|(_, post)| post.text.as_ref());
        let (text, row) = self.changed_text(lore, fields.entry.as_deref(), old).await?;
        let change = Box::new(PostChange { name: fields.name.clone(), is_private: fields.is_private, text });
        let command = LoreCommand::UpdatePost { entity_id, post_id, expected_revision: None, change };
        Ok(PreparedItem::new(command, row))
    }

    /// The change of a text that is stored, which is read first.
    async fn changed_text(
        &self,
        lore: &EnteredLore,
        html: Option<&str>,
        old: Option<&TextRef>,
    ) -> Result<TextChange, Fault> {
        let texts = self.load_texts(&lore.campaign_id, old.into_iter().filter(|_| html.is_some())).await?;
        self.written_text(lore, html, texts.entry(old))
    }

    /// The change of a text by HTML, which is stored as it was sent. The same HTML again changes nothing.
    fn written_text(&self, lore: &EnteredLore, html: Option<&str>, old: Option<&Entry>) -> Result<TextChange, Fault> {
        let Some(html) = html else { return Ok((None, None)) };
        check_entry(html, "/entry")?;
        let change = if html.trim().is_empty() {
            if old.is_some() { EntryChange::Cleared } else { EntryChange::Unchanged }
        } else if old.is_some_and(|old| entry_html(old) == html) {
            EntryChange::Unchanged
        } else {
            let entry = skald_markup::entry_from_html(html);
            check_entry(&entry.markdown, "/entry")?;
            EntryChange::Written(Box::new(self.new_text(&lore.campaign_id, entry)?))
        };
        Ok(change.into_parts())
    }
}

/// The text of a command, and the row that is stored with it.
type TextChange = (Option<Option<TextRef>>, Option<SideRow>);

impl WrittenEntityFields {
    /// The names of all tags; `None` if the tags stay.
    fn tag_names(&self, lore: &EnteredLore) -> Result<Option<Vec<String>>, Fault> {
        if self.tags.is_none() && self.tag_names.is_empty() {
            return Ok(None);
        }
        let ids = self.tags.iter().flatten();
        let mut names = ids.map(|id| lore.tag_name_of(*id)).collect::<Result<Vec<String>, Fault>>()?;
        names.extend(self.tag_names.iter().cloned());
        Ok(Some(names))
    }
}

impl EnteredLore {
    fn tag_name_of(&self, tag_id: u32) -> Result<String, Fault> {
        let tag = self.state().tag(tag_id).map(|tag| tag.name.to_string());
        tag.ok_or_else(|| {
            Fault::new(Code::InvalidParams, format!("there is no tag {tag_id} in this campaign"))
                .with_path("/tags")
                .value(&tag_id.into())
                .hint("list the tags for their ids, or create the tag first")
        })
    }
}

impl LoreWrite {
    /// The ids of a change that changes nothing.
    fn unchanged_ids(&self, lore: &EnteredLore) -> WrittenIds {
        let (entity_id, post_id, tag_id) = match self {
            Self::CreateEntity(fields) | Self::UpdateEntity(fields) => (fields.entity_id, None, None),
            Self::CreatePost(fields) | Self::UpdatePost(fields) => (Some(fields.entity_id), fields.post_id, None),
            Self::DeleteEntity { entity_id } => (Some(*entity_id), None, None),
            Self::DeletePost { entity_id, post_id } => (Some(*entity_id), Some(*post_id), None),
            Self::CreateTag { name } => (None, None, lore.state().find_tag(name)),
            Self::RenameTag { tag_id, .. } | Self::DeleteTag { tag_id } => (None, None, Some(*tag_id)),
        };
        WrittenIds { entity_id, post_id, tag_id, error: None }
    }
}

fn required<T>(value: Option<T>, field: &str) -> Result<T, Fault> {
    value.ok_or_else(|| {
        Fault::new(Code::InvalidParams, format!("{field} is required"))
            .with_path(format!("/{field}"))
            .hint(format!("send {field}"))
    })
}
