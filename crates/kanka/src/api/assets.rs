//! Assets of an entity. Its aliases are assets of type 3; files and links are not kept.

use axum::http::Method;
use axum::response::Response;
use serde_json::{Value, json};

use super::ApiContext;
use super::account::number_of_text;
use super::engine_calls::RowDetail;
use super::entity_json::USER_ID;
use super::envelope::{created_response, deleted_response, page_of_all, single};
use super::errors::{ApiError, ApiResult};
use super::listed_rows::{ListedCampaign, ListedEntity};
use super::request::ApiRequest;
use super::request_fields::{id_field, required_name};

/// Kanka's number of the type of an alias.
const ALIAS_TYPE: u64 = 3;
/// Numbers of assets fit 31 bits.
const ASSET_ID_MAX: u64 = 2_000_000_000;

/// The aliases of an entity as assets.
pub(super) fn alias_assets(entity: &ListedEntity) -> Vec<Value> {
    entity.aliases.iter().map(|alias| asset_json(entity, alias)).collect()
}

/// The number of an alias. It follows from its text, so that it stays while the alias does.
fn asset_id(entity_id: u64, alias: &str) -> u64 {
    number_of_text(&format!("{entity_id}/{alias}")) % ASSET_ID_MAX + 1
}

fn asset_json(entity: &ListedEntity, alias: &str) -> Value {
    json!({
        "id": asset_id(entity.entity_id, alias),
        "entity_id": entity.entity_id,
        "type_id": ALIAS_TYPE,
        "name": alias,
        "visibility_id": 1,
        "is_pinned": false,
        "metadata": null,
        "_file": false,
        "_link": false,
        "_alias": true,
        "_url": null,
        "created_at": entity.created_at,
        "created_by": USER_ID,
        "updated_at": entity.updated_at,
        "updated_by": USER_ID,
    })
}

impl ApiContext {
    pub(super) async fn asset_collection(
        &self,
        request: &ApiRequest,
        campaign: &ListedCampaign,
        entity_id: u64,
    ) -> ApiResult<Response> {
        let entity = self.get_entity(request, campaign, entity_id, RowDetail::Head).await?;
        match request.method {
            Method::GET => Ok(page_of_all(request, alias_assets(&entity), Some(&campaign.read_at))),
            Method::POST => {
                if id_field(request.body(), "type_id")? != Some(ALIAS_TYPE) {
                    let message = "only assets of type_id 3, aliases, are kept here";
                    return Err(ApiError::invalid_field("type_id", message, "send type_id 3 and a name"));
                }
                let alias = required_name(request.body())?;
                let add = |entity: &ListedEntity| {
                    let aliases = entity.aliases.iter().chain([&alias]);
                    json!({"aliases": aliases.collect::<Vec<&String>>()})
                };
                let entity = self.rewrite_list(request, campaign, entity, add).await?;
                Ok(created_response(request, asset_json(&entity, &alias)))
            }
            _ => Err(request.no_method("GET, POST")),
        }
    }

    pub(super) async fn asset_item(
        &self,
        request: &ApiRequest,
        campaign: &ListedCampaign,
        entity_id: u64,
        id: u64,
    ) -> ApiResult<Response> {
        let entity = self.get_entity(request, campaign, entity_id, RowDetail::Head).await?;
        let known = entity.aliases.iter().find(|alias| asset_id(entity_id, alias) == id).cloned();
        let known = known.ok_or_else(|| ApiError::not_found(&format!("asset {id} of entity {entity_id}")))?;
        match request.method {
            Method::GET => Ok(single(request, asset_json(&entity, &known))),
            Method::PUT | Method::PATCH => {
                let alias = required_name(request.body())?;
                let rename = |entity: &ListedEntity| {
                    let aliases = entity.aliases.iter().map(|other| if *other == known { &alias } else { other });
                    json!({"aliases": aliases.collect::<Vec<&String>>()})
                };
                let entity = self.rewrite_list(request, campaign, entity, rename).await?;
                Ok(single(request, asset_json(&entity, &alias)))
            }
            Method::DELETE => {
                let remove = |entity: &ListedEntity| {
                    let aliases = entity.aliases.iter().filter(|other| **other != known);
                    json!({"aliases": aliases.collect::<Vec<&String>>()})
                };
                self.rewrite_list(request, campaign, entity, remove).await?;
                Ok(deleted_response())
            }
            _ => Err(request.no_method("GET, PUT, PATCH, DELETE")),
        }
    }
}
