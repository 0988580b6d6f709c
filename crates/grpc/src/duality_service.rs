//! `duality.v1`: the service for Duality rolls and other dice, converted to operations.

use std::sync::Arc;

use serde_json::{Value, json};
use skald_app::{Code, Fault};
use tonic::{Request, Response, Status};

use crate::convert::{AnswerFields, input_object, to_struct};
use crate::fault::into_status;
use crate::proto::duality::duality_service_server::DualityService;
use crate::proto::duality::{
    ActionRollRequest, ActionRollResponse, DiceRoll, DualityExplainRequest, DualityExplainResponse,
    DualityOutcomeRequest, DualityOutcomeResponse, DualityProbabilityRequest, DualityProbabilityResponse, ExplainStep,
    Intermediates, Outcome, OutcomeCount, RollDiceRequest, RollDiceResponse, RulesVersionRequest, RulesVersionResponse,
};
use crate::service_context::ServiceContext;

pub(crate) struct DualityHandlers(pub Arc<ServiceContext>);

fn to_response<T>(converted: Result<T, Fault>) -> Result<Response<T>, Status> {
    converted.map(Response::new).map_err(into_status)
}

/// The highest sum of the two dice.
const DICE_MAX: i32 = 24;

fn check_modifier(modifier: i32) -> Result<(), Fault> {
    if modifier <= i32::MAX - DICE_MAX {
        return Ok(());
    }
    let fault = Fault::new(Code::InvalidParams, "the total would be past what these messages can say");
    let fault = fault.with_path("/modifier").value(&modifier.into());
    Err(fault.hint("use a smaller modifier, or skald.v1.Gateway, which knows no bounds of 32 bits"))
}

#[tonic::async_trait]
impl DualityService for DualityHandlers {
    async fn action_roll(&self, request: Request<ActionRollRequest>) -> Result<Response<ActionRollResponse>, Status> {
        // Check before rolling: a roll whose total does not fit the response must not happen.
        check_modifier(request.get_ref().modifier).map_err(into_status)?;
        let rolled = self.0.call_typed(request, "duality_action_roll", |message| {
            input_object([
                ("modifier", Some(json!(message.modifier))),
                ("difficulty", message.difficulty.map(Value::from)),
            ])
        });
        to_response(action_roll(AnswerFields(&rolled.await?)))
    }

    async fn duality_outcome(
        &self,
        request: Request<DualityOutcomeRequest>,
    ) -> Result<Response<DualityOutcomeResponse>, Status> {
        let judged = self.0.call_typed(request, "duality_outcome", |message| {
            input_object([
                ("hope", Some(json!(message.hope))),
                ("fear", Some(json!(message.fear))),
                ("modifier", Some(json!(message.modifier))),
                ("difficulty", message.difficulty.map(Value::from)),
            ])
        });
        to_response(outcome_response(AnswerFields(&judged.await?)))
    }

    async fn duality_explain(
        &self,
        request: Request<DualityExplainRequest>,
    ) -> Result<Response<DualityExplainResponse>, Status> {
        let explained = self.0.call_typed(request, "duality_explain", |message| {
            input_object([
                ("hope", Some(json!(message.hope))),
                ("fear", Some(json!(message.fear))),
                ("modifier", Some(json!(message.modifier))),
                ("difficulty", message.difficulty.map(Value::from)),
                ("request_id", message.request_id.map(Value::from)),
            ])
        });
        to_response(explanation(AnswerFields(&explained.await?)))
    }

    async fn duality_probability(
        &self,
        request: Request<DualityProbabilityRequest>,
    ) -> Result<Response<DualityProbabilityResponse>, Status> {
        let counted = self.0.call_typed(
            request,
            "duality_probability",
            |message| json!({"modifier": message.modifier, "difficulty": message.difficulty}),
        );
        to_response(probability(AnswerFields(&counted.await?)))
    }

    async fn rules_version(
        &self,
        request: Request<RulesVersionRequest>,
    ) -> Result<Response<RulesVersionResponse>, Status> {
        let rules = self.0.call_typed(request, "duality_rules_version", |RulesVersionRequest {}| json!({})).await?;
        let answer = AnswerFields(&rules);
        let number = |word: AnswerFields| Outcome::from_str_name(word.0.as_str()?).map(i32::from);
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
        let rolled = self.0.call_typed(request, "roll_dice", |message| {
            let pools = message.dice.iter().map(|pool| json!({"sides": pool.sides, "count": pool.count}));
            json!({"dice": pools.collect::<Vec<_>>()})
        });
        to_response(dice_response(AnswerFields(&rolled.await?)))
    }
}

fn outcome(answer: AnswerFields) -> i32 {
    answer.enum_number("outcome", Outcome::from_str_name, "")
}

fn action_roll(answer: AnswerFields) -> Result<ActionRollResponse, Fault> {
    let DualityOutcomeResponse { hope, fear, modifier, difficulty, total, is_crit, meets_difficulty, outcome } =
        outcome_response(answer)?;
    Ok(ActionRollResponse { hope, fear, modifier, difficulty, total, is_crit, meets_difficulty, outcome })
}

fn outcome_response(answer: AnswerFields) -> Result<DualityOutcomeResponse, Fault> {
    Ok(DualityOutcomeResponse {
        hope: answer.number("hope")?,
        fear: answer.number("fear")?,
        modifier: answer.number("modifier")?,
        difficulty: answer.optional_number("difficulty")?,
        total: answer.number("total")?,
        is_crit: answer.flag("is_crit"),
        meets_difficulty: answer.flag("meets_difficulty"),
        outcome: outcome(answer),
    })
}

fn explanation(answer: AnswerFields) -> Result<DualityExplainResponse, Fault> {
    let DualityOutcomeResponse { hope, fear, modifier, difficulty, total, is_crit, meets_difficulty, outcome } =
        outcome_response(answer)?;
    let found = answer.field("intermediates");
    let step = |step: AnswerFields| ExplainStep {
        code: step.text("code"),
        message: step.text("message"),
        data: Some(to_struct(step.field("data").0)),
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

fn probability(answer: AnswerFields) -> Result<DualityProbabilityResponse, Fault> {
    let count = |row: AnswerFields| Ok(OutcomeCount { outcome: outcome(row), count: row.number("count")? });
    Ok(DualityProbabilityResponse {
        total_outcomes: answer.number("total_outcomes")?,
        crit_count: answer.number("crit_count")?,
        success_count: answer.number("success_count")?,
        failure_count: answer.number("failure_count")?,
        outcome_counts: answer.rows("outcome_counts").map(count).collect::<Result<_, Fault>>()?,
    })
}

fn dice_response(answer: AnswerFields) -> Result<RollDiceResponse, Fault> {
    let pool = |pool: AnswerFields| {
        let results = pool.rows("results").map(|die| die.to_i32("results")).collect::<Result<_, Fault>>()?;
        Ok(DiceRoll { sides: pool.number("sides")?, results, total: pool.number("total")? })
    };
    let rolls = answer.rows("rolls").map(pool).collect::<Result<_, Fault>>()?;
    Ok(RollDiceResponse { rolls, total: answer.number("total")? })
}
