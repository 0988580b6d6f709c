//! `group_roll`: several actors roll together or against each other, and each roll is recorded.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skald_domain::dice::notation::{Comparison, Dialect, Duality, Edge, Expression, Notation, Operator, Roll};
use skald_domain::dice::odds::{ComputationBudget, Exact, chance_of_highest, line_odds};
use skald_domain::dice::{self, RandomReport, RandomRequest, Randomness, RollResult};

use super::expression_odds::parse_expression;
use super::roll::RolledLine;
use super::roll_summary::{RollDetail, summarize_judgement};
use crate::campaign::{ActorRollDetails, CampaignAnswer, RecordedGroupRoll, RollDetails, RollOdds, RollPlace};
use crate::{
    Allowed, App, Call, Code, CommandAnswer, Fault, Operation, OperationKind, PermissionClass, Toolset, limits,
};

pub(super) struct GroupRoll;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GroupRollInput {
    /// Who rolls, 2 to 20.
    rolls: Vec<ActorRoll>,
    /// The dice of everybody, such as 1d20; Hope and Fear if left out.
    expression: Option<String>,
    /// What each must reach.
    difficulty: Option<i32>,
    /// Against each other: the highest total wins.
    #[serde(default)]
    opposed: bool,
    /// What it is for.
    reason: Option<String>,
    /// Who sees it: gm, or names.
    #[schemars(extend("x-unlisted" = true))]
    visible_to: Option<Vec<String>>,
    /// `full` adds every die and the seeds.
    #[serde(default)]
    detail: RollDetail,
    /// The one that is going on if left out.
    session_id: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ActorRoll {
    actor_id: String,
    /// Other dice than everybody's.
    expression: Option<String>,
    #[serde(default)]
    modifier: i32,
    #[serde(default)]
    advantage: bool,
    #[serde(default)]
    disadvantage: bool,
    /// Leads: each success of the others adds 1, each failure takes 1 away.
    #[serde(default)]
    lead: bool,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct GroupRollOutput {
    /// The result as a sentence.
    summary: String,
    rolls: Vec<ActorResult>,
    /// How many reached the difficulty.
    #[serde(skip_serializing_if = "Option::is_none")]
    successes: Option<usize>,
    /// Who won an opposed roll; left out for a tie.
    #[serde(skip_serializing_if = "Option::is_none")]
    winner: Option<String>,
    /// Where the rolls were recorded, if they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded: Option<RecordedGroupRoll>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
struct ActorResult {
    actor_id: String,
    #[serde(flatten)]
    line: RolledLine,
    /// In a full answer: the chance of success, or of winning.
    #[serde(skip_serializing_if = "Option::is_none")]
    success_chance: Option<Exact>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rng: Option<RandomReport>,
}

impl Operation for GroupRoll {
    const NAME: &'static str = "group_roll";
    const TITLE: &'static str = "Roll for several actors";
    const SUMMARY: &'static str =
        "Several actors roll, together or against each other; each roll is recorded for its actor.";
    const TOOLSET: Toolset = Toolset::Dice;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::Anyone;
    const CLASS: PermissionClass = PermissionClass::Dice;
    type Input = GroupRollInput;
    type Output = CommandAnswer<CampaignAnswer<GroupRollOutput>>;

    async fn run(
        app: &App,
        call: &Call<'_>,
        input: GroupRollInput,
    ) -> Result<CommandAnswer<CampaignAnswer<GroupRollOutput>>, Fault> {
        check_input(&input)?;
        let lines = (0..input.rolls.len()).map(|index| actor_line(&input, index));
        let lines: Vec<Roll> = lines.collect::<Result<_, Fault>>()?;
        let roll_place =
            RollPlace::new(input.session_id.clone(), None, input.reason.clone(), input.visible_to.clone())?;
        let actor_ids: Vec<String> = input.rolls.iter().map(|roll| roll.actor_id.clone()).collect();
        let roll = |names| roll_group(app, &input, lines, names);
        app.roll_and_record_group::<Self, GroupRollOutput, _>(call, roll_place, &actor_ids, roll, |output, recorded| {
            output.recorded = Some(recorded);
        })
        .await
    }
}

fn check_input(input: &GroupRollInput) -> Result<(), Fault> {
    let fault = |message: String, path: &str, value: Value| {
        Fault::new(Code::InvalidParams, message).with_path(path.to_owned()).value(&value)
    };
    let (given, most) = (input.rolls.len(), limits::GROUP_ROLL_ACTORS_MAX);
    if !(2..=most).contains(&given) {
        let message = format!("a group roll is for 2 to {most} actors, this one has {given}");
        return Err(fault(message, "/rolls", given.into()).hint("one actor rolls with duality_action_roll or roll"));
    }
    for (index, roll) in input.rolls.iter().enumerate() {
        if input.rolls[..index].iter().any(|earlier| earlier.actor_id == roll.actor_id) {
            let message = format!("{:?} is named twice", crate::truncate_for_message(&roll.actor_id));
            let fault = fault(message, &format!("/rolls/{index}/actor_id"), roll.actor_id.as_str().into());
            return Err(fault.hint("name each actor once"));
        }
    }
    if let Some(difficulty) = input.difficulty.filter(|difficulty| *difficulty < 0 || input.opposed) {
        let message = if input.opposed {
            "an opposed roll has no difficulty: the highest total wins".to_owned()
        } else {
            format!("difficulty must be non-negative, it is {difficulty}")
        };
        return Err(
            fault(message, "/difficulty", difficulty.into()).hint("leave the difficulty out, or send 0 or more")
        );
    }
    let mut leaders = input.rolls.iter().enumerate().filter(|(_, roll)| roll.lead).map(|(index, _)| index);
    if let Some(index) = leaders.next().filter(|_| input.difficulty.is_none()).or(leaders.next()) {
        let path = format!("/rolls/{index}/lead");
        return Err(fault("one actor leads, towards a difficulty".to_owned(), &path, true.into())
            .hint("send a difficulty, and lead: true for one actor at most"));
    }
    Ok(())
}

/// What one actor rolls, before the help of the others.
fn actor_line(input: &GroupRollInput, index: usize) -> Result<Roll, Fault> {
    let actor = &input.rolls[index];
    let (field, expression) = match &actor.expression {
        Some(expression) => (format!("rolls/{index}/expression"), Some(expression)),
        None => ("expression".to_owned(), input.expression.as_ref()),
    };
    let roll = match expression {
        Some(expression) => parse_expression(expression, Dialect::Auto, &field)?.roll,
        None => Roll::Duality(Duality::default()),
    };
    if !matches!(roll, Roll::Duality(_) | Roll::Total(_)) {
        return Err(Fault::new(Code::InvalidParams, format!("{roll} says what to reach, or repeats"))
            .with_path(format!("/{field}"))
            .value(&roll.to_string().into())
            .hint("send the dice alone, as 1d20+3; difficulty and opposed say what they are for"));
    }
    let edge = Edge::from_flags(actor.advantage, actor.disadvantage);
    let edged = roll.with_edge(edge).ok_or_else(|| {
        Fault::new(Code::InvalidParams, format!("advantage is for one die that is rolled twice, and {roll} has none"))
            .with_path(format!("/rolls/{index}/{}", if actor.advantage { "advantage" } else { "disadvantage" }))
            .value(&true.into())
            .hint("write which dice are kept, as in 2d20kh1+5 or 4d6kh3")
    })?;
    Ok(against_difficulty(add_modifier(edged, actor.modifier), input.difficulty))
}

fn add_modifier(roll: Roll, modifier: i32) -> Roll {
    let add = |left: Expression| {
        let operator = if modifier < 0 { Operator::Subtract } else { Operator::Add };
        let right = Expression::Number(i64::from(modifier.unsigned_abs()));
        Expression::Binary { operator, left: Box::new(left), right: Box::new(right) }
    };
    match roll {
        roll if modifier == 0 => roll,
        Roll::Duality(duality) => {
            Roll::Duality(Duality { modifier: duality.modifier.saturating_add(modifier), ..duality })
        }
        Roll::Total(left) => Roll::Total(add(left)),
        Roll::Check { left, comparison, right } => Roll::Check { left: add(left), comparison, right },
        roll => roll,
    }
}

fn against_difficulty(roll: Roll, difficulty: Option<i32>) -> Roll {
    match (roll, difficulty) {
        (roll, None) => roll,
        (Roll::Duality(duality), difficulty) => Roll::Duality(Duality { difficulty, ..duality }),
        (Roll::Total(left), Some(difficulty)) => {
            let right = Expression::Number(difficulty.into());
            Roll::Check { left, comparison: Comparison::AtLeast, right }
        }
        (roll, Some(_)) => roll,
    }
}

/// One actor's line, its result and its seed.
struct RolledActor {
    line: Roll,
    result: RollResult,
    rng: RandomReport,
}

fn roll_line(app: &App, line: Roll) -> Result<RolledActor, Fault> {
    let mut randomness = Randomness::new(RandomRequest::default(), app.entropy.bytes())?;
    let notation = Notation { roll: line, comment: None };
    let mut results = dice::roll_notation(&notation, &mut |sides| randomness.roll_die(sides))?;
    let result = results.pop().ok_or_else(|| Fault::internal("a line without a result", app.new_request_id()))?;
    Ok(RolledActor { line: notation.roll, result, rng: randomness.into_report() })
}

async fn roll_group(
    app: &App,
    input: &GroupRollInput,
    lines: Vec<Roll>,
    names: Vec<String>,
) -> Result<(GroupRollOutput, Vec<ActorRollDetails>), Fault> {
    let leader = input.rolls.iter().position(|roll| roll.lead);
    let mut rolled: Vec<Option<RolledActor>> = lines.iter().map(|_| None).collect();
    // The leader rolls last, with the help of the others.
    let order = (0..lines.len()).filter(|index| Some(*index) != leader).chain(leader);
    for index in order {
        let help: i32 = if Some(index) == leader {
            rolled.iter().flatten().map(|other| if other.result.success == Some(true) { 1 } else { -1 }).sum()
        } else {
            0
        };
        rolled[index] = Some(roll_line(app, add_modifier(lines[index].clone(), help))?);
    }
    let mut rolled: Vec<RolledActor> = rolled.into_iter().flatten().collect();
    if input.opposed {
        set_opposed_results(&mut rolled);
    }
    let odds = compute_odds(app, &rolled, input.opposed).await;
    let output = group_output(input, &names, &rolled, &odds, leader);
    let details = rolled.into_iter().zip(odds).enumerate().map(|(index, (rolled, odds))| ActorRollDetails {
        reaction: leader.is_some_and(|leader| leader != index),
        details: RollDetails {
            expression: Some(rolled.line.to_string()),
            result: recorded_result(&rolled.result),
            odds,
            rng: Some(rolled.rng),
        },
    });
    Ok((output, details.collect()))
}

/// Each roll against the best of the others; equal totals win nothing.
fn set_opposed_results(rolled: &mut [RolledActor]) {
    let totals: Vec<i64> = rolled.iter().map(|actor| actor.result.total).collect();
    for (index, actor) in rolled.iter_mut().enumerate() {
        let others = totals.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, total)| *total);
        let best = others.max().unwrap_or_default();
        (actor.result.success, actor.result.against) = (Some(actor.result.total > best), Some(best));
    }
}

/// The judgement of a Duality roll as `duality_action_roll` records it, else the result as `roll` does.
fn recorded_result(result: &RollResult) -> Value {
    let Some(judgement) = result.duality else { return json!(result) };
    let mut recorded = json!(judgement);
    if judgement.difficulty.is_none() && result.success.is_some() {
        (recorded["success"], recorded["against"]) = (json!(result.success), json!(result.against));
    }
    recorded
}

/// How likely each roll was; unknown where that is too costly to compute.
async fn compute_odds(app: &App, rolled: &[RolledActor], opposed: bool) -> Vec<RollOdds> {
    let (count, pairs) = (rolled.len(), rolled.iter().map(|actor| (actor.line.clone(), actor.result.clone())));
    let pairs: Vec<(Roll, RollResult)> = pairs.collect();
    let compute = move |budget: &ComputationBudget| {
        let lines: Vec<_> = pairs.iter().map(|(line, _)| line_odds(line, budget).ok()).collect();
        let all: Option<Vec<_>> = lines.iter().cloned().collect();
        let odds = lines.iter().zip(&pairs).enumerate().map(|(index, (odds, (_, result)))| {
            let Some(odds) = odds else { return RollOdds::default() };
            let highest = all.as_ref().filter(|_| opposed).and_then(|all| chance_of_highest(all, index));
            let success_chance = if opposed { highest } else { odds.success.clone() };
            let has_target = opposed || odds.success.is_some();
            RollOdds {
                at_least_chance: (!has_target).then(|| odds.chance_of_at_least(result.total)),
                success_chance,
                luck: Some(odds.luck_of(result)),
            }
        });
        Ok(odds.collect::<Vec<_>>())
    };
    app.compute(compute).await.unwrap_or_else(|_| vec![RollOdds::default(); count])
}

fn group_output(
    input: &GroupRollInput,
    names: &[String],
    rolled: &[RolledActor],
    odds: &[RollOdds],
    leader: Option<usize>,
) -> GroupRollOutput {
    let is_full = input.detail == RollDetail::Full;
    let rolls = input.rolls.iter().zip(rolled).zip(odds).map(|((actor, rolled), odds)| ActorResult {
        actor_id: actor.actor_id.clone(),
        line: RolledLine::new(rolled.result.clone(), odds.at_least_chance.clone().filter(|_| is_full), input.detail),
        success_chance: odds.success_chance.clone().filter(|_| is_full),
        rng: is_full.then(|| rolled.rng.clone()),
    });
    let has_succeeded = |rolled: &&RolledActor| rolled.result.success == Some(true);
    let successes = input.difficulty.map(|_| rolled.iter().filter(has_succeeded).count());
    let winner = rolled.iter().position(|rolled| input.opposed && rolled.result.success == Some(true));
    GroupRollOutput {
        summary: summarize_group(names, rolled, (successes, winner, leader), input.opposed),
        rolls: rolls.collect(),
        successes,
        winner: winner.map(|index| input.rolls[index].actor_id.clone()),
        recorded: None,
    }
}

fn summarize_group(
    names: &[String],
    rolled: &[RolledActor],
    (successes, winner, leader): (Option<usize>, Option<usize>, Option<usize>),
    opposed: bool,
) -> String {
    let totals = names.iter().zip(rolled).map(|(name, rolled)| format!("{name} {}", rolled.result.total));
    let totals = totals.collect::<Vec<_>>().join(", ");
    if let Some((name, rolled)) = leader.and_then(|leader| names.get(leader).zip(rolled.get(leader))) {
        let result = match &rolled.result.duality {
            Some(judgement) => summarize_judgement(judgement),
            None if rolled.result.success == Some(true) => "Success".to_owned(),
            None => "Failure".to_owned(),
        };
        return format!("{result}, led by {name} ({totals})");
    }
    match (successes, winner) {
        (Some(successes), _) => format!("{successes} of {} succeed: {totals}", rolled.len()),
        (None, Some(winner)) => format!("{} wins: {totals}", names.get(winner).map_or("", String::as_str)),
        (None, None) if opposed => format!("a tie: {totals}"),
        (None, None) => totals,
    }
}
