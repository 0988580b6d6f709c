//! Calls that are about several actors or participants at once: the first one is in the call itself, the others in a list.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use skald_domain::campaign::{BatchPart, CampaignCommand};

use super::tracker::prefix_path;
use crate::input::deserialize_input;
use crate::json_schema::full_input_schema;
use crate::{App, Call, Code, Fault, limits};

/// The first item and those of the list `field`, which have the same fields.
pub(super) fn read_several<T: for<'a> Deserialize<'a> + JsonSchema>(
    first: T,
    others: Vec<Map<String, Value>>,
    field: &str,
) -> Result<Vec<T>, Fault> {
    if others.len() >= limits::ACTORS_PER_CALL_MAX {
        let (most, given) = (limits::ACTORS_PER_CALL_MAX, others.len() + 1);
        let message = format!("one call is about at most {most} {field}, these are {given}");
        return Err(Fault::new(Code::TooLarge, message)
            .with_path(format!("/{field}"))
            .hint("send the rest in another call"));
    }
    let mut all = vec![first];
    if !others.is_empty() {
        let schema = full_input_schema::<T>();
        for (at, item) in others.into_iter().enumerate() {
            let item = deserialize_input(&Value::Object(item), &schema);
            all.push(item.map_err(|fault| prefix_path(fault, &item_pointer(field, at + 1)))?);
        }
    }
    Ok(all)
}

/// The ids of new items. Under an idempotency key, ids follow from it: the number keeps those of one call apart.
pub(super) fn new_ids(app: &App, call: &Call<'_>, prefix: &str, stream: &str, count: usize) -> Vec<String> {
    let others = (1..count).map(|number| app.new_id(call, prefix, &format!("{stream}/{number}")));
    std::iter::once(app.new_id(call, prefix, stream)).chain(others).collect()
}

/// The JSON pointer of one of several items; the first one is the input itself.
pub(super) fn item_pointer(field: &str, at: usize) -> String {
    if at == 0 { String::new() } else { format!("/{field}/{}", at - 1) }
}

/// A single command is sent alone, so that its refusal reads as it does without a list.
pub(super) fn single_or_batch(mut parts: Vec<BatchPart>) -> CampaignCommand {
    match parts.pop() {
        Some(only) if parts.is_empty() => only.command,
        last => CampaignCommand::Batch(parts.into_iter().chain(last).collect()),
    }
}
