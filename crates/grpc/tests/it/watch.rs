//! Tests of the gateway's stream of changes: live, and from an earlier position.

use serde_json::{Value, json};
use skald_app::{Caller, CampaignRole, Engine, LocalEngine, RequestControl, limits};
use skald_grpc::proto::skald::change::What;
use skald_grpc::proto::skald::gateway_client::GatewayClient;
use skald_grpc::proto::skald::{WatchRequest, WatchResponse};
use tonic::{Code, Streaming};

use crate::server::{Server, app, code_and_reason, create_token, run, with_token};

async fn create(local: &LocalEngine, operation: &str, input: Value) -> String {
    let created =
        local.call(&Caller::owner(), operation, input, &RequestControl::default()).await.expect("it is created");
    created["id"].as_str().expect("an id").to_owned()
}

async fn create_campaign(local: &LocalEngine) -> String {
    create(local, "campaign_create", json!({"name": "The Hill", "gm_mode": "HUMAN"})).await
}

async fn create_participant(local: &LocalEngine, campaign_id: &str) {
    let input = json!({"campaign_id": campaign_id, "display_name": "Ada", "role": "PLAYER"});
    create(local, "participant_create", input).await;
}

async fn next_changes(stream: &mut Streaming<WatchResponse>) -> (Vec<String>, String) {
    let message = stream.message().await.expect("no fault").expect("a message");
    assert!(!message.everything, "{message:?}");
    let uri = |change: skald_grpc::proto::skald::Change| match change.what {
        Some(What::Resource(uri)) => uri,
        Some(What::ResourceList(_)) => "list".to_owned(),
        None => panic!("nothing changed"),
    };
    (message.changes.into_iter().map(uri).collect(), message.place)
}

fn watch_request(after: &str, uris: &[&str]) -> WatchRequest {
    WatchRequest { after: after.to_owned(), uris: uris.iter().map(|uri| (*uri).to_owned()).collect() }
}

#[test]
fn whoever_comes_back_goes_on_where_they_were() {
    run(async {
        let local = LocalEngine::new(app());
        let id = create_campaign(&local).await;
        let server = Server::start(&local).await;
        let mut gateway = GatewayClient::new(server.channel());
        let uri = format!("campaign://{id}/participants");
        let mut first = gateway.watch(watch_request("", &[&uri])).await.unwrap().into_inner();
        let (nothing, begun) = next_changes(&mut first).await;
        assert!(nothing.is_empty() && !begun.is_empty(), "the first message says where it begins");
        create_participant(&local, &id).await;
        let (told, reached) = next_changes(&mut first).await;
        assert_eq!(told, [uri.as_str()], "and nothing that was not asked for");
        drop(first);

        create_participant(&local, &id).await;
        let mut back = gateway.watch(watch_request(&reached, &[])).await.unwrap().into_inner();
        assert_eq!(next_changes(&mut back).await, (Vec::new(), reached.clone()));
        let (told, after) = next_changes(&mut back).await;
        assert!(told.contains(&uri) && !told.contains(&"list".to_owned()), "{told:?}");
        assert_ne!(after, reached);
        let mut twice = gateway.watch(watch_request(&begun, &[&uri])).await.unwrap().into_inner();
        next_changes(&mut twice).await;
        assert_eq!(next_changes(&mut twice).await, (vec![uri], after), "both at once, since both were missed");

        let mut lost = gateway.watch(watch_request("0.99.0000000000000000", &[])).await.unwrap().into_inner();
        lost.message().await.unwrap().expect("where it begins");
        assert!(lost.message().await.unwrap().expect("a message").everything);
    });
}

#[test]
fn whoever_watches_a_part_of_a_universe_is_told_of_that_part() {
    run(async {
        let local = LocalEngine::new(app());
        let call = async |operation: &str, input: Value| {
            local.call(&Caller::owner(), operation, input, &RequestControl::default()).await.expect("it is done")
        };
        for id in ["u-1", "u-2"] {
            call("universe", json!({"method": "create", "universeId": id, "name": "Sol"})).await;
        }
        let server = Server::start(&local).await;
        let mut gateway = GatewayClient::new(server.channel());
        let parts = ["universe://u-1/body/sun?t=5", "universe://u-1/summary", "universe://u-3/bodies"];
        let mut stream = gateway.watch(watch_request("", &parts)).await.unwrap().into_inner();
        next_changes(&mut stream).await;
        for id in ["u-2", "u-1"] {
            call("send_universe_command", json!({"universeId": id, "command": {"type": "tick"}})).await;
        }
        assert_eq!(next_changes(&mut stream).await.0, &parts[..2], "each that was asked for and may have changed");
    });
}

