//! Tokens: creates, authenticates and revokes them. A token is shown once; only its hash is stored.
//!
//! The state of all tokens is derived from the events of one stream. Older stores have them in rows outside the
//! journal; only migration turns these into events.

pub(crate) mod access_tokens;
pub(crate) mod identify_caller;
mod import_earlier_tokens;
pub(crate) mod invitations;
mod manage;
pub(crate) mod page_sessions;
pub(crate) mod revocations;
mod stream;

pub use manage::{NewToken, holder_from_token};
pub(crate) use manage::{TOKEN_PREFIX, check_name_and_person};
pub(crate) use stream::{TokenStream, Tokens};

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use serde_json::json;
use skald_domain::access::TokenScope;
use skald_journal::{Record, RegisteredKind, SideRowCheck, StoreError};

use self::import_earlier_tokens::{EARLIER_TOKENS, EARLIER_TOKENS_CHECK};
use crate::noun_registry::CampaignEffect;
use crate::{App, FaultField, Noun, OperationEntry, PromptEntry, RecordAudience, Resource, ResourceChange, Toolset};

/// Tokens: no operation shows or changes them; the command line does.
pub(crate) struct TokenNoun;

impl Noun for TokenNoun {
    fn operations(&self) -> Vec<OperationEntry> {
        Vec::new()
    }

    fn resources(&self) -> Vec<Resource> {
        Vec::new()
    }

    fn prompts(&self) -> Vec<PromptEntry> {
        Vec::new()
    }

    fn instructions(&self) -> Option<(Toolset, &'static str)> {
        None
    }

    fn fault_fields(&self) -> &'static [FaultField] {
        const SCOPE: FaultField = FaultField {
            name: "scope",
            description: "The scope that a token needs for this.",
            schema: || json!({"type": "string", "enum": TokenScope::ALL.map(TokenScope::oauth_name)}),
            subject: None,
        };
        &[SCOPE]
    }

    fn stream_kind(&self) -> Option<RegisteredKind> {
        Some(RegisteredKind::new::<TokenStream>())
    }

    fn side_rows(&self) -> Vec<(&'static str, SideRowCheck)> {
        vec![(EARLIER_TOKENS, EARLIER_TOKENS_CHECK)]
    }

    fn changed_resources(&self, _record: &Record) -> Vec<ResourceChange> {
        Vec::new()
    }

    fn containing_resource(&self, _uri: &str) -> Option<String> {
        None
    }

    fn record_audience(&self) -> RecordAudience {
        RecordAudience::Nobody
    }

    fn wait_for_published_state<'a>(&'a self, _: &'a App, _: &'a Record) -> BoxFuture<'a, Result<(), StoreError>> {
        ready(Ok(())).boxed()
    }

    fn record_appended(&self, app: &App, record: &Record) {
        app.apply_revocations(record);
    }

    fn changed_by_campaign(&self, _app: &App, _record: &Record, _campaign_id: &str) -> Vec<CampaignEffect> {
        Vec::new()
    }

    fn secret_fields(&self) -> &'static [&'static str] {
        &["secret_hash"]
    }
}
