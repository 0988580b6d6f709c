//! Tests that gRPC has no secret of others: every method of the typed services, with every role, and the stream of changes.
//!
//! The methods and their fields are those of the descriptors, so a new method is asked for without a line here. The
//! gateway's methods answer what the operations answer; a test of the binary walks over them through a bridge.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use prost::Message;
use prost::bytes::{Buf, BufMut};
use prost_types::field_descriptor_proto::Type;
use prost_types::{DescriptorProto, FileDescriptorSet};
use serde_json::{Value, json};
use skald_app::{
    Caller, CampaignRole, Engine, LocalEngine, NewToken, PrincipalKind, RequestControl, TokenRestrictions,
};
use skald_grpc::proto::skald::change::What;
use skald_grpc::proto::skald::gateway_client::GatewayClient;
use skald_grpc::proto::skald::{WatchRequest, WatchResponse};
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Code, Request, Status, Streaming};

use crate::server::{Server, app, run};

/// In secrets of game masters.
const GM_MARKER: &str = "qzgm";
/// In secrets of Ana.
const ANA_MARKER: &str = "qzana";
/// In what every member may see.
const MEMBER_MARKER: &str = "qzmember";
/// Silence after which a stream has sent what it had.
const SILENCE: Duration = Duration::from_millis(300);

/// Messages as bytes.
#[derive(Default)]
struct RawCodec;

impl Codec for RawCodec {
    type Encode = Vec<u8>;
    type Decode = Vec<u8>;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for RawCodec {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, message: Vec<u8>, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put_slice(&message);
        Ok(())
    }
}

impl Decoder for RawCodec {
    type Item = Vec<u8>;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Vec<u8>>, Status> {
        let mut message = vec![0; buffer.remaining()];
        buffer.copy_to_slice(&mut message);
        Ok(Some(message))
    }
}

/// The methods of the typed services, each with the fields of its request.
fn typed_methods() -> Vec<(String, DescriptorProto)> {
    let files = FileDescriptorSet::decode(skald_grpc::proto::DESCRIPTORS).expect("descriptors").file;
    let mut methods = Vec::new();
    for file in files.iter().filter(|file| !file.package().starts_with("skald.")) {
        for service in &file.service {
            for method in &service.method {
                let request = method.input_type().rsplit('.').next().expect("a name");
                let request = file.message_type.iter().find(|message| message.name() == request);
                let path = format!("/{}.{}/{}", file.package(), service.name(), method.name());
                methods.push((path, request.expect("a message of the file").clone()));
            }
        }
    }
    methods
}

/// A request with a value in every text and number, as bytes.
fn fill_request(request: &DescriptorProto, values: &BTreeMap<&str, String>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for field in &request.field {
        let tag = u64::try_from(field.number()).expect("a number") << 3;
        match field.r#type() {
            Type::String => {
                let text = values.get(field.name()).map_or("x", String::as_str);
                prost::encoding::encode_varint(tag | 2, &mut bytes);
                prost::encoding::encode_varint(text.len() as u64, &mut bytes);
                bytes.extend_from_slice(text.as_bytes());
            }
            Type::Int32 | Type::Int64 | Type::Uint32 | Type::Uint64 | Type::Enum => {
                prost::encoding::encode_varint(tag, &mut bytes);
                prost::encoding::encode_varint(1, &mut bytes);
            }
            // Left out: no request has to have them.
            _ => {}
        }
    }
    bytes
}

/// A campaign with secrets, and the metadata of everybody who asks.
struct SecretCampaign {
    local: Arc<LocalEngine>,
    campaign_id: String,
    values: BTreeMap<&'static str, String>,
    callers: Vec<(&'static str, Option<(&'static str, String)>)>,
}

