//! Parses JSON into typed input. A value that does not fit is explained by walking its schema and the value together.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use skald_domain::limits;

use crate::input_parts::{Refusal, deserialize_parts};
use crate::{Code, Fault, truncate_for_message};

/// A refused field with more JSON values than this is not copied into the refusal.
const REFUSED_VALUES_MAX: usize = 32;

/// Missing fields that a refusal names.
const MISSING_NAMED_MAX: usize = 10;

/// Parses a request body, within the limits of size and nesting.
pub fn parse_json(bytes: &[u8]) -> Result<Value, Fault> {
    if bytes.len() > limits::BODY_BYTES_MAX {
        return Err(Fault::new(
            Code::TooLarge,
            format!("the body has {} bytes, at most {} are read", bytes.len(), limits::BODY_BYTES_MAX),
        ));
    }
    if let Some(complex) = TooComplex::find(bytes, limits::JSON_VALUES_MAX) {
        return Err(Fault::new(Code::InvalidParams, format!("the JSON is {}", complex.description())));
    }
    serde_json::from_slice(bytes).map_err(|error| {
        Fault::new(Code::InvalidParams, format!("the body is not JSON: {error}")).hint("send one JSON object")
    })
}

/// Why a JSON document is refused unparsed: a parsed value takes up to a hundred times the memory of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TooComplex {
    Deep,
    /// The limit that was exceeded.
    ManyValues(usize),
}

impl TooComplex {
    /// Scans a document without parsing it. A short message with few brackets, the common case, skips the byte scan.
    pub fn find(bytes: &[u8], values_max: usize) -> Option<Self> {
        let has_many_brackets = memchr::memchr2_iter(b'{', b'[', bytes).nth(limits::JSON_DEPTH_MAX).is_some();
        // Every value but the first has a comma or a bracket before it.
        if !has_many_brackets && bytes.len() + limits::JSON_DEPTH_MAX * OBJECT_VALUES <= values_max {
            return None;
        }
        let (depth, values) = measure(bytes);
        if depth > limits::JSON_DEPTH_MAX {
            return Some(Self::Deep);
        }
        (values > values_max).then_some(Self::ManyValues(values_max))
    }

    /// The reason, for an error message.
    pub fn description(self) -> String {
        match self {
            Self::Deep => format!("nested deeper than {} levels", limits::JSON_DEPTH_MAX),
            Self::ManyValues(most) => format!("of more than {most} values"),
        }
    }
}

/// An array or an object counts as several values, since even an empty one takes the memory of several numbers.
const ARRAY_VALUES: usize = 3;
const OBJECT_VALUES: usize = 6;

/// Estimates the number of values in a document without parsing it.
pub(crate) fn count_values(bytes: &[u8]) -> usize {
    measure(bytes).1
}

/// The nesting depth and the estimated number of values.
fn measure(bytes: &[u8]) -> (usize, usize) {
    let (mut now, mut deepest, mut values) = (0_usize, 0, 1);
    let (mut in_string, mut escaped) = (false, false);
    for byte in bytes {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => {
                now += 1;
                values += if *byte == b'{' { OBJECT_VALUES } else { ARRAY_VALUES };
                deepest = deepest.max(now);
            }
            b',' => values += 1,
            b'}' | b']' => now = now.saturating_sub(1),
            _ => {}
        }
    }
    (deepest, values)
}

/// Converts fields that came as text (a query string, a URI, a prompt's arguments) to the types of the schema.
/// Text that does not fit stays text, so that the error can show it.
pub fn input_from_text<'a>(full: &Value, fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> Value {
    let kinds =
        |field: &str| full.pointer(&format!("/properties/{}/type", escape_pointer(field))).cloned().unwrap_or_default();
    let is =
        |kind: &Value, name: &str| kind == name || kind.as_array().is_some_and(|kinds| kinds.iter().any(|k| k == name));
    let typed = |field: &str, text: &str| {
        let kind = kinds(field);
        let parsed = ["integer", "number", "boolean", "object", "array"].iter().any(|name| is(&kind, name));
        let parsed = parsed.then(|| serde_json::from_str(text).ok()).flatten();
        // A list may be written as words with commas instead of JSON.
        let words = || text.split(',').map(|word| Value::from(word.trim())).collect();
        parsed.unwrap_or_else(|| if is(&kind, "array") { words() } else { Value::from(text) })
    };
    fields.into_iter().map(|(field, text)| (field.to_owned(), typed(field, text))).collect::<Map<_, _>>().into()
}

