//! Operations that create campaigns, participants and actors, and that set who plays an actor.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use skald_domain::campaign::{
    Actor, ActorController, ActorKind, BatchPart, Campaign, CampaignCommand, Controller, GameTemplate, GmMode,
    Participant, Role,
};
use skald_domain::id;

use super::CampaignAnswer;
use super::actor_sheet::{NewActor, create_commands};
use super::set_context::Context;
use super::several_items::{item_pointer, new_ids, read_several, single_or_batch};
use super::stream::campaign_stream;
use crate::{
    Allowed, App, Call, Caller, CampaignRole, CommandAnswer, Fault, Operation, OperationKind, PermissionClass, Toolset,
};

pub(super) struct CampaignCreate;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CampaignCreateInput {
    /// Its name.
    name: String,
    /// Who runs the game.
    gm_mode: GmMode,
    /// What it is about.
    #[serde(default)]
    theme_prompt: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CampaignCreated {
    #[serde(flatten)]
    campaign: Campaign,
    /// The context of this conversation from now on.
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<Context>,
}

impl Operation for CampaignCreate {
    const NAME: &'static str = "campaign_create";
    const TITLE: &'static str = "Create a campaign";
    const SUMMARY: &'static str = "Create a campaign, which becomes the context of this conversation. Then add participants and actors, \
        and start a session.";
    const TOOLSET: Toolset = Toolset::Campaign;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Gm);
    const CLASS: PermissionClass = PermissionClass::RunCampaign;
    type Input = CampaignCreateInput;
    type Output = CommandAnswer<CampaignAnswer<CampaignCreated>>;

    async fn run(app: &App, call: &Call<'_>, input: CampaignCreateInput) -> Result<Self::Output, Fault> {
        let id = app.new_id(call, id::CAMPAIGN, "");
        let stream = campaign_stream(&id);
        app.check_campaign_quota(call.caller, &stream).await?;
        let CampaignCreateInput { name, gm_mode, theme_prompt } = input;
        let command = CampaignCommand::Create { id: id.clone(), name, gm_mode, theme_prompt };
        let context = call.caller.has_context().then(|| Context::of_campaign(&id));
        let answered = app
            .execute_campaign_command::<Self, _>(call, (&id, &stream), command, {
                let context = context.clone();
                move |done| CampaignCreated {
                    campaign: done.committed.state.campaign().cloned().expect("a campaign that was just created"),
                    context: context.clone(),
                }
            })
            .await?;
        app.give_role(call.caller, &id, CampaignRole::Gm, Self::NAME).await?;
        if let Some(context) = context {
            app.set_context(call.caller, &context).await?;
        }
        Ok(answered)
    }
}

pub(super) struct ParticipantCreate;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ParticipantCreateInput {
    /// The context's if left out.
    campaign_id: Option<String>,
    /// Their name.
    display_name: String,
    /// At the table.
    role: Role,
    /// HUMAN if left out.
    #[serde(default)]
    controller: Controller,
    /// More people, each with these fields.
    #[serde(default)]
    participants: Vec<Map<String, Value>>,
}

/// One of several participants to create.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewParticipant {
    display_name: String,
    role: Role,
    #[serde(default)]
    controller: Controller,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CreatedParticipants {
    #[serde(flatten)]
    participant: Participant,
    /// The others, if several were created.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    participants: Vec<Participant>,
}

impl Operation for ParticipantCreate {
    const NAME: &'static str = "participant_create";
    const TITLE: &'static str = "Add a participant";
    const SUMMARY: &'static str = "Add people to the table of a campaign: game masters or players.";
    const TOOLSET: Toolset = Toolset::Campaign;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Gm);
    const CLASS: PermissionClass = PermissionClass::RunCampaign;
    type Input = ParticipantCreateInput;
    type Output = CommandAnswer<CampaignAnswer<CreatedParticipants>>;

    async fn run(app: &App, call: &Call<'_>, input: ParticipantCreateInput) -> Result<Self::Output, Fault> {
        let entered_campaign = app.enter_campaign::<Self>(call, input.campaign_id.as_deref()).await?;
        let ParticipantCreateInput { display_name, role, controller, participants, .. } = input;
        let first = NewParticipant { display_name, role, controller };
        let people = read_several(first, participants, "participants")?;
        let ids = new_ids(app, call, id::PARTICIPANT, entered_campaign.stream.as_str(), people.len());
        let parts = people.into_iter().zip(&ids).enumerate().map(|(at, (person, id))| {
            let NewParticipant { display_name, role, controller } = person;
            let command = CampaignCommand::AddParticipant { id: id.clone(), display_name, role, controller };
            BatchPart { pointer: item_pointer("participants", at), command }
        });
        let command = single_or_batch(parts.collect());
        app.execute_campaign_command::<Self, _>(call, entered_campaign.id_and_stream(), command, move |done| {
            let known = done.committed.state.participants();
            let mut created = ids.iter().map(|id| known.get(id).cloned().expect("a participant who was just added"));
            CreatedParticipants {
                participant: created.next().expect("the first participant"),
                participants: created.collect(),
            }
        })
        .await
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }
}

