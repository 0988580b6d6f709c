//! Dispatches requests to handlers, by path and method.

use axum::http::Method;
use axum::response::Response;

use super::ApiContext;
use super::errors::{ApiError, ApiResult};
use super::listed_rows::ListedCampaign;
use super::rate_limit::RequestAllowance;
use super::request::ApiRequest;
use crate::ENTITY_KINDS;

/// All routes below a version, as templates. The first that fits a path is its route, and `dispatch` has an arm for each.
/// `{plural}` is a kind of entity, and `{part}` a list that is always empty.
pub const API_ROUTES: [&str; 33] = [
    "campaigns",
    "profile",
    "visibilities",
    "entity-types",
    "version",
    "health",
    "campaigns/{campaign}",
    "campaigns/{campaign}/entities",
    "campaigns/{campaign}/entities/recent",
    "campaigns/{campaign}/entities/archived",
    "campaigns/{campaign}/entities/templates",
    "campaigns/{campaign}/entities/{id}",
    "campaigns/{campaign}/entities/{id}/posts",
    "campaigns/{campaign}/entities/{id}/posts/{post_id}",
    "campaigns/{campaign}/entities/{id}/entity_notes",
    "campaigns/{campaign}/entities/{id}/entity_notes/{post_id}",
    "campaigns/{campaign}/entities/{id}/entity_tags",
    "campaigns/{campaign}/entities/{id}/entity_tags/{tag_id}",
    "campaigns/{campaign}/entities/{id}/entity_assets",
    "campaigns/{campaign}/entities/{id}/entity_assets/{asset_id}",
    "campaigns/{campaign}/entities/{id}/mentions",
    "campaigns/{campaign}/entities/{id}/{part}",
    "campaigns/{campaign}/tags",
    "campaigns/{campaign}/tags/{tag_id}",
    "campaigns/{campaign}/search",
    "campaigns/{campaign}/search/{query}",
    "campaigns/{campaign}/fulltext-search",
    "campaigns/{campaign}/users",
    "campaigns/{campaign}/roles",
    "campaigns/{campaign}/entity_types",
    "campaigns/{campaign}/{plural}",
    "campaigns/{campaign}/{plural}/{id}",
    "campaigns/{campaign}/{plural}/{id}/{part}",
];
/// The template of a campaign, with which the routes of its parts begin.
const CAMPAIGN: &str = "campaigns/{campaign}";

/// The route of a path, with the segments that are parameters.
fn find_route<'a>(segments: &[&'a str]) -> Option<(&'static str, Vec<&'a str>)> {
    API_ROUTES.into_iter().find_map(|route| {
        let parts: Vec<&str> = route.split('/').collect();
        let is_parameter = |part: &str| part.starts_with('{');
        let fits = parts.len() == segments.len()
            && parts.iter().zip(segments).all(|(part, segment)| is_parameter(part) || part == segment);
        let values = parts.iter().zip(segments).filter(|(part, _)| is_parameter(part)).map(|(_, segment)| *segment);
        fits.then(|| (route, values.collect()))
    })
}

impl ApiContext {
    pub(super) async fn dispatch(&self, request: &ApiRequest, allowance: &RequestAllowance) -> ApiResult<Response> {
        let segments = request.segments();
        let Some((route, values)) = find_route(&segments) else { return self.dispatch_unknown(request).await };
        match (route, &values[..]) {
            ("campaigns", _) => request.only_get(self.campaign_list(request).await),
            ("profile", _) => request.only_get(self.profile(request, allowance).await),
            ("visibilities", _) => request.only_get(Ok(Self::visibilities(request))),
            ("entity-types", _) => request.only_get(Ok(Self::entity_types(request))),
            ("version", _) => request.only_get(Ok(Self::version())),
            ("health", _) => request.only_get(Ok(Self::health())),
            (route, [campaign, values @ ..]) => {
                let campaign = self.find_campaign(request, campaign).await?;
                self.dispatch_in_campaign(request, &campaign, route, values).await
            }
            _ => Err(ApiError::no_route(&request.path)),
        }
    }

