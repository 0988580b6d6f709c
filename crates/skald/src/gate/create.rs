//! `skald gate create-run`: creates a run.

use serde_json::{Value, json};
use skald_app::Fault;

use super::engine_access::EngineAccess;
use super::print_reply::CommandReply;
use super::write_run_file::RunFile;
use super::{event_arguments, text};
use crate::arguments::{CreateRunArguments, GateCallArguments};

pub(super) async fn run(arguments: &GateCallArguments, create: &CreateRunArguments) -> Result<CommandReply, Fault> {
    let context = event_arguments::parse_object("--context", create.context.as_deref())?;
    let config = RunFile::from_arguments(create)?;
    let engine_access = EngineAccess::open(arguments).await?;
    if let Some(config) = &config {
        config.check_overwrite(&engine_access).await?;
    }
    let input = json!({
        "process_id": create.process_id, "context": context, "run_id": create.run_id, "campaign_id": create.campaign_id,
    });
    let mut created = engine_access.call("state_gate.create_run", input).await?;
    if let Some(config) = config {
        let path = config.write(created["run_id"].as_str().unwrap_or_default())?;
        created["config_path"] = Value::from(path.display().to_string());
    }
    Ok(CommandReply::success(text::created_run(&created), created))
}
