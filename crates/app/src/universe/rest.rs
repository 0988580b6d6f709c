//! REST routes under `/universes` in the shapes of the Solar System Constructor, and the operations that only REST
//! offers. These operations are built on the others.

use bytes::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use skald_domain::universe::Repair;

use super::answer_schemas::{SentObject, StateShape};
use super::manage::{self, ManageUniverse, ManageUniverseInput};
use super::read_record::{ReadRecord, UniverseRecord};
use super::stream::ListedUniverse;
use crate::list_page::check_page_limit;
use crate::{
    Allowed, Answer, App, Call, Caller, CampaignRole, Class, Code, Exposed, Fault, FaultShape, HttpMethod,
    ObjectWithDocument, Operation, OperationKind, PermissionClass, RenderedJson, RequestBody, RequestControl, Route,
    Success, Toolset, limits,
};

/// Universes in a page with whole states.
const FULL_PAGE_MAX: usize = 10;

const fn route(method: HttpMethod, path: &'static str) -> Route {
    Route::new(method, path).with_renamed_field("id", "universeId").with_fault_shape(FaultShape::Sentence)
}

const fn universes_route(method: HttpMethod) -> Route {
    route(method, "/universes")
}

/// A route to one universe.
pub(super) const fn universe_route(method: HttpMethod) -> Route {
    route(method, "/universes/{id}")
}

/// The route of commands: an object is one, an array is several.
pub(super) const fn commands_route(body: RequestBody) -> Route {
    route(HttpMethod::Post, "/universes/{id}/commands").with_body(body)
}

pub(super) const EVENTS: Route = route(HttpMethod::Get, "/universes/{id}/events").with_success(Success::Events);

pub(super) struct ListUniverses;

/// Whether listed universes come with all that they hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ListedState {
    Full,
    #[default]
    None,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ListUniversesInput {
    /// Whether each comes with all that it holds, at most 10 in a page; none if left out.
    #[serde(default)]
    state: ListedState,
    /// Where the page begins: the link header of the page before has it.
    cursor: Option<String>,
    /// Universes of one page; all of them if neither this nor the cursor is sent.
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    limit: Option<usize>,
}

impl ListUniversesInput {
    fn effective_limit(&self) -> Result<usize, Fault> {
        match (self.state, self.limit) {
            (ListedState::Full, Some(limit)) if limit > FULL_PAGE_MAX => {
                let message = format!("limit is {limit}, allowed with state=full: 1 to {FULL_PAGE_MAX}");
                let fault = Fault::new(Code::InvalidParams, message).with_path("/limit").value(&limit.into());
                Err(fault.hint("follow the link header for more"))
            }
            (ListedState::Full, None) => Ok(FULL_PAGE_MAX),
            // Clients of the original send one request and do not know pages.
            (ListedState::None, None) if self.cursor.is_none() => Ok(limits::UNIVERSES_LISTED_MAX),
            (ListedState::Full | ListedState::None, limit) => check_page_limit(limit),
        }
    }
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListUniversesOutput {
    /// The newest first.
    #[schemars(with = "Vec<ListedUniverse>")]
    universes: UniverseListBody,
    /// Send it as cursor for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum UniverseListBody {
    Listed(Vec<ListedUniverse>),
    Whole(RenderedJson),
}

impl Operation for ListUniverses {
    const NAME: &'static str = "universe_list";
    const TITLE: &'static str = "List universes";
    const SUMMARY: &'static str = "List all universes, the newest first, or with limit or cursor a page of them; the link header leads to what follows.";
    const TOOLSET: Toolset = Toolset::Universe;
    const KIND: OperationKind = OperationKind::Read;
    const LISTS: bool = true;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    const CLASS: PermissionClass = PermissionClass::ReadUniverse;
    const EXPOSED: Exposed = Exposed::RestOnly;
    const ROUTES: &'static [Route] = &[universes_route(HttpMethod::Get).with_success(Success::Page("universes"))];
    type Input = ListUniversesInput;
    type Output = ListUniversesOutput;

    async fn run(app: &App, call: &Call<'_>, input: ListUniversesInput) -> Result<ListUniversesOutput, Fault> {
        let page = app.list_universes(call.caller, input.cursor.as_deref(), input.effective_limit()?).await?;
        let universes = match input.state {
            ListedState::None => UniverseListBody::Listed(page.items),
            ListedState::Full => UniverseListBody::Whole(render_universes(app, call, &page.items).await?),
        };
        Ok(ListUniversesOutput { universes, next_cursor: page.next_cursor })
    }

