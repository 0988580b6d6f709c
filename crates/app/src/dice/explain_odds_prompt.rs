//! `explain_odds`, a prompt that contains the computed odds, so that a model explains them and does not guess them.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Deserialize;
use skald_domain::dice::{self, Outcome, Probability};

use crate::{App, Caller, Fault, Prompt, Toolset};

pub(super) struct ExplainOdds;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ExplainOddsArguments {
    /// What the total must reach, from 0.
    #[schemars(extend("examples" = [5, 10, 15, 20, 25, 30]))]
    difficulty: i32,
    /// Added to the dice; 0 if left out.
    #[serde(default)]
    #[schemars(extend("examples" = [0, 1, 2, 3, 4, -1, -2]))]
    modifier: i32,
    /// The outcome that the player cares about most.
    outcome: Option<Outcome>,
}

impl Prompt for ExplainOdds {
    const NAME: &'static str = "explain_odds";
    const TITLE: &'static str = "Explain the odds";
    const SUMMARY: &'static str = "Explain to a player what a Duality roll is likely to bring, from exact counts.";
    const TOOLSET: Toolset = Toolset::Dice;
    type Arguments = ExplainOddsArguments;

    async fn render(_: &App, _: &Caller, arguments: ExplainOddsArguments) -> Result<String, Fault> {
        let odds = dice::probability(arguments.modifier, arguments.difficulty)?;
        let better = dice::probability(arguments.modifier.saturating_add(1), arguments.difficulty)?;
        Ok(prompt_text(&arguments, &odds, &better))
    }
}

fn prompt_text(arguments: &ExplainOddsArguments, odds: &Probability, better: &Probability) -> String {
    let ExplainOddsArguments { difficulty, modifier, .. } = arguments;
    let mut text = format!(
        "A player is about to make a Duality roll with modifier {modifier:+} against difficulty {difficulty}. \
         Of the {} equally likely pairs of dice:\n\n",
        odds.total_outcomes
    );
    for row in &odds.outcome_counts {
        write_count_line(&mut text, row.outcome.label(), row.count, odds.total_outcomes);
    }
    write_count_line(&mut text, "Success in all, crits included", odds.success_count, odds.total_outcomes);
    write_count_line(&mut text, "Failure in all", odds.failure_count, odds.total_outcomes);
    write_count_line(
        &mut text,
        "Success in all if the modifier were one higher",
        better.success_count,
        better.total_outcomes,
    );
    text.push_str(
        "\nExplain this to the player in two or three plain sentences: how likely success is, how often Hope or Fear comes \
         with it, and what one more on the modifier would be worth. Use these counts as they are; `duality_probability` \
         has any other case.",
    );
    if let Some(outcome) = arguments.outcome {
        let _ = write!(text, " The player cares most about {} ({}).", outcome.label().to_lowercase(), outcome.as_str());
    }
    text
}

fn write_count_line(text: &mut String, what: &str, count: u32, of: u32) {
    let percent = f64::from(count) * 100.0 / f64::from(of);
    let _ = writeln!(text, "- {what}: {count} ({percent:.1} %)");
}