/// Deserializes an input. Valid input takes the fast path; only a failure pays for normalizing and for the explanation.
pub(crate) fn deserialize_input<T: DeserializeOwned>(value: &Value, full: &Value) -> Result<T, Fault> {
    let mut typed = None;
    read_input(value, full, &mut |value| {
        typed = Some(deserialize_parts::<T>(value)?);
        Ok(())
    })?;
    Ok(typed.expect("an input that was read is there"))
}

/// Lets the type of an input read it, and explains why it cannot.
fn read_input(value: &Value, full: &Value, read: &mut dyn FnMut(&Value) -> Result<(), Refusal>) -> Result<(), Fault> {
    if has_allowed_shape(full, full, value) && read(value).is_ok() {
        return Ok(());
    }
    let given = without_optional_nulls(full, full, value);
    if !has_allowed_shape(full, full, &given) {
        return Err(explain_misfit(&given, full, read));
    }
    // Clients may write an integer as 8.0.
    let whole = with_whole_numbers(given);
    read(&whole).map_err(|_| {
        // Free this copy before the next one is made, or a large value is in memory three times.
        drop(whole);
        explain_misfit(&without_optional_nulls(full, full, value), full, read)
    })
}

/// An item of a batch that does not fit its schema.
#[derive(Debug)]
pub(crate) struct ItemMisfit {
    /// Its place among the items that were sent.
    pub(crate) index: usize,
    pub(crate) fault: Fault,
}

/// Deserializes an input without those items of a list that do not fit. `None` if something else does not fit either, if
/// no item fits, or if there are more items than a batch may have: then the whole input is refused.
pub(crate) fn deserialize_fitting_items<T: DeserializeOwned>(
    value: &Value,
    full: &Value,
    field: &str,
) -> Option<(T, Vec<ItemMisfit>)> {
    let items = value.get(field)?.as_array().filter(|items| items.len() <= limits::BATCH_ITEMS_MAX)?;
    let fields = value.as_object()?.iter().filter(|(name, _)| *name != field);
    let fields: Map<String, Value> = fields.map(|(name, field)| (name.clone(), field.clone())).collect();
    let with_items = |items: Vec<Value>| {
        let mut fields = fields.clone();
        fields.insert(field.to_owned(), items.into());
        Value::Object(fields)
    };
    let (mut fitting, mut misfits) = (Vec::new(), Vec::new());
    for (index, item) in items.iter().enumerate() {
        match deserialize_input::<T>(&with_items(vec![item.clone()]), full) {
            Ok(_) => fitting.push(item.clone()),
            Err(fault) => misfits.push(ItemMisfit { index, fault: explain_item(full, item, (field, index), &fault) }),
        }
    }
    if fitting.is_empty() {
        return None;
    }
    Some((deserialize_input(&with_items(fitting), full).ok()?, misfits))
}

/// The fault of an item, with its place in the list. `alone` is its fault as the only item.
fn explain_item(full: &Value, item: &Value, (field, index): (&str, usize), alone: &Fault) -> Fault {
    let at = format!("/{field}/{index}");
    let schema = full.pointer(&format!("/properties/{field}/items")).unwrap_or(&Value::Null);
    find_misfit_at(full, schema, &without_optional_nulls(full, schema, item), &at)
        .unwrap_or_else(|| Fault::new(Code::InvalidParams, &alone.body().message).with_path(at))
}

