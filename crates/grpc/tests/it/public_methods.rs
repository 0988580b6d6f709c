//! Tests that a server that requires tokens answers only the listed public methods without one.

use prost::Message;
use prost_types::FileDescriptorSet;
use skald_app::{LocalEngine, ToolsetFilter};
use skald_grpc::PUBLIC_METHODS;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Code, Request};
use tonic_prost::ProstCodec;

use crate::server::{Server, app, run};

/// Every method of the services that are mounted, as a path.
fn methods() -> Vec<String> {
    let sets = [
        skald_grpc::proto::DESCRIPTORS,
        tonic_health::pb::FILE_DESCRIPTOR_SET,
        tonic_reflection::pb::v1::FILE_DESCRIPTOR_SET,
        tonic_reflection::pb::v1alpha::FILE_DESCRIPTOR_SET,
    ];
    let files = sets.into_iter().flat_map(|set| FileDescriptorSet::decode(set).expect("descriptors").file);
    let methods = files.flat_map(|file| {
        let package = file.package().to_owned();
        file.service.into_iter().flat_map(move |service| {
            let name = format!("/{package}.{}", service.name());
            service.method.into_iter().map(move |method| format!("{name}/{}", method.name()))
        })
    });
    methods.collect()
}

/// The status of a call without a token. It does not wait for the first message, since some streams have none.
async fn call(channel: Channel, path: &str) -> Code {
    let mut client = tonic::client::Grpc::new(channel);
    client.ready().await.expect("a connection");
    let path = PathAndQuery::try_from(path).expect("a path");
    let answer = client.server_streaming(Request::new(()), path, ProstCodec::<(), ()>::default()).await;
    answer.map_or_else(|status| status.code(), |_| Code::Ok)
}

#[test]
fn only_the_public_methods_answer_without_a_token() {
    run(async {
        let server = Server::start_with(LocalEngine::new(app()), true, ToolsetFilter::EVERYTHING).await;
        let mut methods = methods();
        for path in PUBLIC_METHODS.into_iter().chain(["/skald.v1.Gateway/Call", "/duality.v1.DualityService/RollDice"])
        {
            assert!(methods.iter().any(|method| method == path), "{path} is not among {methods:?}");
        }
        methods.extend(["/grpc.health.v1.Health/List", "/skald.v1.Gateway/Nothing", "/nowhere"].map(str::to_owned));
        for path in methods {
            let code = call(server.channel(), &path).await;
            let expected = if PUBLIC_METHODS.contains(&path.as_str()) { Code::Ok } else { Code::Unauthenticated };
            assert_eq!(code, expected, "{path}");
        }
    });
}
