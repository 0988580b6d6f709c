//! `skald token`: creates, lists and revokes tokens.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::bail;
use serde_json::json;
use skald_app::{
    CampaignRole, EVERY_CAMPAIGN, NewToken, OauthSubject, RateFigures, Token, TokenRestrictions, TokenScope,
};

use crate::arguments::{
    GateArguments, RestrictionArguments, RoleArgument, ScopeArgument, TokenArguments, TokenCommand, TokenKind,
};
use crate::open_store;
use crate::output::{error_from_fault, print_lines, to_printable};

pub(crate) async fn run(arguments: &TokenArguments) -> anyhow::Result<()> {
    let engine = open_store::open_engine(&arguments.store, &GateArguments::default()).await?;
    let app = engine.app();
    match &arguments.command {
        TokenCommand::Create(create) => {
            let role = campaign_role(create.role);
            let mut roles: BTreeMap<String, CampaignRole> =
                create.campaigns.iter().map(|campaign| (campaign.trim().to_owned(), role)).collect();
            if roles.is_empty() {
                roles.insert(EVERY_CAMPAIGN.to_owned(), role);
            }
            let kind = match create.kind {
                TokenKind::Human => skald_app::PrincipalKind::Human,
                TokenKind::Agent => skald_app::PrincipalKind::Agent,
            };
            let new = NewToken {
                name: create.name.clone(),
                person: create.person.clone(),
                kind,
                roles,
                participants: create.participants.clone(),
                gate_role: create.gate_role.clone(),
                restrictions: token_restrictions(&create.restrictions),
                subject: create
                    .subject
                    .clone()
                    .zip(create.issuer.clone())
                    .map(|(subject, issuer)| OauthSubject { issuer, subject }),
                program: "skald token create".to_owned(),
            };
            let (secret, token) = app.create_token(new).await.map_err(|fault| error_from_fault(&fault))?;
            let secret = Some(secret).filter(|_| token.subject.is_none());
            if create.json {
                let (id, person, holder) = (&token.id, &token.person, skald_app::holder_from_token(&token));
                print_lines(&json!({"token": secret, "id": id, "person": person, "holder": holder}).to_string());
            } else {
                let line = token_line(&token);
                print_lines(&match secret {
                    Some(secret) => format!("{secret}\n\nThis is {line}. It is shown once: keep it now."),
                    None => format!("This is {line}. They sign in at the authorization server."),
                });
            }
        }
        TokenCommand::List => {
            let tokens = app.all_tokens().await.map_err(|fault| error_from_fault(&fault))?;
            if tokens.iter().all(|token| token.revoked.is_some()) {
                print_lines("There are no tokens. `skald token create NAME --role player` makes one.");
            }
            for token in &tokens {
                print_lines(&token_line(token));
            }
        }
        TokenCommand::Bind { id, participants } => {
            let bound = app.bind_participants(id, participants, "skald token bind").await;
            print_lines(&token_line(&bound.map_err(|fault| error_from_fault(&fault))?));
        }
        TokenCommand::Revoke { id } => {
            if !app.revoke_token(id, "skald token revoke").await.map_err(|fault| error_from_fault(&fault))? {
                bail!("there is no token {id:?}; `skald token list` names them");
            }
            print_lines(&format!("{id} is revoked."));
        }
    }
    Ok(())
}

pub(crate) fn token_restrictions(arguments: &RestrictionArguments) -> TokenRestrictions {
    let RestrictionArguments { scope, expires, calls, reads, lists, page, kanka } = *arguments;
    let scope = scope.map(|scope| match scope {
        ScopeArgument::Read => TokenScope::Read,
        ScopeArgument::Write => TokenScope::Write,
        ScopeArgument::Gm => TokenScope::Gm,
    });
    let limits = RateFigures { calls, reads, lists, page, kanka };
    TokenRestrictions { scope, expires_at: expires.map(Into::into), limits }
}

pub(crate) fn campaign_role(word: RoleArgument) -> CampaignRole {
    match word {
        RoleArgument::Gm => CampaignRole::Gm,
        RoleArgument::Player => CampaignRole::Player,
        RoleArgument::Guest => CampaignRole::Guest,
    }
}

/// A token on one line: its roles, its person, and how it was made and revoked.
fn token_line(token: &Token) -> String {
    let roles = roles_text(&token.roles);
    let gate = token.gate_role.as_ref().map(|role| format!(", {role} at gates")).unwrap_or_default();
    let made = match token.earlier {
        Some(earlier) => format!("made {earlier}, recorded {} by {}", token.made.at, token.made.program),
        None => format!("made {} by {} with {}", token.made.at, token.made.by, token.made.program),
    };
    let revoked = token.revoked.as_ref();
    let revoked = revoked.map(|by| format!("  REVOKED {} by {} with {}", by.at, by.by, by.program)).unwrap_or_default();
    let participants = participants_text(&token.participants);
    let (id, name, person, restricted) =
        (&token.id, &token.name, &token.person, restrictions_text(&token.restrictions));
    let subject = token.subject.as_ref();
    let subject = subject.map(|known| format!(", {} of {}", known.subject, known.issuer)).unwrap_or_default();
    to_printable(&format!(
        "{id}  {name}  {roles}{participants}{gate}{restricted}{subject}  person {person}  {made}{revoked}"
    ))
}

pub(crate) fn roles_text(roles: &BTreeMap<String, CampaignRole>) -> String {
    let roles = roles.iter().map(|(campaign, role)| match campaign.as_str() {
        EVERY_CAMPAIGN => format!("{} everywhere", role.as_str()),
        campaign => format!("{} in {campaign}", role.as_str()),
    });
    roles.collect::<Vec<_>>().join(", ")
}

/// The participants that a holder is, after a comma.
pub(crate) fn participants_text(participants: &BTreeSet<String>) -> String {
    let ids: Vec<&str> = participants.iter().map(String::as_str).collect();
    if ids.is_empty() { String::new() } else { format!(", is {}", ids.join(" and ")) }
}

/// The restrictions of a token, each after a comma.
pub(crate) fn restrictions_text(restrictions: &TokenRestrictions) -> String {
    let TokenRestrictions { scope, expires_at, limits } = restrictions;
    let mut text = scope.map(|scope| format!(", scope {}", scope.as_str())).unwrap_or_default();
    text.extend(expires_at.map(|at| format!(", expires {at}")));
    let classes = [(limits.calls, "calls"), (limits.reads, "reads"), (limits.lists, "lists")];
    let surfaces = [(limits.page, "requests of the page"), (limits.kanka, "requests as Kanka")];
    for (figure, class) in classes.into_iter().chain(surfaces) {
        text.extend(figure.map(|figure| match figure {
            0 => format!(", any number of {class}"),
            figure => format!(", {figure} {class} a minute"),
        }));
    }
    text
}
