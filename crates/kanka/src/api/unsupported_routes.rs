//! Routes of things that Kanka has and Skald does not: lists are empty, items are answered with 404, writes are refused.

use axum::http::Method;
use axum::response::Response;

use super::ApiContext;
use super::engine_calls::RowDetail;
use super::envelope::page_of_all;
use super::errors::{ApiError, ApiResult};
use super::listed_rows::ListedCampaign;
use super::request::ApiRequest;
use crate::ENTITY_KINDS;

/// Lists of a campaign that are always empty, besides those of kinds that the lore does not have.
const UNSUPPORTED_COLLECTIONS: [&str; 12] = [
    "category_statuses",
    "default-thumbnails",
    "entity_mentions",
    "images",
    "organisation_members",
    "post-layouts",
    "presets",
    "quest_elements",
    "recovery",
    "relations",
    "templates",
    "timeline_elements",
];

/// Action routes that we do not support.
const UNSUPPORTED_ACTIONS: [&str; 4] = ["permissions", "recover", "transfer", "transform"];

/// Lists of one entity that are always empty.
const UNSUPPORTED_PARTS: [&str; 20] = [
    "abilities",
    "attributes",
    "calendar_weather",
    "calendar_weathers",
    "connections",
    "elements",
    "entity_abilities",
    "entity_events",
    "entity_files",
    "entity_links",
    "entity_permissions",
    "image",
    "inventory",
    "map_points",
    "members",
    "organisation_members",
    "quest_elements",
    "relations",
    "relationships",
    "reminders",
];

impl ApiContext {
    /// A list of a campaign, or an item of it.
    pub(super) fn unsupported_collection(
        request: &ApiRequest,
        campaign: &ListedCampaign,
        name: &str,
        below: &[&str],
    ) -> ApiResult<Response> {
        let is_known = UNSUPPORTED_COLLECTIONS.contains(&name)
            || ENTITY_KINDS.iter().any(|kind| kind.plural == name && kind.entity_type.is_none());
        match (is_known, below) {
            (true, []) => Self::unsupported_list(request, campaign, name),
            (true, ["posts"]) if name == "recovery" => Self::unsupported_list(request, campaign, name),
            (true, _) if request.method != Method::GET => Err(ApiError::unsupported(name)),
            (false, _) if UNSUPPORTED_ACTIONS.contains(&name) && request.method == Method::POST => {
                Err(ApiError::unsupported_action(name))
            }
            _ => Err(ApiError::no_route(&request.path)),
        }
    }

    /// A part of an entity, which must be there.
    pub(super) async fn unsupported_part(
        &self,
        request: &ApiRequest,
        campaign: &ListedCampaign,
        entity_id: u64,
        below: &[&str],
    ) -> ApiResult<Response> {
        self.get_entity(request, campaign, entity_id, RowDetail::Head).await?;
        match below {
            [part] if UNSUPPORTED_PARTS.contains(part) => Self::unsupported_list(request, campaign, part),
            [part, ..] if UNSUPPORTED_PARTS.contains(part) && request.method != Method::GET => {
                Err(ApiError::unsupported(part))
            }
            ["archive"] => Err(ApiError::unsupported("archived entities that stay in lists")),
            _ => Err(ApiError::no_route(&request.path)),
        }
    }

    /// An empty list, which nothing can be added to.
    pub(super) fn unsupported_list(request: &ApiRequest, campaign: &ListedCampaign, name: &str) -> ApiResult<Response> {
        if request.method != Method::GET {
            return Err(ApiError::unsupported(name));
        }
        Ok(page_of_all(request, Vec::new(), Some(&campaign.read_at)))
    }
}
