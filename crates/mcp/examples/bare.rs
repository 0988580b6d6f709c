//! A minimal rmcp server for comparison: one tool, no layers. `cargo xtask bench` compares Skald with it.

use std::error::Error;
use std::net::Ipv4Addr;
use std::sync::Arc;

use axum::serve::ListenerExt;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::net::TcpListener;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BareDice {
    hope: i32,
    fear: i32,
    #[serde(default)]
    modifier: i32,
    difficulty: Option<i32>,
}

#[derive(Serialize, JsonSchema)]
struct BareJudgement {
    hope: i32,
    fear: i32,
    modifier: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    difficulty: Option<i32>,
    total: i32,
    is_crit: bool,
    meets_difficulty: bool,
    outcome: &'static str,
}

fn judge(dice: &BareDice) -> BareJudgement {
    let total = dice.hope + dice.fear + dice.modifier;
    let is_crit = dice.hope == dice.fear;
    let meets_difficulty = dice.difficulty.is_some_and(|difficulty| is_crit || total >= difficulty);
    let outcome = match (is_crit, dice.difficulty.is_some(), meets_difficulty, dice.hope > dice.fear) {
        (true, ..) => "CRITICAL_SUCCESS",
        (_, false, _, true) => "ROLL_WITH_HOPE",
        (_, false, _, false) => "ROLL_WITH_FEAR",
        (_, true, true, true) => "SUCCESS_WITH_HOPE",
        (_, true, true, false) => "SUCCESS_WITH_FEAR",
        (_, true, false, true) => "FAILURE_WITH_HOPE",
        (_, true, false, false) => "FAILURE_WITH_FEAR",
    };
    BareJudgement {
        hope: dice.hope,
        fear: dice.fear,
        modifier: dice.modifier,
        difficulty: dice.difficulty,
        total,
        is_crit,
        meets_difficulty,
        outcome,
    }
}

struct Bare {
    tool: Arc<Tool>,
}

impl ServerHandler for Bare {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    fn get_tool(&self, _name: &str) -> Option<Tool> {
        None
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![Tool::clone(&self.tool)]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name != self.tool.name {
            return Err(ErrorData::invalid_params("unknown tool", None));
        }
        let dice = BareDice::deserialize(Value::Object(request.arguments.unwrap_or_default()))
            .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        let judgement =
            serde_json::to_value(judge(&dice)).map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        Ok(CallToolResult::structured(judgement).into())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(mode), Some(port)) = (arguments.next(), arguments.next()) else {
        return Err("usage: bare session|stateless PORT".into());
    };
    let tool = Tool::new("duality_outcome", "Judge Duality dice", serde_json::Map::new())
        .with_input_schema::<BareDice>()
        .with_output_schema::<BareJudgement>();
    let tool = Arc::new(tool);
    let config =
        StreamableHttpServerConfig::default().with_legacy_session_mode(mode == "session").with_json_response(true);
    let factory = move || Ok(Bare { tool: Arc::clone(&tool) });
    let service = StreamableHttpService::new(factory, Arc::new(LocalSessionManager::default()), config);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.parse()?)).await?;
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, axum::Router::new().route_service("/mcp", service)).await?;
    Ok(())
}
