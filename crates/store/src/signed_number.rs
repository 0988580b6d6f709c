//! Converts between unsigned numbers and the signed ones of databases.

pub(crate) fn to_i64(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(crate) fn to_u64(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

/// Converts a number for a 32-bit column.
pub(crate) fn to_i32(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// Converts the length of a page.
pub(crate) fn page_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// A rank and an id that sort before every document, to read from the first.
pub(crate) fn first_page_position() -> (i64, String) {
    (i64::MAX, String::new())
}
