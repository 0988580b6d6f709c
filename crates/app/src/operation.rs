//! The `Operation` trait: one definition (name, schemas, permission, route) from which every surface is rendered.

use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::input::ItemMisfit;
use crate::json_schema::TypeSchema;
use crate::{
    Answer, App, Caller, CampaignRole, Code, Completion, CompletionRequest, Fault, MIME_JSON, PermissionClass,
    Principal, RequestControl, Route, TokenScope, Toolset, input, json_schema,
};

/// A read changes nothing and may be repeated; a command may change something, or rolls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationKind {
    Read,
    Command,
}

/// Who may call an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowed {
    Anyone,
    /// Callers with at least this role in the campaign of the request, which `App::enter_campaign` determines.
    InCampaign(CampaignRole),
}

impl Allowed {
    /// Whether the caller may call it in any campaign.
    pub fn admits(self, caller: &Caller) -> bool {
        match self {
            Self::Anyone => true,
            Self::InCampaign(role) => caller.has_role_anywhere(role),
        }
    }

    pub fn description(self) -> &'static str {
        match self {
            Self::Anyone => "anyone",
            Self::InCampaign(CampaignRole::Guest) => "everybody in the campaign",
            Self::InCampaign(CampaignRole::Player) => "players and game masters of the campaign",
            Self::InCampaign(CampaignRole::Gm) => "game masters of the campaign",
        }
    }
}

/// The scope that a token needs for an operation: its roles decide about the campaign, the scope about the kind of call.
fn required_scope(kind: OperationKind, allowed: Allowed) -> TokenScope {
    match (kind, allowed) {
        (OperationKind::Read, _) => TokenScope::Read,
        (OperationKind::Command, Allowed::InCampaign(CampaignRole::Gm)) => TokenScope::Gm,
        (OperationKind::Command, Allowed::Anyone | Allowed::InCampaign(_)) => TokenScope::Write,
    }
}

/// The fault for a call that needs a wider scope than the token has.
fn insufficient_scope_fault(name: &str, needed: TokenScope, held: TokenScope) -> Fault {
    let message = format!("{name} needs the scope {}, and the token has {}", needed.as_str(), held.as_str());
    Fault::new(Code::InsufficientScope, message)
        .hint(format!("get a token with the scope {}, or ask whoever runs the server for one", needed.oauth_name()))
        .detail("scope", needed.oauth_name().into())
}

/// One call of an operation.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    pub caller: &'a Caller,
    pub control: &'a RequestControl,
    /// The input as it was sent, before it is parsed into its type.
    pub input: &'a Value,
    /// Items of a batch that are not in the typed input, since they do not fit.
    pub(crate) misfits: &'a [ItemMisfit],
}

impl<'a> Call<'a> {
    /// A call that is no client's request.
    pub(crate) fn internal(caller: &'a Caller, control: &'a RequestControl) -> Self {
        Self { caller, control, input: &Value::Null, misfits: &[] }
    }
}

/// Where an operation is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exposed {
    /// As an MCP tool, and at `POST /api/v1/<operation>`.
    Everywhere,
    /// Not in the list of MCP tools: it is read as a resource there.
    NotAsTool,
    /// Only at its own REST routes: other surfaces offer the same in a shape of their own.
    RestOnly,
    /// For surfaces that translate it into a dialect of their own, such as the Kanka-compatible API; neither a tool nor a
    /// REST route.
    EngineOnly,
}

impl Exposed {
    /// Whether there is a `POST /api/v1/<operation>`.
    pub fn has_post_route(self) -> bool {
        match self {
            Self::Everywhere | Self::NotAsTool => true,
            Self::RestOnly | Self::EngineOnly => false,
        }
    }
}

/// An answer as bytes of a type, in pieces: the JSON itself, or the `text` field of a document.
pub fn answer_bytes(answer: Answer, mime_type: &str) -> Vec<Bytes> {
    match answer {
        Answer::Value(Value::Object(mut fields)) if mime_type != MIME_JSON => match fields.remove("text") {
            Some(Value::String(text)) => vec![text.into()],
            _ => vec![Value::Object(fields).to_string().into()],
        },
        answer => answer.into_json_pieces(),
    }
}

