//! `duality_outcome` and `duality_explain`: judge dice that fell on a real table, and record them if told to.

use futures::future::ready;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_domain::dice::notation::Duality;
use skald_domain::dice::{self, Explanation, Judgement};

use super::duality::duality_details;
use crate::campaign::{CampaignAnswer, RecordedRollAnswer, RollDetails, RollPlace};
use crate::{
    Allowed, App, Call, Code, CommandAnswer, Exposed, Fault, Operation, OperationKind, PermissionClass, Route, Toolset,
};

/// The fields that say whether real dice are recorded, and how.
struct RecordFields {
    record: bool,
    actor_id: Option<String>,
    session_id: Option<String>,
    reason: Option<String>,
}

impl RecordFields {
    /// `None` if the dice are only judged.
    fn into_place(self) -> Result<Option<RollPlace>, Fault> {
        if self.record {
            return RollPlace::new(self.session_id, self.actor_id, self.reason, None).map(Some);
        }
        let given = [("actor_id", self.actor_id), ("session_id", self.session_id), ("reason", self.reason)];
        match given.into_iter().find_map(|(field, value)| value.map(|value| (field, value))) {
            None => Ok(None),
            Some((field, value)) => {
                let fault = Fault::new(Code::InvalidParams, format!("{field} is given, but record is not"));
                let fault = fault.with_path(format!("/{field}")).value(&value.into());
                Err(fault.hint(format!("send record: true to remember the dice, or leave {field} out")))
            }
        }
    }
}

/// Answers of judged dice, which are recorded in the same way.
trait JudgedDice: Serialize + Clone + Send + Sync + 'static {
    fn judgement(&self) -> &Judgement;
    fn set_recorded(&mut self, recorded: RecordedRollAnswer);
}

/// Answers judged dice, after recording them if there is a place for it.
async fn answer_judged_dice<O: Operation, T: JudgedDice>(
    app: &App,
    call: &Call<'_>,
    roll_place: Option<RollPlace>,
    judged: T,
) -> Result<CommandAnswer<CampaignAnswer<T>>, Fault> {
    let Some(roll_place) = roll_place else { return Ok(CommandAnswer::Now(CampaignAnswer::without_campaign(judged))) };
    let judge = async { Ok(judged) };
    let answer = app
        .roll_and_record::<O, T>(
            call,
            &roll_place,
            judge,
            |_, judged| Box::pin(ready(judged_details(judged.judgement()))),
            T::set_recorded,
        )
        .await?;
    match &answer {
        CommandAnswer::Now(judged) if !judged.is_recorded() => {
            Err(Fault::new(Code::InvalidParams, "record is true, but there is no session to record the dice in")
                .with_path("/record")
                .hint("send session_id too, or begin a session; `session_start` does it"))
        }
        _ => Ok(answer),
    }
}

fn judged_details(judgement: &Judgement) -> RollDetails {
    let Judgement { modifier, difficulty, .. } = *judgement;
    duality_details(Duality { modifier, difficulty, ..Duality::default() }, judgement, None)
}

pub(super) struct DualityOutcome;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DualityOutcomeInput {
    /// The Hope die, 1 to 12.
    #[schemars(range(min = 1, max = 12))]
    hope: i32,
    /// The Fear die, 1 to 12.
    #[schemars(range(min = 1, max = 12))]
    fear: i32,
    /// Added to the dice; 0 if left out.
    #[serde(default)]
    modifier: i32,
    /// What the total must reach, if anything.
    difficulty: Option<i32>,
    /// Record them in the session.
    #[serde(default)]
    record: bool,
    /// For whom.
    actor_id: Option<String>,
    /// The context's if left out.
    session_id: Option<String>,
    /// What for.
    reason: Option<String>,
    /// false: nothing follows from it.
    #[serde(default, rename = "apply")]
    _apply: Option<bool>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct DualityOutcomeOutput {
    #[serde(flatten)]
    judgement: Judgement,
    /// Where the dice were recorded, if they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded: Option<RecordedRollAnswer>,
}

impl JudgedDice for DualityOutcomeOutput {
    fn judgement(&self) -> &Judgement {
        &self.judgement
    }

    fn set_recorded(&mut self, recorded: RecordedRollAnswer) {
        self.recorded = Some(recorded);
    }
}

impl Operation for DualityOutcome {
    const NAME: &'static str = "duality_outcome";
    const TITLE: &'static str = "Judge Duality dice";
    const SUMMARY: &'static str = "Judge Hope and Fear dice that were rolled already, at the table for example. \
        Rolls nothing; record: true remembers them as a roll.";
    const TOOLSET: Toolset = Toolset::Dice;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::Anyone;
    const CLASS: PermissionClass = PermissionClass::Dice;
    type Input = DualityOutcomeInput;
    type Output = CommandAnswer<CampaignAnswer<DualityOutcomeOutput>>;

