//! Tests of the gateway: every operation of the catalogue, refusals, metadata and tokens.

use serde_json::{Value, json};
use skald_app::{CampaignRole, LocalEngine, ToolsetFilter, Toolsets};
use skald_grpc::proto::skald::complete_request::Target;
use skald_grpc::proto::skald::gateway_client::GatewayClient;
use skald_grpc::proto::skald::identify_response::Principal;
use skald_grpc::proto::skald::{
    Argument, CallRequest, CompleteRequest, DescribeRequest, EndSessionRequest, IdentifyRequest, PromptRequest,
    ReadRequest,
};
use tonic::transport::Channel;
use tonic::{Code, Request, Status};
use tonic_types::StatusExt;

use crate::server::{Server, app, code_and_reason, create_token, run, with_token};

async fn call(
    gateway: &mut GatewayClient<Channel>,
    operation: &str,
    input: &Value,
    metadata: &[(&'static str, &str)],
) -> Result<(Value, Option<String>), Status> {
    let mut request = Request::new(CallRequest { operation: operation.to_owned(), input: input.to_string() });
    for (name, value) in metadata {
        request.metadata_mut().insert(*name, value.parse().expect("plain"));
    }
    let response = gateway.call(request).await?;
    let etag = response.metadata().get("etag").map(|etag| etag.to_str().expect("plain").to_owned());
    Ok((serde_json::from_str(&response.into_inner().answer).expect("JSON"), etag))
}

#[test]
fn everything_of_the_catalogue_can_be_reached() {
    run(async {
        let local = LocalEngine::new(app());
        let server = Server::start(&local).await;
        let mut gateway = GatewayClient::new(server.channel());
        let described = gateway.describe(DescribeRequest {}).await.unwrap().into_inner();
        assert_eq!((described.name.as_str(), described.version.as_str()), ("skald", env!("CARGO_PKG_VERSION")));
        let names: Vec<&str> = described.operations.iter().map(|operation| operation.name.as_str()).collect();
        let expected: Vec<&str> =
            skald_app::Catalogue::from_all_nouns().operations().iter().map(|entry| entry.name).collect();
        assert_eq!(names, expected);
        let outcome = described.operations.iter().find(|operation| operation.name == "duality_outcome").unwrap();
        assert!(!outcome.is_read && outcome.input_schema.contains("\"hope\""));

        let (answer, _) = call(&mut gateway, "duality_outcome", &json!({"hope": 8, "fear": 5}), &[]).await.unwrap();
        assert_eq!(answer["outcome"], "ROLL_WITH_HOPE");
        let nothing = CallRequest { operation: "duality_rules_version".to_owned(), input: String::new() };
        assert!(gateway.call(nothing).await.is_ok(), "no input is an empty one");

        let read = |uri: &str| ReadRequest { uri: uri.to_owned() };
        let rules = gateway.read(read("dice://rules/duality")).await.unwrap().into_inner();
        assert!(rules.mime_type == "text/markdown" && rules.text.contains("Hope"));
        let arguments = vec![Argument { name: "difficulty".to_owned(), value: "15".to_owned() }];
        let prompt = PromptRequest { name: "explain_odds".to_owned(), arguments };
        assert!(gateway.prompt(prompt).await.unwrap().into_inner().text.contains("62"));
        let complete = CompleteRequest {
            target: Some(Target::Prompt("explain_odds".to_owned())),
            argument: "outcome".to_owned(),
            typed: "crit".to_owned(),
            given: Vec::new(),
        };
        let completion = gateway.complete(complete).await.unwrap().into_inner();
        assert_eq!((completion.values, completion.total), (vec!["CRITICAL_SUCCESS".to_owned()], 1));
    });
}

#[test]
fn refusals_have_a_status_by_class_and_say_the_rest_in_details() {
    run(async {
        let local = LocalEngine::new(app());
        let server = Server::start(&local).await;
        let mut gateway = GatewayClient::new(server.channel());
        for (operation, input, expected) in [
            ("duality_outcome", json!({"hope": 13, "fear": 1}), (Code::InvalidArgument, "INVALID_PARAMS")),
            ("campaign_read", json!({"campaign_id": "camp_1"}), (Code::NotFound, "NOT_FOUND")),
            ("no_such_thing", json!({}), (Code::NotFound, "NOT_FOUND")),
        ] {
            let status = call(&mut gateway, operation, &input, &[]).await.unwrap_err();
            assert_eq!(code_and_reason(&status), (expected.0, expected.1.to_owned()));
            let details = status.get_error_details();
            assert!(!details.localized_message().expect("a hint").message.is_empty(), "{status:?}");
        }
        let wrong = call(&mut gateway, "duality_outcome", &json!({"hope": 13, "fear": 1}), &[]).await.unwrap_err();
        let details = wrong.get_error_details();
        assert_eq!(details.bad_request().expect("a field").field_violations[0].field, "/hope");
        assert_eq!(details.error_info().expect("a reason").metadata["value"], "13");

        let nonsense = CallRequest { operation: "roll".to_owned(), input: "{".to_owned() };
        assert_eq!(code_and_reason(&gateway.call(nonsense).await.unwrap_err()).0, Code::InvalidArgument);
        let none = CompleteRequest { target: None, argument: String::new(), typed: String::new(), given: Vec::new() };
        assert_eq!(code_and_reason(&gateway.complete(none).await.unwrap_err()).0, Code::InvalidArgument);
    });
}

#[test]
fn a_key_and_a_revision_travel_as_metadata() {
    run(async {
        let local = LocalEngine::new(app());
        let server = Server::start(&local).await;
        let mut gateway = GatewayClient::new(server.channel());
        let input = json!({"name": "The Hill", "gm_mode": "HUMAN"});
        let key = [("idempotency-key", "once")];
        let (created, _) = call(&mut gateway, "campaign_create", &input, &key).await.unwrap();
        let (again, _) = call(&mut gateway, "campaign_create", &input, &key).await.unwrap();
        assert_eq!(created, again);
        let other = json!({"name": "The Valley", "gm_mode": "HUMAN"});
        let mismatch = call(&mut gateway, "campaign_create", &other, &key).await.unwrap_err();
        assert_eq!(code_and_reason(&mismatch), (Code::Aborted, "IDEMPOTENCY_MISMATCH".to_owned()));

        let read = json!({"campaign_id": created["id"]});
        let (_, etag) = call(&mut gateway, "campaign_read", &read, &[]).await.unwrap();
        let etag = etag.expect("a revision");
        let update = json!({"campaign_id": created["id"], "theme_prompt": "x"});
        call(&mut gateway, "campaign_update", &update, &[("if-match", &etag)]).await.unwrap();
        let late = call(&mut gateway, "campaign_update", &update, &[("if-match", &etag)]).await.unwrap_err();
        assert_eq!(code_and_reason(&late), (Code::Aborted, "REVISION_CONFLICT".to_owned()));
        let wrong = call(&mut gateway, "campaign_update", &update, &[("if-match", "x")]).await.unwrap_err();
        assert_eq!(wrong.code(), Code::InvalidArgument);
    });
}

#[test]
fn whose_token_it_is_decides() {
    run(async {
        let local = LocalEngine::new(app());
        let server = Server::start(&local).await;
        let mut gateway = GatewayClient::new(server.channel());
        let owner = gateway.identify(IdentifyRequest {}).await.unwrap().into_inner();
        assert!(matches!(owner.principal, Some(Principal::Owner(_))));
        let (created, _) =
            call(&mut gateway, "campaign_create", &json!({"name": "A", "gm_mode": "AI"}), &[]).await.unwrap();
        let campaign = created["id"].as_str().unwrap();
        let (secret, id) = create_token(&local, campaign, CampaignRole::Player).await;
        let holder = gateway.identify(with_token(&secret, IdentifyRequest {})).await.unwrap().into_inner();
        let Some(Principal::Holder(holder)) = holder.principal else { panic!("a holder") };
        assert_eq!((&holder.id, holder.kind.as_str()), (&id, "human"));
        assert_eq!(holder.roles.get(campaign).map(String::as_str), Some("player"));

        let bearer = format!("Bearer {secret}");
        let input = json!({"campaign_id": campaign, "display_name": "Bo", "role": "PLAYER"});
        let denied =
            call(&mut gateway, "participant_create", &input, &[("authorization", bearer.as_str())]).await.unwrap_err();
        assert_eq!(code_and_reason(&denied), (Code::PermissionDenied, "FORBIDDEN".to_owned()));
        for wrong in ["Bearer skald_x_y", "Basic abc", "Bearer"] {
            let refused =
                call(&mut gateway, "duality_rules_version", &json!({}), &[("authorization", wrong)]).await.unwrap_err();
            assert_eq!(code_and_reason(&refused), (Code::Unauthenticated, "UNAUTHORIZED".to_owned()), "{wrong}");
        }
        let open = Server::start_with(local.clone(), true, ToolsetFilter::EVERYTHING).await;
        let mut gateway = GatewayClient::new(open.channel());
        let refused = gateway.describe(DescribeRequest {}).await.unwrap_err();
        assert_eq!(code_and_reason(&refused), (Code::Unauthenticated, "UNAUTHORIZED".to_owned()));
        assert!(gateway.describe(with_token(&secret, DescribeRequest {})).await.is_ok());
    });
}

#[test]
fn what_the_command_line_hides_is_not_there() {
    run(async {
        let visible = ToolsetFilter { toolsets: "dice".parse::<Toolsets>().unwrap(), read_only: true };
        let server = Server::start_with(LocalEngine::new(app()), false, visible).await;
        let mut gateway = GatewayClient::new(server.channel());
        for (operation, is_there) in
            [("read_duality_outcome", true), ("duality_outcome", false), ("campaign_read", false)]
        {
            let answer = call(&mut gateway, operation, &json!({"hope": 1, "fear": 2}), &[]).await;
            assert_eq!(answer.is_ok(), is_there, "{operation}");
        }
        let hidden = gateway.read(ReadRequest { uri: "campaigns://list".to_owned() }).await.unwrap_err();
        assert_eq!(code_and_reason(&hidden), (Code::NotFound, "NOT_FOUND".to_owned()));
        let described = gateway.describe(DescribeRequest {}).await.unwrap().into_inner();
        assert!(described.operations.iter().all(|operation| operation.is_read && operation.toolset == "dice"));
    });
}

#[test]
fn a_conversation_keeps_its_context_until_it_ends() {
    run(async {
        let local = LocalEngine::new(app());
        let server = Server::start(&local).await;
        let mut gateway = GatewayClient::new(server.channel());
        let input = json!({"name": "A", "gm_mode": "AI"});
        let (created, _) = call(&mut gateway, "campaign_create", &input, &[]).await.unwrap();
        let set = json!({"campaign_id": created["id"]});
        let (one, other) = ([("skald-session", "one")], [("skald-session", "other")]);
        call(&mut gateway, "set_context", &set, &one).await.unwrap();
        let view = json!({"view": "context"});
        let (mine, _) = call(&mut gateway, "campaign_read", &view, &one).await.unwrap();
        assert_eq!(mine["context"]["campaign_id"], created["id"]);
        for metadata in [&other[..], &[("skald-client", "one")]] {
            let (theirs, _) = call(&mut gateway, "campaign_read", &view, metadata).await.unwrap();
            assert_eq!(theirs["context"]["campaign_id"], Value::Null);
        }
        let (secret, _) = create_token(&local, created["id"].as_str().unwrap(), CampaignRole::Gm).await;
        let bearer = format!("Bearer {secret}");
        let stranger = [("skald-session", "one"), ("authorization", bearer.as_str())];
        let (theirs, _) = call(&mut gateway, "campaign_read", &view, &stranger).await.unwrap();
        assert_eq!(
            theirs["context"]["campaign_id"],
            Value::Null,
            "another's conversation of the same name is another one"
        );

        let mut ending = Request::new(EndSessionRequest {});
        ending.metadata_mut().insert("skald-session", "one".parse().unwrap());
        gateway.end_session(ending).await.unwrap();
        let mut context = mine["context"]["campaign_id"].clone();
        while !context.is_null() {
            context =
                call(&mut gateway, "campaign_read", &view, &one).await.unwrap().0["context"]["campaign_id"].take();
        }
    });
}