/// One thing that Skald can do.
pub trait Operation: 'static {
    const NAME: &'static str;
    const TITLE: &'static str;
    const SUMMARY: &'static str;
    const TOOLSET: Toolset;
    const KIND: OperationKind;
    const ALLOWED: Allowed;
    /// Its row in the table of permissions.
    const CLASS: PermissionClass;
    /// Whether it can delete data: a client may ask its user first.
    const DESTRUCTIVE: bool = false;
    /// Values of the input field `method` that only game masters may send: a token needs the scope `gm` for them.
    const GAME_MASTER_METHODS: &'static [&'static str] = &[];
    /// Whether only game masters may, though it is refused after a look at what it is about: then a token needs the scope
    /// `gm`.
    const FOR_GAME_MASTERS: bool = false;
    /// Whether it lists things: lists have a rate limit of their own.
    const LISTS: bool = false;
    const EXPOSED: Exposed = Exposed::Everywhere;
    const ROUTES: &'static [Route] = &[];
    /// The output field that is an SVG, for clients that show pictures.
    const PICTURE: Option<&'static str> = None;
    /// The output field whose value is the text of an MCP tool result, where clients expect a bare array; the whole
    /// output if there is none. The structured content is the whole output in any case.
    const TEXT_FIELD: Option<&'static str> = None;
    /// The input field with the items of a batch. An item that does not fit is left out of the typed input and comes as a
    /// misfit with the call, unless no item fits.
    const BATCH_FIELD: Option<&'static str> = None;
    type Input: DeserializeOwned + JsonSchema + Send;
    type Output: Serialize + JsonSchema + Send;

    fn run(app: &App, call: &Call, input: Self::Input) -> impl Future<Output = Result<Self::Output, Fault>> + Send;

    /// Converts the output to an answer; an operation with cached JSON overrides this.
    fn answer(output: Self::Output) -> Result<Answer, serde_json::Error> {
        serde_json::to_value(output).map(Answer::Value)
    }

    /// Rewords a fault in the input, where clients of the original expect other words.
    fn reword(fault: Fault) -> Fault {
        fault
    }

    /// The possible values of an input field, where its schema cannot list them.
    fn complete(
        _app: &App,
        _caller: &Caller,
        _field: &str,
        _typed: &str,
    ) -> impl Future<Output = Option<Vec<String>>> + Send {
        std::future::ready(None)
    }

    /// Like `complete`, for a field whose values depend on other fields, or that are not matched by prefix.
    fn complete_from_arguments(
        _app: &App,
        _caller: &Caller,
        _request: &CompletionRequest,
    ) -> impl Future<Output = Option<Completion>> + Send {
        std::future::ready(None)
    }
}

type CompleteFromArguments =
    for<'a> fn(&'a App, &'a Caller, &'a CompletionRequest) -> BoxFuture<'a, Option<Completion>>;
type CompleteField = for<'a> fn(&'a App, &'a Caller, &'a str, &'a str) -> BoxFuture<'a, Option<Vec<String>>>;
type OperationFunction = for<'a> fn(
    &'a App,
    &'a Caller,
    &'a RequestControl,
    &'a OperationEntry,
    Value,
) -> BoxFuture<'a, Result<Answer, Fault>>;

/// Computed at first use: a client that lists no tools needs no schemas.
pub(crate) type Lazy<T> = Arc<LazyLock<T>>;

fn lazy<T>(make: fn() -> T) -> Lazy<T> {
    Arc::new(LazyLock::new(make))
}

/// An operation as data.
#[derive(Clone)]
pub struct OperationEntry {
    pub name: &'static str,
    pub title: &'static str,
    pub summary: &'static str,
    pub toolset: Toolset,
    pub kind: OperationKind,
    pub allowed: Allowed,
    pub class: PermissionClass,
    pub destructive: bool,
    pub game_master_methods: &'static [&'static str],
    pub is_for_game_masters: bool,
    pub lists: bool,
    pub exposed: Exposed,
    pub routes: &'static [Route],
    pub picture: Option<&'static str>,
    pub text_field: Option<&'static str>,
    /// The slim schemas that programs see: in the OpenAPI file, the reference pages and the gateway.
    pub input: Lazy<Arc<Map<String, Value>>>,
    pub output: Lazy<Arc<Map<String, Value>>>,
    /// The smaller schemas of the tool list.
    pub tool_input: Lazy<Arc<Map<String, Value>>>,
    pub tool_output: Lazy<Arc<Map<String, Value>>>,
    /// The input schema with every bound, for explaining invalid input.
    pub full_input: Lazy<Value>,
    run: OperationFunction,
    complete: CompleteField,
    complete_from_arguments: CompleteFromArguments,
}

