//! `skald roll` and `skald odds`: the dice operations on the command line.

use std::path::Path;

use anyhow::{Context, anyhow};
use serde_json::{Value, json};
use skald_app::{Caller, Engine, RequestControl};

use crate::arguments::{ExpressionArguments, OddsArguments, OddsMode, RollArguments};
use crate::open_store;
use crate::output::print_lines;

/// Columns of the longest bar.
const BAR_COLUMNS_MAX: f64 = 50.0;

pub(crate) async fn roll(arguments: &RollArguments) -> anyhow::Result<()> {
    let mut input = build_input(&arguments.expression);
    input["detail"] = json!("full");
    if let Some(seed) = &arguments.seed {
        let seed = seed.parse::<i64>().map_or_else(|_| json!(seed), Value::from);
        input["rng"] = json!({"seed": seed, "roll_mode": "REPLAY"});
    }
    let answer = call("roll", input).await?;
    if arguments.expression.json {
        print_lines(&format!("{answer:#}"));
        return Ok(());
    }
    let rolls = answer["rolls"].as_array().cloned().unwrap_or_else(|| vec![answer.clone()]);
    for roll in &rolls {
        print_lines(&format!("{} = {}", str_or_empty(&answer["expression"]), format_result(roll)));
        for pool in roll["pools"].as_array().into_iter().flatten() {
            let label = pool["label"].as_str().map(|label| format!(" [{label}]")).unwrap_or_default();
            print_lines(&format!("  {}{label}: {}", str_or_empty(&pool["notation"]), format_dice(pool)));
        }
        if let Some(chance) = roll["at_least_chance"]["decimal"].as_f64() {
            print_lines(&format!("  chance of this or better: {}", format_percent(chance)));
        }
    }
    if let Some(chance) = answer["success_chance"]["decimal"].as_f64() {
        print_lines(&format!("  chance of success: {}", format_percent(chance)));
    }
    if let Some(why) = answer["chance_unknown"].as_str() {
        print_lines(&format!("  chance unknown: {why}"));
    }
    print_lines(&format!("  seed {}", str_or_empty(&answer["rng"]["seed_used"])));
    Ok(())
}

pub(crate) async fn odds(arguments: &OddsArguments) -> anyhow::Result<()> {
    let mut input = build_input(&arguments.expression);
    input["detail"] = json!("table");
    if let Some(target) = arguments.target {
        input["target"] = json!(target);
    }
    for (field, value) in
        [("from", arguments.from), ("to", arguments.to), ("simulate", arguments.simulate.map(i64::from))]
    {
        if let Some(value) = value {
            input[field] = json!(value);
        }
    }
    let answer = call("odds", input).await?;
    if let Some(file) = &arguments.svg {
        write_picture(arguments, file).await?;
    }
    if arguments.expression.json {
        print_lines(&format!("{answer:#}"));
        return Ok(());
    }
    let number = |value: &Value| value.as_f64().unwrap_or_default();
    print_lines(&format!(
        "{}: {} to {}, mean {:.2}, standard deviation {:.2}",
        str_or_empty(&answer["expression"]),
        answer["lowest"],
        answer["highest"],
        number(&answer["mean"]["decimal"]),
        number(&answer["standard_deviation"])
    ));
    for (field, words) in
        [("success_chance", "success"), ("tie", "tie"), ("beyond_cap", "beyond the cap of explosions")]
    {
        if let Some(chance) = answer[field]["decimal"].as_f64() {
            print_lines(&format!(
                "{words}: {}{}",
                format_percent(chance),
                format_share(&answer[field], &answer["simulated"]["rolls"])
            ));
        }
    }
    for row in answer["outcomes"].as_array().into_iter().flatten() {
        print_lines(&format!(
            "{}: {}",
            str_or_empty(&row["outcome"]),
            format_percent(number(&row["exactly"]["decimal"]))
        ));
    }
    print_need(&answer["need"]);
    if let Some(why) = answer["need_unknown"].as_str() {
        print_lines(&format!("needed: no answer, for {why}"));
    }
    if let Some(rolls) = answer["simulated"]["rolls"].as_u64() {
        let margin = format_percent(number(&answer["simulated"]["margin_of_error"]));
        print_lines(&format!("estimated from {rolls} rolls, to within {margin}"));
    }
    print_histogram(arguments.mode, answer["values"].as_array().map(Vec::as_slice).unwrap_or_default());
    if answer["truncated"] == true {
        print_lines("there are more values than these: ask for them with --from and --to");
    }
    Ok(())
}

/// Writes the picture to a file.
async fn write_picture(arguments: &OddsArguments, file: &Path) -> anyhow::Result<()> {
    let mut input = build_input(&arguments.expression);
    if arguments.mode != OddsMode::Exactly {
        input["mode"] = json!(mode_field(arguments.mode));
    }
    if let Some(against) = &arguments.against {
        input["against"] = json!(against);
    }
    let picture = call("odds_picture", input).await?;
    std::fs::write(file, str_or_empty(&picture["text"])).with_context(|| format!("cannot write {}", file.display()))
}

/// The answer's field with the chance that a bar shows.
fn mode_field(mode: OddsMode) -> &'static str {
    match mode {
        OddsMode::Exactly => "exactly",
        OddsMode::AtLeast => "at_least",
        OddsMode::AtMost => "at_most",
    }
}

fn build_input(expression: &ExpressionArguments) -> Value {
    let mut input = json!({"expression": expression.expression()});
    if let Some(dialect) = &expression.dialect {
        input["dialect"] = json!(dialect);
    }
    input
}

