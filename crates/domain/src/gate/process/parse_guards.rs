//! Parses guards of a process file: by `type` and `condition`, or combined by `all`, `any` and `not`.

use serde_json::Value;

use super::super::finding::{Rule, join_pointer, shorten, suggest_word};
use super::super::guard::{
    CelExpression, ContentRequirement, ContextTest, Counter, Guard, GuardComparison, GuardPart, Test,
};
use super::super::yaml::{Content, Node};
use super::field_reader::{FieldReader, Fields};
use crate::limits;

const GUARD_TYPES: &[&str] = &["artifact", "context", "run", "cel"];
const COMBINATORS: &[&str] = &["all", "any", "not"];

pub(super) fn parse_guard(reader: &mut FieldReader, node: &Node, path: &str) -> Option<Guard> {
    let fields = reader.mapping(node, path)?;
    let (description, message) =
        (reader.optional_text(&fields, "description"), reader.optional_text(&fields, "message"));
    let test = match COMBINATORS.iter().find(|key| fields.get_nullable(key).is_some()) {
        Some(key) => parse_combined(reader, &fields, key),
        None => parse_leaf(reader, &fields),
    }?;
    Some(Guard { description, message, test })
}

fn parse_combined(reader: &mut FieldReader, fields: &Fields<'_>, key: &str) -> Option<Test> {
    reader.check_keys(fields, &[key, "description", "message"]);
    let (node, path) = (reader.required_field(fields, key)?, fields.path(key));
    if key == "not" {
        return Some(Test::Not(Box::new(parse_part(reader, node, &path)?)));
    }
    let list = reader.list(node, &path);
    if list.is_empty() {
        let message = format!("{path} has at least one guard");
        reader.report(Rule::InvalidValue, &path, node.place, message, "name a guard, or write one here");
        return None;
    }
    let parts = list.iter().enumerate().map(|(index, item)| parse_part(reader, item, &join_pointer(&path, index)));
    let parts: Vec<Option<GuardPart>> = parts.collect();
    let parts = parts.into_iter().collect::<Option<Vec<GuardPart>>>()?;
    Some(if key == "all" { Test::All(parts) } else { Test::Any(parts) })
}

/// A guard's name, or an inline guard.
fn parse_part(reader: &mut FieldReader, node: &Node, path: &str) -> Option<GuardPart> {
    match node.content {
        Content::Map(_) => parse_guard(reader, node, path).map(|guard| GuardPart::Inline(Box::new(guard))),
        _ => reader.name(node, path).map(GuardPart::Named),
    }
}

fn parse_leaf(reader: &mut FieldReader, fields: &Fields<'_>) -> Option<Test> {
    let kind = reader.required_field(fields, "type").and_then(|node| reader.text(node, &fields.path("type")))?;
    match kind.as_str() {
        "artifact" => parse_artifact_test(reader, fields),
        "context" => parse_context_test(reader, fields),
        "run" => parse_run_test(reader, fields),
        "cel" => parse_cel_test(reader, fields),
        _ => {
            report_unknown(reader, fields, "type", &kind, GUARD_TYPES);
            None
        }
    }
}

fn report_unknown(reader: &mut FieldReader, fields: &Fields<'_>, key: &str, given: &str, allowed: &[&str]) {
    let place = fields.get(key).map_or(fields.place, |node| node.place);
    let message = format!("{:?} is not allowed, allowed: {}", shorten(given), allowed.join(", "));
    reader.report(Rule::InvalidValue, &fields.path(key), place, message, suggest_word(given, allowed));
}

fn parse_condition(reader: &mut FieldReader, fields: &Fields<'_>) -> Option<String> {
    let node = reader.required_field(fields, "condition")?;
    reader.text(node, &fields.path("condition"))
}

const ARTIFACT_KEYS: &[&str] = &[
    "type",
    "artifact_type",
    "condition",
    "min_count",
    "min_bytes",
    "min_lines",
    "contains",
    "description",
    "message",
];

fn parse_artifact_test(reader: &mut FieldReader, fields: &Fields<'_>) -> Option<Test> {
    reader.check_keys(fields, ARTIFACT_KEYS);
    let artifact_type = reader.required_name(fields, "artifact_type");
    let requirement = parse_content_requirement(reader, fields);
    let condition = parse_condition(reader, fields)?;
    match condition.as_str() {
        "exists" => {
            if let Some(node) = fields.get_nullable("min_count") {
                let message = "a guard that asks whether there is one does not count";
                reader.report(
                    Rule::InvalidValue,
                    &fields.path("min_count"),
                    node.place,
                    message,
                    "use condition: count",
                );
            }
            Some(Test::ArtifactExists { artifact_type, requirement })
        }
        "count" => {
            let node = reader.required_field(fields, "min_count")?;
            let min_count = match &node.content {
                Content::Number(number) => number.as_u64(),
                _ => None,
            };
            if min_count.is_none() {
                let message = "min_count is a whole number, 0 or more";
                reader.report(
                    Rule::InvalidMinCount,
                    &fields.path("min_count"),
                    node.place,
                    message,
                    "write it without quotes",
                );
            }
            Some(Test::ArtifactCount { artifact_type, min_count: min_count?, requirement })
        }
        _ => {
            report_unknown(reader, fields, "condition", &condition, &["exists", "count"]);
            None
        }
    }
}

