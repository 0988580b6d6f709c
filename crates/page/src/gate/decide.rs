//! Forms that a person sends from the page of a run: an event, an override, giving it up. A refusal shows the page again,
//! with what was typed.

use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use skald_app::{Code, Fault};

use super::RunAddress;
use super::event_form::payload_from_form;
use super::read_run::RunAnswers;
use super::run_page::{RefusedDecision, run_page};
use crate::SharedContext;
use crate::campaign_place::CampaignPlace;
use crate::extractors::PagePath;
use crate::form::Form;
use crate::middleware::PageError;
use crate::visitor::Visitor;

#[derive(Debug, Deserialize)]
struct EmitAnswer {
    success: bool,
    error: Option<EmitError>,
}

#[derive(Debug, Deserialize)]
struct EmitError {
    message: String,
    hint: Option<String>,
    details: Option<EmitErrorDetails>,
}

#[derive(Debug, Default, Deserialize)]
struct EmitErrorDetails {
    #[serde(default)]
    missing_guards: Vec<String>,
    #[serde(default)]
    validation_errors: Vec<FieldError>,
}

#[derive(Debug, Deserialize)]
struct FieldError {
    path: String,
    message: String,
}

impl EmitError {
    /// The refusal as a fault, so that it is rendered like every other error.
    fn into_fault(self) -> Fault {
        let details = self.details.unwrap_or_default();
        let mut message = self.message;
        for missing in &details.missing_guards {
            message = format!("{message}; {missing}");
        }
        if let Some(error) = details.validation_errors.first() {
            message = format!("{message}: {}", error.message);
        }
        let fault = Fault::new(Code::Rejected, message);
        let fault = match details.validation_errors.first() {
            Some(error) => fault.with_path(format!("/payload.{}", error.path.trim_start_matches('/'))),
            None => fault,
        };
        match self.hint {
            Some(hint) => fault.hint(hint),
            None => fault,
        }
    }
}

/// `POST …/emit`: emits an event with what was typed.
pub(crate) async fn emit_event(
    State(context): State<SharedContext>,
    visitor: Visitor,
    PagePath(address): PagePath<RunAddress>,
    form: Form,
) -> Result<Response, PageError> {
    let place = context.run_place(&visitor, address.campaign.as_deref()).await?;
    let run = context.read_run(&visitor, &place, &address.run).await?;
    let event = form.text("event").to_owned();
    let sent = send_event(&context, &visitor, &run, &event, &form).await;
    answer(&context, &visitor, (&place, &address.run), (event, &form), sent).await
}

async fn send_event(
    context: &SharedContext,
    visitor: &Visitor,
    run: &RunAnswers,
    event: &str,
    form: &Form,
) -> Result<(), Fault> {
    // Read the payload also for an event that the run has passed: the same form sent twice then gets the same answer.
    let known = run.events.iter().find(|known| known.event_name == event);
    let payload = payload_from_form(form, known.and_then(|known| known.payload_schema.as_ref()))?;
    let revision = seen_revision(form)?;
    // The idempotency key is made of the caller, the revision and the event: a form that is sent twice is one decision.
    let key = format!("page-{}-{revision}-{event}", visitor.caller.id());
    let mut input = json!({
        "run_id": run.state.run_id, "event_name": event, "payload": payload, "expected_revision": revision,
        "idempotency_key": key,
    });
    if form.filled("evidence_text").is_some() || form.filled("evidence_path").is_some() {
        let path = form.filled("evidence_path").ok_or_else(|| {
            let fault = Fault::new(Code::InvalidPayload, "the evidence has no file name").with_path("/evidence_path");
            fault.hint("type one, such as recap.md")
        })?;
        input["artifacts"] = json!([{"path": path, "text": form.text("evidence_text")}]);
    }
    let EmitAnswer { success, error } = context.send(&visitor.caller, "state_gate.emit_event", input).await?;
    match error {
        Some(error) if !success => Err(error.into_fault()),
        _ => Ok(()),
    }
}

/// The revision that the form was rendered with. A decision about an older revision than the current one is refused.
fn seen_revision(form: &Form) -> Result<i64, Fault> {
    form.integer("revision")?.ok_or_else(|| {
        let fault = Fault::new(Code::InvalidParams, "the form does not say what was seen").with_path("/revision");
        fault.hint("open the run and send its form")
    })
}

/// `POST …/override`: takes a transition although its guard is not satisfied.
pub(crate) async fn override_guard(
    State(context): State<SharedContext>,
    visitor: Visitor,
    PagePath(address): PagePath<RunAddress>,
    form: Form,
) -> Result<Response, PageError> {
    let place = context.run_place(&visitor, address.campaign.as_deref()).await?;
    let run = context.read_run(&visitor, &place, &address.run).await?;
    let (event, to_state) = (form.text("event").to_owned(), form.text("to_state").to_owned());
    let action = format!("override:{event}:{to_state}");
    let sent = match (seen_revision(&form), form.filled("reason")) {
        (Err(fault), _) => Err(fault),
        (Ok(_), None) => Err(Fault::new(Code::InvalidParams, "an override needs a reason")
            .with_path("/reason")
            .hint("say why it may go on all the same; it stays in the history")),
        (Ok(revision), Some(reason)) => {
            let input = json!({
                "method": "override", "run_id": run.state.run_id, "event_name": event, "to_state": to_state,
                "reason": reason, "expected_revision": revision,
            });
            context.send::<Value>(&visitor.caller, "state_gate.run", input).await.map(drop)
        }
    };
    answer(&context, &visitor, (&place, &address.run), (action, &form), sent).await
}

/// `POST …/cancel`: gives the run up.
pub(crate) async fn cancel_run(
    State(context): State<SharedContext>,
    visitor: Visitor,
    PagePath(address): PagePath<RunAddress>,
    form: Form,
) -> Result<Response, PageError> {
    let place = context.run_place(&visitor, address.campaign.as_deref()).await?;
    let run = context.read_run(&visitor, &place, &address.run).await?;
    let sent = match seen_revision(&form) {
        Ok(revision) => {
            let mut input = json!({"method": "cancel", "run_id": run.state.run_id, "expected_revision": revision});
            if let Some(reason) = form.filled("reason") {
                input["reason"] = json!(reason);
            }
            context.send::<Value>(&visitor.caller, "state_gate.run", input).await.map(drop)
        }
        Err(fault) => Err(fault),
    };
    answer(&context, &visitor, (&place, &address.run), ("cancel".to_owned(), &form), sent).await
}

/// Redirects to the run, or renders it as it is now with the refused form and the reason.
async fn answer(
    context: &SharedContext,
    visitor: &Visitor,
    (place, run_id): (&CampaignPlace, &str),
    (action, form): (String, &Form),
    sent: Result<(), Fault>,
) -> Result<Response, PageError> {
    let run = context.read_run(visitor, place, run_id).await?;
    match sent {
        Ok(()) => Ok(Redirect::to(&place.item_path(&run.state.run_id)).into_response()),
        Err(fault) => Ok(run_page(visitor, place, &run, Some(&RefusedDecision { action, form, fault }))),
    }
}
