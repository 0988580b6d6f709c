//! The bill of materials of the program, as `CycloneDX` 1.6 in JSON.

use serde_json::{Value, json};

use super::release::Release;
use super::shipped_crates::ShippedCrate;

pub(super) fn render(release: &Release, crates: &[ShippedCrate]) -> Value {
    let components: Vec<Value> = crates.iter().filter(|shipped| shipped.name != "skald").map(component).collect();
    let dependencies: Vec<Value> = crates
        .iter()
        .map(|shipped| {
            let on: Vec<String> = shipped.dependencies.iter().map(|(name, version)| purl(name, version)).collect();
            json!({"ref": purl(&shipped.name, &shipped.version), "dependsOn": on})
        })
        .collect();
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

/// The name of a crate for all programs that read bills of materials.
fn purl(name: &str, version: &str) -> String {
    format!("pkg:cargo/{name}@{}", version.replace('+', "%2B"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::shipped_crates;
    use std::collections::BTreeSet;

    #[test]
    fn every_dependency_is_a_component_or_the_program() {
        let release = Release::read().unwrap();
        let bill = render(&release, &shipped_crates::read(&release).unwrap());
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
    }
}
