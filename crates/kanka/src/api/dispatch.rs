//! Dispatches requests to handlers, by path and method.

use axum::http::Method;
use axum::response::Response;

use super::ApiContext;
use super::errors::{ApiError, ApiResult};
use super::listed_rows::ListedCampaign;
use super::rate_limit::RequestAllowance;
use super::request::ApiRequest;
use crate::ENTITY_KINDS;

impl ApiContext {
    pub(super) async fn dispatch(&self, request: &ApiRequest, allowance: &RequestAllowance) -> ApiResult<Response> {
        let segments = request.segments();
        match &segments[..] {
            ["campaigns"] => request.only_get(self.campaign_list(request).await),
            ["campaigns", campaign] => {
                let campaign = self.find_campaign(request, campaign).await?;
                request.only_get(Ok(Self::campaign_single(request, &campaign)))
            }
            ["campaigns", campaign, below @ ..] => {
                let campaign = self.find_campaign(request, campaign).await?;
                self.dispatch_in_campaign(request, &campaign, below).await
            }
            ["profile"] => request.only_get(self.profile(request, allowance).await),
            ["visibilities"] => request.only_get(Ok(Self::visibilities(request))),
            ["entity-types"] => request.only_get(Ok(Self::entity_types(request))),
            ["version"] => request.only_get(Ok(Self::version())),
            ["health"] => request.only_get(Ok(Self::health())),
            _ => Err(ApiError::no_route(&request.path)),
        }
    }

    async fn dispatch_in_campaign(
        &self,
        request: &ApiRequest,
        campaign: &ListedCampaign,
        below: &[&str],
    ) -> ApiResult<Response> {
        match below {
            ["entities", below @ ..] => self.dispatch_entities(request, campaign, below).await,
            ["tags"] => self.tag_collection(request, campaign).await,
            ["tags", id] => self.tag_item(request, campaign, request.id(id)?).await,
            ["search"] => {
                let term = request.parameter("q").or(request.parameter("term")).unwrap_or_default();
                request.only_get(self.search_names(request, campaign, term).await)
            }
            ["search", term] => request.only_get(self.search_names(request, campaign, term).await),
            ["fulltext-search"] => request.only_get(self.search_everything(request, campaign).await),
            ["users"] => request.only_get(Ok(Self::users(request))),
            ["roles"] => request.only_get(Ok(Self::roles(request))),
            ["entity_types"] => request.only_get(Ok(Self::entity_types(request))),
            [plural, below @ ..] => {
                let kind = ENTITY_KINDS.iter().find(|kind| kind.plural == *plural);
                match (kind.filter(|kind| kind.entity_type.is_some()), below) {
                    (Some(kind), []) => self.typed_collection(request, campaign, kind).await,
                    (Some(kind), [id]) => self.typed_item(request, campaign, kind, request.id(id)?).await,
                    (Some(kind), [id, part]) => {
                        self.find_typed(request, campaign, kind, request.id(id)?).await?;
                        Self::unsupported_list(request, campaign, part)
                    }
                    _ => Self::unsupported_collection(request, campaign, plural, below),
                }
            }
            [] => Err(ApiError::no_route(&request.path)),
        }
    }

    async fn dispatch_entities(
        &self,
        request: &ApiRequest,
        campaign: &ListedCampaign,
        below: &[&str],
    ) -> ApiResult<Response> {
        match below {
            [] => self.entity_collection(request, campaign).await,
            ["recent"] => request.only_get(self.recent_list(request, campaign).await),
            ["archived"] => request.only_get(self.archived_list(request, campaign).await),
            ["templates"] => Self::unsupported_list(request, campaign, "templates"),
            [type_id] if request.method == Method::POST => {
                self.create_in_bulk(request, campaign, Some(request.id(type_id)?)).await
            }
            [entity_id] => self.entity_item(request, campaign, request.id(entity_id)?).await,
            [entity_id, below @ ..] => {
                let entity_id = request.id(entity_id)?;
                match below {
                    ["posts" | "entity_notes"] => self.post_collection(request, campaign, entity_id).await,
                    ["posts" | "entity_notes", id] => {
                        self.post_item(request, campaign, entity_id, request.id(id)?).await
                    }
                    ["entity_tags"] => self.entity_tag_collection(request, campaign, entity_id).await,
                    ["entity_tags", id] => self.entity_tag_item(request, campaign, entity_id, request.id(id)?).await,
                    ["entity_assets"] => self.asset_collection(request, campaign, entity_id).await,
                    ["entity_assets", id] => self.asset_item(request, campaign, entity_id, request.id(id)?).await,
                    ["mentions"] => request.only_get(self.mention_list(request, campaign, entity_id).await),
                    _ => self.unsupported_part(request, campaign, entity_id, below).await,
                }
            }
        }
    }
}

impl ApiRequest {
    /// An id in the path. A segment that is not a number is answered with 404.
    fn id(&self, text: &str) -> ApiResult<u64> {
        text.parse().map_err(|_| ApiError::no_route(&self.path))
    }

    /// Refuses other methods than GET.
    fn only_get(&self, answer: ApiResult<Response>) -> ApiResult<Response> {
        if self.method == Method::GET { answer } else { Err(self.no_method("GET")) }
    }

    pub(super) fn no_method(&self, allowed: &'static str) -> ApiError {
        ApiError::no_method(self.method.as_str(), &self.path, allowed)
    }
}