/// Removes the nulls of optional fields: sending null means leaving the field out. A null stays where the schema allows
/// it, because the type gives it a meaning.
fn without_optional_nulls(root: &Value, schema: &Value, value: &Value) -> Value {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let target = root.pointer(reference.trim_start_matches('#'));
        return target.map_or_else(|| value.clone(), |schema| without_optional_nulls(root, schema, value));
    }
    if let Some(branches) = schema.get("anyOf").and_then(Value::as_array) {
        let branch = branches.iter().find(|branch| !value.is_null() && has_allowed_shape(root, branch, value));
        return branch.map_or_else(|| value.clone(), |branch| without_optional_nulls(root, branch, value));
    }
    match value {
        Value::Array(items) => match schema.get("items") {
            Some(schema) => items.iter().map(|item| without_optional_nulls(root, schema, item)).collect(),
            None => value.clone(),
        },
        Value::Object(fields) => {
            let required = schema.get("required").and_then(Value::as_array);
            let is_required = |name: &str| required.is_some_and(|required| required.iter().any(|known| known == name));
            let given = fields.iter().filter_map(|(name, field)| {
                let Some(schema) = schema.get("properties").and_then(|properties| properties.get(name)) else {
                    // An unknown field is copied only for the refusal, which shows no large value.
                    let is_refused = schema.get("additionalProperties") == Some(&Value::Bool(false));
                    let is_copied = !is_refused || has_at_most_values(field, &mut { REFUSED_VALUES_MAX });
                    return Some((name.clone(), if is_copied { field.clone() } else { Value::Null }));
                };
                let is_left_out = field.is_null() && !is_required(name) && !allows_null(root, schema);
                (!is_left_out).then(|| (name.clone(), without_optional_nulls(root, schema, field)))
            });
            Value::Object(given.collect())
        }
        _ => value.clone(),
    }
}

fn allows_null(root: &Value, schema: &Value) -> bool {
    SchemaWalk { root }.find(schema, &Value::Null, "").is_none()
}

/// Replaces every float with a whole value by an integer: 8.0 becomes 8.
fn with_whole_numbers(mut value: Value) -> Value {
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    match &mut value {
        Value::Number(number) if number.is_f64() => {
            let whole = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < EXACT_MAX);
            #[expect(clippy::cast_possible_truncation, reason = "it is whole and small enough")]
            if let Some(float) = whole {
                *number = (float as i64).into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(make_numbers_whole),
        Value::Object(fields) => fields.values_mut().for_each(make_numbers_whole),
        _ => {}
    }
    value
}

fn make_numbers_whole(value: &mut Value) {
    *value = with_whole_numbers(value.take());
}

/// Whether a value contains at most `most` values, itself included. Stops counting there.
fn has_at_most_values(value: &Value, most: &mut usize) -> bool {
    let Some(left) = most.checked_sub(1) else { return false };
    *most = left;
    match value {
        Value::Array(items) => items.iter().all(|item| has_at_most_values(item, most)),
        Value::Object(fields) => fields.values().all(|field| has_at_most_values(field, most)),
        _ => true,
    }
}

/// Whether arrays and objects occur only where the schema allows them. Without this check serde would read an array as
/// the fields of a struct, in order.
pub(crate) fn has_allowed_shape(root: &Value, schema: &Value, value: &Value) -> bool {
    let kind = match value {
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        _ => return true,
    };
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let target = root.pointer(reference.trim_start_matches('#'));
        return target.is_none_or(|schema| has_allowed_shape(root, schema, value));
    }
    if let Some(branches) = schema.get("anyOf").and_then(Value::as_array) {
        return branches.iter().any(|branch| has_allowed_shape(root, branch, value));
    }
    let allowed = schema.get("type").is_none_or(|allowed| match allowed {
        Value::Array(kinds) => kinds.iter().any(|allowed| allowed == kind),
        allowed => allowed == kind,
    });
    allowed
        && match value {
            Value::Array(items) => {
                schema.get("items").is_none_or(|schema| items.iter().all(|item| has_allowed_shape(root, schema, item)))
            }
            Value::Object(fields) => fields.iter().all(|(name, field)| {
                if !field.is_array() && !field.is_object() {
                    return true;
                }
                let schema = schema.get("properties").and_then(|properties| properties.get(name));
                schema.is_none_or(|schema| has_allowed_shape(root, schema, field))
            }),
            _ => true,
        }
}

