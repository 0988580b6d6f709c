//! The MCP handler of one client. rmcp creates one per session, per stateless request and per stdio client.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use axum::http::HeaderName;
use axum::http::request::Parts;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest, CustomResult,
    ErrorCode, GetPromptRequestParams, GetPromptResponse, Implementation, InitializeRequestParams, InitializeResult,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, Reference, Resource, ServerCapabilities, ServerConfig,
    SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
#[expect(deprecated, reason = "clients before 2026-07-28 still ask for a level")]
use rmcp::model::{SetLevelRequestMethod, SetLevelRequestParams};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use skald_app::{
    Answer, Caller, Catalogue, Code, CompletionRequest, CompletionTarget, ContentsText, Conversation, Engine, Exposed,
    Fault, Principal, RateClass, Toolset, ToolsetFilter, limits, truncate_for_message, unidentified_caller_fault,
};

use crate::request_parameters::{
    CLIENT_INFO, check_initialize_params, check_no_cursor, hidden_fault, invalid_params, is_stateless, list_ttl_ms,
    request_control, unknown_tool_error,
};
use crate::subscriptions::{self, ListenerView, ResourceWatch};
use crate::tool_name_spelling::find_operation;
use crate::{McpOptions, convert, insert_rendered_json, skills};

/// The header that narrows the toolsets of one request.
static TOOLSETS_HEADER: HeaderName = HeaderName::from_static("x-mcp-toolsets");
/// The header that hides every command from one request.
static READ_ONLY_HEADER: HeaderName = HeaderName::from_static("x-mcp-readonly");

/// The server instructions for a model: those of the visible toolsets.
fn instructions(catalogue: &Catalogue, visible: ToolsetFilter) -> String {
    let offered = catalogue.instructions().iter().filter(|(toolset, _)| visible.toolsets.contains(*toolset));
    let sentences = ["Skald keeps a tabletop world honest."].into_iter().chain(offered.map(|(_, text)| *text));
    let sentences = sentences.chain(["A refusal begins with its code and says what to do next."]);
    sentences.collect::<Vec<_>>().join(" ")
}

/// The requests that every revision has.
const METHODS: [&str; 8] = [
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
    "completion/complete",
];
/// The requests that only revisions with a handshake have.
const HANDSHAKE_METHODS: [&str; 5] =
    ["initialize", "ping", "resources/subscribe", "resources/unsubscribe", "logging/setLevel"];
/// The requests that only revisions without a handshake have.
const STATELESS_METHODS: [&str; 2] = ["server/discover", "subscriptions/listen"];

/// What all handlers of a process share.
pub(crate) struct HandlerContext {
    engine: Arc<dyn Engine>,
    options: McpOptions,
    /// Rendered when the first client lists them.
    tools: OnceLock<Vec<Tool>>,
    config: ServerConfig,
}

impl HandlerContext {
    pub(crate) fn new(engine: Arc<dyn Engine>, options: McpOptions) -> Self {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .enable_completions()
            .enable_extensions_with(skills::capability())
            .build();
        let config = ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("skald", env!("CARGO_PKG_VERSION")).with_title("Skald"))
            .with_instructions(instructions(engine.catalogue(), options.visible));
        Self { tools: OnceLock::new(), engine, options, config }
    }
}

pub(crate) struct Handler {
    shared: Arc<HandlerContext>,
    /// Whether this handler lives longer than a request, so that it can send notifications.
    outlives_request: bool,
    /// The principal of the stdio client. Over HTTP each request has its own.
    stdio_principal: Option<Principal>,
    /// All requests of this handler's session share one context.
    conversation: Conversation,
    watch: OnceLock<ResourceWatch>,
}

impl Drop for Handler {
    fn drop(&mut self) {
        self.engine().end_session(&self.conversation);
    }
}

/// A conversation with an id that is unique in this process.
fn new_conversation() -> Conversation {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    Conversation::Session(NEXT.fetch_add(1, Ordering::Relaxed).to_string().into())
}