pub(super) struct ActorCreate;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ActorCreateInput {
    /// The context's if left out.
    campaign_id: Option<String>,
    /// Its name.
    name: String,
    /// PC is played by somebody, NPC by the world.
    kind: ActorKind,
    /// What is known of the actor.
    #[serde(default)]
    notes: String,
    /// Who sees the notes: gm, or names.
    notes_visible_to: Option<Vec<String>>,
    /// Who plays the actor: GM, or a participant.
    controller: Option<String>,
    /// Sets up the trackers of a game.
    template: Option<GameTemplate>,
    /// Name to text or number: agility, level, thresholds (8/12).
    #[serde(default)]
    traits: Map<String, Value>,
    /// Name to value or "value/max".
    #[serde(default)]
    trackers: Map<String, Value>,
    /// More actors, each with these fields.
    #[serde(default)]
    actors: Vec<Map<String, Value>>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CreatedActors {
    #[serde(flatten)]
    actor: Actor,
    /// The others, if several were created.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    actors: Vec<Actor>,
}

impl Operation for ActorCreate {
    const NAME: &'static str = "actor_create";
    const TITLE: &'static str = "Add an actor";
    const SUMMARY: &'static str =
        "Add actors to the story of a campaign, with their sheets: player characters or others.";
    const TOOLSET: Toolset = Toolset::Campaign;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Gm);
    const CLASS: PermissionClass = PermissionClass::RunCampaign;
    type Input = ActorCreateInput;
    type Output = CommandAnswer<CampaignAnswer<CreatedActors>>;

    async fn run(app: &App, call: &Call<'_>, input: ActorCreateInput) -> Result<Self::Output, Fault> {
        let entered_campaign = app.enter_campaign::<Self>(call, input.campaign_id.as_deref()).await?;
        let ActorCreateInput {
            name,
            kind,
            notes,
            notes_visible_to,
            controller,
            template,
            traits,
            trackers,
            actors,
            ..
        } = input;
        let first = NewActor { name, kind, notes, notes_visible_to, controller, template, traits, trackers };
        let actors = read_several(first, actors, "actors")?;
        let ids = new_ids(app, call, id::ACTOR, entered_campaign.stream.as_str(), actors.len());
        let command = create_commands(entered_campaign.state(), actors, &ids)?;
        app.execute_campaign_command::<Self, _>(call, entered_campaign.id_and_stream(), command, move |done| {
            let known = done.committed.state.actors();
            let mut created = ids.iter().map(|id| known.get(id).cloned().expect("an actor who was just added"));
            CreatedActors { actor: created.next().expect("the first actor"), actors: created.collect() }
        })
        .await
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }
}

pub(super) struct ActorControlSet;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ActorControlSetInput {
    /// The context's if left out.
    campaign_id: Option<String>,
    /// The actor.
    actor_id: String,
    /// GM, or a participant's id.
    controller: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ActorControl {
    campaign_id: String,
    actor_id: String,
    controller: ActorController,
}

impl Operation for ActorControlSet {
    const NAME: &'static str = "actor_control_set";
    const TITLE: &'static str = "Say who plays an actor";
    const SUMMARY: &'static str = "Say who plays an actor by default: GM, or a participant.";
    const TOOLSET: Toolset = Toolset::Campaign;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Gm);
    const CLASS: PermissionClass = PermissionClass::RunCampaign;
    type Input = ActorControlSetInput;
    type Output = CommandAnswer<CampaignAnswer<ActorControl>>;

    async fn run(
        app: &App,
        call: &Call<'_>,
        input: ActorControlSetInput,
    ) -> Result<CommandAnswer<CampaignAnswer<ActorControl>>, Fault> {
        let entered_campaign = app.enter_campaign::<Self>(call, input.campaign_id.as_deref()).await?;
        let state = entered_campaign.state();
        let actor_id = entered_campaign.resolve_id(call, "actor_id", &input.actor_id, state.actors())?;
        let controller = match ActorController::read(&input.controller).participant_id() {
            Some(given) => entered_campaign.resolve_id(call, "controller", given, state.participants())?,
            None => input.controller,
        };
        let command = CampaignCommand::SetActorControl { actor_id: actor_id.clone(), controller: controller.clone() };
        let (campaign_id, controller) = (entered_campaign.campaign_id.clone(), ActorController::read(&controller));
        app.execute_campaign_command::<Self, _>(call, entered_campaign.id_and_stream(), command, move |_| {
            ActorControl {
                campaign_id: campaign_id.clone(),
                actor_id: actor_id.clone(),
                controller: controller.clone(),
            }
        })
        .await
    }
}
