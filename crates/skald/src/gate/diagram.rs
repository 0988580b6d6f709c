//! `skald gate diagram`: prints a Mermaid diagram, or writes an SVG picture.

use std::path::Path;

use serde_json::{Value, json};
use skald_app::{Code, Fault};

use super::engine_access::EngineAccess;
use super::find_run_id;
use super::print_reply::CommandReply;
use crate::arguments::{DiagramArguments, GateCallArguments};

/// Given in place of a file, for standard output.
const STANDARD_OUTPUT: &str = "-";

pub(super) async fn run(arguments: &GateCallArguments, diagram: &DiagramArguments) -> Result<CommandReply, Fault> {
    let run_id = match &diagram.process_id {
        Some(_) => Value::Null,
        None => json!(find_run_id::require_run_id(&diagram.run)?),
    };
    let form = if diagram.svg.is_some() { "svg" } else { "mermaid" };
    let input =
        json!({"process_id": diagram.process_id, "run_id": run_id, "form": form, "theme": diagram.theme.name()});
    let answer = EngineAccess::open_existing(arguments).await?.call("state_gate.document", input).await?;
    let text = answer["text"].as_str().unwrap_or_default().to_owned();
    let Some(file) = diagram.svg.as_deref().filter(|file| *file != Path::new(STANDARD_OUTPUT)) else {
        return Ok(CommandReply::success(text, answer));
    };
    std::fs::write(file, text).map_err(|error| {
        let fault = Fault::new(Code::Unavailable, format!("{} cannot be written: {error}", file.display()));
        fault.hint("name another file with --svg, or - for standard output")
    })?;
    Ok(CommandReply::success(format!("{} is drawn", file.display()), json!({"svg": file.display().to_string()})))
}