/// The first place where a value differs from a schema. If a field is missing there, all missing fields are named.
pub(crate) fn find_misfit(full: &Value, value: &Value) -> Option<Fault> {
    find_misfit_at(full, full, value, "")
}

/// The same for a part of an input: its schema, and its place.
fn find_misfit_at(full: &Value, schema: &Value, value: &Value, at: &str) -> Option<Fault> {
    let walk = SchemaWalk { root: full };
    let fault = walk.find(schema, value, at)?;
    let mut missing = Vec::new();
    walk.collect_missing(schema, value, at, &mut missing);
    let is_missing = missing.iter().any(|(at, _)| fault.body().path.as_ref() == Some(at));
    Some(if is_missing { missing_fields_fault(&missing) } else { fault })
}

/// The fault that names every missing field by its path.
fn missing_fields_fault(missing: &[(String, &Value)]) -> Fault {
    let listed = &missing[..missing.len().min(MISSING_NAMED_MAX)];
    let mut names: Vec<String> = listed.iter().map(|(at, _)| field_name(at).to_owned()).collect();
    let more = missing.len() - listed.len();
    names.extend((more > 0).then(|| format!("{more} more")));
    let verb = if missing.len() == 1 { "is" } else { "are" };
    let last_name = |at: &str| at.rsplit('/').next().unwrap_or_default().to_owned();
    let described = listed.iter().filter(|(_, schema)| missing.len() == 1 || schema.get("description").is_some());
    let mut hints: Vec<String> = described.map(|(at, schema)| description_hint(schema, &last_name(at))).collect();
    hints.dedup();
    let hint = if hints.is_empty() { format!("send {}", join_names(&names)) } else { hints.join(" ") };
    let fault = Fault::new(Code::InvalidParams, format!("{} {verb} required", join_names(&names)));
    // The words of the only missing field, if it takes one of several.
    let words = match missing {
        [(_, schema)] => schema.get("enum").and_then(Value::as_array),
        _ => None,
    };
    let words = words.into_iter().flatten().filter_map(Value::as_str);
    fault.with_path(missing.first().map(|(at, _)| at.as_str()).unwrap_or_default()).hint(hint).allowed(words)
}

