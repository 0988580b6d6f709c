//! Session operations: `session_start`, `session_end`, `session_note` and `session_recap`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_domain::campaign::{CampaignCommand, CampaignEvent, CampaignRefusal, Note, Session, recap};
use skald_domain::{Moment, id};

use super::access::{EnteredCampaign, parse_id};
use super::luck::draw_luck;
use crate::redaction::Redaction;
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Code, CommandAnswer, Fault, Operation, OperationKind, Route, Toolset,
};
use skald_journal::JournalFailure;
use skald_picture::Theme;

pub(super) struct SessionStart;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionStartInput {
    /// The campaign of the context if left out.
    campaign_id: Option<String>,
    /// What the session is called; may be left out.
    #[serde(default)]
    name: String,
}

impl Operation for SessionStart {
    const NAME: &'static str = "session_start";
    const TITLE: &'static str = "Start a session";
    const SUMMARY: &'static str = "Start a session of play. A campaign has at most one active session. \
        Then call set_context with it, so that rolls are recorded.";
    const TOOLSET: Toolset = Toolset::Campaign;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Gm);
    type Input = SessionStartInput;
    type Output = CommandAnswer<Session>;

    async fn run(app: &App, call: &Call<'_>, input: SessionStartInput) -> Result<CommandAnswer<Session>, Fault> {
        let entered_campaign = app.enter_campaign::<Self>(call, input.campaign_id.as_deref()).await?;
        let id = app.new_id(call, id::SESSION, entered_campaign.stream.as_str());
        let command = CampaignCommand::StartSession { id: id.clone(), name: input.name };
        app.execute_campaign_command::<Self, _>(call, entered_campaign.id_and_stream(), command, move |done| {
            done.committed.state.sessions().get(&id).cloned().expect("a session that was just started")
        })
        .await
    }
}

pub(super) struct SessionEnd;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionEndInput {
    /// The campaign of the context if left out.
    campaign_id: Option<String>,
    /// The active one if left out.
    session_id: Option<String>,
}

impl Operation for SessionEnd {
    const NAME: &'static str = "session_end";
    const TITLE: &'static str = "End a session";
    const SUMMARY: &'static str = "End the active session. Ending one that has ended answers it as it is.";
    const TOOLSET: Toolset = Toolset::Campaign;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Gm);
    type Input = SessionEndInput;
    type Output = CommandAnswer<Session>;

    async fn run(app: &App, call: &Call<'_>, input: SessionEndInput) -> Result<CommandAnswer<Session>, Fault> {
        let entered_campaign = app.enter_campaign::<Self>(call, input.campaign_id.as_deref()).await?;
        let asked = parse_id("session_id", input.session_id.as_deref())?;
        if let Some(id) = asked.filter(|id| !entered_campaign.state().sessions().contains(id)) {
            return Err(app.missing_session(call.caller, &entered_campaign, id).await?);
        }
        let command = CampaignCommand::EndSession { session_id: asked.map(str::to_owned) };
        let ended = app.try_campaign_command::<Self, _>(call, &entered_campaign.stream, command, |done| {
            let ended = done.events.iter().find_map(|event| match event {
                CampaignEvent::SessionEnded { session_id } => done.committed.state.sessions().get(session_id),
                _ => None,
            });
            ended.cloned().expect("a session that was just ended")
        });
        match ended.await {
            // Another request may have ended it a moment ago.
            Err(JournalFailure::Refused(CampaignRefusal::SessionEnded { session_id })) => {
                let entered_campaign = app.enter_campaign::<Self>(call, Some(&entered_campaign.campaign_id)).await?;
                call.work.set_revision(entered_campaign.committed.revision());
                let session = entered_campaign.state().sessions().get(&session_id).cloned();
                Ok(CommandAnswer::Now(session.expect("a session that has ended")))
            }
            ended => ended.map_err(|failure| app.campaign_fault(&entered_campaign.campaign_id, failure)),
        }
    }
}

pub(super) struct SessionNote;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionNoteInput {
    /// The campaign of the context if left out.
    campaign_id: Option<String>,
    /// That of the context, or the active one, if left out.
    session_id: Option<String>,
    /// What is worth remembering.
    text: String,
}

