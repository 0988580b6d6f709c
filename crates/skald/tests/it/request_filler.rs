//! Fills the paths and bodies of an OpenAPI file with values by name, so that a test can walk over every operation.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// Values for fields and path parameters, by name.
#[derive(Debug)]
pub(crate) struct RequestFiller {
    values: BTreeMap<String, Vec<Value>>,
    /// The text for what has no value.
    text: String,
}

impl RequestFiller {
    pub(crate) fn new(text: &str) -> Self {
        Self { values: BTreeMap::new(), text: text.to_owned() }
    }

    pub(crate) fn add(&mut self, names: &[&str], value: &Value) {
        for name in names {
            self.values.entry((*name).to_owned()).or_default().push(value.clone());
        }
    }

    pub(crate) fn of(&self, name: &str) -> &[Value] {
        self.values.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// The paths of a template: one for each value of each parameter, and one more for each value of each optional
    /// parameter of the query.
    pub(crate) fn fill_path(&self, template: &str, parameters: &Value) -> Vec<String> {
        let mut paths = vec![String::new()];
        let mut rest = template;
        while let Some((before, (name, after))) =
            rest.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
        {
            let values = self.of(name.trim_start_matches(['*', '?']));
            let texts: Vec<String> =
                if values.is_empty() { vec![self.text.clone()] } else { values.iter().map(text_of).collect() };
            let extended =
                paths.iter().flat_map(|path| texts.iter().map(move |text| format!("{path}{before}{}", encode(text))));
            paths = extended.collect();
            rest = after;
        }
        for path in &mut paths {
            path.push_str(rest);
        }
        let mut all = paths.clone();
        for parameter in parameters.as_array().into_iter().flatten().filter(|parameter| parameter["in"] == "query") {
            let name = parameter["name"].as_str().expect("a name");
            let mut texts: Vec<String> = self.of(name).iter().map(text_of).collect();
            texts.extend(parameter["schema"]["enum"].as_array().into_iter().flatten().map(text_of));
            if texts.is_empty() {
                texts.push(self.text.clone());
            }
            for text in texts {
                all.extend(paths.iter().map(|path| format!("{path}?{name}={}", encode(&text))));
            }
        }
        all
    }

    /// The bodies of a request: the required fields alone, and with each known value of each other field.
    pub(crate) fn fill_body(&self, request_body: &Value, document: &Value) -> Vec<String> {
        let schema = resolve(&request_body["content"]["application/json"]["schema"], document);
        if !schema.is_object() {
            return vec![String::new()];
        }
        let required = self.fill_object(schema, document);
        let mut bodies = vec![required.clone()];
        let known: Map<String, Value> = schema["properties"]
            .as_object()
            .into_iter()
            .flatten()
            .filter_map(|(name, _)| Some((name.clone(), self.of(name).first()?.clone())))
            .collect();
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let property = resolve(property, document);
            let mut values: Vec<Value> = self.of(name).to_vec();
            values.extend(property["enum"].as_array().into_iter().flatten().cloned());
            if values.is_empty() {
                values.push(self.fill_value(name, property, document));
            }
            for value in values {
                // With the required fields alone, and with all fields that are known.
                for base in [&required, &merge(&required, &known)] {
                    let mut body = base.clone();
                    body.insert(name.clone(), value.clone());
                    bodies.push(body);
                }
            }
        }
        bodies.into_iter().map(|body| Value::Object(body).to_string()).collect()
    }

    fn fill_object(&self, schema: &Value, document: &Value) -> Map<String, Value> {
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let mut filled: Map<String, Value> = required
            .map(|name| (name.to_owned(), self.fill_value(name, &schema["properties"][name], document)))
            .collect();
        if let Some(campaign_id) = self.of("campaign_id").first()
            && schema["properties"]["campaign_id"].is_object()
        {
            filled.insert("campaign_id".to_owned(), campaign_id.clone());
        }
        filled
    }

    fn fill_value(&self, name: &str, schema: &Value, document: &Value) -> Value {
        let schema = resolve(schema, document);
        if let Some(value) = self.of(name).first() {
            return value.clone();
        }
        if let Some(word) = schema["enum"].get(0) {
            return word.clone();
        }
        match schema["type"].as_str() {
            Some("array") => json!([self.fill_value("", &schema["items"], document)]),
            Some("object") => Value::Object(self.fill_object(schema, document)),
            Some("integer" | "number") => json!(1),
            Some("boolean") => json!(false),
            _ => json!(self.text),
        }
    }
}

pub(crate) fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Percent-encodes everything but letters, digits and the few characters that ids and file names have.
fn encode(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

fn merge(one: &Map<String, Value>, other: &Map<String, Value>) -> Map<String, Value> {
    other.iter().chain(one).map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn resolve<'a>(schema: &'a Value, document: &'a Value) -> &'a Value {
    schema["$ref"].as_str().and_then(|path| document.pointer(path.trim_start_matches('#'))).unwrap_or(schema)
}
