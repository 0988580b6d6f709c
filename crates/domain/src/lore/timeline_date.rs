//! Dates of the timeline: a sortable form beside the date as the table writes it, how precise it is, and which days it
//! may mean.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::date::parse_date;
use crate::case_insensitive_enum::case_insensitive_enum;

/// Years before and after the year 0 of the table's calendar.
const YEAR_MAX: i32 = 9_999_999;
const MONTH_MAX: u8 = 99;
const DAY_MAX: u16 = 999;

/// How precise a date is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DatePrecision {
    /// As precise as the date is written.
    #[default]
    Exact,
    /// One step less precise than it is written: a day may be any of its month, a month any of its year.
    Approximate,
    Day,
    Week,
    Month,
    Year,
    Decade,
    Unknown,
}

case_insensitive_enum!(DatePrecision {
    Exact = "exact",
    Approximate = "approximate",
    Day = "day",
    Week = "week",
    Month = "month",
    Year = "year",
    Decade = "decade",
    Unknown = "unknown",
});

impl DatePrecision {
    pub fn is_exact(&self) -> bool {
        *self == Self::Exact
    }
}

/// A date that can be compared, written as `year[-month[-day]]`. Months and days may be those of an invented calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SortDate {
    pub year: i32,
    pub month: Option<u8>,
    /// Only with a month.
    pub day: Option<u16>,
}

/// A place on the timeline. Days of one calendar are in the order of their keys.
pub type DayKey = i64;

/// All days that a date may mean, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DaySpan {
    pub first: DayKey,
    pub last: DayKey,
}

impl DaySpan {
    pub fn overlaps(self, other: Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

impl SortDate {
    /// The sortable form of a date as people write it: `1204`, `1204-03-15`, `-44-03-15`, `15 March 1204`. `None` if it
    /// cannot be told.
    pub fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Ok(date) = text.parse() {
            return Some(date);
        }
        let date = parse_date(text)?;
        let (month, day) = (u8::try_from(date.month()).ok()?, u16::try_from(date.day()).ok()?);
        Some(Self { year: i32::from(date.year()), month: Some(month), day: Some(day) })
    }

    /// The days that it names as it is written.
    pub fn span(self) -> DaySpan {
        let (first_month, last_month) =
            self.month.map_or((0, i64::from(MONTH_MAX)), |month| (month.into(), month.into()));
        let (first_day, last_day) = self.day.map_or((0, i64::from(DAY_MAX)), |day| (day.into(), day.into()));
        DaySpan { first: self.day_key(first_month, first_day), last: self.day_key(last_month, last_day) }
    }

    /// The days that it may mean with a precision; `None` if nothing is known.
    pub fn span_with(self, precision: DatePrecision) -> Option<DaySpan> {
        let without_day = Self { day: None, ..self };
        let without_month = Self { month: None, day: None, ..self };
        Some(match precision {
            DatePrecision::Exact | DatePrecision::Day => self.span(),
            DatePrecision::Week => match self.day {
                None => self.span(),
                Some(day) => {
                    let on = |day| Self { day: Some(day), ..self }.span();
                    DaySpan { first: on(day.saturating_sub(6).max(1)).first, last: on((day + 6).min(DAY_MAX)).last }
                }
            },
            DatePrecision::Month => without_day.span(),
            DatePrecision::Year => without_month.span(),
            DatePrecision::Decade => self.decade(),
            DatePrecision::Approximate => match (self.month, self.day) {
                (Some(_), Some(_)) => without_day.span(),
                (Some(_), None) => without_month.span(),
                (None, _) => self.decade(),
            },
            DatePrecision::Unknown => return None,
        })
    }

    fn decade(self) -> DaySpan {
        let first = self.year.div_euclid(10) * 10;
        let of_year = |year| Self { year, month: None, day: None }.span();
        DaySpan { first: of_year(first).first, last: of_year(first + 9).last }
    }

    fn day_key(self, month: i64, day: i64) -> DayKey {
        (i64::from(self.year) * (i64::from(MONTH_MAX) + 1) + month) * (i64::from(DAY_MAX) + 1) + day
    }
}

impl fmt::Display for SortDate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.year < 0 { "-" } else { "" };
        write!(formatter, "{sign}{:04}", self.year.unsigned_abs())?;
        if let Some(month) = self.month {
            write!(formatter, "-{month:02}")?;
        }
        match self.day {
            Some(day) => write!(formatter, "-{day:02}"),
            None => Ok(()),
        }
    }
}

