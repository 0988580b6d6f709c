//! The stream of tokens in the journal: its kind, its one name, and how it is read and changed.

use std::borrow::Cow;
use std::sync::Arc;

use skald_domain::access::{AccessCommand, AccessEvent, AccessRefusal, AccessRules, AccessState};
use skald_domain::decider::DecisionContext;
use skald_journal::{
    CommittedState, Journal, JournalFailure, ReadModelChange, StreamKind, StreamName, Streams, Submission,
    WholeSnapshot, truncate_to_micros,
};

use crate::{App, Code, Fault};

/// The streams of the noun in the journal.
pub(crate) struct TokenStream;

impl StreamKind for TokenStream {
    type Rules = AccessRules;
    const NAME: &'static str = "access";
    const SNAPSHOT_VERSION: u32 = 1;
    /// No snapshots: there are few events to read, and a forged snapshot would be a forged token.
    const USES_SNAPSHOTS: bool = false;
    type Parts = WholeSnapshot<AccessState>;
    type ReadCache = ();

    fn next_read_cache((): &()) {}

    fn event_kind(event: &AccessEvent) -> &'static str {
        event.kind()
    }

    fn read_model_changes(_: &StreamName, _: &AccessState, _: &[AccessEvent]) -> Vec<ReadModelChange> {
        Vec::new()
    }

    fn referenced_side_rows(_: &StreamName, _: &AccessState) -> Vec<(Cow<'static, str>, String)> {
        Vec::new()
    }

    fn removed_side_rows(_: &StreamName, _: &[AccessEvent]) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// The one stream of a store.
pub(super) fn token_stream() -> StreamName {
    StreamName::new(TokenStream::NAME, "tokens")
}

/// The tokens of a store.
pub(crate) struct Tokens {
    streams: Streams<TokenStream>,
}

impl Tokens {
    pub(crate) fn new(journal: Arc<dyn Journal>) -> Self {
        Self { streams: Streams::new(journal) }
    }
}

impl App {
    /// The current tokens. One read of the store, as cheap as a row.
    pub(crate) async fn read_access_state(&self) -> Result<Arc<CommittedState<TokenStream>>, Fault> {
        self.tokens.streams.read(&token_stream()).await.map_err(|error| self.store_fault(&error))
    }

    pub(crate) async fn change_access(
        &self,
        command: AccessCommand,
        by: &str,
    ) -> Result<(), JournalFailure<AccessRefusal>> {
        let given = DecisionContext { at: truncate_to_micros(self.clock.now()), by: by.to_owned() };
        self.tokens.streams.execute(&token_stream(), Submission::new(command, given)).await.map(drop)
    }

    pub(crate) fn access_fault(&self, failure: JournalFailure<AccessRefusal>) -> Fault {
        self.journal_fault(failure, |refusal| Fault::new(Code::Rejected, refusal.to_string()))
    }
}
