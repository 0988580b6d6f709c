//! Posts of an entity, also under their old name `entity_notes`.

use axum::http::Method;
use axum::response::Response;
use serde_json::{Map, Value, json};

use super::ApiContext;
use super::engine_calls::RowDetail;
use super::entity_json::post_json;
use super::envelope::{created_response, deleted_response, page_of_all, single};
use super::errors::{ApiError, ApiResult};
use super::listed_rows::{ListedCampaign, ListedEntity};
use super::request::ApiRequest;
use super::request_fields::{post_privacy, required_name, text_field};

impl ApiContext {
    pub(super) async fn post_collection(
        &self,
        request: &ApiRequest,
        campaign: &ListedCampaign,
        entity_id: u64,
    ) -> ApiResult<Response> {
        let entity = self.get_entity(request, campaign, entity_id, RowDetail::Related).await?;
        match request.method {
            Method::GET => {
                let posts = entity.posts.iter().enumerate().map(|(place, post)| post_json(entity_id, post, place));
                Ok(page_of_all(request, posts.collect(), Some(&campaign.read_at)))
            }
            Method::POST => {
                required_name(request.body())?;
                let fields = post_fields(request, entity_id, None)?;
                let written = self.write(request, campaign, json!({"create_post": fields})).await?;
                let entity = self.get_entity(request, campaign, entity_id, RowDetail::Related).await?;
                Ok(created_response(request, find_post(&entity, written.post_id)?))
            }
            _ => Err(request.no_method("GET, POST")),
        }
    }

    pub(super) async fn post_item(
        &self,
        request: &ApiRequest,
        campaign: &ListedCampaign,
        entity_id: u64,
        post_id: u64,
    ) -> ApiResult<Response> {
        let entity = self.get_entity(request, campaign, entity_id, RowDetail::Related).await?;
        let post = find_post(&entity, post_id)?;
        match request.method {
            Method::GET => Ok(single(request, post)),
            Method::PUT | Method::PATCH => {
                let fields = post_fields(request, entity_id, Some(post_id))?;
                self.write(request, campaign, json!({"update_post": fields})).await?;
                let entity = self.get_entity(request, campaign, entity_id, RowDetail::Related).await?;
                Ok(single(request, find_post(&entity, post_id)?))
            }
            Method::DELETE => {
                let change = json!({"delete_post": {"entity_id": entity_id, "post_id": post_id}});
                self.write(request, campaign, change).await?;
                Ok(deleted_response())
            }
            _ => Err(request.no_method("GET, PUT, PATCH, DELETE")),
        }
    }
}

fn find_post(entity: &ListedEntity, post_id: u64) -> ApiResult<Value> {
    let mut posts = entity.posts.iter().enumerate();
    let post = posts.find(|(_, post)| post.id == post_id);
    let post = post.map(|(place, post)| post_json(entity.entity_id, post, place));
    post.ok_or_else(|| ApiError::not_found(&format!("post {post_id} of entity {}", entity.entity_id)))
}

/// The fields of a post for a change of the engine. What is not in the body is left out.
fn post_fields(request: &ApiRequest, entity_id: u64, post_id: Option<u64>) -> ApiResult<Map<String, Value>> {
    let body = request.body();
    let mut fields = Map::from_iter([("entity_id".to_owned(), json!(entity_id))]);
    fields.extend(post_id.map(|post_id| ("post_id".to_owned(), json!(post_id))));
    for name in ["name", "entry"] {
        if body.contains_key(name) {
            fields.insert(name.to_owned(), json!(text_field(body, name)?.unwrap_or_default()));
        }
    }
    fields.extend(post_privacy(body)?.map(|is_private| ("is_private".to_owned(), json!(is_private))));
    Ok(fields)
}
