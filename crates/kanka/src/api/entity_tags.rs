//! The tags of one entity. The id of such a row is the id of the tag.

use axum::http::Method;
use axum::response::Response;
use serde_json::{Value, json};

use super::ApiContext;
use super::engine_calls::RowDetail;
use super::envelope::{created_response, deleted_response, page_of_all, single};
use super::errors::{ApiError, ApiResult};
use super::listed_rows::{ListedCampaign, ListedEntity};
use super::request::ApiRequest;
use super::request_fields::id_field;

/// How often a list is read and written again if somebody else changed the entity meanwhile.
const ATTEMPTS: usize = 32;

impl ApiContext {
    pub(super) async fn entity_tag_collection(
        &self,
        request: &ApiRequest,
        campaign: &ListedCampaign,
        entity_id: u64,
    ) -> ApiResult<Response> {
        let entity = self.get_entity(request, campaign, entity_id, RowDetail::Head).await?;
        match request.method {
            Method::GET => {
                let rows = entity.tags.iter().map(|tag_id| entity_tag_json(entity_id, (*tag_id).into())).collect();
                Ok(page_of_all(request, rows, Some(&campaign.read_at)))
            }
            Method::POST => {
                let required = || ApiError::invalid_field("tag_id", "the tag_id field is required", "send a tag's id");
                let tag_id = id_field(request.body(), "tag_id")?.ok_or_else(required)?;
                let tag = self.get_tag(request, campaign, tag_id).await.map_err(|_| {
                    let message = format!("there is no tag {tag_id} in this campaign");
                    ApiError::invalid_field("tag_id", message, "list the tags for their ids")
                })?;
                let add = |entity: &ListedEntity| {
                    let others = entity.tags.iter().copied().filter(|known| *known != tag.id);
                    json!({"tags": others.chain([tag.id]).collect::<Vec<u32>>()})
                };
                self.rewrite_list(request, campaign, entity, add).await?;
                Ok(created_response(request, entity_tag_json(entity_id, tag_id)))
            }
            _ => Err(request.no_method("GET, POST")),
        }
    }

    pub(super) async fn entity_tag_item(
        &self,
        request: &ApiRequest,
        campaign: &ListedCampaign,
        entity_id: u64,
        tag_id: u64,
    ) -> ApiResult<Response> {
        let entity = self.get_entity(request, campaign, entity_id, RowDetail::Head).await?;
        if !entity.tags.iter().any(|known| u64::from(*known) == tag_id) {
            return Err(ApiError::not_found(&format!("tag {tag_id} of entity {entity_id}")));
        }
        match request.method {
            Method::GET => Ok(single(request, entity_tag_json(entity_id, tag_id))),
            Method::DELETE => {
                let remove = |entity: &ListedEntity| {
                    let others = entity.tags.iter().copied().filter(|known| u64::from(*known) != tag_id);
                    json!({"tags": others.collect::<Vec<u32>>()})
                };
                self.rewrite_list(request, campaign, entity, remove).await?;
                Ok(deleted_response())
            }
            _ => Err(request.no_method("GET, DELETE")),
        }
    }

    /// Writes a list that was derived from the entity's current one. If somebody else changed the entity meanwhile, the list
    /// is derived and written again, so that no change is lost.
    pub(super) async fn rewrite_list(
        &self,
        request: &ApiRequest,
        campaign: &ListedCampaign,
        mut entity: ListedEntity,
        change: impl Fn(&ListedEntity) -> Value + Send + Sync,
    ) -> ApiResult<ListedEntity> {
        let entity_id = entity.entity_id;
        let mut attempt = 1;
        loop {
            let mut fields = change(&entity);
            fields["entity_id"] = json!(entity_id);
            fields["expected_revision"] = json!(entity.revision);
            match self.write(request, campaign, json!({"update_entity": fields})).await {
                Err(error) if error.is_conflict() && attempt < ATTEMPTS => attempt += 1,
                Err(error) => return Err(error),
                Ok(_) => return self.get_entity(request, campaign, entity_id, RowDetail::Head).await,
            }
            entity = self.get_entity(request, campaign, entity_id, RowDetail::Head).await?;
        }
    }
}

fn entity_tag_json(entity_id: u64, tag_id: u64) -> Value {
    json!({"id": tag_id, "entity_id": entity_id, "tag_id": tag_id})
}
