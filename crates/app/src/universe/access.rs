//! Access to a universe: finds it, checks the caller's role, and sends commands to it.

use crate::universe::UniverseStream;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};
use skald_domain::universe::{Universe, UniverseCommand, UniverseRefusal, UniverseState};

use super::nearest_id::missing_universe_hint;
use super::stream::{
    ListedUniverse, UNIVERSE_CAMPAIGNS, UNIVERSES, format_time, refusal_fault, role_campaign, universe_not_found_fault,
    universe_stream,
};
use crate::campaign_lookup::DocumentOwners;
use crate::entered_campaign;
use crate::list_page::ListPage;
use crate::redaction::Redaction;
use crate::{
    App, Call, Caller, CampaignRole, Class, Code, CommandAnswer, EVERY_CAMPAIGN, Fault, Operation, OperationKind,
    limits,
};
use skald_journal::{Applied, CommittedState, Document, JournalFailure, Partitions, StoreError, StreamName};

/// A universe that a caller has found.
pub(super) struct FoundUniverse {
    pub universe_id: String,
    pub stream: StreamName,
    pub committed: Arc<CommittedState<UniverseStream>>,
    redaction: Redaction,
}

impl FoundUniverse {
    /// The universe as the caller sees it.
    pub(super) fn universe(&self) -> Result<Universe, Fault> {
        let redacted = self
            .redaction
            .redact_ref(&self.committed.state)
            .ok_or_else(|| universe_not_found_fault(&self.universe_id))?;
        Ok(redacted.into_owned())
    }
}

impl App {
    /// Finds a universe and checks the caller's role in its campaign, or, if it has none, the role in every campaign.
    pub(super) async fn find_universe<O: Operation>(
        &self,
        call: &Call<'_>,
        universe_id: &str,
        needed: CampaignRole,
    ) -> Result<FoundUniverse, Fault> {
        let fault = match self.find_universe_by_id::<O>(call, universe_id, needed).await {
            Err(fault) if fault.class() == Class::NotFound => fault,
            found => return found,
        };
        // Only universes that the caller may see are named.
        let listed = self.list_universes_undated(call.caller, None, limits::COMPLETIONS_MAX).await;
        let meant = listed.ok().and_then(|page| missing_universe_hint(&page.items, universe_id));
        let Some(meant) = meant else { return Err(fault) };
        let hint = fault.body().hint.clone().unwrap_or_default();
        Err(fault.hint(format!("{meant} {hint}")))
    }

    async fn find_universe_by_id<O: Operation>(
        &self,
        call: &Call<'_>,
        universe_id: &str,
        needed: CampaignRole,
    ) -> Result<FoundUniverse, Fault> {
        // No universe can have such an id, so skip the lookup.
        if universe_id.is_empty() || limits::is_longer_than_id(universe_id) {
            return Err(universe_not_found_fault(universe_id));
        }
        let stream = universe_stream(universe_id);
        let committed =
            self.universes.read(&stream).await.map_err(|error| self.store_fault(&error).universe(universe_id))?;
        let campaign_id: Arc<str> = match committed.state.identity() {
            Some(about) => role_campaign(about.campaign_id.as_deref()).into(),
            // A retry may come after the universe was deleted: its answer is still stored under the key.
            None if O::KIND == OperationKind::Command && call.control.idempotency_key.is_some() => {
                let owner = DocumentOwners::new(&*self.journal).find_owner(UNIVERSE_CAMPAIGNS, universe_id).await;
                let owner = owner.map_err(|error| self.store_fault(&error))?;
                let owner = owner.ok_or_else(|| universe_not_found_fault(universe_id))?;
                role_campaign(owner.campaign_id.as_deref()).into()
            }
            None => return Err(universe_not_found_fault(universe_id)),
        };
        // A caller without a role gets the same answer as for a missing universe.
        let role = call.caller.role_in(&campaign_id).ok_or_else(|| universe_not_found_fault(universe_id))?;
        if &*campaign_id != EVERY_CAMPAIGN {
            entered_campaign::record(&campaign_id);
        }
        if role < needed {
            let message =
                format!("{} needs the role {} here, and yours is {}", O::NAME, needed.as_str(), role.as_str());
            let fault = Fault::new(Code::Forbidden, message).universe(universe_id);
            return Err(fault.hint("ask the game master, or for another token"));
        }
        // A command changes the revision, so only a read reports it here.
        if O::KIND == OperationKind::Read {
            call.control.set_revision(committed.revision());
        }
        let redaction = Redaction::by_role(call.caller, &campaign_id);
        Ok(FoundUniverse { universe_id: universe_id.to_owned(), stream, committed, redaction })
    }

