//! The dice of a roll with what stands between them in its expression, so that whoever looks can add them up.

use maud::{Markup, html};
use serde_json::Value;

use super::drawn_dice::{DieTone, die, sides_of};

/// Dice of a roll that are drawn; the others are counted. Six times four dice fit.
const DICE_DRAWN_MAX: usize = 24;
/// The sides of the die of an advantage or a disadvantage.
const EDGE_SIDES: u64 = 6;
/// What stands between the two sides of a comparison.
const COMPARISONS: [&str; 6] = [" vs ", " >= ", " <= ", " = ", " > ", " < "];

/// The dice of a result, the total, and what it was to reach. A repeated roll has a row for each time.
pub(super) fn rolled_dice(result: &Value, expression: Option<&str>) -> Markup {
    let mut counter = DiceCounter::default();
    let Some(rows) = repetitions(result) else { return result_dice(result, expression, &mut counter) };
    // In its canonical form it is `6x(4d6kh3)`.
    let repeated = expression.and_then(|text| text.split_once("x(")?.1.strip_suffix(')'));
    let mut drawn = Vec::new();
    for row in rows {
        if !counter.has_room_for(row) {
            break;
        }
        drawn.push(result_dice(row, repeated, &mut counter));
    }
    let others: Vec<String> =
        rows.iter().skip(drawn.len()).filter_map(total_of).map(|total| total.to_string()).collect();
    html! {
        @for row in &drawn { span.dice { (row) } }
        @if !others.is_empty() { span.total { "= " strong { (others.join(", ")) } } }
    }
}

/// The total of a roll that is not repeated.
pub(super) fn total_of(result: &Value) -> Option<i64> {
    duality_of(result).unwrap_or(result).get("total").or_else(|| result.get("total"))?.as_i64()
}

/// The results of a repeated roll.
pub(super) fn repetitions(result: &Value) -> Option<&Vec<Value>> {
    result.get("rolls").filter(|_| result.get("total").is_none())?.as_array()
}

/// The judged Duality dice, if it is such a roll.
pub(super) fn duality_of(result: &Value) -> Option<&Value> {
    result.get("duality").or_else(|| result.get("hope").map(|_| result))
}

#[derive(Default)]
struct DiceCounter {
    drawn: usize,
    left_out: usize,
}

impl DiceCounter {
    /// The first result is drawn even if not all of its dice are.
    fn has_room_for(&self, result: &Value) -> bool {
        let dice: usize = array(result, "pools").iter().map(|pool| array(pool, "dice").len()).sum();
        self.drawn == 0 || self.drawn + dice <= DICE_DRAWN_MAX
    }

    fn draw(&mut self, sides: u64, face: i64, tone: DieTone) -> Markup {
        if self.drawn == DICE_DRAWN_MAX {
            self.left_out += 1;
            return html! {};
        }
        self.drawn += 1;
        die(sides, face, tone)
    }

    fn draw_pool(&mut self, pool: &Value) -> Markup {
        let sides = sides_of(pool.get("notation").and_then(Value::as_str).unwrap_or_default());
        html! {
            @for shown in array(pool, "dice") {
                @let is_dropped = has_state(shown, "dropped") || has_state(shown, "rerolled");
                @let tone = if is_dropped { DieTone::Dropped } else { DieTone::Plain };
                @if let Some(face) = number(shown, "face") { (self.draw(sides, face, tone)) }
            }
        }
    }
}

fn result_dice(result: &Value, expression: Option<&str>, counter: &mut DiceCounter) -> Markup {
    let duality = duality_of(result);
    let (dice, opponent) = match duality {
        Some(duality) => (duality_dice(duality, expression, counter), None),
        None if result.get("rolls").is_some() => (pools_of_results(result, counter), None),
        None => pools_of_expression(result, expression, counter),
    };
    let against = duality.and_then(|duality| number(duality, "difficulty")).or_else(|| number(result, "against"));
    html! {
        (dice)
        @if counter.left_out > 0 { span.muted { "and " (counter.left_out) " more" } }
        @if let Some(total) = total_of(result) {
            span.total {
                "= " strong { (total) }
                @if let Some(against) = against {
                    span.muted { " vs" @if opponent.is_none() { " " (against) } }
                }
            }
        }
        @if let Some(opponent) = opponent { (opponent) }
    }
}

