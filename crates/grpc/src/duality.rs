//! `duality.v1`: Hope and Fear, and any other dice, as conversions onto operations.

use std::sync::Arc;

use serde_json::{Value, json};
use skald_app::{Code, Fault};
use tonic::{Request, Response, Status};

use crate::convert::{Answer, input, structure};
use crate::desk::Desk;
use crate::fault::refused;
use crate::proto::duality::duality_service_server::DualityService;
use crate::proto::duality::{
    ActionRollRequest, ActionRollResponse, DiceRoll, DualityExplainRequest, DualityExplainResponse,
    DualityOutcomeRequest, DualityOutcomeResponse, DualityProbabilityRequest, DualityProbabilityResponse, ExplainStep,
    Intermediates, Outcome, OutcomeCount, RollDiceRequest, RollDiceResponse, RulesVersionRequest, RulesVersionResponse,
};

pub(crate) struct DualityDice(pub Arc<Desk>);

fn said<T>(converted: Result<T, Fault>) -> Result<Response<T>, Status> {
    converted.map(Response::new).map_err(refused)
}

/// The most that two dice add.
const DICE_MAX: i32 = 24;

fn check_modifier(modifier: i32) -> Result<(), Fault> {
    if modifier <= i32::MAX - DICE_MAX {
        return Ok(());
    }
    let fault = Fault::new(Code::InvalidParams, "the total would be past what these messages can say");
    let fault = fault.at("/modifier").value(&modifier.into());
    Err(fault.hint("use a smaller modifier, or skald.v1.Gateway, which knows no bounds of 32 bits"))
}

#[tonic::async_trait]
impl DualityService for DualityDice {
    async fn action_roll(&self, request: Request<ActionRollRequest>) -> Result<Response<ActionRollResponse>, Status> {
        // A roll that could not be told must not happen.
        check_modifier(request.get_ref().modifier).map_err(refused)?;
        let rolled = self.0.typed(request, "duality_action_roll", |message| {
            input([("modifier", Some(json!(message.modifier))), ("difficulty", message.difficulty.map(Value::from))])
        });
        said(action_roll(Answer(&rolled.await?)))
    }

    async fn duality_outcome(
        &self,
        request: Request<DualityOutcomeRequest>,
    ) -> Result<Response<DualityOutcomeResponse>, Status> {
        let judged = self.0.typed(request, "duality_outcome", |message| {
            input([
                ("hope", Some(json!(message.hope))),
                ("fear", Some(json!(message.fear))),
                ("modifier", Some(json!(message.modifier))),
                ("difficulty", message.difficulty.map(Value::from)),
            ])
        });
        said(outcome_response(Answer(&judged.await?)))
    }

    async fn duality_explain(
        &self,
        request: Request<DualityExplainRequest>,
    ) -> Result<Response<DualityExplainResponse>, Status> {
        let explained = self.0.typed(request, "duality_explain", |message| {
            input([
                ("hope", Some(json!(message.hope))),
                ("fear", Some(json!(message.fear))),
                ("modifier", Some(json!(message.modifier))),
                ("difficulty", message.difficulty.map(Value::from)),
                ("request_id", message.request_id.map(Value::from)),
            ])
        });
        said(explanation(Answer(&explained.await?)))
    }

    async fn duality_probability(
        &self,
        request: Request<DualityProbabilityRequest>,
    ) -> Result<Response<DualityProbabilityResponse>, Status> {
        let counted = self.0.typed(
            request,
            "duality_probability",
            |message| json!({"modifier": message.modifier, "difficulty": message.difficulty}),
        );
        said(probability(Answer(&counted.await?)))
    }

