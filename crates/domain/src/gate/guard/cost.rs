//! Computes an upper bound for the cost of a guard's expression from the sizes of its variables, before evaluation.
//!
//! The language has no loops but those over lists and maps, so the bound follows from the expression's shape: a call
//! costs what it reads, a sum is as large as its parts, and a loop costs its body for each element. Chains such as
//! `[s].map(x, x + x).map(x, x + x)…`, which double at every step, are detected without being run.

use std::collections::BTreeMap;

use cel::common::ast::{ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue};
use serde_json::Value;

/// The variables of an expression, and the extents of the names that it binds itself.
#[derive(Debug, Default)]
pub(super) struct CostInputs {
    pub(super) variables: BTreeMap<String, Value>,
    bound: BTreeMap<String, Extent>,
    /// Cache of extents by the address of the value: an expression may use the same value hundreds of times.
    measured: BTreeMap<usize, Extent>,
}

impl CostInputs {
    /// The value of a variable, or of a chain of fields in it, unless a bound name shadows the variable.
    fn known_value(&self, expression: &IdedExpr) -> Option<&Value> {
        match &expression.expr {
            Expr::Ident(name) if !self.bound.contains_key(name) => self.variables.get(name),
            Expr::Select(select) if !select.test => self.known_value(&select.operand)?.get(&select.field),
            _ => None,
        }
    }

    /// The extent of such a value.
    fn known_extent(&mut self, expression: &IdedExpr) -> Option<Extent> {
        let value = self.known_value(expression)?;
        let place = std::ptr::from_ref(value).addr();
        let extent = self.measured.get(&place).copied().unwrap_or_else(|| Extent::from_value(value));
        self.measured.insert(place, extent);
        Some(extent)
    }
}

/// Upper bound of the size of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extent {
    /// Approximate size in bytes.
    pub(super) size: u64,
    /// Number of its own elements, if it is a list or a map.
    items: u64,
    /// Number of elements of the longest list or map inside it.
    inner: u64,
    /// Size of the largest element at any level.
    element: u64,
}

impl Extent {
    const ATOM: Self = Self { size: 1, items: 0, inner: 0, element: 0 };
    const NOTHING: Self = Self { size: 0, items: 0, inner: 0, element: 0 };

    pub(super) fn from_value(value: &Value) -> Self {
        let parts: Vec<(u64, Self)> = match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => return Self::ATOM,
            Value::String(text) => return Self { size: 1 + text.len() as u64, ..Self::ATOM },
            Value::Array(items) => items.iter().map(|item| (0, Self::from_value(item))).collect(),
            Value::Object(entries) => {
                entries.iter().map(|(key, value)| (key.len() as u64, Self::from_value(value))).collect()
            }
        };
        let own = Self { size: 1, items: parts.len() as u64, inner: 0, element: 0 };
        parts.into_iter().fold(own, |whole, (key, part)| Self {
            size: whole.size + key + part.size,
            items: whole.items,
            inner: whole.inner.max(part.items).max(part.inner),
            element: whole.element.max(part.element).max(part.size).max(key),
        })
    }

    /// Upper bound of any value inside it, at any level.
    fn inner_part(self) -> Self {
        Self { items: self.items.max(self.inner), ..self }
    }

    fn combine(self, other: Self) -> Self {
        Self {
            size: self.size.saturating_add(other.size),
            items: self.items.saturating_add(other.items),
            inner: self.inner.max(other.inner),
            element: self.element.max(other.element),
        }
    }
}

/// A pattern is compiled at every match, and each byte of the text is then matched against all its states.
const MATCH_COST: u64 = 100_000;
const MATCHED_BYTE_COST: u64 = 20;

/// Upper bound of the cost of evaluation.
pub(super) fn estimate_cost(expression: &IdedExpr, known: &mut CostInputs) -> u64 {
    estimate(expression, known).1
}

/// The extent of the result, and the cost of evaluation.
fn estimate(expression: &IdedExpr, known: &mut CostInputs) -> (Extent, u64) {
    match &expression.expr {
        Expr::Unspecified => (Extent::ATOM, 1),
        Expr::Literal(literal) => {
            let size = literal_size(literal);
            (Extent { size, ..Extent::ATOM }, size)
        }
        Expr::Ident(name) => {
            let bound = known.bound.get(name).copied();
            let extent = bound.or_else(|| known.known_extent(expression)).unwrap_or(Extent::ATOM);
            (extent, 1)
        }
        // Use the exact extent of a value that is known.
        Expr::Select(select) => {
            if let Some(extent) = known.known_extent(expression) {
                return (extent, 1);
            }
            let (extent, cost) = estimate(&select.operand, known);
            (extent.inner_part(), cost.saturating_add(1))
        }
        Expr::Comprehension(comprehension) => estimate_loop(comprehension, known),
        Expr::Call(call) => {
            let (looked, cost) = estimate_all(&children(expression), known);
            let extent = match call.func_name.as_str() {
                name if has_small_result(name) => Extent::ATOM,
                // Turning bytes or numbers into text takes a few bytes for each.
                "string" | "bytes" => Extent { size: looked.size.saturating_mul(32), ..looked },
                "_[_]" | "_[?_]" => looked.inner_part(),
                _ => looked,
            };
            let own = match call.func_name.as_str() {
                "matches" => MATCH_COST.saturating_add(looked.size.saturating_mul(MATCHED_BYTE_COST)),
                _ => 1,
            };
            (extent, [cost, looked.size, extent.size, own].into_iter().fold(0, u64::saturating_add))
        }
        Expr::List(_) | Expr::Map(_) | Expr::Struct(_) => {
            let parts = children(expression);
            let (sum, cost) = estimate_all(&parts, known);
            let (items, inner) = (parts.len() as u64, sum.items.max(sum.inner));
            let extent = Extent { size: sum.size, items, inner, element: sum.element.max(sum.size) };
            (extent, cost.saturating_add(extent.size))
        }
    }
}

