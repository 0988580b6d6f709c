//! Compares printed output with the sample on a page by its shape: numbers, ids, hashes and times may differ.

/// The lines of a sample that the output does not have, in the order of the sample.
pub(super) fn missing_lines<'a>(sample: &'a str, output: &str) -> Vec<&'a str> {
    let output: Vec<Vec<&str>> = output.lines().map(|line| line.split_whitespace().collect()).collect();
    let mut next = 0;
    let mut missing = Vec::new();
    for line in sample.lines().filter(|line| !line.trim().is_empty()) {
        let wanted: Vec<&str> = line.split_whitespace().collect();
        match output.iter().skip(next).position(|given| is_same_shape(&wanted, given)) {
            Some(found) => next += found + 1,
            None => missing.push(line),
        }
    }
    missing
}

/// Whether the words are those of the sample. `…` stands for the rest of a word, and of the line if it is the last word.
fn is_same_shape(sample: &[&str], given: &[&str]) -> bool {
    match (sample.split_first(), given.split_first()) {
        (None, None) | (Some((&"…", [])), _) => true,
        (Some((wanted, sample)), Some((word, given))) => match wanted.split_once('…') {
            Some((beginning, _)) => word.starts_with(beginning) && (sample.is_empty() || is_same_shape(sample, given)),
            None => shape(wanted) == shape(word) && is_same_shape(sample, given),
        },
        _ => false,
    }
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// A word without what differs from run to run: a long name with digits is `ID`, other digits are one `0`, and every month is
/// the same.
fn shape(word: &str) -> String {
    if MONTHS.contains(&word) {
        return "MONTH".to_owned();
    }
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    let mut shape = String::new();
    for part in word.split_inclusive(|letter| !is_name(letter)) {
        let (name, mark) = part.split_at(part.trim_end_matches(|letter| !is_name(letter)).len());
        if name.len() >= 12 && name.chars().any(|letter| letter.is_ascii_digit()) {
            shape.push_str("ID");
        } else {
            let mut is_digit = false;
            for letter in name.chars() {
                if !letter.is_ascii_digit() {
                    shape.push(letter);
                } else if !is_digit {
                    shape.push('0');
                }
                is_digit = letter.is_ascii_digit();
            }
        }
        shape.push_str(mark);
    }
    shape
}

#[test]
fn a_sample_is_compared_by_shape() {
    let output =
        "accepted: a -> b, revision 12, evt-7ny22y6dntku99\nroot 8966c2f8084225d234590988a863fa59\n20:15 done\n";
    assert!(missing_lines("accepted: a -> b, revision 2, evt-…\nroot 1234567890ab\n09:00 done", output).is_empty());
    assert_eq!(missing_lines("accepted: a -> c, revision 2, evt-…", output), ["accepted: a -> c, revision 2, evt-…"]);
    assert_eq!(missing_lines("09:00 done\naccepted: …", output), ["accepted: …"], "in this order");
    assert!(missing_lines("3 May 2026", "18 November 2026").is_empty());
    assert_eq!(missing_lines("20:15 done today", output), ["20:15 done today"]);
}
