//! Tokens: who holds one is somebody, and has a role in some campaigns. A token is shown once; its hash is kept.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::Moment;
use domain::id;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::journal::hex;
use crate::{
    App, Caller, CampaignRole, Code, Conversation, Credential, EVERY_CAMPAIGN, Fault, Holder, Principal, PrincipalKind,
};

/// What is kept on the shelf under this kind.
const KIND: &str = "token";
/// What every token begins with, so that it is known for one wherever it turns up.
const PREFIX: &str = "skald_";
/// Tokens that are read at once.
const READ_AT_ONCE: usize = 200;

/// What a new token is for.
#[derive(Debug, Clone)]
pub struct NewToken {
    pub name: String,
    pub kind: PrincipalKind,
    pub roles: BTreeMap<String, CampaignRole>,
    pub gate_role: Option<String>,
}

/// A token as it is kept: without itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Token {
    pub holder: Holder,
    pub created_at: Moment,
    hash: String,
}

/// SHA-256 in hexadecimal digits.
pub(crate) fn hash(text: &str) -> String {
    hash_bytes(text.as_bytes())
}

pub(crate) fn hash_bytes(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes).into())
}

/// Whether two texts of one length are equal, in a time that does not tell where they differ.
fn is_equal(left: &str, right: &str) -> bool {
    left.len() == right.len() && left.bytes().zip(right.bytes()).fold(0, |all, (one, other)| all | (one ^ other)) == 0
}

fn unauthorized() -> Fault {
    Fault::new(Code::Unauthorized, "the token is not known here, or was revoked")
        .hint("send Authorization: Bearer with a token of skald token create")
}

/// The token in what a request says of its authorization, if it says anything. `None` among the values is no text.
pub fn bearer<'a>(mut values: impl Iterator<Item = Option<&'a str>>) -> Option<Result<&'a str, Fault>> {
    let value = values.next()?;
    let unreadable = || {
        let fault = Fault::new(Code::Unauthorized, "the authorization header holds no bearer token");
        fault.hint("send Authorization: Bearer TOKEN, once")
    };
    if values.next().is_some() {
        return Some(Err(unreadable()));
    }
    let token = value.and_then(|text| {
        let (scheme, token) = text.trim().split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    });
    Some(token.ok_or_else(unreadable))
}

/// Why a request without a token is refused where one is needed.
pub fn token_required() -> Fault {
    let fault = Fault::new(Code::Unauthorized, "a token is required here");
    fault.hint("send Authorization: Bearer with a token of skald token create")
}

/// Headers that proxies and tunnels add to what they pass on, beside those that begin with `x-forwarded`.
const FORWARDING_HEADERS: [&str; 9] = [
    "forwarded",
    "via",
    "x-real-ip",
    "x-client-ip",
    "x-cluster-client-ip",
    "true-client-ip",
    "cf-connecting-ip",
    "fastly-client-ip",
    "x-envoy-external-address",
];

/// Whether the headers of a request, by their lower-case names, say that somebody passed it on: then whoever sent it need
/// not be on this machine, though the connection is.
pub fn is_forwarded<'a>(mut names: impl Iterator<Item = &'a str>) -> bool {
    names.any(|name| FORWARDING_HEADERS.contains(&name) || name.starts_with("x-forwarded"))
}

/// Why a request that was passed on is refused without a token.
pub fn token_required_of_forwarded() -> Fault {
    let fault = Fault::new(Code::Unauthorized, "a token is required of what came through a proxy");
    fault.hint("send Authorization: Bearer with a token of skald token create")
}

impl App {
    /// Makes a token, for campaigns that are there. It is not kept, and cannot be shown again.
    pub async fn create_token(&self, new: NewToken) -> Result<(String, Token), Fault> {
        let name = new.name.trim().to_owned();
        if name.is_empty() || name.chars().count() > domain::limits::NAME_CHARS_MAX {
            let most = domain::limits::NAME_CHARS_MAX;
            return Err(Fault::new(Code::InvalidParams, format!("a name has 1 to {most} characters")).at("/name"));
        }
        for campaign_id in new.roles.keys().filter(|id| *id != EVERY_CAMPAIGN) {
            self.check_campaign(campaign_id).await?;
        }
        let (first, second) = (self.entropy.bytes(), self.entropy.bytes());
        let half = |bytes: &[u8]| {
            let mut half = [0; 16];
            half.copy_from_slice(&bytes[..16]);
            id::from_entropy("", half)
        };
        let id = half(&first)[..12].to_owned();
        let secret = format!("{PREFIX}{id}_{}{}", half(&second), half(&second[16..]));
        let holder = Holder {
            id: format!("token_{id}"),
            name,
            kind: new.kind,
            roles: new.roles.into(),
            gate_role: new.gate_role,
            credential: Credential::default(),
        };
        let token = Token { holder, created_at: self.clock.now().into(), hash: hash(&secret) };
        self.keep_token(&token).await?;
        Ok((secret, token))
    }

