//! Recording of rolls: a roll that names a session, or has one in the context, is stored in its campaign.

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use skald_domain::campaign::{CampaignCommand, RecordedRoll};
use skald_domain::dice::RandomReport;
use skald_domain::dice::odds::Exact;
use skald_domain::{id, plain_text};

use super::access::{EnteredCampaign, parse_id};
use super::stream::SESSIONS;
use crate::{Allowed, App, Call, CampaignRole, Code, CommandAnswer, Fault, Operation, limits, truncate_for_message};

/// The input fields that say where a roll is recorded; every operation that rolls has them.
#[derive(Debug)]
pub(crate) struct RollPlace {
    pub session_id: Option<String>,
    pub actor_id: Option<String>,
    /// What the roll is for.
    pub reason: Option<String>,
}

impl RollPlace {
    /// Checks the reason here, so that a roll that is not recorded is refused for it as well.
    pub(crate) fn new(
        session_id: Option<String>,
        actor_id: Option<String>,
        reason: Option<String>,
    ) -> Result<Self, Fault> {
        let reason = reason.map(|reason| reason.trim().to_owned());
        if let Some(reason) = &reason {
            check_reason(reason)?;
        }
        Ok(Self { session_id, actor_id, reason })
    }
}

fn check_reason(reason: &str) -> Result<(), Fault> {
    let (chars, most) = (reason.chars().count(), limits::NAME_CHARS_MAX);
    let message = if chars == 0 {
        "reason is empty".to_owned()
    } else if chars > most {
        format!("reason has {chars} characters, at most {most} are allowed")
    } else if let Some(character) = plain_text::first_deceptive(reason) {
        format!("reason has the character {}, which cannot be seen", plain_text::code_point(character))
    } else {
        return Ok(());
    };
    let fault = Fault::new(Code::InvalidParams, message).with_path("/reason").value(&reason.into());
    Err(fault.hint("say in a few words what the roll is for, or leave it out; a longer text is a session_note"))
}

/// What a roll's answer says of its record.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "they are what clients read")]
pub(crate) struct Recorded {
    pub campaign_id: String,
    pub session_id: String,
    pub roll_id: String,
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

impl App {
    /// The campaign, session and participant of a roll, from its input or from the context. `None` if neither names a
    /// session: such a roll is answered and not recorded.
    pub(super) async fn find_roll_place<O: Operation>(
        &self,
        call: &Call<'_>,
        place: &RollPlace,
    ) -> Result<Option<(EnteredCampaign, String, Option<String>)>, Fault> {
        let context = self.context(call.caller).await?;
        let (campaign_id, session_id) = match (parse_id("session_id", place.session_id.as_deref())?, &context) {
            (Some(session_id), _) => (self.campaign_of_session(call, session_id).await?, session_id.to_owned()),
            (None, Some(context)) => match &context.session_id {
                Some(session_id) => (context.campaign_id.clone(), session_id.clone()),
                None => return check_unrecorded_roll(place),
            },
            (None, None) => return check_unrecorded_roll(place),
        };
        let entered_campaign = self.enter_campaign_as(call.caller, O::NAME, ALLOWED, &campaign_id).await?;
        let here = context.filter(|context| context.campaign_id == campaign_id);
        // The participant may have been removed since the context was set: then the roll is recorded without one.
        let participant = here.and_then(|context| context.participant_id);
        let participant = participant.filter(|id| entered_campaign.state().participants().contains(id));
        Ok(Some((entered_campaign, session_id, participant)))
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
        finish: fn(&mut T, Recorded),
    ) -> Result<CommandAnswer<T>, Fault> {
        // Checked before rolling, so that a roll that cannot be recorded is not made.
        let place_found = self.find_roll_place::<O>(call, place).await?;
        let answer = roll.await?;
        let Some((entered_campaign, session_id, participant_id)) = place_found else {
            return Ok(CommandAnswer::Now(answer));
        };
        let note = note(self, &answer).await;
        let roll_id = self.new_id(call, id::ROLL, entered_campaign.stream.as_str());
        let recorded = Recorded {
            campaign_id: entered_campaign.campaign_id.clone(),
            session_id: session_id.clone(),
            roll_id: roll_id.clone(),
        };
        let roll = RecordedRoll {
            session_id: Some(session_id),
            participant_id,
            actor_id: parse_id("actor_id", place.actor_id.as_deref())?.map(str::to_owned),
            reason: place.reason.clone(),
            ..note.into_recorded(roll_id, O::NAME, call.input)
        };
        self.execute_campaign_command::<O, _>(
            call,
            entered_campaign.id_and_stream(),
            CampaignCommand::RecordRoll(Box::new(roll)),
            move |_| {
                let mut answer = answer.clone();
                finish(&mut answer, recorded.clone());
                answer
            },
        )
        .await
    }
}

/// The result for a roll without a session: `None`, or a fault if it names an actor, who belongs in a record.
fn check_unrecorded_roll<T>(place: &RollPlace) -> Result<Option<T>, Fault> {
    if place.actor_id.is_none() {
        return Ok(None);
    }
    let fault = Fault::new(Code::InvalidParams, "actor_id is given, but no session to record the roll in");
    Err(fault.with_path("/actor_id").hint("send session_id too; `set_context` with a session says it once for all"))
}
