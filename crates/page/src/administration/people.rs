//! People: their tokens and roles, by campaign; making a token, and revoking one.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect, Response};
use jiff::{SignedDuration, Timestamp};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::json;
use skald_app::{
    CampaignRole, Code, EVERY_CAMPAIGN, Fault, NewToken, PrincipalKind, RateFigures, Token, TokenRestrictions,
    TokenScope,
};

use super::invitations::{NewInvitationShown, default_address, invitation_form, invitation_list, new_invitation};
use super::{AdministrationPage, administration_page};
use crate::SharedContext;
use crate::components::{copy_block, empty_state, fault_box, field_fault, time};
use crate::form::Form;
use crate::middleware::{PageError, status};
use crate::visitor::Visitor;

/// Recorded as the program that created or revoked something on these pages.
const PROGRAM: &str = "the page";
/// Hours of a day.
const DAY_HOURS: i64 = 24;

#[derive(Debug, Clone, Deserialize)]
pub(super) struct CampaignOption {
    pub id: String,
    pub name: String,
}

#[derive(Debug, Deserialize)]
struct CampaignRows {
    #[serde(default)]
    campaigns: Vec<CampaignOption>,
}

/// The result of a form, shown above the lists.
#[derive(Default)]
pub(super) struct PeopleOutcome<'a> {
    pub new_token: Option<(String, Token)>,
    pub new_invitation: Option<NewInvitationShown>,
    /// The name of the form, what was typed, and why it was refused.
    pub refused: Option<(&'static str, &'a Form, Fault)>,
}

impl PeopleOutcome<'_> {
    pub(super) fn typed_text(&self, form: &str, field: &str) -> &str {
        self.refused.as_ref().filter(|(name, _, _)| *name == form).map_or("", |(_, form, _)| form.text(field))
    }

    pub(super) fn fault(&self, form: &str) -> Option<&Fault> {
        self.refused.as_ref().filter(|(name, _, _)| *name == form).map(|(_, _, fault)| fault)
    }
}

/// `GET /keeping`.
pub(crate) async fn show_people(
    State(context): State<SharedContext>,
    visitor: Visitor,
    headers: HeaderMap,
) -> Result<Response, PageError> {
    people_page(&context, &visitor, &headers, &PeopleOutcome::default()).await
}

/// `POST /keeping/tokens`.
pub(crate) async fn create_token(
    State(context): State<SharedContext>,
    visitor: Visitor,
    headers: HeaderMap,
    form: Form,
) -> Result<Response, PageError> {
    let administration = context.administration(&visitor)?;
    let made = match new_token(&form) {
        Ok(new) => administration.create_token(&visitor.caller, new).await,
        Err(fault) => Err(fault),
    };
    let outcome = match made {
        Ok(made) => PeopleOutcome { new_token: Some(made), ..PeopleOutcome::default() },
        Err(fault) => PeopleOutcome { refused: Some(("token", &form, fault)), ..PeopleOutcome::default() },
    };
    people_page(&context, &visitor, &headers, &outcome).await
}

/// `POST /keeping/tokens/revoke`.
pub(crate) async fn revoke_token(
    State(context): State<SharedContext>,
    visitor: Visitor,
    form: Form,
) -> Result<Response, PageError> {
    let administration = context.administration(&visitor)?;
    administration.revoke_token(&visitor.caller, form.text("id"), PROGRAM).await?;
    Ok(Redirect::to("/keeping#people").into_response())
}

fn new_token(form: &Form) -> Result<NewToken, Fault> {
    let kind = match form.text("kind") {
        "agent" => PrincipalKind::Agent,
        _ => PrincipalKind::Human,
    };
    Ok(NewToken {
        name: form.text("name").to_owned(),
        person: form.filled("person").map(str::to_owned),
        kind,
        roles: roles_from_form(form)?,
        participants: participants_from_form(form),
        gate_role: form.filled("gate_role").map(str::to_owned),
        restrictions: TokenRestrictions {
            scope: scope_from_form(form)?,
            expires_at: days_from_form(form, "expires_days")?.map(Into::into),
            limits: RateFigures::default(),
        },
        subject: None,
        program: PROGRAM.to_owned(),
    })
}

