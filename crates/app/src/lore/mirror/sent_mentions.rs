//! Mentions in texts that are sent. They contain remote ids, so a text waits until everything that it mentions has one.

use skald_domain::lore::{Entity, EntityChange, LoreCommand, PostChange, TextRef};

use super::merge_versions::current_mentions;
use super::rows::AgreedRow;
use super::sync_run::{SyncFailure, SyncRun};
use crate::lore::stream::LoreStream;
use skald_journal::CommittedState;

impl SyncRun<'_> {
    /// Writes mentions of entities that were renumbered under their ids of today, in the text of an entity and in its
    /// posts. Whether there were any.
    pub(super) async fn rewrite_mentions(
        &self,
        committed: &CommittedState<LoreStream>,
        entity: &Entity,
    ) -> Result<bool, SyncFailure> {
        let entity_id = entity.entity_id;
        let posts = entity.live_posts().map(|post| (Some(post), post.text.as_ref()));
        let mut is_rewritten = false;
        for (post, text) in std::iter::once((None, entity.text.as_ref())).chain(posts) {
            let Some(entry) = self.load_entry(text.filter(|text| !text.mentions.is_empty())).await? else { continue };
            let current = current_mentions(&entry, &committed.state);
            if current == entry {
                continue;
            }
            let text = self.app.new_text(self.campaign_id, current)?;
            let reference = Some(Some(text.reference));
            let command = match post {
                None => LoreCommand::UpdateEntity {
                    entity_id,
                    expected_revision: Some(entity.revision),
                    change: Box::new(EntityChange { text: reference, ..EntityChange::default() }),
                },
                Some(post) => LoreCommand::UpdatePost {
                    entity_id,
                    post_id: post.post_id,
                    expected_revision: Some(post.revision),
                    change: Box::new(PostChange { text: reference, ..PostChange::default() }),
                },
            };
            // If the text was edited meanwhile, this write is refused, and the next run sends the new text.
            let command = LoreCommand::SameValue(Box::new(command));
            is_rewritten |= self.execute(command, vec![text.row]).await?.is_ok();
        }
        Ok(is_rewritten)
    }

    /// An entity that a text mentions, that is here, and that the remote place does not have. Under the id that it has
    /// here, a mention of it would lead nowhere there, or to something else.
    pub(super) async fn unsent_mention(
        &self,
        committed: &CommittedState<LoreStream>,
        text: Option<&TextRef>,
    ) -> Result<Option<u64>, SyncFailure> {
        let mentions = text.map_or(&[][..], |text| &text.mentions);
        let is_here = |id: &u64| committed.state.entity(*id).is_some_and(|entity| !entity.is_archived());
        let current = mentions.iter().map(|id| committed.state.current_id(*id));
        let mentioned: Vec<u64> = current.filter(is_here).collect();
        if mentioned.is_empty() {
            return Ok(None);
        }
        let there = self.app.agreed_rows(self.campaign_id, &mentioned).await?;
        Ok(mentioned.into_iter().find(|id| !there.contains_key(id)))
    }

    /// Why a changed text of an entity, or of one of its posts, is not sent yet.
    pub(super) async fn held_text_problem(
        &self,
        committed: &CommittedState<LoreStream>,
        entity: &Entity,
        row: &AgreedRow,
    ) -> Result<Option<String>, SyncFailure> {
        let posts = entity.live_posts().map(|post| {
            let agreed = row.posts.iter().find(|agreed| agreed.post_id == post.post_id);
            (post.text.as_ref(), agreed.and_then(|agreed| agreed.entry_key))
        });
        for (text, agreed_key) in std::iter::once((entity.text.as_ref(), row.entry_key)).chain(posts) {
            let changed = text.filter(|text| Some(text.key) != agreed_key);
            if let Some(mentioned) = self.unsent_mention(committed, changed).await? {
                let problem = format!("a text mentions entity {mentioned}, and is sent when that one is there");
                return Ok(Some(problem));
            }
        }
        Ok(None)
    }
}