fn duality_dice(duality: &Value, expression: Option<&str>, counter: &mut DiceCounter) -> Markup {
    // The canonical form ends with the bonus die: `duality(+2, dc 14, adv, +1d8)`.
    let bonus_sides = expression.and_then(|text| text.rsplit_once(", +1d")?.1.strip_suffix(')')?.parse().ok());
    html! {
        @if let (Some(hope), Some(fear)) = (number(duality, "hope"), number(duality, "fear")) {
            (counter.draw(12, hope, DieTone::Hope)) (counter.draw(12, fear, DieTone::Fear))
        }
        @if let Some(edge) = number(duality, "edge") {
            (added_text(if edge < 0 { "-" } else { "+" })) (counter.draw(EDGE_SIDES, edge.abs(), DieTone::Plain))
        }
        @if let Some(bonus) = number(duality, "bonus") {
            (added_text("+")) (counter.draw(bonus_sides.unwrap_or_default(), bonus, DieTone::Plain))
        }
        (modifier_text(number(duality, "modifier").unwrap_or_default()))
    }
}

/// Pools of equal dice, which are all added.
fn pools_of_results(result: &Value, counter: &mut DiceCounter) -> Markup {
    html! {
        @for pool in array(result, "rolls") {
            @let sides = pool.get("sides").and_then(Value::as_u64).unwrap_or_default();
            @for face in array(pool, "results").iter().filter_map(Value::as_i64) {
                (counter.draw(sides, face, DieTone::Plain))
            }
        }
    }
}

/// A part of an expression that was rolled.
enum RolledPart<'a> {
    Text(&'a str),
    Pool(&'a Value),
    /// What follows is the other side of a comparison.
    Comparison,
}

impl RolledPart<'_> {
    fn draw(&self, counter: &mut DiceCounter) -> Markup {
        match self {
            Self::Text(text) => added_text(text),
            Self::Pool(pool) => counter.draw_pool(pool),
            Self::Comparison => html! {},
        }
    }
}

/// The expression with its dice in place of its pools, and its other side if that one has dice.
fn pools_of_expression(
    result: &Value,
    expression: Option<&str>,
    counter: &mut DiceCounter,
) -> (Markup, Option<Markup>) {
    let pools = array(result, "pools");
    let Some(parts) = expression.and_then(|text| rolled_parts(text, pools, result.get("against").is_some())) else {
        let kept: i64 = pools.iter().flat_map(|pool| array(pool, "dice")).filter_map(kept_value).sum();
        let rest = total_of(result).filter(|_| !pools.is_empty()).map_or(0, |total| total - kept);
        return (html! { @for pool in pools { (counter.draw_pool(pool)) } (modifier_text(rest)) }, None);
    };
    let middle = parts.iter().position(|part| matches!(part, RolledPart::Comparison)).unwrap_or(parts.len());
    let (own, other) = parts.split_at(middle);
    let own = html! { @for part in own { (part.draw(counter)) } };
    if !other.iter().any(|part| matches!(part, RolledPart::Pool(_))) {
        return (own, None);
    }
    // One die says itself what it comes to.
    let is_one_die = matches!(other, [_, RolledPart::Pool(pool)] if array(pool, "dice").len() == 1);
    let sum = number(result, "against").filter(|_| !is_one_die);
    let other = html! {
        @for part in other { (part.draw(counter)) }
        @if let Some(sum) = sum { span.total { span.muted { "= " (sum) } } }
    };
    (own, Some(other))
}

/// Finds the pools of a roll in its expression, in which they have the same order. `None` if one is not in it.
fn rolled_parts<'a>(expression: &'a str, pools: &'a [Value], is_compared: bool) -> Option<Vec<RolledPart<'a>>> {
    if pools.is_empty() {
        return None;
    }
    let masked = mask_labels(expression);
    let comparisons = COMPARISONS.iter().filter_map(|sign| Some((masked.find(sign)?, sign.len())));
    let comparison = comparisons.min().filter(|_| is_compared);
    let mut parts = Vec::new();
    let push_text = |parts: &mut Vec<RolledPart<'a>>, from: usize, to: usize| {
        let Some((at, length)) = comparison.filter(|(at, _)| (from..to).contains(at)) else {
            parts.push(RolledPart::Text(&expression[from..to]));
            return;
        };
        parts.push(RolledPart::Text(&expression[from..at]));
        parts.push(RolledPart::Comparison);
        parts.push(RolledPart::Text(&expression[at + length..to]));
    };
    let mut from = 0;
    for pool in pools {
        let notation = pool.get("notation")?.as_str()?;
        let at = from + masked.get(from..)?.find(notation)?;
        push_text(&mut parts, from, at);
        parts.push(RolledPart::Pool(pool));
        from = at + notation.len();
    }
    push_text(&mut parts, from, expression.len());
    parts.retain(|part| !matches!(part, RolledPart::Text(text) if text.trim().is_empty()));
    Some(parts)
}

