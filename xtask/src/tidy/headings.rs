//! The anchors of the headings of a Markdown page, as links write them.

use std::collections::{BTreeMap, BTreeSet};

/// Every anchor of a page. A second heading of the same words has a number behind it.
pub(super) fn anchors(page: &str) -> BTreeSet<String> {
    let (mut anchors, mut counts, mut is_code) = (BTreeSet::new(), BTreeMap::<String, usize>::new(), false);
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        let level = line.chars().take_while(|letter| *letter == '#').count();
        let Some(heading) = line.get(level..).and_then(|rest| rest.strip_prefix(' ')) else { continue };
        if is_code || !(1..=6).contains(&level) {
            continue;
        }
        let slug = slug(heading);
        let count = counts.entry(slug.clone()).or_default();
        anchors.insert(if *count == 0 { slug } else { format!("{slug}-{count}") });
        *count += 1;
    }
    anchors
}

/// The words of a heading in lower case, with hyphens between them and without other signs.
fn slug(heading: &str) -> String {
    let letters = heading.trim().chars().flat_map(char::to_lowercase);
    let kept = letters.filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

#[test]
fn headings_have_anchors() {
    let page = "# `skald roll`\n\n## Errors, and codes\n\n```sh\n# a comment\n```\n\n## Errors, and codes\n#hash\n";
    let expected = ["skald-roll", "errors-and-codes", "errors-and-codes-1"];
    assert_eq!(anchors(page), expected.map(str::to_owned).into_iter().collect());
}
