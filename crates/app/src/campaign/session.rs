//! Session operations: `session_start`, `session_end` and `session_recap`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_domain::campaign::{CampaignCommand, CampaignEvent, CampaignRefusal, Session, recap};
use skald_domain::id;

use super::CampaignAnswer;
use super::access::EnteredCampaign;
use super::luck::draw_luck;
use super::set_context::Context;
use super::tracker_lines::change_lines;
use crate::redaction::Redaction;
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Code, CommandAnswer, Fault, Operation, OperationKind, PermissionClass,
    Route, Toolset,
};
use skald_journal::JournalFailure;
use skald_picture::Theme;

pub(super) struct SessionStart;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionStartInput {
    /// The context's if left out.
    campaign_id: Option<String>,
    /// What the session is called; may be left out.
    #[serde(default)]
    name: String,
}

impl Operation for SessionStart {
    const NAME: &'static str = "session_start";
    const TITLE: &'static str = "Start a session";
    const SUMMARY: &'static str = "Start a session of play: rolls and notes go to it from now on. A campaign has at most one active \
        session.";
    const TOOLSET: Toolset = Toolset::Campaign;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Gm);
    const CLASS: PermissionClass = PermissionClass::RunCampaign;
    type Input = SessionStartInput;
    type Output = CommandAnswer<CampaignAnswer<SessionStarted>>;

    async fn run(app: &App, call: &Call<'_>, input: SessionStartInput) -> Result<Self::Output, Fault> {
        let entered_campaign = app.enter_campaign::<Self>(call, input.campaign_id.as_deref()).await?;
        let id = app.new_id(call, id::SESSION, entered_campaign.stream.as_str());
        let command = CampaignCommand::StartSession { id: id.clone(), name: input.name };
        let context = app.context_with_session(call.caller, &entered_campaign.campaign_id, &id).await?;
        let answered = app
            .execute_campaign_command::<Self, _>(call, entered_campaign.id_and_stream(), command, {
                let context = context.clone();
                move |done| SessionStarted {
                    session: done
                        .committed
                        .state
                        .sessions()
                        .get(&id)
                        .cloned()
                        .expect("a session that was just started"),
                    context: context.clone(),
                }
            })
            .await?;
        if let Some(context) = context {
            app.set_context(call.caller, &context).await?;
        }
        Ok(answered)
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SessionStarted {
    #[serde(flatten)]
    session: Session,
    /// The context of this conversation from now on.
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<Context>,
}

pub(super) struct SessionEnd;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionEndInput {
    /// The context's if left out.
    campaign_id: Option<String>,
    /// The active one if left out.
    session_id: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct EndedSession {
    #[serde(flatten)]
    session: Session,
    /// The trackers that its end moved, a line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changes: Vec<String>,
}

impl Operation for SessionEnd {
    const NAME: &'static str = "session_end";
    const TITLE: &'static str = "End a session";
    const SUMMARY: &'static str = "End the active session. Ending one that has ended answers it as it is.";
    const TOOLSET: Toolset = Toolset::Campaign;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Gm);
    const CLASS: PermissionClass = PermissionClass::RunCampaign;
    type Input = SessionEndInput;
    type Output = CommandAnswer<CampaignAnswer<EndedSession>>;

    async fn run(app: &App, call: &Call<'_>, input: SessionEndInput) -> Result<Self::Output, Fault> {
        let entered_campaign = app.enter_campaign::<Self>(call, input.campaign_id.as_deref()).await?;
        let session_id = app.resolve_session_id(call, &entered_campaign, input.session_id.as_deref()).await?;
        let command = CampaignCommand::EndSession { session_id };
        let redaction = entered_campaign.redaction(call.caller);
        let ended = app.try_campaign_command::<Self, _>(call, &entered_campaign.stream, command, move |done| {
            let ended = done.events.iter().find_map(|event| match event {
                CampaignEvent::SessionEnded { session_id } => done.committed.state.sessions().get(session_id),
                _ => None,
            });
            let session = ended.cloned().expect("a session that was just ended");
            let changes = change_lines(&done.events, &redaction, &done.committed.state);
            EndedSession { session, changes }
        });
        let ended = match ended.await {
            // Another request may have ended it a moment ago.
            Err(JournalFailure::Refused(CampaignRefusal::SessionEnded { session_id })) => {
                let entered_campaign = app.enter_campaign::<Self>(call, Some(&entered_campaign.campaign_id)).await?;
                entered_campaign.answer_revision(call);
                let session = entered_campaign.state().sessions().get(&session_id).cloned();
                let session = session.expect("a session that has ended");
                let state = entered_campaign.state();
                let ended = EndedSession { session, changes: Vec::new() };
                Ok(CommandAnswer::Now(CampaignAnswer::unchanged(ended, state, Some(&session_id))))
            }
            ended => ended.map_err(|failure| app.campaign_fault(&entered_campaign.campaign_id, failure)),
        }?;
        app.change_context(call.caller, &entered_campaign.campaign_id, |context| context.session_id = None).await?;
        Ok(ended)
    }
}

pub(super) struct SessionRecap;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionRecapInput {
    /// The context's if left out.
    campaign_id: Option<String>,
    /// That of the context, the active one, or the last one, if left out.
    session_id: Option<String>,
    /// mine: also your secrets.
    #[serde(default)]
    audience: RecapAudience,
    /// Also show luck as a picture.
    #[serde(default)]
    picture: bool,
}

/// For whom a recap or luck is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum RecapAudience {
    #[default]
    Table,
    Mine,
}

