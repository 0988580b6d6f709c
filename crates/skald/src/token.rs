//! `skald token`: creates, lists and revokes tokens.

use std::collections::BTreeMap;

use anyhow::bail;
use serde_json::json;
use skald_app::{CampaignRole, EVERY_CAMPAIGN, NewToken, Token};

use crate::arguments::{GateArguments, RoleArgument, TokenArguments, TokenCommand, TokenKind};
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
                gate_role: create.gate_role.clone(),
                program: "skald token create".to_owned(),
            };
            let (secret, token) = app.create_token(new).await.map_err(|fault| error_from_fault(&fault))?;
            if create.json {
                let (id, person, holder) = (&token.id, &token.person, skald_app::holder_from_token(&token));
                print_lines(&json!({"token": secret, "id": id, "person": person, "holder": holder}).to_string());
            } else {
                print_lines(&format!("{secret}\n\nThis is {}. It is shown once: keep it now.", token_line(&token)));
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
        TokenCommand::Revoke { id } => {
            if !app.revoke_token(id, "skald token revoke").await.map_err(|fault| error_from_fault(&fault))? {
                bail!("there is no token {id:?}; `skald token list` names them");
            }
            print_lines(&format!("{id} is revoked."));
        }
    }
    Ok(())
}

fn campaign_role(word: RoleArgument) -> CampaignRole {
    match word {
        RoleArgument::Gm => CampaignRole::Gm,
        RoleArgument::Player => CampaignRole::Player,
        RoleArgument::Guest => CampaignRole::Guest,
    }
}

/// A token on one line: its roles, its person, and how it was made and revoked.
fn token_line(token: &Token) -> String {
    let roles = token.roles.iter().map(|(campaign, role)| match campaign.as_str() {
        EVERY_CAMPAIGN => format!("{} everywhere", role.as_str()),
        campaign => format!("{} in {campaign}", role.as_str()),
    });
    let roles = roles.collect::<Vec<_>>().join(", ");
    let gate = token.gate_role.as_ref().map(|role| format!(", {role} at gates")).unwrap_or_default();
    let made = match token.earlier {
        Some(earlier) => format!("made {earlier}, recorded {} by {}", token.made.at, token.made.program),
        None => format!("made {} by {} with {}", token.made.at, token.made.by, token.made.program),
    };
    let revoked = token.revoked.as_ref();
    let revoked = revoked.map(|by| format!("  REVOKED {} by {} with {}", by.at, by.by, by.program)).unwrap_or_default();
    let (id, name, person) = (&token.id, &token.name, &token.person);
    to_printable(&format!("{id}  {name}  {roles}{gate}  person {person}  {made}{revoked}"))
}
