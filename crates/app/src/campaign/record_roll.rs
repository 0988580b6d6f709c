//! Recording of rolls: a roll is stored in the session that it names, or in the one that is going on.

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use skald_domain::campaign::{CampaignCommand, RecordedRoll};
use skald_domain::dice::RandomReport;
use skald_domain::dice::odds::Exact;
use skald_domain::{deceptive_characters, id};

use super::CampaignAnswer;
use super::access::{EnteredCampaign, parse_id};
use super::stream::SESSIONS;
use super::tracker_lines::change_lines;
use super::visible_to::read_visible_to;
use crate::{Allowed, App, Call, CampaignRole, Code, CommandAnswer, Fault, Operation, limits, truncate_for_message};

/// The input fields that say where a roll is recorded; every operation that rolls has them.
#[derive(Debug)]
pub(crate) struct RollPlace {
    pub session_id: Option<String>,
    pub actor_id: Option<String>,
    /// What the roll is for.
    pub reason: Option<String>,
    /// Who sees it: gm, table, or names; the table if left out.
    pub visible_to: Option<Vec<String>>,
}

impl RollPlace {
    /// Checks the reason here, so that a roll that is not recorded is refused for it as well.
    pub(crate) fn new(
        session_id: Option<String>,
        actor_id: Option<String>,
        reason: Option<String>,
        visible_to: Option<Vec<String>>,
    ) -> Result<Self, Fault> {
        let reason = reason.map(|reason| reason.trim().to_owned());
        if let Some(reason) = &reason {
            check_reason(reason)?;
        }
        Ok(Self { session_id, actor_id, reason, visible_to })
    }
}

fn check_reason(reason: &str) -> Result<(), Fault> {
    let (chars, most) = (reason.chars().count(), limits::NAME_CHARS_MAX);
    let message = if chars == 0 {
        "reason is empty".to_owned()
    } else if chars > most {
        format!("reason has {chars} characters, at most {most} are allowed")
    } else if let Some(character) = deceptive_characters::first_deceptive(reason) {
        format!("reason has the character {}, which cannot be seen", deceptive_characters::code_point(character))
    } else {
        return Ok(());
    };
    let fault = Fault::new(Code::InvalidParams, message).with_path("/reason").value(&reason.into());
    Err(fault.hint("say in a few words what the roll is for, or leave it out; a longer text is a session_note"))
}

/// What a roll's answer says of its record.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct RecordedRollAnswer {
    pub campaign_id: String,
    pub session_id: String,
    pub roll_id: String,
    /// What its outcome changed, a line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
}

/// The data of a roll that is recorded.
#[derive(Debug, Clone, Default)]
pub(crate) struct RollDetails {
    pub expression: Option<String>,
    pub result: Value,
    pub odds: RollOdds,
    /// `None` for real dice.
    pub rng: Option<RandomReport>,
}

/// How likely a roll was: at most one of the chances, and its luck.
#[derive(Debug, Clone, Default)]
pub(crate) struct RollOdds {
    pub at_least_chance: Option<Exact>,
    pub success_chance: Option<Exact>,
    pub luck: Option<f64>,
}

impl RollDetails {
    /// The record of this roll; who rolled it and where is added by the caller.
    pub(super) fn into_recorded(self, id: String, tool: &str, input: &Value) -> RecordedRoll {
        RecordedRoll {
            id,
            tool: tool.to_owned(),
            expression: self.expression,
            input: input.clone(),
            result: self.result,
            at_least_chance: self.odds.at_least_chance,
            success_chance: self.odds.success_chance,
            luck: self.odds.luck.map(|luck| (luck * 1_000.0).round() / 1_000.0),
            rng: self.rng,
            ..RecordedRoll::default()
        }
    }
}

/// Who may record a roll.
const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Player);

/// Where a roll goes.
pub(super) enum RollTarget {
    Session {
        entered_campaign: EnteredCampaign,
        session_id: String,
        participant_id: Option<String>,
    },
    /// The roll is answered and not recorded, for this reason.
    NotRecorded(String),
}

