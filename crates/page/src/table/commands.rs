//! The forms of the table: roll, note, change a tracker, set the spotlight, start and end a session.
//!
//! Without scripts a form leads back to the table. With htmx the answer is the error, or nothing: the stream brings what
//! changed to every screen.

use axum::extract::State;
use axum::http::HeaderValue;
use axum::response::{IntoResponse, Redirect, Response};
use maud::html;
use serde_json::{Map, Value, json};
use skald_app::{Code, Fault};

use super::audience::visible_to;
use super::{RefusedForm, TableForm, TableState, show_table};
use crate::SharedContext;
use crate::components::fault_box;
use crate::extractors::PagePath;
use crate::form::Form;
use crate::layout::html_response;
use crate::middleware::{PageError, status};
use crate::visitor::Visitor;

/// The id of the roll that a form made: the page that sent it need not announce it.
const ROLL_ID: &str = "skald-roll";

/// `POST /c/{campaign}/roll`.
pub(crate) async fn roll(
    State(context): State<SharedContext>,
    PagePath(campaign): PagePath<String>,
    visitor: Visitor,
    form: Form,
) -> Result<Response, PageError> {
    let rolled = async {
        let (state, _) = TableState::read_people(&context, &visitor, &campaign).await?;
        // Without a session it would go to the campaign of the caller's context, which may be another one.
        let session = state.active_session().ok_or_else(|| {
            let fault = Fault::new(Code::Rejected, "no session is going on, so nobody would see this roll");
            fault.hint("the game master starts one; the odds of an expression are under Dice")
        })?;
        let mut input = filled(&form, &["expression", "reason", "actor_id"]);
        input.insert("session_id".to_owned(), session.id.clone().into());
        if let Some(visible_to) = visible_to(&form)? {
            input.insert("visible_to".to_owned(), visible_to);
        }
        context.send::<Value>(&visitor.caller, "roll", input.into()).await
    };
    let outcome = rolled.await;
    let id = outcome.as_ref().ok().and_then(|roll| HeaderValue::try_from(roll["recorded"]["roll_id"].as_str()?).ok());
    let mut response = finish(&context, (&campaign, &visitor), (TableForm::Roll, &form), outcome).await?;
    if let Some(id) = id {
        response.headers_mut().insert(ROLL_ID, id);
    }
    Ok(response)
}

/// `POST /c/{campaign}/note`.
pub(crate) async fn take_note(
    State(context): State<SharedContext>,
    PagePath(campaign): PagePath<String>,
    visitor: Visitor,
    form: Form,
) -> Result<Response, PageError> {
    let noted = async {
        let mut input = json!({"campaign_id": campaign, "text": form.text("text")});
        if let Some(visible_to) = visible_to(&form)? {
            input["visible_to"] = visible_to;
        }
        context.send::<Value>(&visitor.caller, "session_note", input).await
    };
    let outcome = noted.await;
    finish(&context, (&campaign, &visitor), (TableForm::Note, &form), outcome).await
}

/// `POST /c/{campaign}/tracker`: up or down by a step.
pub(crate) async fn change_tracker(
    State(context): State<SharedContext>,
    PagePath(campaign): PagePath<String>,
    visitor: Visitor,
    form: Form,
) -> Result<Response, PageError> {
    let changed = async {
        let mut tracker = filled(&form, &["name", "actor_id", "participant_id"]);
        tracker.insert("by".to_owned(), form.integer("by")?.unwrap_or_default().into());
        let input = json!({"campaign_id": campaign, "method": "change", "trackers": [tracker]});
        context.send::<Value>(&visitor.caller, "tracker", input).await
    };
    let outcome = changed.await;
    finish(&context, (&campaign, &visitor), (TableForm::Tracker, &form), outcome).await
}

/// `POST /c/{campaign}/spotlight`: who is up, or a new scene.
pub(crate) async fn set_spotlight(
    State(context): State<SharedContext>,
    PagePath(campaign): PagePath<String>,
    visitor: Visitor,
    form: Form,
) -> Result<Response, PageError> {
    let mut input = filled(&form, &["scene"]);
    if let Some(up) = form.filled("up") {
        input.insert("spotlight".to_owned(), up.into());
    }
    input.insert("campaign_id".to_owned(), campaign.clone().into());
    let outcome = context.send(&visitor.caller, "session_note", input.into()).await;
    finish(&context, (&campaign, &visitor), (TableForm::Spotlight, &form), outcome).await
}

/// `POST /c/{campaign}/session/start`.
pub(crate) async fn start_session(
    State(context): State<SharedContext>,
    PagePath(campaign): PagePath<String>,
    visitor: Visitor,
    form: Form,
) -> Result<Response, PageError> {
    let mut input = filled(&form, &["name"]);
    input.insert("campaign_id".to_owned(), campaign.clone().into());
    let outcome = context.send(&visitor.caller, "session_start", input.into()).await;
    finish(&context, (&campaign, &visitor), (TableForm::StartSession, &form), outcome).await
}

/// `POST /c/{campaign}/session/end`.
pub(crate) async fn end_session(
    State(context): State<SharedContext>,
    PagePath(campaign): PagePath<String>,
    visitor: Visitor,
    form: Form,
) -> Result<Response, PageError> {
    let outcome = context.send(&visitor.caller, "session_end", json!({"campaign_id": campaign})).await;
    finish(&context, (&campaign, &visitor), (TableForm::EndSession, &form), outcome).await
}

/// The fields that somebody filled in.
fn filled(form: &Form, names: &[&str]) -> Map<String, Value> {
    let pairs = names.iter().filter_map(|name| Some(((*name).to_owned(), form.filled(name)?.into())));
    pairs.collect()
}

/// The answer to a form: what changed, or the error beside it with everything that was typed.
async fn finish(
    context: &SharedContext,
    (campaign, visitor): (&str, &Visitor),
    (kind, form): (TableForm, &Form),
    outcome: Result<Value, Fault>,
) -> Result<Response, PageError> {
    match outcome {
        // The stream brings what changed, in order. An answer with the same might come after later news, and undo them.
        Ok(_) if visitor.browser.wants_fragment => Ok(html_response(html! {})),
        Ok(_) => Ok(Redirect::to(&format!("/c/{campaign}")).into_response()),
        Err(fault) => {
            let mut response = if visitor.browser.wants_fragment {
                let field = fault.body().path.as_deref().and_then(|path| path.strip_prefix('/'));
                html_response(html! { div data-refused-field=[field] { (fault_box(&fault)) } })
            } else {
                show_table(context, campaign, visitor, Some(&RefusedForm { kind, form, fault: &fault })).await?
            };
            *response.status_mut() = status(fault.class());
            Ok(response)
        }
    }
}