impl SecretCampaign {
    async fn new() -> Self {
        let local = LocalEngine::new(app());
        let call = async |operation: &str, input: Value| {
            let answer = local.call(&Caller::owner(), operation, input.clone(), &RequestControl::default()).await;
            answer.unwrap_or_else(|fault| panic!("{operation} {input}: {fault}"))
        };
        let id = |answer: &Value| answer["id"].as_str().expect("an id").to_owned();
        let campaign = json!({"name": format!("Bells {MEMBER_MARKER}"), "gm_mode": "HUMAN"});
        let campaign_id = id(&call("campaign_create", campaign).await);
        let elsewhere = id(&call("campaign_create", json!({"name": "Elsewhere", "gm_mode": "HUMAN"})).await);
        let in_campaign = |mut input: Value| {
            input["campaign_id"] = campaign_id.as_str().into();
            input
        };
        let ana = json!({"display_name": "Ana", "role": "PLAYER"});
        let ana = id(&call("participant_create", in_campaign(ana)).await);
        let actor = json!({
            "name": "Mira", "kind": "PC", "controller": "Ana", "notes": GM_MARKER, "notes_visible_to": ["gm"]
        });
        let actor = id(&call("actor_create", in_campaign(actor)).await);
        let session = json!({"name": format!("Low tide {MEMBER_MARKER}")});
        let session = id(&call("session_start", in_campaign(session)).await);
        let tracker = |name: &str, who: &str, owner: &str, id: &str| {
            let mut tracker = json!({"name": name, "value": 1, "visible_to": [who]});
            tracker[owner] = id.into();
            tracker
        };
        let trackers = json!([
            tracker(GM_MARKER, "gm", "actor_id", &actor),
            tracker(GM_MARKER, "gm", "participant_id", &ana),
            tracker(ANA_MARKER, "Ana", "actor_id", &actor),
            tracker(ANA_MARKER, "Ana", "participant_id", &ana),
        ]);
        call("tracker", in_campaign(json!({"method": "set", "trackers": trackers}))).await;
        let values = BTreeMap::from([
            ("campaign_id", campaign_id.clone()),
            ("actor_id", actor),
            ("participant_id", ana),
            ("session_id", session),
            ("id", campaign_id.clone()),
        ]);
        let mut world = Self { local, campaign_id: campaign_id.clone(), values, callers: Vec::new() };
        let forwarded = Some(("x-forwarded-for", "203.0.113.5".to_owned()));
        world.callers.extend([("owner", None), ("nobody", forwarded)]);
        let members = [
            ("gm", CampaignRole::Gm, &campaign_id, None),
            ("Ana", CampaignRole::Player, &campaign_id, Some("Ana")),
            ("player", CampaignRole::Player, &campaign_id, None),
            ("guest", CampaignRole::Guest, &campaign_id, None),
            ("stranger", CampaignRole::Gm, &elsewhere, None),
        ];
        for (name, role, campaign_id, participant) in members {
            let token = world.create_token(name, role, campaign_id, participant).await;
            world.callers.push((name, Some(("authorization", format!("Bearer {token}")))));
        }
        world
    }

    async fn create_token(&self, name: &str, role: CampaignRole, campaign: &str, participant: Option<&str>) -> String {
        let new = NewToken {
            name: name.to_owned(),
            person: None,
            kind: PrincipalKind::Human,
            roles: [(campaign.to_owned(), role)].into(),
            participants: participant.into_iter().map(str::to_owned).collect(),
            gate_role: None,
            restrictions: TokenRestrictions::default(),
            subject: None,
            program: "a test".to_owned(),
        };
        self.local.app().create_token(new).await.expect("a token").0
    }

    async fn call(&self, operation: &str, mut input: Value) {
        input["campaign_id"] = self.campaign_id.as_str().into();
        let answer = self.local.call(&Caller::owner(), operation, input.clone(), &RequestControl::default()).await;
        answer.unwrap_or_else(|fault| panic!("{operation} {input}: {fault}"));
    }
}