impl Operation for SessionNote {
    const NAME: &'static str = "session_note";
    const TITLE: &'static str = "Note something";
    const SUMMARY: &'static str = "Note what happened in a session; the recap tells it again.";
    const TOOLSET: Toolset = Toolset::Campaign;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Player);
    type Input = SessionNoteInput;
    type Output = CommandAnswer<Note>;

    async fn run(app: &App, call: &Call<'_>, input: SessionNoteInput) -> Result<CommandAnswer<Note>, Fault> {
        let entered_campaign = app.enter_campaign::<Self>(call, input.campaign_id.as_deref()).await?;
        let session_id = app.find_session_id(call.caller, &entered_campaign, input.session_id.as_deref()).await?;
        let id = app.new_id(call, id::NOTE, entered_campaign.stream.as_str());
        let given = app.time_and_caller(call);
        let command = CampaignCommand::AddNote { id, session_id, text: input.text };
        app.execute_campaign_command::<Self, _>(call, entered_campaign.id_and_stream(), command, move |done| {
            let noted = done.events.iter().find_map(|event| match event {
                CampaignEvent::NoteAdded { note_id, session_id, text } => Some((note_id, session_id, text)),
                _ => None,
            });
            let (id, session_id, text) = noted.expect("a note that was just added");
            let (id, session_id, text) = (id.clone(), session_id.clone(), text.clone());
            Note { id, session_id, text, at: Moment::from(given.at), by: given.by.clone() }
        })
        .await
    }
}

pub(super) struct SessionRecap;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionRecapInput {
    /// The campaign of the context if left out.
    campaign_id: Option<String>,
    /// That of the context, the active one, or the last one, if left out.
    session_id: Option<String>,
    /// Also show the luck of everybody as a picture.
    #[serde(default)]
    picture: bool,
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
    const ROUTES: &'static [Route] = &[Route::get("/api/v1/campaigns/{campaign_id}/recap")];
    const PICTURE: Option<&'static str> = Some("picture");
    type Input = SessionRecapInput;
    type Output = SessionRecapOutput;

    async fn run(app: &App, call: &Call<'_>, input: SessionRecapInput) -> Result<SessionRecapOutput, Fault> {
        let entered_campaign = app.enter_campaign::<Self>(call, input.campaign_id.as_deref()).await?;
        let recap = app.render_recap(call.caller, &entered_campaign, input.session_id.as_deref()).await?;
        if !input.picture {
            return Ok(recap);
        }
        let luck = app.luck_report(call.caller, &entered_campaign, Some(&recap.session.id)).await?;
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
    /// The session of a call: the named one, or that of the context if it is in this campaign. `None` stands for the
    /// active one.
    pub(super) async fn find_session_id(
        &self,
        caller: &Caller,
        entered_campaign: &EnteredCampaign,
        given: Option<&str>,
    ) -> Result<Option<String>, Fault> {
        if let Some(id) = parse_id("session_id", given)? {
            if entered_campaign.state().sessions().contains(id) {
                return Ok(Some(id.to_owned()));
            }
            return Err(self.missing_session(caller, entered_campaign, id).await?);
        }
        let context = self.context(caller).await?.filter(|context| context.campaign_id == entered_campaign.campaign_id);
        Ok(context.and_then(|context| context.session_id))
    }

    pub(super) async fn render_recap(
        &self,
        caller: &Caller,
        entered_campaign: &EnteredCampaign,
        session_id: Option<&str>,
    ) -> Result<SessionRecapOutput, Fault> {
        let sessions = entered_campaign.state().sessions();
        let session = match self.find_session_id(caller, entered_campaign, session_id).await? {
            Some(id) => sessions.get(&id),
            None => entered_campaign.state().active_session().or_else(|| sessions.newest_first().next()),
        };
        let none = || {
            let message =
                format!("{} was not played yet: there is no session to tell of", entered_campaign.campaign_id);
            Fault::new(Code::NotFound, message).hint("begin one first; `session_start` does it")
        };
        let seen = Redaction::for_caller(caller, &entered_campaign.campaign_id);
        let session = session.cloned().and_then(|session| seen.redact(session)).ok_or_else(none)?;
        let events = self
            .read_events_since_session(caller, entered_campaign, &session.id)
            .await?
            .into_iter()
            .map(|event| (event.recorded_at, event.by, event.event));
        let text = recap(&session, &seen.redact_people(entered_campaign.state()), events);
        Ok(SessionRecapOutput { text, session, picture: None })
    }
}
