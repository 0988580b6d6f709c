//! Tests of reflection and health: names and numbers of services and fields are stable, compared with a snapshot.

use std::fmt::Write;

use prost::Message;
use prost_types::{DescriptorProto, EnumDescriptorProto, FileDescriptorProto, field_descriptor_proto::Type};
use skald_app::LocalEngine;
use tonic::Code;
use tonic::transport::Channel;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;

use crate::server::{Server, app, run};

const SERVICES: [&str; 4] =
    ["campaign.v1.CampaignService", "session.v1.SessionService", "duality.v1.DualityService", "skald.v1.Gateway"];

async fn reflect(client: &mut ServerReflectionClient<Channel>, question: MessageRequest) -> MessageResponse {
    let request = ServerReflectionRequest { host: String::new(), message_request: Some(question) };
    let asked = futures::stream::iter([request]);
    let mut answers = client.server_reflection_info(asked).await.expect("an answer").into_inner();
    answers.message().await.expect("a message").expect("an answer").message_response.expect("something")
}

#[test]
fn names_and_numbers_are_as_promised() {
    run(async {
        let server = Server::start(&LocalEngine::new(app())).await;
        let mut client = ServerReflectionClient::new(server.channel());
        let MessageResponse::ListServicesResponse(listed) =
            reflect(&mut client, MessageRequest::ListServices(String::new())).await
        else {
            panic!("a list of services")
        };
        let mut listed: Vec<String> = listed.service.into_iter().map(|service| service.name).collect();
        listed.sort();
        let mut text = format!("{}\n", listed.join("\n"));
        for service in SERVICES {
            let question = MessageRequest::FileContainingSymbol(service.to_owned());
            let MessageResponse::FileDescriptorResponse(files) = reflect(&mut client, question).await else {
                panic!("a file")
            };
            let file = FileDescriptorProto::decode(&files.file_descriptor_proto[0][..]).unwrap();
            write_file(&file, &mut text);
        }
        insta::assert_snapshot!("protocol", text);
    });
}

fn write_file(file: &FileDescriptorProto, text: &mut String) {
    for service in &file.service {
        writeln!(text, "\n{}.{}", file.package(), service.name()).expect("writing to a string does not fail");
        for rpc in &service.method {
            let stream = if rpc.server_streaming() { "stream " } else { "" };
            let (input, output) = (rpc.input_type(), rpc.output_type());
            writeln!(text, "  {}({input}) -> {stream}{output}", rpc.name()).expect("writing to a string does not fail");
        }
    }
    file.enum_type.iter().for_each(|words| write_enum(words, text));
    file.message_type.iter().for_each(|message| write_message(message, text));
}

fn write_enum(words: &EnumDescriptorProto, text: &mut String) {
    let values: Vec<String> = words.value.iter().map(|word| format!("{}={}", word.name(), word.number())).collect();
    writeln!(text, "enum {}: {}", words.name(), values.join(" ")).expect("writing to a string does not fail");
}

fn write_message(message: &DescriptorProto, text: &mut String) {
    let field = |field: &prost_types::FieldDescriptorProto| {
        let kind = match field.r#type() {
            Type::Message | Type::Enum => field.type_name().to_owned(),
            plain => format!("{plain:?}").to_lowercase(),
        };
        let many = if field.label() == prost_types::field_descriptor_proto::Label::Repeated { "[]" } else { "" };
        let maybe = if field.proto3_optional() { "?" } else { "" };
        format!("{}={}:{kind}{many}{maybe}", field.name(), field.number())
    };
    let fields: Vec<String> = message.field.iter().map(field).collect();
    writeln!(text, "{} {{{}}}", message.name(), fields.join(", ")).expect("writing to a string does not fail");
}

#[test]
fn the_older_reflection_answers_too() {
    run(async {
        use tonic_reflection::pb::v1alpha::server_reflection_client::ServerReflectionClient;
        use tonic_reflection::pb::v1alpha::server_reflection_request::MessageRequest;
        let server = Server::start(&LocalEngine::new(app())).await;
        let mut client = ServerReflectionClient::new(server.channel());
        let message_request = Some(MessageRequest::ListServices(String::new()));
        let request = tonic_reflection::pb::v1alpha::ServerReflectionRequest { host: String::new(), message_request };
        let asked = futures::stream::iter([request]);
        let mut answers = client.server_reflection_info(asked).await.unwrap().into_inner();
        assert!(answers.message().await.unwrap().expect("an answer").message_response.is_some());
    });
}

#[test]
fn health_is_told_of_each_service() {
    run(async {
        let server = Server::start(&LocalEngine::new(app())).await;
        let mut client = HealthClient::new(server.channel());
        let ask = |service: &str| HealthCheckRequest { service: service.to_owned() };
        for is_serving in [true, false, true] {
            server.health.set_serving(is_serving).await;
            let expected = if is_serving { ServingStatus::Serving } else { ServingStatus::NotServing };
            for service in SERVICES.into_iter().chain([""]) {
                let health = client.check(ask(service)).await.unwrap().into_inner();
                assert_eq!(health.status(), expected, "{service}");
            }
        }
        assert_eq!(client.check(ask("no.such.Service")).await.unwrap_err().code(), Code::NotFound);
    });
}
