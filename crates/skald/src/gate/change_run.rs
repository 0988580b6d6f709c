//! Gate commands that change a run (emit, override, cancel), with the expected revision and the idempotency key.

use serde_json::{Value, json};
use skald_app::{Code, Fault, truncate_for_message};

use super::engine_access::EngineAccess;
use super::print_reply::CommandReply;
use super::{GET_STATE, RUN, text};
use crate::arguments::ChangeArguments;
use crate::open_store;
use crate::output::print_note;

pub(super) async fn emit_event(
    engine_access: &EngineAccess,
    mut input: Value,
    change: &ChangeArguments,
) -> Result<CommandReply, Fault> {
    let made = add_revision_and_key(engine_access, &mut input, change).await?;
    let mut answer = engine_access.call("state_gate.emit_event", input).await?;
    if let Some(key) = made {
        answer["idempotency_key"] = key;
    }
    Ok(if answer["success"] == true {
        CommandReply::success(text::accepted_event(&answer["result"]), answer)
    } else {
        CommandReply::refusal(text::refused_event(&answer["error"]), answer)
    })
}

/// Overrides a guard, or cancels the run.
pub(super) async fn override_or_cancel(
    engine_access: &EngineAccess,
    mut input: Value,
    change: &ChangeArguments,
) -> Result<CommandReply, Fault> {
    let made = add_revision_and_key(engine_access, &mut input, change).await?;
    let mut answer = engine_access.call(RUN, input).await?;
    if let Some(key) = made {
        answer["idempotency_key"] = key;
    }
    let text = match answer.get("overridden") {
        Some(taken) => text::accepted_event(taken),
        None => text::cancelled_run(&answer),
    };
    Ok(CommandReply::success(text, answer))
}

/// Adds the expected revision and the idempotency key. A new key is printed before the call, so that the user can retry
/// with it if no answer comes.
///
/// A given key needs a given revision: the current one may change before a retry, which would then be refused as
/// another request.
async fn add_revision_and_key(
    engine_access: &EngineAccess,
    input: &mut Value,
    change: &ChangeArguments,
) -> Result<Option<Value>, Fault> {
    input["expected_revision"] = match (change.expected_revision, &change.idempotency_key) {
        (Some(revision), _) => json!(revision),
        (None, Some(key)) => return Err(missing_revision_fault(key)),
        (None, None) => engine_access.call(GET_STATE, json!({"run_id": input["run_id"]})).await?["revision"].take(),
    };
    if let Some(key) = &change.idempotency_key {
        input["idempotency_key"] = json!(key);
        return Ok(None);
    }
    let key = json!(format!("cli-{}", &open_store::random_id()[..32]));
    print_note(&format!(
        "idempotency key: {}, expected revision: {}",
        text::one_line(&key),
        input["expected_revision"]
    ));
    input["idempotency_key"] = key.clone();
    Ok(Some(key))
}

fn missing_revision_fault(key: &str) -> Fault {
    let message = format!("the key {:?} says nothing of the revision that you have seen", truncate_for_message(key));
    let fault = Fault::new(Code::InvalidParams, message).with_path("/expected_revision");
    fault.hint("give --expected-revision with a key of your own, so that a retry is the same request")
}
