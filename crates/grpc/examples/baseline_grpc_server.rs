//! A minimal tonic server for comparison: one service with a fixed answer, no layers. `cargo xtask bench` compares the
//! gateway with it, so it uses the gateway's messages.

use std::error::Error;
use std::net::Ipv4Addr;
use std::pin::Pin;

use futures::Stream;
use skald_grpc::proto::skald::gateway_server::{Gateway, GatewayServer};
use skald_grpc::proto::skald::{
    CallRequest, CallResponse, CompleteRequest, CompleteResponse, DescribeRequest, DescribeResponse, EndSessionRequest,
    EndSessionResponse, IdentifyRequest, IdentifyResponse, PromptRequest, PromptResponse, ReadRequest, ReadResponse,
    WatchRequest, WatchResponse,
};
use tokio::net::TcpListener;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};

struct Echo {
    answer: String,
}

fn nothing<T>() -> Result<Response<T>, Status> {
    Err(Status::unimplemented("this is an echo"))
}

#[tonic::async_trait]
impl Gateway for Echo {
    type WatchStream = Pin<Box<dyn Stream<Item = Result<WatchResponse, Status>> + Send>>;

    /// Answers the same bytes as the gateway would.
    async fn call(&self, _: Request<CallRequest>) -> Result<Response<CallResponse>, Status> {
        Ok(Response::new(CallResponse { answer: self.answer.clone() }))
    }

    async fn describe(&self, _: Request<DescribeRequest>) -> Result<Response<DescribeResponse>, Status> {
        nothing()
    }

    async fn read(&self, _: Request<ReadRequest>) -> Result<Response<ReadResponse>, Status> {
        nothing()
    }

    async fn prompt(&self, _: Request<PromptRequest>) -> Result<Response<PromptResponse>, Status> {
        nothing()
    }

    async fn complete(&self, _: Request<CompleteRequest>) -> Result<Response<CompleteResponse>, Status> {
        nothing()
    }

    async fn watch(&self, _: Request<WatchRequest>) -> Result<Response<Self::WatchStream>, Status> {
        nothing()
    }

    async fn identify(&self, _: Request<IdentifyRequest>) -> Result<Response<IdentifyResponse>, Status> {
        nothing()
    }

    async fn end_session(&self, _: Request<EndSessionRequest>) -> Result<Response<EndSessionResponse>, Status> {
        nothing()
    }
}

/// usage: echo PORT ANSWER
#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let port = arguments.next().ok_or("usage: echo PORT ANSWER")?.parse()?;
    let answer = arguments.next().ok_or("usage: echo PORT ANSWER")?;
    let incoming = TcpIncoming::from(TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?).with_nodelay(Some(true));
    Server::builder().add_service(GatewayServer::new(Echo { answer })).serve_with_incoming(incoming).await?;
    Ok(())
}
