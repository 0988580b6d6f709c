//! Recording of rolls that belong together, a group roll or an opposed roll: one record for each actor, all or none.

use schemars::JsonSchema;
use serde::Serialize;
use skald_domain::campaign::{CampaignCommand, CampaignState, RecordedRoll};
use skald_domain::id;

use super::CampaignAnswer;
use super::people_names::resolve_actor;
use super::record_roll::{RollDetails, RollPlace, RollTarget};
use super::tracker_lines::change_lines;
use super::visible_to::read_visible_to;
use crate::{App, Call, Code, CommandAnswer, Fault, Operation, truncate_for_message};

/// What the answer of a group roll says of its records.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct RecordedGroupRoll {
    pub campaign_id: String,
    pub session_id: String,
    /// In the order of the actors.
    pub roll_ids: Vec<String>,
    /// The trackers that the rolls moved, a line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
}

/// The data of one actor's roll.
pub(crate) struct ActorRollDetails {
    pub details: RollDetails,
    /// Whether the roll is a reaction, which brings neither Hope nor Fear.
    pub reaction: bool,
}

impl App {
    /// Rolls for several actors and records each roll, in the order of the actors. `roll` gets their names.
    pub(crate) async fn roll_and_record_group<O, T, F>(
        &self,
        call: &Call<'_>,
        place: RollPlace,
        actor_ids: &[String],
        roll: impl FnOnce(Vec<String>) -> F,
        finish: fn(&mut T, RecordedGroupRoll),
    ) -> Result<CommandAnswer<CampaignAnswer<T>>, Fault>
    where
        O: Operation,
        T: Serialize + Clone + Send + Sync + 'static,
        F: Future<Output = Result<(T, Vec<ActorRollDetails>), Fault>>,
    {
        // Without a session nothing is recorded, and the actors may be called anything.
        let (entered_campaign, session_id, participant_id) = match self.find_roll_target::<O>(call, &place).await? {
            RollTarget::Session { entered_campaign, session_id, participant_id } => {
                (entered_campaign, session_id, participant_id)
            }
            RollTarget::NotRecorded(reason) => {
                let (answer, _) = roll(actor_ids.to_vec()).await?;
                return Ok(CommandAnswer::Now(CampaignAnswer::not_recorded(answer, reason)));
            }
        };
        let actors = actor_ids.iter().enumerate().map(|(index, id)| find_actor(entered_campaign.state(), index, id));
        let actors: Vec<(String, String)> = actors.collect::<Result<_, Fault>>()?;
        check_distinct(&actors)?;
        let visible_to = read_visible_to(entered_campaign.state(), "/visible_to", place.visible_to.as_deref())?;
        let visible_to = visible_to.unwrap_or_default();
        let (answer, rolls) = roll(actors.iter().map(|(_, name)| name.clone()).collect()).await?;
        let rolls = rolls.into_iter().zip(actors).enumerate().map(|(index, (roll, (actor_id, _)))| {
            // With an idempotency key ids are derived from it, so each roll needs a scope of its own.
            let roll_id = self.new_id(call, id::ROLL, &format!("{}/{index}", entered_campaign.stream.as_str()));
            RecordedRoll {
                session_id: Some(session_id.clone()),
                participant_id: participant_id.clone(),
                actor_id: Some(actor_id),
                reason: place.reason.clone(),
                visible_to: visible_to.clone(),
                reaction: roll.reaction,
                ..roll.details.into_recorded(roll_id, O::NAME, call.input)
            }
        });
        let rolls: Vec<RecordedRoll> = rolls.collect();
        let recorded = RecordedGroupRoll {
            campaign_id: entered_campaign.campaign_id.clone(),
            session_id: session_id.clone(),
            roll_ids: rolls.iter().map(|roll| roll.id.clone()).collect(),
            changes: Vec::new(),
        };
        let redaction = entered_campaign.redaction(call.caller);
        let command = CampaignCommand::RecordRolls(rolls);
        self.execute_campaign_command::<O, _>(call, entered_campaign.id_and_stream(), command, move |done| {
            let mut answer = answer.clone();
            let changes = change_lines(&done.events, &redaction, &done.committed.state);
            finish(&mut answer, RecordedGroupRoll { changes, ..recorded.clone() });
            answer
        })
        .await
    }
}

/// Refuses an actor who is named twice, by id or by name.
fn check_distinct(actors: &[(String, String)]) -> Result<(), Fault> {
    let is_known = |index: usize| actors[..index].iter().any(|(id, _)| *id == actors[index].0);
    match (0..actors.len()).find(|index| is_known(*index)) {
        None => Ok(()),
        Some(index) => Err(Fault::new(Code::InvalidParams, format!("{:?} is named twice", actors[index].1))
            .with_path(format!("/rolls/{index}/actor_id"))
            .value(&actors[index].0.as_str().into())
            .hint("name each actor once")),
    }
}

/// The id and the name of an actor.
fn find_actor(state: &CampaignState, index: usize, given: &str) -> Result<(String, String), Fault> {
    let pointer = format!("/rolls/{index}/actor_id");
    let id = resolve_actor(state, &pointer, given)?;
    match state.actors().get(&id) {
        Some(actor) => Ok((actor.id.clone(), actor.name.clone())),
        None => Err(Fault::new(Code::NotFound, format!("there is no actor {:?}", truncate_for_message(&id)))
            .with_path(pointer)
            .value(&given.into())
            .hint("send the id of an actor of this campaign; `campaign_read` with view actors lists them")),
    }
}