impl RecapAudience {
    /// What the audience may see.
    pub(super) fn redaction(self, caller: &Caller, entered_campaign: &EnteredCampaign) -> Redaction {
        let own = entered_campaign.redaction(caller);
        match self {
            Self::Table => own.for_table(),
            Self::Mine => own,
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SessionRecapOutput {
    session: Session,
    /// Markdown.
    text: String,
    /// An SVG, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    picture: Option<String>,
}

impl Operation for SessionRecap {
    const NAME: &'static str = "session_recap";
    const TITLE: &'static str = "Recap a session";
    const SUMMARY: &'static str =
        "What happened in a session, as Markdown: who was there, notes, notable rolls, luck, changes.";
    const TOOLSET: Toolset = Toolset::Campaign;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    const CLASS: PermissionClass = PermissionClass::ReadCampaign;
    const ROUTES: &'static [Route] = &[Route::get("/api/v1/campaigns/{campaign_id}/recap")];
    const PICTURE: Option<&'static str> = Some("picture");
    type Input = SessionRecapInput;
    type Output = SessionRecapOutput;

    async fn run(app: &App, call: &Call<'_>, input: SessionRecapInput) -> Result<SessionRecapOutput, Fault> {
        let entered_campaign = app.enter_campaign::<Self>(call, input.campaign_id.as_deref()).await?;
        let session_id = app.resolve_session_id(call, &entered_campaign, input.session_id.as_deref()).await?;
        let redaction = input.audience.redaction(call.caller, &entered_campaign);
        let recap = app.render_recap(call.caller, &entered_campaign, session_id, &redaction).await?;
        if !input.picture {
            return Ok(recap);
        }
        let luck = app.luck_report(&redaction, &entered_campaign, Some(&recap.session.id)).await?;
        Ok(SessionRecapOutput { picture: Some(draw_luck(&luck.characters, &luck.players, Theme::Auto)), ..recap })
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }
}

impl SessionRecapOutput {
    pub(super) fn into_text(self) -> String {
        self.text
    }
}

impl App {
    /// The session that a call names, by id or by name.
    pub(super) async fn resolve_session_id(
        &self,
        call: &Call<'_>,
        entered_campaign: &EnteredCampaign,
        given: Option<&str>,
    ) -> Result<Option<String>, Fault> {
        let sessions = entered_campaign.state().sessions();
        let id = entered_campaign.resolve_optional_id(call, "session_id", given, sessions)?;
        match id {
            Some(id) if !sessions.contains(&id) => {
                Err(self.missing_session(call.caller, entered_campaign, &id).await?)
            }
            id => Ok(id),
        }
    }

    /// The session that the context names, if the context is about this campaign.
    async fn session_in_context(&self, caller: &Caller, campaign_id: &str) -> Result<Option<String>, Fault> {
        let context = self.context(caller).await?.filter(|context| context.campaign_id == campaign_id);
        Ok(context.and_then(|context| context.session_id))
    }

    /// The context with a session that is about to start; `None` for a caller without a conversation.
    async fn context_with_session(
        &self,
        caller: &Caller,
        campaign_id: &str,
        session_id: &str,
    ) -> Result<Option<Context>, Fault> {
        if !caller.has_context() {
            return Ok(None);
        }
        let current = self.context(caller).await?.filter(|context| context.campaign_id == campaign_id);
        let context = current.unwrap_or_else(|| Context::of_campaign(campaign_id));
        Ok(Some(Context { session_id: Some(session_id.to_owned()), ..context }))
    }

    pub(super) async fn render_recap(
        &self,
        caller: &Caller,
        entered_campaign: &EnteredCampaign,
        session_id: Option<String>,
        redaction: &Redaction,
    ) -> Result<SessionRecapOutput, Fault> {
        let sessions = entered_campaign.state().sessions();
        let session_id = match session_id {
            Some(id) => Some(id),
            None => self.session_in_context(caller, &entered_campaign.campaign_id).await?,
        };
        let session = match session_id {
            Some(id) => sessions.get(&id),
            None => entered_campaign.state().active_session().or_else(|| sessions.newest_first().next()),
        };
        let none = || {
            let message =
                format!("{} was not played yet: there is no session to tell of", entered_campaign.campaign_id);
            Fault::new(Code::NotFound, message).hint("begin one first; `session_start` does it")
        };
        let state = entered_campaign.state();
        let session = session.and_then(|session| redaction.redact_session(state, session)).ok_or_else(none)?;
        let events = self
            .read_events_since_session(redaction, entered_campaign, &session.id)
            .await?
            .into_iter()
            .map(|event| (event.recorded_at, event.by, event.event));
        let text = recap(&session, &redaction.redact_people(state), events);
        Ok(SessionRecapOutput { text, session, picture: None })
    }
}
