//! Converts the catalogue, answers and faults into rmcp's types.

use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD as STANDARD;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolResult, CompleteResult, CompletionInfo, ContentBlock, ErrorCode, GetPromptResult, JsonObject, MetaObject,
    Prompt, PromptArgument, PromptMessage, ReadResourceResult, Resource, ResourceContents, ResourceTemplate, Role,
    Tool, ToolAnnotations,
};
use serde_json::{Value, json};
use skald_app::{
    Answer, Catalogue, Class, Completion, ContentsText, Exposed, Fault, OperationEntry, OperationKind, PromptEntry,
    ReadContents, truncate_for_message,
};

use crate::png::render_png;
use crate::{ToolNameSpelling, insert_rendered_json};

/// The `_meta` key of an error's body, for programs.
const ERROR_KEY: &str = "skald/error";
/// The `_meta` key of the campaign's revision. A client sends it back as `skald/expectedRevision`.
const REVISION_KEY: &str = "skald/revision";

pub(crate) fn tools(catalogue: &Catalogue, names: ToolNameSpelling) -> Vec<Tool> {
    let offered = catalogue.operations().iter().filter(|entry| entry.exposed == Exposed::Everywhere);
    offered.map(|entry| tool(entry, names)).collect()
}

fn tool(entry: &OperationEntry, names: ToolNameSpelling) -> Tool {
    let is_read = entry.kind == OperationKind::Read;
    // What the protocol assumes by default is left out: a read destroys nothing and may be repeated, and a command is
    // neither read-only nor idempotent.
    let annotations = ToolAnnotations::new().open_world(false);
    let annotations = if is_read { annotations.read_only(true) } else { annotations.destructive(entry.destructive) };
    Tool::new(names.tool_name(entry.name), entry.summary, Arc::clone(&**entry.tool_input))
        .with_title(entry.title)
        .with_raw_output_schema(Arc::clone(&entry.tool_output))
        .with_annotations(annotations)
}

/// The result of a tool. The text is the JSON of `text_field`, or of the whole answer if there is no such field.
pub(crate) fn tool_result(
    answer: Result<Answer, Fault>,
    text_field: Option<&str>,
    revision: Option<&u64>,
) -> CallToolResult {
    let mut result = match answer {
        Ok(answer @ (Answer::Value(_) | Answer::Object(_) | Answer::Feed(_))) => {
            let value = answer.into_value();
            match text_field.and_then(|field| value.get(field)) {
                Some(field) => {
                    let mut content = vec![ContentBlock::text(field.to_string())];
                    content.extend(rest_of_page(&value));
                    let mut result = CallToolResult::success(content);
                    result.structured_content = Some(value);
                    result
                }
                None => CallToolResult::structured(value),
            }
        }
        Ok(Answer::Prepared(prepared)) => {
            let marks = insert_rendered_json::hold_document(&prepared);
            let mut result = CallToolResult::success(vec![ContentBlock::text(marks.text)]);
            result.structured_content = Some(marks.json.into());
            result
        }
        Err(fault) => return tool_error(&fault),
    };
    result.meta = revision_meta(revision);
    result
}

/// What says that a page is not everything, as a text of its own: the text of the page is the bare list.
fn rest_of_page(value: &Value) -> Option<ContentBlock> {
    let sync_info = value.get("sync_info").filter(|sync_info| sync_info.get("next_cursor").is_some())?;
    Some(ContentBlock::text(json!({"sync_info": sync_info}).to_string()))
}

fn revision_meta(revision: Option<&u64>) -> Option<MetaObject> {
    revision.map(|revision| meta(REVISION_KEY, json!(revision)))
}

fn meta(key: &str, value: Value) -> MetaObject {
    MetaObject(JsonObject::from_iter([(key.to_owned(), value)]))
}

/// An answer whose SVG field becomes an image beside it. If the image cannot be drawn, the answer goes without it.
pub(crate) async fn tool_result_with_image(mut answer: Value, field: &str) -> CallToolResult {
    let svg = answer.as_object_mut().and_then(|fields| fields.shift_remove(field));
    let mut result = CallToolResult::structured(answer);
    if let Some(Value::String(svg)) = svg {
        match tokio::task::spawn_blocking(move || render_png(&svg)).await {
            Ok(Ok(png)) => result.content.push(ContentBlock::image(STANDARD.encode(png), "image/png")),
            Ok(Err(error)) => tracing::warn!(%error, "a picture could not be drawn"),
            Err(_) => tracing::warn!("drawing a picture panicked"),
        }
    }
    result
}

