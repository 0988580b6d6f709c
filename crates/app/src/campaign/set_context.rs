//! The caller's context: the default campaign, session and participant of calls that name none.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::campaign_answer::Destination;
use crate::resource_changes::ChangeAudience;
use crate::sha256::sha256_hex;
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Code, Conversation, Fault, Operation, OperationKind, PermissionClass,
    ResourceChange, Toolset, limits,
};

/// Prefix of the kinds of side rows that hold contexts.
pub(crate) const CONTEXT_KIND: &str = "context";
/// The URI of the context as a resource.
pub(crate) const CONTEXT_URI: &str = "context://current";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "they are what clients send")]
pub(crate) struct Context {
    pub campaign_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub participant_id: Option<String>,
}

/// A context as it is read: every field is there, null where nothing is set.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "they are what clients send")]
pub(super) struct ContextView {
    #[schemars(schema_with = "text_or_null")]
    campaign_id: Option<String>,
    #[schemars(schema_with = "text_or_null")]
    session_id: Option<String>,
    #[schemars(schema_with = "text_or_null")]
    participant_id: Option<String>,
}

/// Uses `anyOf` instead of a list of types, which not every client that translates schemas supports.
fn text_or_null(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "anyOf": [{ "type": "string" }, { "type": "null" }] })
}

impl Context {
    pub(super) fn of_campaign(campaign_id: &str) -> Self {
        Self { campaign_id: campaign_id.to_owned(), session_id: None, participant_id: None }
    }
}

impl From<Context> for ContextView {
    fn from(context: Context) -> Self {
        Self {
            campaign_id: Some(context.campaign_id),
            session_id: context.session_id,
            participant_id: context.participant_id,
        }
    }
}

/// Contexts of conversations that end with a session, in memory.
#[derive(Default)]
pub(crate) struct SessionContexts(Mutex<HashMap<Arc<str>, Context>>);

impl SessionContexts {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Arc<str>, Context>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The side row of a context that outlives a process. Each principal has a kind, so that its contexts can be counted.
struct StoredContext {
    kind: String,
    key: String,
}

impl StoredContext {
    /// For a conversation that another process holds. Its name is the principal, a slash and the session.
    fn from_held_conversation(conversation: &str) -> Self {
        let (principal, session) = conversation.split_once('/').unwrap_or((conversation, ""));
        Self { kind: format!("{CONTEXT_KIND}-held/{principal}"), key: session.to_owned() }
    }

    /// For a client without a session, by its name. A long name, or one with control characters, is hashed: not every
    /// store accepts it as a key.
    fn from_client(caller: &Caller, client: &str) -> Self {
        let is_key = client.len() <= limits::NAME_CHARS_MAX && !client.contains(char::is_control);
        // The slash distinguishes a name from a hash.
        let key = if is_key { format!("/{client}") } else { sha256_hex(client) };
        Self { kind: format!("{CONTEXT_KIND}/{}", caller.id()), key }
    }
}

/// A context as it is stored.
#[derive(Serialize, Deserialize)]
struct DatedContext {
    #[serde(flatten)]
    context: Context,
    /// When it was set, in microseconds. If there are too many contexts, the oldest is removed.
    #[serde(default)]
    set_at: i64,
}

impl App {
    pub(crate) async fn context(&self, caller: &Caller) -> Result<Option<Context>, Fault> {
        match &caller.conversation {
            Conversation::None => Ok(None),
            Conversation::Session(session) => Ok(self.contexts.lock().get(session).cloned()),
            Conversation::Held(conversation) => {
                self.stored_context(&StoredContext::from_held_conversation(conversation)).await
            }
            Conversation::Client(client) => self.stored_context(&StoredContext::from_client(caller, client)).await,
        }
    }

    async fn stored_context(&self, place: &StoredContext) -> Result<Option<Context>, Fault> {
        let body = self.journal.get(&place.kind, &place.key).await.map_err(|error| self.store_fault(&error))?;
        Ok(body.and_then(|body| serde_json::from_str(&body).ok()))
    }

