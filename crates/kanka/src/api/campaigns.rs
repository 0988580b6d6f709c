//! Campaigns, and what Kanka knows of their members.

use axum::response::Response;
use serde_json::{Value, json};

use super::ApiContext;
use super::account::user_json;
use super::envelope::{page_of_all, single};
use super::errors::ApiResult;
use super::listed_rows::ListedCampaign;
use super::request::ApiRequest;

impl ApiContext {
    pub(super) async fn campaign_list(&self, request: &ApiRequest) -> ApiResult<Response> {
        let campaigns = self.list_campaigns(request, json!({})).await?;
        let rows = campaigns.iter().map(|campaign| campaign_json(request, campaign)).collect();
        Ok(page_of_all(request, rows, campaigns.first().map(|campaign| &campaign.read_at)))
    }

    pub(super) fn campaign_single(request: &ApiRequest, campaign: &ListedCampaign) -> Response {
        single(request, campaign_json(request, campaign))
    }

    /// The users of a campaign, as far as the lore knows them: the one under whom everything was written, and the caller.
    pub(super) fn users(request: &ApiRequest) -> Response {
        page_of_all(request, members(request), None)
    }

    pub(super) fn roles(request: &ApiRequest) -> Response {
        let roles = [("Game masters", true, false), ("Players", false, false), ("Guests", false, true)];
        let roles = (1..).zip(roles).map(|(id, (name, is_admin, is_public)): (u64, _)| {
            json!({"id": id, "name": name, "is_admin": is_admin, "is_public": is_public})
        });
        page_of_all(request, roles.collect(), None)
    }
}

fn members(request: &ApiRequest) -> Vec<Value> {
    let mut users = vec![user_json(1, "owner")];
    let (id, name) = super::account::user_of(&request.caller.principal);
    if id != 1 {
        users.push(user_json(id, name));
    }
    users
}

fn campaign_json(request: &ApiRequest, campaign: &ListedCampaign) -> Value {
    let fields = &campaign.campaign;
    let users = members(request).into_iter().map(|user| json!({"id": user["id"], "user": user}));
    let url = request.url(&format!("campaigns/{}", campaign.number));
    json!({
        "id": campaign.number,
        "name": fields.name,
        "locale": "en",
        "entry": "",
        "entry_parsed": "",
        "image": null,
        "image_full": null,
        "image_thumb": null,
        "visibility": "private",
        "visibility_id": 1,
        "role": campaign.role,
        "created_at": exact_moment(&fields.created_at),
        "updated_at": exact_moment(&fields.updated_at),
        "members": users.collect::<Vec<Value>>(),
        "settings": [],
        "ui_settings": [],
        "default_images": [],
        "css": null,
        "theme": null,
        "urls": {"view": url, "api": url},
    })
}

/// A moment with as many digits as all others have.
fn exact_moment(moment: &str) -> String {
    match moment.strip_suffix('Z') {
        Some(seconds) if !seconds.contains('.') => format!("{seconds}.000000Z"),
        _ => moment.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_have_one_width() {
        assert_eq!(exact_moment("2026-01-15T12:00:00Z"), "2026-01-15T12:00:00.000000Z");
        assert_eq!(exact_moment("2026-01-15T12:00:00.250000Z"), "2026-01-15T12:00:00.250000Z");
    }
}
