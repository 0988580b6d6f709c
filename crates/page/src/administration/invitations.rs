//! Invitations: made here, shown once as a link and a QR code, listed and revoked.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::HOST;
use axum::response::{IntoResponse, Redirect, Response};
use jiff::{SignedDuration, Timestamp};
use maud::{Markup, html};
use skald_app::{Fault, Invitation, NewInvitation, RateFigures, TokenRestrictions};

use super::people::{
    CampaignOption, PeopleOutcome, days_from_form, name_field, participant_field, participants_from_form, people_page,
    role_fields, roles_from_form, roles_words,
};
use super::qr_code::qr_code;
use crate::SharedContext;
use crate::components::{copy_block, empty_state, encode, field_fault, time};
use crate::form::Form;
use crate::middleware::PageError;
use crate::session_cookie::is_https;
use crate::visitor::Visitor;

/// How long an invitation holds if nothing else is said.
const DEFAULT_HOURS: i64 = 7 * 24;
const PROGRAM: &str = "the page";

/// An invitation that was just made, with its code.
pub(super) struct NewInvitationShown {
    code: String,
    invitation: Invitation,
}

/// `POST /keeping/invitations`.
pub(crate) async fn create_invitation(
    State(context): State<SharedContext>,
    visitor: Visitor,
    headers: HeaderMap,
    form: Form,
) -> Result<Response, PageError> {
    let administration = context.administration(&visitor)?;
    let made = match invitation_from_form(&form) {
        Ok(new) => administration.create_invitation(&visitor.caller, new).await,
        Err(fault) => Err(fault),
    };
    let outcome = match made {
        Ok((code, invitation)) => {
            PeopleOutcome { new_invitation: Some(NewInvitationShown { code, invitation }), ..PeopleOutcome::default() }
        }
        Err(fault) => PeopleOutcome { refused: Some(("invite", &form, fault)), ..PeopleOutcome::default() },
    };
    people_page(&context, &visitor, &headers, &outcome).await
}

fn invitation_from_form(form: &Form) -> Result<NewInvitation, Fault> {
    let expires_at = match days_from_form(form, "valid_days")? {
        Some(at) => at,
        None => Timestamp::now().saturating_add(SignedDuration::from_hours(DEFAULT_HOURS)).unwrap_or(Timestamp::MAX),
    };
    Ok(NewInvitation {
        name: form.text("name").to_owned(),
        person: None,
        roles: roles_from_form(form)?,
        participants: participants_from_form(form),
        restrictions: TokenRestrictions { scope: None, expires_at: None, limits: RateFigures::default() },
        expires_at,
        program: PROGRAM.to_owned(),
    })
}

/// `POST /keeping/invitations/revoke`.
pub(crate) async fn revoke_invitation(
    State(context): State<SharedContext>,
    visitor: Visitor,
    form: Form,
) -> Result<Response, PageError> {
    let administration = context.administration(&visitor)?;
    administration.revoke_invitation(&visitor.caller, form.text("id"), PROGRAM).await?;
    Ok(Redirect::to("/keeping#invitations").into_response())
}

/// The link, as text and as a code for a phone.
pub(super) fn new_invitation(shown: &NewInvitationShown, headers: &HeaderMap) -> Markup {
    let host = headers.get(HOST).and_then(|value| value.to_str().ok()).unwrap_or("localhost");
    let scheme = if is_https(headers) { "https" } else { "http" };
    let link = format!("{scheme}://{host}/join/{}", encode_code(&shown.code));
    let is_local = ["localhost", "127.", "[::1]"].iter().any(|local| host.starts_with(local));
    html! {
        section.card.secret role="status" {
            h2 { "An invitation for " span dir="auto" { (shown.invitation.name) } }
            div.invitation {
                @if let Some(code) = qr_code(&link, "QR code of the invitation") { (code) }
                div.stack-s {
                    p { "Let their phone look at the code, or send them the link. It works once, and is shown this once." }
                    (copy_block(&link))
                    p.muted { "Holds until " (time(&shown.invitation.expires_at.to_string())) "." }
                    @if is_local {
                        p.warning { "This address is of this machine alone. For phones, start the server with an address of your network, such as " code { "--http-addr 0.0.0.0:8080" } ", and open the page there." }
                    }
                }
            }
        }
    }
}

/// Codes are of plain letters; anything else is encoded all the same.
fn encode_code(code: &str) -> String {
    if code.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') { code.to_owned() } else { encode(code) }
}

pub(super) fn invitation_form(campaigns: &[CampaignOption], outcome: &PeopleOutcome<'_>) -> Markup {
    html! {
        form method="post" action="/keeping/invitations" {
            (name_field("invite", outcome))
            (role_fields("invite", campaigns, outcome))
            (participant_field("invite", outcome))
            div.field {
                label for="invite-valid" { "Days it holds" }
                input #invite-valid type="number" min="1" max="3650" name="valid_days" value=(outcome.typed_text("invite", "valid_days")) placeholder="7";
                (field_fault(outcome.fault("invite"), "valid_days"))
            }
            button.primary { "Invite" }
        }
    }
}

pub(super) fn invitation_list(invitations: &[Invitation], campaigns: &[CampaignOption]) -> Markup {
    let now = Timestamp::now();
    let is_open = |invitation: &&Invitation| invitation.is_open(now.into());
    let (open, used): (Vec<&Invitation>, Vec<&Invitation>) = invitations.iter().partition(is_open);
    html! {
        @if open.is_empty() {
            (empty_state("No invitation is open", &html! { p { "Make one above, and it waits here until it is used." } }))
        } @else {
            ul.rows {
                @for invitation in &open {
                    li.row {
                        div.row-main {
                            strong dir="auto" { (invitation.name) }
                            span.muted dir="auto" { (roles_words(&invitation.roles, campaigns)) }
                            span.muted { "holds until " (time(&invitation.expires_at.to_string())) }
                        }
                        form method="post" action="/keeping/invitations/revoke" {
                            input type="hidden" name="id" value=(invitation.id);
                            button.danger { "Revoke" span.visually-hidden { " the invitation of " (invitation.name) } }
                        }
                    }
                }
            }
        }
        @if !used.is_empty() {
            details.ended {
                summary { (used.len()) " used, revoked or expired" }
                ul.rows {
                    @for invitation in &used {
                        li.row { div.row-main {
                            span dir="auto" { (invitation.name) }
                            span.muted {
                                @match (&invitation.token_id, &invitation.revoked) {
                                    (Some(_), _) => "used",
                                    (None, Some(revoked)) => { "revoked " (time(&revoked.at.to_string())) }
                                    (None, None) => "expired",
                                }
                            }
                        } }
                    }
                }
            }
        }
    }
}
