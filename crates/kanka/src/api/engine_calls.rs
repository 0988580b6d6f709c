//! Calls of the engine's operations, with their answers as rows.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use skald_app::{Code, Fault, RequestControl, RequestSurface, ToolsetFilter, Toolsets, limits};

use super::ApiContext;
use super::errors::{ApiError, ApiResult};
use super::listed_rows::{EntityPage, ListedCampaign, ListedEntity, ListedTag, TagPage};
use super::request::ApiRequest;

/// What an answer shows of an entity besides its short fields.
#[derive(Debug, Clone, Copy)]
pub(super) enum RowDetail {
    /// The short fields alone.
    Head,
    /// The entry too.
    Entry,
    /// Everything: entry, posts, children and mentions.
    Related,
}

impl RowDetail {
    pub(super) fn of_request(request: &ApiRequest) -> Self {
        if request.flag("related") == Some(true) { Self::Related } else { Self::Entry }
    }

    fn parts(self) -> Value {
        match self {
            Self::Head => json!({}),
            Self::Entry => json!({"entry": true}),
            Self::Related => json!({"entry": true, "posts": true, "relations": true}),
        }
    }
}

/// The ids of what a change wrote.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_field_names, reason = "the names of the engine")]
pub(super) struct WrittenId {
    pub entity_id: u64,
    pub post_id: u64,
    pub tag_id: u64,
}

impl ApiContext {
    async fn call<T: DeserializeOwned>(
        &self,
        request: &ApiRequest,
        operation: &str,
        input: Value,
        key: Option<&str>,
    ) -> ApiResult<T> {
        let entry = self.engine.catalogue().operation(operation)?;
        if !self.visible.toolsets.contains(entry.toolset) {
            let fault = Fault::new(Code::NotFound, "this server does not offer the lore of campaigns");
            return Err(fault.hint("it was started with other toolsets").into());
        }
        if !self.visible.admits(entry) {
            let fault = Fault::new(Code::Forbidden, "this server only reads");
            return Err(fault.hint("it was started with --read-only").into());
        }
        let (idempotency_key, surface) = (key.map(ToOwned::to_owned), RequestSurface::Kanka);
        let control = RequestControl { idempotency_key, surface, ..RequestControl::default() };
        let answer = self.engine.call(&request.caller, operation, input, &control).await;
        let answer = answer.map_err(|fault| {
            // Clients of this API have no tools, so hints must not name any.
            let no_tools = ToolsetFilter { toolsets: Toolsets::NONE, read_only: true };
            with_parameter_name(fault.for_client(self.engine.catalogue(), no_tools, Cow::Borrowed))
        })?;
        request.note_freshness(&answer);
        serde_json::from_value(answer).map_err(|_| {
            Fault::new(Code::InternalError, "an answer of the engine is not what the Kanka-compatible API reads").into()
        })
    }

    /// The campaign of a request, which the caller has a role in.
    pub(super) async fn find_campaign(&self, request: &ApiRequest, id: &str) -> ApiResult<ListedCampaign> {
        let mut campaigns = self.list_campaigns(request, json!({"campaign_id": id})).await?;
        campaigns.pop().ok_or_else(|| ApiError::not_found(&format!("campaign {id:?}")))
    }

    pub(super) async fn list_campaigns(&self, request: &ApiRequest, input: Value) -> ApiResult<Vec<ListedCampaign>> {
        let answer: Value = self.call(request, "list_numbered_campaigns", input, None).await?;
        let campaigns = answer.get("campaigns").cloned().unwrap_or_default();
        let mut campaigns: Vec<ListedCampaign> = serde_json::from_value(campaigns).unwrap_or_default();
        let read_at = answer.get("read_at").and_then(Value::as_str).unwrap_or_default();
        for campaign in &mut campaigns {
            read_at.clone_into(&mut campaign.read_at);
        }
        Ok(campaigns)
    }

    /// A page of entities.
    pub(super) async fn list_entities(
        &self,
        request: &ApiRequest,
        campaign: &ListedCampaign,
        filter: Value,
        (page, detail): (usize, RowDetail),
    ) -> ApiResult<EntityPage> {
        let page = json!({"number": page, "rows": limits::KANKA_PAGE_ROWS});
        let input =
            json!({"campaign_id": campaign.campaign.id, "filter": filter, "page": page, "parts": detail.parts()});
        self.call(request, "list_entities", input, None).await
    }

    /// The entities that changed last.
    pub(super) async fn recent_entities(
        &self,
        request: &ApiRequest,
        campaign: &ListedCampaign,
        count: usize,
    ) -> ApiResult<EntityPage> {
        let page = json!({"number": 1, "rows": count});
        let input = json!({"campaign_id": campaign.campaign.id, "page": page, "newest_first": true});
        self.call(request, "list_entities", input, None).await
    }