impl Handler {
    pub(crate) fn over_http(shared: Arc<HandlerContext>) -> Self {
        let outlives_request = shared.options.sessions;
        Self {
            shared,
            outlives_request,
            stdio_principal: None,
            conversation: new_conversation(),
            watch: OnceLock::new(),
        }
    }

    pub(crate) fn over_stdio(shared: Arc<HandlerContext>, principal: Principal) -> Self {
        let stdio_principal = Some(principal);
        Self {
            shared,
            outlives_request: true,
            stdio_principal,
            conversation: new_conversation(),
            watch: OnceLock::new(),
        }
    }

    fn engine(&self) -> &dyn Engine {
        &*self.shared.engine
    }

    /// The caller of a request. Its conversation is that of the session or the stdio client, otherwise that of the
    /// client's name.
    async fn caller(&self, context: &RequestContext<RoleServer>) -> Result<Caller, ErrorData> {
        let unverified = self.unverified_caller(context)?;
        // Over HTTP the middleware checks the token of each request. On stdio it is checked here.
        if self.stdio_principal.is_some() && unverified.principal != Principal::Owner {
            return self.engine().refresh_caller(&unverified).await.map_err(|fault| convert::protocol_error(&fault));
        }
        Ok(unverified)
    }

    /// The caller of a request, without asking the engine whether its token is still valid.
    fn unverified_caller(&self, context: &RequestContext<RoleServer>) -> Result<Caller, ErrorData> {
        let identified =
            || context.extensions.get::<Parts>()?.extensions.get::<Caller>().map(|caller| &caller.principal);
        let principal = self.stdio_principal.as_ref().or_else(identified);
        let principal = principal.ok_or_else(|| convert::protocol_error(&unidentified_caller_fault()))?.clone();
        Ok(Caller { principal, conversation: self.conversation(context) })
    }

    fn conversation(&self, context: &RequestContext<RoleServer>) -> Conversation {
        if self.stdio_principal.is_some() || (self.outlives_request && !is_stateless(context)) {
            return self.conversation.clone();
        }
        let client = context.meta.get(CLIENT_INFO).and_then(|client| client.get("name")).and_then(Value::as_str);
        Conversation::Client(client.unwrap_or_default().into())
    }

    /// What this request may see: the server's options, narrowed by its headers.
    fn visible_toolsets(&self, context: &RequestContext<RoleServer>) -> Result<ToolsetFilter, ErrorData> {
        let mut visible = self.shared.options.visible;
        let Some(parts) = context.extensions.get::<Parts>() else { return Ok(visible) };
        for value in parts.headers.get_all(&TOOLSETS_HEADER) {
            let asked = value.to_str().map_err(|_| "it is not text".to_owned()).and_then(str::parse);
            visible.toolsets = visible
                .toolsets
                .intersection(asked.map_err(|error| invalid_params(format!("X-MCP-Toolsets: {error}")))?);
        }
        for value in parts.headers.get_all(&READ_ONLY_HEADER) {
            visible.read_only |= match value.as_bytes().to_ascii_lowercase().as_slice() {
                b"true" | b"1" => true,
                b"false" | b"0" => false,
                _ => return Err(invalid_params("X-MCP-Readonly: send true or false")),
            };
        }
        Ok(visible)
    }

    /// A fault whose hint names only tools that this request may see, in the configured spelling.
    fn client_fault(&self, fault: Fault, visible: ToolsetFilter) -> Fault {
        fault.for_client(self.engine().catalogue(), visible, self.shared.options.tool_names.name_writer())
    }

    fn toolset_filter(&self, context: &RequestContext<RoleServer>) -> Result<impl Fn(Toolset) -> bool, ErrorData> {
        let toolsets = self.visible_toolsets(context)?.toolsets;
        Ok(move |toolset| toolsets.contains(toolset))
    }