/// The expression with dots in place of its labels, such as of `[fire]`, which may have any text in them.
fn mask_labels(expression: &str) -> String {
    let mut is_label = false;
    let mut masked = String::with_capacity(expression.len());
    for letter in expression.chars() {
        is_label = (is_label || letter == '[') && letter != ']';
        if is_label {
            masked.extend(std::iter::repeat_n('.', letter.len_utf8()));
        } else {
            masked.push(letter);
        }
    }
    masked
}

fn number(of: &Value, field: &str) -> Option<i64> {
    of.get(field)?.as_i64()
}

fn array<'a>(of: &'a Value, field: &str) -> &'a [Value] {
    of.get(field).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn has_state(thrown: &Value, state: &str) -> bool {
    array(thrown, "state").iter().any(|found| found == state)
}

fn kept_value(thrown: &Value) -> Option<i64> {
    number(thrown, "value").filter(|_| has_state(thrown, "kept"))
}

fn added_text(text: &str) -> Markup {
    html! { span.modifier { (text.trim()) } }
}

fn modifier_text(number: i64) -> Markup {
    html! { @if number != 0 { span.modifier { (format!("{number:+}")) } } }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What is shown, with the faces of dice in brackets.
    fn shown(result: &Value, expression: &str) -> String {
        let html = rolled_dice(result, Some(expression)).into_string();
        let html = html.replace("text-anchor=\"middle\">", ">[").replace("</text>", "] ").replace("</span>", " ");
        let text: String = html.split('<').map(|part| part.rsplit_once('>').map_or(part, |(_, text)| text)).collect();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn pool(notation: &str, faces: &[i64]) -> Value {
        let dice = faces.iter().map(|face| json!({"face": face, "value": face, "state": ["kept"]}));
        json!({"notation": notation, "dice": dice.collect::<Vec<_>>(), "total": faces.iter().sum::<i64>()})
    }

    #[test]
    fn the_sum_of_what_is_shown_is_the_total() {
        let both = |total: i64| json!({"total": total, "pools": [pool("1d20", &[18]), pool("1d4", &[4])]});
        for (expression, total, expected) in [
            ("1d20+1d4+5", 27, "[18] + [4] +5 = 27"),
            ("1d20-1d4", 14, "[18] - [4] = 14"),
            ("2*(1d20[a 1d4 vs b]+1d4)", 44, "2*( [18] [a 1d4 vs b]+ [4] ) = 44"),
            // The expression of an earlier version.
            ("d20 and d4", 27, "[18] [4] +5 = 27"),
        ] {
            assert_eq!(shown(&both(total), expression), expected, "{expression}");
        }
    }

    #[test]
    fn the_other_side_stands_apart() {
        let result =
            |right: Value| json!({"total": 10, "against": 8, "success": true, "pools": [pool("2d6", &[2, 5]), right]});
        assert_eq!(shown(&result(pool("1d20", &[8])), "2d6+3 vs 1d20"), "[2] [5] +3 = 10 vs [8]");
        assert_eq!(shown(&result(pool("1d20", &[6])), "2d6+3 >= 1d20+2"), "[2] [5] +3 = 10 vs [6] +2 = 8");
        let check = json!({"total": 18, "against": 15, "success": true, "pools": [pool("1d20", &[18])]});
        assert_eq!(shown(&check, "1d20 >= 15"), "[18] = 18 vs 15");
        // Against another actor's roll.
        assert_eq!(shown(&check, "1d20"), "[18] = 18 vs 15");
    }

    #[test]
    fn a_repeated_roll_has_rows_as_far_as_there_is_room() {
        let row = |face: i64| json!({"total": face * 10, "pools": [pool("10d6", &[face; 10])]});
        let result = json!({"rolls": [row(1), row(2), row(3)]});
        let dice = |face: i64| vec![format!("[{face}]"); 10].join(" ");
        assert_eq!(shown(&result, "3x(10d6)"), format!("{} = 10 {} = 20 = 30", dice(1), dice(2)));
        let many = json!({"total": 30, "pools": [pool("30d6", &[1; 30])]});
        assert!(shown(&many, "30d6").ends_with("[1] and 6 more = 30"), "{}", shown(&many, "30d6"));
    }
}