    /// Executes a command on a whole universe, for every surface.
    pub(super) async fn execute_universe_command<O: Operation, T: Serialize + 'static>(
        &self,
        call: &Call<'_>,
        (universe_id, stream): (&str, &StreamName),
        command: UniverseCommand,
        answer: impl Fn(&Applied<UniverseStream>) -> T + Send + Sync + 'static,
    ) -> Result<(CommandAnswer<T>, Applied<UniverseStream>), Fault> {
        let tried = self.execute::<O, _, T>(&self.universes, call, stream, command, answer).await;
        tried.map_err(|failure| self.universe_fault(universe_id, "", failure))
    }

    /// The fault for a command that failed, on every surface. `within` is the input field that contains the command.
    pub(super) fn universe_fault(
        &self,
        universe_id: &str,
        within: &str,
        failure: JournalFailure<UniverseRefusal>,
    ) -> Fault {
        let refused = |refusal| refusal_fault(universe_id, within, &refusal);
        self.journal_fault(failure, refused).universe(universe_id)
    }

    /// The universes that the caller may see, the newest first, each with its revision and its last change.
    pub(super) async fn list_universes(
        &self,
        caller: &Caller,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<ListPage<ListedUniverse>, Fault> {
        let mut page = self.list_universes_undated(caller, cursor, limit).await?;
        for listed in &mut page.items {
            self.fill_last_change(listed).await.map_err(|error| self.store_fault(&error))?;
        }
        Ok(page)
    }

    /// The same of one campaign. Those of others are not read.
    pub(super) async fn list_universes_of(
        &self,
        caller: &Caller,
        campaign_id: &str,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<ListPage<ListedUniverse>, Fault> {
        let campaign = [campaign_id.to_owned()];
        let listed = |document: &Document| self.listed_universe(caller, document);
        let mut page = self.list_documents_in(Partitions::Of(&campaign), UNIVERSES, cursor, limit, listed).await?;
        for listed in &mut page.items {
            self.fill_last_change(listed).await.map_err(|error| self.store_fault(&error))?;
        }
        Ok(page)
    }

    /// One universe as a list has it.
    pub(super) async fn list_one_universe(&self, found_universe: &FoundUniverse) -> Result<ListedUniverse, Fault> {
        let universe = found_universe.universe()?;
        let about = universe.identity().ok_or_else(|| universe_not_found_fault(&found_universe.universe_id))?;
        let mut listed = ListedUniverse::from_identity(about);
        self.fill_last_change(&mut listed).await.map_err(|error| self.store_fault(&error))?;
        Ok(listed)
    }

    async fn list_universes_undated(
        &self,
        caller: &Caller,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<ListPage<ListedUniverse>, Fault> {
        let listed = |document: &Document| self.listed_universe(caller, document);
        self.list_documents(caller, UNIVERSES, cursor, limit, listed).await
    }

    fn listed_universe(&self, caller: &Caller, document: &Document) -> Result<Option<ListedUniverse>, Fault> {
        let listed: ListedUniverse =
            serde_json::from_str(&document.body).map_err(|error| Fault::internal(error, self.new_request_id()))?;
        let redaction = Redaction::by_role(caller, listed.role_campaign());
        Ok(redaction.redact(listed))
    }

    /// The newest universes of a campaign, by id and name, and how many it has.
    pub(crate) async fn newest_universes(&self, campaign_id: &str, most: usize) -> Result<(Vec<Value>, u64), Fault> {
        let campaign = [campaign_id.to_owned()];
        let partition = Partitions::Of(&campaign);
        let newest = self.list_documents_in(partition, UNIVERSES, None, most, |document| {
            let listed: ListedUniverse =
                serde_json::from_str(&document.body).map_err(|error| Fault::internal(error, self.new_request_id()))?;
            Ok(Some(json!({"id": listed.id, "name": listed.name})))
        });
        let newest = newest.await?.items;
        let count = self.journal.count_documents(UNIVERSES, partition).await;
        Ok((newest, count.map_err(|error| self.store_fault(&error))?))
    }

    /// Fills in the revision and the time of the last change. The read model has neither, since commands on bodies do
    /// not update it.
    async fn fill_last_change(&self, listed: &mut ListedUniverse) -> Result<(), StoreError> {
        let stream = universe_stream(&listed.id);
        let head = self.journal.head(&stream).await?;
        let last = self.journal.read(&stream, head.revision.saturating_sub(1), 1).await?;
        listed.updated_at = last.first().map(|record| format_time(record.at));
        listed.revision = Some(head.revision);
        Ok(())
    }

    /// Completions of `universeId`, the newest first.
    pub(super) async fn complete_universe_id(&self, caller: &Caller, field: &str) -> Option<Vec<String>> {
        if field != "universeId" {
            return None;
        }
        let page = self.list_universes_undated(caller, None, limits::COMPLETIONS_MAX).await.ok()?;
        Some(page.items.into_iter().map(|universe| universe.id).collect())
    }
}

/// The number of things in a universe, as a cheap measure of the size of its JSON.
pub(super) fn count_things(state: &UniverseState) -> usize {
    let snapshot = state.snapshot();
    snapshot.bodies().len()
        + snapshot.groups().len()
        + snapshot.belts().len()
        + snapshot.small_body_fields().len()
        + snapshot.protoplanetary_disks().len()
        + snapshot.nebulae().len()
}
