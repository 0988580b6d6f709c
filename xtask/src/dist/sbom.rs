//! The bill of materials of the program, as `CycloneDX` 1.6 in JSON.

use serde_json::{Value, json};

use super::bundled_parts::BundledPart;
use super::release::Release;
use super::shipped_crates::ShippedCrate;

pub(super) fn render(release: &Release, crates: &[ShippedCrate], parts: &[BundledPart]) -> Value {
    let of_crates = crates.iter().filter(|shipped| shipped.name != "skald").map(component);
    let components: Vec<Value> = of_crates.chain(parts.iter().map(part_component)).collect();
    let of_crates = crates.iter().map(|shipped| {
        let mut on: Vec<String> = shipped.dependencies.iter().map(|(name, version)| purl(name, version)).collect();
        if shipped.name == "skald" {
            on.extend(parts.iter().map(part_purl));
        }
        json!({"ref": purl(&shipped.name, &shipped.version), "dependsOn": on})
    });
    let of_parts = parts.iter().map(|part| json!({"ref": part_purl(part), "dependsOn": []}));
    let dependencies: Vec<Value> = of_crates.chain(of_parts).collect();
    json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": release.time().unwrap_or_default(),
            "component": {
                "type": "application",
                "bom-ref": purl("skald", &release.version),
                "name": "skald",
                "version": release.version,
                "description": release.description,
                "purl": purl("skald", &release.version),
                "licenses": [{"expression": "Apache-2.0"}],
            },
        },
        "components": components,
        "dependencies": dependencies,
    })
}

fn component(shipped: &ShippedCrate) -> Value {
    let purl = purl(&shipped.name, &shipped.version);
    let mut component = json!({
        "type": "library",
        "bom-ref": purl,
        "name": shipped.name,
        "version": shipped.version,
        "purl": purl,
        "scope": "required",
        "licenses": [{"expression": shipped.licence}],
    });
    if let Some(checksum) = &shipped.checksum {
        component["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
    }
    if let Some(repository) = &shipped.repository {
        component["externalReferences"] = json!([{"type": "vcs", "url": repository}]);
    }
    component
}

/// A part that is no crate, with its files.
fn part_component(part: &BundledPart) -> Value {
    let files = part
        .files
        .iter()
        .map(|(name, hash)| json!({"type": "file", "name": name, "hashes": [{"alg": "SHA-256", "content": hash}]}));
    json!({
        "type": "library",
        "bom-ref": part_purl(part),
        "name": part.name,
        "version": part.version,
        "purl": part_purl(part),
        "scope": "required",
        "licenses": [{"expression": part.licence}],
        "externalReferences": [{"type": "website", "url": part.source}],
        "components": files.collect::<Vec<_>>(),
    })
}

fn part_purl(part: &BundledPart) -> String {
    format!("pkg:generic/{}@{}", part.name.to_lowercase().replace(' ', "-"), part.version)
}

/// The name of a crate for all programs that read bills of materials.
fn purl(name: &str, version: &str) -> String {
    format!("pkg:cargo/{name}@{}", version.replace('+', "%2B"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::{bundled_parts, shipped_crates};
    use std::collections::BTreeSet;

    #[test]
    fn every_dependency_is_a_component_or_the_program() {
        let release = Release::read().unwrap();
        let crates = shipped_crates::read(&release).unwrap();
        let bill = render(&release, &crates, &bundled_parts::read(&crates).unwrap());
        let names = |list: &Value, field: &str| -> Vec<String> {
            list.as_array().unwrap().iter().map(|entry| entry[field].as_str().unwrap().to_owned()).collect()
        };
        let mut known: BTreeSet<String> = names(&bill["components"], "bom-ref").into_iter().collect();
        assert_eq!(known.len(), bill["components"].as_array().unwrap().len(), "a component is listed twice");
        known.insert(bill["metadata"]["component"]["bom-ref"].as_str().unwrap().to_owned());
        assert_eq!(names(&bill["dependencies"], "ref").into_iter().collect::<BTreeSet<_>>(), known);
        let all =
            bill["dependencies"].as_array().unwrap().iter().flat_map(|entry| entry["dependsOn"].as_array().unwrap());
        assert!(all.map(|name| name.as_str().unwrap()).all(|name| known.contains(name)));
        assert!(bill["components"].as_array().unwrap().iter().any(|found| found["hashes"].is_array()));
        for (name, files) in [("SQLite", 0), ("htmx", 1), ("DejaVu Sans", 2)] {
            let found = bill["components"].as_array().unwrap().iter().find(|found| found["name"] == name).unwrap();
            assert_eq!(found["components"].as_array().unwrap().len(), files, "{found}");
        }
    }
}
