//! The caller of an operation: the owner or the holder of a token. Surfaces fill it in; every operation gets it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, PoisonError, RwLock};

use serde::{Deserialize, Serialize};
pub use skald_domain::access::{CampaignRole, PrincipalKind};
use skald_domain::access::{RateFigures, TokenScope};
use skald_domain::campaign::CampaignState;
use skald_domain::visibility::Viewer;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The caller of an operation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Caller {
    pub principal: Principal,
    pub conversation: Conversation,
}

/// The owner, or the holder of a token.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Principal {
    /// The user who started the process: the caller on stdio, and on loopback.
    Owner,
    /// The holder of a token.
    Holder(Arc<Holder>),
}

impl Principal {
    /// A stable id, independent of roles.
    pub fn id(&self) -> &str {
        match self {
            Self::Owner => "owner",
            Self::Holder(holder) => &holder.id,
        }
    }

    /// Completes once this process knows that the token was revoked, or the page session ended; never for the owner. What lives longer than an access
    /// token waits for this: its client renews the access token.
    pub fn wait_for_revocation(&self) -> impl Future<Output = ()> + Send + 'static + use<> {
        let (revocation, session_end) = match self {
            Self::Owner => (CancellationToken::new(), CancellationToken::new()),
            Self::Holder(holder) => (holder.revocation.clone(), holder.session_end.clone()),
        };
        async move {
            tokio::select! {
                () = revocation.cancelled() => {}
                () = session_end.cancelled() => {}
            }
        }
    }
}

/// The holder of a token, as the token describes them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Holder {
    pub id: String,
    pub name: String,
    pub kind: PrincipalKind,
    pub roles: Roles,
    /// The ids of the participants that the holder is: what only they may see, the holder sees.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub participants: BTreeSet<String>,
    /// The holder's role at a gate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate_role: Option<String>,
    /// What the holder may do at most, whatever the roles are; `None` is everything that the roles allow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<TokenScope>,
    /// The holder's own rate limits.
    #[serde(skip)]
    pub limits: RateFigures,
    /// When the token expires: open streams end then.
    #[serde(skip)]
    pub expires: Option<Instant>,
    /// The token itself, for a bridge that has to forward it.
    #[serde(skip)]
    pub credential: Credential,
    /// Cancelled once this process knows that the token was revoked: see [`crate::Revocations`].
    #[serde(skip)]
    pub revocation: CancellationToken,
    /// Cancelled once the page session that the caller came by has ended. Never for a caller who sent the token itself.
    #[serde(skip)]
    pub session_end: CancellationToken,
}

impl Holder {
    /// A holder without restrictions.
    pub fn new(id: &str, name: &str, kind: PrincipalKind, roles: BTreeMap<String, CampaignRole>) -> Self {
        Self {
            id: id.to_owned(),
            name: name.to_owned(),
            kind,
            roles: roles.into(),
            participants: BTreeSet::new(),
            gate_role: None,
            scope: None,
            limits: RateFigures::default(),
            expires: None,
            credential: Credential::default(),
            revocation: CancellationToken::new(),
            session_end: CancellationToken::new(),
        }
    }
}

/// A token as it was sent. It is never stored and never printed.
#[derive(Clone, Default)]
pub struct Credential(Option<Arc<str>>);

impl Credential {
    pub fn new(token: &str) -> Self {
        Self(Some(token.into()))
    }

    pub fn token(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Credential(…)")
    }
}

/// Holders are compared by id alone, since roles and names change.
impl PartialEq for Holder {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Holder {}

impl Hash for Holder {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

/// Roles by campaign; `*` is every campaign. Clones share them, so that a long conversation gets a new role.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "BTreeMap<String, CampaignRole>", into = "BTreeMap<String, CampaignRole>")]
pub struct Roles(Arc<RwLock<BTreeMap<String, CampaignRole>>>);

impl Roles {
    pub fn all(&self) -> BTreeMap<String, CampaignRole> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn in_campaign(&self, id: &str) -> Option<CampaignRole> {
        let roles = self.0.read().unwrap_or_else(PoisonError::into_inner);
        [roles.get(id), roles.get(EVERY_CAMPAIGN)].into_iter().flatten().max().copied()
    }

