//! Import of lore from files, for the command line. Entities are created first, and get their texts, parents and posts in
//! a second pass, when everything that a text may link has an id.
//!
//! An entity has the hash of its source only once all of it is stored: an import that was interrupted goes on with the
//! next one. Nothing is shown on the way that is private before or after it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use skald_domain::lore::{
    CanonField, Entity, EntityChange, ImportSource, LoreCommand, NewEntity, NewPost, Post, PostChange, TextRef,
};
use skald_lore_files::{Import, ImportLoss, ImportedEntity, ImportedText};
use skald_markup::Entry;

use super::access::EnteredLore;
use super::batch::{ITEMS_AT_ONCE, PreparedItem};
use super::entry_input::EntryChange;
use super::import_fields::{FittedEntity, fit_entity, fit_post_name, stored_source_id};
use super::import_target::{ImportOutcome, ImportTarget};
use super::import_texts::TextConverter;
use super::texts::Texts;
use crate::{Allowed, App, Call, Caller, CampaignRole, Fault, RequestControl, limits};
use skald_journal::SideRow;

/// Stored in place of a hash while an entity is not imported whole.
const UNFINISHED_HASH: &str = "unfinished";

/// What an import did, or in a dry run would do.
#[derive(Debug, Default)]
pub struct ImportReport {
    pub created: usize,
    pub updated: usize,
    /// Entities that are as they were at the last import.
    pub unchanged: usize,
    /// Posts that were created or changed.
    pub posts: usize,
    /// What is in the source and not in the lore, or the other way round.
    pub losses: Vec<ImportLoss>,
    pub unresolved: Vec<UnresolvedLink>,
}

/// A link or a mention without a target in the import or the campaign. It stays in the text as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnresolvedLink {
    /// The `source_id` of the entity whose text has it.
    pub source: String,
    /// As it is written.
    pub link: String,
}

impl ImportReport {
    fn add_loss(&mut self, source: &str, what: impl Into<String>) {
        self.losses.push(ImportLoss { source: source.to_owned(), what: what.into() });
    }
}

impl App {
    /// Imports lore into a campaign, for its game masters: creates what is new, updates what has changed in its source
    /// since the last import, and leaves everything else alone. `progress` gets how much is done, and of how much. A dry
    /// run writes nothing, and reports the same.
    pub async fn import_lore(
        &self,
        caller: &Caller,
        campaign_id: &str,
        import: &Import,
        dry_run: bool,
        progress: &mut (dyn FnMut(usize, usize) + Send),
    ) -> Result<ImportReport, Fault> {
        let allowed = Allowed::InCampaign(CampaignRole::Gm);
        let campaign_id = self.enter_campaign_as(caller, "an import", allowed, campaign_id).await?.campaign_id;
        let work = RequestControl::default();
        let call = Call::internal(caller, &work);
        let lore = self.load_lore(&call, campaign_id).await?;
        let copy = dry_run.then(|| lore.state().clone());
        let target = ImportTarget { app: self, caller, stream: lore.stream.clone(), copy };
        let report = ImportReport { losses: import.losses.clone(), ..ImportReport::default() };
        let actors = self.actor_ids(&lore.campaign_id).await?;
        let mut run = ImportRun {
            app: self,
            lore,
            import,
            target,
            ids: HashMap::new(),
            actors,
            linked_actors: BTreeMap::new(),
            unchanged: Vec::new(),
            report,
        };
        run.report_other_sources();
        let mut plans = run.plan_entities();
        let unchanged = std::mem::take(&mut run.unchanged);
        let total = plans.len() * 2 + unchanged.len();
        let mut done = 0;
        for chunk in plans.chunks_mut(ITEMS_AT_ONCE) {
            run.create_entities(chunk).await?;
            done += chunk.len();
            progress(done, total);
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
        Ok(run.report)
    }

    /// The change of a text, given the one of the last import or of somebody since.
    fn change_imported_text(
        &self,
        campaign_id: &str,
        entry: Option<Entry>,
        before: Option<&TextRef>,
        texts: &Texts,
    ) -> Result<EntryChange, Fault> {
        match (entry, before) {
            (None, None) => Ok(EntryChange::Unchanged),
            (None, Some(_)) => Ok(EntryChange::Cleared),
            (Some(entry), before) if texts.entry(before) == Some(&entry) => Ok(EntryChange::Unchanged),
            (Some(entry), _) => self.new_text(campaign_id, entry).map(|text| EntryChange::Written(Box::new(text))),
        }
    }
}

/// An entity of the import that is new, or has changed in its source.
struct EntityPlan<'a> {
    source: &'a ImportedEntity,
    stored_source_id: String,
    fields: FittedEntity,
    /// The entity before the import, if it was imported earlier.
    before: Option<Arc<Entity>>,
    /// `None` until it is created, and if that was refused.
    entity_id: Option<u64>,
    is_changed: bool,
    /// Whether a part of it was refused. Then it stays unfinished, and the next import tries again.
    is_refused: bool,
}