    fn answer(output: ListUniversesOutput) -> Result<Answer, serde_json::Error> {
        let ListUniversesOutput { universes: UniverseListBody::Whole(document), next_cursor } = output else {
            return serde_json::to_value(output).map(Answer::Value);
        };
        let fields = next_cursor.map(|cursor| ("nextCursor".to_owned(), cursor.into())).into_iter().collect();
        Ok(Answer::Object(ObjectWithDocument { fields, name: "universes", document }))
    }
}

/// An array of whole universes, in cached pieces that all readers share.
async fn render_universes(app: &App, call: &Call<'_>, listed: &[ListedUniverse]) -> Result<RenderedJson, Fault> {
    let mut pieces = vec![Bytes::from_static(b"[")];
    for universe in listed {
        // A list has no revision, so the revision of each universe is dropped with this `Work`.
        let control = RequestControl::default();
        let call = Call { control: &control, ..*call };
        match app.find_universe::<ListUniverses>(&call, &universe.id, CampaignRole::Guest).await {
            Ok(found_universe) => {
                if pieces.len() > 1 {
                    pieces.push(Bytes::from_static(b","));
                }
                pieces.append(&mut app.rendered_universe(&found_universe).await?.record.json());
            }
            // The universe was deleted meanwhile.
            Err(fault) if fault.class() == Class::NotFound => {}
            Err(fault) => return Err(fault),
        }
    }
    pieces.push(Bytes::from_static(b"]"));
    Ok(RenderedJson::from_json_pieces(pieces))
}

/// A universe after it was written, with all that it holds.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WrittenUniverse {
    #[serde(flatten)]
    #[schemars(with = "UniverseRecord")]
    record: Map<String, Value>,
    /// What it holds; absent in the answer to a retry if the universe has gone meanwhile.
    #[schemars(with = "StateShape")]
    state: Option<RenderedJson>,
    /// What had to be repaired in the state, so that it could be kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<Repair>>")]
    repaired: Option<Value>,
}

impl WrittenUniverse {
    fn into_answer(self) -> Answer {
        let Self { record: mut fields, state, repaired } = self;
        let Some(document) = state else { return Answer::Value(fields.into()) };
        fields.extend(repaired.map(|repaired| ("repaired".to_owned(), repaired)));
        Answer::Object(ObjectWithDocument { fields, name: "state", document })
    }
}

/// Creates or replaces a universe, then reads it.
async fn write_and_read(app: &App, call: &Call<'_>, input: ManageUniverseInput) -> Result<WrittenUniverse, Fault> {
    // Report the revision of the read: somebody else may have changed the universe since the write.
    let (writing, reading) = (call.control.clone(), RequestControl::default());
    let written = ManageUniverse::run(app, &Call { control: &writing, ..*call }, input).await?;
    let internal = |error: serde_json::Error| Fault::internal(error, app.new_request_id());
    let mut written = serde_json::to_value(written).map_err(internal)?;
    let Value::Object(record) = written["universe"].take() else {
        return Err(Fault::internal("a universe was written and is not in the answer", app.new_request_id()));
    };
    let id = record.get("id").and_then(Value::as_str).unwrap_or_default();
    match app.find_universe::<ReadRecord>(&Call { control: &reading, ..*call }, id, CampaignRole::Guest).await {
        Ok(found_universe) => {
            let revision = found_universe.committed.revision();
            call.control.set_revision(revision);
            let now = serde_json::to_value(UniverseRecord::from_universe(&found_universe.committed.state, revision))
                .map_err(internal)?;
            let record = if let Value::Object(now) = now { now } else { record };
            let repaired = Some(written["repaired"].take()).filter(|repaired| !repaired.is_null());
            Ok(WrittenUniverse { record, state: Some(app.rendered_universe(&found_universe).await?.state), repaired })
        }
        // A retry may come after the universe was deleted: answer with the stored record.
        Err(fault) if fault.class() == Class::NotFound => {
            writing.revision.get().iter().for_each(|revision| call.control.set_revision(**revision));
            Ok(WrittenUniverse { record, state: None, repaired: None })
        }
        Err(fault) => Err(fault),
    }
}