impl FromStr for SortDate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let shown: String = text.chars().take(64).collect();
        let malformed = || format!("{shown:?} is no year[-month[-day]], such as 1204, 1204-03 or -44-03-15");
        let text = text.trim();
        let (is_negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
        let numbers: Option<Vec<u32>> = digits.split('-').map(whole_number).collect();
        let (year, month, day) = match numbers.as_deref() {
            Some([year]) => (*year, None, None),
            Some([year, month]) => (*year, Some(*month), None),
            Some([year, month, day]) => (*year, Some(*month), Some(*day)),
            _ => return Err(malformed()),
        };
        let year = i32::try_from(year).ok().filter(|year| *year <= YEAR_MAX).ok_or_else(malformed)?;
        let is_counted = |number: Option<u32>, max: u32| number.is_none_or(|number| (1..=max).contains(&number));
        if !is_counted(month, MONTH_MAX.into()) || !is_counted(day, DAY_MAX.into()) {
            return Err(format!("{shown:?} is outside: months are 1 to {MONTH_MAX}, days 1 to {DAY_MAX}"));
        }
        Ok(Self {
            year: if is_negative { -year } else { year },
            month: month.and_then(|month| u8::try_from(month).ok()),
            day: day.and_then(|day| u16::try_from(day).ok()),
        })
    }
}

fn whole_number(digits: &str) -> Option<u32> {
    let is_number = !digits.is_empty() && digits.len() <= 9 && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_number)
}

impl Serialize for SortDate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SortDate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<'de, str>::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for SortDate {
    fn schema_name() -> Cow<'static, str> {
        "SortDate".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> SortDate {
        text.parse().unwrap()
    }

    #[test]
    fn dates_are_read_as_they_are_written() {
        for (text, written) in [
            ("1204", "1204"),
            (" 1204-3-15 ", "1204-03-15"),
            ("-44-03-15", "-0044-03-15"),
            ("0", "0000"),
            ("12345-13-400", "12345-13-400"),
        ] {
            assert_eq!(date(text).to_string(), written);
            assert_eq!(date(written), date(text));
        }
        for wrong in ["", "-", "3rd of Rain", "1204-", "1204-0", "1204-1-0", "1-2-3-4", "99999999", "1204-100", "+5"] {
            assert!(wrong.parse::<SortDate>().is_err(), "{wrong}");
        }
        assert_eq!(SortDate::read("15 March 1925"), Some(date("1925-03-15")));
        assert_eq!(SortDate::read("3rd of Rain, 1204"), None);
    }

    #[test]
    fn a_date_overlaps_what_its_precision_allows() {
        use DatePrecision as P;
        // The date, how precise it is, and another date that it may be: or may not.
        let cases = [
            ("1204", P::Exact, "1204-07-01", true),
            ("1204", P::Exact, "1205", false),
            ("1204-03-15", P::Exact, "1204-03", true),
            ("1204-03-15", P::Exact, "1204-03-16", false),
            ("1204-03-15", P::Day, "1204-03-16", false),
            ("1204-03-15", P::Week, "1204-03-20", true),
            ("1204-03-15", P::Week, "1204-03-25", false),
            ("1204-03-15", P::Month, "1204-03-30", true),
            ("1204-03-15", P::Month, "1204-04-01", false),
            ("1204-03-15", P::Year, "1204-12-30", true),
            ("1204-03-15", P::Year, "1203-12-30", false),
            ("1204-03-15", P::Decade, "1209", true),
            ("1204-03-15", P::Decade, "1210", false),
            ("-44-03-15", P::Decade, "-50", true),
            ("-44-03-15", P::Decade, "-40", false),
            ("1204-03-15", P::Approximate, "1204-03-01", true),
            ("1204-03", P::Approximate, "1204-11", true),
            ("1204", P::Approximate, "1201", true),
            ("1204", P::Approximate, "1199", false),
        ];
        for (written, precision, other, overlaps) in cases {
            let span = date(written).span_with(precision).unwrap();
            assert_eq!(span.overlaps(date(other).span()), overlaps, "{written} {precision:?} {other}");
            assert!(span.overlaps(date(written).span()), "{written} {precision:?}");
        }
        assert_eq!(date("1204").span_with(P::Unknown), None);
    }

    #[test]
    fn days_are_in_order_across_years_and_calendars() {
        let dates =
            ["-44", "-44-03", "-43-01-01", "0-12-31", "1-01-01", "1204-02-999", "1204-03-01", "1204-99", "1205"];
        let keys: Vec<DayKey> = dates.iter().map(|text| date(text).span().first).collect();
        assert!(keys.is_sorted_by(|one, other| one < other), "{keys:?}");
    }
}
