//! Tests of the typed services for campaigns, sessions and dice.

use skald_app::LocalEngine;
use skald_grpc::proto::campaign::actor_controller::Controller as Plays;
use skald_grpc::proto::campaign::campaign_service_client::CampaignServiceClient;
use skald_grpc::proto::campaign::{
    ActorController, ActorKind, Campaign, Controller, CreateActorRequest, CreateCampaignRequest,
    CreateParticipantRequest, GetCampaignRequest, GetParticipantRequest, GmController, GmMode, ListActorsRequest,
    ListCampaignsRequest, ListParticipantsRequest, ParticipantController, ParticipantRole, SetDefaultControlRequest,
};
use skald_grpc::proto::duality::duality_service_client::DualityServiceClient;
use skald_grpc::proto::duality::{
    ActionRollRequest, DiceSpec, DualityExplainRequest, DualityOutcomeRequest, DualityProbabilityRequest, Outcome,
    RollDiceRequest, RulesVersionRequest,
};
use skald_grpc::proto::session::session_service_client::SessionServiceClient;
use skald_grpc::proto::session::{GetSessionRequest, ListSessionsRequest, SessionStatus, StartSessionRequest};
use tonic::Code;
use tonic::transport::Channel;

use crate::server::{Server, app, code_and_reason, run};

async fn create_campaign(client: &mut CampaignServiceClient<Channel>, name: &str) -> Campaign {
    let request =
        CreateCampaignRequest { name: name.to_owned(), gm_mode: GmMode::Hybrid.into(), theme_prompt: "fog".to_owned() };
    let response = client.create_campaign(request).await.expect("a campaign").into_inner();
    assert!(response.warnings.is_empty());
    response.campaign.expect("a campaign")
}

fn player_request(campaign_id: &str, name: &str) -> CreateParticipantRequest {
    CreateParticipantRequest {
        campaign_id: campaign_id.to_owned(),
        display_name: name.to_owned(),
        role: ParticipantRole::Player.into(),
        controller: Controller::Unspecified.into(),
    }
}

fn page_request(campaign_id: &str, page_size: i32, page_token: &str) -> ListParticipantsRequest {
    ListParticipantsRequest { campaign_id: campaign_id.to_owned(), page_size, page_token: page_token.to_owned() }
}

#[test]
fn campaigns_participants_and_actors() {
    run(async {
        let server = Server::start(&LocalEngine::new(app())).await;
        let mut client = CampaignServiceClient::new(server.channel());
        let campaign = create_campaign(&mut client, "The Hill").await;
        assert_eq!((campaign.gm_mode(), campaign.theme_prompt.as_str()), (GmMode::Hybrid, "fog"));
        assert_eq!(campaign.created_at.expect("a moment").seconds, 1_768_478_400);

        let ai = CreateParticipantRequest { controller: Controller::Ai.into(), ..player_request(&campaign.id, "Ada") };
        let ada = client.create_participant(ai).await.unwrap().into_inner().participant.unwrap();
        assert_eq!((ada.role(), ada.controller()), (ParticipantRole::Player, Controller::Ai));
        let bo = client
            .create_participant(player_request(&campaign.id, "Bo"))
            .await
            .unwrap()
            .into_inner()
            .participant
            .unwrap();
        assert_eq!(bo.controller(), Controller::Human, "which it is if it is not said");
        let request = GetParticipantRequest { campaign_id: campaign.id.clone(), participant_id: ada.id.clone() };
        assert_eq!(client.get_participant(request).await.unwrap().into_inner().participant, Some(ada.clone()));

        let request = CreateActorRequest {
            campaign_id: campaign.id.clone(),
            name: "Thorin".to_owned(),
            kind: ActorKind::Npc.into(),
            notes: "a dwarf".to_owned(),
        };
        let actor = client.create_actor(request).await.unwrap().into_inner().actor.unwrap();
        assert_eq!((actor.kind(), actor.notes.as_str()), (ActorKind::Npc, "a dwarf"));
        let request = ListActorsRequest { campaign_id: campaign.id.clone(), page_size: 0, page_token: String::new() };
        assert_eq!(client.list_actors(request).await.unwrap().into_inner().actors, vec![actor.clone()]);
        let participant = Plays::Participant(ParticipantController { participant_id: ada.id.clone() });
        for plays in [Plays::Gm(GmController {}), participant] {
            let controller = Some(ActorController { controller: Some(plays) });
            let request = SetDefaultControlRequest {
                campaign_id: campaign.id.clone(),
                actor_id: actor.id.clone(),
                controller: controller.clone(),
            };
            let set = client.set_default_control(request).await.unwrap().into_inner();
            assert_eq!(
                (set.campaign_id, set.actor_id, set.controller),
                (campaign.id.clone(), actor.id.clone(), controller)
            );
        }
        let request = GetCampaignRequest { campaign_id: campaign.id.clone() };
        let read = client.get_campaign(request).await.unwrap().into_inner().campaign.unwrap();
        assert_eq!((read.participant_count, read.actor_count), (2, 1));
    });
}

