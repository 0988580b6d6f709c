//! `universe`: creates, renames, deletes or lists universes, by its `method`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_domain::id;
use skald_domain::universe::{Repair, SentState, UniverseCommand};

use super::answer_schemas::SentObject;
use super::parse_command_or_state;
use super::quota::UNIVERSE_QUOTA;
use super::read_record::UniverseRecord;
use super::stream::{ListedUniverse, universe_stream};
use crate::list_page::check_page_limit;
use crate::method_fields::MethodFields;
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Code, CommandAnswer, EVERY_CAMPAIGN, Fault, Operation, OperationKind,
    PermissionClass, Toolset, check_chosen_id, limits,
};

pub(super) struct ManageUniverse;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum UniverseMethod {
    Create,
    Rename,
    /// Replace its name, its whole state, or both.
    Replace,
    /// It is not there any more; what happened stays in the journal.
    Delete,
    List,
}

impl UniverseMethod {
    fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Rename => "rename",
            Self::Replace => "replace",
            Self::Delete => "delete",
            Self::List => "list",
        }
    }

    fn allowed_fields(self) -> &'static [&'static str] {
        match self {
            Self::Create => &["universeId", "name", "campaignId", "state"],
            Self::Rename => &["universeId", "name"],
            Self::Replace => &["universeId", "name", "state"],
            Self::Delete => &["universeId"],
            Self::List => &["cursor", "limit"],
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ManageUniverseInput {
    /// What to do.
    pub(super) method: UniverseMethod,
    /// The universe; on create an id of your own choice, one is made if left out.
    pub(super) universe_id: Option<String>,
    /// What it is called; for create, rename and replace.
    pub(super) name: Option<String>,
    /// The campaign a new one belongs to; it cannot be changed.
    pub(super) campaign_id: Option<String>,
    /// What it holds, as `get_universe_state` answers it; for create and replace. Without a time, the time stays.
    pub(super) state: Option<SentObject>,
    /// For list: the `nextCursor` of the page before.
    pub(super) cursor: Option<String>,
    /// For list: rows, the newest first.
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub(super) limit: Option<usize>,
}

#[derive(Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ManageUniverseOutput {
    /// As it is now; as it was, if it was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    universe: Option<UniverseRecord>,
    /// What had to be repaired in the state, so that it could be kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    repaired: Vec<Repair>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    deleted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    universes: Option<Vec<ListedUniverse>>,
    /// Send it as cursor for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

type Output = CommandAnswer<ManageUniverseOutput>;

impl ManageUniverseInput {
    fn method_fields(&self) -> MethodFields {
        MethodFields { method: self.method.as_str(), takes: self.method.allowed_fields() }
    }

    /// Refuses fields that the method does not take.
    fn check_fields(&self) -> Result<(), Fault> {
        self.method_fields().check(&[
            ("universeId", self.universe_id.is_some()),
            ("name", self.name.is_some()),
            ("campaignId", self.campaign_id.is_some()),
            ("state", self.state.is_some()),
            ("cursor", self.cursor.is_some()),
            ("limit", self.limit.is_some()),
        ])
    }

    fn require_field<'a>(&self, field: &str, given: Option<&'a String>) -> Result<&'a str, Fault> {
        self.method_fields().require_field(field, given)
    }
}

impl Operation for ManageUniverse {
    const NAME: &'static str = "universe";
    const TITLE: &'static str = "Manage universes";
    const SUMMARY: &'static str = "Create, rename, replace or delete a universe of stars and planets, or list them all. \
        What is in one is read by get_universe_state and changed by send_universe_command.";
    const TOOLSET: Toolset = Toolset::Campaign;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    const CLASS: PermissionClass = PermissionClass::WriteUniverse;
    const GAME_MASTER_METHODS: &'static [&'static str] = &["create", "rename", "replace", "delete"];
    const DESTRUCTIVE: bool = true;
    type Input = ManageUniverseInput;
    type Output = Output;

    async fn run(app: &App, call: &Call<'_>, input: ManageUniverseInput) -> Result<Output, Fault> {
        input.check_fields()?;
        match input.method {
            UniverseMethod::Create => create_universe(app, call, input).await,
            UniverseMethod::Rename => {
                let needed = [("universeId", input.universe_id.is_some()), ("name", input.name.is_some())];
                input.method_fields().check_required(&needed)?;
                let name = input.require_field("name", input.name.as_ref())?.to_owned();
                change_universe(app, call, &input, UniverseCommand::Rename { name }, Vec::new()).await
            }
            UniverseMethod::Replace => {
                let (state, repaired) = parse_sent_state(input.state.as_ref())?;
                let command = UniverseCommand::Replace { name: input.name.clone(), state };
                change_universe(app, call, &input, command, repaired).await
            }
            UniverseMethod::Delete => change_universe(app, call, &input, UniverseCommand::Delete, Vec::new()).await,
            UniverseMethod::List => {
                let page =
                    app.list_universes(call.caller, input.cursor.as_deref(), check_page_limit(input.limit)?).await?;
                let (universes, next_cursor) = (Some(page.items), page.next_cursor);
                Ok(CommandAnswer::Now(ManageUniverseOutput {
                    universes,
                    next_cursor,
                    ..ManageUniverseOutput::default()
                }))
            }
        }
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        match field {
            "campaignId" => app.complete_id_field(caller, "campaign_id").await,
            field => app.complete_universe_id(caller, field).await,
        }
    }
}

