//! Estimates the cost of validating a value against a JSON schema, before validating it.
//!
//! A schema can check the same value again and again: two branches that both recurse double the work at every level of
//! a payload, and each level takes a few bytes. The estimate follows the validator's branches, stops at its limit, and
//! assumes that every name pattern matches, so it never falls below the real cost.

use serde_json::{Map, Value};

/// Limits of one validation: its steps, and the depth of nested schemas.
const STEPS_MAX: u64 = 1_000_000;
const DEPTH_MAX: usize = 400;
/// Minimum steps of an alternative of `anyOf` or `oneOf`: the validator keeps its errors until all alternatives have
/// failed, which takes memory.
const ALTERNATIVE_STEPS: u64 = 20;
/// Regex states that count as one step for each character.
const STATES_PER_STEP: u64 = 50;

/// Whether validating a value against a schema stays within the limits.
pub(super) fn is_affordable(schema: &Value, value: &Value) -> bool {
    CostBudget { root: schema, left: STEPS_MAX }.check(schema, value, 1, 0).is_some()
}

/// The first reference that does not point into the schema itself. The estimate could not follow it.
pub(super) fn find_foreign_reference(schema: &Value) -> Option<String> {
    let mut waiting = vec![(schema, true)];
    while let Some((part, is_root)) = waiting.pop() {
        match part {
            Value::Object(keys) => {
                for (key, value) in keys {
                    let is_foreign = match (key.as_str(), value) {
                        ("$ref", Value::String(target)) => resolve_reference(schema, target).is_none(),
                        ("$dynamicRef" | "$recursiveRef", Value::String(_)) => true,
                        ("$id" | "id", Value::String(id)) => !is_root && id.contains(['#', '/', ':']),
                        _ => false,
                    };
                    if is_foreign {
                        return Some(format!("{key}: {}", value.as_str().unwrap_or_default()));
                    }
                    waiting.push((value, false));
                }
            }
            Value::Array(items) => waiting.extend(items.iter().map(|item| (item, false))),
            _ => {}
        }
    }
    None
}

/// Approximate number of regex states of all patterns in a schema.
pub(super) fn count_pattern_states(schema: &Value) -> u64 {
    let mut waiting = vec![schema];
    let mut states: u64 = 0;
    while let Some(part) = waiting.pop() {
        match part {
            Value::Object(keys) => {
                for (key, value) in keys {
                    states = match (key.as_str(), value) {
                        ("pattern", Value::String(pattern)) => states.saturating_add(pattern_states(pattern)),
                        ("patternProperties", Value::Object(parts)) => {
                            parts.keys().map(|pattern| pattern_states(pattern)).fold(states, u64::saturating_add)
                        }
                        _ => states,
                    };
                    waiting.push(value);
                }
            }
            Value::Array(items) => waiting.extend(items),
            _ => {}
        }
    }
    states
}

/// Approximate number of regex states of a pattern: its characters and classes, multiplied by their repetitions.
fn pattern_states(pattern: &str) -> u64 {
    // For each open group: its states so far, and the states of its last item.
    let mut groups: Vec<(u64, u64)> = vec![(0, 0)];
    let mut characters = pattern.chars().peekable();
    let add = |groups: &mut Vec<(u64, u64)>, states: u64| {
        if let Some((sum, last)) = groups.last_mut() {
            *sum = sum.saturating_add(states);
            *last = states;
        }
    };
    while let Some(character) = characters.next() {
        match character {
            '(' => groups.push((0, 0)),
            ')' if groups.len() > 1 => {
                let inner = groups.pop().map_or(0, |(sum, _)| sum);
                add(&mut groups, inner);
            }
            '{' => {
                let inside: String = characters.by_ref().take_while(|character| *character != '}').collect();
                let times = inside.split(',').filter_map(|number| number.parse::<u64>().ok()).max();
                let again =
                    groups.last().map_or(0, |(_, last)| last.saturating_mul(times.unwrap_or(1).saturating_sub(1)));
                add(&mut groups, again);
            }
            '[' => {
                while let Some(inside) = characters.next_if(|character| *character != ']') {
                    if inside == '\\' {
                        characters.next();
                    }
                }
                characters.next();
                add(&mut groups, 1);
            }
            '\\' => {
                let is_named = matches!(characters.next(), Some('p' | 'P' | 'u' | 'x'));
                if is_named && characters.next_if_eq(&'{').is_some() {
                    characters.by_ref().find(|character| *character == '}');
                }
                add(&mut groups, 1);
            }
            _ => add(&mut groups, 1),
        }
    }
    groups.iter().fold(0, |all, (sum, _)| all.saturating_add(*sum))
}