fn with_metadata<T>(metadata: Option<&(&'static str, String)>, message: T) -> Request<T> {
    let mut request = Request::new(message);
    if let Some((name, value)) = metadata {
        request.metadata_mut().insert(*name, value.parse().expect("it is plain"));
    }
    request
}

/// All messages that answer a request, or the status, as text. Strings are in a message as they are.
async fn ask(channel: Channel, path: &str, request: Request<Vec<u8>>) -> (Code, String) {
    let mut client = tonic::client::Grpc::new(channel);
    client.ready().await.expect("a connection");
    let path = PathAndQuery::try_from(path).expect("a path");
    match client.server_streaming(request, path, RawCodec).await {
        Err(status) => (status.code(), format!("{status:?} {}", String::from_utf8_lossy(status.details()))),
        Ok(answer) => {
            let (mut stream, mut text, mut code) = (answer.into_inner(), String::new(), Code::Ok);
            loop {
                match tokio::time::timeout(SILENCE, stream.message()).await {
                    Ok(Ok(Some(message))) => text.push_str(&String::from_utf8_lossy(&message)),
                    Ok(Err(status)) => {
                        let _ = write!(text, "{status:?} ");
                        text.push_str(&String::from_utf8_lossy(status.details()));
                        code = status.code();
                        break;
                    }
                    Ok(Ok(None)) | Err(_) => break,
                }
            }
            (code, text)
        }
    }
}

#[test]
fn no_typed_method_answers_a_secret_of_others() {
    run(async {
        let world = SecretCampaign::new().await;
        let server = Server::start(&world.local).await;
        let methods = typed_methods();
        assert!(methods.len() >= 18, "{methods:?}");
        for (role, metadata) in &world.callers {
            let (mut seen, mut answered) = (BTreeSet::new(), 0);
            for (path, request) in &methods {
                for message in [Vec::new(), fill_request(request, &world.values)] {
                    let request = with_metadata(metadata.as_ref(), message);
                    let (code, text) = ask(server.channel(), path, request).await;
                    assert!(!matches!(code, Code::Internal | Code::Unknown), "{role} {path}: {text}");
                    assert_eq!(code == Code::Unauthenticated, *role == "nobody", "{role} {path}: {text}");
                    answered += usize::from(code == Code::Ok);
                    let markers = [GM_MARKER, ANA_MARKER, MEMBER_MARKER].into_iter();
                    seen.extend(markers.filter(|marker| text.contains(marker)));
                }
            }
            let allowed: &[&str] = match *role {
                "owner" | "gm" => &[GM_MARKER, ANA_MARKER, MEMBER_MARKER],
                "Ana" => &[ANA_MARKER, MEMBER_MARKER],
                "player" | "guest" => &[MEMBER_MARKER],
                _ => &[],
            };
            let wrong: Vec<_> = seen.iter().filter(|marker| !allowed.contains(marker)).collect();
            assert!(wrong.is_empty(), "{role} sees {wrong:?}");
            assert_eq!(seen.contains(MEMBER_MARKER), allowed.contains(&MEMBER_MARKER), "{role} sees {seen:?}");
            assert!(answered > 5 || *role == "nobody", "{role} was answered {answered} times");
        }
    });
}

/// The resources that a stream reports as changed, up to the campaign itself.
async fn changed_uris(stream: &mut Streaming<WatchResponse>, campaign: &str) -> BTreeSet<String> {
    let mut uris = BTreeSet::new();
    while !uris.contains(campaign) {
        let message = stream.message().await.expect("no fault").expect("a message");
        assert!(!format!("{message:?}").contains("qz"), "{message:?}");
        uris.extend(message.changes.into_iter().map(|change| match change.what {
            Some(What::Resource(uri)) => uri,
            _ => "list".to_owned(),
        }));
    }
    uris
}

#[test]
fn a_watch_does_not_tell_of_secrets_of_others() {
    run(async {
        let world = SecretCampaign::new().await;
        let server = Server::start(&world.local).await;
        let mut gateway = GatewayClient::new(server.channel());
        let mut streams = Vec::new();
        for (role, metadata) in &world.callers {
            match gateway.watch(with_metadata(metadata.as_ref(), WatchRequest::default())).await {
                Ok(opened) => {
                    let mut stream = opened.into_inner();
                    stream.message().await.expect("no fault").expect("the place where it begins");
                    streams.push((*role, stream));
                }
                Err(status) => assert_eq!((*role, status.code()), ("nobody", Code::Unauthenticated)),
            }
        }
        let campaign = format!("campaign://{}", world.campaign_id);
        world.call("campaign_update", json!({"theme_prompt": "ebb"})).await;
        let mut usual = BTreeMap::new();
        for (role, stream) in streams.iter_mut().filter(|(role, _)| *role != "stranger") {
            usual.insert(*role, changed_uris(stream, &campaign).await);
        }
        world.call("session_note", json!({"text": GM_MARKER, "visible_to": ["gm"]})).await;
        let tracker = json!([{"name": format!("{GM_MARKER} doom"), "value": 1, "visible_to": ["gm"]}]);
        world.call("tracker", json!({"method": "set", "trackers": tracker})).await;
        let event = json!({"method": "add", "date": "1205", "description": GM_MARKER, "is_player_known": false});
        world.call("timeline", event).await;
        let hidden = json!([{"entity_type": "note", "name": GM_MARKER, "is_private": true}]);
        world.call("create_entities", json!({"entities": hidden})).await;
        world.call("campaign_update", json!({"theme_prompt": "neap"})).await;
        for (role, stream) in &mut streams {
            if *role == "stranger" {
                let message = tokio::time::timeout(SILENCE, stream.message()).await;
                assert!(message.is_err(), "a stranger is told {message:?}");
                continue;
            }
            let with_secrets = changed_uris(stream, &campaign).await;
            let more: Vec<&String> = with_secrets.difference(&usual[*role]).collect();
            assert_eq!(!more.is_empty(), matches!(*role, "owner" | "gm"), "{role} is told of {more:?}");
        }
    });
}
