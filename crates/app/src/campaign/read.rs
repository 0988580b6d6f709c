//! `campaign_read`: one read operation with a view, behind every resource of a campaign.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_domain::campaign::{
    Actor, Campaign, CampaignState, HasId, InsertionOrderedMap, LoggedRoll, Participant, Session,
};

use super::set_context::ContextView;
use super::stream::CAMPAIGNS;
use super::tracker_lines::{SpotlightView, tracker_lines};
use crate::list_page::{ListPage, check_page_limit, invalid_cursor_fault};
use crate::redaction::{Redact, Redaction};
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Fault, Operation, OperationKind, PermissionClass, Route, Toolset, limits,
};

pub(super) struct CampaignRead;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum CampaignView {
    /// All campaigns.
    Campaigns,
    /// One campaign.
    #[default]
    Campaign,
    Participants,
    Actors,
    Sessions,
    /// What `set_context` said.
    Context,
    /// One recorded roll, with every die and its seed.
    Roll,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CampaignReadInput {
    /// What to read; the campaign itself if left out.
    #[serde(default)]
    view: CampaignView,
    /// The context's if left out.
    campaign_id: Option<String>,
    /// The roll, for view roll.
    roll_id: Option<String>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
    /// Rows of a list, the newest first.
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    limit: Option<usize>,
}

/// An actor, with the entity of the lore that describes it.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ActorWithEntity {
    #[serde(flatten)]
    actor: Actor,
    /// Its entity in the lore.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unlisted" = true))]
    entity_id: Option<u64>,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct CampaignReadOutput {
    #[serde(skip_serializing_if = "Option::is_none")]
    campaigns: Option<Vec<Campaign>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    campaign: Option<Campaign>,
    #[serde(skip_serializing_if = "Option::is_none")]
    participants: Option<Vec<Participant>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    actors: Option<Vec<ActorWithEntity>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sessions: Option<Vec<Session>>,
    /// What is not set is null.
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<ContextView>,
    /// What the game counts, a line for the campaign and for each of its people.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    trackers: Vec<String>,
    /// The scene, and who is up.
    #[serde(skip_serializing_if = "Option::is_none")]
    spotlight: Option<SpotlightView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    roll: Option<LoggedRoll>,
    /// How many commands the campaign has seen, for those who can write.
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<u64>,
    /// Send it as cursor for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl Operation for CampaignRead {
    const NAME: &'static str = "campaign_read";
    const TITLE: &'static str = "Read a campaign";
    const SUMMARY: &'static str = "Read all campaigns, one campaign, its participants, actors, sessions or a roll, or the current context. Newest first.";
    const TOOLSET: Toolset = Toolset::Campaign;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    const CLASS: PermissionClass = PermissionClass::ReadCampaign;
    const ROUTES: &'static [Route] = &[
        Route::get("/api/v1/campaigns").with_fixed_field("view", "campaigns"),
        Route::get("/api/v1/campaigns/{campaign_id}").with_fixed_field("view", "campaign"),
        Route::get("/api/v1/campaigns/{campaign_id}/participants").with_fixed_field("view", "participants"),
        Route::get("/api/v1/campaigns/{campaign_id}/actors").with_fixed_field("view", "actors"),
        Route::get("/api/v1/campaigns/{campaign_id}/sessions").with_fixed_field("view", "sessions"),
        Route::get("/api/v1/campaigns/{campaign_id}/rolls/{roll_id}").with_fixed_field("view", "roll"),
        Route::get("/api/v1/context").with_fixed_field("view", "context"),
    ];
    type Input = CampaignReadInput;
    type Output = CampaignReadOutput;

    async fn run(app: &App, call: &Call<'_>, input: CampaignReadInput) -> Result<CampaignReadOutput, Fault> {
        let limit = check_page_limit(input.limit)?;
        let cursor = input.cursor.as_deref();
        let output = CampaignReadOutput::default();
        match input.view {
            CampaignView::Campaigns => {
                let page = app.list_campaigns(call.caller, cursor, limit).await?;
                Ok(CampaignReadOutput { campaigns: Some(page.items), next_cursor: page.next_cursor, ..output })
            }
            CampaignView::Context => {
                let context = app.context(call.caller).await?.map(ContextView::from).unwrap_or_default();
                Ok(CampaignReadOutput { context: Some(context), ..output })
            }
            CampaignView::Roll => {
                let entered_campaign = app.enter_campaign::<Self>(call, input.campaign_id.as_deref()).await?;
                let roll = app.find_roll(call.caller, &entered_campaign, input.roll_id.as_deref()).await?;
                Ok(CampaignReadOutput { roll: Some(roll), ..output })
            }
            view => {
                let entered_campaign = app.enter_campaign::<Self>(call, input.campaign_id.as_deref()).await?;
                let redaction = entered_campaign.redaction(call.caller);
                let output = CampaignReadOutput { revision: entered_campaign.shown_revision(), ..output };
                let mut output = fill_campaign_view(entered_campaign.state(), view, cursor, limit, &redaction, output)?;
                if let Some(rows) = &mut output.actors {
                    app.link_actors(call, &entered_campaign.campaign_id, rows).await?;
                }
                Ok(output)
            }
        }
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }
}

