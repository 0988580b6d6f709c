//! Merges the posts and texts of an import with those that are there: what somebody has changed here stays.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use skald_domain::lore::{Entity, LoreCommand, NewPost, Post, PostChange, SourcePost, TextKey, TextRef, fold_name};
use skald_lore_files::{ImportLoss, ImportedEntity, ImportedPost, ImportedText};
use skald_markup::{Entry, MentionKind};

use super::batch::PreparedItem;
use super::entry_input::EntryChange;
use super::import::{EntityPlan, ImportRun, UnresolvedLink};
use super::import_changes::FieldMerge;
use super::import_fields::{fit_post_name, stored_source_id};
use super::import_target::ImportOutcome;
use super::texts::Texts;
use crate::{App, Fault, limits};
use skald_journal::SideRow;

impl App {
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

/// Finds the posts of an entity that is there among those of its source.
struct PostMatching {
    /// The posts that no post of the source was matched with yet.
    left: Vec<Arc<Post>>,
    /// What the last import left, by the stored ids of the posts.
    imported: BTreeMap<String, SourcePost>,
}

impl PostMatching {
    fn new(before: Option<&Entity>) -> Self {
        let source = before.and_then(|entity| entity.details().source.as_ref());
        Self {
            left: before.map(|entity| entity.details().posts.to_vec()).unwrap_or_default(),
            imported: source.map(|source| source.posts.clone()).unwrap_or_default(),
        }
    }