    async fn keep_token(&self, token: &Token) -> Result<(), Fault> {
        let body = serde_json::to_string(token).expect("a token is JSON");
        self.journal.put(KIND, &token.holder.id, body).await.map_err(|error| self.unread(&error))
    }

    /// All tokens, by id.
    pub async fn tokens(&self) -> Result<Vec<Token>, Fault> {
        let (mut tokens, mut after) = (Vec::new(), String::new());
        loop {
            let rows = self.journal.list(KIND, &after, READ_AT_ONCE).await.map_err(|error| self.unread(&error))?;
            let is_last = rows.len() < READ_AT_ONCE;
            for (id, body) in rows {
                tokens.push(serde_json::from_str(&body).map_err(|error| Fault::internal(error, self.request_id()))?);
                after = id;
            }
            if is_last {
                return Ok(tokens);
            }
        }
    }

    /// Whether it was there.
    pub async fn revoke_token(&self, id: &str) -> Result<bool, Fault> {
        self.journal.remove(KIND, id).await.map_err(|error| self.unread(&error))
    }

    /// Who sends a token.
    pub(crate) async fn authenticate(&self, secret: &str) -> Result<Caller, Fault> {
        // A secret from a file often ends its line.
        let secret = secret.trim();
        let id = secret.strip_prefix(PREFIX).and_then(|rest| rest.split_once('_')).map(|(id, _)| id);
        let id = format!("token_{}", id.ok_or_else(unauthorized)?);
        let token = self.kept_token(&id).await?.ok_or_else(unauthorized)?;
        if !is_equal(&token.hash, &hash(secret)) {
            return Err(unauthorized());
        }
        Ok(Caller { principal: Principal::Holder(Arc::new(token.holder)), conversation: Conversation::None })
    }

    /// A caller as of now: a token may have got roles since, or have been revoked.
    pub(crate) async fn current(&self, caller: &Caller) -> Result<Caller, Fault> {
        let Principal::Holder(holder) = &caller.principal else { return Ok(caller.clone()) };
        let token = self.kept_token(&holder.id).await?.ok_or_else(unauthorized)?;
        let principal = Principal::Holder(Arc::new(token.holder));
        Ok(Caller { principal, conversation: caller.conversation.clone() })
    }

    async fn kept_token(&self, id: &str) -> Result<Option<Token>, Fault> {
        let Some(kept) = self.journal.get(KIND, id).await.map_err(|error| self.unread(&error))? else {
            return Ok(None);
        };
        self.read_token(&kept).map(Some)
    }

    fn read_token(&self, kept: &str) -> Result<Token, Fault> {
        serde_json::from_str(kept).map_err(|error| Fault::internal(error, self.request_id()))
    }

    /// Gives the caller a role in a campaign, unless they have as good a one.
    pub(crate) async fn admit(&self, caller: &Caller, campaign_id: &str, role: CampaignRole) -> Result<(), Fault> {
        let Principal::Holder(holder) = &caller.principal else { return Ok(()) };
        if caller.role_in(campaign_id).is_some_and(|given| given >= role) {
            return Ok(());
        }
        // Others may give this token roles at the same time, or revoke it; what is gone stays gone.
        while let Some(kept) = self.journal.get(KIND, &holder.id).await.map_err(|error| self.unread(&error))? {
            let token = self.read_token(&kept)?;
            token.holder.roles.give(campaign_id, role);
            let body = serde_json::to_string(&token).expect("a token is JSON");
            let replaced = self.journal.replace(KIND, &holder.id, &kept, body).await;
            if replaced.map_err(|error| self.unread(&error))? {
                holder.roles.give(campaign_id, role);
                break;
            }
        }
        Ok(())
    }
}
