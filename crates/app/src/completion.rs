//! Completions: what may be typed for an argument, from the same schemas that check it.

use domain::limits;
use serde_json::Value;

use crate::{Catalogue, Fault, schema};

/// What is being completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompletionTarget {
    Prompt(String),
    /// A resource template, as it is listed.
    Resource(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletionRequest {
    pub target: CompletionTarget,
    pub argument: String,
    /// What was typed so far.
    pub typed: String,
}

/// The values that begin with what was typed, in the order of the schema.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Completion {
    pub values: Vec<String>,
    /// How many there are; more than `values` if the list was cut.
    pub total: usize,
}

pub(crate) fn complete(catalogue: &Catalogue, request: &CompletionRequest) -> Result<Completion, Fault> {
    let full = arguments(catalogue, &request.target)?;
    let typed = request.typed.trim().to_lowercase();
    let mut values = schema::suggestions(full, &request.argument);
    values.retain(|value| value.to_lowercase().starts_with(&typed));
    let total = values.len();
    values.truncate(limits::COMPLETIONS_MAX);
    Ok(Completion { values, total })
}

fn arguments<'a>(catalogue: &'a Catalogue, target: &CompletionTarget) -> Result<&'a Value, Fault> {
    match target {
        CompletionTarget::Prompt(name) => catalogue.prompt(name).map(|prompt| &prompt.full_arguments),
        CompletionTarget::Resource(uri) => {
            let resource = catalogue.template(uri)?;
            catalogue.operation(resource.operation).map(|entry| &entry.full_input)
        }
    }
}
