//! Operations that update, end or remove campaigns, participants and actors: one for each noun, with a `method`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use skald_domain::campaign::{
    Actor, ActorKind, Campaign, CampaignCommand, Controller, GameTemplate, GmMode, Participant, Role,
};

use super::CampaignAnswer;
use super::actor_sheet::{ChangedActor, update_commands};
use super::people_names::resolve_actor;
use super::several_items::read_several;
use crate::method_fields::MethodFields;
use crate::{
    Allowed, App, Call, CampaignRole, CommandAnswer, Fault, Operation, OperationKind, PermissionClass, Toolset,
};

/// Refuses every given field, for a method that takes none.
fn refuse_fields<const N: usize>(method: &'static str, given: [(&str, bool); N]) -> Result<(), Fault> {
    let checked = MethodFields { method, takes: &[] }.check(&given);
    checked.map_err(|fault| fault.hint("leave it out, or use method update"))
}

pub(super) struct CampaignUpdate;

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum CampaignMethod {
    #[default]
    Update,
    /// The story is over.
    End,
    /// Put it away.
    Archive,
    /// Take it out again, as a draft.
    Restore,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CampaignUpdateInput {
    /// The context's if left out.
    campaign_id: Option<String>,
    /// update if left out.
    #[serde(default)]
    method: CampaignMethod,
    /// A new name.
    name: Option<String>,
    /// Who runs the game from now on.
    gm_mode: Option<GmMode>,
    /// What the campaign is about from now on.
    theme_prompt: Option<String>,
}

impl Operation for CampaignUpdate {
    const NAME: &'static str = "campaign_update";
    const TITLE: &'static str = "Change a campaign";
    const SUMMARY: &'static str = "Rename a campaign or change its theme or GM mode; or end, archive or restore it. \
        Nothing is lost: archived campaigns can be restored.";
    const TOOLSET: Toolset = Toolset::Campaign;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Gm);
    const CLASS: PermissionClass = PermissionClass::RunCampaign;
    type Input = CampaignUpdateInput;
    type Output = CommandAnswer<CampaignAnswer<Campaign>>;

    async fn run(
        app: &App,
        call: &Call<'_>,
        input: CampaignUpdateInput,
    ) -> Result<CommandAnswer<CampaignAnswer<Campaign>>, Fault> {
        let entered_campaign = app.enter_campaign::<Self>(call, input.campaign_id.as_deref()).await?;
        let CampaignUpdateInput { name, gm_mode, theme_prompt, method, .. } = input;
        let given =
            [("name", name.is_some()), ("gm_mode", gm_mode.is_some()), ("theme_prompt", theme_prompt.is_some())];
        let command = match method {
            CampaignMethod::Update => CampaignCommand::Update { name, gm_mode, theme_prompt },
            CampaignMethod::End => refuse_fields("end", given).map(|()| CampaignCommand::End)?,
            CampaignMethod::Archive => refuse_fields("archive", given).map(|()| CampaignCommand::Archive)?,
            CampaignMethod::Restore => refuse_fields("restore", given).map(|()| CampaignCommand::Restore)?,
        };
        app.execute_campaign_command::<Self, _>(call, entered_campaign.id_and_stream(), command, |done| {
            done.committed.state.campaign().cloned().expect("a campaign that was just changed")
        })
        .await
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum UpdateMethod {
    #[default]
    Update,
    Remove,
}

pub(super) struct ParticipantUpdate;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ParticipantUpdateInput {
    /// The context's if left out.
    campaign_id: Option<String>,
    /// The participant.
    participant_id: String,
    /// update if left out.
    #[serde(default)]
    method: UpdateMethod,
    /// A new name.
    display_name: Option<String>,
    /// A new role at the table.
    role: Option<Role>,
    /// Who speaks for them from now on.
    controller: Option<Controller>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ParticipantChanged {
    /// As they are now; as they were, if they have left.
    participant: Participant,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    removed: bool,
}

impl Operation for ParticipantUpdate {
    const NAME: &'static str = "participant_update";
    const TITLE: &'static str = "Change or remove a participant";
    const SUMMARY: &'static str = "Change a participant, or remove one who has left; actors they played are let go.";
    const TOOLSET: Toolset = Toolset::Campaign;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Gm);
    const CLASS: PermissionClass = PermissionClass::RunCampaign;
    type Input = ParticipantUpdateInput;
    type Output = CommandAnswer<CampaignAnswer<ParticipantChanged>>;

    async fn run(
        app: &App,
        call: &Call<'_>,
        input: ParticipantUpdateInput,
    ) -> Result<CommandAnswer<CampaignAnswer<ParticipantChanged>>, Fault> {
        let entered_campaign = app.enter_campaign::<Self>(call, input.campaign_id.as_deref()).await?;
        let ParticipantUpdateInput { participant_id, method, display_name, role, controller, .. } = input;
        let id = entered_campaign.resolve_id(
            call,
            "participant_id",
            &participant_id,
            entered_campaign.state().participants(),
        )?;
        let participant_id = id.clone();
        let before = entered_campaign.state().participants().get(&id).cloned();
        let given =
            [("display_name", display_name.is_some()), ("role", role.is_some()), ("controller", controller.is_some())];
        let command = match method {
            UpdateMethod::Update => {
                CampaignCommand::UpdateParticipant { participant_id, display_name, role, controller }
            }
            UpdateMethod::Remove => {
                refuse_fields("remove", given).map(|()| CampaignCommand::RemoveParticipant { participant_id })?
            }
        };
        app.execute_campaign_command::<Self, _>(call, entered_campaign.id_and_stream(), command, move |done| {
            let now = done.committed.state.participants().get(&id).cloned();
            let participant = now.or_else(|| before.clone()).expect("a participant who is or was there");
            ParticipantChanged { participant, removed: method == UpdateMethod::Remove }
        })
        .await
    }
}

pub(super) struct ActorUpdate;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ActorUpdateInput {
    /// The context's if left out.
    campaign_id: Option<String>,
    /// The actor.
    actor_id: String,
    /// update if left out.
    #[serde(default)]
    method: UpdateMethod,
    /// A new name.
    name: Option<String>,
    /// PC or NPC from now on.
    kind: Option<ActorKind>,
    /// What is known of the actor from now on.
    notes: Option<String>,
    /// Who sees the notes: gm, or names.
    #[schemars(extend("x-unlisted" = true))]
    notes_visible_to: Option<Vec<String>>,
    /// Who plays the actor: GM, or a participant.
    controller: Option<String>,
    /// Adds the trackers of a game.
    template: Option<GameTemplate>,
    /// Name to text or number; null removes.
    #[serde(default)]
    traits: Map<String, Value>,
    /// Name to value or "value/max".
    #[serde(default)]
    trackers: Map<String, Value>,
    /// More actors to update, each with these fields.
    #[serde(default)]
    actors: Vec<Map<String, Value>>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ActorChanged {
    /// As it is now; as it was, if it was removed.
    actor: Actor,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    removed: bool,
    /// The others, if several were changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    actors: Vec<Actor>,
}

impl Operation for ActorUpdate {
    const NAME: &'static str = "actor_update";
    const TITLE: &'static str = "Change or remove an actor";
    const SUMMARY: &'static str =
        "Change an actor, its player or its sheet, or several; or remove it from the campaign.";
    const TOOLSET: Toolset = Toolset::Campaign;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Gm);
    const CLASS: PermissionClass = PermissionClass::RunCampaign;
    type Input = ActorUpdateInput;
    type Output = CommandAnswer<CampaignAnswer<ActorChanged>>;

    async fn run(
        app: &App,
        call: &Call<'_>,
        input: ActorUpdateInput,
    ) -> Result<CommandAnswer<CampaignAnswer<ActorChanged>>, Fault> {
        let entered_campaign = app.enter_campaign::<Self>(call, input.campaign_id.as_deref()).await?;
        let state = entered_campaign.state();
        let ActorUpdateInput {
            actor_id,
            method,
            name,
            kind,
            notes,
            notes_visible_to,
            controller,
            template,
            traits,
            trackers,
            ..
        } = input;
        let given = [
            ("name", name.is_some()),
            ("kind", kind.is_some()),
            ("notes", notes.is_some()),
            ("notes_visible_to", notes_visible_to.is_some()),
            ("controller", controller.is_some()),
            ("template", template.is_some()),
            ("traits", !traits.is_empty()),
            ("trackers", !trackers.is_empty()),
            ("actors", !input.actors.is_empty()),
        ];
        let (command, ids) = match method {
            UpdateMethod::Update => {
                let first = ChangedActor {
                    actor_id,
                    name,
                    kind,
                    notes,
                    notes_visible_to,
                    controller,
                    template,
                    traits,
                    trackers,
                };
                update_commands(state, read_several(first, input.actors, "actors")?)?
            }
            UpdateMethod::Remove => {
                refuse_fields("remove", given)?;
                let id = resolve_actor(state, "/actor_id", &actor_id)?;
                (CampaignCommand::RemoveActor { actor_id: id.clone() }, vec![id])
            }
        };
        let before = ids.first().and_then(|id| state.actors().get(id).cloned());
        app.execute_campaign_command::<Self, _>(call, entered_campaign.id_and_stream(), command, move |done| {
            let mut now = ids.iter().map(|id| done.committed.state.actors().get(id).cloned());
            let actor = now.next().flatten().or_else(|| before.clone()).expect("an actor who is or was there");
            ActorChanged { actor, removed: method == UpdateMethod::Remove, actors: now.flatten().collect() }
        })
        .await
    }
}