/// The subschema that `#` or `#/…` points to.
fn resolve_reference<'a>(root: &'a Value, target: &str) -> Option<&'a Value> {
    root.pointer(target.strip_prefix('#')?)
}

struct CostBudget<'a> {
    root: &'a Value,
    left: u64,
}

impl<'a> CostBudget<'a> {
    /// Deducts steps from the budget; `None` if too few are left.
    fn spend(&mut self, steps: u64) -> Option<()> {
        self.left = self.left.checked_sub(steps)?;
        Some(())
    }

    fn check(&mut self, schema: &'a Value, value: &Value, steps: u64, depth: usize) -> Option<()> {
        self.spend(steps)?;
        let Value::Object(keys) = schema else { return Some(()) };
        if depth > DEPTH_MAX {
            return None;
        }
        // To find unevaluated parts, the validator evaluates all other keywords a second time.
        let is_twice = keys.contains_key("unevaluatedProperties") || keys.contains_key("unevaluatedItems");
        let steps = if is_twice { steps.saturating_mul(2) } else { steps };
        for (key, part) in keys {
            match (key.as_str(), part) {
                ("$ref", Value::String(target)) => {
                    self.check(resolve_reference(self.root, target)?, value, steps, depth + 1)?;
                }
                ("allOf", Value::Array(parts)) => self.check_all(parts.iter(), value, steps, depth)?,
                ("anyOf" | "oneOf", Value::Array(parts)) => {
                    self.check_all(parts.iter(), value, steps.max(ALTERNATIVE_STEPS), depth)?;
                }
                ("dependentSchemas" | "dependencies", Value::Object(parts)) => {
                    self.check_all(parts.values(), value, steps, depth)?;
                }
                ("not" | "if" | "then" | "else", part) => self.check(part, value, steps, depth + 1)?,
                ("enum", Value::Array(parts)) => self.spend(parts.len() as u64)?,
                _ => match value {
                    Value::Object(fields) => self.check_fields(key, part, fields, steps, depth)?,
                    Value::Array(items) => self.check_items(key, part, items, steps, depth)?,
                    Value::String(text) if key == "pattern" => {
                        self.spend_on_pattern(text, part.as_str().unwrap_or_default())?;
                    }
                    _ => {}
                },
            }
        }
        Some(())
    }

    fn check_all(
        &mut self,
        parts: impl Iterator<Item = &'a Value>,
        value: &Value,
        steps: u64,
        depth: usize,
    ) -> Option<()> {
        for part in parts {
            self.check(part, value, steps, depth + 1)?;
        }
        Some(())
    }

    fn spend_on_pattern(&mut self, text: &str, pattern: &str) -> Option<()> {
        self.spend((text.len() as u64).saturating_mul(2 + pattern_states(pattern) / STATES_PER_STEP))
    }

    /// Counts the steps of a keyword for the fields of an object.
    fn check_fields(
        &mut self,
        key: &str,
        part: &'a Value,
        fields: &Map<String, Value>,
        steps: u64,
        depth: usize,
    ) -> Option<()> {
        match (key, part) {
            ("properties", Value::Object(parts)) => {
                for (name, part) in parts {
                    if let Some(field) = fields.get(name) {
                        self.check(part, field, steps, depth + 1)?;
                    }
                }
            }
            ("patternProperties", Value::Object(parts)) => {
                for (pattern, part) in parts {
                    for (name, field) in fields {
                        self.spend_on_pattern(name, pattern)?;
                        self.check(part, field, steps, depth + 1)?;
                    }
                }
            }
            ("additionalProperties" | "unevaluatedProperties", part) => {
                for field in fields.values() {
                    self.check(part, field, steps, depth + 1)?;
                }
            }
            ("propertyNames", part) => {
                for name in fields.keys() {
                    self.check(part, &Value::String(name.clone()), steps, depth + 1)?;
                }
            }
            _ => {}
        }
        Some(())
    }