/// "a", "a and b", "a, b and c".
pub(crate) fn join_names(names: &[impl AsRef<str>]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names.as_slice() {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn explain_misfit(value: &Value, full: &Value, read: &mut dyn FnMut(&Value) -> Result<(), Refusal>) -> Fault {
    if let Some(fault) = find_misfit(full, value) {
        return fault;
    }
    // The schema accepts the value, so the type's own deserializer refused it: its message names the value.
    match read(value) {
        Ok(()) => Fault::new(Code::InvalidParams, "the input does not fit"),
        Err(Refusal { pointer, error }) => {
            let fault =
                Fault::new(Code::InvalidParams, format!("{}: {error}", field_name(&pointer))).with_path(&pointer);
            value.pointer(&pointer).map_or(fault.clone(), |value| fault.value(value))
        }
    }
}

/// Walks a schema and a value side by side to the first place where they differ.
struct SchemaWalk<'a> {
    root: &'a Value,
}

impl<'a> SchemaWalk<'a> {
    /// Collects the paths of all required fields that are missing, with their schemas. Where a value may have several
    /// shapes, its fields are not looked at.
    fn collect_missing(&self, schema: &'a Value, value: &Value, at: &str, missing: &mut Vec<(String, &'a Value)>) {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let Some(target) = self.root.pointer(reference.trim_start_matches('#')) else { return };
            return self.collect_missing(target, value, at, missing);
        }
        if let Some(branches) = schema.get("anyOf").and_then(Value::as_array) {
            let mut branches = branches.iter().filter(|branch| branch.get("type").is_none_or(|kind| kind != "null"));
            if let (Some(only), None) = (branches.next(), branches.next()) {
                self.collect_missing(only, value, at, missing);
            }
            return;
        }
        match value {
            Value::Array(items) => {
                let Some(schema) = schema.get("items") else { return };
                for (index, item) in items.iter().enumerate() {
                    self.collect_missing(schema, item, &format!("{at}/{index}"), missing);
                }
            }
            Value::Object(fields) => {
                let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
                for field in required.filter_map(Value::as_str).filter(|field| !fields.contains_key(*field)) {
                    let schema = schema.get("properties").and_then(|known| known.get(field)).unwrap_or(&Value::Null);
                    missing.push((format!("{at}/{}", escape_pointer(field)), schema));
                }
                let Some(known) = schema.get("properties").and_then(Value::as_object) else { return };
                for (field, value) in fields {
                    let Some(schema) = known.get(field) else { continue };
                    self.collect_missing(schema, value, &format!("{at}/{}", escape_pointer(field)), missing);
                }
            }
            _ => {}
        }
    }

    fn find(&self, schema: &Value, value: &Value, at: &str) -> Option<Fault> {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            return self.find(self.root.pointer(reference.trim_start_matches('#'))?, value, at);
        }
        if let Some(branches) = schema.get("anyOf").and_then(Value::as_array) {
            return self.find_in_branches(branches, value, at);
        }
        check_kind(schema, value, at)
            .or_else(|| check_enum(schema, value, at))
            .or_else(|| check_bounds(schema, value, at))
            .or_else(|| match value {
                Value::Object(fields) => self.find_in_fields(schema, fields, at),
                Value::Array(items) => {
                    let schema = schema.get("items")?;
                    items.iter().enumerate().find_map(|(index, item)| self.find(schema, item, &format!("{at}/{index}")))
                }
                _ => None,
            })
    }

    /// A value fits if it fits one branch. If only one branch is not null, the fault of that branch is shown.
    fn find_in_branches(&self, branches: &[Value], value: &Value, at: &str) -> Option<Fault> {
        let mut faults = Vec::new();
        for branch in branches {
            faults.push((branch, self.find(branch, value, at)?));
        }
        let is_null = |branch: &Value| branch.get("type").is_some_and(|kind| kind == "null");
        faults.retain(|(branch, _)| !is_null(branch));
        if faults.len() == 1 {
            return faults.pop().map(|(_, fault)| fault);
        }
        let wanted: Vec<&str> = faults.iter().filter_map(|(branch, _)| branch.get("type")?.as_str()).collect();
        let expected = format!("expected {}", wanted.join(" or "));
        Some(misfit_fault(&Value::Null, value, at, &expected).allowed(wanted))
    }

    fn find_in_fields(&self, schema: &Value, fields: &Map<String, Value>, at: &str) -> Option<Fault> {
        let none = Map::new();
        let known = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
        if let Some((field, value)) = fields.iter().find(|(field, _)| closed && !known.contains_key(*field)) {
            let allowed: Vec<&str> = known.keys().map(String::as_str).collect();
            let fault = Fault::new(
                Code::InvalidParams,
                format!("there is no field {} here", shorten_value(&Value::from(field.as_str()))),
            )
            .with_path(format!("{at}/{}", escape_pointer(field)))
            .value(value)
            .hint(suggest_field(field, &allowed))
            .allowed(allowed);
            return Some(fault);
        }
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        for field in required {
            if !fields.contains_key(field) {
                let schema = known.get(field).unwrap_or(&Value::Null);
                let fault = Fault::new(Code::InvalidParams, format!("{field} is required"));
                let path = format!("{at}/{}", escape_pointer(field));
                return Some(fault.with_path(path).hint(description_hint(schema, field)));
            }
        }
        fields.iter().find_map(|(field, value)| {
            known.get(field).and_then(|schema| self.find(schema, value, &format!("{at}/{}", escape_pointer(field))))
        })
    }
}

