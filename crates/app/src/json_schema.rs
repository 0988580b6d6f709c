//! Generates JSON Schemas from types: slim ones for programs to read, still smaller ones for the tool list, which a model
//! pays for by the character, and full ones for explaining invalid input.

use std::borrow::Cow;

use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value};

/// Marks a type whose fields go without descriptions in the tool list, because the field that holds it describes them:
/// `#[schemars(extend("x-brief" = true))]`. No client sees the mark.
const BRIEF: &str = "x-brief";
/// Longer lists of words are left out of the outputs in the tool list.
const WORDS_LISTED_MAX: usize = 6;
/// Marks a field that the tool list leaves out: an output field that many tools have and no program branches on, or an
/// input field that is another name of one that is listed.
const UNLISTED: &str = "x-unlisted";
/// The description of a field that the context may fill in, which the tool list leaves out.
const FROM_CONTEXT: &str = "The context's if left out.";

/// How a type makes its schema. As a value, so that what is done with schemas is compiled once and not for every type.
#[derive(Clone, Copy)]
pub(crate) struct TypeSchema {
    name: fn() -> Cow<'static, str>,
    schema: fn(&mut SchemaGenerator) -> Schema,
}

impl TypeSchema {
    pub(crate) fn from_type<T: JsonSchema>() -> Self {
        Self { name: T::schema_name, schema: T::json_schema }
    }
}

/// The input as clients see it: no titles, formats, widths or null branches.
pub(crate) fn client_input_schema(described: TypeSchema) -> Map<String, Value> {
    choose_smaller(|inline| {
        let mut schema = generate(described, SchemaSettings::draft2020_12().for_deserialize(), inline);
        SlimSchema { input: true }.transform(&mut schema);
        schema
    })
}

/// The output as clients see it.
pub(crate) fn client_output_schema(described: TypeSchema) -> Map<String, Value> {
    choose_smaller(|inline| {
        let mut schema = generate(described, SchemaSettings::draft2020_12().for_serialize(), inline);
        SlimSchema { input: false }.transform(&mut schema);
        schema
    })
}

/// The input as the tool list shows it: what clients see, without examples, without defaults that say nothing, and
/// without what is said twice.
pub(crate) fn tool_input_schema(described: TypeSchema) -> Map<String, Value> {
    choose_smaller(|inline| {
        let mut schema = generate(described, SchemaSettings::draft2020_12().for_deserialize(), inline);
        DropUnlistedFields.transform(&mut schema);
        DropBriefDescriptions.transform(&mut schema);
        SlimSchema { input: true }.transform(&mut schema);
        TrimToolInput.transform(&mut schema);
        schema
    })
}

/// The output as the tool list shows it: the fields that a program branches on, one level deep. What is inside objects
/// and arrays is left open. Moments are left out, and fields that repeat what was sent, unless they are ids: an id may
/// come from the context.
pub(crate) fn tool_output_schema(input: TypeSchema, output: TypeSchema) -> Map<String, Value> {
    let sent = generate(input, SchemaSettings::draft2020_12().for_deserialize(), true);
    let sent = sent.get("properties").and_then(Value::as_object);
    let is_repeated = |name: &str| {
        let is_id = name.ends_with("_id") || name.ends_with("Id");
        !is_id && sent.is_some_and(|fields| fields.contains_key(name))
    };
    let mut schema = generate(output, SchemaSettings::draft2020_12().for_serialize(), true);
    let is_moment = |field: &Value| {
        let is_moment = |schema: &Value| schema.get("format").is_some_and(|format| format == "date-time");
        let branches = field.get("anyOf").and_then(Value::as_array);
        is_moment(field) || branches.is_some_and(|branches| branches.iter().any(is_moment))
    };
    if let Some(Value::Object(properties)) = schema.as_object_mut().and_then(|object| object.get_mut("properties")) {
        properties.retain(|name, field| !is_moment(field) && !is_repeated(name) && field.get(UNLISTED).is_none());
    }
    SlimSchema { input: false }.transform(&mut schema);
    let root = schema.to_value();
    let fields = root.get("properties").and_then(Value::as_object).into_iter().flatten();
    let fields: Map<String, Value> = fields.map(|(name, field)| (name.clone(), shallow_schema(&root, field))).collect();
    let mut shallow = Map::from_iter([("type".to_owned(), Value::from("object"))]);
    if !fields.is_empty() {
        shallow.insert("properties".to_owned(), fields.into());
    }
    shallow
}

/// The kind of a value and the words it may be, without what is inside it.
fn shallow_schema(root: &Value, schema: &Value) -> Value {
    let mut kinds = Vec::new();
    if !collect_kinds(root, schema, &mut kinds) {
        return Value::Object(Map::new());
    }
    let kind = if kinds.len() == 1 { kinds.remove(0) } else { kinds.into() };
    let mut shallow = Map::from_iter([("type".to_owned(), kind)]);
    let words = resolve_reference(root, schema).get("enum");
    if let Some(words) = words.filter(|words| words.as_array().is_some_and(|words| words.len() <= WORDS_LISTED_MAX)) {
        shallow.insert("enum".to_owned(), words.clone());
    }
    shallow.into()
}

