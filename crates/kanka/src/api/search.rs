//! Search: names alone as Kanka does it, and all texts. Both answer the ten best.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use super::ApiContext;
use super::engine_calls::RowDetail;
use super::entity_json::entity_row;
use super::errors::{ApiError, ApiResult, json_response};
use super::listed_rows::{ListedCampaign, ListedEntity};
use super::request::ApiRequest;

/// Hits of a search: as many as Kanka answers, without further pages.
const FOUND_MAX: usize = 10;

impl ApiContext {
    pub(super) async fn search_names(
        &self,
        request: &ApiRequest,
        campaign: &ListedCampaign,
        term: &str,
    ) -> ApiResult<Response> {
        let term = required_term(term, "q")?;
        let filter = json!({"name": [{"contains": term}]});
        let found = self.list_entities(request, campaign, filter, (1, RowDetail::Head)).await?;
        Ok(found_rows(request, campaign, found.rows.iter().take(FOUND_MAX)))
    }

    pub(super) async fn search_everything(
        &self,
        request: &ApiRequest,
        campaign: &ListedCampaign,
    ) -> ApiResult<Response> {
        let term = request.parameter("term").or(request.parameter("q")).unwrap_or_default();
        let ids = self.search_texts(request, campaign, required_term(term, "term")?, FOUND_MAX).await?;
        let filter = json!({"entity_ids": ids});
        let found = self.list_entities(request, campaign, filter, (1, RowDetail::Head)).await?;
        let ranked = ids.iter().filter_map(|id| found.rows.iter().find(|entity| entity.entity_id == *id));
        Ok(found_rows(request, campaign, ranked))
    }
}

fn required_term<'a>(term: &'a str, field: &str) -> ApiResult<&'a str> {
    let term = term.trim();
    if term.is_empty() {
        return Err(ApiError::invalid_field(field, format!("the {field} field is required"), "send a word"));
    }
    Ok(term)
}

fn found_rows<'a>(
    request: &ApiRequest,
    campaign: &ListedCampaign,
    entities: impl Iterator<Item = &'a ListedEntity>,
) -> Response {
    let rows = entities.map(|entity| {
        let mut row = entity_row(request, campaign, entity);
        row.insert("entity_id".to_owned(), json!(entity.entity_id));
        row.insert("entity_type".to_owned(), json!(entity.kind().code));
        row.insert("child_type".to_owned(), json!(entity.kind().code));
        let url = row["urls"]["api"].clone();
        row.insert("url".to_owned(), url);
        Value::Object(row)
    });
    json_response(StatusCode::OK, &json!({"data": rows.collect::<Vec<Value>>()}))
}
