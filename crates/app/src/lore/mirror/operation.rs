//! `kanka_mirror`: links a campaign to one of Kanka, syncs it, and resolves conflicts.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_domain::Moment;

use super::conflicts::{ConflictView, KeptSide, Resolution};
use super::freshness::freshness_of_link;
use super::link::NewLink;
use super::remote::RemoteAddress;
use super::rows::MirrorLink;
use super::sync::SyncScope;
use super::sync_run::SyncReport;
use crate::lore::access::EnteredLore;
use crate::method_fields::MethodFields;
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Code, Fault, Operation, OperationKind, PermissionClass, Principal,
    Toolset, limits,
};

/// How long a pull or push waits for another process that syncs the campaign.
const LEASE_WAIT_MAX: Duration = Duration::from_secs(30);
/// Problems that an answer lists.
const PROBLEMS_MAX: usize = 20;

pub(in super::super) struct KankaMirror;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in super::super) enum MirrorMethod {
    #[default]
    Status,
    Link,
    Pull,
    Push,
    Conflicts,
    Resolve,
    Unlink,
}

impl MirrorMethod {
    fn fields(self) -> MethodFields {
        let (method, takes): (_, &[&str]) = match self {
            Self::Status => ("status", &[]),
            Self::Link => ("link", &["kanka_campaign", "base_url", "merge"]),
            Self::Pull => ("pull", &[]),
            Self::Push => ("push", &[]),
            Self::Conflicts => ("conflicts", &["entity_id", "cursor"]),
            Self::Resolve => ("resolve", &["entity_id", "post_id", "field", "keep"]),
            Self::Unlink => ("unlink", &[]),
        };
        MethodFields { method, takes }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct KankaMirrorInput {
    /// status, link, pull, push, conflicts, resolve or unlink.
    #[serde(default)]
    #[schemars(extend("x-brief" = true))]
    method: MirrorMethod,
    /// link: the number of the campaign in Kanka.
    kanka_campaign: Option<u64>,
    /// link: another Kanka than kanka.io.
    base_url: Option<String>,
    /// link: although the campaign has lore already.
    merge: Option<bool>,
    /// conflicts, resolve: of this entity.
    entity_id: Option<u64>,
    /// resolve: of this post.
    post_id: Option<u64>,
    /// resolve: this field; all if left out.
    field: Option<String>,
    /// resolve: what is here or what is in Kanka. To merge by hand, update it here and keep ours.
    #[schemars(extend("x-brief" = true))]
    keep: Option<KeptSide>,
    /// conflicts: the `next_cursor` of the page before.
    cursor: Option<String>,
    /// The context's if left out.
    campaign_id: Option<String>,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
pub(in super::super) struct KankaMirrorOutput {
    /// In a sentence.
    summary: String,
    linked: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    kanka_campaign: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kanka_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    base_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    synced_at: Option<Moment>,
    stale: bool,
    /// Entities whose changes wait to be sent.
    pending: u64,
    /// Fields that both sides changed, and nobody has resolved.
    conflict_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    conflicts: Option<Vec<ConflictView>>,
    /// What Kanka refuses, and what of Kanka cannot be taken over, each with its reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<MirrorProblem>,
    /// Why the last sync failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<MirrorFailure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    requests_per_minute: Option<u32>,
    /// Entities that were written here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pulled: Option<usize>,
    /// Entities and posts that were written there.
    #[serde(skip_serializing_if = "Option::is_none")]
    sent: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resolved: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct MirrorProblem {
    entity_id: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    post_id: Option<u64>,
    reason: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct MirrorFailure {
    /// Such as `bad_token`, `rate_limited` or `unreachable`.
    kind: String,
    message: String,
    at: String,
}

impl Operation for KankaMirror {
    const NAME: &'static str = "kanka_mirror";
    const TITLE: &'static str = "Mirror in Kanka";
    const SUMMARY: &'static str = "Link the lore to a campaign of Kanka, sync it, and resolve what both sides changed. Deleting \
        an entity of a linked campaign deletes it in Kanka for good.";
    const TOOLSET: Toolset = Toolset::Lore;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Gm);
    const CLASS: PermissionClass = PermissionClass::WriteLore;
    const DESTRUCTIVE: bool = true;
    const EXPOSED: crate::Exposed = crate::Exposed::Everywhere;
    type Input = KankaMirrorInput;
    type Output = KankaMirrorOutput;

    async fn run(app: &App, call: &Call<'_>, input: KankaMirrorInput) -> Result<KankaMirrorOutput, Fault> {
        let given = [
            ("entity_id", input.entity_id.is_some()),
            ("keep", input.keep.is_some()),
            ("kanka_campaign", input.kanka_campaign.is_some()),
            ("base_url", input.base_url.is_some()),
            ("merge", input.merge.is_some()),
            ("post_id", input.post_id.is_some()),
            ("field", input.field.is_some()),
            ("cursor", input.cursor.is_some()),
        ];
        let fields = input.method.fields();
        fields.check(&given)?;
        match input.method {
            MirrorMethod::Link => fields.check_required(&given[2..3])?,
            MirrorMethod::Resolve => fields.check_required(&given[..2])?,
            _ => {}
        }
        let lore = app.enter_lore::<Self>(call, input.campaign_id.as_deref()).await?;
        app.run_mirror_method(call.caller, &lore, &input).await
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }
}

impl App {
    async fn run_mirror_method(
        &self,
        caller: &Caller,
        lore: &EnteredLore,
        input: &KankaMirrorInput,
    ) -> Result<KankaMirrorOutput, Fault> {
        let campaign_id = lore.campaign_id.as_str();
        let mut report: Option<SyncReport> = None;
        let mut resolved = None;
        match input.method {
            MirrorMethod::Status | MirrorMethod::Conflicts => {}
            MirrorMethod::Link => {
                check_owner(caller, "link")?;
                let base_url = input.base_url.clone().unwrap_or_else(|| self.remotes.default_base_url().to_owned());
                let address = RemoteAddress {
                    base_url: check_base_url(&base_url)?,
                    campaign_id: input.kanka_campaign.unwrap_or_default(),
                };
                let new = NewLink { address, merge: input.merge.unwrap_or_default() };
                self.link_mirror(caller, campaign_id, &new).await?;
            }
            MirrorMethod::Pull => {
                report =
                    Some(self.sync_mirror(campaign_id, SyncScope::Everything, LEASE_WAIT_MAX, &mut |_, _| {}).await?);
            }
            MirrorMethod::Push => {
                report =
                    Some(self.sync_mirror(campaign_id, SyncScope::SendAgain, LEASE_WAIT_MAX, &mut |_, _| {}).await?);
            }
            MirrorMethod::Resolve => {
                let (Some(entity_id), Some(keep)) = (input.entity_id, input.keep) else {
                    return Err(Fault::new(Code::InvalidParams, "resolve needs entity_id and keep"));
                };
                let resolution = Resolution { entity_id, post_id: input.post_id, field: input.field.clone(), keep };
                resolved = Some(self.resolve_conflicts(campaign_id, &resolution).await?);
            }
            MirrorMethod::Unlink => {
                check_owner(caller, "unlink")?;
                self.unlink_mirror(campaign_id).await?;
            }
        }
        let mut output = self.mirror_status(lore).await?;
        if let Some(SyncReport { pulled, sent, .. }) = report {
            (output.pulled, output.sent) = (Some(pulled), Some(sent));
            output.summary =
                format!("{pulled} entities were written here, {sent} writes went there. {}", output.summary);
        }
        output.resolved = resolved;
        if input.method == MirrorMethod::Conflicts {
            self.add_conflicts(lore, input, &mut output).await?;
        }
        Ok(output)
    }

    async fn add_conflicts(
        &self,
        lore: &EnteredLore,
        input: &KankaMirrorInput,
        output: &mut KankaMirrorOutput,
    ) -> Result<(), Fault> {
        let skipped: usize = match input.cursor.as_deref() {
            None => 0,
            Some(cursor) => cursor.parse().map_err(|_| crate::list_page::invalid_cursor_fault(cursor))?,
        };
        let all = self.list_conflicts(lore, input.entity_id).await?;
        let most = limits::PAGE_DEFAULT;
        output.next_cursor = (all.len() > skipped + most).then(|| (skipped + most).to_string());
        output.conflicts = Some(all.into_iter().skip(skipped).take(most).collect());
        Ok(())
    }

    /// How a campaign is linked, how fresh it is, and what waits for somebody.
    async fn mirror_status(&self, lore: &EnteredLore) -> Result<KankaMirrorOutput, Fault> {
        let Some(link) = self.read_link_row(&lore.campaign_id).await?.filter(|link| link.is_linked) else {
            let summary = "This campaign is not linked to Kanka.".to_owned();
            return Ok(KankaMirrorOutput { summary, ..KankaMirrorOutput::default() });
        };
        let freshness = freshness_of_link(&link, self.clock.now());
        let (mut problems, mut conflict_count) = (Vec::new(), 0);
        for (entity_id, row) in self.open_rows(&lore.campaign_id).await? {
            if lore.state().entity(entity_id).is_none() {
                // Removed for good here: the next sync ends what is open.
                continue;
            }
            conflict_count += row.conflicts.len() + row.posts.iter().map(|post| post.conflicts.len()).sum::<usize>();
            let own = row.problem.into_iter().chain(row.posts_problem);
            let own = own.map(|reason| MirrorProblem { entity_id, post_id: None, reason });
            let posts = row.posts.into_iter().filter_map(|post| {
                Some(MirrorProblem { entity_id, post_id: Some(post.post_id), reason: post.problem? })
            });
            problems.extend(own.chain(posts));
        }
        for (entity_id, row) in self.created_rows(&lore.campaign_id).await? {
            if lore.state().entity(entity_id).is_none_or(|entity| entity.is_archived()) {
                continue;
            }
            problems.extend(row.problem.map(|reason| MirrorProblem { entity_id, post_id: None, reason }));
        }
        for entity_id in &link.resend {
            if self.agreed_row(&lore.campaign_id, *entity_id).await?.is_none()
                && lore.state().entity(*entity_id).is_some()
            {
                let reason = "Kanka failed when it was to be created; it is sent again with the next sync".to_owned();
                problems.push(MirrorProblem { entity_id: *entity_id, post_id: None, reason });
            }
        }
        let skipped = link.skipped.iter();
        problems.extend(skipped.map(|(id, reason)| MirrorProblem {
            entity_id: *id,
            post_id: None,
            reason: reason.clone(),
        }));
        problems.truncate(PROBLEMS_MAX);
        let pending = self.waiting_entities(&lore.campaign_id, &link).await?.len() as u64;
        Ok(KankaMirrorOutput {
            summary: summary(&link, freshness.stale, pending, conflict_count),
            linked: true,
            kanka_campaign: Some(link.remote_campaign),
            kanka_name: Some(link.remote_name),
            base_url: Some(link.base_url),
            synced_at: freshness.synced_at,
            stale: freshness.stale,
            pending,
            conflict_count,
            problems,
            failure: link.failure.map(|failure| MirrorFailure {
                kind: failure.kind,
                message: failure.message,
                at: failure.at,
            }),
            requests_per_minute: Some(link.requests_per_minute),
            ..KankaMirrorOutput::default()
        })
    }
}

fn summary(link: &MirrorLink, is_stale: bool, pending: u64, conflict_count: usize) -> String {
    let freshness = match (&link.failure, link.is_pulled) {
        (Some(failure), _) => format!("the last sync failed: {}", failure.message),
        (None, false) => "nothing was pulled yet".to_owned(),
        (None, true) if is_stale => "it was not synced for a while".to_owned(),
        (None, true) => "it is up to date".to_owned(),
    };
    let waiting = if pending == 0 { String::new() } else { format!(", {pending} changed entities wait") };
    let conflicts = if conflict_count == 0 { String::new() } else { format!(", {conflict_count} conflicts") };
    let missing = if link.missing_permissions.is_empty() {
        String::new()
    } else {
        format!(" When it was linked, the token's user had no right to {}.", link.missing_permissions.join("; "))
    };
    format!("Linked to {:?} in Kanka: {freshness}{waiting}{conflicts}.{missing}", link.remote_name)
}

/// The token is the owner's: with it somebody else could read campaigns of Kanka that only the owner may see.
fn check_owner(caller: &Caller, method: &str) -> Result<(), Fault> {
    if matches!(caller.principal, Principal::Owner) {
        return Ok(());
    }
    let fault =
        Fault::new(Code::Forbidden, format!("{method} uses the owner's token for Kanka, so only the owner may"));
    Err(fault.with_path("/method").hint("ask whoever runs this server; pull, push, conflicts and resolve are yours"))
}

/// A base address without a slash at its end. Over plain HTTP the token would be readable on the way.
fn check_base_url(given: &str) -> Result<String, Fault> {
    let url = given.trim().trim_end_matches('/');
    let refuse = |message: String, hint: &str| {
        Err(Fault::new(Code::InvalidParams, message).with_path("/base_url").value(&given.into()).hint(hint))
    };
    let authority = url.split_once("://").map_or("", |(_, rest)| rest.split('/').next().unwrap_or_default());
    if authority.contains('@') {
        // Not repeated: it may be a password.
        let fault = Fault::new(Code::InvalidParams, "base_url has a user name or a password").with_path("/base_url");
        return Err(fault.hint("send the address alone; the token is in SKALD_KANKA_TOKEN or its file"));
    }
    if url.contains(['?', '#']) || url.chars().any(|letter| letter.is_whitespace() || letter.is_control()) {
        return refuse(
            "base_url has a query, a fragment or white space".to_owned(),
            "send one like https://kanka.example/api/1.0; paths are added at its end",
        );
    }
    if let Some(rest) = url.strip_prefix("http://") {
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = host.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()).map_or(host, |(host, _)| host);
        if !["127.0.0.1", "localhost", "[::1]"].contains(&host) {
            return refuse(
                "base_url is plain HTTP, over which the token could be read".to_owned(),
                "use https://; only an address of this machine may do without",
            );
        }
    } else if !url.starts_with("https://") || authority.is_empty() {
        return refuse(format!("base_url {url:?} is no address"), "send one like https://kanka.example/api/1.0");
    }
    Ok(url.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_travels_over_https_or_on_this_machine() {
        for good in [
            "https://api.kanka.io/1.0/",
            "http://127.0.0.1:8081/api/kanka/1.0",
            "http://localhost/x",
            "http://[::1]:9/",
        ] {
            assert_eq!(check_base_url(good).unwrap(), good.trim_end_matches('/'), "{good}");
        }
        for bad in [
            "http://kanka.example/1.0",
            "http://127.0.0.1.evil.example/",
            "http://localhost@evil.example/",
            "ftp://x",
            "",
            "https://",
            "https:///path",
            "https://ann:secret@kanka.example/1.0",
            "https://ann@kanka.example/1.0",
            "http://ann@localhost/x",
            "https://kanka.example/1.0?token=secret",
            "https://kanka.example/1.0#part",
            "https://kanka.example?",
            "https://kanka.example/a b",
        ] {
            let fault = check_base_url(bad).unwrap_err();
            assert_eq!((fault.code(), fault.body().path.as_deref()), (Code::InvalidParams, Some("/base_url")), "{bad}");
            assert!(fault.body().hint.is_some(), "{bad}");
        }
        let fault = check_base_url("https://ann:secret@kanka.example/1.0").unwrap_err();
        assert!(!fault.to_string().contains("secret") && !format!("{:?}", fault.body()).contains("secret"));
    }
}
