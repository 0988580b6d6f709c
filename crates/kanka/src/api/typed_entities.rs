//! The typed routes: lists, single entities, and changes of the kinds that the lore has.

use axum::http::Method;
use axum::response::Response;
use serde_json::{Map, Value, json};

use super::ApiContext;
use super::engine_calls::RowDetail;
use super::entity_json::{typed_id_filters, typed_row};
use super::envelope::{ListedPage, created_response, deleted_response, page, page_number, single};
use super::errors::{ApiError, ApiResult};
use super::filters::typed_filter;
use super::listed_rows::{ListedCampaign, ListedEntity};
use super::request::ApiRequest;
use super::request_fields::{entity_fields, id_field, required_name};
use super::typed_fields::parent_field;
use crate::EntityKind;

impl ApiContext {
    pub(super) async fn typed_collection(
        &self,
        request: &ApiRequest,
        campaign: &ListedCampaign,
        kind: &EntityKind,
    ) -> ApiResult<Response> {
        match request.method {
            Method::GET => self.typed_list(request, campaign, kind).await,
            Method::POST => {
                let change = self.creation(request, campaign, kind, request.body()).await?;
                let written = self.write(request, campaign, change).await?;
                let entity = self.get_entity(request, campaign, written.entity_id, RowDetail::Related).await?;
                Ok(created_response(request, typed_row(request, campaign, &entity, true)))
            }
            _ => Err(request.no_method("GET, POST")),
        }
    }

    async fn typed_list(
        &self,
        request: &ApiRequest,
        campaign: &ListedCampaign,
        kind: &EntityKind,
    ) -> ApiResult<Response> {
        let (filter, detail) = (typed_filter(request, kind)?, RowDetail::of_request(request));
        let found = self.list_entities(request, campaign, filter, (page_number(request), detail)).await?;
        let is_related = matches!(detail, RowDetail::Related);
        let rows = found.rows.iter().map(|entity| typed_row(request, campaign, entity, is_related)).collect();
        Ok(page(request, ListedPage { rows, total: found.total, sync: Some(found.read_at) }))
    }

    pub(super) async fn typed_item(
        &self,
        request: &ApiRequest,
        campaign: &ListedCampaign,
        kind: &EntityKind,
        id: u64,
    ) -> ApiResult<Response> {
        let entity = self.find_typed(request, campaign, kind, id).await?;
        match request.method {
            Method::GET => {
                let is_related = matches!(RowDetail::of_request(request), RowDetail::Related);
                Ok(single(request, typed_row(request, campaign, &entity, is_related)))
            }
            Method::PUT | Method::PATCH => {
                let entity = self.update_entity(request, campaign, &entity, true).await?;
                Ok(single(request, typed_row(request, campaign, &entity, true)))
            }
            Method::DELETE => {
                let change = json!({"delete_entity": {"entity_id": entity.entity_id}});
                self.write(request, campaign, change).await?;
                Ok(deleted_response())
            }
            _ => Err(request.no_method("GET, PUT, PATCH, DELETE")),
        }
    }

    /// An entity by its id among those of its kind.
    pub(super) async fn find_typed(
        &self,
        request: &ApiRequest,
        campaign: &ListedCampaign,
        kind: &EntityKind,
        id: u64,
    ) -> ApiResult<ListedEntity> {
        for filter in typed_id_filters(kind, id) {
            let mut found = self.list_entities(request, campaign, filter, (1, RowDetail::Related)).await?;
            if let Some(entity) = found.rows.pop() {
                return Ok(entity);
            }
        }
        Err(ApiError::not_found(&format!("{} {id}", kind.code)))
    }

    /// The change that creates an entity. Without `is_private` everybody sees it, as in Kanka.
    pub(super) async fn creation(
        &self,
        request: &ApiRequest,
        campaign: &ListedCampaign,
        kind: &EntityKind,
        body: &Map<String, Value>,
    ) -> ApiResult<Value> {
        required_name(body)?;
        let mut fields = entity_fields(body)?;
        fields.extend(self.parent_change(request, campaign, kind, body).await?);
        fields.insert("entity_type".to_owned(), json!(kind.entity_type));
        fields.entry("is_private").or_insert(json!(false));
        Ok(json!({"create_entity": fields}))
    }

    /// Changes what the body names, and answers the entity as it is then.
    pub(super) async fn update_entity(
        &self,
        request: &ApiRequest,
        campaign: &ListedCampaign,
        entity: &ListedEntity,
        takes_tags: bool,
    ) -> ApiResult<ListedEntity> {
        let mut fields = entity_fields(request.body())?;
        if !takes_tags {
            fields.remove("tags");
            fields.remove("tag_names");
        }
        fields.extend(self.parent_change(request, campaign, entity.kind(), request.body()).await?);
        // For lore types that are shown as notes, `type` has the word of the lore type. Sent back unchanged, it must not
        // become the subtype.
        let is_foreign_word = |text: &Value| entity.subtype.is_empty() && text.as_str() == entity.foreign_type();
        if fields.get("type").is_some_and(is_foreign_word) {
            fields.remove("type");
        }
        fields.insert("entity_id".to_owned(), json!(entity.entity_id));
        self.write(request, campaign, json!({"update_entity": fields})).await?;
        self.get_entity(request, campaign, entity.entity_id, RowDetail::Related).await
    }

    /// The change of the parent: by its number in the campaign as `parent_id`, or by its number in the kind.
    async fn parent_change(
        &self,
        request: &ApiRequest,
        campaign: &ListedCampaign,
        kind: &EntityKind,
        body: &Map<String, Value>,
    ) -> ApiResult<Map<String, Value>> {
        let mut change = Map::new();
        if body.contains_key("parent_id") {
            change.insert("parent".to_owned(), json!(id_field(body, "parent_id")?));
        } else if let Some(field) = parent_field(kind).filter(|field| body.contains_key(*field)) {
            let parent = match id_field(body, field)? {
                None => None,
                Some(id) => {
                    let found = self.find_typed(request, campaign, kind, id).await;
                    let missing = |_| {
                        let message = format!("{field} is {id}, and there is no such {}", kind.code);
                        ApiError::invalid_field(field, message, "send the id of one that is there")
                    };
                    Some(found.map_err(missing)?.entity_id)
                }
            };
            change.insert("parent".to_owned(), json!(parent));
        }
        Ok(change)
    }
}
