//! `campaign.v1`: the service for campaigns, participants and actors, converted to operations.

use std::sync::Arc;

use serde_json::{Value, json};
use tonic::{Request, Response, Status};

use crate::convert::{AnswerFields, PageRequest, enum_name, input_object};
use crate::fault::into_status;
use crate::proto::campaign::actor_controller::Controller as Plays;
use crate::proto::campaign::campaign_service_server::CampaignService;
use crate::proto::campaign::{
    Actor, ActorController, ActorKind, Campaign, Controller, CreateActorRequest, CreateActorResponse,
    CreateCampaignRequest, CreateCampaignResponse, CreateParticipantRequest, CreateParticipantResponse,
    GetCampaignRequest, GetCampaignResponse, GetParticipantRequest, GetParticipantResponse, GmController, GmMode,
    ListActorsRequest, ListActorsResponse, ListCampaignsRequest, ListCampaignsResponse, ListParticipantsRequest,
    ListParticipantsResponse, Participant, ParticipantController, ParticipantRole, SetDefaultControlRequest,
    SetDefaultControlResponse,
};
use crate::service_context::{CallContext, ServiceContext};

pub(crate) struct CampaignHandlers(pub Arc<ServiceContext>);

/// The prefix of the value names of the `Controller` enum.
const CONTROLLER: &str = "CONTROLLER_";
/// The `controller` of an actor that the game master controls, and no participant.
const GAME_MASTER: &str = "GM";

#[tonic::async_trait]
impl CampaignService for CampaignHandlers {
    async fn create_campaign(
        &self,
        request: Request<CreateCampaignRequest>,
    ) -> Result<Response<CreateCampaignResponse>, Status> {
        let created = self.0.call_typed(request, "campaign_create", |message| {
            let gm_mode = enum_name(message.gm_mode, GmMode::as_str_name, "").map(Value::from);
            input_object([
                ("name", Some(json!(message.name))),
                ("gm_mode", gm_mode),
                ("theme_prompt", Some(json!(message.theme_prompt))),
            ])
        });
        let campaign = campaign(AnswerFields(&created.await?))?;
        Ok(Response::new(CreateCampaignResponse { campaign: Some(campaign), warnings: Vec::new() }))
    }

    async fn list_campaigns(
        &self,
        request: Request<ListCampaignsRequest>,
    ) -> Result<Response<ListCampaignsResponse>, Status> {
        let page = self.0.read_page(request, |message| PageRequest {
            view: "campaigns",
            campaign_id: None,
            size: message.page_size,
            token: message.page_token,
        });
        let page = page.await?;
        let campaigns = AnswerFields(&page).rows("campaigns").map(campaign).collect::<Result<_, _>>()?;
        let next_page_token = AnswerFields(&page).text("next_cursor");
        Ok(Response::new(ListCampaignsResponse { campaigns, next_page_token }))
    }

    async fn get_campaign(
        &self,
        request: Request<GetCampaignRequest>,
    ) -> Result<Response<GetCampaignResponse>, Status> {
        let read = self.0.call_typed(request, "campaign_read", |message| json!({"campaign_id": message.campaign_id}));
        let campaign = campaign(AnswerFields(&read.await?).field("campaign"))?;
        Ok(Response::new(GetCampaignResponse { campaign: Some(campaign) }))
    }

    async fn create_participant(
        &self,
        request: Request<CreateParticipantRequest>,
    ) -> Result<Response<CreateParticipantResponse>, Status> {
        let created = self.0.call_typed(request, "participant_create", |message| {
            let role = enum_name(message.role, ParticipantRole::as_str_name, "").map(Value::from);
            let controller = enum_name(message.controller, Controller::as_str_name, CONTROLLER).map(Value::from);
            input_object([
                ("campaign_id", Some(json!(message.campaign_id))),
                ("display_name", Some(json!(message.display_name))),
                ("role", role),
                ("controller", controller),
            ])
        });
        let participant = participant(AnswerFields(&created.await?));
        Ok(Response::new(CreateParticipantResponse { participant: Some(participant) }))
    }

    async fn list_participants(
        &self,
        request: Request<ListParticipantsRequest>,
    ) -> Result<Response<ListParticipantsResponse>, Status> {
        let page = self.0.read_page(request, |message| PageRequest {
            view: "participants",
            campaign_id: Some(message.campaign_id),
            size: message.page_size,
            token: message.page_token,
        });
        let page = page.await?;
        let participants = AnswerFields(&page).rows("participants").map(participant).collect();
        let next_page_token = AnswerFields(&page).text("next_cursor");
        Ok(Response::new(ListParticipantsResponse { participants, next_page_token }))
    }

