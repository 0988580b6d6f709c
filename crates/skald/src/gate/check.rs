//! `skald gate check`: reports errors in process files in the format of compilers.

use serde_json::{Value, json};
use skald_app::{Code, Fault};

use super::engine_access::EngineAccess;
use super::print_reply::CommandReply;
use super::{read_process_source, text};
use crate::arguments::CheckArguments;
use crate::output::to_printable;

pub(super) async fn run(arguments: &CheckArguments) -> Result<CommandReply, Fault> {
    let engine_access = EngineAccess::in_memory();
    let (mut lines, mut files, mut is_good) = (Vec::new(), Vec::new(), true);
    for file in &arguments.files {
        let name = read_process_source::source_name(file);
        let checked = match read_process_source::read_source(file) {
            Ok(source) => {
                engine_access.call("state_gate.submit_process", json!({"source": source, "check_only": true})).await
            }
            Err(fault) => Err(fault),
        };
        let (row, findings) = match checked {
            Ok(process) => {
                let findings = process["findings"].as_array().cloned().unwrap_or_default();
                if findings.is_empty() {
                    let (id, version) = (text::one_line(&process["process_id"]), text::one_line(&process["version"]));
                    lines.push(format!("{name}: {id} {version} has no errors"));
                }
                is_good &= findings.is_empty() || !arguments.strict;
                (json!({"file": name, "valid": true, "process": process}), findings)
            }
            Err(fault) if fault.code() == Code::InvalidProcess => {
                is_good = false;
                let findings =
                    fault.body().details.get("findings").and_then(Value::as_array).cloned().unwrap_or_default();
                (json!({"file": name, "valid": false, "error": fault.body()}), findings)
            }
            Err(fault) => {
                is_good = false;
                let hint = fault.body().hint.as_deref().unwrap_or_default();
                lines.push(to_printable(&format!("{}; {hint}", fault.body().message)));
                (json!({"file": name, "valid": false, "error": fault.body()}), Vec::new())
            }
        };
        lines.extend(findings.iter().map(|finding| text::finding(&name, finding)));
        files.push(row);
    }
    let (text, answer) = (lines.join("\n"), json!({"files": files}));
    Ok(if is_good { CommandReply::success(text, answer) } else { CommandReply::negative(text, answer) })
}
