//! What an expression can cost at most, reckoned from how large its variables are, before it is evaluated.
//!
//! The language has no loops but those over lists and maps, so an upper bound follows from the shape of the expression:
//! a call costs what it looks at, a sum is as large as its parts, and a loop costs its body for each element. Chains such
//! as `[s].map(x, x + x).map(x, x + x)…`, which double at every step, are found out without being run.

use std::collections::BTreeMap;

use cel::common::ast::{ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue};
use serde_json::Value;

/// How large variables are.
pub(super) type Extents = BTreeMap<String, Extent>;

/// How large a value is, at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extent {
    /// About its bytes.
    pub(super) size: u64,
    /// The elements of the longest list or map in it.
    pub(super) items: u64,
    /// The size of the largest of those elements.
    pub(super) element: u64,
}

impl Extent {
    const ATOM: Self = Self { size: 1, items: 1, element: 1 };
    const NOTHING: Self = Self { size: 0, items: 0, element: 0 };

    pub(super) fn of(value: &Value) -> Self {
        let parts: Vec<(u64, Self)> = match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => return Self::ATOM,
            Value::String(text) => return Self { size: 1 + text.len() as u64, ..Self::ATOM },
            Value::Array(items) => items.iter().map(|item| (0, Self::of(item))).collect(),
            Value::Object(entries) => entries.iter().map(|(key, value)| (key.len() as u64, Self::of(value))).collect(),
        };
        let own = Self { size: 1, items: parts.len() as u64, element: 0 };
        parts.into_iter().fold(own, |whole, (key, part)| Self {
            size: whole.size + key + part.size,
            items: whole.items.max(part.items),
            element: whole.element.max(part.element).max(part.size).max(key),
        })
    }

    fn with(self, other: Self) -> Self {
        Self {
            size: self.size.saturating_add(other.size),
            items: self.items.saturating_add(other.items),
            element: self.element.max(other.element),
        }
    }
}

/// A pattern is compiled whenever it is matched.
const MATCH_COST: u64 = 10_000;

/// An upper bound of what evaluating costs.
pub(super) fn cost(expression: &IdedExpr, extents: &Extents) -> u64 {
    weigh(expression, &mut extents.clone()).1
}

/// How large the value is, and what evaluating it costs.
fn weigh(expression: &IdedExpr, extents: &mut Extents) -> (Extent, u64) {
    match &expression.expr {
        Expr::Unspecified => (Extent::ATOM, 1),
        Expr::Literal(literal) => {
            let size = literal_size(literal);
            (Extent { size, ..Extent::ATOM }, size)
        }
        Expr::Ident(name) => (extents.get(name).copied().unwrap_or(Extent::ATOM), 1),
        Expr::Select(select) => {
            let (extent, cost) = weigh(&select.operand, extents);
            (extent, cost.saturating_add(1))
        }
        Expr::Comprehension(comprehension) => weigh_loop(comprehension, extents),
        Expr::Call(call) => {
            let (looked, cost) = sum(&children(expression), extents);
            let extent = match call.func_name.as_str() {
                name if is_judgement(name) => Extent::ATOM,
                // Turning bytes or numbers into text takes a few bytes for each.
                "string" | "bytes" => Extent { size: looked.size.saturating_mul(32), ..looked },
                _ => looked,
            };
            let own = if call.func_name == "matches" { MATCH_COST } else { 1 };
            (extent, [cost, looked.size, extent.size, own].into_iter().fold(0, u64::saturating_add))
        }
        Expr::List(_) | Expr::Map(_) | Expr::Struct(_) => {
            let parts = children(expression);
            let (mut extent, cost) = sum(&parts, extents);
            extent.items = extent.items.max(parts.len() as u64);
            extent.element = extent.element.max(extent.size);
            (extent, cost.saturating_add(extent.size))
        }
    }
}

/// What is gathered is appended to in place, so a round costs its step alone.
fn weigh_loop(comprehension: &ComprehensionExpr, extents: &mut Extents) -> (Extent, u64) {
    let (range, range_cost) = weigh(&comprehension.iter_range, extents);
    let (initial, initial_cost) = weigh(&comprehension.accu_init, extents);
    let each = Extent { size: range.element, ..range };
    let names = [Some(&comprehension.iter_var), comprehension.iter_var2.as_ref()].into_iter().flatten();
    let mut bound: Vec<(String, Extent)> = names.map(|name| (name.clone(), each)).collect();
    bound.push((comprehension.accu_var.clone(), Extent::NOTHING));
    let hidden: Vec<(String, Option<Extent>)> =
        bound.into_iter().map(|(name, extent)| (name.clone(), extents.insert(name, extent))).collect();
    let (step, step_cost) = weigh(&comprehension.loop_step, extents);
    let (_, condition_cost) = weigh(&comprehension.loop_cond, extents);
    let gathered = Extent {
        size: initial.size.saturating_add(range.items.saturating_mul(step.size)),
        items: range.items.saturating_add(initial.items).max(step.items),
        element: step.element.max(step.size),
    };
    extents.insert(comprehension.accu_var.clone(), gathered);
    let (result, result_cost) = weigh(&comprehension.result, extents);
    for (name, extent) in hidden.into_iter().rev() {
        match extent {
            Some(extent) => extents.insert(name, extent),
            None => extents.remove(&name),
        };
    }
    let rounds = range.items.saturating_mul(step_cost.saturating_add(condition_cost));
    let cost = [range_cost, initial_cost, rounds, gathered.size, result_cost];
    (result, cost.into_iter().fold(1, u64::saturating_add))
}

fn sum(parts: &[&IdedExpr], extents: &mut Extents) -> (Extent, u64) {
    parts.iter().fold((Extent { size: 1, ..Extent::NOTHING }, 1), |(extent, cost), part| {
        let (next, next_cost) = weigh(part, extents);
        (extent.with(next), cost.saturating_add(next_cost))
    })
}

/// Whether what a call comes to is small, however large what it looks at.
fn is_judgement(function: &str) -> bool {
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

/// The expressions of which one is made.
pub(super) fn children(expression: &IdedExpr) -> Vec<&IdedExpr> {
    match &expression.expr {
        Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) => Vec::new(),
        Expr::Select(select) => vec![select.operand.as_ref()],
        Expr::Call(call) => call.target.as_deref().into_iter().chain(&call.args).collect(),
        Expr::List(list) => list.elements.iter().collect(),
        Expr::Map(map) => map.entries.iter().flat_map(|entry| of_entry(&entry.expr)).collect(),
        Expr::Struct(made) => made.entries.iter().flat_map(|entry| of_entry(&entry.expr)).collect(),
        Expr::Comprehension(comprehension) => vec![
            &comprehension.iter_range,
            &comprehension.accu_init,
            &comprehension.loop_cond,
            &comprehension.loop_step,
            &comprehension.result,
        ],
    }
}

fn of_entry(entry: &EntryExpr) -> Vec<&IdedExpr> {
    match entry {
        EntryExpr::StructField(field) => vec![&field.value],
        EntryExpr::MapEntry(entry) => vec![&entry.key, &entry.value],
    }
}