/// The participant that the holder is at the table, if one was named.
pub(super) fn participants_from_form(form: &Form) -> Vec<String> {
    form.filled("participant").map(str::to_owned).into_iter().collect()
}

pub(super) fn roles_from_form(form: &Form) -> Result<BTreeMap<String, CampaignRole>, Fault> {
    let role = match form.text("role") {
        "gm" => CampaignRole::Gm,
        "player" => CampaignRole::Player,
        "guest" => CampaignRole::Guest,
        other => {
            let fault = Fault::new(Code::InvalidParams, format!("{other:?} is no role")).with_path("/role");
            return Err(fault.allowed(["gm", "player", "guest"]));
        }
    };
    let campaign = form.filled("campaign").unwrap_or(EVERY_CAMPAIGN);
    Ok([(campaign.to_owned(), role)].into())
}

pub(super) fn scope_from_form(form: &Form) -> Result<Option<TokenScope>, Fault> {
    match form.text("scope") {
        "" => Ok(None),
        "read" => Ok(Some(TokenScope::Read)),
        "write" => Ok(Some(TokenScope::Write)),
        "gm" => Ok(Some(TokenScope::Gm)),
        other => {
            let fault = Fault::new(Code::InvalidParams, format!("{other:?} is no scope")).with_path("/scope");
            Err(fault.allowed(["read", "write", "gm"]))
        }
    }
}

/// The time that many days from now, if a number was typed.
pub(super) fn days_from_form(form: &Form, field: &str) -> Result<Option<Timestamp>, Fault> {
    let Some(days) = form.integer(field)? else { return Ok(None) };
    let at = u32::try_from(days)
        .ok()
        .filter(|days| (1..=3_650).contains(days))
        .and_then(|days| Timestamp::now().checked_add(SignedDuration::from_hours(DAY_HOURS * i64::from(days))).ok());
    at.map(Some).ok_or_else(|| {
        let fault = Fault::new(Code::InvalidParams, format!("{days} is no number of days, allowed: 1 to 3650"));
        fault.with_path(format!("/{field}")).hint("type a number of days")
    })
}

pub(super) async fn people_page(
    context: &SharedContext,
    visitor: &Visitor,
    headers: &HeaderMap,
    outcome: &PeopleOutcome<'_>,
) -> Result<Response, PageError> {
    let administration = context.administration(visitor)?;
    let tokens = administration.list_tokens(&visitor.caller).await?;
    let invitations = administration.list_invitations(&visitor.caller).await?;
    let input = json!({"view": "campaigns", "limit": 200});
    let CampaignRows { campaigns } = context.read(&visitor.caller, "campaign_read", input).await?;
    let fault = outcome.refused.as_ref().map(|(_, _, fault)| fault);
    let mut response = administration_page(
        visitor,
        AdministrationPage::People,
        &html! {
            @if let Some(fault) = fault { (fault_box(fault)) }
            @if let Some((secret, token)) = &outcome.new_token { (new_secret(secret, token)) }
            @if let Some(shown) = &outcome.new_invitation { (new_invitation(shown)) }
            div.keeping-columns {
                div.stack {
                    section.card #invite { h2 { "Invite somebody" } (invitation_form(&campaigns, outcome, &default_address(context, headers))) }
                    section.card #invitations { h2 { "Invitations" } (invitation_list(&invitations, &campaigns)) }
                }
                div.stack {
                    section.card #people { h2 { "People and programs" } (token_list(&tokens, &campaigns)) }
                    section.card { h2 { "Members by campaign" } (members(&tokens, &campaigns)) }
                    section.card #token {
                        details open[outcome.fault("token").is_some()] {
                            summary.summary-title { "Make a token" }
                            (token_form(&campaigns, outcome))
                        }
                    }
                }
            }
        },
    );
    if let Some(fault) = fault {
        *response.status_mut() = status(fault.class());
    }
    Ok(response)
}

