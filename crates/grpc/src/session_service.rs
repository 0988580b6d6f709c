//! `session.v1`: the service for play sessions, converted to operations.

use std::sync::Arc;

use serde_json::json;
use tonic::{Request, Response, Status};

use crate::convert::{AnswerFields, PageRequest};
use crate::fault::into_status;
use crate::proto::session::session_service_server::SessionService;
use crate::proto::session::{
    GetSessionRequest, GetSessionResponse, ListSessionsRequest, ListSessionsResponse, Session, SessionStatus,
    StartSessionRequest, StartSessionResponse,
};
use crate::service_context::{CallContext, ServiceContext};

pub(crate) struct SessionHandlers(pub Arc<ServiceContext>);

#[tonic::async_trait]
impl SessionService for SessionHandlers {
    async fn start_session(
        &self,
        request: Request<StartSessionRequest>,
    ) -> Result<Response<StartSessionResponse>, Status> {
        let started = self.0.call_typed(
            request,
            "session_start",
            |message| json!({"campaign_id": message.campaign_id, "name": message.name}),
        );
        Ok(Response::new(StartSessionResponse { session: Some(session(AnswerFields(&started.await?))) }))
    }

    async fn list_sessions(
        &self,
        request: Request<ListSessionsRequest>,
    ) -> Result<Response<ListSessionsResponse>, Status> {
        let page = self.0.read_page(request, |message| PageRequest {
            view: "sessions",
            campaign_id: Some(message.campaign_id),
            size: message.page_size,
            token: message.page_token,
        });
        let page = page.await?;
        let sessions = AnswerFields(&page).rows("sessions").map(session).collect();
        Ok(Response::new(ListSessionsResponse { sessions, next_page_token: AnswerFields(&page).text("next_cursor") }))
    }

    async fn get_session(&self, request: Request<GetSessionRequest>) -> Result<Response<GetSessionResponse>, Status> {
        let call_context = CallContext::from_request(&request)?;
        let GetSessionRequest { campaign_id, session_id } = request.into_inner();
        let row = self.0.find_row(&call_context, "session", &campaign_id, &session_id).await;
        let row = row.map_err(into_status)?;
        Ok(Response::new(GetSessionResponse { session: Some(session(AnswerFields(&row))) }))
    }
}

fn session(answer: AnswerFields) -> Session {
    let count = |name| answer.field(name).0.as_i64().unwrap_or_default();
    let ended_at = answer.timestamp("ended_at");
    Session {
        id: answer.text("id"),
        campaign_id: answer.text("campaign_id"),
        name: answer.text("name"),
        status: answer.enum_number("status", SessionStatus::from_str_name, ""),
        started_at: answer.timestamp("started_at"),
        updated_at: answer.timestamp("updated_at"),
        version: 1 + count("note_count") + count("roll_count") + i64::from(ended_at.is_some()),
        ended_at,
    }
}
