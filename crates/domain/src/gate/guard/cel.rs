//! Guards as expressions of the Common Expression Language, compiled when the process is loaded.
//!
//! An expression is true or false of `context`, `payload`, `artifacts`, `run` and `campaign`. Its length and nesting are
//! bounded, and what it can cost is reckoned before it runs, from how large the things are that it names. Only what it
//! names is handed to it.
//!
//! The parser is the crate's own descent parser: its other one, made by ANTLR, overflows the stack of a thread at a dozen
//! parentheses.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, LazyLock};

use cel::common::ast::{Expr, IdedExpr, LiteralValue};
use cel::parser::PrattParser;
use cel::{Context, Env, Value as CelValue};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::cost::{Known, children, cost, operator};
use super::evaluate::Scene;
use super::text::Words;
use crate::gate::evidence::Artifact;
use crate::gate::finding::{nearest, short};
use crate::gate::process::Reads;
use crate::limits;

/// What an expression may name.
const VARIABLES: [&str; 5] = ["context", "payload", "artifacts", "run", "campaign"];

/// How deep an expression may be nested, a chain of operators or calls counted too. Evaluating recurses, and without
/// optimisation a level takes 40 KB of a thread's 2 MB.
const DEPTH_MAX: usize = 24;
/// How deep the parser goes before it gives up.
const PARSER_DEPTH_MAX: u16 = 32;

static ENVIRONMENT: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::stdlib()));

/// A compiled expression.
#[derive(Clone)]
pub struct Expression {
    source: Arc<str>,
    program: Arc<IdedExpr>,
    /// The variables that it names.
    names: Vec<&'static str>,
}