fn new_secret(secret: &str, token: &Token) -> Markup {
    html! {
        section.card.secret role="status" {
            h2 { "A token for " span dir="auto" { (token.name) } }
            p { "It is shown this once: copy it now. Whoever has it acts as " span dir="auto" { (token.person) } "." }
            (copy_block(secret))
        }
    }
}

/// Roles in words, each with the campaign in which it holds.
pub(super) fn roles_words(roles: &BTreeMap<String, CampaignRole>, campaigns: &[CampaignOption]) -> String {
    let words = roles.iter().map(|(campaign, role)| {
        let role = role_word(*role);
        if campaign == EVERY_CAMPAIGN {
            return format!("{role} everywhere");
        }
        let name = campaigns.iter().find(|known| known.id == *campaign).map_or(campaign.as_str(), |known| &known.name);
        format!("{role} in {name}")
    });
    words.collect::<Vec<_>>().join(", ")
}

fn role_word(role: CampaignRole) -> &'static str {
    match role {
        CampaignRole::Gm => "game master",
        CampaignRole::Player => "player",
        CampaignRole::Guest => "guest",
    }
}

fn token_list(tokens: &[Token], campaigns: &[CampaignOption]) -> Markup {
    let now = Timestamp::now();
    let (valid, ended): (Vec<&Token>, Vec<&Token>) = tokens.iter().partition(|token| token.is_valid_at(now));
    html! {
        @if valid.is_empty() {
            (empty_state("Nobody has a token yet", &html! {
                p { "You are the owner and need none. Invite a player, or make a token for a program." }
            }))
        } @else {
            ul.rows {
                @for token in &valid {
                    li.row {
                        div.row-main {
                            strong dir="auto" { (token.name) }
                            span.muted dir="auto" {
                                (roles_words(&token.roles, campaigns))
                                @if token.kind == PrincipalKind::Agent { " · an agent" }
                                @if let Some(role) = &token.gate_role { " · " (role) " at gates" }
                                @if let Some(scope) = token.restrictions.scope { " · scope " (scope.as_str()) }
                            }
                            span.muted {
                                "since " (time(&token.made.at.to_string()))
                                @if let Some(at) = token.restrictions.expires_at { " · until " (time(&at.to_string())) }
                            }
                        }
                        form method="post" action="/keeping/tokens/revoke" {
                            input type="hidden" name="id" value=(token.id);
                            button.danger { "Revoke" span.visually-hidden { " the token of " (token.name) } }
                        }
                    }
                }
            }
        }
        @if !ended.is_empty() {
            details.ended {
                summary { (ended.len()) " revoked or expired" }
                ul.rows {
                    @for token in &ended {
                        li.row { div.row-main {
                            span dir="auto" { (token.name) }
                            span.muted {
                                @if let Some(revoked) = &token.revoked { "revoked " (time(&revoked.at.to_string())) } @else { "expired" }
                            }
                        } }
                    }
                }
            }
        }
    }
}

/// Who may do what in each campaign.
fn members(tokens: &[Token], campaigns: &[CampaignOption]) -> Markup {
    let now = Timestamp::now();
    let members_of = |id: &str| -> Vec<(&str, CampaignRole)> {
        let valid = tokens.iter().filter(|token| token.is_valid_at(now));
        let role_of =
            |token: &Token| [token.roles.get(id), token.roles.get(EVERY_CAMPAIGN)].into_iter().flatten().max().copied();
        valid.filter_map(|token| Some((token.name.as_str(), role_of(token)?))).collect()
    };
    html! {
        @if campaigns.is_empty() { p.muted { "There is no campaign yet." } }
        @for campaign in campaigns {
            @let members = members_of(&campaign.id);
            div.member-group {
                h3 { a href={ "/c/" (campaign.id) } dir="auto" { (campaign.name) } }
                @if members.is_empty() { p.muted { "Only you." } } @else {
                    ul.member-names {
                        @for (name, role) in members { li { span dir="auto" { (name) } " " span.badge { (role_word(role)) } } }
                    }
                }
            }
        }
    }
}