    /// An entity by its number in the campaign.
    pub(super) async fn get_entity(
        &self,
        request: &ApiRequest,
        campaign: &ListedCampaign,
        entity_id: u64,
        detail: RowDetail,
    ) -> ApiResult<ListedEntity> {
        let filter = json!({"entity_ids": [entity_id]});
        let mut found = self.list_entities(request, campaign, filter, (1, detail)).await?;
        found.rows.pop().ok_or_else(|| ApiError::not_found(&format!("entity {entity_id}")))
    }

    /// The entities with the words of a query in names and texts, the best first.
    pub(super) async fn search_texts(
        &self,
        request: &ApiRequest,
        campaign: &ListedCampaign,
        query: &str,
        count: usize,
    ) -> ApiResult<Vec<u64>> {
        let input = json!({
            "campaign_id": campaign.campaign.id,
            "query": query,
            "include_full": false,
            "limit": count,
        });
        let found: Value = self.call(request, "find_entities", input, None).await?;
        let rows = found.get("entities").and_then(Value::as_array).cloned().unwrap_or_default();
        Ok(rows.iter().filter_map(|row| row.get("entity_id")?.as_u64()).collect())
    }

    /// A page of tags.
    pub(super) async fn list_tags(
        &self,
        request: &ApiRequest,
        campaign: &ListedCampaign,
        mut filter: Value,
        page: usize,
    ) -> ApiResult<TagPage> {
        filter["campaign_id"] = campaign.campaign.id.clone().into();
        filter["page"] = json!({"number": page, "rows": limits::KANKA_PAGE_ROWS});
        self.call(request, "list_tags", filter, None).await
    }

    pub(super) async fn get_tag(
        &self,
        request: &ApiRequest,
        campaign: &ListedCampaign,
        tag_id: u64,
    ) -> ApiResult<ListedTag> {
        let missing = || ApiError::not_found(&format!("tag {tag_id}"));
        let tag_id = u32::try_from(tag_id).map_err(|_| missing())?;
        let mut found = self.list_tags(request, campaign, json!({"ids": [tag_id]}), 1).await?;
        found.rows.pop().ok_or_else(missing)
    }

    /// Writes one change.
    pub(super) async fn write(
        &self,
        request: &ApiRequest,
        campaign: &ListedCampaign,
        change: Value,
    ) -> ApiResult<WrittenId> {
        let written = self.write_all(request, campaign, vec![change]).await?;
        Ok(written.first().copied().unwrap_or_default())
    }

    /// Writes all changes, or none if one of them would be refused.
    pub(super) async fn write_all(
        &self,
        request: &ApiRequest,
        campaign: &ListedCampaign,
        changes: Vec<Value>,
    ) -> ApiResult<Vec<WrittenId>> {
        let is_batch = changes.len() > 1;
        let input = json!({"campaign_id": campaign.campaign.id, "changes": changes, "all_or_nothing": is_batch});
        let answer: Value = self.call(request, "write_lore", input, request.idempotency_key()).await?;
        let results = answer.get("results").and_then(Value::as_array).cloned().unwrap_or_default();
        for (index, result) in results.iter().enumerate() {
            if let Some(error) = result.get("error") {
                return Err(change_fault(error, index, is_batch).into());
            }
        }
        let id = |result: &Value, name: &str| result.get(name).and_then(Value::as_u64).unwrap_or_default();
        let written = results.iter().map(|result| WrittenId {
            entity_id: id(result, "entity_id"),
            post_id: id(result, "post_id"),
            tag_id: id(result, "tag_id"),
        });
        Ok(written.collect())
    }
}

/// Names the parameter of this API in a fault about the engine's input field.
fn with_parameter_name(fault: Fault) -> Fault {
    let name = match fault.body().path.as_deref() {
        Some("/filter/updated_after" | "/updated_after") => "/lastSync",
        Some("/filter/date_from") => "/date_start",
        Some("/filter/date_until") => "/date_end",
        Some("/parts/posts") => "/related",
        _ => return fault,
    };
    fault.with_path(name)
}

/// The fault of one change, from the error in its result.
fn change_fault(error: &Value, index: usize, is_batch: bool) -> Fault {
    let text = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
    let code = Code::from_name(text("code")).unwrap_or(Code::InternalError);
    let (code, path) = match text("path") {
        // 404 would say that the entity itself is missing; only the parent that it names is.
        "/parent" => (if code == Code::NotFound { Code::InvalidParams } else { code }, "/parent_id"),
        "/subtype" => (code, "/type"),
        path => (code, path),
    };
    let message = if is_batch { format!("entities.{index}: {}", text("message")) } else { text("message").to_owned() };
    let mut fault = Fault::new(code, message);
    if !text("hint").is_empty() {
        fault = fault.hint(text("hint"));
    }
    if !path.is_empty() {
        fault = fault.with_path(path);
    }
    fault
}