impl EntityPlan<'_> {
    fn source_with_hash(&self, hash: &str) -> ImportSource {
        ImportSource { id: self.stored_source_id.clone(), hash: hash.to_owned() }
    }

    fn new_entity(&self) -> NewEntity {
        NewEntity {
            subtype: self.fields.subtype.clone(),
            tags: self.fields.tags.clone(),
            aliases: self.fields.aliases.clone(),
            is_private: self.source.is_private,
            image: self.fields.image.clone(),
            date: self.fields.date.clone(),
            source: Some(self.source_with_hash(UNFINISHED_HASH)),
            ..NewEntity::new(self.fields.entity_type, &self.fields.name)
        }
    }
}

struct ImportRun<'a> {
    app: &'a App,
    /// The lore before the import.
    lore: EnteredLore,
    import: &'a Import,
    target: ImportTarget<'a>,
    /// The ids of imported entities by their `source_id`.
    ids: HashMap<&'a str, u64>,
    /// The ids of the actors of the campaign.
    actors: BTreeSet<String>,
    /// The entities that this import has linked to an actor, by the actor.
    linked_actors: BTreeMap<String, u64>,
    /// Entities whose source is as it was at the last import.
    unchanged: Vec<(&'a ImportedEntity, Arc<Entity>)>,
    report: ImportReport,
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
                before,
                entity_id,
                is_changed: false,
                is_refused: false,
            });
        }
        plans
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
                ImportOutcome::Applied(entity_id) if plan.before.is_none() => {
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
        let change = EntityChange {
            is_private: (plan.source.is_private && !before.is_private).then_some(true),
            parent: (before.details().parent.is_some()
                && before.details().parent != self.parent_id(plan)
                // An authoritative parent is not taken away on the way: the whole change is held later.
                && !before.canon_mark().fields.contains(CanonField::Parent))
            .then_some(None),
            ..EntityChange::default()
        };
        let is_needed = change != EntityChange::default();
        is_needed.then(|| LoreCommand::UpdateEntity {
            entity_id: before.entity_id,
            expected_revision: None,
            change: Box::new(change),
        })
    }

    fn parent_id(&self, plan: &EntityPlan<'_>) -> Option<u64> {
        self.ids.get(plan.source.parent.as_deref()?).copied()
    }

    /// The second pass: posts, and then everything else of their entities with the hash of the source.
    async fn complete_entities(&mut self, plans: &mut [EntityPlan<'a>]) -> Result<(), Fault> {
        let texts = self.load_earlier_texts(plans).await?;
        let (mut places, mut items) = (Vec::new(), Vec::new());
        for (place, plan) in plans.iter().enumerate() {
            let commands = self.post_commands(plan, &texts)?;
            places.resize(places.len() + commands.len(), place);
            for item in commands {
                items.push(self.app.reuse_held_text(&self.lore, item).await?);
            }
        }
        let outcomes = self.target.execute_all(items).await?;
        for (place, outcome) in places.into_iter().zip(outcomes) {
            self.report.posts += usize::from(matches!(outcome, ImportOutcome::Applied(_)));
            self.note_outcome(&mut plans[place], outcome);
        }
        let (mut places, mut items) = (Vec::new(), Vec::new());
        for (place, plan) in plans.iter().enumerate() {
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

    async fn load_earlier_texts(&self, plans: &[EntityPlan<'_>]) -> Result<Texts, Fault> {
        let mut references: Vec<&TextRef> = Vec::new();
        for entity in plans.iter().filter_map(|plan| plan.before.as_deref()) {
            references.extend(&entity.text);
            references.extend(entity.live_posts().filter_map(|post| post.text.as_ref()));
        }
        self.app.load_texts(&self.lore.campaign_id, references.into_iter()).await
    }

    /// Creates posts, or updates those of the same name. Others stay, since somebody may have written them here.
    fn post_commands(&mut self, plan: &EntityPlan<'_>, texts: &Texts) -> Result<Vec<PreparedItem>, Fault> {
        let Some(entity_id) = plan.entity_id else { return Ok(Vec::new()) };
        let source_id = plan.source.source_id.as_str();
        let mut earlier: Vec<&Arc<Post>> = plan.before.iter().flat_map(|entity| entity.live_posts()).collect();
        let mut items = Vec::with_capacity(plan.source.posts.len());
        for post in &plan.source.posts {
            let name = fit_post_name(source_id, &post.name, &mut self.report.losses);
            // Of several posts of one name each is matched once.
            let known = earlier.iter().position(|known| *known.name == *name).map(|at| earlier.remove(at));
            let before = known.and_then(|known| known.text.as_ref());
            let (text, row) = self.change_text(source_id, post.text.as_ref(), before, texts)?.into_parts();
            let is_private = post.is_private;
            let command = match known {
                None => LoreCommand::CreatePost(Box::new(NewPost {
                    entity_id,
                    name,
                    is_private,
                    text: text.flatten(),
                    post_id: None,
                })),
                Some(known) => LoreCommand::UpdatePost {
                    entity_id,
                    post_id: known.post_id,
                    expected_revision: None,
                    change: Box::new(PostChange { name: None, is_private: Some(is_private), text }),
                },
            };
            items.push(PreparedItem::new(command, row));
        }
        for post in earlier {
            self.report.add_loss(source_id, format!("the post {:?} is not in the source, and stays", post.name));
        }
        Ok(items)
    }

    fn final_command(&mut self, plan: &EntityPlan<'_>, entity_id: u64, texts: &Texts) -> Result<PreparedItem, Fault> {
        let source = plan.source;
        let before = plan.before.as_ref().and_then(|entity| entity.text.as_ref());
        let (text, row) = self.change_text(&source.source_id, source.text.as_ref(), before, texts)?.into_parts();
        let parent = self.parent_id(plan);
        if let Some(parent) = source.parent.as_ref().filter(|_| parent.is_none()) {
            self.report.add_loss(&source.source_id, format!("the parent {parent:?} was not imported"));
        }
        let change = EntityChange {
            name: Some(plan.fields.name.clone()),
            subtype: Some(plan.fields.subtype.clone()),
            tags: Some(plan.fields.tags.clone()),
            aliases: Some(plan.fields.aliases.clone()),
            is_private: Some(source.is_private),
            parent: Some(parent),
            image: Some(plan.fields.image.clone()),
            date: Some(plan.fields.date.clone()),
            // An actor that is linked here stays: most sources know none.
            actor_id: self.actor_to_link(source, entity_id).map(Some),
            text,
            source: (!plan.is_refused).then(|| plan.source_with_hash(&source.source_hash)),
        };
        let command = LoreCommand::UpdateEntity { entity_id, expected_revision: None, change: Box::new(change) };
        Ok(PreparedItem::new(command, row))
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
            .filter_map(|(place, outcome)| matches!(outcome, ImportOutcome::Applied(_)).then_some(place))
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

    fn text_converter(&self) -> TextConverter<'_> {
        TextConverter { import: self.import, ids: &self.ids, lore: self.lore.state() }
    }

    /// Converts a text, reports what it lost, and compares it with the stored one.
    fn change_text(
        &mut self,
        source_id: &str,
        text: Option<&ImportedText>,
        before: Option<&TextRef>,
        texts: &Texts,
    ) -> Result<EntryChange, Fault> {
        let converted = self.text_converter().convert_text(source_id, text);
        let unresolved = converted.unresolved.into_iter();
        self.report.unresolved.extend(unresolved.map(|link| UnresolvedLink { source: source_id.to_owned(), link }));
        if let Some(loss) = converted.loss {
            self.report.add_loss(source_id, loss);
            return Ok(EntryChange::Unchanged);
        }
        let change = self.app.change_imported_text(&self.lore.campaign_id, converted.entry, before, texts)?;
        let (count, count_max) = (change.mention_count(), limits::LORE_MENTIONS_MAX);
        if count > count_max {
            let what = format!("a text that mentions {count} entities is not imported, allowed: {count_max}");
            self.report.add_loss(source_id, what);
            return Ok(EntryChange::Unchanged);
        }
        Ok(change)
    }

    fn note_outcome(&mut self, plan: &mut EntityPlan<'_>, outcome: ImportOutcome) {
        match outcome {
            ImportOutcome::Applied(_) => plan.is_changed = true,
            ImportOutcome::Unchanged => {}
            ImportOutcome::Refused(reason) => {
                plan.is_refused = true;
                let extent = if plan.entity_id.is_some() { "not all of it is imported" } else { "it is not imported" };
                self.report.add_loss(&plan.source.source_id, format!("{extent}: {reason}"));
            }
        }
    }
}
