//! `create_entities`: creates entities with their tags, texts and links.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_domain::lore::{EntityChange, LoreCommand, NewEntity, fold_name};

use super::access::EnteredLore;
use super::batch::{
    BatchItem, BatchOutput, BatchSubject, ItemAnswer, ItemFailure, ItemResult, PreparedItem, check_batch,
};
use super::entity_fields::{EntityTypeWord, clearable, privacy};
use super::entity_reference::EntityReference;
use super::entry_input::{EntryFields, unresolved_links};
use super::stream::LoreStream;
use crate::execute_command::CommandTerms;
use crate::{Allowed, App, Call, Caller, CampaignRole, Fault, Operation, OperationKind, PermissionClass, Toolset};
use skald_journal::Applied;

/// Names like that of a new entity that its result lists.
const SIMILAR_MAX: usize = 3;
/// In larger batches only equal names are looked for: comparing every name of a large campaign takes its time.
const COMPARED_ITEMS_MAX: usize = 10;

/// What is said of an entity for players that could not be linked to a private one.
const STAYS_PRIVATE: &str =
    "it stays private: its text has the name of a private entity that it could not be linked to";

pub(super) struct CreateEntities;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateEntitiesInput {
    /// Up to 100.
    entities: Vec<NewEntityItem>,
    /// The context's if left out.
    campaign_id: Option<String>,
}

/// One entity to create.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewEntityItem {
    entity_type: EntityTypeWord,
    name: String,
    /// A subtype of your own: NPC, City, Session Summary.
    r#type: Option<String>,
    /// Markdown; mention others as [[Name]] or [entity:ID|text].
    entry: Option<String>,
    tags: Option<Vec<String>>,
    /// Only game masters see it; notes are private by default.
    is_private: Option<bool>,
    #[schemars(extend("x-unlisted" = true))]
    is_hidden: Option<bool>,
    /// Other names, misspellings: found like the name.
    aliases: Option<Vec<String>>,
    /// The entity that it belongs to or is in.
    parent: Option<EntityReference>,
    /// A URL.
    image: Option<String>,
    /// When it happened: 2025-05-30.
    date: Option<String>,
    /// The actor at the table that it is.
    actor_id: Option<String>,
}

impl Operation for CreateEntities {
    const NAME: &'static str = "create_entities";
    const TITLE: &'static str = "Create entities";
    const SUMMARY: &'static str = "Put people, places, factions, items, notes and quests into the lore. Tags are created on use. \
        Each has its own result; `similar` names may be the same thing.";
    const TOOLSET: Toolset = Toolset::Lore;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Gm);
    const CLASS: PermissionClass = PermissionClass::WriteLore;
    const TEXT_FIELD: Option<&'static str> = Some("results");
    const BATCH_FIELD: Option<&'static str> = Some("entities");
    type Input = CreateEntitiesInput;
    type Output = BatchOutput;

    async fn run(app: &App, call: &Call<'_>, input: CreateEntitiesInput) -> Result<BatchOutput, Fault> {
        let CreateEntitiesInput { entities: mut items, campaign_id } = input;
        check_batch(call, items.len(), "entities")?;
        let lore = app.enter_lore::<Self>(call, campaign_id.as_deref()).await?;
        let similar = similar_entities(&lore, &items);
        let names = CallNames::new(&items);
        let links: Vec<CallLinks> = items.iter().map(|item| call_links(&lore, item, &items, &names)).collect();
        for (item, links) in items.iter_mut().zip(&links) {
            // A parent without an id is set when all are created.
            if links.parent_in_call.is_some() {
                item.parent = None;
            }
            if links.is_private_at_first {
                (item.is_private, item.is_hidden) = (Some(true), None);
            }
        }
        let answer = |index: usize| -> ItemAnswer {
            let (similar, links) = (similar[index].clone(), links[index].clone());
            Arc::new(move |done| {
                let created = created_result(done);
                // The revision moves once more when the names of this call are linked.
                let revision = created.revision.filter(|_| !links.has_any_in_call());
                ItemResult { similar: similar.clone(), unresolved: links.unresolved.clone(), revision, ..created }
            })
        };
        let mut output = app.run_batch::<Self, _>(call, &lore, ("entities", &items), answer).await;
        app.link_created_names(call, &lore.campaign_id, &names, &links, &mut output).await;
        Ok(output.with_misfits(call))
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }
}

fn created_result(done: &Applied<LoreStream>) -> ItemResult {
    let entity_id = done.events.first().and_then(skald_domain::lore::LoreEvent::entity_id).unwrap_or_default();
    let entity = done.committed.state.entity(entity_id);
    ItemResult {
        id: entity.map(|entity| entity.id),
        entity_id: Some(entity_id),
        name: entity.map(|entity| entity.name.to_string()),
        mention: Some(format!("[entity:{entity_id}]")),
        revision: entity.map(|entity| entity.revision),
        ..ItemResult::of_success()
    }
}