/// Fields that invitations and tokens share: the role, and where it holds.
pub(super) fn role_fields(form: &str, campaigns: &[CampaignOption], outcome: &PeopleOutcome<'_>) -> Markup {
    let role = outcome.typed_text(form, "role");
    let role = if role.is_empty() { "player" } else { role };
    let campaign = outcome.typed_text(form, "campaign");
    html! {
        div.pair {
            div.field {
                label for={ (form) "-role" } { "Role" }
                select id={ (form) "-role" } name="role" {
                    @for (word, shown) in [("player", "player"), ("gm", "game master"), ("guest", "guest, only looks")] {
                        option value=(word) selected[word == role] { (shown) }
                    }
                }
            }
            div.field {
                label for={ (form) "-campaign" } { "Where" }
                select id={ (form) "-campaign" } name="campaign" {
                    @for known in campaigns { option value=(known.id) selected[known.id == campaign] { (known.name) } }
                    option value="" selected[!campaigns.is_empty() && campaign.is_empty() && outcome.fault(form).is_some()] { "everywhere" }
                }
            }
        }
    }
}

pub(super) fn name_field(form: &str, outcome: &PeopleOutcome<'_>) -> Markup {
    html! {
        div.field {
            label for={ (form) "-name" } { "Name" }
            input id={ (form) "-name" } type="text" name="name" value=(outcome.typed_text(form, "name")) required autocomplete="off" dir="auto";
            (field_fault(outcome.fault(form), "name"))
        }
    }
}

/// The field for the participant that the holder is at the table. The holder sees what is revealed to this participant and
/// to the actors that it plays.
pub(super) fn participant_field(form: &str, outcome: &PeopleOutcome<'_>) -> Markup {
    html! {
        div.field {
            label for={ (form) "-participant" } { "Is, at the table" }
            input id={ (form) "-participant" } type="text" name="participant" value=(outcome.typed_text(form, "participant")) autocomplete="off" dir="auto" placeholder="a participant's name";
            (field_fault(outcome.fault(form), "participant"))
        }
    }
}

fn token_form(campaigns: &[CampaignOption], outcome: &PeopleOutcome<'_>) -> Markup {
    html! {
        form method="post" action="/keeping/tokens" {
            p.muted { "For a program, or for somebody who signs in with a token. Players are easier invited." }
            (name_field("token", outcome))
            (role_fields("token", campaigns, outcome))
            (participant_field("token", outcome))
            div.pair {
                div.field {
                    label for="token-kind" { "For" }
                    select #token-kind name="kind" {
                        option value="human" { "a person" }
                        option value="agent" selected[outcome.typed_text("token", "kind") == "agent"] { "an agent" }
                    }
                }
                div.field {
                    label for="token-scope" { "May at most" }
                    select #token-scope name="scope" {
                        @for (word, shown) in [("", "what the role allows"), ("read", "read"), ("write", "do what players do"), ("gm", "run the game")] {
                            option value=(word) selected[word == outcome.typed_text("token", "scope")] { (shown) }
                        }
                    }
                }
            }
            div.pair {
                div.field {
                    label for="token-gate-role" { "Role at gates" }
                    input #token-gate-role type="text" name="gate_role" value=(outcome.typed_text("token", "gate_role")) autocomplete="off" placeholder="human";
                    (field_fault(outcome.fault("token"), "gate_role"))
                }
                div.field {
                    label for="token-expires" { "Days it holds" }
                    input #token-expires type="number" min="1" max="3650" name="expires_days" value=(outcome.typed_text("token", "expires_days")) placeholder="for ever";
                    (field_fault(outcome.fault("token"), "expires_days"))
                }
            }
            button.primary { "Make the token" }
        }
    }
}