/// Collects the types of all branches; false if one of them may be anything.
fn collect_kinds(root: &Value, schema: &Value, kinds: &mut Vec<Value>) -> bool {
    let schema = resolve_reference(root, schema);
    if let Some(Value::Array(branches)) = schema.get("anyOf").or_else(|| schema.get("oneOf")) {
        return branches.iter().all(|branch| collect_kinds(root, branch, kinds));
    }
    let found = match schema.get("type") {
        Some(Value::Array(found)) => found.clone(),
        Some(found) => vec![found.clone()],
        None => return false,
    };
    for kind in found {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    true
}

/// A recursive type has references even if everything is inlined.
fn resolve_reference<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let reference = schema.get("$ref").and_then(Value::as_str);
    reference.and_then(|reference| root.pointer(reference.trim_start_matches('#'))).unwrap_or(schema)
}

/// The input with formats and bounds, inlined, for comparing with a value.
pub(crate) fn full_input_schema<T: JsonSchema>() -> Value {
    full_schema(TypeSchema::from_type::<T>())
}

fn full_schema(described: TypeSchema) -> Value {
    let mut schema = generate(described, SchemaSettings::draft2020_12().for_deserialize(), true);
    MergeEnums.transform(&mut schema);
    schema.to_value()
}

/// A schema built by hand, in both forms: slim for clients, full for comparing with a value.
pub(crate) fn custom_schema(make: impl Fn(&mut SchemaGenerator) -> Schema) -> (Value, Value) {
    let settings = SchemaSettings::draft2020_12().for_deserialize().with(|settings| settings.inline_subschemas = true);
    let schema = make(&mut settings.into_generator());
    let (mut shown, mut full) = (schema.clone(), schema);
    SlimSchema { input: true }.transform(&mut shown);
    MergeEnums.transform(&mut full);
    (shown.to_value(), full.to_value())
}

/// The schema of a type that is serialised, without references.
pub(crate) fn inline_schema<T: JsonSchema>() -> Value {
    generate(TypeSchema::from_type::<T>(), SchemaSettings::draft2020_12().for_serialize(), true).to_value()
}

/// The schema of a type at the root. A type that contains itself is not its own root: it stands in `$defs` too.
fn generate(described: TypeSchema, settings: SchemaSettings, inline: bool) -> Schema {
    let mut generator = settings.with(|settings| settings.inline_subschemas = inline).into_generator();
    let mut schema = (described.schema)(&mut generator);
    let object = schema.ensure_object();
    object.entry("title").or_insert_with(|| (described.name)().into());
    let definitions = generator.take_definitions(false);
    if !definitions.is_empty() {
        object.insert("$defs".to_owned(), definitions.into());
    }
    schema
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

/// Removes the descriptions inside types that are marked as brief.
struct DropBriefDescriptions;

impl Transform for DropBriefDescriptions {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        let Some(object) = schema.as_object_mut().filter(|object| object.contains_key(BRIEF)) else { return };
        object.remove("additionalProperties");
        if let Some(Value::Object(properties)) = object.get_mut("properties") {
            for property in properties.values_mut().filter_map(Value::as_object_mut) {
                property.remove("description");
                property.remove("default");
            }
        }
    }
}

/// Removes from a tool's input what a model does not need in order to call it.
struct TrimToolInput;

/// Leaves out input fields that are marked so.
struct DropUnlistedFields;

impl Transform for DropUnlistedFields {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        if let Some(Value::Object(properties)) = schema.as_object_mut().and_then(|object| object.get_mut("properties"))
        {
            properties.retain(|_, field| field.get(UNLISTED).is_none());
        }
    }
}

impl Transform for TrimToolInput {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        let Some(object) = schema.as_object_mut() else { return };
        // Said of a field in most tools: the instructions of the server say it once.
        if object.get("description").is_some_and(|text| text == FROM_CONTEXT) {
            object.remove("description");
        }
        object.remove("examples");
        let says_nothing = |default: &Value| match default {
            Value::Null | Value::Bool(false) => true,
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            _ => false,
        };
        let is_described = |about: &Value| about.as_str().is_some_and(|about| about.contains("if left out"));
        if object.get("default").is_some_and(says_nothing) || object.get("description").is_some_and(is_described) {
            object.remove("default");
        }
        if object.get("additionalProperties") == Some(&Value::Bool(true)) {
            object.remove("additionalProperties");
        }
        if object.contains_key("description")
            && let Some(Value::Object(items)) = object.get_mut("items")
        {
            items.remove("description");
        }
    }
}

/// Removes what a reader of the schema does not need.
struct SlimSchema {
    input: bool,
}

impl Transform for SlimSchema {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        let Some(object) = schema.as_object_mut() else { return };
        object.remove("title");
        object.remove(BRIEF);
        object.remove(UNLISTED);
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