fn check_kind(schema: &Value, value: &Value, at: &str) -> Option<Fault> {
    let wanted: Vec<&str> = match schema.get("type")? {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => return None,
    };
    let fits = wanted.iter().any(|wanted| match (*wanted, value) {
        ("null", Value::Null)
        | ("object", Value::Object(_))
        | ("array", Value::Array(_))
        | ("string", Value::String(_))
        | ("boolean", Value::Bool(_))
        | ("number", Value::Number(_)) => true,
        ("integer", Value::Number(number)) => {
            !number.is_f64() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
        }
        _ => false,
    });
    if fits {
        return None;
    }
    let wanted: Vec<String> = wanted.into_iter().filter(|kind| *kind != "null").map(str::to_owned).collect();
    let expected = format!("expected {}", wanted.join(" or "));
    Some(misfit_fault(schema, value, at, &expected).allowed(wanted))
}

fn check_enum(schema: &Value, value: &Value, at: &str) -> Option<Fault> {
    let given = value.as_str()?;
    let allowed: Vec<&str> = schema.get("enum")?.as_array()?.iter().filter_map(Value::as_str).collect();
    if allowed.iter().any(|word| word.eq_ignore_ascii_case(given.trim())) {
        return None;
    }
    let fault = misfit_fault(schema, value, at, &format!("allowed: {}", allowed.join(", ")));
    let fault = match nearest_word(given, &allowed) {
        Some(word) => fault.hint(format!("did you mean {word}?")),
        None => fault,
    };
    Some(fault.allowed(allowed))
}

fn check_bounds(schema: &Value, value: &Value, at: &str) -> Option<Fault> {
    let number = value.as_f64()?;
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let (low, high) = match schema.get("format").and_then(Value::as_str) {
        Some("int32") => (Some(f64::from(i32::MIN)), Some(f64::from(i32::MAX))),
        Some("uint32") => (Some(0.0), Some(f64::from(u32::MAX))),
        _ => (None, None),
    };
    let low = bound("minimum").or(low);
    let high = bound("maximum").or(high);
    if low.is_none_or(|low| number >= low) && high.is_none_or(|high| number <= high) {
        return None;
    }
    let range = match (low, high) {
        (Some(low), Some(high)) => format!("{low} to {high}"),
        (Some(low), None) => format!("{low} or more"),
        (None, high) => format!("at most {}", high.unwrap_or_default()),
    };
    Some(misfit_fault(schema, value, at, &format!("allowed: {range}")).allowed([range]))
}

/// The fault for a value that does not fit its field.
fn misfit_fault(schema: &Value, value: &Value, at: &str, wanted: &str) -> Fault {
    let message = format!("{} is {}, {wanted}", field_name(at), shorten_value(value));
    Fault::new(Code::InvalidParams, message).with_path(at).value(value).hint(description_hint(schema, field_name(at)))
}

fn field_name(pointer: &str) -> &str {
    pointer.strip_prefix('/').unwrap_or("the input")
}

pub(crate) fn escape_pointer(field: &str) -> String {
    field.replace('~', "~0").replace('/', "~1")
}

/// The description of a field in its schema, as a hint.
fn description_hint(schema: &Value, field: &str) -> String {
    match schema.get("description").and_then(Value::as_str) {
        // A description of several lines has a line break wherever the source has one.
        Some(about) => format!("{field}: {}", about.replace('\n', " ")),
        None => "the input schema says what goes here".to_owned(),
    }
}

/// A value as text for an error message, cut if it is long.
fn shorten_value(value: &Value) -> String {
    truncate_for_message(&value.to_string())
}

fn suggest_field(given: &str, allowed: &[&str]) -> String {
    match nearest_word(given, allowed) {
        Some(word) => format!("did you mean {word}? allowed: {}", allowed.join(", ")),
        None if allowed.is_empty() => "this takes no fields".to_owned(),
        None => format!("allowed: {}", allowed.join(", ")),
    }
}

/// The allowed word that is most similar to the input. Inputs longer than an id are skipped: comparing them is slow.
pub fn nearest_word<'a>(given: &str, allowed: &[&'a str]) -> Option<&'a str> {
    if limits::is_longer_than_id(given) {
        return None;
    }
    let given = given.to_lowercase();
    allowed
        .iter()
        .map(|word| (strsim::jaro_winkler(&given, &word.to_lowercase()), *word))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, word)| word)
}