#[test]
fn strangers_hear_nothing_and_a_revoked_token_ends_it() {
    run(async {
        let local = LocalEngine::new(app());
        let (theirs, other) = (create_campaign(&local).await, create_campaign(&local).await);
        let server = Server::start(&local).await;
        let mut gateway = GatewayClient::new(server.channel());
        let (secret, id) = create_token(&local, &theirs, CampaignRole::Guest).await;
        let mut stream = gateway.watch(with_token(&secret, watch_request("", &[]))).await.unwrap().into_inner();
        next_changes(&mut stream).await;
        create_participant(&local, &other).await;
        create_participant(&local, &theirs).await;
        let (told, _) = next_changes(&mut stream).await;
        assert!(told.iter().all(|uri| !uri.contains(&other)), "{told:?}");
        assert!(told.contains(&format!("campaign://{theirs}/events")));
        local.app().revoke_token(&id, "a test").await.unwrap();
        // The stream ends without any further change.
        let ended = stream.message().await.unwrap_err();
        assert_eq!(code_and_reason(&ended), (Code::Unauthenticated, "UNAUTHORIZED".to_owned()));
        let most = vec!["campaigns://list"; limits::SUBSCRIPTIONS_MAX];
        next_changes(&mut gateway.watch(watch_request("", &most)).await.unwrap().into_inner()).await;
        let many = vec!["campaigns://list"; limits::SUBSCRIPTIONS_MAX + 1];
        let refused = gateway.watch(watch_request("", &many)).await.unwrap_err();
        assert_eq!(code_and_reason(&refused), (Code::ResourceExhausted, "TOO_LARGE".to_owned()));
    });
}

/// Runs that not everybody may see are announced to those who may, also to whoever watches everything.
#[test]
fn a_hidden_run_is_not_announced_to_players_and_guests() {
    run(async {
        let local = LocalEngine::new(app());
        let campaign_id = create_campaign(&local).await;
        let server = Server::start(&local).await;
        let mut gateway = GatewayClient::new(server.channel());
        let mut streams = Vec::new();
        for (role, uris) in [
            (CampaignRole::Player, &[][..]),
            (CampaignRole::Guest, &[]),
            (CampaignRole::Player, &["stategate://runs/the-ambush/summary", "stategate://runs"]),
        ] {
            let (secret, _) = create_token(&local, &campaign_id, role).await;
            let mut stream = gateway.watch(with_token(&secret, watch_request("", uris))).await.unwrap().into_inner();
            next_changes(&mut stream).await;
            streams.push((stream, uris.is_empty()));
        }
        let mut owners = gateway.watch(watch_request("", &[])).await.unwrap().into_inner();
        next_changes(&mut owners).await;
        let run = json!({"process_id": "exploration-process", "run_id": "the-ambush", "campaign_id": campaign_id});
        local.call(&Caller::owner(), "state_gate.create_run", run, &RequestControl::default()).await.unwrap();
        assert!(next_changes(&mut owners).await.0.contains(&"stategate://runs/the-ambush/summary".to_owned()));
        create_participant(&local, &campaign_id).await;
        for (mut stream, watches_everything) in streams {
            if watches_everything {
                let (told, _) = next_changes(&mut stream).await;
                assert!(told.contains(&format!("campaign://{campaign_id}/events")), "{told:?}");
                assert!(told.iter().all(|uri| !uri.starts_with("stategate:") && uri != "list"), "{told:?}");
            } else {
                let silence = tokio::time::timeout(std::time::Duration::from_millis(300), stream.message()).await;
                assert!(silence.is_err(), "{silence:?}");
            }
        }
    });
}
