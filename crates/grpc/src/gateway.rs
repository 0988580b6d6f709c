//! The gateway service: calls any operation of the catalogue, for bridges and for programs that want all of it.

use std::sync::Arc;

use futures::stream::BoxStream;
use serde_json::{Map, Value};
use skald_app::{
    Code, CompletionRequest, CompletionTarget, Fault, OperationKind, Principal, RateClass, parse_json, reserve_values,
};
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status};

use crate::fault::into_status;
use crate::message_budget::AnswerReservation;
use crate::proto::skald::complete_request::Target;
use crate::proto::skald::gateway_server::Gateway;
use crate::proto::skald::{
    CallRequest, CallResponse, CompleteRequest, CompleteResponse, DescribeRequest, DescribeResponse, EndSessionRequest,
    EndSessionResponse, Holder, IdentifyRequest, IdentifyResponse, Operation, Owner, PromptArgument, PromptDescription,
    PromptRequest, PromptResponse, ReadRequest, ReadResponse, Resource, WatchRequest, WatchResponse, identify_response,
};
use crate::service_context::{self, CallContext, ServiceContext};
use crate::{metadata, watch_resource_changes};

pub(crate) struct GatewayService {
    pub service_context: Arc<ServiceContext>,
    /// Cancelled when the server begins to stop: watch streams end then.
    pub stopping: CancellationToken,
}

#[tonic::async_trait]
impl Gateway for GatewayService {
    type WatchStream = BoxStream<'static, Result<WatchResponse, Status>>;

    async fn describe(&self, request: Request<DescribeRequest>) -> Result<Response<DescribeResponse>, Status> {
        let call_context = CallContext::from_request(&request)?;
        self.service_context.engine.check_rate(&call_context.caller, RateClass::List).map_err(into_status)?;
        Ok(Response::new(self.description()))
    }

    async fn call(&self, request: Request<CallRequest>) -> Result<Response<CallResponse>, Status> {
        let call_context = CallContext::from_request(&request)?;
        let CallRequest { operation, input } = request.into_inner();
        // Reserved until the call is answered, since the parsed input lives that long.
        let _values = reserve_values(input.as_bytes()).await.map_err(into_status)?;
        let input = if input.trim_ascii().is_empty() {
            Value::Object(Map::new())
        } else {
            parse_json(input.as_bytes()).map_err(into_status)?
        };
        let answer = self.service_context.answer(&call_context, &operation, input).await.map_err(into_status)?;
        let room = AnswerReservation::reserve(answer.document_len()).await.map_err(into_status)?;
        let mut response = Response::new(CallResponse { answer: answer.into_text() });
        room.map(|room| response.extensions_mut().insert(room));
        metadata::put_revision(response.metadata_mut(), call_context.control.revision.get());
        Ok(response)
    }

    async fn read(&self, request: Request<ReadRequest>) -> Result<Response<ReadResponse>, Status> {
        let call_context = CallContext::from_request(&request)?;
        let ReadRequest { uri } = request.into_inner();
        let (resource, _) = self.service_context.engine.catalogue().resolve(&uri).map_err(into_status)?;
        self.service_context.check_visible("resource", &uri, resource.toolset).map_err(into_status)?;
        let contents = self
            .service_context
            .engine
            .read(&call_context.caller, &uri, &call_context.control)
            .await
            .map_err(into_status)?;
        let room = AnswerReservation::reserve(contents.text_len()).await.map_err(into_status)?;
        let mut response =
            Response::new(ReadResponse { mime_type: contents.mime_type.to_owned(), text: contents.into_text() });
        room.map(|room| response.extensions_mut().insert(room));
        metadata::put_revision(response.metadata_mut(), call_context.control.revision.get());
        Ok(response)
    }

    async fn prompt(&self, request: Request<PromptRequest>) -> Result<Response<PromptResponse>, Status> {
        let call_context = CallContext::from_request(&request)?;
        let PromptRequest { name, arguments } = request.into_inner();
        let entry = self.service_context.engine.catalogue().prompt(&name).map_err(into_status)?;
        self.service_context.check_visible("prompt", &name, entry.toolset).map_err(into_status)?;
        let arguments: Vec<(String, String)> =
            arguments.into_iter().map(|argument| (argument.name, argument.value)).collect();
        let engine = &self.service_context.engine;
        let text = engine.render(&call_context.caller, &name, &arguments, &call_context.control).await;
        let text = text.map_err(into_status)?;
        Ok(Response::new(PromptResponse { text }))
    }

