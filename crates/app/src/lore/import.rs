//! Import of lore from files, for the command line. Entities, and posts that texts mention, are created first; texts, parents
//! and other posts come in a later pass, when everything that a text may link has an id.
//!
//! What somebody has changed in Skald since the last import stays, see `import_merge.rs` and `import_changes.rs`. An entity
//! has the hash of its source only once all of it is stored: an import that was interrupted goes on with the next one.
//! Nothing is shown on the way that is private before or after it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use skald_domain::lore::{
    CanonField, Entity, EntityChange, EntityVersion, ImportSource, LoreCommand, LoreEvent, NewEntity, PostChange,
    SourcePost, TextRef, name_identity,
};
use skald_lore_files::{Import, ImportLoss, ImportedEntity};
use skald_markup::Entry;

use super::access::EnteredLore;
use super::batch::{ITEMS_AT_ONCE, PreparedItem};
use super::import_changes::{FieldMerge, UNFINISHED_HASH, imported_version};
use super::import_fields::{FittedEntity, fit_entity, stored_source_id};
use super::import_target::{ImportOutcome, ImportTarget};
use super::import_texts::TextConverter;
use super::texts::Texts;
use crate::{Allowed, App, Call, Caller, CampaignRole, Fault, RequestControl, limits};
use skald_journal::SideRow;

/// How an import is done.
#[derive(Debug, Clone, Copy, Default)]
pub struct ImportOptions {
    /// Writes nothing, and reports the same.
    pub dry_run: bool,
    /// Takes the source's values also where somebody has changed them in Skald since the last import.
    pub overwrite: bool,
}

/// What an import did, or in a dry run would do.
#[derive(Debug, Default)]
pub struct ImportReport {
    pub created: usize,
    pub updated: usize,
    /// Entities that are as they were at the last import.
    pub unchanged: usize,
    /// Posts that were created or changed.
    pub posts: usize,
    /// How many of the created and updated entities players will see.
    pub seen_by_players: usize,
    /// What somebody has changed in Skald since the last import and the source has otherwise, and what becomes of it.
    pub changed_here: Vec<ImportLoss>,
    /// What is in the source and not in the lore, or the other way round.
    pub losses: Vec<ImportLoss>,
    pub unresolved: Vec<UnresolvedLink>,
}

/// A link or a mention without a target in the import or the campaign. A link stays in the text as it is; a mention becomes
/// its label, or its words without the brackets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnresolvedLink {
    /// The `source_id` of the entity whose text has it.
    pub source: String,
    /// As it is written.
    pub link: String,
}

impl ImportReport {
    pub(super) fn add_loss(&mut self, source: &str, what: impl Into<String>) {
        self.losses.push(ImportLoss { source: source.to_owned(), what: what.into() });
    }
}

impl App {
    /// Imports lore into a campaign, for its game masters: creates what is new, updates what has changed in its source
    /// since the last import, and leaves everything else alone. `progress` gets how much is done, and of how much.
    pub async fn import_lore(
        &self,
        caller: &Caller,
        campaign_id: &str,
        import: &Import,
        options: ImportOptions,
        progress: &mut (dyn FnMut(usize, usize) + Send),
    ) -> Result<ImportReport, Fault> {
        let allowed = Allowed::InCampaign(CampaignRole::Gm);
        let campaign_id = self.enter_campaign_as(caller, "an import", allowed, campaign_id).await?.campaign_id;
        let control = RequestControl::default();
        let call = Call::internal(caller, &control);
        let lore = self.load_lore(&call, campaign_id).await?;
        let copy = options.dry_run.then(|| lore.state().clone());
        let target = ImportTarget { app: self, caller, stream: lore.stream.clone(), copy };
        let report = ImportReport { losses: import.losses.clone(), ..ImportReport::default() };
        let actors = self.actor_ids(&lore.campaign_id).await?;
        let mut run = ImportRun {
            app: self,
            lore,
            import,
            overwrite: options.overwrite,
            target,
            ids: HashMap::new(),
            post_ids: HashMap::new(),
            actors,
            linked_actors: BTreeMap::new(),
            unchanged: Vec::new(),
            report,
        };
        run.report_other_sources();
        let mut plans = run.plan_entities();
        let unchanged = std::mem::take(&mut run.unchanged);
        let mentioned_posts = run.mentioned_posts(&plans, &unchanged);
        let total = plans.len() * 2 + unchanged.len();
        let mut done = 0;
        for chunk in plans.chunks_mut(ITEMS_AT_ONCE) {
            run.find_imported_versions(chunk).await?;
            run.create_entities(chunk).await?;
            done += chunk.len();
            progress(done, total);
        }
        for chunk in plans.chunks_mut(ITEMS_AT_ONCE).filter(|_| !mentioned_posts.is_empty()) {
            run.create_mentioned_posts(chunk, &mentioned_posts).await?;
        }
        for chunk in plans.chunks_mut(ITEMS_AT_ONCE) {
            run.complete_entities(chunk).await?;
            done += chunk.len();
            progress(done, total);
        }
        for chunk in unchanged.chunks(ITEMS_AT_ONCE) {
            run.link_new_entities(chunk).await?;
            done += chunk.len();
            progress(done, total);
        }
        let (updated, as_before): (Vec<_>, Vec<_>) =
            plans.iter().filter(|plan| plan.before.is_some()).partition(|plan| plan.is_changed);
        run.report.updated += updated.len();
        run.report.unchanged += as_before.len();
        run.report.seen_by_players = plans.iter().filter(|plan| plan.entity_id.is_some() && !plan.is_private).count();
        Ok(run.report)
    }
}