fn parse_content_requirement(reader: &mut FieldReader, fields: &Fields<'_>) -> ContentRequirement {
    let (min_bytes, min_lines) = (parse_size(reader, fields, "min_bytes"), parse_size(reader, fields, "min_lines"));
    let contains = reader.names(fields, "contains").unwrap_or_default();
    let is_empty = |node: &&Node| match &node.content {
        Content::List(words) => words.is_empty(),
        content => *content == Content::Null,
    };
    if let Some(node) = fields.get_nullable("contains").filter(is_empty) {
        let message = "a guard that asks for no word lets everything through";
        reader.report(Rule::InvalidValue, &fields.path("contains"), node.place, message, "write a list: [one, two]");
    }
    ContentRequirement { min_bytes, min_lines, contains }
}

/// A minimum size of content. It is at most what is measured of a content, so that it can be reached.
fn parse_size(reader: &mut FieldReader, fields: &Fields<'_>, key: &str) -> u64 {
    let Some(node) = fields.get_nullable(key) else { return 0 };
    let size = match &node.content {
        Content::Number(number) => number.as_u64(),
        _ => None,
    };
    let most = limits::ARTIFACT_CONTENT_BYTES_MAX;
    if let Some(size) = size.filter(|size| (1..=most).contains(size)) {
        return size;
    }
    let message = format!("{key} is a whole number from 1 to {most}");
    reader.report(Rule::InvalidValue, &fields.path(key), node.place, message, "write it without quotes");
    0
}

const CONTEXT_CONDITIONS: &[&str] = &[
    "equals",
    "not_equals",
    "in",
    "not_in",
    "exists",
    "not_exists",
    "less_than",
    "at_most",
    "greater_than",
    "at_least",
];

fn parse_context_test(reader: &mut FieldReader, fields: &Fields<'_>) -> Option<Test> {
    reader.check_keys(fields, &["type", "variable", "condition", "value", "description", "message"]);
    let variable = reader.required_name(fields, "variable");
    let condition = parse_condition(reader, fields)?;
    let test = match condition.as_str() {
        "exists" | "not_exists" => {
            if let Some(node) = fields.get_nullable("value") {
                let message = format!("{condition} compares with nothing, its value means nothing");
                reader.report(Rule::IgnoredKey, &fields.path("value"), node.place, message, "leave it out");
            }
            if condition == "exists" { ContextTest::Exists } else { ContextTest::NotExists }
        }
        "equals" => ContextTest::Equals(parse_primitive(reader, fields)?),
        "not_equals" => ContextTest::NotEquals(parse_primitive(reader, fields)?),
        "in" => ContextTest::In(parse_primitives(reader, fields)?),
        "not_in" => ContextTest::NotIn(parse_primitives(reader, fields)?),
        other => {
            let Ok(comparison) = other.parse::<GuardComparison>() else {
                report_unknown(reader, fields, "condition", &condition, CONTEXT_CONDITIONS);
                return None;
            };
            ContextTest::Compare(comparison, parse_number(reader, fields)?)
        }
    };
    Some(Test::Context { variable, test })
}

fn is_primitive(node: &Node) -> bool {
    !matches!(node.content, Content::List(_) | Content::Map(_))
}

fn parse_primitive(reader: &mut FieldReader, fields: &Fields<'_>) -> Option<Value> {
    match fields.get_nullable("value") {
        Some(node) if is_primitive(node) => Some(node.json()),
        found => {
            report_wrong_value(reader, fields, found, "a text, a number, true, false or null");
            None
        }
    }
}

fn parse_primitives(reader: &mut FieldReader, fields: &Fields<'_>) -> Option<Vec<Value>> {
    match fields.get_nullable("value") {
        Some(Node { content: Content::List(items), .. }) if !items.is_empty() && items.iter().all(is_primitive) => {
            Some(items.iter().map(Node::json).collect())
        }
        found => {
            report_wrong_value(reader, fields, found, "a list of at least one text, number, true, false or null");
            None
        }
    }
}

fn parse_number(reader: &mut FieldReader, fields: &Fields<'_>) -> Option<serde_json::Number> {
    match fields.get_nullable("value") {
        Some(Node { content: Content::Number(number), .. }) => Some(number.clone()),
        found => {
            report_wrong_value(reader, fields, found, "a number");
            None
        }
    }
}

fn report_wrong_value(reader: &mut FieldReader, fields: &Fields<'_>, found: Option<&Node>, wanted: &str) {
    let (place, given) = found.map_or((fields.place, "missing"), |node| (node.place, node.kind()));
    let message = format!("the value of this condition is {wanted}, this is {given}");
    reader.report(
        Rule::InvalidContextGuardValue,
        &fields.path("value"),
        place,
        message,
        "write value: … to fit the condition",
    );
}

fn parse_run_test(reader: &mut FieldReader, fields: &Fields<'_>) -> Option<Test> {
    reader.check_keys(fields, &["type", "counter", "of", "condition", "value", "description", "message"]);
    reader.required_field(fields, "counter");
    let counter = reader.enum_value(fields, "counter", Counter::WORDS);
    let of = reader.required_name(fields, "of");
    reader.required_field(fields, "condition");
    let comparison = reader.enum_value(fields, "condition", GuardComparison::WORDS);
    let value = parse_number(reader, fields);
    Some(Test::Run { counter: counter?, of, comparison: comparison?, value: value? })
}

fn parse_cel_test(reader: &mut FieldReader, fields: &Fields<'_>) -> Option<Test> {
    reader.check_keys(fields, &["type", "expression", "description", "message"]);
    let node = reader.required_field(fields, "expression")?;
    let path = fields.path("expression");
    let source = reader.text(node, &path)?;
    match CelExpression::new(&source) {
        Ok(expression) => Some(Test::Cel(expression)),
        Err(message) => {
            let hint =
                "write a CEL expression over context, payload, artifacts, run and campaign that is true or false";
            reader.report(Rule::InvalidExpression, &path, node.place, message, hint);
            None
        }
    }
}