async fn call(operation: &str, input: Value) -> anyhow::Result<Value> {
    let answer = open_store::memory_engine().call(&Caller::owner(), operation, input, &RequestControl::default()).await;
    answer.map_err(|fault| {
        let hint = fault.body().hint.as_deref().unwrap_or_default();
        anyhow!("{}\n{hint}", fault.body().message)
    })
}

fn str_or_empty(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn format_result(roll: &Value) -> String {
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

/// The dice of a pool as text: dropped dice in parentheses, exploded ones with `!`, rerolled ones between `~`, and an
/// arrow to the value of a die if it differs from the face. Counted successes have a star, and failures a minus,
/// instead.
fn format_dice(pool: &Value) -> String {
    let is_counted = str_or_empty(&pool["notation"]).contains("cs");
    let dice = pool["dice"].as_array().into_iter().flatten().map(|die| {
        let is = |state: &str| die["state"].as_array().is_some_and(|states| states.iter().any(|given| given == state));
        let mark = if is("exploded") { "!" } else { "" };
        let counts_as =
            if is_counted || die["value"] == die["face"] { String::new() } else { format!("→{}", die["value"]) };
        let shown = match (is("success"), is("failure")) {
            (true, false) => format!("{}{mark}*", die["face"]),
            (false, true) => format!("{}{mark}-", die["face"]),
            _ => format!("{}{mark}{counts_as}", die["face"]),
        };
        match (is("rerolled"), is("dropped"), is("added")) {
            (true, ..) => format!("~{}~", die["face"]),
            (_, true, _) => format!("({shown})"),
            (.., true) => format!("+{}{mark}", die["face"]),
            _ => shown,
        }
    });
    dice.collect::<Vec<_>>().join(" ")
}

fn print_need(need: &Value) {
    let Some(chance) = need["success_chance"]["decimal"].as_f64() else { return };
    if let Some(difficulty) = need["difficulty"].as_i64() {
        print_lines(&format!("needed: a difficulty of {difficulty} or less ({})", format_percent(chance)));
    }
    if let Some(modifier) = need["add"].as_i64() {
        let words = match modifier {
            0 => "nothing more".to_owned(),
            1.. => format!("{modifier:+} more"),
            _ => format!("{} less", modifier.unsigned_abs()),
        };
        print_lines(&format!("needed: {words} ({})", format_percent(chance)));
    }
}

fn print_histogram(mode: OddsMode, rows: &[Value]) {
    let chance = |row: &Value| row[mode_field(mode)]["decimal"].as_f64().unwrap_or_default();
    let most = rows.iter().map(chance).fold(f64::MIN_POSITIVE, f64::max);
    for row in rows {
        let value = row["value"].to_string();
        print_lines(&format!(
            "{value:>8} {:>9}  {}",
            format_percent(chance(row)),
            render_bar(chance(row) / most * BAR_COLUMNS_MAX)
        ));
    }
}

/// A bar of block characters, exact to an eighth of a column.
fn render_bar(columns: f64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is at most the width of a bar")]
    let eighths = (columns * 8.0).round() as usize;
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

/// A chance as a percentage: one decimal, or as many as it takes to differ from 0 and from 100.
fn format_percent(chance: f64) -> String {
    let percent = chance * 100.0;
    let distance = percent.min(100.0 - percent);
    let digits = [1, 2, 3, 4].into_iter().find(|digits| distance >= 0.5 * 0.1_f64.powi(*digits));
    match digits {
        _ if distance <= 0.0 => format!("{percent:.0} %"),
        Some(digits) => format!("{percent:.0$} %", usize::try_from(digits).unwrap_or(1)),
        None if percent > 50.0 => "over 99.99 %".to_owned(),
        None => format!("{percent:.1e} %"),
    }
}

/// The exact fraction, or the number of rolls if the odds were simulated.
fn format_share(exact: &Value, rolls: &Value) -> String {
    match (rolls.as_f64(), exact["decimal"].as_f64()) {
        (Some(rolls), Some(decimal)) => format!(" ({:.0} of {rolls:.0} rolls)", decimal * rolls),
        _ => exact["fraction"].as_str().map(|fraction| format!(" ({fraction})")).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_chance_is_not_none() {
        assert_eq!(format_percent(0.0), "0 %");
        assert_eq!(format_percent(1.0), "100 %");
        assert_eq!(format_percent(0.798), "79.8 %");
        assert_eq!(format_percent(1.0 / 1296.0), "0.1 %");
        assert_eq!(format_percent(0.000_2), "0.02 %");
        assert_eq!(format_percent(0.999_9), "99.99 %");
        assert_eq!(format_percent(2.5e-9), "2.5e-7 %");
        assert_eq!(format_percent(1.0 - 1e-12), "over 99.99 %");
    }

    #[test]
    fn a_die_shows_what_it_counts_for() {
        let die = |face: i64, value: i64, state: &[&str]| json!({"face": face, "value": value, "state": state});
        let pool = |notation: &str, faces: &[Value]| format_dice(&json!({"notation": notation, "dice": faces}));
        assert_eq!(pool("1d20min10", &[die(1, 10, &["kept"])]), "1→10");
        assert_eq!(pool("1d6!p", &[die(6, 6, &["kept", "exploded"]), die(3, 2, &["kept"])]), "6! 3→2");
        assert_eq!(pool("1d6!!", &[die(6, 9, &["kept", "exploded"]), die(3, 0, &["added"])]), "6!→9 +3");
        assert_eq!(pool("2d6ro=1", &[die(1, 0, &["rerolled"]), die(4, 4, &["dropped"])]), "~1~ (4)");
        let counted = [die(9, 1, &["kept", "success"]), die(1, -1, &["kept", "failure"]), die(5, 0, &["kept"])];
        assert_eq!(pool("3d10cs>=8df=1", &counted), "9* 1- 5");
    }
}