/// Parses the state, if one was sent, and lists the repairs that it needed.
fn parse_sent_state(sent: Option<&SentObject>) -> Result<(Option<SentState>, Vec<Repair>), Fault> {
    let Some(sent) = sent else { return Ok((None, Vec::new())) };
    let (state, repaired) = parse_command_or_state::parse_state(&sent.0)?;
    Ok((Some(state), repaired))
}

async fn create_universe(app: &App, call: &Call<'_>, mut input: ManageUniverseInput) -> Result<Output, Fault> {
    if let Some(revision) = call.control.expected_revision {
        let message = format!("revision {revision} is expected of a universe that is yet to be created");
        return Err(Fault::new(Code::InvalidParams, message).hint("leave the expected revision out"));
    }
    let name = input.require_field("name", input.name.as_ref())?.to_owned();
    let (state, repaired) = parse_sent_state(input.state.as_ref())?;
    if let Some(given) = &input.campaign_id {
        let campaign_id = app.resolve_campaign_id(call, given).await;
        input.campaign_id = Some(campaign_id.map_err(|fault| fault.with_path("/campaignId"))?);
    }
    check_create_permission(app, call.caller, input.campaign_id.as_deref()).await?;
    let id = match input.universe_id {
        Some(id) => {
            let sees_all = call.caller.role_in(EVERY_CAMPAIGN).is_some();
            check_chosen_id(call.caller, sees_all, &id).map_err(|fault| fault.with_path("/universeId"))?;
            id
        }
        None => app.new_id(call, id::UNIVERSE, ""),
    };
    let stream = match &input.campaign_id {
        Some(campaign_id) => universe_stream(&id).with_tenant(campaign_id),
        None => universe_stream(&id),
    };
    app.check_quota(call.caller, &UNIVERSE_QUOTA, &stream, input.campaign_id.as_deref()).await?;
    let command = UniverseCommand::Create { id: id.clone(), name, campaign_id: input.campaign_id, state };
    let created = app.execute_universe_command::<ManageUniverse, _>(call, (&id, &stream), command, move |done| {
        let universe = UniverseRecord::from_universe(&done.committed.state, done.revision);
        ManageUniverseOutput { universe, repaired: repaired.clone(), ..ManageUniverseOutput::default() }
    });
    created.await.map(|(answered, _)| answered)
}

/// Game masters of a campaign may create its universes. A universe without a campaign needs a game master of every
/// campaign.
async fn check_create_permission(app: &App, caller: &Caller, campaign_id: Option<&str>) -> Result<(), Fault> {
    let game_masters = Allowed::InCampaign(CampaignRole::Gm);
    if let Some(campaign_id) = campaign_id {
        let entered = app.enter_campaign_as(caller, ManageUniverse::NAME, game_masters, campaign_id).await;
        return entered.map(drop).map_err(|fault| fault.with_path("/campaignId"));
    }
    if caller.role_in(EVERY_CAMPAIGN).is_some_and(|role| role >= CampaignRole::Gm) {
        return Ok(());
    }
    let message = "a universe without a campaign is for game masters of every campaign to create";
    Err(Fault::new(Code::Forbidden, message)
        .with_path("/campaignId")
        .hint("send the campaignId of a campaign that you lead"))
}

async fn change_universe(
    app: &App,
    call: &Call<'_>,
    input: &ManageUniverseInput,
    command: UniverseCommand,
    repaired: Vec<Repair>,
) -> Result<Output, Fault> {
    let universe_id = input.require_field("universeId", input.universe_id.as_ref())?;
    let found_universe = app.find_universe::<ManageUniverse>(call, universe_id, CampaignRole::Gm).await?;
    let before = found_universe.universe()?;
    let target = (universe_id, &found_universe.stream);
    let changed = app.execute_universe_command::<ManageUniverse, _>(call, target, command, move |done| {
        let now = UniverseRecord::from_universe(&done.committed.state, done.revision);
        let deleted = now.is_none();
        let universe = now.or_else(|| UniverseRecord::from_universe(&before, done.revision));
        ManageUniverseOutput { universe, deleted, repaired: repaired.clone(), ..ManageUniverseOutput::default() }
    });
    changed.await.map(|(answered, _)| answered)
}