    async fn complete(&self, request: Request<CompleteRequest>) -> Result<Response<CompleteResponse>, Status> {
        let call_context = CallContext::from_request(&request)?;
        let CompleteRequest { target, argument, typed, given } = request.into_inner();
        let target = match target {
            Some(Target::Prompt(name)) => CompletionTarget::Prompt(name),
            Some(Target::Resource(uri)) => CompletionTarget::Resource(uri),
            None => {
                let fault =
                    Fault::new(Code::InvalidParams, "it is not said what is being completed").with_path("/target");
                return Err(into_status(fault.hint("name a prompt or a resource template")));
            }
        };
        let toolset = self.service_context.engine.catalogue().toolset_of(&target).map_err(into_status)?;
        self.service_context.check_visible("argument", &argument, toolset).map_err(into_status)?;
        let given = given.into_iter().map(|argument| (argument.name, argument.value)).collect();
        let request = CompletionRequest { target, argument, typed, given };
        let engine = &self.service_context.engine;
        engine.check_rate(&call_context.caller, RateClass::Read).map_err(into_status)?;
        let completion = engine.complete(&call_context.caller, &request, &call_context.control).await;
        let completion = completion.map_err(into_status)?;
        Ok(Response::new(CompleteResponse { values: completion.values, total: completion.total as u64 }))
    }

    async fn watch(&self, request: Request<WatchRequest>) -> Result<Response<Self::WatchStream>, Status> {
        let caller = service_context::caller(&request)?;
        self.service_context.engine.check_rate(&caller, RateClass::Read).map_err(into_status)?;
        let stream = watch_resource_changes::open_stream(
            Arc::clone(&self.service_context),
            caller,
            request.into_inner(),
            self.stopping.clone(),
        )
        .await;
        Ok(Response::new(stream?))
    }

    /// Counts against no limit: it does no more than the check of the token, which comes before every request and before
    /// every refusal. A bridge identifies the caller of each of its requests, which are counted themselves.
    async fn identify(&self, request: Request<IdentifyRequest>) -> Result<Response<IdentifyResponse>, Status> {
        let caller = service_context::caller(&request)?;
        let principal = match &caller.principal {
            Principal::Owner => identify_response::Principal::Owner(Owner {}),
            Principal::Holder(holder) => identify_response::Principal::Holder(holder_message(holder)),
        };
        Ok(Response::new(IdentifyResponse { principal: Some(principal) }))
    }

    async fn end_session(&self, request: Request<EndSessionRequest>) -> Result<Response<EndSessionResponse>, Status> {
        let caller = service_context::caller(&request)?;
        self.service_context.engine.check_rate(&caller, RateClass::Call).map_err(into_status)?;
        self.service_context.engine.end_session(&caller.conversation);
        Ok(Response::new(EndSessionResponse {}))
    }
}

/// The holder of a token as a message, without the token.
fn holder_message(holder: &skald_app::Holder) -> Holder {
    Holder {
        id: holder.id.clone(),
        name: holder.name.clone(),
        kind: holder.kind.as_str().to_owned(),
        roles: holder.roles.all().into_iter().map(|(campaign, role)| (campaign, role.as_str().to_owned())).collect(),
        gate_role: holder.gate_role.clone(),
        participants: holder.participants.iter().cloned().collect(),
    }
}

impl GatewayService {
    fn description(&self) -> DescribeResponse {
        let (catalogue, visible) = (self.service_context.engine.catalogue(), self.service_context.visible);
        let json = |schema: &Map<String, Value>| serde_json::to_string(schema).unwrap_or_default();
        let operations = catalogue.operations().iter().filter(|entry| visible.admits(entry)).map(|entry| Operation {
            name: entry.name.to_owned(),
            title: entry.title.to_owned(),
            summary: entry.summary.to_owned(),
            toolset: entry.toolset.name().to_owned(),
            is_read: entry.kind == OperationKind::Read,
            input_schema: json(&entry.input),
            output_schema: json(&entry.output),
        });
        let resources = catalogue.resources().iter().filter(|resource| visible.toolsets.contains(resource.toolset));
        let prompts = catalogue.prompts().iter().filter(|prompt| visible.toolsets.contains(prompt.toolset));
        DescribeResponse {
            name: "skald".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            operations: operations.collect(),
            resources: resources.map(resource).collect(),
            prompts: prompts.map(prompt).collect(),
        }
    }
}

fn resource(resource: &skald_app::Resource) -> Resource {
    Resource {
        uri: resource.uri.to_owned(),
        title: resource.title.to_owned(),
        summary: resource.summary.to_owned(),
        mime_type: resource.mime_type.to_owned(),
    }
}

fn prompt(entry: &skald_app::PromptEntry) -> PromptDescription {
    let arguments = entry.arguments.iter().map(|argument| PromptArgument {
        name: argument.name.clone(),
        summary: argument.summary.clone(),
        required: argument.required,
    });
    PromptDescription {
        name: entry.name.to_owned(),
        title: entry.title.to_owned(),
        summary: entry.summary.to_owned(),
        arguments: arguments.collect(),
    }
}
