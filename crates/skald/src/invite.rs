//! `skald invite`: creates, lists and revokes invitations.

use std::collections::BTreeMap;

use anyhow::{anyhow, bail};
use serde_json::json;
use skald_app::{CampaignRole, EVERY_CAMPAIGN, Invitation, NewInvitation};
use skald_page::PublicUrl;

use crate::arguments::{DEFAULT_HTTP_ADDR, GateArguments, InviteArguments, InviteCommand};
use crate::open_store;
use crate::output::{error_from_fault, print_lines, to_printable};
use crate::token::{campaign_role, participants_text, restrictions_text, roles_text, token_restrictions};

pub(crate) async fn run(arguments: &InviteArguments) -> anyhow::Result<()> {
    let engine = open_store::open_engine(&arguments.store, &GateArguments::default()).await?;
    let app = engine.app();
    match &arguments.command {
        InviteCommand::Create(create) => {
            let role = campaign_role(create.role);
            let mut roles: BTreeMap<String, CampaignRole> =
                create.campaigns.iter().map(|campaign| (campaign.trim().to_owned(), role)).collect();
            if roles.is_empty() {
                roles.insert(EVERY_CAMPAIGN.to_owned(), role);
            }
            let new = NewInvitation {
                name: create.name.clone(),
                person: create.person.clone(),
                roles,
                participants: create.participants.clone(),
                restrictions: token_restrictions(&create.restrictions),
                expires_at: create.valid,
                program: "skald invite create".to_owned(),
            };
            let (code, invitation) = app.create_invitation(new).await.map_err(|fault| error_from_fault(&fault))?;
            let link = InvitationLink::new(create.public_url.as_ref(), &code)?;
            if create.json {
                let (id, expires_at) = (&invitation.id, invitation.expires_at);
                print_lines(&json!({"code": code, "id": id, "expires_at": expires_at, "link": link.url}).to_string());
            } else {
                if create.qr {
                    print_lines(&link.terminal_qr_code()?);
                }
                print_lines(&format!(
                    "{code}\n\nThis is {}. It is shown once, and can be used once. Open its link in a browser:\n  {}\n{}\
                     Or exchange it for a token:\n  \
                     curl -d '{{\"code\": \"…\"}}' {}/api/v1/invitations/redeem",
                    invitation_line(&invitation),
                    link.url,
                    link.note(),
                    link.address,
                ));
            }
        }
        InviteCommand::List => {
            let invitations = app.all_invitations().await.map_err(|fault| error_from_fault(&fault))?;
            if invitations.is_empty() {
                print_lines("There are no invitations. `skald invite create NAME --role player` makes one.");
            }
            for invitation in &invitations {
                print_lines(&invitation_line(invitation));
            }
        }
        InviteCommand::Revoke { id } => {
            let revoked = app.revoke_invitation(id, "skald invite revoke").await;
            if !revoked.map_err(|fault| error_from_fault(&fault))? {
                bail!("there is no invitation {id:?} that nobody redeemed; `skald invite list` names them");
            }
            print_lines(&format!("{id} is revoked."));
        }
    }
    Ok(())
}

/// The link of an invitation, and the address that it begins with.
struct InvitationLink {
    address: PublicUrl,
    url: String,
}

impl InvitationLink {
    /// A link to an address, or to the default one of a server on this machine.
    fn new(address: Option<&PublicUrl>, code: &str) -> anyhow::Result<Self> {
        let default = || format!("http://{DEFAULT_HTTP_ADDR}").parse::<PublicUrl>().map_err(|why| anyhow!(why));
        let address = address.cloned().map_or_else(default, Ok)?;
        Ok(Self { url: address.invitation_link(code), address })
    }

    fn terminal_qr_code(&self) -> anyhow::Result<String> {
        skald_page::terminal_qr_code(&self.url).ok_or_else(|| anyhow!("the link is too long for a QR code"))
    }

    /// What to say if only this machine opens the link.
    fn note(&self) -> &'static str {
        if !self.address.is_loopback() {
            return "";
        }
        "Only this machine can open it. For other devices, name the address by which they reach the server:\n  \
         --public-url http://192.168.1.7:8081\n"
    }
}

/// An invitation on one line: its roles, how long it holds, and what became of it.
fn invitation_line(invitation: &Invitation) -> String {
    let Invitation { id, name, expires_at, made, .. } = invitation;
    let (roles, restricted) = (roles_text(&invitation.roles), restrictions_text(&invitation.restrictions));
    let participants = participants_text(&invitation.participants);
    let fate = match (&invitation.token_id, &invitation.revoked) {
        (Some(token), _) => format!("  REDEEMED for {token}"),
        (None, Some(by)) => format!("  REVOKED {} by {} with {}", by.at, by.by, by.program),
        (None, None) => String::new(),
    };
    let made = format!("made {} by {} with {}", made.at, made.by, made.program);
    to_printable(&format!("{id}  {name}  {roles}{participants}{restricted}  holds until {expires_at}  {made}{fate}"))
}