    pub(crate) fn give_role(&self, campaign_id: &str, role: CampaignRole) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(campaign_id.to_owned(), role);
    }
}

impl From<BTreeMap<String, CampaignRole>> for Roles {
    fn from(roles: BTreeMap<String, CampaignRole>) -> Self {
        Self(Arc::new(RwLock::new(roles)))
    }
}

impl From<Roles> for BTreeMap<String, CampaignRole> {
    fn from(roles: Roles) -> Self {
        roles.all()
    }
}

/// Every campaign, among the campaigns of a holder's roles.
pub const EVERY_CAMPAIGN: &str = "*";

/// The conversation that a context belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum Conversation {
    /// A client that is known by its name alone: its context is kept in the store.
    Client(Arc<str>),
    /// One MCP session, or one stdio client: its context ends with it.
    Session(Arc<str>),
    /// An MCP session that another process, a bridge, holds: its context is kept in the store until the session ends,
    /// so that neither process can take it from the other.
    Held(Arc<str>),
    #[default]
    None,
}

impl Caller {
    /// Whether calls of this conversation have a context.
    pub(crate) fn has_context(&self) -> bool {
        self.conversation != Conversation::None
    }

    pub fn owner() -> Self {
        Self { principal: Principal::Owner, conversation: Conversation::None }
    }

    #[must_use]
    pub fn with_conversation(mut self, conversation: Conversation) -> Self {
        self.conversation = conversation;
        self
    }

    /// The caller's id in the journal.
    pub fn id(&self) -> &str {
        self.principal.id()
    }

    /// Completes once the caller's token has expired or was revoked: open streams end then.
    pub fn wait_for_revocation(&self) -> impl Future<Output = ()> + Send + 'static + use<> {
        let expires = match &self.principal {
            Principal::Owner => None,
            Principal::Holder(holder) => holder.expires,
        };
        let revoked = self.principal.wait_for_revocation();
        async move {
            match expires {
                Some(expires) => {
                    // The outcome says which of the two came first: both end the stream.
                    let _ = tokio::time::timeout_at(expires, revoked).await;
                }
                None => revoked.await,
            }
        }
    }

    /// The role in a campaign. A campaign without a role looks to the caller as if it did not exist.
    pub fn role_in(&self, campaign_id: &str) -> Option<CampaignRole> {
        match &self.principal {
            Principal::Owner => Some(CampaignRole::Gm),
            Principal::Holder(holder) => holder.roles.in_campaign(campaign_id),
        }
    }

    /// Whether the caller was given a role at gates.
    pub(crate) fn has_gate_role(&self) -> bool {
        match &self.principal {
            Principal::Owner => true,
            Principal::Holder(holder) => holder.gate_role.is_some(),
        }
    }

    /// The caller as somebody who looks at a campaign: with the participants that they are, and the actors that these play.
    pub(crate) fn viewer_in(&self, campaign_id: &str, state: &CampaignState) -> Viewer {
        let is_game_master = self.role_in(campaign_id).is_some_and(|role| role >= CampaignRole::Gm);
        let Principal::Holder(holder) = &self.principal else { return Viewer { is_game_master, ..Viewer::default() } };
        let here = holder.participants.iter().filter(|id| state.participants().contains(id));
        let played = here.clone().flat_map(|id| state.actor_ids_played_by(id)).map(str::to_owned);
        Viewer { is_game_master, ids: here.cloned().chain(played).collect(), ..Viewer::default() }
    }

    /// Which of these participants of a campaign the caller is; none without a role in it.
    pub(crate) fn own_participants(&self, campaign_id: &str, participants: &BTreeSet<String>) -> BTreeSet<String> {
        match &self.principal {
            Principal::Holder(holder) if self.role_in(campaign_id).is_some() => &holder.participants & participants,
            _ => BTreeSet::new(),
        }
    }

    /// Whether the caller's token names this campaign: then the text is the id of one.
    pub(crate) fn has_own_role_in(&self, campaign_id: &str) -> bool {
        match &self.principal {
            Principal::Owner => false,
            Principal::Holder(holder) => holder.roles.all().contains_key(campaign_id),
        }
    }

    /// The campaigns that the caller has a role in; `None` if it is every campaign.
    pub(crate) fn campaign_ids(&self) -> Option<Vec<String>> {
        match &self.principal {
            Principal::Owner => None,
            Principal::Holder(holder) => {
                let roles = holder.roles.all();
                (!roles.contains_key(EVERY_CAMPAIGN)).then(|| roles.into_keys().collect())
            }
        }
    }

    /// Whether the caller has at least this role in any campaign.
    pub fn has_role_anywhere(&self, role: CampaignRole) -> bool {
        match &self.principal {
            Principal::Owner => true,
            Principal::Holder(holder) => holder.roles.all().values().any(|given| *given >= role),
        }
    }
}
