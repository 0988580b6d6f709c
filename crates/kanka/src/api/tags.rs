//! Tags of a campaign. A name belongs to one tag: creating it again answers the tag that is there.

use axum::http::Method;
use axum::response::Response;
use serde_json::{Value, json};

use super::ApiContext;
use super::entity_json::USER_ID;
use super::envelope::{ListedPage, created_response, deleted_response, page, page_number, single};
use super::errors::ApiResult;
use super::filters::tags_filter;
use super::listed_rows::{ListedCampaign, ListedTag};
use super::request::ApiRequest;
use super::request_fields::{required_name, text_field};

/// Offset for the entity ids of tags. A tag is no entity in the lore, but in Kanka it has an entity id; entities never
/// get ids this large.
const TAG_ENTITY_IDS: u64 = 1_500_000_000;

impl ApiContext {
    pub(super) async fn tag_collection(&self, request: &ApiRequest, campaign: &ListedCampaign) -> ApiResult<Response> {
        match request.method {
            Method::GET => {
                let found = self.list_tags(request, campaign, tags_filter(request), page_number(request)).await?;
                let rows = found.rows.iter().map(|tag| tag_json(request, campaign, tag)).collect();
                Ok(page(request, ListedPage { rows, total: found.total, sync: Some(found.read_at) }))
            }
            Method::POST => {
                let change = json!({"create_tag": {"name": required_name(request.body())?}});
                let written = self.write(request, campaign, change).await?;
                let tag = self.get_tag(request, campaign, written.tag_id).await?;
                Ok(created_response(request, tag_json(request, campaign, &tag)))
            }
            _ => Err(request.no_method("GET, POST")),
        }
    }

    pub(super) async fn tag_item(
        &self,
        request: &ApiRequest,
        campaign: &ListedCampaign,
        tag_id: u64,
    ) -> ApiResult<Response> {
        let tag = self.get_tag(request, campaign, tag_id).await?;
        match request.method {
            Method::GET => Ok(single(request, tag_json(request, campaign, &tag))),
            Method::PUT | Method::PATCH => {
                if let Some(name) = text_field(request.body(), "name")? {
                    let change = json!({"rename_tag": {"tag_id": tag.id, "name": name}});
                    self.write(request, campaign, change).await?;
                }
                let tag = self.get_tag(request, campaign, tag_id).await?;
                Ok(single(request, tag_json(request, campaign, &tag)))
            }
            Method::DELETE => {
                self.write(request, campaign, json!({"delete_tag": {"tag_id": tag.id}})).await?;
                Ok(deleted_response())
            }
            _ => Err(request.no_method("GET, PUT, PATCH, DELETE")),
        }
    }
}

pub(super) fn tag_json(request: &ApiRequest, campaign: &ListedCampaign, tag: &ListedTag) -> Value {
    let url = request.url(&format!("campaigns/{}/tags/{}", campaign.number, tag.id));
    json!({
        "id": tag.id,
        "name": tag.name,
        "entry": "",
        "entry_parsed": "",
        "type": null,
        "colour": null,
        "icon": null,
        "tag_id": null,
        "parent_id": null,
        "is_auto_applied": false,
        "is_hidden": false,
        "entities": tag.entity_ids,
        "entity_id": TAG_ENTITY_IDS + u64::from(tag.id),
        "tags": [],
        "image": null,
        "image_full": null,
        "image_thumb": null,
        "has_custom_image": false,
        "is_private": false,
        "is_template": false,
        "is_pinned": false,
        "posts": [],
        "attributes": [],
        "created_at": tag.created_at,
        "created_by": USER_ID,
        "updated_at": tag.updated_at,
        "updated_by": USER_ID,
        "urls": {"view": url, "api": url},
    })
}