#[test]
fn lists_come_in_pages_of_ten_at_most() {
    run(async {
        let server = Server::start(&LocalEngine::new(app())).await;
        let mut client = CampaignServiceClient::new(server.channel());
        let campaign = create_campaign(&mut client, "The Hill").await;
        for number in 0..25 {
            client.create_participant(player_request(&campaign.id, &format!("P{number}"))).await.unwrap();
        }
        for (asked, sizes) in [
            (0, vec![10, 10, 5]),
            (-3, vec![10, 10, 5]),
            (50, vec![10, 10, 5]),
            (10, vec![10, 10, 5]),
            (9, vec![9, 9, 7]),
        ] {
            let (mut found, mut names, mut token) = (Vec::new(), Vec::new(), String::new());
            loop {
                let response =
                    client.list_participants(page_request(&campaign.id, asked, &token)).await.unwrap().into_inner();
                found.push(response.participants.len());
                names.extend(response.participants.into_iter().map(|participant| participant.display_name));
                token = response.next_page_token;
                if token.is_empty() {
                    break;
                }
            }
            assert_eq!(found, sizes, "{asked}");
            let expected: Vec<String> = (0..25).rev().map(|number| format!("P{number}")).collect();
            assert_eq!(names, expected, "the newest first, and each once");
        }
        for number in 0..11 {
            create_campaign(&mut client, &format!("C{number}")).await;
        }
        let request = ListCampaignsRequest { page_size: 0, page_token: String::new() };
        let first = client.list_campaigns(request).await.unwrap().into_inner();
        let request = ListCampaignsRequest { page_size: 0, page_token: first.next_page_token };
        let second = client.list_campaigns(request).await.unwrap().into_inner();
        assert_eq!((first.campaigns.len(), second.campaigns.len(), second.next_page_token.as_str()), (10, 2, ""));
        let wrong = client.list_participants(page_request(&campaign.id, 5, "nonsense")).await.unwrap_err();
        assert_eq!(code_and_reason(&wrong), (Code::InvalidArgument, "INVALID_PARAMS".to_owned()));
    });
}

#[test]
fn what_is_missing_or_not_there_has_the_right_status() {
    run(async {
        let server = Server::start(&LocalEngine::new(app())).await;
        let mut client = CampaignServiceClient::new(server.channel());
        let campaign = create_campaign(&mut client, "The Hill").await;
        let id = |id: &str| GetCampaignRequest { campaign_id: id.to_owned() };
        assert_eq!(client.get_campaign(id("camp_nowhere")).await.unwrap_err().code(), Code::NotFound);
        assert_eq!(client.get_campaign(id("")).await.unwrap_err().code(), Code::InvalidArgument);
        assert_eq!(client.get_campaign(id("a/b")).await.unwrap_err().code(), Code::NotFound, "it may be a name");
        for (name, mode) in [("", 1), ("A", 0), ("A", 99)] {
            let request = CreateCampaignRequest { name: name.to_owned(), gm_mode: mode, theme_prompt: String::new() };
            let refused = client.create_campaign(request).await.unwrap_err();
            assert_eq!(
                code_and_reason(&refused),
                (Code::InvalidArgument, "INVALID_PARAMS".to_owned()),
                "{name} {mode}"
            );
        }
        for (participant_id, code) in [("part_nobody", Code::NotFound), (" ", Code::InvalidArgument)] {
            let request =
                GetParticipantRequest { campaign_id: campaign.id.clone(), participant_id: participant_id.to_owned() };
            assert_eq!(client.get_participant(request).await.unwrap_err().code(), code);
        }
        let nobody = SetDefaultControlRequest {
            campaign_id: campaign.id.clone(),
            actor_id: "actor_nobody".to_owned(),
            controller: None,
        };
        assert_eq!(client.set_default_control(nobody).await.unwrap_err().code(), Code::InvalidArgument);
    });
}

