//! Parses the arguments of an event: its payload, its files, and inline content.

use std::io::Read;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use skald_app::{Code, Fault, limits, truncate_for_message};

use crate::arguments::EvidenceArguments;

/// The separator of the paths in `--artifact-paths`.
const PATH_SEPARATOR: char = ';';

/// The input fields of an event: its run, name, payload and artifacts.
pub(super) fn build_event_input(run_id: &str, arguments: &EvidenceArguments) -> Result<Value, Fault> {
    let listed = arguments.artifact_paths.iter().flat_map(|paths| paths.split(PATH_SEPARATOR));
    let listed = listed.map(str::trim).filter(|path| !path.is_empty());
    let paths: Vec<&str> = listed.chain(arguments.artifact.iter().map(String::as_str)).collect();
    let handed = arguments.inline.iter().map(|path| read_inline_artifact(path)).collect::<Result<Vec<_>, _>>()?;
    Ok(json!({
        "run_id": run_id,
        "event_name": arguments.event,
        "payload": parse_object("--payload", arguments.payload.as_deref())?,
        "artifact_paths": if paths.is_empty() { Value::Null } else { json!(paths) },
        "artifacts": if handed.is_empty() { Value::Null } else { json!(handed) },
    }))
}

/// Parses a JSON object from the value of an option.
pub(super) fn parse_object(option: &str, text: Option<&str>) -> Result<Option<Map<String, Value>>, Fault> {
    let Some(text) = text else { return Ok(None) };
    let wrong = |why: String| {
        let fault = Fault::new(Code::InvalidParams, format!("{option} {why}: {}", truncate_for_message(text)));
        fault.hint(format!(r#"write a JSON object in quotes, as in {option} '{{"severity": "high"}}'"#))
    };
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(Some(object)),
        Ok(_) => Err(wrong("is no JSON object".to_owned())),
        Err(error) => Err(wrong(format!("is not JSON: {error}"))),
    }
}

/// Reads a local file as an inline artifact, with the path under which the gate stores it.
fn read_inline_artifact(path: &Path) -> Result<Value, Fault> {
    let wrong = |why: String| {
        let fault = Fault::new(Code::InvalidParams, format!("{} {why}", path.display()));
        fault
            .with_path("/artifacts")
            .hint("hand in a file that can be read, or use --artifact for one below the artifact folder")
    };
    let mut bytes = Vec::new();
    let most = limits::INLINE_BYTES_MAX as u64;
    let file = std::fs::File::open(path).map_err(|error| wrong(format!("cannot be read: {error}")))?;
    file.take(most + 1).read_to_end(&mut bytes).map_err(|error| wrong(format!("cannot be read: {error}")))?;
    if bytes.len() as u64 > most {
        return Err(wrong(format!("has more than {most} bytes, which is the most that can be handed in")));
    }
    // An absolute path, or one with `..`, is reduced to the file name.
    let is_plain = path.is_relative() && !path.components().any(|part| part.as_os_str() == "..");
    let named = if is_plain { path.to_str() } else { path.file_name().and_then(|name| name.to_str()) };
    let named = named.ok_or_else(|| wrong("has a name that is no text".to_owned()))?.replace('\\', "/");
    Ok(match String::from_utf8(bytes) {
        Ok(text) => json!({"path": named, "text": text}),
        Err(error) => json!({"path": named, "base64": STANDARD.encode(error.as_bytes())}),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(lists: &[&str], single: &[&str]) -> EvidenceArguments {
        let owned = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect();
        EvidenceArguments {
            event: "submit".to_owned(),
            payload: None,
            artifact_paths: owned(lists),
            artifact: owned(single),
            inline: Vec::new(),
        }
    }

    #[test]
    fn only_lists_of_paths_are_split() {
        let input = build_event_input("run-1", &arguments(&["a.md; b.md", "c.md;"], &["d;e.md"])).unwrap();
        assert_eq!(input["artifact_paths"], json!(["a.md", "b.md", "c.md", "d;e.md"]));
        let input = super::build_event_input("run-1", &arguments(&[""], &[])).unwrap();
        assert_eq!((&input["artifact_paths"], &input["artifacts"]), (&Value::Null, &Value::Null));
    }

    #[test]
    fn a_payload_is_an_object() {
        assert_eq!(parse_object("--payload", None).unwrap(), None);
        assert_eq!(parse_object("--payload", Some(r#"{"a": 1}"#)).unwrap().map(|object| object.len()), Some(1));
        for (text, expected) in [("[1]", "--payload is no JSON object: [1]"), ("{", "--payload is not JSON: EOF")] {
            let fault = parse_object("--payload", Some(text)).unwrap_err();
            assert!(fault.body().message.starts_with(expected), "{fault}");
        }
    }
}