fn fill_campaign_view(
    state: &CampaignState,
    view: CampaignView,
    cursor: Option<&str>,
    limit: usize,
    redaction: &Redaction,
    output: CampaignReadOutput,
) -> Result<CampaignReadOutput, Fault> {
    Ok(match view {
        CampaignView::Participants => {
            let page = page_of_register(state.participants(), cursor, limit)?;
            CampaignReadOutput {
                participants: Some(redaction.redact_all(page.items)),
                next_cursor: page.next_cursor,
                ..output
            }
        }
        CampaignView::Actors => {
            let page = page_of_register(state.actors(), cursor, limit)?;
            let actors =
                redaction.redact_all(page.items).into_iter().map(|actor| ActorWithEntity { actor, entity_id: None });
            CampaignReadOutput { actors: Some(actors.collect()), next_cursor: page.next_cursor, ..output }
        }
        CampaignView::Sessions => {
            let page = page_of_register(state.sessions(), cursor, limit)?;
            let sessions = redaction.redact_sessions(state, page.items.iter());
            CampaignReadOutput { sessions: Some(sessions), next_cursor: page.next_cursor, ..output }
        }
        CampaignView::Campaign | CampaignView::Campaigns | CampaignView::Context | CampaignView::Roll => {
            CampaignReadOutput {
                campaign: state.campaign().cloned().and_then(|campaign| redaction.redact(campaign)),
                trackers: tracker_lines(state, redaction),
                spotlight: SpotlightView::from_state(state, &redaction.redact_people(state)),
                ..output
            }
        }
    })
}

fn page_of_register<T: HasId + Clone>(
    map: &InsertionOrderedMap<T>,
    cursor: Option<&str>,
    limit: usize,
) -> Result<ListPage<T>, Fault> {
    let from = match cursor {
        None => u64::MAX,
        Some(cursor) => cursor.parse().map_err(|_| invalid_cursor_fault(cursor))?,
    };
    let rows: Vec<(u64, &T)> = map.older_than(from).take(limit + 1).collect();
    let next_cursor = (rows.len() > limit).then(|| rows[limit - 1].0.to_string());
    Ok(ListPage { items: rows.into_iter().take(limit).map(|(_, item)| item.clone()).collect(), next_cursor })
}

fn visible_ids<T: HasId + Redact>(map: &InsertionOrderedMap<T>, redaction: &Redaction) -> Vec<String> {
    let there = map.newest_first().filter_map(|item| redaction.redact_ref(item));
    there.take(limits::COMPLETIONS_MAX).map(|item| item.id().to_owned()).collect()
}

impl App {
    /// Puts the entities of actors into their rows, as far as the caller sees them.
    async fn link_actors(&self, call: &Call<'_>, campaign_id: &str, rows: &mut [ActorWithEntity]) -> Result<(), Fault> {
        let lore = self.load_lore(call, campaign_id.to_owned()).await?;
        for row in rows {
            row.entity_id = lore.entity_of_actor(&row.actor.id);
        }
        Ok(())
    }

    /// The campaigns that the caller has a role in, the newest first.
    pub(crate) async fn list_campaigns(
        &self,
        caller: &Caller,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<ListPage<Campaign>, Fault> {
        self.list_documents(caller, CAMPAIGNS, cursor, limit, |document| {
            self.parse_visible_campaign(caller, &document.id, &document.body)
        })
        .await
    }

    fn parse_visible_campaign(&self, caller: &Caller, id: &str, body: &str) -> Result<Option<Campaign>, Fault> {
        if caller.role_in(id).is_none() {
            return Ok(None);
        }
        let campaign = serde_json::from_str(body).map_err(|error| Fault::internal(error, self.new_request_id()))?;
        Ok(Redaction::by_role(caller, id).redact(campaign))
    }

    /// Completion values for a field that is an id, the newest first.
    pub(crate) async fn complete_id_field(&self, caller: &Caller, field: &str) -> Option<Vec<String>> {
        if field == "campaign_id" {
            let page = self.list_campaigns(caller, None, limits::COMPLETIONS_MAX).await.ok()?;
            return Some(page.items.into_iter().map(|campaign| campaign.id).collect());
        }
        let campaign_id = self.context(caller).await.ok()??.campaign_id;
        self.complete_field_of_campaign(caller, &campaign_id, field).await
    }

    /// Completion values for a field that is the id of something in a campaign, the newest first.
    pub(crate) async fn complete_field_of_campaign(
        &self,
        caller: &Caller,
        campaign_id: &str,
        field: &str,
    ) -> Option<Vec<String>> {
        let entered_campaign = self.enter_campaign_as(caller, field, CampaignRead::ALLOWED, campaign_id).await.ok()?;
        let (state, redaction) = (entered_campaign.state(), entered_campaign.redaction(caller));
        match field {
            "participant_id" | "controller" => Some(visible_ids(state.participants(), &redaction)),
            "actor_id" => Some(visible_ids(state.actors(), &redaction)),
            "session_id" => Some(visible_ids(state.sessions(), &redaction)),
            _ => None,
        }
    }
}