    /// Counts the steps of a keyword for the items of an array.
    fn check_items(&mut self, key: &str, part: &'a Value, items: &[Value], steps: u64, depth: usize) -> Option<()> {
        match (key, part) {
            ("items" | "prefixItems", Value::Array(parts)) => {
                for (part, item) in parts.iter().zip(items) {
                    self.check(part, item, steps, depth + 1)?;
                }
            }
            ("items" | "additionalItems" | "unevaluatedItems" | "contains", part) => {
                for item in items {
                    self.check(part, item, steps, depth + 1)?;
                }
            }
            _ => {}
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::json_schema::Schema;
    use super::*;

    fn nested_object(levels: usize) -> Value {
        (0..levels).fold(json!("x"), |inner, _| json!({ "a": inner }))
    }

    fn misfit_messages(schema: &Schema, value: &Value) -> String {
        schema.misfits(value, "").into_iter().map(|misfit| misfit.message).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn ordinary_schemas_are_affordable() {
        let tree = json!({"type": "object", "additionalProperties": {"anyOf": [{"type": "string"}, {"$ref": "#"}]}});
        assert_eq!(misfit_messages(&Schema::new(tree).unwrap(), &nested_object(60)), "");
        let list = json!({"properties": {"a": {"items": {"type": "integer", "enum": [1, 2]}}}});
        assert_eq!(misfit_messages(&Schema::new(list).unwrap(), &json!({"a": vec![1; 100_000]})), "");
        let defined = json!({"$ref": "#/$defs/a", "$defs": {"a": {"required": ["b"]}}});
        assert_eq!(misfit_messages(&Schema::new(defined).unwrap(), &json!({})), "\"b\" is a required property");
    }

    /// Several alternatives that all recurse: without a limit, a few levels of a payload take all memory.
    #[test]
    fn work_that_doubles_at_every_level_is_refused() {
        let two = json!({"properties": {"a": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}, {"required": ["b"], "$ref": "#"}]}},
                         "type": "object"});
        let schema = Schema::new(two).unwrap();
        assert!(misfit_messages(&schema, &nested_object(2)).contains("anyOf"));
        assert!(misfit_messages(&schema, &nested_object(40)).contains("more work"));
        let mut steps = Map::new();
        for step in 0..30 {
            let next = json!({"$ref": format!("#/$defs/d{}", step + 1)});
            steps.insert(format!("d{step}"), json!({"allOf": [{"allOf": [next]}, {"allOf": [next]}]}));
        }
        steps.insert("d30".to_owned(), json!({"type": "string"}));
        let doubling = Schema::new(json!({"properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": steps})).unwrap();
        assert!(misfit_messages(&doubling, &json!({"x": 1})).contains("more work"));
    }

    #[test]
    fn many_patterns_over_one_text_are_refused() {
        let patterns: Vec<Value> = (0..50).map(|number| json!({"pattern": format!("a{number}b*$")})).collect();
        let schema = Schema::new(json!({"properties": {"a": {"allOf": patterns}}})).unwrap();
        assert!(misfit_messages(&schema, &json!({"a": "a".repeat(90_000)})).contains("more work"));
        let large = Schema::new(json!({"properties": {"a": {"pattern": "(x{1,200}){1,40}y"}}})).unwrap();
        assert!(misfit_messages(&large, &json!({"a": "x".repeat(90_000)})).contains("more work"));
        assert!(misfit_messages(&large, &json!({"a": "xxy"})).is_empty());
    }

    #[test]
    fn the_states_of_a_pattern_are_about_its_parts() {
        for (pattern, expected) in [
            ("", 0),
            ("abc", 3),
            ("a{3}", 3),
            ("[0-9a-f]{8}-[0-9a-f]{4}", 13),
            ("(ab{2,5}){10}", 60),
            (r"\p{L}{3}[\]x]{2}\{", 6),
            ("((a{1000}){1000}){1000}", 1_000_000_000),
            ("a{,", 1),
            ("(a", 1),
            ("a)", 2),
        ] {
            assert_eq!(pattern_states(pattern), expected, "{pattern}");
        }
        let schema = json!({"properties": {"a": {"pattern": "a{9}"}}, "patternProperties": {"b{5}": true}});
        assert_eq!(count_pattern_states(&schema), 14);
    }

    #[test]
    fn a_schema_without_an_end_or_with_a_way_out_is_refused() {
        for schema in [
            json!({"$ref": "#"}),
            json!({"allOf": [{"$ref": "#"}]}),
            json!({"$ref": "https://example.org/schema"}),
            json!({"$ref": "#name", "$defs": {"a": {"$anchor": "name"}}}),
            json!({"$dynamicAnchor": "x", "properties": {"a": {"$dynamicRef": "#x"}}}),
            json!({"$defs": {"a": {"$id": "https://example.org/a"}}}),
            json!({"$ref": "#/$defs/nothing"}),
        ] {
            assert!(Schema::new(schema.clone()).is_err(), "{schema}");
        }
        assert!(Schema::new(json!({"properties": {"id": {"const": "a"}, "$ref": {"type": "string"}}})).is_ok());
    }
}