/// For each new entity, those that were there already and have such a name.
fn similar_entities(lore: &EnteredLore, items: &[NewEntityItem]) -> Vec<Vec<super::entity_view::NamedEntity>> {
    let named = |ids: Vec<u64>| ids.into_iter().filter_map(|id| lore.named_entity(id)).take(SIMILAR_MAX).collect();
    let is_small = items.len() <= COMPARED_ITEMS_MAX;
    let similar = |item: &NewEntityItem| {
        if is_small {
            named(lore.state().similar_names(&item.name, lore.sees_private, SIMILAR_MAX))
        } else {
            named(lore.state().entities_named(&item.name, lore.sees_private))
        }
    };
    items.iter().map(similar).collect()
}

/// The names in a new entity, of links in its entry and of its parent, that the lore does not have yet.
#[derive(Debug, Clone)]
struct CallLinks {
    /// Links to entities that the same call creates.
    in_call: Vec<String>,
    /// A parent that the same call creates.
    parent_in_call: Option<String>,
    /// Links that lead nowhere, or to several entities.
    unresolved: Vec<String>,
    /// It is for players, and its entry has the name of a private entity of this call: until that is a link, players must
    /// not read it.
    is_private_at_first: bool,
}

impl CallLinks {
    fn has_any_in_call(&self) -> bool {
        !self.in_call.is_empty() || self.parent_in_call.is_some()
    }
}

/// The places of the items of a call by their folded names and aliases.
struct CallNames {
    names: BTreeMap<String, Vec<usize>>,
    aliases: BTreeMap<String, Vec<usize>>,
}

impl CallNames {
    fn new(items: &[NewEntityItem]) -> Self {
        let mut call_names = Self { names: BTreeMap::new(), aliases: BTreeMap::new() };
        for (index, item) in items.iter().enumerate() {
            call_names.names.entry(fold_name(&item.name)).or_default().push(index);
            for alias in item.aliases.iter().flatten().map(|alias| fold_name(alias)).collect::<BTreeSet<_>>() {
                call_names.aliases.entry(alias).or_default().push(index);
            }
        }
        call_names
    }

    /// The only item of this name, or else the only one with this alias.
    fn find(&self, name: &str) -> Option<usize> {
        let folded = fold_name(name);
        match self.names.get(&folded).or_else(|| self.aliases.get(&folded))?[..] {
            [one] => Some(one),
            _ => None,
        }
    }
}

fn call_links(lore: &EnteredLore, item: &NewEntityItem, items: &[NewEntityItem], names: &CallNames) -> CallLinks {
    let links = item.entry.as_deref().map(unresolved_links).unwrap_or_default();
    let entity_count = |name: &str| lore.state().entities_named(name, lore.sees_private).len();
    let is_in_call = |name: &str| entity_count(name) == 0 && names.find(name).is_some();
    let missing = links.into_iter().filter(|name| entity_count(name) != 1);
    let (in_call, unresolved): (Vec<String>, Vec<String>) = missing.partition(|name| is_in_call(name));
    let parent_in_call = match &item.parent {
        Some(EntityReference::Name(name)) if is_in_call(name) => Some(name.clone()),
        _ => None,
    };
    let names_private = in_call.iter().filter_map(|name| names.find(name)).any(|index| items[index].will_be_private());
    let is_private_at_first = names_private && !item.will_be_private();
    CallLinks { in_call, parent_in_call, unresolved, is_private_at_first }
}

impl NewEntityItem {
    fn will_be_private(&self) -> bool {
        let said = self.is_private.or(self.is_hidden);
        said.unwrap_or_else(|| self.entity_type.entity_type().is_private_by_default())
    }
}

impl BatchItem for NewEntityItem {
    fn prepare<'a>(
        &'a self,
        app: &'a App,
        lore: &'a EnteredLore,
        pointer: &'a str,
    ) -> BoxFuture<'a, Result<PreparedItem, Fault>> {
        Box::pin(app.prepare_creation(lore, self, pointer))
    }

    fn subject(&self, _: &EnteredLore) -> BatchSubject {
        BatchSubject::New
    }

    fn failed_result(&self, _: &EnteredLore, failure: &ItemFailure) -> ItemResult {
        ItemResult::of_failure(failure, ItemResult { name: Some(self.name.clone()), ..ItemResult::default() })
    }
}

