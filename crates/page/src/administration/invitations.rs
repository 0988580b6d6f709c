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
use crate::components::{copy_block, empty_state, field_fault, time};
use crate::form::Form;
use crate::middleware::PageError;
use crate::public_url::PublicUrl;
use crate::session_cookie::is_https;
use crate::visitor::Visitor;
use crate::{PageContext, SharedContext};

/// Hours for which an invitation is valid if the form has no number of days.
const DEFAULT_HOURS: i64 = 7 * 24;
const PROGRAM: &str = "the page";

/// An invitation that was just made, with its code.
pub(super) struct NewInvitationShown {
    /// The link with its code.
    link: String,
    /// Whether only the machine that the server runs on can open the link.
    is_loopback: bool,
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
    // Check the address first: an invitation whose link cannot be shown would be lost.
    let made =
        match address_from_form(&form, &context, &headers).and_then(|url| Ok((url, invitation_from_form(&form)?))) {
            Ok((url, new)) => {
                let made = administration.create_invitation(&visitor.caller, new).await;
                made.map(|(code, invitation)| (url.invitation_link(&code), url.is_loopback(), invitation))
            }
            Err(fault) => Err(fault),
        };
    let outcome = match made {
        Ok((link, is_loopback, invitation)) => {
            let shown = NewInvitationShown { link, is_loopback, invitation };
            PeopleOutcome { new_invitation: Some(shown), ..PeopleOutcome::default() }
        }
        Err(fault) => PeopleOutcome { refused: Some(("invite", &form, fault)), ..PeopleOutcome::default() },
    };
    people_page(&context, &visitor, &headers, &outcome).await
}

/// The address that the link begins with: the one in the form, or else the default.
fn address_from_form(form: &Form, context: &PageContext, headers: &HeaderMap) -> Result<PublicUrl, Fault> {
    match form.filled("address") {
        Some(address) => PublicUrl::parse(address).map_err(|fault| fault.with_path("/address")),
        None => Ok(default_address(context, headers)),
    }
}

/// The address of the page for others: the one that the server was told, or else the one of this request.
pub(super) fn default_address(context: &PageContext, headers: &HeaderMap) -> PublicUrl {
    let host = || headers.get(HOST).and_then(|value| value.to_str().ok()).unwrap_or("localhost");
    let of_request = || PublicUrl::from_host(host(), is_https(headers));
    context.options.public_url.clone().or_else(of_request).unwrap_or_else(PublicUrl::localhost)
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
pub(super) fn new_invitation(shown: &NewInvitationShown) -> Markup {
    let NewInvitationShown { link, is_loopback, invitation } = shown;
    html! {
        section.card.secret role="status" {
            h2 { "An invitation for " span dir="auto" { (invitation.name) } }
            div.invitation {
                @if let Some(code) = qr_code(link, "QR code of the invitation") { (code) }
                div.stack-s {
                    p { "Let their phone look at the code, or send them the link. It works once, and is shown this once." }
                    (copy_block(link))
                    p.muted { "Holds until " (time(&invitation.expires_at.to_string())) "." }
                    @if *is_loopback { (loopback_warning()) }
                }
            }
        }
    }
}

/// What to do if only this machine opens the address. A server that a network reaches needs tokens and has no owner on its
/// page, so the invitation is made here, or at the command line, for the address of that server.
fn loopback_warning() -> Markup {
    html! {
        p.warning {
            "Only the machine that Skald runs on can open this address. For phones, let a server of the same store listen in your network, as in "
            code { "skald serve --http-addr 0.0.0.0:8091 --grpc-addr off --public-url http://192.168.1.7:8091" }
            ", and write its address, here " code { "http://192.168.1.7:8091" } ", into " em { "Address that they open" }
            " when you invite somebody."
        }
    }
}

pub(super) fn invitation_form(
    campaigns: &[CampaignOption],
    outcome: &PeopleOutcome<'_>,
    default: &PublicUrl,
) -> Markup {
    let default_text = default.to_string();
    let typed = outcome.typed_text("invite", "address");
    let address = if typed.is_empty() { default_text.as_str() } else { typed };
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
            div.field {
                label for="invite-address" { "Address that they open" }
                input #invite-address type="text" inputmode="url" name="address" value=(address) required autocomplete="off" aria-describedby="invite-address-note";
                p.field-note #invite-address-note { "The link and the QR code begin with it." }
                (field_fault(outcome.fault("invite"), "address"))
                @if typed.is_empty() && default.is_loopback() { (loopback_warning()) }
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