    async fn dispatch_in_campaign(
        &self,
        request: &ApiRequest,
        campaign: &ListedCampaign,
        route: &'static str,
        values: &[&str],
    ) -> ApiResult<Response> {
        match (route.strip_prefix(CAMPAIGN).unwrap_or(route), values) {
            ("", _) => request.only_get(Ok(Self::campaign_single(request, campaign))),
            ("/entities", _) => self.entity_collection(request, campaign).await,
            ("/entities/recent", _) => request.only_get(self.recent_list(request, campaign).await),
            ("/entities/archived", _) => request.only_get(self.archived_list(request, campaign).await),
            ("/entities/templates", _) => Self::unsupported_list(request, campaign, "templates"),
            ("/entities/{id}", [type_id]) if request.method == Method::POST => {
                self.create_in_bulk(request, campaign, Some(request.id(type_id)?)).await
            }
            ("/entities/{id}", [id]) => self.entity_item(request, campaign, request.id(id)?).await,
            ("/tags", _) => self.tag_collection(request, campaign).await,
            ("/tags/{tag_id}", [id]) => self.tag_item(request, campaign, request.id(id)?).await,
            ("/search", _) => {
                let term = request.parameter("q").or(request.parameter("term")).unwrap_or_default();
                request.only_get(self.search_names(request, campaign, term).await)
            }
            ("/search/{query}", [term]) => request.only_get(self.search_names(request, campaign, term).await),
            ("/fulltext-search", _) => request.only_get(self.search_everything(request, campaign).await),
            ("/users", _) => request.only_get(Ok(Self::users(request))),
            ("/roles", _) => request.only_get(Ok(Self::roles(request))),
            ("/entity_types", _) => request.only_get(Ok(Self::entity_types(request))),
            ("/{plural}" | "/{plural}/{id}" | "/{plural}/{id}/{part}", [plural, below @ ..]) => {
                self.dispatch_typed(request, campaign, plural, below).await
            }
            (route, [id, values @ ..]) => {
                self.dispatch_entity_part(request, campaign, route, request.id(id)?, values).await
            }
            _ => Err(ApiError::no_route(&request.path)),
        }
    }

    /// Lists of one entity, and their items.
    async fn dispatch_entity_part(
        &self,
        request: &ApiRequest,
        campaign: &ListedCampaign,
        route: &'static str,
        entity_id: u64,
        values: &[&str],
    ) -> ApiResult<Response> {
        match (route.strip_prefix("/entities/{id}/").unwrap_or(route), values) {
            ("posts" | "entity_notes", _) => self.post_collection(request, campaign, entity_id).await,
            ("posts/{post_id}" | "entity_notes/{post_id}", [id]) => {
                self.post_item(request, campaign, entity_id, request.id(id)?).await
            }
            ("entity_tags", _) => self.entity_tag_collection(request, campaign, entity_id).await,
            ("entity_tags/{tag_id}", [id]) => self.entity_tag_item(request, campaign, entity_id, request.id(id)?).await,
            ("entity_assets", _) => self.asset_collection(request, campaign, entity_id).await,
            ("entity_assets/{asset_id}", [id]) => self.asset_item(request, campaign, entity_id, request.id(id)?).await,
            ("mentions", _) => request.only_get(self.mention_list(request, campaign, entity_id).await),
            ("{part}", [part]) => self.unsupported_part(request, campaign, entity_id, std::slice::from_ref(part)).await,
            _ => Err(ApiError::no_route(&request.path)),
        }
    }

    /// The lists of a kind of entity, and their items.
    async fn dispatch_typed(
        &self,
        request: &ApiRequest,
        campaign: &ListedCampaign,
        plural: &str,
        below: &[&str],
    ) -> ApiResult<Response> {
        let kind = ENTITY_KINDS.iter().find(|kind| kind.plural == plural);
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

    /// A path that no route fits. Below a list that is always empty, a write is refused by name.
    async fn dispatch_unknown(&self, request: &ApiRequest) -> ApiResult<Response> {
        let segments = request.segments();
        let ["campaigns", campaign, below @ ..] = &segments[..] else { return Err(ApiError::no_route(&request.path)) };
        let campaign = self.find_campaign(request, campaign).await?;
        match below {
            ["entities", id, below @ ..] => self.unsupported_part(request, &campaign, request.id(id)?, below).await,
            [plural, below @ ..] => Self::unsupported_collection(request, &campaign, plural, below),
            [] => Err(ApiError::no_route(&request.path)),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_route_that_fits_a_path_is_its_route() {
        let route = |path: &'static str| find_route(&path.split('/').collect::<Vec<_>>());
        let cases = [
            ("campaigns", "campaigns", vec![]),
            ("campaigns/1", "campaigns/{campaign}", vec!["1"]),
            ("campaigns/1/entities/recent", "campaigns/{campaign}/entities/recent", vec!["1"]),
            ("campaigns/1/entities/2", "campaigns/{campaign}/entities/{id}", vec!["1", "2"]),
            (
                "campaigns/1/entities/2/relations",
                "campaigns/{campaign}/entities/{id}/{part}",
                vec!["1", "2", "relations"],
            ),
            ("campaigns/1/characters/2", "campaigns/{campaign}/{plural}/{id}", vec!["1", "characters", "2"]),
            ("campaigns/1/users", "campaigns/{campaign}/users", vec!["1"]),
        ];
        for (path, expected, values) in cases {
            assert_eq!(route(path), Some((expected, values)), "{path}");
        }
        for path in ["", "campaign", "campaigns/1/entities/2/posts/3/4", "profile/1"] {
            assert_eq!(route(path), None, "{path}");
        }
    }

    /// A route behind another one that takes all of its paths would never be reached.
    #[test]
    fn no_route_hides_another() {
        for route in API_ROUTES {
            let path: Vec<&str> = route.split('/').collect();
            assert_eq!(find_route(&path).map(|(found, _)| found), Some(route));
        }
    }
}