    async fn rules_version(
        &self,
        request: Request<RulesVersionRequest>,
    ) -> Result<Response<RulesVersionResponse>, Status> {
        let rules = self.0.typed(request, "duality_rules_version", |RulesVersionRequest {}| json!({})).await?;
        let answer = Answer(&rules);
        let number = |word: Answer| Outcome::from_str_name(word.0.as_str()?).map(i32::from);
        Ok(Response::new(RulesVersionResponse {
            system: answer.text("system"),
            module: answer.text("module"),
            rules_version: answer.text("rules_version"),
            dice_model: answer.text("dice_model"),
            total_formula: answer.text("total_formula"),
            crit_rule: answer.text("crit_rule"),
            difficulty_rule: answer.text("difficulty_rule"),
            outcomes: answer.rows("outcomes").filter_map(number).collect(),
        }))
    }

    async fn roll_dice(&self, request: Request<RollDiceRequest>) -> Result<Response<RollDiceResponse>, Status> {
        let rolled = self.0.typed(request, "roll_dice", |message| {
            let pools = message.dice.iter().map(|pool| json!({"sides": pool.sides, "count": pool.count}));
            json!({"dice": pools.collect::<Vec<_>>()})
        });
        said(dice(Answer(&rolled.await?)))
    }
}

fn outcome(answer: Answer) -> i32 {
    answer.word("outcome", Outcome::from_str_name, "")
}

fn action_roll(answer: Answer) -> Result<ActionRollResponse, Fault> {
    let DualityOutcomeResponse { hope, fear, modifier, difficulty, total, is_crit, meets_difficulty, outcome } =
        outcome_response(answer)?;
    Ok(ActionRollResponse { hope, fear, modifier, difficulty, total, is_crit, meets_difficulty, outcome })
}

fn outcome_response(answer: Answer) -> Result<DualityOutcomeResponse, Fault> {
    Ok(DualityOutcomeResponse {
        hope: answer.number("hope")?,
        fear: answer.number("fear")?,
        modifier: answer.number("modifier")?,
        difficulty: answer.number_if_any("difficulty")?,
        total: answer.number("total")?,
        is_crit: answer.flag("is_crit"),
        meets_difficulty: answer.flag("meets_difficulty"),
        outcome: outcome(answer),
    })
}

fn explanation(answer: Answer) -> Result<DualityExplainResponse, Fault> {
    let DualityOutcomeResponse { hope, fear, modifier, difficulty, total, is_crit, meets_difficulty, outcome } =
        outcome_response(answer)?;
    let found = answer.field("intermediates");
    let step = |step: Answer| ExplainStep {
        code: step.text("code"),
        message: step.text("message"),
        data: Some(structure(step.field("data").0)),
    };
    Ok(DualityExplainResponse {
        hope,
        fear,
        modifier,
        difficulty,
        total,
        is_crit,
        meets_difficulty,
        outcome,
        rules_version: answer.text("rules_version"),
        intermediates: Some(Intermediates {
            base_total: found.number("base_total")?,
            total: found.number("total")?,
            is_crit: found.flag("is_crit"),
            meets_difficulty: found.flag("meets_difficulty"),
            hope_gt_fear: found.flag("hope_gt_fear"),
            fear_gt_hope: found.flag("fear_gt_hope"),
        }),
        steps: answer.rows("steps").map(step).collect(),
    })
}

fn probability(answer: Answer) -> Result<DualityProbabilityResponse, Fault> {
    let count = |row: Answer| Ok(OutcomeCount { outcome: outcome(row), count: row.number("count")? });
    Ok(DualityProbabilityResponse {
        total_outcomes: answer.number("total_outcomes")?,
        crit_count: answer.number("crit_count")?,
        success_count: answer.number("success_count")?,
        failure_count: answer.number("failure_count")?,
        outcome_counts: answer.rows("outcome_counts").map(count).collect::<Result<_, Fault>>()?,
    })
}

fn dice(answer: Answer) -> Result<RollDiceResponse, Fault> {
    let pool = |pool: Answer| {
        let results = pool.rows("results").map(|die| die.whole("results")).collect::<Result<_, Fault>>()?;
        Ok(DiceRoll { sides: pool.number("sides")?, results, total: pool.number("total")? })
    };
    let rolls = answer.rows("rolls").map(pool).collect::<Result<_, Fault>>()?;
    Ok(RollDiceResponse { rolls, total: answer.number("total")? })
}
