//! Completion of arguments of prompts and resource templates, from the same schemas that validate them.

use skald_domain::limits;

use crate::{App, Caller, Catalogue, Fault, json_schema};

/// The prompt or resource template whose argument is completed.
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
    /// The text typed so far.
    pub typed: String,
    /// The values of other arguments that are already known.
    pub given: Vec<(String, String)>,
}

impl CompletionRequest {
    /// The value of another argument, if it is known.
    pub fn argument_value(&self, argument: &str) -> Option<&str> {
        self.given.iter().find(|(name, _)| name == argument).map(|(_, value)| value.as_str())
    }
}

/// The values that begin with the typed text, in the order of the schema or of the operation that lists them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Completion {
    pub values: Vec<String>,
    /// How many there are; more than `values` if the list was cut.
    pub total: usize,
}

pub(crate) async fn complete(
    app: &App,
    catalogue: &Catalogue,
    caller: &Caller,
    request: &CompletionRequest,
) -> Result<Completion, Fault> {
    let (full, known) = match &request.target {
        CompletionTarget::Prompt(name) => {
            let prompt = catalogue.prompt(name)?;
            (&prompt.full_arguments, prompt.complete(app, caller, &request.argument).await)
        }
        CompletionTarget::Resource(uri) => {
            let entry = catalogue.operation(catalogue.resource_by_template(uri)?.operation)?;
            if let Some(found) = entry.complete_from_arguments(app, caller, request).await {
                return Ok(found);
            }
            (&**entry.full_input, entry.complete(app, caller, &request.argument, &request.typed).await)
        }
    };
    let mut values = known.unwrap_or_else(|| json_schema::suggestions(full, &request.argument));
    let typed = request.typed.trim().to_lowercase();
    values.retain(|value| value.to_lowercase().starts_with(&typed));
    let total = values.len();
    values.truncate(limits::COMPLETIONS_MAX);
    Ok(Completion { values, total })
}