    async fn put_context(&self, place: &StoredContext, context: &Context) -> Result<(), Fault> {
        self.drop_oldest_context(place).await?;
        let dated = DatedContext { context: context.clone(), set_at: self.clock.now().as_microsecond() };
        let body = serde_json::to_string(&dated).expect("a context is JSON");
        self.journal.put(&place.kind, &place.key, body).await.map_err(|error| self.store_fault(&error))
    }

    /// Removes a principal's oldest context if there are too many. Clients choose their names freely, so without a
    /// limit one principal could store any number of contexts.
    async fn drop_oldest_context(&self, place: &StoredContext) -> Result<(), Fault> {
        let rows = self.journal.list(&place.kind, "", limits::CONTEXTS_MAX).await;
        let rows = rows.map_err(|error| self.store_fault(&error))?;
        if rows.len() < limits::CONTEXTS_MAX || rows.iter().any(|(key, _)| *key == place.key) {
            return Ok(());
        }
        let set_at = |body: &str| serde_json::from_str::<DatedContext>(body).map_or(0, |dated| dated.set_at);
        if let Some((oldest, _)) = rows.iter().min_by_key(|(_, body)| set_at(body)) {
            self.journal.remove(&place.kind, oldest).await.map_err(|error| self.store_fault(&error))?;
        }
        Ok(())
    }

    /// Removes the context of a conversation that has ended.
    pub(crate) fn remove_context(&self, conversation: &Conversation) {
        match conversation {
            Conversation::None | Conversation::Client(_) => {}
            Conversation::Session(session) => {
                self.contexts.lock().remove(session);
            }
            Conversation::Held(conversation) => {
                let (journal, place) = (Arc::clone(&self.journal), StoredContext::from_held_conversation(conversation));
                tokio::spawn(async move {
                    if let Err(error) = journal.remove(&place.kind, &place.key).await {
                        tracing::warn!(%error, "the context of a conversation that has ended is still kept");
                    }
                });
            }
        }
    }

    /// Changes the context of a campaign, if it is the caller's current one.
    pub(super) async fn change_context(
        &self,
        caller: &Caller,
        campaign_id: &str,
        change: impl FnOnce(&mut Context),
    ) -> Result<(), Fault> {
        if let Some(mut context) = self.context(caller).await?.filter(|context| context.campaign_id == campaign_id) {
            change(&mut context);
            self.set_context(caller, &context).await?;
        }
        Ok(())
    }

    /// Empties the caller's context, and publishes the change to its conversation.
    async fn clear_context(&self, caller: &Caller) -> Result<(), Fault> {
        let stored = match &caller.conversation {
            Conversation::None => return Ok(()),
            Conversation::Session(session) => {
                self.contexts.lock().remove(session);
                None
            }
            Conversation::Held(conversation) => Some(StoredContext::from_held_conversation(conversation)),
            Conversation::Client(client) => Some(StoredContext::from_client(caller, client)),
        };
        if let Some(place) = stored {
            self.journal.remove(&place.kind, &place.key).await.map_err(|error| self.store_fault(&error))?;
        }
        self.publish_context_change(caller);
        Ok(())
    }

    fn publish_context_change(&self, caller: &Caller) {
        let whom = ChangeAudience::Conversation(caller.id().into(), caller.conversation.clone());
        self.publish_change(ResourceChange::Resource(CONTEXT_URI.into()), &whom);
    }

    /// Stores a context, and publishes the change to its conversation.
    pub(super) async fn set_context(&self, caller: &Caller, context: &Context) -> Result<(), Fault> {
        if self.context(caller).await?.as_ref() == Some(context) {
            return Ok(());
        }
        self.store_context(caller, context).await?;
        self.publish_context_change(caller);
        Ok(())
    }