/// The accumulator is appended to in place, so an iteration costs only its step.
fn estimate_loop(comprehension: &ComprehensionExpr, known: &mut CostInputs) -> (Extent, u64) {
    let (range, range_cost) = estimate(&comprehension.iter_range, known);
    let (initial, initial_cost) = estimate(&comprehension.accu_init, known);
    let each = Extent { size: range.element, items: range.inner, ..range };
    let names = [Some(&comprehension.iter_var), comprehension.iter_var2.as_ref()].into_iter().flatten();
    let mut bound: Vec<(String, Extent)> = names.map(|name| (name.clone(), each)).collect();
    bound.push((comprehension.accu_var.clone(), Extent::NOTHING));
    let hidden: Vec<(String, Option<Extent>)> =
        bound.into_iter().map(|(name, extent)| (name.clone(), known.bound.insert(name, extent))).collect();
    let (step, step_cost) = estimate(&comprehension.loop_step, known);
    let (_, condition_cost) = estimate(&comprehension.loop_cond, known);
    let gathered = Extent {
        size: initial.size.saturating_add(range.items.saturating_mul(step.size)),
        items: initial.items.saturating_add(range.items.saturating_mul(step.items)),
        inner: step.inner,
        element: step.element.max(step.size),
    };
    known.bound.insert(comprehension.accu_var.clone(), gathered);
    let (result, result_cost) = estimate(&comprehension.result, known);
    for (name, extent) in hidden.into_iter().rev() {
        match extent {
            Some(extent) => known.bound.insert(name, extent),
            None => known.bound.remove(&name),
        };
    }
    let rounds = range.items.saturating_mul(step_cost.saturating_add(condition_cost));
    let cost = [range_cost, initial_cost, rounds, gathered.size, result_cost];
    (result, cost.into_iter().fold(1, u64::saturating_add))
}

fn estimate_all(parts: &[&IdedExpr], known: &mut CostInputs) -> (Extent, u64) {
    parts.iter().fold((Extent { size: 1, ..Extent::NOTHING }, 1), |(extent, cost), part| {
        let (next, next_cost) = estimate(part, known);
        (extent.combine(next), cost.saturating_add(next_cost))
    })
}

/// The sign of an operator, if a function is one: `_+_` is `+`.
pub(super) fn operator_sign(function: &str) -> Option<&str> {
    let is_one = function.starts_with(['_', '@', '!', '-']);
    is_one.then(|| function.trim_matches('_'))
}

/// Whether the result of a function is small, however large its arguments are.
fn has_small_result(function: &str) -> bool {
    let operators = ["_&&_", "_||_", "!_", "_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_", "@in", "@not_strictly_false"];
    let functions = ["size", "contains", "startsWith", "endsWith", "matches", "bool", "int", "uint", "double", "type"];
    operators.contains(&function) || functions.contains(&function)
}

fn literal_size(literal: &LiteralValue) -> u64 {
    match literal {
        LiteralValue::String(text) => 1 + text.inner().len() as u64,
        LiteralValue::Bytes(bytes) => 1 + bytes.inner().len() as u64,
        _ => 1,
    }
}

/// The direct subexpressions.
pub(super) fn children(expression: &IdedExpr) -> Vec<&IdedExpr> {
    match &expression.expr {
        Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) => Vec::new(),
        Expr::Select(select) => vec![select.operand.as_ref()],
        Expr::Call(call) => call.target.as_deref().into_iter().chain(&call.args).collect(),
        Expr::List(list) => list.elements.iter().collect(),
        Expr::Map(map) => map.entries.iter().flat_map(|entry| entry_children(&entry.expr)).collect(),
        Expr::Struct(made) => made.entries.iter().flat_map(|entry| entry_children(&entry.expr)).collect(),
        Expr::Comprehension(comprehension) => vec![
            &comprehension.iter_range,
            &comprehension.accu_init,
            &comprehension.loop_cond,
            &comprehension.loop_step,
            &comprehension.result,
        ],
    }
}

fn entry_children(entry: &EntryExpr) -> Vec<&IdedExpr> {
    match entry {
        EntryExpr::StructField(field) => vec![&field.value],
        EntryExpr::MapEntry(entry) => vec![&entry.key, &entry.value],
    }
}