/// An entity of the import that is new, or has changed in its source.
pub(super) struct EntityPlan<'a> {
    pub source: &'a ImportedEntity,
    stored_source_id: String,
    fields: FittedEntity,
    /// The entity before the import, if it was imported earlier.
    pub before: Option<Arc<Entity>>,
    /// What earlier imports have written into it.
    imported: EntityVersion,
    /// Decides which of its fields the import writes.
    merge: FieldMerge,
    /// Whether only game masters will see it.
    is_private: bool,
    /// The posts that this import has created or found, by their `source_id`.
    pub posts: BTreeMap<String, SourcePost>,
    /// The posts that this import has created before their texts, by their `source_id`.
    pub mentioned_posts: BTreeMap<&'a str, u64>,
    /// `None` until it is created, and if that was refused.
    pub entity_id: Option<u64>,
    is_changed: bool,
    /// Whether a part of it was refused. Then it stays unfinished, and the next import tries again.
    is_refused: bool,
}

impl EntityPlan<'_> {
    fn source_with_hash(&self, hash: &str) -> ImportSource {
        ImportSource { id: self.stored_source_id.clone(), hash: hash.to_owned(), posts: self.posts.clone() }
    }

    /// Decides whether it will be private. Without a word in the source a new one is what its type is by default.
    fn decide_privacy(&mut self) {
        self.is_private = match (&self.before, self.source.is_private) {
            (Some(before), Some(is_private)) => {
                let merged = self.merge.merge("is_private", &self.imported.is_private, &before.is_private, is_private);
                merged.unwrap_or(before.is_private)
            }
            (Some(before), None) => before.is_private,
            (None, said) => said
                .or(self.source.is_private_at_first)
                .unwrap_or_else(|| self.fields.entity_type.is_private_by_default()),
        };
    }

    /// Whether the source's parent is taken if it is not the present one.
    fn takes_parent(&self, overwrite: bool) -> bool {
        self.before.as_ref().is_none_or(|before| overwrite || before.details().parent == self.imported.parent)
    }

    fn new_entity(&self) -> NewEntity {
        NewEntity {
            subtype: self.fields.subtype.clone(),
            tags: self.fields.tags.clone(),
            aliases: self.fields.aliases.clone(),
            is_private: self.is_private,
            image: self.fields.image.clone(),
            date: self.fields.date.clone(),
            source: Some(self.source_with_hash(UNFINISHED_HASH)),
            ..NewEntity::new(self.fields.entity_type, &self.fields.name)
        }
    }
}

pub(super) struct ImportRun<'a> {
    pub app: &'a App,
    /// The lore before the import.
    pub lore: EnteredLore,
    pub import: &'a Import,
    /// Whether changes that somebody made in Skald are overwritten.
    pub overwrite: bool,
    pub target: ImportTarget<'a>,
    /// The ids of imported entities by their `source_id`.
    ids: HashMap<&'a str, u64>,
    /// The ids of posts by their `source_id`.
    pub post_ids: HashMap<&'a str, u64>,
    /// The ids of the actors of the campaign.
    actors: BTreeSet<String>,
    /// The entities that this import has linked to an actor, by the actor.
    linked_actors: BTreeMap<String, u64>,
    /// Entities whose source is as it was at the last import.
    unchanged: Vec<(&'a ImportedEntity, Arc<Entity>)>,
    pub report: ImportReport,
}