    async fn get_participant(
        &self,
        request: Request<GetParticipantRequest>,
    ) -> Result<Response<GetParticipantResponse>, Status> {
        let call_context = CallContext::from_request(&request)?;
        let GetParticipantRequest { campaign_id, participant_id } = request.into_inner();
        let row = self.0.find_row(&call_context, "participant", &campaign_id, &participant_id).await;
        let row = row.map_err(into_status)?;
        Ok(Response::new(GetParticipantResponse { participant: Some(participant(AnswerFields(&row))) }))
    }

    async fn create_actor(
        &self,
        request: Request<CreateActorRequest>,
    ) -> Result<Response<CreateActorResponse>, Status> {
        let created = self.0.call_typed(request, "actor_create", |message| {
            let kind = enum_name(message.kind, ActorKind::as_str_name, "").map(Value::from);
            input_object([
                ("campaign_id", Some(json!(message.campaign_id))),
                ("name", Some(json!(message.name))),
                ("kind", kind),
                ("notes", Some(json!(message.notes))),
            ])
        });
        Ok(Response::new(CreateActorResponse { actor: Some(actor(AnswerFields(&created.await?))) }))
    }

    async fn list_actors(&self, request: Request<ListActorsRequest>) -> Result<Response<ListActorsResponse>, Status> {
        let page = self.0.read_page(request, |message| PageRequest {
            view: "actors",
            campaign_id: Some(message.campaign_id),
            size: message.page_size,
            token: message.page_token,
        });
        let page = page.await?;
        let actors = AnswerFields(&page).rows("actors").map(actor).collect();
        Ok(Response::new(ListActorsResponse { actors, next_page_token: AnswerFields(&page).text("next_cursor") }))
    }

    async fn set_default_control(
        &self,
        request: Request<SetDefaultControlRequest>,
    ) -> Result<Response<SetDefaultControlResponse>, Status> {
        let set = self.0.call_typed(request, "actor_control_set", |message| {
            let controller = message.controller.and_then(|controller| controller.controller);
            let controller = controller.map(|controller| match controller {
                Plays::Gm(GmController {}) => json!(GAME_MASTER),
                Plays::Participant(ParticipantController { participant_id }) => json!(participant_id),
            });
            input_object([
                ("campaign_id", Some(json!(message.campaign_id))),
                ("actor_id", Some(json!(message.actor_id))),
                ("controller", controller),
            ])
        });
        let set = set.await?;
        let answer = AnswerFields(&set);
        Ok(Response::new(SetDefaultControlResponse {
            campaign_id: answer.text("campaign_id"),
            actor_id: answer.text("actor_id"),
            controller: Some(controller(answer.text("controller"))),
        }))
    }
}

fn controller(word: String) -> ActorController {
    let controller = if word == GAME_MASTER {
        Plays::Gm(GmController {})
    } else {
        Plays::Participant(ParticipantController { participant_id: word })
    };
    ActorController { controller: Some(controller) }
}

fn campaign(answer: AnswerFields) -> Result<Campaign, Status> {
    let count = |name| answer.number(name).map_err(into_status);
    Ok(Campaign {
        id: answer.text("id"),
        name: answer.text("name"),
        gm_mode: answer.enum_number("gm_mode", GmMode::from_str_name, ""),
        participant_count: count("participant_count")?,
        actor_count: count("actor_count")?,
        theme_prompt: answer.text("theme_prompt"),
        created_at: answer.timestamp("created_at"),
        updated_at: answer.timestamp("updated_at"),
    })
}

fn participant(answer: AnswerFields) -> Participant {
    Participant {
        id: answer.text("id"),
        campaign_id: answer.text("campaign_id"),
        display_name: answer.text("display_name"),
        role: answer.enum_number("role", ParticipantRole::from_str_name, ""),
        controller: answer.enum_number("controller", Controller::from_str_name, CONTROLLER),
        created_at: answer.timestamp("created_at"),
        updated_at: answer.timestamp("updated_at"),
    }
}

fn actor(answer: AnswerFields) -> Actor {
    Actor {
        id: answer.text("id"),
        campaign_id: answer.text("campaign_id"),
        name: answer.text("name"),
        kind: answer.enum_number("kind", ActorKind::from_str_name, ""),
        notes: answer.text("notes"),
        created_at: answer.timestamp("created_at"),
        updated_at: answer.timestamp("updated_at"),
    }
}
