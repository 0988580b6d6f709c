//! `skald gate create-run`.

use serde_json::{Value, json};
use skald_app::Fault;

use super::config::Config;
use super::desk::Desk;
use super::reply::Reply;
use super::{evidence, text};
use crate::arguments::{CreateRunArguments, GateCallArguments};

pub(super) async fn run(arguments: &GateCallArguments, create: &CreateRunArguments) -> Result<Reply, Fault> {
    let context = evidence::object("--context", create.context.as_deref())?;
    let config = Config::wanted(create)?;
    let desk = Desk::open(arguments).await?;
    if let Some(config) = &config {
        config.check(&desk).await?;
    }
    let input = json!({
        "process_id": create.process_id, "context": context, "run_id": create.run_id, "campaign_id": create.campaign_id,
    });
    let mut created = desk.call("state_gate.create_run", input).await?;
    if let Some(config) = config {
        let path = config.write(created["run_id"].as_str().unwrap_or_default())?;
        created["config_path"] = Value::from(path.display().to_string());
    }
    Ok(Reply::done(text::created(&created), created))
}