impl App {
    async fn prepare_creation(
        &self,
        lore: &EnteredLore,
        item: &NewEntityItem,
        pointer: &str,
    ) -> Result<PreparedItem, Fault> {
        let fields = EntryFields { entry: item.entry.as_deref(), entry_append: None, pointer };
        let (text, row) = self.change_entry(lore, &fields, None, |_| None)?.into_parts();
        let entity_type = item.entity_type.entity_type();
        let is_private = privacy(item.is_private, item.is_hidden, pointer)?;
        let word = item.entity_type.subtype();
        let subtype = item.r#type.clone().filter(|subtype| !subtype.trim().is_empty());
        let mut tags = item.tags.clone().unwrap_or_default();
        // With a type of its own it has the word that it was created with as a tag, by which it is found.
        if let (Some(word), Some(subtype)) = (word, &subtype)
            && ![subtype].into_iter().chain(&tags).any(|known| fold_name(known) == fold_name(word))
        {
            tags.push(word.to_owned());
        }
        let subtype = subtype.or_else(|| word.map(ToOwned::to_owned));
        let new = NewEntity {
            entity_type,
            name: item.name.clone(),
            subtype: subtype.unwrap_or_default(),
            tags,
            aliases: item.aliases.clone().unwrap_or_default(),
            is_private: is_private.unwrap_or(entity_type.is_private_by_default()),
            parent: Self::resolve_parent(lore, item.parent.as_ref(), pointer)?.flatten(),
            image: clearable(item.image.as_ref()).flatten(),
            date: clearable(item.date.as_ref()).flatten(),
            actor_id: self.resolve_linked_actor(lore, item.actor_id.as_ref(), pointer).await?.flatten(),
            text: text.flatten(),
            source: None,
            ids: None,
        };
        Ok(PreparedItem::new(LoreCommand::CreateEntity(Box::new(new)), row))
    }

    /// Links the names of entities that were created in the same call, and sets the parents among them: only now do they
    /// have ids. A link that cannot be made is reported with the entity, which is there nevertheless.
    async fn link_created_names(
        &self,
        call: &Call<'_>,
        campaign_id: &str,
        names: &CallNames,
        links: &[CallLinks],
        output: &mut BatchOutput,
    ) {
        let created = output.entity_ids();
        let id_of = |name: &str| created.get(names.find(name)?).copied().flatten();
        for (index, links) in links.iter().enumerate().filter(|(_, links)| links.has_any_in_call()) {
            let Some(entity_id) = created[index] else { continue };
            let linked = self.link_names_of(call, campaign_id, entity_id, links, &id_of).await;
            let (is_linked, result) = (linked.is_ok(), output.result_mut(index));
            let wanted = links.in_call.iter().chain(&links.parent_in_call);
            let missing: Vec<String> = wanted.filter(|name| !is_linked || id_of(name).is_none()).cloned().collect();
            if let Some(result) = result {
                if links.is_private_at_first && links.in_call.iter().any(|name| missing.contains(name)) {
                    result.error = Some(STAYS_PRIVATE.to_owned());
                }
                result.unresolved.extend(missing);
            }
        }
    }

    /// Links names in the current text of an entity, sets its parent, and shows it to players if it was private for the
    /// names in its text alone.
    async fn link_names_of(
        &self,
        call: &Call<'_>,
        campaign_id: &str,
        entity_id: u64,
        links: &CallLinks,
        id_of: &(impl Fn(&str) -> Option<u64> + Sync),
    ) -> Result<(), Fault> {
        let lore = self.load_lore(call, campaign_id.to_owned()).await?;
        let Some(entity) = lore.visible_entity(entity_id) else { return Ok(()) };
        let texts = self.load_texts(&lore.campaign_id, entity.text.iter()).await?;
        let old = texts.entry(entity.text.as_ref());
        let entry = old.map(|old| old.markdown.as_str());
        let fields = EntryFields { entry, entry_append: None, pointer: "" };
        let (text, row) = self.change_entry(&lore, &fields, old, id_of)?.into_parts();
        let parent = links.parent_in_call.as_deref().and_then(id_of);
        // Whoever changed it since may have hidden it.
        let is_shown = links.is_private_at_first
            && entity.is_private
            && entity.revision == 1
            && links.in_call.iter().all(|name| id_of(name).is_some());
        if text.is_none() && parent.is_none() && !is_shown {
            return Ok(());
        }
        let is_private = is_shown.then_some(false);
        let change = Box::new(EntityChange { text, parent: parent.map(Some), is_private, ..EntityChange::default() });
        let command = LoreCommand::UpdateEntity { entity_id, expected_revision: Some(entity.revision), change };
        let terms = CommandTerms { side_rows: row.into_iter().collect(), ..CommandTerms::new(None, None) };
        let done =
            self.execute_with_terms::<CreateEntities, _, _>(&self.lore, call, &lore.stream, command, terms, |_| ());
        done.await.map(drop).map_err(|not_done| self.lore_fault(not_done.failure))
    }
}