/// Rewords a fault of `name` or `state` to the message of the original.
fn reword_as_original(fault: Fault, rule: impl Fn(&str) -> String) -> Fault {
    let (field, what) = match fault.body().path.as_deref() {
        Some("/name") => ("name", "a non-empty string"),
        Some("/state") => ("state", "a JSON object"),
        _ => return fault,
    };
    let reworded = Fault::new(fault.code(), format!("\"{field}\" {}", rule(what)));
    let reworded = reworded.with_path(format!("/{field}")).hint(r#"such as {"name": "Sol", "state": {}}"#);
    fault.body().value.iter().fold(reworded, Fault::value)
}

pub(super) struct CreateUniverse;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CreateUniverseInput {
    /// An id of your own choice; one is made if left out.
    id: Option<String>,
    /// What it is called.
    name: String,
    /// What it holds; what is left out of it is empty.
    state: Map<String, Value>,
    /// The campaign that it belongs to; it cannot be changed.
    campaign_id: Option<String>,
}

impl Operation for CreateUniverse {
    const NAME: &'static str = "universe_create";
    const TITLE: &'static str = "Create a universe";
    const SUMMARY: &'static str = "Create a universe, under an id of your own choice if you send one.";
    const TOOLSET: Toolset = Toolset::Universe;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = ManageUniverse::ALLOWED;
    const CLASS: PermissionClass = ManageUniverse::CLASS;
    const FOR_GAME_MASTERS: bool = true;
    const EXPOSED: Exposed = Exposed::RestOnly;
    const ROUTES: &'static [Route] = &[universes_route(HttpMethod::Post)
        .with_body(RequestBody::Fields)
        .with_success(Success::Created("/universes/{id}"))];
    type Input = CreateUniverseInput;
    type Output = WrittenUniverse;

    async fn run(app: &App, call: &Call<'_>, input: CreateUniverseInput) -> Result<WrittenUniverse, Fault> {
        let universe_id = input.id.clone();
        let input = ManageUniverseInput {
            method: manage::UniverseMethod::Create,
            universe_id: input.id,
            name: Some(input.name),
            campaign_id: input.campaign_id,
            state: Some(SentObject(input.state.into())),
            cursor: None,
            limit: None,
        };
        let written = write_and_read(app, call, input).await;
        written.map_err(|fault| universe_id.iter().fold(fault, |fault, id| fault.universe(id)))
    }

    fn answer(output: WrittenUniverse) -> Result<Answer, serde_json::Error> {
        Ok(output.into_answer())
    }

    fn reword(fault: Fault) -> Fault {
        reword_as_original(fault, |what| format!("is required and must be {what}"))
    }

    async fn complete(app: &App, caller: &Caller, field: &str, typed: &str) -> Option<Vec<String>> {
        if field == "campaignId" { ManageUniverse::complete(app, caller, field, typed).await } else { None }
    }
}

pub(super) struct ReplaceUniverse;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ReplaceUniverseInput {
    /// The universe.
    universe_id: String,
    /// What it is called from now on; the name stays if left out.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    name: Option<String>,
    /// What it holds from now on; the state stays if left out.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    state: Option<Map<String, Value>>,
}

/// Refuses null: a field that should not change has to be left out, as in the original.
fn deserialize_non_null<'de, T: Deserialize<'de>, D: Deserializer<'de>>(field: D) -> Result<Option<T>, D::Error> {
    T::deserialize(field).map(Some)
}

impl Operation for ReplaceUniverse {
    const NAME: &'static str = "universe_replace";
    const TITLE: &'static str = "Replace a universe";
    const SUMMARY: &'static str = "Replace the name of a universe, its whole state, or both.";
    const TOOLSET: Toolset = Toolset::Universe;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = ManageUniverse::ALLOWED;
    const CLASS: PermissionClass = ManageUniverse::CLASS;
    const FOR_GAME_MASTERS: bool = true;
    const DESTRUCTIVE: bool = true;
    const EXPOSED: Exposed = Exposed::RestOnly;
    const ROUTES: &'static [Route] = &[universe_route(HttpMethod::Put).with_body(RequestBody::Fields)];
    type Input = ReplaceUniverseInput;
    type Output = WrittenUniverse;

    async fn run(app: &App, call: &Call<'_>, input: ReplaceUniverseInput) -> Result<WrittenUniverse, Fault> {
        let input = ManageUniverseInput {
            method: manage::UniverseMethod::Replace,
            universe_id: Some(input.universe_id),
            name: input.name,
            campaign_id: None,
            state: input.state.map(|state| SentObject(state.into())),
            cursor: None,
            limit: None,
        };
        write_and_read(app, call, input).await
    }

    fn answer(output: WrittenUniverse) -> Result<Answer, serde_json::Error> {
        Ok(output.into_answer())
    }

    fn reword(fault: Fault) -> Fault {
        reword_as_original(fault, |what| format!("must be {what} when provided"))
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_universe_id(caller, field).await
    }
}

pub(super) struct DeleteUniverse;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DeleteUniverseInput {
    /// The universe.
    universe_id: String,
}

impl Operation for DeleteUniverse {
    const NAME: &'static str = "universe_delete";
    const TITLE: &'static str = "Delete a universe";
    const SUMMARY: &'static str = "Delete a universe.";
    const TOOLSET: Toolset = Toolset::Universe;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = ManageUniverse::ALLOWED;
    const CLASS: PermissionClass = ManageUniverse::CLASS;
    const FOR_GAME_MASTERS: bool = true;
    const DESTRUCTIVE: bool = true;
    const EXPOSED: Exposed = Exposed::RestOnly;
    const ROUTES: &'static [Route] = &[universe_route(HttpMethod::Delete).with_success(Success::NoContent)];
    type Input = DeleteUniverseInput;
    type Output = <ManageUniverse as Operation>::Output;

    async fn run(app: &App, call: &Call<'_>, input: DeleteUniverseInput) -> Result<Self::Output, Fault> {
        let input = ManageUniverseInput {
            method: manage::UniverseMethod::Delete,
            universe_id: Some(input.universe_id),
            name: None,
            campaign_id: None,
            state: None,
            cursor: None,
            limit: None,
        };
        ManageUniverse::run(app, call, input).await
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_universe_id(caller, field).await
    }
}