    async fn run(
        app: &App,
        call: &Call<'_>,
        input: DualityOutcomeInput,
    ) -> Result<CommandAnswer<CampaignAnswer<DualityOutcomeOutput>>, Fault> {
        let DualityOutcomeInput { hope, fear, modifier, difficulty, record, actor_id, session_id, reason, .. } = input;
        let roll_place = RecordFields { record, actor_id, session_id, reason }.into_place()?;
        let judgement = dice::judge(hope, fear, modifier, difficulty)?;
        let judged = DualityOutcomeOutput { judgement, recorded: None };
        answer_judged_dice::<Self, _>(app, call, roll_place, judged).await
    }
}

pub(super) struct DualityExplain;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DualityExplainInput {
    /// The Hope die, 1 to 12.
    #[schemars(range(min = 1, max = 12))]
    hope: i32,
    /// The Fear die, 1 to 12.
    #[schemars(range(min = 1, max = 12))]
    fear: i32,
    /// Added to the dice; 0 if left out.
    #[serde(default)]
    modifier: i32,
    /// What the total must reach, if anything.
    difficulty: Option<i32>,
    /// Your own name for the request; it changes nothing.
    #[serde(default, rename = "request_id")]
    _request_id: Option<String>,
    /// Record them in the session.
    #[serde(default)]
    record: bool,
    /// For whom.
    actor_id: Option<String>,
    /// The context's if left out.
    session_id: Option<String>,
    /// What for.
    reason: Option<String>,
    /// false: nothing follows from it.
    #[serde(default, rename = "apply")]
    _apply: Option<bool>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct DualityExplainOutput {
    #[serde(flatten)]
    explanation: Explanation,
    /// Where the dice were recorded, if they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded: Option<RecordedRollAnswer>,
}

impl JudgedDice for DualityExplainOutput {
    fn judgement(&self) -> &Judgement {
        &self.explanation.judgement
    }

    fn set_recorded(&mut self, recorded: RecordedRollAnswer) {
        self.recorded = Some(recorded);
    }
}

impl Operation for DualityExplain {
    const NAME: &'static str = "duality_explain";
    const TITLE: &'static str = "Explain Duality dice";
    const SUMMARY: &'static str = "Explain step by step how Hope and Fear dice come to their outcome; \
        record: true remembers them as a roll.";
    const TOOLSET: Toolset = Toolset::Dice;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::Anyone;
    const CLASS: PermissionClass = PermissionClass::Dice;
    type Input = DualityExplainInput;
    type Output = CommandAnswer<CampaignAnswer<DualityExplainOutput>>;

    async fn run(
        app: &App,
        call: &Call<'_>,
        input: DualityExplainInput,
    ) -> Result<CommandAnswer<CampaignAnswer<DualityExplainOutput>>, Fault> {
        let DualityExplainInput { hope, fear, modifier, difficulty, .. } = input;
        let DualityExplainInput { record, actor_id, session_id, reason, .. } = input;
        let roll_place = RecordFields { record, actor_id, session_id, reason }.into_place()?;
        let explanation = dice::explain(hope, fear, modifier, difficulty)?;
        let judged = DualityExplainOutput { explanation, recorded: None };
        answer_judged_dice::<Self, _>(app, call, roll_place, judged).await
    }
}

/// `duality_outcome` over GET, which records nothing.
pub(super) struct ReadDualityOutcome;

/// Dice that are judged and not recorded.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct JudgedDiceInput {
    /// The Hope die, 1 to 12.
    #[schemars(range(min = 1, max = 12))]
    hope: i32,
    /// The Fear die, 1 to 12.
    #[schemars(range(min = 1, max = 12))]
    fear: i32,
    /// Added to the dice; 0 if left out.
    #[serde(default)]
    modifier: i32,
    /// What the total must reach, if anything.
    difficulty: Option<i32>,
    /// Your own name for the request; it changes nothing.
    #[serde(default, rename = "request_id")]
    _request_id: Option<String>,
}

impl Operation for ReadDualityOutcome {
    const NAME: &'static str = "read_duality_outcome";
    const TITLE: &'static str = DualityOutcome::TITLE;
    const SUMMARY: &'static str = "Judge Hope and Fear dice that were rolled already, without recording them.";
    const TOOLSET: Toolset = Toolset::Dice;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::Anyone;
    const CLASS: PermissionClass = PermissionClass::Reference;
    const EXPOSED: Exposed = Exposed::RestOnly;
    const ROUTES: &'static [Route] = &[Route::get("/api/v1/duality/outcome")];
    type Input = JudgedDiceInput;
    type Output = Judgement;

    async fn run(_: &App, _: &Call<'_>, input: JudgedDiceInput) -> Result<Judgement, Fault> {
        Ok(dice::judge(input.hope, input.fear, input.modifier, input.difficulty)?)
    }
}

/// `duality_explain` over GET, which records nothing.
pub(super) struct ReadDualityExplanation;

impl Operation for ReadDualityExplanation {
    const NAME: &'static str = "read_duality_explanation";
    const TITLE: &'static str = DualityExplain::TITLE;
    const SUMMARY: &'static str = "Explain how Hope and Fear dice come to their outcome, without recording them.";
    const TOOLSET: Toolset = Toolset::Dice;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::Anyone;
    const CLASS: PermissionClass = PermissionClass::Reference;
    const EXPOSED: Exposed = Exposed::RestOnly;
    const ROUTES: &'static [Route] = &[Route::get("/api/v1/duality/explanation")];
    type Input = JudgedDiceInput;
    type Output = Explanation;

    async fn run(_: &App, _: &Call<'_>, input: JudgedDiceInput) -> Result<Explanation, Fault> {
        Ok(dice::explain(input.hope, input.fear, input.modifier, input.difficulty)?)
    }
}
