//! `skald token`: who may call, beside the owner.

use std::collections::BTreeMap;

use anyhow::{anyhow, bail};
use app::{CampaignRole, EVERY_CAMPAIGN, Fault, NewToken, Token};
use serde_json::json;

use crate::arguments::{GateArguments, Kind, RoleWord, TokenArguments, TokenCommand};
use crate::output::say;
use crate::world;

pub(crate) async fn run(arguments: &TokenArguments) -> anyhow::Result<()> {
    let engine = world::engine(&arguments.store, &GateArguments::default()).await?;
    let app = engine.app();
    match &arguments.command {
        TokenCommand::Create(create) => {
            let role = role(create.role);
            let mut roles: BTreeMap<String, CampaignRole> =
                create.campaigns.iter().map(|campaign| (campaign.trim().to_owned(), role)).collect();
            if roles.is_empty() {
                roles.insert(EVERY_CAMPAIGN.to_owned(), role);
            }
            let kind = match create.kind {
                Kind::Human => app::PrincipalKind::Human,
                Kind::Agent => app::PrincipalKind::Agent,
            };
            let new = NewToken { name: create.name.clone(), kind, roles, gate_role: create.gate_role.clone() };
            let (secret, token) = app.create_token(new).await.map_err(|fault| failed(&fault))?;
            if create.json {
                say(&json!({"token": secret, "id": token.holder.id, "holder": token.holder}).to_string());
            } else {
                say(&format!("{secret}\n\nThis is {}. It is shown once: keep it now.", line(&token)));
            }
        }
        TokenCommand::List => {
            let tokens = app.tokens().await.map_err(|fault| failed(&fault))?;
            if tokens.is_empty() {
                say("There are no tokens. `skald token create NAME --role player` makes one.");
            }
            for token in &tokens {
                say(&line(token));
            }
        }
        TokenCommand::Revoke { id } => {
            if !app.revoke_token(id).await.map_err(|fault| failed(&fault))? {
                bail!("there is no token {id:?}; `skald token list` names them");
            }
            say(&format!("{id} is revoked."));
        }
    }
    Ok(())
}

fn role(word: RoleWord) -> CampaignRole {
    match word {
        RoleWord::Gm => CampaignRole::Gm,
        RoleWord::Player => CampaignRole::Player,
        RoleWord::Guest => CampaignRole::Guest,
    }
}

fn line(token: &Token) -> String {
    let roles = token.holder.roles.all().into_iter().map(|(campaign, role)| match campaign.as_str() {
        EVERY_CAMPAIGN => format!("{} everywhere", role.word()),
        campaign => format!("{} in {campaign}", role.word()),
    });
    let roles = roles.collect::<Vec<_>>().join(", ");
    let gate = token.holder.gate_role.as_ref().map(|role| format!(", {role} at gates")).unwrap_or_default();
    format!("{}  {}  {roles}{gate}  since {}", token.holder.id, token.holder.name, token.created_at)
}

fn failed(fault: &Fault) -> anyhow::Error {
    let body = fault.body();
    match &body.hint {
        Some(hint) => anyhow!("{}; {hint}", body.message),
        None => anyhow!("{}", body.message),
    }
}
