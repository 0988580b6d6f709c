//! Routes about the caller and the API: profile, version, health, visibilities, kinds.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};
use skald_app::{Principal, limits};

use super::ApiContext;
use super::entity_json::module;
use super::envelope::{page_of_all, single};
use super::errors::{ApiResult, json_response};
use super::rate_limit::RequestAllowance;
use super::request::ApiRequest;
use crate::ENTITY_KINDS;

/// Numbers of users fit 31 bits. 1 is the owner.
const USER_ID_MAX: u64 = 2_000_000_000;

/// The number and the name of a principal.
pub(super) fn user_of(principal: &Principal) -> (u64, &str) {
    match principal {
        Principal::Owner => (1, "owner"),
        Principal::Holder(holder) => (number_of_text(&holder.id) % USER_ID_MAX + 2, &holder.name),
    }
}

/// A number that follows from a text (FNV-1a).
pub(super) fn number_of_text(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

pub(super) fn user_json(id: u64, name: &str) -> Value {
    json!({"id": id, "name": name, "avatar": null, "avatar_thumb": null})
}

impl ApiContext {
    pub(super) async fn profile(&self, request: &ApiRequest, allowance: &RequestAllowance) -> ApiResult<Response> {
        let campaigns = self.list_campaigns(request, json!({})).await?;
        let (id, name) = user_of(&request.caller.principal);
        let profile = json!({
            "id": id,
            "name": name,
            "avatar": null,
            "avatar_thumb": null,
            "locale": "en",
            "timezone": "UTC",
            "date_format": "Y-m-d",
            "default_pagination": limits::KANKA_PAGE_ROWS,
            "theme": null,
            "is_patreon": false,
            "is_subscriber": true,
            "last_campaign_id": campaigns.first().map_or(0, |campaign| campaign.number),
            "rate_limit": allowance.limit,
        });
        Ok(single(request, profile))
    }

    pub(super) fn visibilities(request: &ApiRequest) -> Response {
        let codes = ["all", "admin", "admin-self", "self", "members"];
        let rows = (1..).zip(codes).map(|(id, code): (u64, _)| json!({"id": id, "code": code}));
        page_of_all(request, rows.collect(), None)
    }

    pub(super) fn entity_types(request: &ApiRequest) -> Response {
        page_of_all(request, ENTITY_KINDS.iter().map(module).collect(), None)
    }

    pub(super) fn version() -> Response {
        json_response(StatusCode::OK, &json!({"version": env!("CARGO_PKG_VERSION"), "api": "1.0", "name": "skald"}))
    }

    pub(super) fn health() -> Response {
        json_response(StatusCode::OK, &json!({"status": "ok"}))
    }
}