    /// The post that was imported under the same id, or for an import that did not store that yet, one of the same name.
    fn take(&mut self, stored_id: &str, name: &str) -> Option<Arc<Post>> {
        let imported = self.imported.get(stored_id);
        let by_id = self.left.iter().position(|known| imported.is_some_and(|post| post.post_id == known.post_id));
        // Of several posts of one name each is matched once.
        let by_name = || {
            let is_free = |post: &Post| {
                !post.is_archived() && self.imported.values().all(|imported| imported.post_id != post.post_id)
            };
            self.left.iter().position(|known| is_free(known) && fold_name(&known.name) == fold_name(name))
        };
        by_id.or_else(by_name).map(|at| self.left.remove(at))
    }
}

impl<'a> ImportRun<'a> {
    /// The posts of the import that its texts mention, by their `source_id`, and on the way the ids of those of entities
    /// that are as they were.
    pub(super) fn mentioned_posts(
        &mut self,
        plans: &[EntityPlan<'a>],
        unchanged: &[(&'a ImportedEntity, Arc<Entity>)],
    ) -> BTreeSet<String> {
        let texts = plans.iter().flat_map(|plan| {
            plan.source.text.iter().chain(plan.source.posts.iter().filter_map(|post| post.text.as_ref()))
        });
        let mut mentioned = BTreeSet::new();
        for text in texts.map(ImportedText::as_str).filter(|text| text.contains("[post:")) {
            let mentions = skald_markup::mentions(text).into_iter();
            let posts = mentions.filter(|mention| mention.kind == MentionKind::Post);
            mentioned.extend(posts.filter_map(|mention| self.import.post_mention_target(mention.id?)));
        }
        if !mentioned.is_empty() {
            for (source, entity) in unchanged {
                let imported = entity.details().source.as_ref().map(|source| &source.posts);
                for post in &source.posts {
                    let known = imported.and_then(|posts| posts.get(&stored_source_id("", &post.source_id)));
                    let live = known.filter(|known| entity.live_posts().any(|post| post.post_id == known.post_id));
                    self.post_ids.extend(live.map(|live| (post.source_id.as_str(), live.post_id)));
                }
            }
        }
        mentioned
    }

    /// Finds the posts that texts of the import mention, or creates them without their own texts: these may mention each
    /// other.
    pub(super) async fn create_mentioned_posts(
        &mut self,
        plans: &mut [EntityPlan<'a>],
        mentioned: &BTreeSet<String>,
    ) -> Result<(), Fault> {
        let (mut places, mut items) = (Vec::new(), Vec::new());
        for (place, plan) in plans.iter().enumerate() {
            let Some(entity_id) = plan.entity_id else { continue };
            let mut matching = PostMatching::new(plan.before.as_deref());
            for post in &plan.source.posts {
                // What does not fit is reported with the text of the post.
                let name = fit_post_name(&plan.source.source_id, &post.name, &mut Vec::new());
                match matching.take(&stored_source_id("", &post.source_id), &name) {
                    Some(known) if !known.is_archived() => {
                        self.post_ids.insert(post.source_id.as_str(), known.post_id);
                    }
                    None if mentioned.contains(&post.source_id) => {
                        let is_private = post.is_private;
                        let new = NewPost { entity_id, name, is_private, text: None, post_id: None };
                        places.push((place, post.source_id.as_str()));
                        items.push(PreparedItem::new(LoreCommand::CreatePost(Box::new(new)), None));
                    }
                    Some(_) | None => {}
                }
            }
        }
        let outcomes = self.target.execute_all(items).await?;
        for ((place, source_id), outcome) in places.into_iter().zip(outcomes) {
            // A post that is refused is refused again with its text, and reported then.
            if let ImportOutcome::Applied { post_id: Some(post_id), .. } = outcome {
                self.report.posts += 1;
                self.post_ids.insert(source_id, post_id);
                plans[place].mentioned_posts.insert(source_id, post_id);
            }
        }
        Ok(())
    }

    /// Creates posts, or updates those that were imported before. Others stay, since somebody may have written them here. Each command comes with
    /// the post as the import leaves it, and the id under which that is stored.
    pub(super) fn post_commands(
        &mut self,
        plan: &mut EntityPlan<'a>,
        texts: &Texts,
    ) -> Result<Vec<(String, SourcePost, PreparedItem)>, Fault> {
        let Some(entity_id) = plan.entity_id else { return Ok(Vec::new()) };
        let source = plan.source;
        let source_id = source.source_id.as_str();
        let mut matching = PostMatching::new(plan.before.as_deref());
        let mut items = Vec::with_capacity(source.posts.len());
        for post in &source.posts {
            let name = fit_post_name(source_id, &post.name, &mut self.report.losses);
            let stored_id = stored_source_id("", &post.source_id);
            let Some(known) = matching.take(&stored_id, &name) else {
                let (text, row) = self.change_text(source_id, post.text.as_ref(), None, texts)?.into_parts();
                let (is_private, key) = (post.is_private, text.iter().flatten().map(|text| text.key).next());
                let created = plan.mentioned_posts.get(post.source_id.as_str()).copied();
                let left =
                    SourcePost { post_id: created.unwrap_or_default(), name: name.clone(), is_private, text: key };
                let command = if let Some(post_id) = created {
                    let change = Box::new(PostChange { text, ..PostChange::default() });
                    LoreCommand::UpdatePost { entity_id, post_id, expected_revision: None, change }
                } else {
                    let text = text.flatten();
                    LoreCommand::CreatePost(Box::new(NewPost { entity_id, name, is_private, text, post_id: None }))
                };
                items.push((stored_id, left, PreparedItem::new(command, row)));
                continue;
            };
            let left = matching.imported.get(&stored_id);
            if let Some(left) = left {
                plan.posts.insert(stored_id.clone(), left.clone());
            }
            if known.is_archived() {
                self.report
                    .add_loss(source_id, format!("the post {:?} is in the archive, and stays there", known.name));
                continue;
            }
            let (change, left, row) = self.post_change(source, (&*known, name), post, left, texts)?;
            let (post_id, change) = (known.post_id, Box::new(change));
            let command = LoreCommand::UpdatePost { entity_id, post_id, expected_revision: None, change };
            items.push((stored_id, left, PreparedItem::new(command, row)));
        }
        for post in matching.left.iter().filter(|post| !post.is_archived()) {
            self.report.add_loss(source_id, format!("the post {:?} is not in the source, and stays", post.name));
        }
        Ok(items)
    }

    /// The change of a post that is there, and the post as the import leaves it. `left` is what the last import left.
    fn post_change(
        &mut self,
        source: &ImportedEntity,
        (known, name): (&Post, String),
        post: &ImportedPost,
        left: Option<&SourcePost>,
        texts: &Texts,
    ) -> Result<(PostChange, SourcePost, Option<SideRow>), Fault> {
        let ours = SourcePost {
            post_id: known.post_id,
            name: known.name.to_string(),
            is_private: known.is_private,
            text: known.text.as_ref().map(|text| text.key),
        };
        let left = left.unwrap_or(&ours);
        let mut merge = FieldMerge::new(self.overwrite);
        let new_name = merge.merge("name", &left.name, &ours.name, name.clone());
        let is_private = merge.merge("is_private", &left.is_private, &ours.is_private, post.is_private);
        let mut change = self.change_text(&source.source_id, post.text.as_ref(), known.text.as_ref(), texts)?;
        let has_same_text = matches!(change, EntryChange::Unchanged);
        // Links that were resolved since the last import have changed the text too.
        let is_text_changed_here =
            left.text != ours.text && !self.only_links_differ(&source.source_id, left.text, known.text.as_ref(), texts);
        let keeps_text = !has_same_text && !merge.takes_source("entry", is_text_changed_here);
        if keeps_text {
            change = EntryChange::Unchanged;
        }
        if let Some(what) = merge.into_report() {
            let what = format!("the post {:?}: {what}", known.name);
            self.report.changed_here.push(ImportLoss { source: source.source_id.clone(), what });
        }
        let (text, row) = change.into_parts();
        let written = text.as_ref().map(|text| text.as_ref().map(|text| text.key));
        let after = SourcePost {
            post_id: known.post_id,
            name: if new_name.is_some() || name == ours.name { name } else { left.name.clone() },
            is_private: if is_private.is_some() || post.is_private == ours.is_private {
                post.is_private
            } else {
                left.is_private
            },
            text: written.unwrap_or(if keeps_text { left.text } else { ours.text }),
        };
        Ok((PostChange { name: new_name, is_private, text }, after, row))
    }

    /// The change of a text, unless somebody has changed it since the last import. `versions` are the text of that import
    /// and the present one.
    pub(super) fn merge_text(
        &mut self,
        source: &ImportedEntity,
        text: Option<&ImportedText>,
        (imported, ours): (Option<&TextRef>, Option<&TextRef>),
        merge: &mut FieldMerge,
        texts: &Texts,
    ) -> Result<EntryChange, Fault> {
        let change = self.change_text(&source.source_id, text, ours, texts)?;
        if matches!(change, EntryChange::Unchanged) {
            return Ok(change);
        }
        let (imported, key) = (imported.map(|text| text.key), ours.map(|text| text.key));
        let is_changed_here = imported != key && !self.only_links_differ(&source.source_id, imported, ours, texts);
        Ok(if merge.takes_source("entry", is_changed_here) { change } else { EntryChange::Unchanged })
    }

    /// Whether a text differs from the one of the last import in links alone that were resolved since.
    fn only_links_differ(
        &self,
        source_id: &str,
        imported: Option<TextKey>,
        ours: Option<&TextRef>,
        texts: &Texts,
    ) -> bool {
        let (Some(imported), Some(ours)) = (imported.and_then(|key| texts.entry_of(key)), texts.entry(ours)) else {
            return false;
        };
        let text_converter = self.text_converter();
        let linked =
            skald_markup::replace_wiki_links(&imported.markdown, |link| text_converter.link_target(source_id, link));
        linked == ours.markdown
    }

    /// Converts a text, reports what it lost, and compares it with the stored one.
    pub(super) fn change_text(
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
}