impl OperationEntry {
    pub fn from_operation<O: Operation>() -> Self {
        Self {
            name: O::NAME,
            title: O::TITLE,
            summary: O::SUMMARY,
            toolset: O::TOOLSET,
            kind: O::KIND,
            allowed: O::ALLOWED,
            class: O::CLASS,
            destructive: O::DESTRUCTIVE,
            game_master_methods: O::GAME_MASTER_METHODS,
            is_for_game_masters: O::FOR_GAME_MASTERS,
            lists: O::LISTS,
            exposed: O::EXPOSED,
            routes: O::ROUTES,
            picture: O::PICTURE,
            text_field: O::TEXT_FIELD,
            input: lazy(|| Arc::new(json_schema::client_input_schema(TypeSchema::from_type::<O::Input>()))),
            output: lazy(|| Arc::new(json_schema::client_output_schema(TypeSchema::from_type::<O::Output>()))),
            tool_input: lazy(|| Arc::new(json_schema::tool_input_schema(TypeSchema::from_type::<O::Input>()))),
            tool_output: lazy(|| {
                let (input, output) = (TypeSchema::from_type::<O::Input>(), TypeSchema::from_type::<O::Output>());
                Arc::new(json_schema::tool_output_schema(input, output))
            }),
            full_input: lazy(json_schema::full_input_schema::<O::Input>),
            run: |app, caller, control, entry, input| Box::pin(run::<O>(app, caller, control, entry, input)),
            complete: |app, caller, field, typed| Box::pin(O::complete(app, caller, field, typed)),
            complete_from_arguments: |app, caller, request| Box::pin(O::complete_from_arguments(app, caller, request)),
        }
    }

    /// The scope that a token needs for it, whatever the input is.
    pub fn required_scope(&self) -> TokenScope {
        if self.is_for_game_masters { TokenScope::Gm } else { required_scope(self.kind, self.allowed) }
    }

    /// The scope that a token needs for a call with this input.
    pub fn required_scope_for(&self, input: &Value) -> TokenScope {
        let method = input.get("method").and_then(Value::as_str).unwrap_or_default().trim();
        let is_for_game_masters = self.game_master_methods.iter().any(|word| word.eq_ignore_ascii_case(method));
        if is_for_game_masters { TokenScope::Gm } else { self.required_scope() }
    }

    /// Refuses a caller whose token has too narrow a scope for this input.
    pub fn check_scope(&self, caller: &Caller, input: &Value) -> Result<(), Fault> {
        let Principal::Holder(holder) = &caller.principal else { return Ok(()) };
        let needed = self.required_scope_for(input);
        match holder.scope {
            Some(held) if held < needed => Err(insufficient_scope_fault(self.name, needed, held)),
            _ => Ok(()),
        }
    }

    pub(crate) fn call<'a>(
        &'a self,
        app: &'a App,
        caller: &'a Caller,
        control: &'a RequestControl,
        input: Value,
    ) -> BoxFuture<'a, Result<Answer, Fault>> {
        (self.run)(app, caller, control, self, input)
    }

    pub(crate) fn complete<'a>(
        &'a self,
        app: &'a App,
        caller: &'a Caller,
        field: &'a str,
        typed: &'a str,
    ) -> BoxFuture<'a, Option<Vec<String>>> {
        (self.complete)(app, caller, field, typed)
    }

    pub(crate) fn complete_from_arguments<'a>(
        &'a self,
        app: &'a App,
        caller: &'a Caller,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Option<Completion>> {
        (self.complete_from_arguments)(app, caller, request)
    }
}

async fn run<O: Operation>(
    app: &App,
    caller: &Caller,
    control: &RequestControl,
    entry: &OperationEntry,
    input: Value,
) -> Result<Answer, Fault> {
    let full = &entry.full_input;
    let (typed, misfits) = match input::deserialize_input::<O::Input>(&input, full) {
        Ok(typed) => (typed, Vec::new()),
        Err(fault) => O::BATCH_FIELD
            .and_then(|field| input::deserialize_fitting_items(&input, full, field))
            .ok_or_else(|| O::reword(fault))?,
    };
    let output = O::run(app, &Call { caller, control, input: &input, misfits: &misfits }, typed).await?;
    let answer = O::answer(output).map_err(|error| Fault::internal(error, app.new_request_id()))?;
    Ok(app.with_freshness(control, answer).await)
}
