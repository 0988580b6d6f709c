//! Dates of journals: in the field `date` of an entity, or somewhere in its entry.

use std::sync::LazyLock;

use jiff::civil::Date;
use regex::Regex;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// A text that looks like a date; [`parse_date`] says whether it is one.
const DATE: &str = r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}(?:st|nd|rd|th|\.)?[ \t]+(?:of[ \t]+)?[a-z]{3,9}\.?,?[ \t]+\d{4}|[a-z]{3,9}\.?[ \t]+\d{1,2}(?:st|nd|rd|th)?,?[ \t]+\d{4}";

/// Where an entry has its date, in the order in which they are tried. The first three are those of mcp-kanka, so that
/// an entry in which it finds a date has the same date here.
static PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let patterns = [
        r"(?im)\*\*Date:\s*(\d{4}-\d{2}-\d{2})\*\*".to_owned(),
        r"(?im)Date:\s*(\d{4}-\d{2}-\d{2})".to_owned(),
        r"(?im)^(\d{4}-\d{2}-\d{2})".to_owned(),
        // `**Date:** 30 May 2025`, `**Date**: 2025-05-30`.
        format!(r"(?im)\bDate[*_]{{0,3}}[ \t]*:[ \t]*[*_]{{0,3}}[ \t]*({DATE})\b"),
        // A line or a heading that begins with a date: `# 2025-05-30`, `30 May 2025: the feast`.
        format!(r"(?im)^[ \t]*(?:#{{1,6}}[ \t]+)?[*_]{{0,3}}({DATE})\b"),
        // A heading that ends with one: `## Session 12, 30 May 2025`.
        format!(r"(?im)^#{{1,6}}[ \t].*?\b({DATE})[ \t*_#)]*$"),
    ];
    patterns.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect()
});

/// Reads `2025-05-30`, `2025/5/30`, `30 May 2025`, `30th of May, 2025` and `May 30, 2025`, with spaces around. The month may
/// be cut to three letters or more.
pub fn parse_date(text: &str) -> Option<Date> {
    let text = text.trim();
    let numbers: Vec<&str> = text.split(['-', '/', '.']).collect();
    if let [year, month, day] = numbers[..]
        && let (4, Some(year), Some(month), Some(day)) = (year.len(), digits(year), digits(month), digits(day))
    {
        return date(year, month, day);
    }
    let words: Vec<&str> = text.split([' ', '\t', ',']).filter(|word| !word.is_empty()).collect();
    let (day, month, year) = match words[..] {
        [day, of, month, year] if of.eq_ignore_ascii_case("of") => (day, month, year),
        [one, other, year] if one.starts_with(|letter: char| letter.is_ascii_digit()) => (one, other, year),
        [month, day, year] => (day, month, year),
        _ => return None,
    };
    let day = digits(day.trim_end_matches(|letter: char| letter.is_ascii_alphabetic() || letter == '.'))?;
    let year = digits(year).filter(|_| year.len() == 4)?;
    date(year, month_number(month)?, day)
}

/// The first date that an entry names as its own.
pub fn date_in_entry(markdown: &str) -> Option<Date> {
    PATTERNS.iter().find_map(|pattern| {
        let mut found = pattern.captures_iter(markdown).filter_map(|captures| captures.get(1));
        found.find_map(|text| parse_date(text.as_str()))
    })
}

fn digits(text: &str) -> Option<i16> {
    let is_number = !text.is_empty() && text.len() <= 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

fn date(year: i16, month: i16, day: i16) -> Option<Date> {
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

fn month_number(word: &str) -> Option<i16> {
    let word = word.trim_end_matches('.').to_ascii_lowercase();
    let matches =
        |month: &&str| word.len() >= 3 && month.starts_with(&word) || (word == "sept" && **month == *MONTHS[8]);
    MONTHS.iter().zip(1..).find(|(month, _)| matches(month)).map(|(_, number)| number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn iso(date: Option<Date>) -> String {
        date.map(|date| date.to_string()).unwrap_or_default()
    }

    #[test]
    fn dates_are_read_in_several_forms() {
        for text in [
            "2025-05-30",
            " 2025-5-30 ",
            "2025/05/30",
            "2025.05.30",
            "30 May 2025",
            "30. may 2025",
            "30th May 2025",
            "30th of May, 2025",
            "May 30, 2025",
            "MAY 30th 2025",
        ] {
            assert_eq!(iso(parse_date(text)), "2025-05-30", "{text}");
        }
        assert_eq!(iso(parse_date("1 Sept. 2024")), "2024-09-01");
        assert_eq!(iso(parse_date("29 feb 2024")), "2024-02-29");
        for text in [
            "",
            "2025",
            "2025-13-01",
            "2025-02-30",
            "29 Feb 2025",
            "30 Mirtul 1492",
            "ma 30 2025",
            "30 05 2025",
            "05-30-2025",
            "2025-05",
            "2025-05-30-01",
            "30 of 2025",
            "May 2025",
            "३० May 2025",
            "2025-05-3०",
            "30 May 25",
            "99999-01-01",
        ] {
            assert_eq!(parse_date(text), None, "{text}");
        }
    }

    #[test]
    fn an_entry_has_its_date_where_mcp_kanka_finds_it() {
        for (entry, date) in [
            ("**Date: 2025-05-30**\n\nWe met.", "2025-05-30"),
            ("We met. date: 2025-05-30", "2025-05-30"),
            ("Session Date:2025-05-30", "2025-05-30"),
            ("Title\n2025-05-30 and more", "2025-05-30"),
            ("Date: 2025-01-01\n\n**Date: 2025-05-30**", "2025-05-30"),
            ("2025-01-01\nDate: 2025-05-30", "2025-05-30"),
            ("Date: 2025-13-01\n2025-05-30", "2025-05-30"),
            ("Date: 2025-13-01, date: 2025-05-30", "2025-05-30"),
        ] {
            assert_eq!(iso(date_in_entry(entry)), date, "{entry}");
        }
    }

    #[test]
    fn an_entry_has_its_date_where_mcp_kanka_misses_it() {
        for entry in [
            "**Date:** 2025-05-30",
            "**Date**: 2025-05-30",
            "*Date:* 30 May 2025",
            "Date: May 30, 2025",
            "Date : 2025/05/30",
            "# 2025-05-30",
            "intro\n\n### 30 May 2025: the feast",
            "30 May 2025\n\nWe met.",
            "  **30th of May 2025**",
            "## Session 12, 30 May 2025",
            "# The feast (2025-05-30)",
        ] {
            assert_eq!(iso(date_in_entry(entry)), "2025-05-30", "{entry}");
        }
        for entry in ["", "no date", "it was on 2025-05-30", "# Session 12", "Date: soon", "update: 20250530"] {
            assert_eq!(date_in_entry(entry), None, "{entry}");
        }
    }

    #[test]
    fn every_pattern_compiles() {
        assert_eq!(PATTERNS.len(), 6);
    }
}
