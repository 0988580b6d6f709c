//! The routes of `/entities`: entities of all kinds by their number in the campaign.

use axum::http::Method;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Map, Value, json};
use skald_app::limits;

use super::ApiContext;
use super::engine_calls::RowDetail;
use super::entity_json::{entity_row, related_fields, typed_row};
use super::envelope::{ListedPage, page, page_number, page_of_all, single};
use super::errors::{ApiError, ApiResult, json_response};
use super::filters::entities_filter;
use super::listed_rows::{EntityPage, ListedCampaign, ListedEntity};
use super::request::ApiRequest;
use super::request_fields::required_name;
use super::tags::tag_json;
use crate::{ENTITY_KINDS, EntityKind};

/// How many entities `/entities/recent` answers, at most and by default.
const RECENT_MAX: usize = 10;

impl ApiContext {
    pub(super) async fn entity_collection(
        &self,
        request: &ApiRequest,
        campaign: &ListedCampaign,
    ) -> ApiResult<Response> {
        match request.method {
            Method::GET => {
                let (filter, detail) = (entities_filter(request), list_detail(request));
                let found = self.list_entities(request, campaign, filter, (page_number(request), detail));
                Ok(entity_page(request, campaign, found.await?))
            }
            Method::POST => self.create_in_bulk(request, campaign, None).await,
            _ => Err(request.no_method("GET, POST")),
        }
    }

    pub(super) async fn recent_list(&self, request: &ApiRequest, campaign: &ListedCampaign) -> ApiResult<Response> {
        let asked = request.parameter("amount").and_then(|text| text.parse().ok()).unwrap_or(RECENT_MAX);
        let found = self.recent_entities(request, campaign, asked.clamp(1, RECENT_MAX)).await?;
        let rows = found.rows.iter().map(|entity| Value::Object(entity_row(request, campaign, entity))).collect();
        Ok(page_of_all(request, rows, Some(&found.read_at)))
    }

    pub(super) async fn archived_list(&self, request: &ApiRequest, campaign: &ListedCampaign) -> ApiResult<Response> {
        let mut filter = json!({"archived": true});
        if let Some(since) = request.parameter("lastSync") {
            filter["updated_after"] = json!(since);
        }
        let place = (page_number(request), list_detail(request));
        let found = self.list_entities(request, campaign, filter, place).await?;
        Ok(entity_page(request, campaign, found))
    }

    pub(super) async fn entity_item(
        &self,
        request: &ApiRequest,
        campaign: &ListedCampaign,
        entity_id: u64,
    ) -> ApiResult<Response> {
        let entity = self.get_entity(request, campaign, entity_id, RowDetail::Related).await?;
        match request.method {
            Method::GET => Ok(single(request, whole_entity(request, campaign, &entity))),
            // Kanka takes no tags here.
            Method::PUT | Method::PATCH => {
                let entity = self.update_entity(request, campaign, &entity, false).await?;
                Ok(single(request, whole_entity(request, campaign, &entity)))
            }
            _ => {
                let kind = entity.kind();
                Err(ApiError::no_method(
                    request.method.as_str(),
                    &format!("{}; delete {}/{} instead", request.path, kind.plural, entity.typed_id()),
                    "GET, PUT, PATCH",
                ))
            }
        }
    }

    /// Creates up to 20 entities: all of them, or none.
    pub(super) async fn create_in_bulk(
        &self,
        request: &ApiRequest,
        campaign: &ListedCampaign,
        type_id: Option<u64>,
    ) -> ApiResult<Response> {
        let most = limits::KANKA_BULK_ENTITIES_MAX;
        let Some(Value::Array(items)) = request.body().get("entities") else {
            return Err(ApiError::invalid_field("entities", "the entities field is required", "send a list of them"));
        };
        if items.is_empty() || items.len() > most {
            let message = format!("entities has {} items, allowed: 1 to {most}", items.len());
            return Err(ApiError::invalid_field("entities", message, "send them in several requests"));
        }
        let mut changes = Vec::with_capacity(items.len());
        for item in items {
            let Value::Object(body) = item else {
                return Err(ApiError::invalid_field("entities", "an entity is an object", "send {\"name\": …}"));
            };
            let kind = bulk_kind(type_id, body)?;
            changes.push(if kind.code == "tag" {
                json!({"create_tag": {"name": required_name(body)?}})
            } else {
                self.creation(request, campaign, kind, body).await?
            });
        }
        let written = self.write_all(request, campaign, changes).await?;
        let mut rows = Vec::with_capacity(written.len());
        for written in written {
            rows.push(if written.tag_id > 0 {
                tag_json(request, campaign, &self.get_tag(request, campaign, written.tag_id).await?)
            } else {
                let entity = self.get_entity(request, campaign, written.entity_id, RowDetail::Related).await?;
                whole_entity(request, campaign, &entity)
            });
        }
        Ok(json_response(StatusCode::CREATED, &json!({"data": rows})))
    }
}

/// The kind that a bulk request creates: by the number in the path, or by the module of each entity.
fn bulk_kind(type_id: Option<u64>, body: &Map<String, Value>) -> ApiResult<&'static EntityKind> {
    let module = body.get("module");
    let type_id = type_id.or_else(|| module.or(body.get("type_id")).and_then(Value::as_u64));
    let code = module.and_then(Value::as_str);
    let is_it = |kind: &&EntityKind| match type_id {
        Some(type_id) => kind.type_id == type_id,
        None => code == Some(kind.code),
    };
    match ENTITY_KINDS.iter().find(is_it) {
        Some(kind) if kind.entity_type.is_some() || kind.code == "tag" => Ok(kind),
        Some(kind) => Err(ApiError::unsupported(kind.plural)),
        None => {
            let message = "there is no kind of entity of that number or module";
            Err(ApiError::invalid_field("module", message, "/entity-types lists them"))
        }
    }
}

/// Rows of these lists have no entry, with `related=1` either.
fn list_detail(request: &ApiRequest) -> RowDetail {
    if request.flag("related") == Some(true) { RowDetail::Related } else { RowDetail::Head }
}

fn entity_page(request: &ApiRequest, campaign: &ListedCampaign, found: EntityPage) -> Response {
    let is_related = matches!(list_detail(request), RowDetail::Related);
    let row = |entity: &ListedEntity| {
        let mut row = entity_row(request, campaign, entity);
        if is_related {
            row.extend(related_fields(entity));
        }
        Value::Object(row)
    };
    let rows = found.rows.iter().map(row).collect();
    page(request, ListedPage { rows, total: found.total, sync: Some(found.read_at) })
}

/// An entity with its typed row as `child`.
fn whole_entity(request: &ApiRequest, campaign: &ListedCampaign, entity: &ListedEntity) -> Value {
    let is_related = request.flag("related") == Some(true);
    let mut row = entity_row(request, campaign, entity);
    row.insert("child".to_owned(), typed_row(request, campaign, entity, is_related));
    if is_related {
        row.extend(related_fields(entity));
    }
    Value::Object(row)
}
