//! `skald roll` and `skald odds`: the same operations, for people.

use std::path::Path;

use anyhow::{Context, anyhow};
use app::{Caller, Engine, Work};
use serde_json::{Value, json};

use crate::arguments::{ExpressionArguments, Mode, OddsArguments, RollArguments};
use crate::output::say;
use crate::world;

/// Columns of the longest bar.
const BAR: f64 = 50.0;

pub(crate) async fn roll(arguments: &RollArguments) -> anyhow::Result<()> {
    let mut input = input(&arguments.expression);
    if let Some(seed) = &arguments.seed {
        let seed = seed.parse::<i64>().map_or_else(|_| json!(seed), Value::from);
        input["rng"] = json!({"seed": seed, "roll_mode": "REPLAY"});
    }
    let answer = call("roll", input).await?;
    if arguments.expression.json {
        say(&format!("{answer:#}"));
        return Ok(());
    }
    let rolls = answer["rolls"].as_array().cloned().unwrap_or_else(|| vec![answer.clone()]);
    for roll in &rolls {
        say(&format!("{} = {}", text(&answer["expression"]), result(roll)));
        for pool in roll["pools"].as_array().into_iter().flatten() {
            let label = pool["label"].as_str().map(|label| format!(" [{label}]")).unwrap_or_default();
            say(&format!("  {}{label}: {}", text(&pool["notation"]), dice(pool)));
        }
    }
    if let Some(chance) = answer["chance"]["decimal"].as_f64() {
        say(&format!("  chance of this or better: {}", percent(chance)));
    }
    say(&format!("  seed {}", text(&answer["rng"]["seed_used"])));
    Ok(())
}

pub(crate) async fn odds(arguments: &OddsArguments) -> anyhow::Result<()> {
    let mut input = input(&arguments.expression);
    if let Some(target) = arguments.target {
        input["target"] = json!(target);
    }
    if let Some(rolls) = arguments.simulate {
        input["simulate"] = json!(rolls);
    }
    let answer = call("odds", input).await?;
    if let Some(file) = &arguments.svg {
        draw(arguments, file).await?;
    }
    if arguments.expression.json {
        say(&format!("{answer:#}"));
        return Ok(());
    }
    let number = |value: &Value| value.as_f64().unwrap_or_default();
    say(&format!(
        "{}: {} to {}, mean {:.2}, standard deviation {:.2}",
        text(&answer["expression"]),
        answer["lowest"],
        answer["highest"],
        number(&answer["mean"]["decimal"]),
        number(&answer["standard_deviation"])
    ));
    for (field, words) in [("success", "success"), ("tie", "tie"), ("beyond_cap", "beyond the cap of explosions")] {
        if let Some(chance) = answer[field]["decimal"].as_f64() {
            say(&format!("{words}: {}{}", percent(chance), fraction(&answer[field])));
        }
    }
    for row in answer["outcomes"].as_array().into_iter().flatten() {
        say(&format!("{}: {}", text(&row["outcome"]), percent(number(&row["chance"]["decimal"]))));
    }
    need(&answer["need"]);
    if let Some(rolls) = answer["simulated"]["rolls"].as_u64() {
        let margin = percent(number(&answer["simulated"]["margin_of_error"]));
        say(&format!("estimated from {rolls} rolls, to within {margin}"));
    }
    histogram(arguments.mode, answer["values"].as_array().map(Vec::as_slice).unwrap_or_default());
    if answer["truncated"] == true {
        say("there are more values than these");
    }
    Ok(())
}

/// Writes the picture to a file.
async fn draw(arguments: &OddsArguments, file: &Path) -> anyhow::Result<()> {
    let mut input = input(&arguments.expression);
    if arguments.mode != Mode::Exactly {
        input["mode"] = json!(field(arguments.mode));
    }
    if let Some(against) = &arguments.against {
        input["against"] = json!(against);
    }
    let picture = call("odds_picture", input).await?;
    std::fs::write(file, text(&picture["text"])).with_context(|| format!("cannot write {}", file.display()))
}

/// Where an answer has what a bar stands for.
fn field(mode: Mode) -> &'static str {
    match mode {
        Mode::Exactly => "exactly",
        Mode::AtLeast => "at_least",
        Mode::AtMost => "at_most",
    }
}

fn input(expression: &ExpressionArguments) -> Value {
    let mut input = json!({"expression": expression.expression});
    if let Some(dialect) = &expression.dialect {
        input["dialect"] = json!(dialect);
    }
    input
}

async fn call(operation: &str, input: Value) -> anyhow::Result<Value> {
    let answer = world::forgetful().call(&Caller::owner(), operation, input, &Work::default()).await;
    answer.map_err(|fault| {
        let hint = fault.body().hint.as_deref().unwrap_or_default();
        anyhow!("{}\n{hint}", fault.body().message)
    })
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn result(roll: &Value) -> String {
    let total = &roll["total"];
    match (roll["success"].as_bool(), &roll["against"]) {
        (Some(success), against) => {
            format!("{total} against {against}: {}", if success { "success" } else { "failure" })
        }
        (None, _) => match roll["duality"]["outcome"].as_str() {
            Some(outcome) => format!("{total}, {outcome}"),
            None => total.to_string(),
        },
    }
}

/// Dropped dice in parentheses, exploded ones with a mark, rerolled ones struck out.
fn dice(pool: &Value) -> String {
    let dice = pool["dice"].as_array().into_iter().flatten().map(|die| {
        let is = |state: &str| die["state"].as_array().is_some_and(|states| states.iter().any(|given| given == state));
        let mark = if is("exploded") { "!" } else { "" };
        let face = format!("{}{mark}", die["face"]);
        match (is("rerolled"), is("dropped"), is("success")) {
            (true, ..) => format!("~{face}~"),
            (_, true, _) => format!("({face})"),
            (.., true) => format!("{face}*"),
            _ => face,
        }
    });
    dice.collect::<Vec<_>>().join(" ")
}

fn need(need: &Value) {
    let Some(chance) = need["chance"]["decimal"].as_f64() else { return };
    if let Some(difficulty) = need["difficulty"].as_i64() {
        say(&format!("needed: a difficulty of {difficulty} or less ({})", percent(chance)));
    }
    if let Some(modifier) = need["modifier"].as_i64() {
        say(&format!("needed: {modifier:+} ({})", percent(chance)));
    }
}

fn histogram(mode: Mode, rows: &[Value]) {
    let chance = |row: &Value| match &row[field(mode)] {
        Value::Object(exact) => exact["decimal"].as_f64().unwrap_or_default(),
        decimal => decimal.as_f64().unwrap_or_default(),
    };
    let most = rows.iter().map(chance).fold(f64::MIN_POSITIVE, f64::max);
    for row in rows {
        let value = row["value"].to_string();
        say(&format!("{value:>8} {:>7}  {}", percent(chance(row)), bar(chance(row) / most * BAR)));
    }
}

/// A bar to an eighth of a column.
fn bar(columns: f64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is at most the width of a bar")]
    let eighths = (columns * 8.0).round() as usize;
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

fn percent(chance: f64) -> String {
    format!("{:.1} %", chance * 100.0)
}

fn fraction(exact: &Value) -> String {
    exact["fraction"].as_str().map(|fraction| format!(" ({fraction})")).unwrap_or_default()
}
