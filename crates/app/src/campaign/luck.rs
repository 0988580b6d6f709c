//! `luck`: how lucky the characters and players of a campaign were, and a picture of it.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_domain::campaign::{LuckReport, LuckRow, luck_report};
use skald_picture::{LuckStrip, LuckStripRow, Theme};

use super::access::EnteredCampaign;
use super::session::RecapAudience;
use crate::redaction::Redaction;
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Exposed, Fault, Operation, OperationKind, PermissionClass, Route, Toolset,
};

/// Characters, and players, that an answer and a picture have.
const ROWS_MAX: usize = 12;

pub(super) struct LuckOperation;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LuckInput {
    /// The context's if left out.
    campaign_id: Option<String>,
    /// The whole campaign if left out.
    session_id: Option<String>,
    /// mine: also your secrets.
    #[serde(default)]
    audience: RecapAudience,
    /// Also show a picture.
    #[serde(default)]
    picture: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct LuckOutput {
    /// The answer as a sentence.
    summary: String,
    characters: Vec<LuckRow>,
    players: Vec<LuckRow>,
    /// An SVG, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    picture: Option<String>,
}

impl Operation for LuckOperation {
    const NAME: &'static str = "luck";
    const TITLE: &'static str = "Tell luck";
    const SUMMARY: &'static str = "How lucky each character and player was, in a session or the campaign, with \
        the luckiest and the unluckiest roll.";
    const TOOLSET: Toolset = Toolset::Campaign;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    const CLASS: PermissionClass = PermissionClass::ReadCampaign;
    const ROUTES: &'static [Route] = &[Route::get("/api/v1/campaigns/{campaign_id}/luck")];
    const PICTURE: Option<&'static str> = Some("picture");
    type Input = LuckInput;
    type Output = LuckOutput;

    async fn run(app: &App, call: &Call<'_>, input: LuckInput) -> Result<LuckOutput, Fault> {
        let entered_campaign = app.enter_campaign::<Self>(call, input.campaign_id.as_deref()).await?;
        let session_id = app.resolve_session_id(call, &entered_campaign, input.session_id.as_deref()).await?;
        let redaction = input.audience.redaction(call.caller, &entered_campaign);
        let LuckReport { mut characters, mut players } =
            app.luck_report(&redaction, &entered_campaign, session_id.as_deref()).await?;
        let summary = summarize_luck(&characters, &players);
        characters.truncate(ROWS_MAX);
        players.truncate(ROWS_MAX);
        let picture = input.picture.then(|| draw_luck(&characters, &players, Theme::Auto));
        Ok(LuckOutput { summary, characters, players, picture })
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }
}

pub(super) struct LuckPicture;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LuckPictureInput {
    /// The context's if left out.
    campaign_id: Option<String>,
    /// The whole campaign if left out.
    session_id: Option<String>,
    /// mine: also your secrets.
    #[serde(default)]
    audience: RecapAudience,
    /// The colours; those that the reader prefers if left out.
    #[serde(default)]
    theme: Theme,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct LuckPictureOutput {
    /// The picture, as SVG.
    text: String,
}

impl Operation for LuckPicture {
    const NAME: &'static str = "luck_picture";
    const TITLE: &'static str = "Luck as a picture";
    const SUMMARY: &'static str = "Every roll of each character and player between unlucky and lucky, as SVG.";
    const TOOLSET: Toolset = Toolset::Campaign;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    const CLASS: PermissionClass = PermissionClass::ReadCampaign;
    const EXPOSED: Exposed = Exposed::NotAsTool;
    const ROUTES: &'static [Route] = &[Route::document("/api/v1/campaigns/{campaign_id}/luck.svg", "image/svg+xml")];
    type Input = LuckPictureInput;
    type Output = LuckPictureOutput;

    async fn run(app: &App, call: &Call<'_>, input: LuckPictureInput) -> Result<LuckPictureOutput, Fault> {
        let entered_campaign = app.enter_campaign::<Self>(call, input.campaign_id.as_deref()).await?;
        let session_id = app.resolve_session_id(call, &entered_campaign, input.session_id.as_deref()).await?;
        let redaction = input.audience.redaction(call.caller, &entered_campaign);
        let report = app.luck_report(&redaction, &entered_campaign, session_id.as_deref()).await?;
        Ok(LuckPictureOutput { text: draw_luck(&report.characters, &report.players, input.theme) })
    }
}

impl App {
    /// The luck in one session, or in the whole campaign, of the rolls that may be seen.
    pub(super) async fn luck_report(
        &self,
        redaction: &Redaction,
        entered_campaign: &EnteredCampaign,
        session_id: Option<&str>,
    ) -> Result<LuckReport, Fault> {
        let events = match session_id {
            Some(id) => self.read_events_since_session(redaction, entered_campaign, id).await?,
            None => self.read_events(redaction, entered_campaign, 0, usize::MAX).await?,
        };
        let people = redaction.redact_people(entered_campaign.state());
        Ok(luck_report(session_id, &people, events.into_iter().map(|event| event.event)))
    }
}

/// The picture: characters first, then players.
pub(super) fn draw_luck(characters: &[LuckRow], players: &[LuckRow], theme: Theme) -> String {
    let characters = characters.iter().take(ROWS_MAX).map(|row| (Cow::from(row.name.as_str()), row));
    let players = players.iter().take(ROWS_MAX).map(|row| (Cow::from(format!("{} (player)", row.name)), row));
    let named: Vec<(Cow<'_, str>, &LuckRow)> = characters.chain(players).collect();
    let rows: Vec<LuckStripRow> = named.iter().map(|(name, row)| LuckStripRow { name, places: &row.places }).collect();
    LuckStrip { title: "Luck", rows: &rows, theme }.svg()
}

fn summarize_luck(characters: &[LuckRow], players: &[LuckRow]) -> String {
    let rows = if characters.is_empty() { players } else { characters };
    let by_luck = |one: &&LuckRow, other: &&LuckRow| one.luck.total_cmp(&other.luck);
    let (Some(best), Some(worst)) = (rows.iter().max_by(by_luck), rows.iter().min_by(by_luck)) else {
        return "no roll has been recorded for anybody yet".to_owned();
    };
    let describe = |row: &LuckRow| format!("{} ({} of {} above what was likely)", row.name, row.above, row.rolls);
    if best.id == worst.id {
        return describe(best);
    }
    format!("luckiest {}, unluckiest {}", describe(best), describe(worst))
}