/// A sentence for the model and the object for programs. No structured content: a client would check it against the
/// output schema and discard the error.
fn tool_error(fault: &Fault) -> CallToolResult {
    let mut result = CallToolResult::error(vec![
        ContentBlock::text(fault.to_string()),
        ContentBlock::text(fault.envelope().to_string()),
    ]);
    result.meta = Some(meta(ERROR_KEY, json!(fault.body())));
    result
}

/// The error of a request that is not a tool call. The class alone decides the code.
pub(crate) fn protocol_error(fault: &Fault) -> ErrorData {
    let code = match fault.class() {
        Class::NotFound | Class::Invalid | Class::Refused | Class::Conflict | Class::TooLarge => {
            ErrorCode::INVALID_PARAMS
        }
        Class::Unauthenticated | Class::Denied => ErrorCode::INVALID_REQUEST,
        Class::Limited | Class::Unavailable | Class::Internal => ErrorCode::INTERNAL_ERROR,
    };
    ErrorData::new(code, fault.to_string(), Some(fault.envelope()))
}

/// The error of a resource request: a missing resource has its own code, and the data names the URI.
pub(crate) fn resource_error(fault: &Fault, uri: &str) -> ErrorData {
    let mut error = protocol_error(fault);
    if fault.class() == Class::NotFound {
        error.code = ErrorCode::RESOURCE_NOT_FOUND;
    }
    if let Some(Value::Object(data)) = &mut error.data {
        data.insert("uri".to_owned(), truncate_for_message(uri).into());
    }
    error
}

pub(crate) fn resource(resource: &skald_app::Resource) -> Resource {
    Resource::new(resource.uri, resource.name)
        .with_title(resource.title)
        .with_description(resource.summary)
        .with_mime_type(resource.mime_type)
}

/// A resource of a template, with its field filled in.
pub(crate) fn templated_resource(resource: &skald_app::Resource, field: &str, value: &str) -> Resource {
    Resource::new(resource.uri_with_field(field, value), value)
        .with_title(format!("{}: {value}", resource.title))
        .with_description(resource.summary)
        .with_mime_type(resource.mime_type)
}

pub(crate) fn template(resource: &skald_app::Resource) -> ResourceTemplate {
    ResourceTemplate::new(resource.uri, resource.name)
        .with_title(resource.title)
        .with_description(resource.summary)
        .with_mime_type(resource.mime_type)
}

pub(crate) fn resource_contents(uri: String, contents: ReadContents, revision: Option<&u64>) -> ReadResourceResult {
    let text = match contents.text {
        ContentsText::Text(text) => text,
        ContentsText::Prepared(prepared) => insert_rendered_json::hold_document(&prepared).text,
    };
    let text = ResourceContents::text(text, uri).with_mime_type(contents.mime_type);
    ReadResourceResult::new(vec![match revision_meta(revision) {
        Some(meta) => text.with_meta(meta),
        None => text,
    }])
}

pub(crate) fn prompt(entry: &PromptEntry) -> Prompt {
    let arguments = entry.arguments.iter().map(|argument| {
        PromptArgument::new(argument.name.as_str())
            .with_description(argument.summary.as_str())
            .with_required(argument.required)
    });
    Prompt::new(entry.name, Some(entry.summary), Some(arguments.collect())).with_title(entry.title)
}

pub(crate) fn prompt_result(entry: &PromptEntry, text: String) -> GetPromptResult {
    let mut result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]);
    result.description = Some(entry.summary.to_owned());
    result
}

pub(crate) fn completion_result(completion: Completion) -> Result<CompleteResult, ErrorData> {
    let has_more = completion.total > completion.values.len();
    let total = u32::try_from(completion.total).ok();
    CompletionInfo::with_pagination(completion.values, total, has_more)
        .map(CompleteResult::new)
        .map_err(|error| ErrorData::internal_error(error, None))
}
