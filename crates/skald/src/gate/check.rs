//! `skald gate check`: what is wrong with process files, as compilers say it.

use serde_json::{Value, json};
use skald_app::{Code, Fault};

use super::desk::Desk;
use super::reply::Reply;
use super::{source, text};
use crate::arguments::CheckArguments;
use crate::output::printable;

pub(super) async fn run(arguments: &CheckArguments) -> Result<Reply, Fault> {
    let desk = Desk::forgetful();
    let (mut lines, mut files, mut is_good) = (Vec::new(), Vec::new(), true);
    for file in &arguments.files {
        let name = source::name(file);
        let checked = match source::read(file) {
            Ok(source) => desk.call("state_gate.submit_process", json!({"source": source, "check_only": true})).await,
            Err(fault) => Err(fault),
        };
        let (row, findings) = match checked {
            Ok(process) => {
                let findings = process["findings"].as_array().cloned().unwrap_or_default();
                if findings.is_empty() {
                    let (id, version) = (text::word(&process["process_id"]), text::word(&process["version"]));
                    lines.push(format!("{name}: {id} {version} has no errors"));
                }
                is_good &= findings.is_empty() || !arguments.strict;
                (json!({"file": name, "valid": true, "process": process}), findings)
            }
            Err(fault) if fault.code() == Code::InvalidProcess => {
                is_good = false;
                let findings: Vec<Value> = fault.body().findings.iter().map(|finding| json!(finding)).collect();
                (json!({"file": name, "valid": false, "error": fault.body()}), findings)
            }
            Err(fault) => {
                is_good = false;
                let hint = fault.body().hint.as_deref().unwrap_or_default();
                lines.push(printable(&format!("{}; {hint}", fault.body().message)));
                (json!({"file": name, "valid": false, "error": fault.body()}), Vec::new())
            }
        };
        lines.extend(findings.iter().map(|finding| text::finding(&name, finding)));
        files.push(row);
    }
    let (text, answer) = (lines.join("\n"), json!({"files": files}));
    Ok(if is_good { Reply::done(text, answer) } else { Reply::wanting(text, answer) })
}