impl<'a> ImportRun<'a> {
    /// Two folders of one name look like one source, and the second overwrites what the first has under the same paths.
    /// A sign of it is that entities of this source are not in this import.
    fn report_other_sources(&mut self) {
        let name = &self.import.source_name;
        if name.is_empty() {
            return;
        }
        let here: BTreeSet<String> =
            self.import.entities.iter().map(|entity| stored_source_id(name, &entity.source_id)).collect();
        let prefix = format!("{name}:");
        let entities = self.lore.state().entities();
        let sources = entities.filter_map(|entity| entity.details().source.as_ref());
        let missing = sources.filter(|source| source.id.starts_with(&prefix) && !here.contains(&*source.id)).count();
        if missing > 0 {
            let what = format!(
                "{missing} entities that were imported from a source of this name are not in this one, and stay; if it is \
                 another source of the same name, give it one with --source-name"
            );
            self.report.add_loss(&name.clone(), what);
        }
    }

    /// What is to be written. Entities whose source is as it was are listed apart.
    fn plan_entities(&mut self) -> Vec<EntityPlan<'a>> {
        let import = self.import;
        let mut plans = Vec::new();
        for source in &import.entities {
            let state = self.lore.state();
            let stored_source_id = stored_source_id(&import.source_name, &source.source_id);
            let known = state.entity_of_source(&stored_source_id);
            let before = known.and_then(|entity_id| state.entity(entity_id)).cloned();
            if let Some(entity) = &before {
                if entity.is_archived() {
                    let what = format!("is in the archive as entity {}, and stays there", entity.entity_id);
                    self.report.add_loss(&source.source_id, what);
                    continue;
                }
                self.ids.insert(source.source_id.as_str(), entity.entity_id);
                if entity.details().source.as_ref().is_some_and(|known| known.hash == source.source_hash) {
                    self.unchanged.push((source, Arc::clone(entity)));
                    continue;
                }
            }
            let fields = fit_entity(source, &mut self.report.losses);
            if let Some(entity) = before.as_ref().filter(|entity| entity.entity_type != fields.entity_type) {
                let (old, new) = (entity.entity_type.as_str(), fields.entity_type.as_str());
                self.report.add_loss(&source.source_id, format!("its type is {new} now, and stays {old}"));
            }
            let entity_id = before.as_ref().map(|entity| entity.entity_id);
            plans.push(EntityPlan {
                source,
                stored_source_id,
                fields,
                posts: BTreeMap::new(),
                mentioned_posts: BTreeMap::new(),
                imported: EntityVersion::default(),
                merge: FieldMerge::new(self.overwrite),
                is_private: true,
                before,
                entity_id,
                is_changed: false,
                is_refused: false,
            });
        }
        plans
    }

    /// Reads what earlier imports wrote into entities that are there, to know what somebody has changed since.
    async fn find_imported_versions(&self, plans: &mut [EntityPlan<'a>]) -> Result<(), Fault> {
        for plan in plans {
            if let Some(before) = &plan.before {
                let past = self.app.past_events(&self.lore, before.entity_id).await?;
                let events: Vec<&LoreEvent> = past.iter().map(|past| &past.event).collect();
                plan.imported = imported_version(&events);
            }
            plan.decide_privacy();
        }
        Ok(())
    }

    /// The first pass: creates entities without texts, and takes from others what must not be there in the second.
    async fn create_entities(&mut self, plans: &mut [EntityPlan<'a>]) -> Result<(), Fault> {
        let commands = plans.iter().enumerate();
        let commands = commands.filter_map(|(place, plan)| Some((place, self.first_command(plan)?)));
        let (places, items): (Vec<usize>, Vec<PreparedItem>) =
            commands.map(|(place, command)| (place, PreparedItem::new(command, None))).unzip();
        let outcomes = self.target.execute_all(items).await?;
        for (place, outcome) in places.into_iter().zip(outcomes) {
            let plan = &mut plans[place];
            let source = plan.source;
            match outcome {
                ImportOutcome::Applied { entity_id, .. } if plan.before.is_none() => {
                    plan.entity_id = entity_id;
                    self.report.created += 1;
                    self.ids.extend(entity_id.map(|entity_id| (source.source_id.as_str(), entity_id)));
                }
                outcome => self.note_outcome(plan, outcome),
            }
        }
        Ok(())
    }

    /// A parent that changes is cleared first: two entities may have changed places. An entity that becomes private does so
    /// before its new texts are stored; one that becomes public, with them.
    fn first_command(&self, plan: &EntityPlan<'_>) -> Option<LoreCommand> {
        let Some(before) = &plan.before else {
            return Some(LoreCommand::CreateEntity(Box::new(plan.new_entity())));
        };
        let mut change = EntityChange {
            is_private: (plan.is_private && !before.is_private).then_some(true),
            parent: (before.details().parent.is_some()
                && before.details().parent != self.parent_id(plan)
                && plan.takes_parent(self.overwrite)
                // An authoritative parent is not taken away on the way: the whole change is held later.
                && !before.canon_mark().fields.contains(CanonField::Parent))
            .then_some(None),
            ..EntityChange::default()
        };
        if change == EntityChange::default() {
            return None;
        }
        let posts = before.details().source.as_ref().map(|source| source.posts.clone()).unwrap_or_default();
        change.source = Some(ImportSource { posts, ..plan.source_with_hash(UNFINISHED_HASH) });
        let entity_id = before.entity_id;
        Some(LoreCommand::UpdateEntity { entity_id, expected_revision: None, change: Box::new(change) })
    }

    fn parent_id(&self, plan: &EntityPlan<'_>) -> Option<u64> {
        self.ids.get(plan.source.parent.as_deref()?).copied()
    }

    /// The second pass: posts, and then everything else of their entities with the hash of the source.
    async fn complete_entities(&mut self, plans: &mut [EntityPlan<'a>]) -> Result<(), Fault> {
        let texts = self.load_earlier_texts(plans).await?;
        let (mut places, mut items) = (Vec::new(), Vec::new());
        for (place, plan) in plans.iter_mut().enumerate() {
            for (source_id, post, item) in self.post_commands(plan, &texts)? {
                places.push((place, source_id, post));
                items.push(self.app.reuse_held_text(&self.lore, item).await?);
            }
        }
        let outcomes = self.target.execute_all(items).await?;
        for ((place, source_id, post), outcome) in places.into_iter().zip(outcomes) {
            let is_counted = plans[place].mentioned_posts.values().any(|id| *id == post.post_id);
            self.report.posts += usize::from(!is_counted && matches!(outcome, ImportOutcome::Applied { .. }));
            let post_id = match outcome {
                ImportOutcome::Applied { post_id, .. } => post_id,
                ImportOutcome::Unchanged => Some(post.post_id),
                ImportOutcome::Refused(_) => None,
            };
            if let Some(post_id) = post_id {
                plans[place].posts.insert(source_id, SourcePost { post_id, ..post });
            }
            self.note_outcome(&mut plans[place], outcome);
        }
        let (mut places, mut items) = (Vec::new(), Vec::new());
        for (place, plan) in plans.iter_mut().enumerate() {
            if let Some(entity_id) = plan.entity_id {
                places.push(place);
                let item = self.final_command(plan, entity_id, &texts)?;
                items.push(self.app.reuse_held_text(&self.lore, item).await?);
            }
        }
        let outcomes = self.target.execute_all(items).await?;
        for (place, outcome) in places.into_iter().zip(outcomes) {
            self.note_outcome(&mut plans[place], outcome);
        }
        Ok(())
    }

    /// The texts of entities and their posts, and those that the last import left.
    async fn load_earlier_texts(&self, plans: &[EntityPlan<'_>]) -> Result<Texts, Fault> {
        let mut references: Vec<&TextRef> = Vec::new();
        for plan in plans {
            references.extend(&plan.imported.text);
            if let Some(entity) = &plan.before {
                references.extend(&entity.text);
                references.extend(entity.live_posts().filter_map(|post| post.text.as_ref()));
            }
        }
        let sources = plans.iter().filter_map(|plan| plan.before.as_ref()?.details().source.as_ref());
        let keys = sources.flat_map(|source| source.posts.values().filter_map(|post| post.text));
        let of_posts: Vec<TextRef> = keys.map(|key| TextRef { key, mentions: Box::default() }).collect();
        references.extend(&of_posts);
        self.app.load_texts(&self.lore.campaign_id, references.into_iter()).await
    }

    fn final_command(
        &mut self,
        plan: &mut EntityPlan<'a>,
        entity_id: u64,
        texts: &Texts,
    ) -> Result<PreparedItem, Fault> {
        let source = plan.source;
        let parent = self.parent_id(plan);
        if let Some(parent) = source.parent.as_ref().filter(|_| parent.is_none()) {
            self.report.add_loss(&source.source_id, format!("the parent {parent:?} was not imported"));
        }
        // An actor that is linked here stays: most sources know none.
        let actor_id = self.actor_to_link(source, entity_id);
        let (mut change, row) = if let Some(before) = plan.before.clone() {
            self.change_of_known_entity(plan, &before, (parent, actor_id), texts)?
        } else {
            let (text, row) = self.change_text(&source.source_id, source.text.as_ref(), None, texts)?.into_parts();
            let change = EntityChange {
                parent: parent.map(Some),
                actor_id: actor_id.map(Some),
                text,
                ..EntityChange::default()
            };
            (change, row)
        };
        // The source is given in any case: it says that an import has made the change.
        change.source =
            Some(plan.source_with_hash(if plan.is_refused { UNFINISHED_HASH } else { &source.source_hash }));
        let command = LoreCommand::UpdateEntity { entity_id, expected_revision: None, change: Box::new(change) };
        Ok(PreparedItem::new(command, row))
    }

    /// The fields of an entity that was imported before: those that the source has otherwise, and that nobody has changed
    /// here since. An image and a date that the source does not have stay.
    fn change_of_known_entity(
        &mut self,
        plan: &mut EntityPlan<'a>,
        before: &Entity,
        (parent, actor_id): (Option<u64>, Option<String>),
        texts: &Texts,
    ) -> Result<(EntityChange, Option<SideRow>), Fault> {
        let takes_parent = plan.takes_parent(self.overwrite);
        let (source, fields, imported) = (plan.source, &plan.fields, &plan.imported);
        let mut merge = std::mem::replace(&mut plan.merge, FieldMerge::new(self.overwrite));
        let details = before.details();
        let owned = |text: Option<&str>| text.map(ToOwned::to_owned);
        let (image, date) = (owned(details.image.as_deref()), owned(details.date.as_deref()));
        let actor_before = owned(details.actor_id.as_deref());
        let aliases: Vec<String> = details.aliases.iter().map(ToString::to_string).collect();
        let tags: Vec<String> = self.lore.state().tag_names(before).into_iter().map(ToOwned::to_owned).collect();
        let tag_set = |tags: &[String]| tags.iter().map(|tag| name_identity(tag)).collect::<BTreeSet<String>>();
        let tags_differ =
            merge.merge("tags", &tag_set(&imported.tags), &tag_set(&tags), tag_set(&fields.tags)).is_some();
        if parent != details.parent && !takes_parent {
            merge.takes_source("parent", true);
        }
        let mut change = EntityChange {
            name: merge.merge("name", &imported.name.as_str(), &&*before.name, &*fields.name).map(ToOwned::to_owned),
            subtype: merge
                .merge("type", &imported.subtype.as_str(), &&*before.subtype, &*fields.subtype)
                .map(ToOwned::to_owned),
            tags: tags_differ.then(|| fields.tags.clone()),
            aliases: merge.merge("aliases", &imported.aliases, &aliases, fields.aliases.clone()),
            is_private: Some(plan.is_private),
            parent: takes_parent.then_some(parent),
            image: fields
                .image
                .as_ref()
                .and_then(|new| merge.merge("image", &imported.image, &image, Some(new.clone()))),
            date: fields.date.as_ref().and_then(|new| merge.merge("date", &imported.date, &date, Some(new.clone()))),
            actor_id: actor_id.and_then(|new| merge.merge("actor_id", &imported.actor_id, &actor_before, Some(new))),
            text: None,
            source: None,
        };
        let versions = (imported.text.as_ref(), before.text.as_ref());
        let (text, row) = self.merge_text(source, source.text.as_ref(), versions, &mut merge, texts)?.into_parts();
        change.text = text;
        if let Some(what) = merge.into_report() {
            self.report.changed_here.push(ImportLoss { source: source.source_id.clone(), what });
        }
        Ok((change, row))
    }

    /// The actor that the source names, if the campaign has it and no other entity describes it.
    fn actor_to_link(&mut self, source: &ImportedEntity, entity_id: u64) -> Option<String> {
        let actor_id = source.actor_id.as_deref()?;
        let known = self.lore.state().entity_of_actor(actor_id).or(self.linked_actors.get(actor_id).copied());
        let why = match known {
            _ if !self.actors.contains(actor_id) => "is not in this campaign".to_owned(),
            Some(other) if other != entity_id => format!("is entity {other} already"),
            _ => {
                self.linked_actors.insert(actor_id.to_owned(), entity_id);
                return Some(actor_id.to_owned());
            }
        };
        self.report.add_loss(&source.source_id, format!("the actor {actor_id} {why}, and is not linked"));
        None
    }

    /// Links in texts of entities that have not changed may lead to entities that are new since the last import. They are
    /// resolved in the stored texts, so that what somebody wrote into them since stays. Texts with HTML have no such links.
    async fn link_new_entities(&mut self, unchanged: &[(&'a ImportedEntity, Arc<Entity>)]) -> Result<(), Fault> {
        let references = unchanged.iter().flat_map(|(_, entity)| {
            entity.text.iter().chain(entity.live_posts().filter_map(|post| post.text.as_ref()))
        });
        let texts = self.app.load_texts(&self.lore.campaign_id, references).await?;
        let (mut places, mut items) = (Vec::new(), Vec::new());
        for (place, (source, entity)) in unchanged.iter().enumerate() {
            let entity_id = entity.entity_id;
            if let Some((text, row)) = self.linked_text(source, entity.text.as_ref(), &texts)? {
                let change = Box::new(EntityChange { text: Some(Some(text)), ..EntityChange::default() });
                let expected_revision = Some(entity.revision);
                let command = LoreCommand::UpdateEntity { entity_id, expected_revision, change };
                items.push(PreparedItem::new(LoreCommand::SameValue(Box::new(command)), Some(row)));
                places.push(place);
            }
            for post in entity.live_posts() {
                if let Some((text, row)) = self.linked_text(source, post.text.as_ref(), &texts)? {
                    let change = Box::new(PostChange { text: Some(Some(text)), ..PostChange::default() });
                    let (post_id, expected_revision) = (post.post_id, Some(post.revision));
                    let command = LoreCommand::UpdatePost { entity_id, post_id, expected_revision, change };
                    items.push(PreparedItem::new(LoreCommand::SameValue(Box::new(command)), Some(row)));
                    places.push(place);
                }
            }
        }
        let outcomes = self.target.execute_all(items).await?;
        let linked: BTreeSet<usize> = places
            .into_iter()
            .zip(outcomes)
            .filter_map(|(place, outcome)| matches!(outcome, ImportOutcome::Applied { .. }).then_some(place))
            .collect();
        self.report.updated += linked.len();
        self.report.unchanged += unchanged.len() - linked.len();
        Ok(())
    }

    /// A stored text with the links resolved that lead somewhere now; `None` if there are none.
    fn linked_text(
        &self,
        source: &ImportedEntity,
        stored: Option<&TextRef>,
        texts: &Texts,
    ) -> Result<Option<(TextRef, SideRow)>, Fault> {
        let Some(entry) = texts.entry(stored).filter(|entry| entry.html.is_none()) else { return Ok(None) };
        let text_converter = self.text_converter();
        let markdown = skald_markup::replace_wiki_links(&entry.markdown, |link| {
            text_converter.link_target(&source.source_id, link)
        });
        if markdown == entry.markdown {
            return Ok(None);
        }
        let text = self.app.new_text(&self.lore.campaign_id, Entry { markdown, html: None })?;
        let is_allowed = text.reference.mentions.len() <= limits::LORE_MENTIONS_MAX;
        Ok(is_allowed.then_some((text.reference, text.row)))
    }

    pub(super) fn text_converter(&self) -> TextConverter<'_> {
        TextConverter { import: self.import, ids: &self.ids, post_ids: &self.post_ids, lore: self.lore.state() }
    }

    fn note_outcome(&mut self, plan: &mut EntityPlan<'_>, outcome: ImportOutcome) {
        match outcome {
            ImportOutcome::Applied { .. } => plan.is_changed = true,
            ImportOutcome::Unchanged => {}
            ImportOutcome::Refused(reason) => {
                plan.is_refused = true;
                let extent = if plan.entity_id.is_some() { "not all of it is imported" } else { "it is not imported" };
                self.report.add_loss(&plan.source.source_id, format!("{extent}: {reason}"));
            }
        }
    }
}
