//! `server.json`, the entry of the MCP registry, and its check against the registry's schema.

use std::fs;

use anyhow::{anyhow, bail};
use serde_json::{Value, json};

use super::release::Release;
use crate::paths;

const SCHEMA_FILE: &str = "packaging/server.schema.json";
const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

/// The entry, with the hash of the bundle. The image has none: a registry of images names it by digest.
pub(super) fn render(release: &Release, bundle_sha256: &str) -> Value {
    json!({
        "$schema": SCHEMA,
        "name": release.server_name(),
        "title": "Skald",
        "description": release.description,
        "version": release.version,
        "repository": {"url": release.repository(), "source": "github"},
        "packages": [
            {
                "registryType": "mcpb",
                "identifier": release.download(&release.file_name("mcpb")),
                "fileSha256": bundle_sha256,
                "transport": {"type": "stdio"},
            },
            {
                "registryType": "oci",
                "identifier": release.image(),
                "runtimeHint": "docker",
                "runtimeArguments": [
                    {"type": "named", "name": "--mount", "value": "type=volume,src=skald,dst=/data",
                     "description": "Where the world is kept."},
                ],
                "packageArguments": [{"type": "positional", "value": "mcp"}],
                "transport": {"type": "stdio"},
            },
        ],
    })
}

/// Checks an entry against the copy of the schema.
pub(super) fn check(entry: &Value) -> anyhow::Result<()> {
    let schema: Value = serde_json::from_str(&fs::read_to_string(paths::root().join(SCHEMA_FILE))?)?;
    if schema["$id"] != SCHEMA {
        bail!("{SCHEMA_FILE} is a copy of another schema than {SCHEMA}");
    }
    let validator = jsonschema::validator_for(&schema).map_err(|error| anyhow!("{SCHEMA_FILE}: {error}"))?;
    let errors: Vec<String> =
        validator.iter_errors(entry).map(|error| format!("{}: {error}", error.instance_path())).collect();
    if !errors.is_empty() {
        bail!("server.json does not fit its schema: {}", errors.join("; "));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_that_does_not_fit_is_found() {
        let entry = render(&Release::example(), &"0".repeat(64));
        check(&entry).unwrap();
        let broken: [(&str, Value, &str); 5] = [
            ("/name", json!("skald"), "/name"),
            ("/description", json!("a".repeat(101)), "/description"),
            ("/packages/0/fileSha256", json!("FF"), "/packages/0/fileSha256"),
            ("/packages/1/transport", json!({}), "/packages/1/transport"),
            ("/packages/1/packageArguments/0", json!({"type": "positional"}), "/packages/1/packageArguments/0"),
        ];
        for (pointer, value, expected) in broken {
            let mut entry = entry.clone();
            *entry.pointer_mut(pointer).unwrap() = value;
            assert!(check(&entry).unwrap_err().to_string().contains(expected), "{pointer}");
        }
    }
}
