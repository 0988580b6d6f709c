//! Access to a campaign: finds the one that a call names, checks the caller's role, and sends commands to it.

use crate::campaign::CampaignStream;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use skald_domain::campaign::{CampaignCommand, CampaignRefusal, CampaignState};

use super::CampaignAnswer;
use super::stream::{PARTICIPANTS, SESSIONS, campaign_not_found, campaign_stream, refusal_fault};
use crate::entered_campaign;
use crate::redaction::Redaction;
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Code, CommandAnswer, Fault, Operation, OperationKind, limits,
    truncate_for_message,
};
use skald_journal::{Applied, CommittedState, JournalFailure, StreamName};

/// The most campaigns that an error lists.
const CAMPAIGNS_LISTED_MAX: usize = 10;

/// A campaign that the caller may access, with its committed state.
pub(crate) struct EnteredCampaign {
    pub campaign_id: String,
    pub stream: StreamName,
    pub committed: Arc<CommittedState<CampaignStream>>,
    /// The caller's role in it.
    pub role: CampaignRole,
}

impl EnteredCampaign {
    /// The revision, for those who can write on it. It counts hidden commands too, so guests are not told.
    pub(crate) fn shown_revision(&self) -> Option<u64> {
        (self.role >= CampaignRole::Player).then(|| self.committed.revision())
    }

    /// Answers a call with the revision, if the caller may know it.
    pub(crate) fn answer_revision(&self, call: &Call<'_>) {
        if let Some(revision) = self.shown_revision() {
            call.control.set_revision(revision);
        }
    }

    /// The id and the stream, for the methods that send a command.
    pub(crate) fn id_and_stream(&self) -> (&str, &StreamName) {
        (&self.campaign_id, &self.stream)
    }

    /// What the caller may see of it.
    pub(crate) fn redaction(&self, caller: &Caller) -> Redaction {
        Redaction::for_caller(caller, &self.campaign_id, self.state())
    }

    pub(crate) fn state(&self) -> &CampaignState {
        &self.committed.state
    }
}

/// Checks the form of a campaign id, not whether the campaign exists.
pub(crate) fn parse_campaign_id(id: &str) -> Result<&str, Fault> {
    parse_id("campaign_id", Some(id)).map(Option::unwrap_or_default)
}

/// Trims an id from an input field and checks its length and characters.
pub(crate) fn parse_id<'a>(field: &str, id: Option<&'a str>) -> Result<Option<&'a str>, Fault> {
    let Some(id) = id.map(str::trim) else { return Ok(None) };
    let fault =
        |message: String| Fault::new(Code::InvalidParams, message).with_path(format!("/{field}")).value(&id.into());
    if id.is_empty() {
        return Err(fault(format!("{field} is required, it is empty")).hint(format!("send {field}, or leave it out")));
    }
    let is_odd = |letter: char| !letter.is_ascii_alphanumeric() && !['_', '-'].contains(&letter);
    if limits::is_longer_than_id(id)
        || id.contains(is_odd)
        || !id.contains(|letter: char| letter.is_ascii_alphanumeric())
    {
        return Err(fault(format!("{field} is malformed: {:?}", truncate_for_message(id)))
            .hint("send an id as it was answered"));
    }
    Ok(Some(id))
}

impl App {
    /// Finds the campaign of a call and checks that the caller's role allows the operation.
    pub(crate) async fn enter_campaign<O: Operation>(
        &self,
        call: &Call<'_>,
        given: Option<&str>,
    ) -> Result<EnteredCampaign, Fault> {
        let campaign_id = match given {
            Some(given) => self.resolve_campaign_id(call, given).await?,
            None => self.find_default_campaign(call.caller).await?,
        };
        let entered_campaign = self.enter_campaign_as(call.caller, O::NAME, O::ALLOWED, &campaign_id).await?;
        // A command sets the revision itself, once it is stored.
        if O::KIND == OperationKind::Read {
            entered_campaign.answer_revision(call);
        }
        Ok(entered_campaign)
    }

    pub(crate) async fn enter_campaign_as(
        &self,
        caller: &Caller,
        name: &str,
        allowed: Allowed,
        campaign_id: &str,
    ) -> Result<EnteredCampaign, Fault> {
        // Without a role, the campaign looks as if it did not exist.
        let role = caller.role_in(campaign_id).ok_or_else(|| campaign_not_found(campaign_id))?;
        let stream = campaign_stream(campaign_id);
        let committed = self.campaigns.read(&stream).await.map_err(|error| self.store_fault(&error))?;
        if committed.state.campaign().is_none() {
            return Err(campaign_not_found(campaign_id));
        }
        entered_campaign::record(campaign_id);
        if let Allowed::InCampaign(needed) = allowed
            && role < needed
        {
            let message = format!("{name} is for {}, and you are its {}", allowed.description(), role.as_str());
            return Err(Fault::new(Code::Forbidden, message).hint("ask the game master, or for another token"));
        }
        Ok(EnteredCampaign { campaign_id: campaign_id.to_owned(), stream, committed, role })
    }

    /// The campaign of a call that names none: from the context, from the command line, or the caller's only one.
    pub(crate) async fn find_default_campaign(&self, caller: &Caller) -> Result<String, Fault> {
        if let Some(context) = self.context(caller).await? {
            return Ok(context.campaign_id);
        }
        // Ignore the default campaign for callers without a role in it.
        if let Some(id) = self.default_campaign.as_ref().filter(|id| caller.role_in(id).is_some()) {
            return Ok(id.clone());
        }
        let campaigns = self.list_campaigns(caller, None, CAMPAIGNS_LISTED_MAX).await?;
        match &campaigns.items[..] {
            [only] => Ok(only.id.clone()),
            [] => Err(Fault::new(Code::NotFound, "there is no campaign yet")
                .hint("create one first; `campaign_create` does it")),
            several => {
                let ids: Vec<&str> = several.iter().map(|campaign| campaign.id.as_str()).collect();
                Err(Fault::new(Code::InvalidParams, "campaign_id is missing, and there is more than one campaign")
                    .with_path("/campaign_id")
                    .hint("send campaign_id; `set_context` says it once for all")
                    .allowed(ids))
            }
        }
    }