impl Expression {
    /// An expression, or what is wrong with it.
    pub(in crate::gate) fn new(source: &str) -> Result<Self, String> {
        let chars = source.chars().count();
        if chars > limits::GUARD_EXPRESSION_CHARS_MAX {
            let chars_max = limits::GUARD_EXPRESSION_CHARS_MAX;
            return Err(format!("an expression has at most {chars_max} characters, this one has {chars}"));
        }
        let parser = PrattParser::new().max_recursion_depth(PARSER_DEPTH_MAX);
        let program = parser.parse(source).map_err(|errors| explained(&errors))?;
        let depth = depth(&program);
        if depth > DEPTH_MAX {
            return Err(format!("an expression is nested at most {DEPTH_MAX} deep, this one is {depth} deep"));
        }
        check_calls(&program)?;
        let mut free = Vec::new();
        free_names(&program, &mut Vec::new(), &mut free);
        if let Some(unknown) = free.iter().find(|name| !VARIABLES.contains(&name.as_str())) {
            let meant = nearest(unknown, VARIABLES).map(|name| format!(", did you mean {name}?")).unwrap_or_default();
            return Err(format!("{} is not known here, known: {}{meant}", short(unknown), VARIABLES.join(", ")));
        }
        let names: Vec<&'static str> =
            VARIABLES.into_iter().filter(|known| free.iter().any(|name| name == known)).collect();
        let expression = Self { source: source.into(), program: Arc::new(program), names };
        // What is too much even while all that it reads is empty is never affordable.
        expression.affordable(&mut Known::default())?;
        Ok(expression)
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether it names one of the variables.
    pub(super) fn names(&self, variable: &str) -> bool {
        self.names.contains(&variable)
    }

    /// Adds the context variables that it reads.
    pub(super) fn reads(&self, reads: &mut Reads) {
        context_reads(&self.program, reads);
    }

    /// Whether it is true, or why that cannot be told.
    pub(super) fn holds(&self, scene: &Scene<'_>) -> Result<bool, String> {
        let mut known = Known::default();
        known.variables.extend(self.names.iter().map(|name| ((*name).to_owned(), variable(name, scene))));
        self.affordable(&mut known)?;
        let mut context = Context::with_env(Arc::clone(&ENVIRONMENT));
        for (name, value) in &known.variables {
            let value = cel::to_value(Plain(value)).map_err(|error| error.to_string())?;
            context.add_variable_from_value(name, value);
        }
        match context.resolve(&self.program) {
            Ok(CelValue::Bool(holds)) => Ok(holds),
            Ok(other) => Err(format!("it is a {}, expected true or false", other.type_of())),
            Err(error) => {
                let error = error.to_string();
                // What is asked of nothing has no name in the error that comes of it.
                let is_lost = self.names("campaign") && scene.facts.campaign.is_none() && error.contains("null");
                Err(if is_lost { Words(scene.process.locale).no_campaign() } else { short(&error) })
            }
        }
    }

    fn affordable(&self, known: &mut Known) -> Result<(), String> {
        check_cost(cost(&self.program, known))
    }
}

pub(super) fn check_cost(cost: u64) -> Result<(), String> {
    if cost <= limits::GUARD_COST_MAX {
        return Ok(());
    }
    Err(format!("it could cost {cost}, at most {} is spent", limits::GUARD_COST_MAX))
}

/// What an expression may call; macros such as `all` and `has` are gone once it is read.
const FUNCTIONS: [&str; 13] = [
    "size",
    "contains",
    "startsWith",
    "endsWith",
    "matches",
    "bool",
    "int",
    "uint",
    "double",
    "string",
    "bytes",
    "type",
    "dyn",
];
/// Bytes that a compiled pattern of `matches` may take. It is compiled whenever it is matched.
const PATTERN_BYTES_MAX: usize = 1 << 17;

/// Whether every function is known, every pattern can be afforded, and the whole can be true or false.
fn check_calls(program: &IdedExpr) -> Result<(), String> {
    let is_condition = match &program.expr {
        Expr::Call(call) => operator(&call.func_name)
            .map_or(call.func_name != "size", |sign| !["+", "-", "*", "/", "%"].contains(&sign)),
        Expr::Literal(literal) => matches!(literal, LiteralValue::Boolean(_)),
        Expr::List(_) | Expr::Map(_) | Expr::Struct(_) => false,
        _ => true,
    };
    if !is_condition {
        return Err("it is never true or false".to_owned());
    }
    let mut waiting = vec![program];
    while let Some(expression) = waiting.pop() {
        if let Expr::Call(call) = &expression.expr {
            let name = call.func_name.as_str();
            if operator(name).is_none() && !FUNCTIONS.contains(&name) {
                let meant = nearest(name, FUNCTIONS).map(|name| format!(", did you mean {name}?")).unwrap_or_default();
                return Err(format!("{}() is not known here, known: {}{meant}", short(name), FUNCTIONS.join(", ")));
            }
            if name == "matches" {
                check_pattern(call.args.last())?;
            }
        }
        waiting.extend(children(expression));
    }
    Ok(())
}

/// A pattern is written out, so that it is known beforehand what it costs; a payload could bring any.
fn check_pattern(pattern: Option<&IdedExpr>) -> Result<(), String> {
    let Some(Expr::Literal(LiteralValue::String(pattern))) = pattern.map(|pattern| &pattern.expr) else {
        return Err("the pattern of matches() is a text that is written out".to_owned());
    };
    let built = regex::RegexBuilder::new(pattern.inner()).size_limit(PATTERN_BYTES_MAX).build();
    built.map(drop).map_err(|error| format!("the pattern of matches() cannot be used: {}", short(&error.to_string())))
}

fn explained(errors: &cel::ParseErrors) -> String {
    let first = errors.errors.first();
    first.map_or_else(
        || "it cannot be read".to_owned(),
        |error| format!("{} (column {} of line {})", short(&error.msg), error.pos.1, error.pos.0),
    )
}

/// How deep an expression is nested, found without recursion.
fn depth(expression: &IdedExpr) -> usize {
    let mut level = vec![expression];
    let mut depth = 0;
    while !level.is_empty() {
        depth += 1;
        level = level.into_iter().flat_map(children).collect();
    }
    depth
}

/// Names that are not bound inside the expression.
fn free_names(expression: &IdedExpr, bound: &mut Vec<String>, free: &mut Vec<String>) {
    match &expression.expr {
        Expr::Ident(name) => {
            if !bound.contains(name) && !free.contains(name) {
                free.push(name.clone());
            }
        }
        Expr::Comprehension(comprehension) => {
            free_names(&comprehension.iter_range, bound, free);
            free_names(&comprehension.accu_init, bound, free);
            let depth = bound.len();
            bound.push(comprehension.iter_var.clone());
            bound.extend(comprehension.iter_var2.clone());
            bound.push(comprehension.accu_var.clone());
            for part in [&comprehension.loop_cond, &comprehension.loop_step, &comprehension.result] {
                free_names(part, bound, free);
            }
            bound.truncate(depth);
        }
        _ => children(expression).into_iter().for_each(|child| free_names(child, bound, free)),
    }
}

/// `context.x` and `has(context.x)` read `x`; `context` in any other place may read all of it.
fn context_reads(expression: &IdedExpr, reads: &mut Reads) {
    let is_context = |expression: &IdedExpr| matches!(&expression.expr, Expr::Ident(name) if name == "context");
    match &expression.expr {
        Expr::Select(select) if is_context(&select.operand) => {
            reads.variables.insert(select.field.clone());
        }
        Expr::Ident(name) if name == "context" => reads.is_any = true,
        _ => children(expression).into_iter().for_each(|child| context_reads(child, reads)),
    }
}

fn variable(name: &str, scene: &Scene<'_>) -> Value {
    match name {
        "context" => scene.context.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        "payload" => Value::Object(scene.payload.clone()),
        "artifacts" => artifacts(scene),
        "run" => json!({
            "id": scene.run_id, "state": scene.state, "attempts": scene.attempts, "visits": scene.visits,
        }),
        _ => scene.facts.campaign.clone().unwrap_or(Value::Null),
    }
}

/// What counts as evidence: each content once, under its first path, with the types of all copies that are not stale.
fn artifacts(scene: &Scene<'_>) -> Value {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut found: Vec<(&Artifact, BTreeSet<&str>)> = Vec::new();
    for artifact in scene.evidence.iter().filter(|artifact| !scene.facts.stale.contains(&artifact.path)) {
        let place = *places.entry(&artifact.sha256).or_insert(found.len());
        if place == found.len() {
            found.push((artifact, BTreeSet::new()));
        }
        found[place].1.extend(artifact.types.iter().map(String::as_str));
    }
    let shown = found.into_iter().map(|(Artifact { path, sha256, bytes, .. }, types)| {
        json!({"path": path, "types": types, "sha256": sha256, "bytes": bytes})
    });
    shown.collect()
}

/// JSON in which every whole number that fits is an `int`, as in expressions, and not a `uint`.
struct Plain<'a>(&'a Value);

impl Serialize for Plain<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Number(number) => match number.as_i64() {
                Some(whole) => serializer.serialize_i64(whole),
                None => number.serialize(serializer),
            },
            Value::Array(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(&Plain(item))?;
                }
                list.end()
            }
            Value::Object(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key, &Plain(value))?;
                }
                map.end()
            }
            other => other.serialize(serializer),
        }
    }
}

impl fmt::Debug for Expression {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(formatter)
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}