    async fn store_context(&self, caller: &Caller, context: &Context) -> Result<(), Fault> {
        match &caller.conversation {
            Conversation::None => {
                Err(Fault::new(Code::InvalidParams, "there is no conversation to keep a context for")
                    .hint("name campaign_id and session_id in each call"))
            }
            Conversation::Session(session) => {
                self.contexts.lock().insert(Arc::clone(session), context.clone());
                Ok(())
            }
            Conversation::Held(conversation) => {
                self.put_context(&StoredContext::from_held_conversation(conversation), context).await
            }
            Conversation::Client(client) => {
                self.put_context(&StoredContext::from_client(caller, client), context).await
            }
        }
    }
}

pub(super) struct SetContext;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SetContextInput {
    /// The campaign that the next calls are about; required unless clear is true.
    campaign_id: Option<String>,
    /// Rolls are recorded in this session. Cleared if left out.
    session_id: Option<String>,
    /// Who plays here. Cleared if left out.
    participant_id: Option<String>,
    /// Empties the context.
    #[serde(default)]
    clear: bool,
}

impl SetContextInput {
    /// The campaign; `None` if the context is to be cleared.
    fn campaign_id(&self) -> Result<Option<&str>, Fault> {
        let has_other = self.campaign_id.is_some() || self.session_id.is_some() || self.participant_id.is_some();
        match &self.campaign_id {
            _ if self.clear && has_other => Err(Fault::new(Code::InvalidParams, "clear takes no other field")
                .with_path("/clear")
                .value(&true.into())
                .hint("send clear alone, or the new context without it")),
            _ if self.clear => Ok(None),
            Some(id) => Ok(Some(id)),
            None => Err(Fault::new(Code::InvalidParams, "campaign_id is missing")
                .with_path("/campaign_id")
                .hint("send campaign_id, or clear: true to empty the context")),
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ContextOutput {
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<Context>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cleared: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unlisted" = true))]
    went_to: Option<Destination>,
}

impl Operation for SetContext {
    const NAME: &'static str = "set_context";
    const TITLE: &'static str = "Set the context";
    const SUMMARY: &'static str = "Say which campaign, session and participant the next calls are about. \
        What is left out is cleared. Rolls are recorded in the session, or in the one that is going on.";
    const TOOLSET: Toolset = Toolset::Campaign;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    const CLASS: PermissionClass = PermissionClass::Context;
    type Input = SetContextInput;
    type Output = ContextOutput;

    async fn run(app: &App, call: &Call<'_>, input: SetContextInput) -> Result<ContextOutput, Fault> {
        let Some(campaign_id) = input.campaign_id()? else {
            app.clear_context(call.caller).await?;
            return Ok(ContextOutput { context: None, cleared: true, went_to: None });
        };
        let entered_campaign = app.enter_campaign::<Self>(call, Some(campaign_id)).await?;
        let state = entered_campaign.state();
        let session_id =
            entered_campaign.resolve_optional_id(call, "session_id", input.session_id.as_deref(), state.sessions())?;
        if let Some(id) = session_id.as_ref().filter(|id| !state.sessions().contains(id)) {
            return Err(app.missing_session(call.caller, &entered_campaign, id).await?);
        }
        let participant_id = entered_campaign.resolve_optional_id(
            call,
            "participant_id",
            input.participant_id.as_deref(),
            state.participants(),
        )?;
        if let Some(id) = participant_id.as_ref().filter(|id| !state.participants().contains(id)) {
            return Err(app.missing_participant(call.caller, &entered_campaign, id).await?);
        }
        let went_to = Destination::new(state, session_id.as_deref());
        let context = Context { campaign_id: entered_campaign.campaign_id.clone(), session_id, participant_id };
        app.set_context(call.caller, &context).await?;
        entered_campaign.answer_revision(call);
        Ok(ContextOutput { context: Some(context), cleared: false, went_to })
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }
}
