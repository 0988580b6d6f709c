//! The texts that mention an entity.

use axum::response::Response;
use serde_json::{Value, json};

use super::ApiContext;
use super::engine_calls::RowDetail;
use super::envelope::page_of_all;
use super::errors::ApiResult;
use super::listed_rows::ListedCampaign;
use super::request::ApiRequest;

impl ApiContext {
    pub(super) async fn mention_list(
        &self,
        request: &ApiRequest,
        campaign: &ListedCampaign,
        entity_id: u64,
    ) -> ApiResult<Response> {
        let entity = self.get_entity(request, campaign, entity_id, RowDetail::Related).await?;
        let rows = (1..).zip(&entity.mentioned_by).map(|(id, mention): (u64, _)| {
            json!({
                "id": id,
                "entity_id": mention.entity_id,
                "entity_name": mention.name,
                "post_id": mention.post_id,
                "entity_note_id": mention.post_id,
                "campaign_id": null,
                "target_id": entity_id,
            })
        });
        Ok(page_of_all(request, rows.collect::<Vec<Value>>(), Some(&campaign.read_at)))
    }
}