    /// Checks that a campaign exists. The error lists existing campaigns, so this is only for the owner.
    pub(crate) async fn check_campaign_exists(&self, id: &str) -> Result<(), Fault> {
        // A text that is not shaped like an id is a name that no campaign has.
        if let Ok(id) = parse_campaign_id(id) {
            let committed = self.campaigns.read(&campaign_stream(id)).await;
            if committed.map_err(|error| self.store_fault(&error))?.state.campaign().is_some() {
                return Ok(());
            }
        }
        let known = self.list_campaigns(&Caller::owner(), None, CAMPAIGNS_LISTED_MAX).await?;
        let named: Vec<String> =
            known.items.iter().map(|campaign| format!("{} ({})", campaign.id, campaign.name)).collect();
        let more = if known.next_cursor.is_some() { " and others" } else { "" };
        let fault = campaign_not_found(id).allowed(known.items.iter().map(|campaign| campaign.id.as_str()));
        Err(if named.is_empty() {
            fault.hint("there is no campaign yet; `campaign_create` makes one")
        } else {
            fault.hint(format!("there are {}{more}", named.join(", ")))
        })
    }

    /// The fault for a session that is not in the campaign: it does not exist, or is in another campaign.
    pub(crate) async fn missing_session(
        &self,
        caller: &Caller,
        entered_campaign: &EnteredCampaign,
        id: &str,
    ) -> Result<Fault, Fault> {
        self.missing_from_campaign(caller, entered_campaign, ("session", SESSIONS), id).await
    }

    /// The fault for a participant who is not in the campaign.
    pub(crate) async fn missing_participant(
        &self,
        caller: &Caller,
        entered_campaign: &EnteredCampaign,
        id: &str,
    ) -> Result<Fault, Fault> {
        self.missing_from_campaign(caller, entered_campaign, ("participant", PARTICIPANTS), id).await
    }

    async fn missing_from_campaign(
        &self,
        caller: &Caller,
        entered_campaign: &EnteredCampaign,
        (thing, collection): (&str, &str),
        id: &str,
    ) -> Result<Fault, Fault> {
        let (code, message) = match self.campaign_of_document(caller, collection, id).await? {
            Some(_) => (
                Code::InvalidParams,
                format!("{thing} {id} does not belong to campaign {}", entered_campaign.campaign_id),
            ),
            None => (
                Code::NotFound,
                format!("there is no {thing} {:?} in {}", truncate_for_message(id), entered_campaign.campaign_id),
            ),
        };
        let fault = Fault::new(code, message).with_path(format!("/{thing}_id")).value(&id.into());
        Ok(fault
            .hint(format!("send the id of a {thing} of this campaign; `campaign_read` with view {thing}s lists them")))
    }

    /// The campaign that a session or participant belongs to, if the caller has a role in it.
    pub(crate) async fn campaign_of_document(
        &self,
        caller: &Caller,
        collection: &str,
        id: &str,
    ) -> Result<Option<String>, Fault> {
        let found = self.journal.document(collection, id).await.map_err(|error| self.store_fault(&error))?;
        let campaign_id = found.and_then(|document| {
            let body: Value = serde_json::from_str(&document.body).ok()?;
            Some(body.get("campaign_id")?.as_str()?.to_owned())
        });
        Ok(campaign_id.filter(|campaign_id| caller.role_in(campaign_id).is_some()))
    }

    /// Decides and stores a command, and answers it. The answer is stored for a retry under the same key.
    pub(crate) async fn execute_campaign_command<O: Operation, T: Serialize + 'static>(
        &self,
        call: &Call<'_>,
        entered_campaign: (&str, &StreamName),
        command: CampaignCommand,
        answer: impl Fn(&Applied<CampaignStream>) -> T + Send + Sync + 'static,
    ) -> Result<CommandAnswer<CampaignAnswer<T>>, Fault> {
        let (campaign_id, stream) = entered_campaign;
        let tried = self.try_campaign_command::<O, T>(call, stream, command, answer).await;
        tried.map_err(|failure| self.campaign_fault(campaign_id, failure))
    }

    /// The fault for a failed command.
    pub(crate) fn campaign_fault(&self, campaign_id: &str, failure: JournalFailure<CampaignRefusal>) -> Fault {
        self.journal_fault(failure, |refusal| refusal_fault(campaign_id, &refusal))
    }

    /// Returns a failure as it is, so that the operation can handle a refusal. A stored answer of the idempotency key
    /// takes precedence over any refusal.
    pub(crate) async fn try_campaign_command<O: Operation, T: Serialize + 'static>(
        &self,
        call: &Call<'_>,
        stream: &StreamName,
        command: CampaignCommand,
        answer: impl Fn(&Applied<CampaignStream>) -> T + Send + Sync + 'static,
    ) -> Result<CommandAnswer<CampaignAnswer<T>>, JournalFailure<CampaignRefusal>> {
        let answer = move |applied: &Applied<CampaignStream>| CampaignAnswer::new(answer(applied), applied);
        self.execute::<O, CampaignStream, CampaignAnswer<T>>(&self.campaigns, call, stream, command, answer)
            .await
            .map(|(answered, _)| answered)
    }
}