#[test]
fn sessions() {
    run(async {
        let server = Server::start(&LocalEngine::new(app())).await;
        let campaign = create_campaign(&mut CampaignServiceClient::new(server.channel()), "The Hill").await;
        let mut client = SessionServiceClient::new(server.channel());
        let start = || StartSessionRequest { campaign_id: campaign.id.clone(), name: "One".to_owned() };
        let session = client.start_session(start()).await.unwrap().into_inner().session.unwrap();
        assert_eq!((session.status(), session.version, session.ended_at), (SessionStatus::Active, 1, None));
        let again = client.start_session(start()).await.unwrap_err();
        assert_eq!(code_and_reason(&again), (Code::FailedPrecondition, "ACTIVE_SESSION_EXISTS".to_owned()));
        let request = GetSessionRequest { campaign_id: campaign.id.clone(), session_id: session.id.clone() };
        assert_eq!(client.get_session(request).await.unwrap().into_inner().session, Some(session.clone()));
        let request = ListSessionsRequest { campaign_id: campaign.id.clone(), page_size: 1, page_token: String::new() };
        assert_eq!(client.list_sessions(request).await.unwrap().into_inner().sessions, vec![session]);
        let nowhere = GetSessionRequest { campaign_id: campaign.id, session_id: "sess_none".to_owned() };
        assert_eq!(client.get_session(nowhere).await.unwrap_err().code(), Code::NotFound);
    });
}

#[test]
fn duality_dice() {
    run(async {
        let server = Server::start(&LocalEngine::new(app())).await;
        let mut client = DualityServiceClient::new(server.channel());
        let roll = ActionRollRequest { modifier: 2, difficulty: Some(0) };
        let rolled = client.action_roll(roll).await.unwrap().into_inner();
        assert_eq!((rolled.total, rolled.difficulty), (rolled.hope + rolled.fear + 2, Some(0)));
        let too_much = ActionRollRequest { modifier: i32::MAX - 23, difficulty: None };
        let refused = client.action_roll(too_much).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument, "{refused:?}");
        let dice = DualityOutcomeRequest { hope: 8, fear: 5, modifier: 2, difficulty: Some(15) };
        let outcome = client.duality_outcome(dice).await.unwrap().into_inner();
        assert!(outcome.total == 15 && outcome.meets_difficulty && outcome.outcome() == Outcome::SuccessWithHope);
        let dice =
            DualityExplainRequest { hope: 8, fear: 5, modifier: 2, difficulty: None, request_id: Some("r".into()) };
        let explained = client.duality_explain(dice).await.unwrap().into_inner();
        assert_eq!((explained.outcome(), explained.difficulty), (Outcome::RollWithHope, None));
        assert_eq!(explained.intermediates.expect("them").base_total, 13);
        let codes: Vec<&str> = explained.steps.iter().map(|step| step.code.as_str()).collect();
        assert_eq!(codes, ["SUM_DICE", "APPLY_MODIFIER", "CHECK_CRIT", "CHECK_DIFFICULTY", "SELECT_OUTCOME"]);
        assert!(explained.steps[0].data.as_ref().expect("numbers").fields.contains_key("base_total"));
        let odds = DualityProbabilityRequest { modifier: 2, difficulty: 15 };
        let counted = client.duality_probability(odds).await.unwrap().into_inner();
        assert_eq!((counted.crit_count, counted.success_count, counted.failure_count), (12, 84, 60));
        assert_eq!(counted.outcome_counts.iter().map(|row| row.count).collect::<Vec<_>>(), [12, 36, 36, 30, 30]);
        let rules = client.rules_version(RulesVersionRequest {}).await.unwrap().into_inner();
        assert_eq!(rules.outcomes, [1, 2, 3, 4, 5, 6, 7]);
        let pools = vec![DiceSpec { sides: 20, count: 2 }, DiceSpec { sides: 6, count: 1 }];
        let rolled = client.roll_dice(RollDiceRequest { dice: pools }).await.unwrap().into_inner();
        assert_eq!(rolled.rolls.iter().map(|pool| pool.results.len()).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(rolled.total, rolled.rolls.iter().map(|pool| pool.total).sum::<i32>());

        let wrong = DualityOutcomeRequest { hope: 13, fear: 5, modifier: 0, difficulty: None };
        assert_eq!(client.duality_outcome(wrong).await.unwrap_err().code(), Code::InvalidArgument);
        let huge = DualityOutcomeRequest { hope: 12, fear: 12, modifier: i32::MAX, difficulty: None };
        let refused = client.duality_outcome(huge).await.unwrap_err();
        assert!(refused.message().contains("which these messages cannot say"), "{refused:?}");
    });
}
