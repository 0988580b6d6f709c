//! `skald gate diagram`: Mermaid on standard output, or a picture.

use std::path::Path;

use serde_json::{Value, json};
use skald_app::{Code, Fault};

use super::desk::Desk;
use super::named;
use super::reply::Reply;
use crate::arguments::{DiagramArguments, GateCallArguments};

/// In the place of a file: standard output.
const STANDARD_OUTPUT: &str = "-";

pub(super) async fn run(arguments: &GateCallArguments, diagram: &DiagramArguments) -> Result<Reply, Fault> {
    let run_id = match &diagram.process_id {
        Some(_) => Value::Null,
        None => json!(named::run_id(&diagram.run)?),
    };
    let form = if diagram.svg.is_some() { "svg" } else { "mermaid" };
    let input =
        json!({"process_id": diagram.process_id, "run_id": run_id, "form": form, "theme": diagram.theme.word()});
    let answer = Desk::existing(arguments).await?.call("state_gate.document", input).await?;
    let text = answer["text"].as_str().unwrap_or_default().to_owned();
    let Some(file) = diagram.svg.as_deref().filter(|file| *file != Path::new(STANDARD_OUTPUT)) else {
        return Ok(Reply::done(text, answer));
    };
    std::fs::write(file, text).map_err(|error| {
        let fault = Fault::new(Code::Unavailable, format!("{} cannot be written: {error}", file.display()));
        fault.hint("name another file with --svg, or - for standard output")
    })?;
    Ok(Reply::done(format!("{} is drawn", file.display()), json!({"svg": file.display().to_string()})))
}
