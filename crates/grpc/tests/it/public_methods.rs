//! Tests that a server that requires tokens answers only the listed public methods without one.

use prost::Message;
use prost_types::FileDescriptorSet;
use skald_app::{LocalEngine, ToolsetFilter};
use skald_grpc::{MOUNTED_SERVICES, PUBLIC_METHODS};
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Code, Request};
use tonic_prost::ProstCodec;

use crate::server::{Server, app, run};

/// Every method of the services that are mounted, as a path. Fails for a service that has no descriptor here.
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
    let methods: Vec<String> = methods.collect();
    let of_service = |service: &str| methods.iter().filter(|path| path.starts_with(&format!("/{service}/"))).count();
    for service in MOUNTED_SERVICES {
        assert!(of_service(service) > 0, "{service} is mounted, and its methods are not known here");
    }
    assert_eq!(MOUNTED_SERVICES.iter().map(|service| of_service(service)).sum::<usize>(), methods.len(), "{methods:?}");
    methods
}

/// The status of a call without a token. It does not wait for the first message, since some streams have none.
async fn call(channel: Channel, path: &str) -> Code {
    let mut client = tonic::client::Grpc::new(channel);
    client.ready().await.expect("a connection");
    let path = PathAndQuery::try_from(path).expect("a path");
    let answer = client.server_streaming(Request::new(()), path, ProstCodec::<(), ()>::default()).await;
    answer.map_or_else(|status| status.code(), |_| Code::Ok)
}

/// Otherwise the test below would find a method closed that is not there at all.
#[test]
fn every_method_of_the_list_is_mounted() {
    run(async {
        let server = Server::start_with(LocalEngine::new(app()), false, ToolsetFilter::EVERYTHING).await;
        for path in methods() {
            assert_ne!(call(server.channel(), &path).await, Code::Unimplemented, "{path}");
        }
        assert_eq!(call(server.channel(), "/skald.v1.Gateway/Nothing").await, Code::Unimplemented);
    });
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
