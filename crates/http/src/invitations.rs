//! The public route that redeems the code of an invitation for a token.

use std::time::Duration;

use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::header::CACHE_CONTROL;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use serde_json::Value;
use skald_app::{Code, Fault, FaultShape, limits};

use crate::fault;
use crate::routes::{Rest, json_response};

/// Where a code is redeemed.
pub(crate) const REDEEM: &str = "/api/v1/invitations/redeem";

pub(crate) async fn redeem(State(rest): State<Rest>, request: Request) -> Response {
    let _call = rest.calls.begin();
    match redeem_code(&rest, request).await {
        Ok(mut response) => {
            *response.status_mut() = StatusCode::CREATED;
            response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
            response
        }
        Err(fault) => fault::response(FaultShape::Object, &fault),
    }
}

/// Reads the code from the body. The caller has no token yet, so the body has a low limit and a deadline.
async fn redeem_code(rest: &Rest, request: Request) -> Result<Response, Fault> {
    let most = limits::REDEEM_BODY_BYTES_MAX;
    let body = to_bytes(request.into_body(), most);
    let body = tokio::time::timeout(Duration::from_secs(limits::BODY_READ_SECONDS), body).await;
    let body = body
        .ok()
        .and_then(Result::ok)
        .ok_or_else(|| Fault::new(Code::TooLarge, format!("the body cannot be read, or has more than {most} bytes")))?;
    let code = parse_code(&body).ok_or_else(|| {
        // The cause stays out of the fault: it might contain the code.
        Fault::new(Code::InvalidParams, "the body is not an object with the code alone").hint(r#"send {"code": "…"}"#)
    })?;
    let redeemed = rest.engine.redeem_invitation(&code, "POST /api/v1/invitations/redeem").await?;
    let json =
        serde_json::to_vec(&redeemed).map_err(|_| Fault::new(Code::InternalError, "the token cannot be told"))?;
    Ok(json_response(vec![json.into()]))
}

/// The code in the body, which has nothing else.
fn parse_code(body: &[u8]) -> Option<String> {
    match serde_json::from_slice(body).ok()? {
        Value::Object(mut fields) if fields.len() == 1 => match fields.remove("code")? {
            Value::String(code) => Some(code),
            _ => None,
        },
        _ => None,
    }
}
