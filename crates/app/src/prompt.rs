//! The `Prompt` trait: texts for common tasks at the table, filled with current data, with typed arguments.

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{App, Caller, Fault, Toolset, input, json_schema};

/// One prompt. Its arguments come as text and are typed by their schema, like every other input.
pub trait Prompt: 'static {
    const NAME: &'static str;
    const TITLE: &'static str;
    const SUMMARY: &'static str;
    const TOOLSET: Toolset;
    type Arguments: DeserializeOwned + JsonSchema + Send;

    fn render(
        app: &App,
        caller: &Caller,
        arguments: Self::Arguments,
    ) -> impl Future<Output = Result<String, Fault>> + Send;

    /// The possible values of an argument, where its schema cannot list them.
    fn complete(_app: &App, _caller: &Caller, _argument: &str) -> impl Future<Output = Option<Vec<String>>> + Send {
        std::future::ready(None)
    }
}

type CompleteArgument = for<'a> fn(&'a App, &'a Caller, &'a str) -> BoxFuture<'a, Option<Vec<String>>>;

type Render = for<'a> fn(&'a App, &'a Caller, &'a PromptEntry, Value) -> BoxFuture<'a, Result<String, Fault>>;

/// A prompt as data.
pub struct PromptEntry {
    pub name: &'static str,
    pub title: &'static str,
    pub summary: &'static str,
    pub toolset: Toolset,
    pub arguments: Vec<PromptArgument>,
    pub(crate) full_arguments: Value,
    render: Render,
    complete: CompleteArgument,
}

#[derive(Debug, Clone)]
pub struct PromptArgument {
    pub name: String,
    pub summary: String,
    pub required: bool,
}

impl PromptEntry {
    pub fn from_prompt<P: Prompt>() -> Self {
        let full_arguments = json_schema::full_input_schema::<P::Arguments>();
        Self {
            name: P::NAME,
            title: P::TITLE,
            summary: P::SUMMARY,
            toolset: P::TOOLSET,
            arguments: arguments_from_schema(&full_arguments),
            full_arguments,
            render: |app, caller, entry, arguments| {
                Box::pin(async move {
                    let arguments = input::deserialize_input::<P::Arguments>(&arguments, &entry.full_arguments)?;
                    P::render(app, caller, arguments).await
                })
            },
            complete: |app, caller, argument| Box::pin(P::complete(app, caller, argument)),
        }
    }

    pub(crate) fn complete<'a>(
        &'a self,
        app: &'a App,
        caller: &'a Caller,
        argument: &'a str,
    ) -> BoxFuture<'a, Option<Vec<String>>> {
        (self.complete)(app, caller, argument)
    }

    pub(crate) fn render<'a>(
        &'a self,
        app: &'a App,
        caller: &'a Caller,
        arguments: &[(String, String)],
    ) -> BoxFuture<'a, Result<String, Fault>> {
        let fields = arguments.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        (self.render)(app, caller, self, input::input_from_text(&self.full_arguments, fields))
    }
}

fn arguments_from_schema(full: &Value) -> Vec<PromptArgument> {
    let required: Vec<&str> =
        full.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    full.get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(name, property)| PromptArgument {
            name: name.clone(),
            summary: property.get("description").and_then(Value::as_str).unwrap_or_default().to_owned(),
            required: required.contains(&name.as_str()),
        })
        .collect()
}
