//! `App`, the state that all operations share, and its ports (clock, randomness) as traits for the binary.

use crate::campaign::CampaignStream;
use crate::gate::RunStream;
use crate::lore::{LoreStream, MirrorMemory, NoRemotes, RemoteConnector};
use crate::universe::UniverseStream;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jiff::Timestamp;
use skald_domain::decider::DecisionContext;
use skald_domain::dice::odds::ComputationBudget;
use skald_domain::id;

use crate::audit::AuditQueue;
use crate::campaign::{CampaignNumberCache, SessionContexts};
use crate::computation_pool::ComputationPool;
use crate::gate::{AGENT, ArtifactWatch, AttemptCounts, NoFiles, ProcessCache};
use crate::journal_fault::store_locked_fault;
use crate::journal_follower::CampaignStates;
use crate::refused_entries::RefusedEntryRows;
use crate::resource_changes::{Announcement, ChangeAudience, ChangeBroadcast};
use crate::tokens::Tokens;
use crate::universe::Feeds;
use crate::{
    AccessTokenVerifier, Call, Code, Fault, GateFiles, Nouns, RateLimits, ResourceChange, Revocations, limits,
};
use skald_journal::{Journal, Record, StoreError, Streams, truncate_to_micros};

/// The source of randomness.
pub trait Entropy: Send + Sync + 'static {
    fn bytes(&self) -> [u8; 32];
}

/// The source of the current time.
pub trait Clock: Send + Sync + 'static {
    fn now(&self) -> Timestamp;
}

/// The shared state and ports of all operations.
pub struct App {
    pub entropy: Arc<dyn Entropy>,
    pub clock: Arc<dyn Clock>,
    pub journal: Arc<dyn Journal>,
    pub nouns: Nouns,
    /// The campaign for calls that name none and have none in their context.
    pub default_campaign: Option<String>,
    /// Interval of keep-alive comments on a universe's event feed.
    pub heartbeat: Duration,
    /// The folders with process files and artifacts.
    pub files: Arc<dyn GateFiles>,
    /// Connections to places that a campaign's lore mirrors.
    pub remotes: Arc<dyn RemoteConnector>,
    /// The owner's role at a gate; the holder of a token has the role that the token names.
    pub gate_role: String,
    /// How often tokens may call.
    pub rate_limits: RateLimits,
    pub(crate) access_token_verifier: OnceLock<Arc<dyn AccessTokenVerifier>>,
    pub(crate) audit: AuditQueue,
    pub(crate) refused_entries: RefusedEntryRows,
    pub(crate) request_id_prefix: OnceLock<String>,
    pub(crate) campaigns: Streams<CampaignStream>,
    pub(crate) universes: Streams<UniverseStream>,
    pub(crate) runs: Streams<RunStream>,
    pub(crate) lore: Streams<LoreStream>,
    pub(crate) mirrors: MirrorMemory,
    pub(crate) tokens: Tokens,
    pub(crate) revocations: Revocations,
    pub(crate) processes: ProcessCache,
    pub(crate) watching: ArtifactWatch,
    pub(crate) attempts_counted: AttemptCounts,
    pub(crate) contexts: SessionContexts,
    pub(crate) campaign_numbers: CampaignNumberCache,
    pub(crate) computing: ComputationPool,
    pub(crate) change_broadcast: ChangeBroadcast,
    pub(crate) feeds: Feeds,
}

impl App {
    pub fn new(entropy: Arc<dyn Entropy>, clock: Arc<dyn Clock>, journal: Arc<dyn Journal>) -> Self {
        Self {
            entropy,
            clock,
            nouns: Nouns::all(),
            campaigns: Streams::new(Arc::clone(&journal)),
            universes: Streams::new(Arc::clone(&journal)),
            runs: Streams::new(Arc::clone(&journal)),
            lore: Streams::new(Arc::clone(&journal)),
            tokens: Tokens::new(Arc::clone(&journal)),
            revocations: Revocations::default(),
            processes: ProcessCache::default(),
            watching: ArtifactWatch::default(),
            attempts_counted: AttemptCounts::default(),
            gate_role: AGENT.to_owned(),
            rate_limits: RateLimits::default(),
            access_token_verifier: OnceLock::new(),
            audit: AuditQueue::default(),
            refused_entries: RefusedEntryRows::default(),
            request_id_prefix: OnceLock::new(),
            journal,
            default_campaign: None,
            heartbeat: Duration::from_secs(limits::HEARTBEAT_SECONDS),
            files: Arc::new(NoFiles::default()),
            remotes: Arc::new(NoRemotes),
            mirrors: MirrorMemory::default(),
            contexts: SessionContexts::default(),
            campaign_numbers: CampaignNumberCache::default(),
            computing: ComputationPool::default(),
            change_broadcast: ChangeBroadcast::default(),
            feeds: Feeds::default(),
        }
    }

    /// Publishes a change that is in no journal record to its audience.
    pub(crate) fn publish_change(&self, change: ResourceChange, audience: &ChangeAudience) {
        self.change_broadcast.publish(Announcement::new([change], audience, None));
    }

    /// The states that say who may know of a secret change.
    pub(crate) fn campaign_states(&self) -> CampaignStates {
        CampaignStates { campaigns: self.campaigns.clone(), lore: self.lore.clone() }
    }

    /// Returns once readers see the state after a record, so that whoever is notified of it does not read the state
    /// before.
    pub(crate) async fn wait_for_published_state(&self, record: &Record) -> Result<(), StoreError> {
        match self.nouns.noun_of_record(record) {
            Some(noun) => noun.wait_for_published_state(self, record).await,
            None => Ok(()),
        }
    }

    /// The time and the caller, which the rules get besides the state.
    pub(crate) fn time_and_caller(&self, call: &Call) -> DecisionContext {
        DecisionContext { at: truncate_to_micros(self.clock.now()), by: call.caller.id().to_owned() }
    }

    /// A new id. With an idempotency key it is derived from the key, so that a retry gets the same id.
    pub(crate) fn new_id(&self, call: &Call, prefix: &str, stream: &str) -> String {
        if let Some(key) = &call.control.idempotency_key {
            return id::from_key(prefix, call.caller.id(), stream, key);
        }
        let mut entropy = [0; 16];
        entropy.copy_from_slice(&self.entropy.bytes()[..16]);
        id::from_entropy(prefix, entropy)
    }

    /// The fault for a store error outside of an append: reading, or writing side rows.
    pub(crate) fn store_fault(&self, error: &StoreError) -> Fault {
        match error {
            StoreError::Damaged(cause) => Fault::damaged_store(cause, self.new_request_id()),
            StoreError::Refused(cause) => Fault::internal(cause, self.new_request_id()),
            StoreError::Held(cause) => store_locked_fault(cause),
            error => {
                tracing::warn!(%error, "the journal cannot be read");
                Fault::new(Code::Unavailable, "the journal cannot be read right now").hint("try again in a moment")
            }
        }
    }

    /// Runs a long computation in the pool, so that it does not block the async runtime.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce(&ComputationBudget) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let answer =
            self.computing.run(move |is_given_up| work(&ComputationBudget::with_cancellation(is_given_up))).await;
        answer.unwrap_or_else(|| Err(Fault::internal("a panic", self.new_request_id())))
    }

    /// A short random id that connects an error answer with its entry in the log.
    pub(crate) fn new_request_id(&self) -> String {
        use std::fmt::Write;
        self.entropy.bytes().iter().take(8).fold(String::from("req_"), |mut id, byte| {
            write!(id, "{byte:02x}").expect("writing to a string does not fail");
            id
        })
    }
}
