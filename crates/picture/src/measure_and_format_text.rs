//! Text on a picture: estimates widths, shortens names, formats numbers.
//!
//! There is no font here to ask. Widths are those of the font that a PNG is set in, which is wider than what most
//! systems show.

/// How much wider bold text is.
pub(super) const BOLD: f64 = 1.12;

/// The estimated width of a text. It is seldom too small, and then by little.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    text.chars().map(advance).sum::<f64>() * size
}

/// A character's width in a font of size one.
fn advance(character: char) -> f64 {
    match character {
        'i' | 'j' | 'l' | 'I' | 'J' | '\'' => 0.3,
        ' ' | '.' | ',' | ':' | ';' | '|' | '/' | '\\' | '-' | 'f' => 0.36,
        't' | 'r' | '(' | ')' | '[' | ']' | '!' | '·' => 0.41,
        '%' | 'm' | 'M' | 'W' | '@' | '…' => 1.0,
        'w' | '+' | '<' | '>' | '=' | '#' | '~' | '^' | '−' | '×' | '≥' | '≤' => 0.84,
        'A'..='Z' | '&' => 0.76,
        '\u{0}'..='\u{2ff}' => 0.64,
        '\u{300}'..='\u{10ff}' | '\u{2000}'..='\u{2bff}' => 0.8,
        _ => 1.05,
    }
}

/// The text, or its beginning and end around an ellipsis if it is wider than `room`.
pub(super) fn shorten(text: &str, size: f64, room: f64) -> String {
    if text_width(text, size) <= room {
        return text.to_owned();
    }
    let characters: Vec<char> = text.chars().collect();
    let mut left = room - advance('…') * size;
    let (mut head, mut tail) = (0, characters.len());
    while head < tail {
        // Keep two thirds from the beginning, which identifies a name better.
        let is_head = head <= 2 * (characters.len() - tail);
        left -= size * advance(characters[if is_head { head } else { tail - 1 }]);
        if left < 0.0 {
            break;
        }
        if is_head {
            head += 1;
        } else {
            tail -= 1;
        }
    }
    let (head, tail): (String, String) = (characters[..head].iter().collect(), characters[tail..].iter().collect());
    format!("{}…{}", head.trim_end(), tail.trim_start())
}

/// A whole number with a real minus sign.
pub(super) fn format_integer(value: i128) -> String {
    if value < 0 { format!("−{}", value.unsigned_abs()) } else { value.to_string() }
}

/// A number with two decimals at most.
pub(super) fn format_decimal(value: f64) -> String {
    let text = super::svg::format_number(value);
    text.strip_prefix('-').map_or_else(|| text.clone(), |positive| format!("−{positive}"))
}

/// A chance in percent. Never rounds to 0 % or 100 % unless the chance is exactly that.
pub(super) fn format_percent(chance: f64, decimals: usize) -> String {
    // Floating-point sums of many chances differ slightly from one.
    const NOISE: f64 = 1e-12;
    let unit = 10_f64.powi(-i32::try_from(decimals).unwrap_or(0));
    let percent = chance * 100.0;
    if percent > 0.0 && percent < unit / 2.0 {
        return format!("<{unit:.decimals$}%");
    }
    if percent > 100.0 - unit / 2.0 && chance < 1.0 - NOISE {
        return format!(">{:.decimals$}%", 100.0 - unit);
    }
    // An empty sum of floats is -0.0.
    let text = format!("{:.decimals$}", percent.abs());
    let text = if decimals > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { text.as_str() };
    format!("{text}%")
}
