//! Imports the tokens of older stores, which have them in rows beside the journal, as events. Nothing else reads these
//! rows.

use serde::Deserialize;
use skald_domain::Moment;
use skald_domain::access::{AccessCommand, AccessRefusal, EarlierToken, person_of};
use skald_journal::{FindingKind, JournalFailure, RowCheck, SideRowCheck};

use super::stream::token_stream;
use crate::{App, Fault, Holder};

/// The kind of the side rows in which older stores have tokens.
pub(super) const EARLIER_TOKENS: &str = "token";
/// Rows that are read at once.
const ROWS_PER_READ: usize = 200;
/// The program that is recorded for imported tokens.
const IMPORT_PROGRAM: &str = "skald, from a store of an earlier version";

/// Any token row is a finding: migration turns those of an older store into events and removes them before `verify`.
pub(super) const EARLIER_TOKENS_CHECK: SideRowCheck = SideRowCheck::Row(|_, _, _| {
    RowCheck::Wrong(FindingKind::TokenUnrecorded, format!("no event of {} speaks of it", token_stream()))
});

/// A token in a row of an older store.
#[derive(Deserialize)]
struct EarlierRow {
    holder: Holder,
    created_at: Moment,
    hash: String,
}

impl EarlierRow {
    fn into_token(self) -> EarlierToken {
        let Holder { id, name, kind, roles, gate_role, .. } = self.holder;
        let (person, roles) = (person_of(&name), roles.all());
        let (token_id, secret_hash, created_at) = (id, self.hash, self.created_at);
        EarlierToken { token_id, name, person, kind, roles, gate_role, secret_hash, created_at }
    }
}

impl App {
    /// Imports the tokens that an older store has in rows as events, removes the rows, and raises the store's version.
    /// In a current store no row becomes a token, so that a forged row gives no access.
    pub async fn import_earlier_tokens(&self) -> Result<(), Fault> {
        if !self.journal.awaits_token_import() {
            return Ok(());
        }
        let tokens = self.read_earlier_tokens().await?;
        if !tokens.is_empty() {
            let import = AccessCommand::Import { tokens: tokens.clone(), program: IMPORT_PROGRAM.to_owned() };
            match self.change_access(import, "owner").await {
                Ok(()) | Err(JournalFailure::Refused(AccessRefusal::TooLateToImport)) => {}
                Err(failure) => return Err(self.access_fault(failure)),
            }
        }
        // A row that was not imported stays, and `verify` reports it.
        let access = self.read_access_state().await?;
        for token in tokens {
            let is_imported = access
                .state
                .get(&token.token_id)
                .is_some_and(|known| known.earlier == Some(token.created_at) && known.secret_hash == token.secret_hash);
            if is_imported {
                let removed = self.journal.remove(EARLIER_TOKENS, &token.token_id).await;
                removed.map_err(|error| self.store_fault(&error))?;
            }
        }
        self.journal.finish_token_import().await.map_err(|error| self.store_fault(&error))
    }

    /// The tokens in rows. An unreadable row is skipped, so that the store can still be opened.
    async fn read_earlier_tokens(&self) -> Result<Vec<EarlierToken>, Fault> {
        let (mut tokens, mut after) = (Vec::new(), String::new());
        loop {
            let rows = self.journal.list(EARLIER_TOKENS, &after, ROWS_PER_READ).await;
            let rows = rows.map_err(|error| self.store_fault(&error))?;
            let Some((last, _)) = rows.last() else { return Ok(tokens) };
            after.clone_from(last);
            let read = rows.iter().filter_map(|(_, body)| serde_json::from_str::<EarlierRow>(body).ok());
            tokens.extend(read.map(EarlierRow::into_token));
        }
    }
}