impl App {
    /// The session of a roll: the one that its input names, or the one that is going on in the campaign of the context. A
    /// session in the context that has ended stands for the one that is going on.
    pub(super) async fn find_roll_target<O: Operation>(
        &self,
        call: &Call<'_>,
        place: &RollPlace,
    ) -> Result<RollTarget, Fault> {
        let context = self.context(call.caller).await?;
        let named = place.session_id.as_deref();
        let campaign_id = match named {
            Some(id) if is_session_id(id) || call.control.takes_only_ids => {
                self.campaign_of_session(call, parse_id("session_id", named)?.unwrap_or_default()).await?
            }
            _ => match self.find_default_campaign(call.caller).await {
                Ok(campaign_id) => campaign_id,
                Err(fault) if named.is_none() => return Ok(RollTarget::NotRecorded(no_campaign_reason(&fault))),
                Err(fault) => return Err(fault),
            },
        };
        let role = call.caller.role_in(&campaign_id);
        if named.is_none() && role.is_none_or(|role| role < CampaignRole::Player) {
            return Ok(RollTarget::NotRecorded("only players and game masters record rolls".to_owned()));
        }
        let entered_campaign = self.enter_campaign_as(call.caller, O::NAME, ALLOWED, &campaign_id).await?;
        let state = entered_campaign.state();
        let session_id = match self.resolve_session_id(call, &entered_campaign, named).await? {
            Some(id) => id,
            None => match state.active_session() {
                Some(session) => session.id.clone(),
                None => return Ok(RollTarget::NotRecorded(no_session_reason(&entered_campaign))),
            },
        };
        let here = context.filter(|context| context.campaign_id == campaign_id);
        // The participant may have been removed since the context was set: then the roll is recorded without one.
        let participant_id = here.and_then(|context| context.participant_id);
        let participant_id = participant_id.filter(|id| state.participants().contains(id));
        Ok(RollTarget::Session { entered_campaign, session_id, participant_id })
    }

    async fn campaign_of_session(&self, call: &Call<'_>, session_id: &str) -> Result<String, Fault> {
        let campaign_id = self.campaign_of_document(call.caller, SESSIONS, session_id).await?;
        campaign_id.ok_or_else(|| {
            Fault::new(Code::NotFound, format!("there is no session {:?}", truncate_for_message(session_id)))
                .with_path("/session_id")
                .value(&session_id.into())
                .hint("send the id of a session that is there; `campaign_read` with view sessions lists those of a campaign")
        })
    }

    /// Rolls, and records the roll if there is a session for it: `note` extracts the data to record, `finish` adds the
    /// place of the record to the answer. A retry of a recorded roll under the same key gets the stored answer.
    pub(crate) async fn roll_and_record<O: Operation, T: Serialize + Clone + Send + Sync + 'static>(
        &self,
        call: &Call<'_>,
        place: &RollPlace,
        roll: impl Future<Output = Result<T, Fault>>,
        note: for<'a> fn(&'a Self, &'a T) -> BoxFuture<'a, RollDetails>,
        finish: fn(&mut T, RecordedRollAnswer),
    ) -> Result<CommandAnswer<CampaignAnswer<T>>, Fault> {
        // Checked before rolling, so that a roll whose session is wrong is not made.
        let target = self.find_roll_target::<O>(call, place).await?;
        let (entered_campaign, session_id, participant_id) = match target {
            RollTarget::Session { entered_campaign, session_id, participant_id } => {
                (entered_campaign, session_id, participant_id)
            }
            RollTarget::NotRecorded(reason) => {
                return Ok(CommandAnswer::Now(CampaignAnswer::not_recorded(roll.await?, reason)));
            }
        };
        let actors = entered_campaign.state().actors();
        let actor_id = entered_campaign.resolve_optional_id(call, "actor_id", place.actor_id.as_deref(), actors)?;
        let visible_to = read_visible_to(entered_campaign.state(), "/visible_to", place.visible_to.as_deref())?;
        let answer = roll.await?;
        let note = note(self, &answer).await;
        let roll_id = self.new_id(call, id::ROLL, entered_campaign.stream.as_str());
        let recorded = RecordedRollAnswer {
            campaign_id: entered_campaign.campaign_id.clone(),
            session_id: session_id.clone(),
            roll_id: roll_id.clone(),
            changes: Vec::new(),
        };
        let redaction = entered_campaign.redaction(call.caller);
        let roll = RecordedRoll {
            session_id: Some(session_id),
            participant_id,
            actor_id,
            reason: place.reason.clone(),
            visible_to: visible_to.unwrap_or_default(),
            ..note.into_recorded(roll_id, O::NAME, call.input)
        };
        self.execute_campaign_command::<O, _>(
            call,
            entered_campaign.id_and_stream(),
            CampaignCommand::RecordRoll(Box::new(roll)),
            move |done| {
                let mut answer = answer.clone();
                let changes = change_lines(&done.events, &redaction, &done.committed.state);
                finish(&mut answer, RecordedRollAnswer { changes, ..recorded.clone() });
                answer
            },
        )
        .await
    }
}

fn is_session_id(text: &str) -> bool {
    text.trim().starts_with(id::SESSION)
}

fn no_campaign_reason(fault: &Fault) -> String {
    format!("{}; {}", fault.body().message, fault.body().hint.as_deref().unwrap_or_default())
}

fn no_session_reason(entered_campaign: &EnteredCampaign) -> String {
    let name = entered_campaign.state().campaign().map_or("", |campaign| campaign.name.as_str());
    format!("no session of {name:?} is going on; session_start begins one")
}
