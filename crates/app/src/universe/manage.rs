//! `universe`: creates, renames, deletes or lists universes, by its `method`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_domain::id;
use skald_domain::universe::{Repair, SentState, UniverseCommand};

use super::answer_schemas::SentObject;
use super::input_errors;
use super::read_record::UniverseRecord;
use super::stream::{Listed, stream};
use crate::list_page::page_limit;
use crate::method_fields::MethodFields;
use crate::{
    Allowed, Answered, App, Call, Caller, CampaignRole, Code, EVERY_CAMPAIGN, Fault, Operation, OperationKind, Toolset,
    check_chosen_id, creation_quota, limits,
};

pub(super) struct ManageUniverse;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum UniverseMethod {
    Create,
    Rename,
    /// Write it anew: its name, all that it holds, or both.
    Replace,
    /// It is not there any more; what happened stays in the journal.
    Delete,
    List,
}

impl UniverseMethod {
    fn word(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Rename => "rename",
            Self::Replace => "replace",
            Self::Delete => "delete",
            Self::List => "list",
        }
    }

    fn takes(self) -> &'static [&'static str] {
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
pub(super) struct KeepUniverseInput {
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
pub(super) struct KeepUniverseOutput {
    /// As it is now; as it was, if it was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    universe: Option<UniverseRecord>,
    /// What had to be repaired in the state, so that it could be kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    repaired: Vec<Repair>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    deleted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    universes: Option<Vec<Listed>>,
    /// Send it as cursor for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

type Output = Answered<KeepUniverseOutput>;

impl KeepUniverseInput {
    fn method_fields(&self) -> MethodFields {
        MethodFields { method: self.method.word(), takes: self.method.takes() }
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

    fn needed<'a>(&self, field: &str, given: Option<&'a String>) -> Result<&'a str, Fault> {
        self.method_fields().needed(field, given)
    }
}

impl Operation for ManageUniverse {
    const NAME: &'static str = "universe";
    const TITLE: &'static str = "Create, rename, replace, delete or list universes";
    const SUMMARY: &'static str = "Create, rename, replace or delete a universe of stars and planets, or list them all. \
        What is in one is read by get_universe_state and changed by send_universe_command.";
    const TOOLSET: Toolset = Toolset::Campaign;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    const DESTRUCTIVE: bool = true;
    type Input = KeepUniverseInput;
    type Output = Output;

    async fn run(app: &App, call: &Call<'_>, input: KeepUniverseInput) -> Result<Output, Fault> {
        input.check_fields()?;
        match input.method {
            UniverseMethod::Create => create(app, call, input).await,
            UniverseMethod::Rename => {
                let name = input.needed("name", input.name.as_ref())?.to_owned();
                change(app, call, &input, UniverseCommand::Rename { name }, Vec::new()).await
            }
            UniverseMethod::Replace => {
                let (state, repaired) = read(input.state.as_ref())?;
                let command = UniverseCommand::Replace { name: input.name.clone(), state };
                change(app, call, &input, command, repaired).await
            }
            UniverseMethod::Delete => change(app, call, &input, UniverseCommand::Delete, Vec::new()).await,
            UniverseMethod::List => {
                let page = app.universes_of(call.caller, input.cursor.as_deref(), page_limit(input.limit)?).await?;
                let (universes, next_cursor) = (Some(page.items), page.next_cursor);
                Ok(Answered::Now(KeepUniverseOutput { universes, next_cursor, ..KeepUniverseOutput::default() }))
            }
        }
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        match field {
            "campaignId" => app.known_ids(caller, "campaign_id").await,
            field => app.universe_ids(caller, field).await,
        }
    }
}

/// Parses the state, if one was sent, and lists the repairs that it needed.
fn read(sent: Option<&SentObject>) -> Result<(Option<SentState>, Vec<Repair>), Fault> {
    let Some(sent) = sent else { return Ok((None, Vec::new())) };
    let (state, repaired) = input_errors::state(&sent.0)?;
    Ok((Some(state), repaired))
}

async fn create(app: &App, call: &Call<'_>, input: KeepUniverseInput) -> Result<Output, Fault> {
    if let Some(revision) = call.work.expected_revision {
        let message = format!("revision {revision} is expected of a universe that is yet to be created");
        return Err(Fault::new(Code::InvalidParams, message).hint("leave the expected revision out"));
    }
    let name = input.needed("name", input.name.as_ref())?.to_owned();
    let (state, repaired) = read(input.state.as_ref())?;
    may_create(app, call.caller, input.campaign_id.as_deref()).await?;
    let id = match input.universe_id {
        Some(id) => {
            let sees_all = call.caller.role_in(EVERY_CAMPAIGN).is_some();
            check_chosen_id(call.caller, sees_all, &id).map_err(|fault| fault.at("/universeId"))?;
            id
        }
        None => app.new_id(call, id::UNIVERSE, ""),
    };
    let stream = match &input.campaign_id {
        Some(campaign_id) => stream(&id).belonging_to(campaign_id),
        None => stream(&id),
    };
    app.check_quota(call.caller, &creation_quota::UNIVERSES, &stream, input.campaign_id.as_deref()).await?;
    let command = UniverseCommand::Create { id: id.clone(), name, campaign_id: input.campaign_id, state };
    let created = app.universe_command::<ManageUniverse, _>(call, (&id, &stream), command, move |done| {
        let universe = UniverseRecord::of(&done.committed.state, done.revision);
        KeepUniverseOutput { universe, repaired: repaired.clone(), ..KeepUniverseOutput::default() }
    });
    created.await.map(|(answered, _)| answered)
}

/// Game masters of a campaign may create its universes. A universe without a campaign needs a game master of every
/// campaign.
async fn may_create(app: &App, caller: &Caller, campaign_id: Option<&str>) -> Result<(), Fault> {
    let game_masters = Allowed::InCampaign(CampaignRole::Gm);
    if let Some(campaign_id) = campaign_id {
        let entered = app.enter_as(caller, ManageUniverse::NAME, game_masters, campaign_id).await;
        return entered.map(drop).map_err(|fault| fault.at("/campaignId"));
    }
    if caller.role_in(EVERY_CAMPAIGN).is_some_and(|role| role >= CampaignRole::Gm) {
        return Ok(());
    }
    let message = "a universe without a campaign is for game masters of every campaign to create";
    Err(Fault::new(Code::Forbidden, message).at("/campaignId").hint("send the campaignId of a campaign that you lead"))
}

async fn change(
    app: &App,
    call: &Call<'_>,
    input: &KeepUniverseInput,
    command: UniverseCommand,
    repaired: Vec<Repair>,
) -> Result<Output, Fault> {
    let universe_id = input.needed("universeId", input.universe_id.as_ref())?;
    let found_universe = app.find_universe::<ManageUniverse>(call, universe_id, CampaignRole::Gm).await?;
    let before = found_universe.universe()?;
    let place = (universe_id, &found_universe.stream);
    let changed = app.universe_command::<ManageUniverse, _>(call, place, command, move |done| {
        let now = UniverseRecord::of(&done.committed.state, done.revision);
        let deleted = now.is_none();
        let universe = now.or_else(|| UniverseRecord::of(&before, done.revision));
        KeepUniverseOutput { universe, deleted, repaired: repaired.clone(), ..KeepUniverseOutput::default() }
    });
    changed.await.map(|(answered, _)| answered)
}
