//! Generates JSON Schemas from types: slim ones for clients to read, full ones for explaining invalid input.

use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value};

/// The input as clients see it: no titles, formats, widths or null branches.
pub(crate) fn client_input_schema<T: JsonSchema>() -> Map<String, Value> {
    choose_smaller(|inline| {
        let mut schema = generate::<T>(SchemaSettings::draft2020_12().for_deserialize(), inline);
        Slim { input: true }.transform(&mut schema);
        schema
    })
}

/// The output as clients see it.
pub(crate) fn client_output_schema<T: JsonSchema>() -> Map<String, Value> {
    choose_smaller(|inline| {
        let mut schema = generate::<T>(SchemaSettings::draft2020_12().for_serialize(), inline);
        Slim { input: false }.transform(&mut schema);
        schema
    })
}

/// The input with formats and bounds, inlined, for comparing with a value.
pub(crate) fn full_input_schema<T: JsonSchema>() -> Value {
    let mut schema = generate::<T>(SchemaSettings::draft2020_12().for_deserialize(), true);
    MergeEnums.transform(&mut schema);
    schema.to_value()
}

/// A schema built by hand, in both forms: slim for clients, full for comparing with a value.
pub(crate) fn custom_schema(make: impl Fn(&mut SchemaGenerator) -> Schema) -> (Value, Value) {
    let settings = SchemaSettings::draft2020_12().for_deserialize().with(|settings| settings.inline_subschemas = true);
    let schema = make(&mut settings.into_generator());
    let (mut shown, mut full) = (schema.clone(), schema);
    Slim { input: true }.transform(&mut shown);
    MergeEnums.transform(&mut full);
    (shown.to_value(), full.to_value())
}

/// The schema of a type that is serialised, without references.
pub(crate) fn inlined<T: JsonSchema>() -> Value {
    generate::<T>(SchemaSettings::draft2020_12().for_serialize(), true).to_value()
}

fn generate<T: JsonSchema>(settings: SchemaSettings, inline: bool) -> Schema {
    settings
        .with(|settings| {
            settings.inline_subschemas = inline;
            settings.meta_schema = None;
        })
        .into_generator()
        .into_root_schema_for::<T>()
}

/// Inlined, unless `$defs` makes the schema a fifth smaller.
fn choose_smaller(schema: impl Fn(bool) -> Schema) -> Map<String, Value> {
    let root = |inline| match schema(inline).to_value() {
        Value::Object(mut object) => {
            object.remove("description");
            object
        }
        other => panic!("the root of a schema is an object, this is {other}"),
    };
    let (inlined, shared) = (root(true), root(false));
    let size = |object: &Map<String, Value>| serde_json::to_string(object).map_or(usize::MAX, |text| text.len());
    if size(&shared) * 5 < size(&inlined) * 4 { shared } else { inlined }
}

/// Rewrites documented enumerations as one `enum`; changes nothing else.
struct MergeEnums;

impl Transform for MergeEnums {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        if let Some(object) = schema.as_object_mut() {
            merge_documented_variants(object);
        }
    }
}

/// Removes what a reader of the schema does not need.
struct Slim {
    input: bool,
}

impl Transform for Slim {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        let Some(object) = schema.as_object_mut() else { return };
        object.remove("title");
        if let Some(format) = object.remove("format") {
            drop_width_bounds(object, &format);
        }
        if self.input {
            drop_null(object);
        } else {
            drop_null_of_omitted(object);
        }
        merge_documented_variants(object);
    }
}

/// Removes bounds that only repeat the width of the integer type.
fn drop_width_bounds(object: &mut Map<String, Value>, format: &Value) {
    let (low, high) = match format.as_str() {
        Some("uint8") => (0, 255),
        Some("uint16") => (0, 65_535),
        Some("uint32" | "uint64" | "uint") => (0, -1),
        Some("int8") => (-128, 127),
        Some("int16") => (-32_768, 32_767),
        _ => return,
    };
    for (key, bound) in [("minimum", low), ("maximum", high)] {
        if object.get(key).and_then(Value::as_i64) == Some(bound) {
            object.remove(key);
        }
    }
}

/// An optional input field is left out, not sent as null.
fn drop_null(object: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|name| name != "null");
        if types.len() == 1 {
            let only = types.remove(0);
            object.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(branches)) = object.get_mut("anyOf") {
        branches.retain(|branch| branch.get("type").is_none_or(|name| name != "null"));
        if branches.len() == 1
            && let Value::Object(only) = branches.remove(0)
        {
            object.remove("anyOf");
            for (key, value) in only {
                object.entry(key).or_insert(value);
            }
        }
    }
    if let Some(Value::Array(words)) = object.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
    if object.get("default").is_some_and(Value::is_null) {
        object.remove("default");
    }
}

/// An output field that may be left out is left out, and never null.
fn drop_null_of_omitted(object: &mut Map<String, Value>) {
    let required = object.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let Some(Value::Object(properties)) = object.get_mut("properties") else {
        return;
    };
    for (name, property) in properties {
        if let Value::Object(property) = property
            && !required.iter().any(|field| field == name)
        {
            drop_null(property);
        }
    }
}

/// schemars renders documented unit variants as `oneOf` of constants: merges them into one `enum`.
fn merge_documented_variants(object: &mut Map<String, Value>) {
    let Some(Value::Array(branches)) = object.get("oneOf") else {
        return;
    };
    let words: Vec<Value> = branches
        .iter()
        .flat_map(|branch| match (branch.get("const"), branch.get("enum")) {
            (Some(word @ Value::String(_)), _) => vec![word.clone()],
            (None, Some(Value::Array(words))) => words.clone(),
            _ => Vec::new(),
        })
        .collect();
    if words.len() >= branches.len() && !words.is_empty() {
        object.remove("oneOf");
        object.insert("type".into(), "string".into());
        object.insert("enum".into(), words.into());
    }
}

/// Completion values for one field: its enumeration, or else its examples.
pub(crate) fn suggestions(full: &Value, field: &str) -> Vec<String> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let Some(property) = full.get("properties").and_then(|properties| properties.get(field)) else {
        return Vec::new();
    };
    let branches = property.get("anyOf").and_then(Value::as_array);
    let listed = |schema: &Value| schema.get("enum").or_else(|| schema.get("examples")).cloned();
    listed(property)
        .or_else(|| branches.into_iter().flatten().find_map(listed))
        .and_then(|list| list.as_array().map(|list| list.iter().filter_map(text).collect()))
        .unwrap_or_default()
}