    /// Refuses a URI that is unknown or hidden from this request.
    fn check_resource_visible(&self, uri: &str, context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
        if uri.len() > limits::URI_BYTES_MAX {
            let (bytes, most) = (uri.len(), limits::URI_BYTES_MAX);
            return Err(invalid_params(format!("the URI has {bytes} bytes, at most {most} are taken")));
        }
        let is_visible = self.toolset_filter(context)?;
        let catalogue = self.engine().catalogue();
        let Err(fault) = catalogue.resolve_among(uri, &is_visible) else { return Ok(()) };
        let fault = if catalogue.resolve(uri).is_ok() { hidden_fault("resource", uri) } else { fault };
        Err(convert::resource_error(&fault, uri))
    }

    /// Counts a request of the protocol itself, or refuses it.
    fn check_rate(&self, context: &RequestContext<RoleServer>, class: RateClass) -> Result<(), ErrorData> {
        let caller = self.unverified_caller(context)?;
        self.engine().check_rate(&caller, class).map_err(|fault| convert::protocol_error(&fault))
    }

    /// The resources of a template that exist for this caller.
    async fn list_template_resources(
        &self,
        resource: &skald_app::Resource,
        field: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<Vec<Resource>, ErrorData> {
        let request = CompletionRequest {
            target: CompletionTarget::Resource(resource.uri.to_owned()),
            argument: field.to_owned(),
            typed: String::new(),
            given: Vec::new(),
        };
        let control = request_control(context)?;
        let known = self.engine().complete(&self.caller(context).await?, &request, &control).await;
        let known = known.map_err(|fault| convert::protocol_error(&fault))?;
        Ok(known.values.iter().map(|value| convert::templated_resource(resource, field, value)).collect())
    }

    /// The watch of this handler, started on the first call. `None` if the handler ends with the request.
    fn watch(&self, caller: Caller, context: &RequestContext<RoleServer>) -> Option<&ResourceWatch> {
        let start = || ResourceWatch::start(&self.shared.engine, caller, context.peer.clone());
        self.outlives_request.then(|| self.watch.get_or_init(start))
    }
}

/// `_meta` keys of a request.
impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        self.shared.config.clone()
    }

    /// rmcp asks for a tool's schema only to check parameters mirrored in headers, and no tool here has any.
    fn get_tool(&self, _name: &str) -> Option<Tool> {
        None
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        check_initialize_params(&request)?;
        context.peer.set_peer_info(request.clone());
        let mut result = self.negotiate_initialize(&request)?;
        // Do not ask a remote engine for the caller here: rmcp does not notice a lost client before `initialize` is
        // answered.
        if self.watch(self.unverified_caller(&context)?, &context).is_none()
            && let Some(resources) = &mut result.capabilities.resources
        {
            resources.subscribe = None;
            resources.list_changed = None;
        }
        Ok(result)
    }

    async fn list_tools(
        &self,
        params: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        check_no_cursor(params.as_ref())?;
        self.check_rate(&context, RateClass::List)?;
        let visible = self.visible_toolsets(&context)?;
        let catalogue = self.engine().catalogue();
        let is_visible =
            |tool: &&Tool| find_operation(catalogue, &tool.name).is_some_and(|entry| visible.admits(entry));
        let tools = self.shared.tools.get_or_init(|| convert::tools(catalogue, self.shared.options.tool_names));
        let tools = tools.iter().filter(is_visible).cloned().collect();
        let mut result = ListToolsResult::with_all_items(tools);
        result.ttl_ms = list_ttl_ms(&context);
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let visible = self.visible_toolsets(&context)?;
        let catalogue = self.engine().catalogue();
        let entry = find_operation(catalogue, &request.name).filter(|entry| entry.exposed == Exposed::Everywhere);
        let Some(entry) = entry.filter(|entry| visible.admits(entry)) else {
            let offered = catalogue.operations().iter().filter(|entry| entry.exposed == Exposed::Everywhere);
            let names = self.shared.options.tool_names;
            let offered = offered.filter(|entry| visible.admits(entry)).map(|entry| names.tool_name(entry.name));
            return Err(unknown_tool_error(&request.name, &offered.collect::<Vec<_>>(), entry.is_some()));
        };
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let control = request_control(&context)?;
        let answer = self.engine().answer(&self.caller(&context).await?, entry.name, arguments, &control).await;
        let answer = answer.map_err(|fault| self.client_fault(fault, visible));
        if let Ok(Answer::Prepared(prepared)) = &answer {
            // Boxed because it is rare: inline, it would enlarge the future of every request.
            Box::pin(insert_rendered_json::quote_if_large(prepared)).await;
        }
        match (entry.picture, answer) {
            // Boxed because it is rare: inline, it would enlarge the future of every request.
            (Some(field), Ok(Answer::Value(answer))) if answer.get(field).is_some() => {
                Ok(Box::pin(convert::tool_result_with_image(answer, field)).await.into())
            }
            (_, answer) => Ok(convert::tool_result(answer, entry.text_field, control.revision.get()).into()),
        }
    }

    async fn list_resources(
        &self,
        params: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        check_no_cursor(params.as_ref())?;
        self.check_rate(&context, RateClass::List)?;
        let is_visible = self.toolset_filter(&context)?;
        let resources = self.engine().catalogue().resources().iter();
        let visible = resources.filter(|resource| is_visible(resource.toolset));
        let mut listed = Vec::new();
        for resource in visible {
            match resource.listed {
                Some(field) => listed.extend(self.list_template_resources(resource, field, &context).await?),
                None if resource.is_template() => {}
                None => listed.push(convert::resource(resource)),
            }
        }
        Ok(ListResourcesResult::with_all_items(listed))
    }

    async fn list_resource_templates(
        &self,
        params: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        check_no_cursor(params.as_ref())?;
        self.check_rate(&context, RateClass::List)?;
        let is_visible = self.toolset_filter(&context)?;
        let resources = self.engine().catalogue().resources().iter();
        let listed = resources.filter(|resource| resource.is_template() && is_visible(resource.toolset));
        let listed = listed.map(convert::template).collect();
        let mut result = ListResourceTemplatesResult::with_all_items(listed);
        result.ttl_ms = list_ttl_ms(&context);
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if skills::is_skill_uri(&request.uri) {
            self.check_rate(&context, RateClass::Read)?;
            return Ok(skills::read(self.toolset_filter(&context)?, &request.uri)?.into());
        }
        self.check_resource_visible(&request.uri, &context)?;
        let control = request_control(&context)?;
        let read = self.engine().read(&self.caller(&context).await?, &request.uri, &control).await;
        let visible = self.visible_toolsets(&context)?;
        let read = read.map_err(|fault| self.client_fault(fault, visible));
        let contents = read.map_err(|fault| convert::resource_error(&fault, &request.uri))?;
        if let ContentsText::Prepared(prepared) = &contents.text {
            // Boxed because it is rare: inline, it would enlarge the future of every request.
            Box::pin(insert_rendered_json::quote_if_large(prepared)).await;
        }
        Ok(convert::resource_contents(request.uri, contents, control.revision.get()).into())
    }

    async fn list_prompts(
        &self,
        params: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        check_no_cursor(params.as_ref())?;
        self.check_rate(&context, RateClass::List)?;
        let is_visible = self.toolset_filter(&context)?;
        let prompts = self.engine().catalogue().prompts().iter();
        let listed = prompts.filter(|prompt| is_visible(prompt.toolset)).map(convert::prompt).collect();
        let mut result = ListPromptsResult::with_all_items(listed);
        result.ttl_ms = list_ttl_ms(&context);
        Ok(result)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let is_visible = self.toolset_filter(&context)?;
        let entry = self.engine().catalogue().prompt(&request.name);
        let entry = entry.map_err(|fault| convert::protocol_error(&fault))?;
        if !is_visible(entry.toolset) {
            return Err(convert::protocol_error(&hidden_fault("prompt", entry.name)));
        }
        let arguments: Vec<(String, String)> = request
            .arguments
            .unwrap_or_default()
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name, value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
            .collect();
        let control = request_control(&context)?;
        let text = self.engine().render(&self.caller(&context).await?, entry.name, &arguments, &control).await;
        let visible = self.visible_toolsets(&context)?;
        let text = text.map_err(|fault| convert::protocol_error(&self.client_fault(fault, visible)))?;
        Ok(convert::prompt_result(entry, text).into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.check_rate(&context, RateClass::Read)?;
        let target = match request.r#ref {
            Reference::Prompt(prompt) => CompletionTarget::Prompt(prompt.name),
            Reference::Resource(resource) => CompletionTarget::Resource(resource.uri),
            _ => return Err(invalid_params("completions are for prompts and resource templates")),
        };
        let is_visible = self.toolset_filter(&context)?;
        let toolset = self.engine().catalogue().toolset_of(&target).map_err(|fault| convert::protocol_error(&fault))?;
        if !is_visible(toolset) {
            return Err(convert::protocol_error(&hidden_fault("argument", &request.argument.name)));
        }
        let given = request.context.and_then(|context| context.arguments).unwrap_or_default().into_iter().collect();
        let (argument, typed) = (request.argument.name, request.argument.value);
        let request = CompletionRequest { target, argument, typed, given };
        let control = request_control(&context)?;
        let completion = self.engine().complete(&self.caller(&context).await?, &request, &control).await;
        convert::completion_result(completion.map_err(|fault| convert::protocol_error(&fault))?)
    }

    /// Accepted from revisions that have it, without effect: Skald sends no log messages to clients.
    #[expect(deprecated, reason = "clients before 2026-07-28 still ask for a level")]
    async fn set_level(&self, _: SetLevelRequestParams, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        if is_stateless(&context) { Err(ErrorData::method_not_found::<SetLevelRequestMethod>()) } else { Ok(()) }
    }

    /// rmcp also calls this for a known method whose params it cannot parse.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if [skills::LIST, skills::GET].contains(&request.method.as_str()) {
            self.check_rate(&context, RateClass::List)?;
            let is_visible = self.toolset_filter(&context)?;
            let params = request.params.as_ref();
            let answer = if request.method == skills::LIST {
                skills::list(is_visible, params)
            } else {
                skills::get(is_visible, params)
            };
            return answer.map(CustomResult::new);
        }
        let of_its_era: &[&str] = if is_stateless(&context) { &STATELESS_METHODS } else { &HANDSHAKE_METHODS };
        let method = request.method.as_str();
        if METHODS.contains(&method) || of_its_era.contains(&method) {
            return Err(invalid_params(format!("the params of {} do not fit the protocol", request.method)));
        }
        let message = format!("there is no method {:?}", truncate_for_message(&request.method));
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None))
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.check_rate(&context, RateClass::Read)?;
        self.check_resource_visible(&request.uri, &context)?;
        let caller = self.caller(&context).await?;
        if !self.engine().can_subscribe(&caller, &request.uri).await {
            let fault =
                Fault::new(Code::NotFound, format!("there is no resource {:?}", truncate_for_message(&request.uri)));
            return Err(convert::resource_error(&fault, &request.uri));
        }
        let Some(watch) = self.watch(caller, &context) else {
            return Err(ErrorData::invalid_request("subscriptions need a session, and sessions are off here", None));
        };
        // Boxed because it is rare: inline, it would enlarge the future of every request.
        Box::pin(watch.wait_until_open()).await;
        watch.add(request.uri).map_err(|fault| convert::protocol_error(&fault))
    }

    /// Counts against no limit: it removes a text from a set of limited size, and asks the engine nothing.
    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if let Some(watch) = self.watch.get() {
            watch.remove(&request.uri);
        }
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(subscriptions::accepted_filter(self.engine(), self.shared.options.visible, requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let request = context.request_context();
        self.check_rate(request, RateClass::Read)?;
        let listener_view =
            ListenerView { visible: self.visible_toolsets(request)?, caller: self.caller(request).await? };
        // An error means that the listener has left. Boxed because rmcp's request future is as large as its largest
        // handler.
        let _ =
            Box::pin(subscriptions::listen(self.engine(), listener_view, context, &self.shared.options.stopping)).await;
        Ok(())
    }
}
