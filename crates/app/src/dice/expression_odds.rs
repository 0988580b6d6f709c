//! Parses dice expressions and computes their odds, for `roll`, `odds` and the odds picture.

use skald_domain::dice::DiceRefusal;
use skald_domain::dice::notation::{Dialect, Notation, parse_spoken};
use skald_domain::dice::odds::{ComputationBudget, LineOdds, OddsRefusal, SampleRefusal, line_odds};

use crate::{Code, Fault};

/// Parses an expression, in notation or as people say it. The message of the fault marks the wrong position with a caret.
pub(super) fn parse_expression(expression: &str, dialect: Dialect, field: &str) -> Result<Notation, Fault> {
    parse_spoken(expression, dialect).map_err(|error| {
        let message = format!("{}\n{}", error.message, error.caret(expression));
        Fault::new(Code::InvalidParams, message).with_path(format!("/{field}")).hint(error.hint)
    })
}

pub(super) fn compute_odds(notation: &Notation, field: &str, budget: &ComputationBudget) -> Result<LineOdds, Fault> {
    line_odds(&notation.roll, budget).map_err(|refusal| odds_fault(&refusal, field))
}

pub(super) fn odds_fault(refusal: &OddsRefusal, field: &str) -> Fault {
    let (code, hint) = match refusal {
        OddsRefusal::TooCostly(_) => (
            Code::TooLarge,
            "ask for fewer dice, smaller ones, or keep fewer of them; or estimate: odds with simulate: 10000",
        ),
        OddsRefusal::DivisionByZero { .. } => (Code::InvalidParams, "divide by something that is never zero"),
        OddsRefusal::NumberTooLarge => (Code::InvalidParams, "use smaller numbers"),
        OddsRefusal::GivenUp => (Code::Unavailable, "ask again"),
    };
    Fault::new(code, refusal.to_string()).with_path(format!("/{field}")).hint(hint)
}

pub(super) fn sample_fault(refusal: SampleRefusal) -> Fault {
    match refusal {
        SampleRefusal::Odds(OddsRefusal::TooCostly(cost)) => {
            let fault = Fault::new(Code::TooLarge, format!("so many rolls of this would {cost}"));
            fault.with_path("/simulate").hint("simulate fewer rolls, or roll fewer dice")
        }
        SampleRefusal::Odds(refusal) => odds_fault(&refusal, "expression"),
        SampleRefusal::Dice(refusal) => DiceRefusal::into(refusal),
    }
}
