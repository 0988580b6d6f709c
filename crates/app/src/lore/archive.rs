//! The archive of deleted entities and posts, for `lore_history`: its list, bringing something back, and removing the texts
//! for good.

use skald_domain::Moment;
use skald_domain::lore::LoreCommand;

use super::access::EnteredLore;
use super::batch::is_unchanged;
use super::history::{ArchivedRow, LoreHistory, LoreHistoryInput, LoreHistoryOutput};
use super::stream::LoreStream;
use crate::execute_command::CommandTerms;
use crate::{App, Call, Code, Fault};
use skald_journal::{Applied, JournalFailure};

/// How often emptying the archive is tried while others write.
const EMPTY_ATTEMPTS: usize = 8;

impl EnteredLore {
    pub(super) fn list_archive(&self, input: &LoreHistoryInput) -> Result<LoreHistoryOutput, Fault> {
        let limit = crate::list_page::check_page_limit(input.limit)?;
        let skipped: usize = match input.cursor.as_deref() {
            None => 0,
            Some(cursor) => cursor.parse().map_err(|_| crate::list_page::invalid_cursor_fault(cursor))?,
        };
        let entities = self.state().archived().map(|entity| ArchivedRow {
            entity_id: entity.entity_id,
            name: entity.name.to_string(),
            post_id: None,
            archived_at: entity.details().archived_at.map(Moment::from),
        });
        let posts = self.state().archived_posts().map(|(entity, post)| ArchivedRow {
            entity_id: entity.entity_id,
            name: post.name.to_string(),
            post_id: Some(post.post_id),
            archived_at: post.archived_at.map(Moment::from),
        });
        let mut rows: Vec<ArchivedRow> = entities.chain(posts).skip(skipped).take(limit + 1).collect();
        let next_cursor = (rows.len() > limit).then(|| (skipped + limit).to_string());
        rows.truncate(limit);
        Ok(LoreHistoryOutput { archived: Some(rows), next_cursor, ..LoreHistoryOutput::default() })
    }
}

/// What is removed for good: all that is archived, an entity, or a post.
struct Removal {
    entity_ids: Vec<u64>,
    /// Each with its entity.
    posts: Vec<(u64, u64)>,
    is_all: bool,
}

impl Removal {
    fn new(lore: &EnteredLore, input: &LoreHistoryInput) -> Result<Self, Fault> {
        let Some(reference) = &input.entity_id else {
            let entity_ids = lore.state().archived().map(|entity| entity.entity_id).collect();
            let posts = lore.state().archived_posts().map(|(entity, post)| (entity.entity_id, post.post_id)).collect();
            return Ok(Self { entity_ids, posts, is_all: true });
        };
        let entity_id = lore.any_entity(Some(reference))?;
        Ok(match input.post_id {
            None => Self { entity_ids: vec![entity_id], posts: Vec::new(), is_all: false },
            Some(post_id) => Self { entity_ids: Vec::new(), posts: vec![(entity_id, post_id)], is_all: false },
        })
    }
}

impl App {
    pub(super) async fn undelete(
        &self,
        call: &Call<'_>,
        lore: &EnteredLore,
        input: &LoreHistoryInput,
    ) -> Result<LoreHistoryOutput, Fault> {
        let entity_id = lore.any_entity(input.entity_id.as_ref())?;
        let command = match input.post_id {
            Some(post_id) => LoreCommand::RestorePost { entity_id, post_id },
            None => LoreCommand::RestoreEntity { entity_id },
        };
        let output = LoreHistoryOutput { entity_id: Some(entity_id), ..LoreHistoryOutput::default() };
        self.run_lore_command(call, lore, command, move |_| output.clone()).await
    }

    /// Empties the archive, with retries if somebody else wrote meanwhile. A caller who expects a revision gets the conflict
    /// instead.
    pub(super) async fn empty_archive_with_retries(
        &self,
        call: &Call<'_>,
        mut lore: EnteredLore,
        input: &LoreHistoryInput,
    ) -> Result<LoreHistoryOutput, Fault> {
        let attempts = if call.control.expected_revision.is_some() { 1 } else { EMPTY_ATTEMPTS };
        for _ in 1..attempts {
            match self.empty_archive(call, &lore, input).await {
                Err(fault) if fault.code() == Code::RevisionConflict => {}
                done => return done,
            }
            lore = self.load_lore(call, lore.campaign_id).await?;
        }
        self.empty_archive(call, &lore, input).await
    }

    async fn empty_archive(
        &self,
        call: &Call<'_>,
        lore: &EnteredLore,
        input: &LoreHistoryInput,
    ) -> Result<LoreHistoryOutput, Fault> {
        let actual = lore.committed.revision();
        if let Some(expected) = call.control.expected_revision.filter(|expected| *expected != actual) {
            return Err(self.lore_fault(JournalFailure::RevisionConflict { expected, actual }));
        }
        let Removal { entity_ids, posts, is_all } = Removal::new(lore, input)?;
        let mut text_keys = Vec::new();
        for entity_id in &entity_ids {
            let past = self.past_events(lore, *entity_id).await?;
            text_keys.extend(past.iter().filter_map(|past| Some(past.event.text()?.key)));
        }
        for (entity_id, post_id) in &posts {
            let past = self.past_events(lore, *entity_id).await?;
            let of_post = past.iter().filter(|past| past.event.post_id() == Some(*post_id));
            text_keys.extend(of_post.filter_map(|past| Some(past.event.text()?.key)));
        }
        let removed = entity_ids.len() + posts.len();
        let (entity_ids, posts) = if is_all { (Vec::new(), Vec::new()) } else { (entity_ids, posts) };
        let command = LoreCommand::EmptyArchive { entity_ids, posts, text_keys };
        // Expect this revision: if something was restored meanwhile, its texts must not be removed.
        let terms = CommandTerms { expected: Some(actual), ..CommandTerms::of_call(call) };
        let output = |removed| LoreHistoryOutput { removed: Some(removed), ..LoreHistoryOutput::default() };
        let answer = move |_: &Applied<LoreStream>| output(removed);
        let done =
            self.execute_with_terms::<LoreHistory, _, _>(&self.lore, call, &lore.stream, command, terms, answer).await;
        let emptied = match done {
            Ok((answered, _)) => LoreHistoryOutput::of_answer(answered),
            Err(not_done) if is_unchanged(&not_done.failure) => output(0),
            Err(not_done) => return Err(self.lore_fault(not_done.failure)),
        };
        self.erase_removed_texts().await?;
        Ok(emptied)
    }

    /// Removes from the disk what was removed from the archive.
    pub(super) async fn erase_removed_texts(&self) -> Result<(), Fault> {
        self.journal.erase_deleted_rows().await.map_err(|error| {
            tracing::warn!(%error, "removed texts stay in the store's files");
            let message = "the archive is empty, but the store's files may still hold the removed texts";
            Fault::new(Code::Unavailable, message).hint("call `lore_history` with method empty again in a moment")
        })
    }
}
