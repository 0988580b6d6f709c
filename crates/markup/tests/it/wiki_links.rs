//! Wiki links become mentions.

use skald_markup::{WikiLink, replace_wiki_links};

fn replaced(text: &str) -> String {
    replace_wiki_links(text, |link| match link.name.as_str() {
        "Ann" => Some(1),
        "The Inn" => Some(2),
        "map.png" => Some(3),
        _ => None,
    })
}

#[test]
fn links_that_are_known_become_mentions() {
    assert_eq!(replaced("See [[Ann]] in [[The Inn|the *old* inn]]."), "See [entity:1] in [entity:2|the *old* inn].");
    assert_eq!(replaced("[[ Ann ]][[Ann|]]"), "[entity:1][entity:1]");
    assert_eq!(
        replaced("[[Ann#Youth]] [[Ann#^b1]] [[Ann#Youth|x]]"),
        "[entity:1|Youth] [entity:1] [entity:1|x|anchor:#Youth]"
    );
    assert_eq!(replaced("[[Ann#A [b] c|Youth]]"), "[entity:1|Youth|anchor:#A (b) c]");
    assert_eq!(replaced("![[map.png]] ![[map.png|300]] ![[map.png|a map]]"), "[entity:3] [entity:3] [entity:3|a map]");
}

#[test]
fn links_that_are_not_known_stay() {
    let text = "[[Nobody]] ![[x.png|300]] [[]] [[ ]] [[|x]] [[#Here]] [[Ann\n]] [[Ann] ] \\[[Ann]]";
    assert_eq!(replaced(text), text);
}

#[test]
fn links_in_code_stay() {
    let text = "`[[Ann]]`\n\n```\n[[Ann]]\n```\n\n    [[Ann]]";
    assert_eq!(replaced(text), text);
}

/// Guards against a table in which the `|` of a mention counted as the end of a cell, so that code after it was not seen.
#[test]
fn links_in_code_stay_beside_a_mention_in_a_table() {
    let text = "| a | b |\n| --- | --- |\n| [entity:5|x] | `[[Ann]]` |";
    assert_eq!(replaced(text), text);
    assert_eq!(replaced("[entity:5|x] [[Ann]] [entity:6] `[[Ann]]`"), "[entity:5|x] [entity:1] [entity:6] `[[Ann]]`");
}

#[test]
fn the_pipe_in_a_table_is_escaped() {
    assert_eq!(
        replaced("| a | b |\n| --- | --- |\n| [[Ann\\|A]] | [[The Inn]] |"),
        "| a | b |\n| --- | --- |\n| [entity:1|A] | [entity:2] |"
    );
}

#[test]
fn brackets_and_nesting() {
    assert_eq!(replaced("[[Ann|a ] b]]"), "[entity:1|a ) b]");
    assert_eq!(replaced("[[a [[Ann]] b]]"), "[[a [entity:1] b]]");
    assert_eq!(replaced("[[[Ann]]]"), "[[entity:1]]");
    assert_eq!(replaced("[[Ann|page:x]]"), "[entity:1|page :x]");
    assert_eq!(replaced("[[Ann|a|b]]"), "[entity:1|a/b]");
}

#[test]
fn the_resolver_sees_all_parts() {
    let mut seen: Vec<WikiLink> = Vec::new();
    let text = "x ![[Dir/File#^b|t]]";
    replace_wiki_links(text, |link| {
        seen.push(link.clone());
        None
    });
    let [link] = &seen[..] else { panic!("{seen:?}") };
    assert_eq!(&text[link.range.clone()], "![[Dir/File#^b|t]]");
    assert_eq!((link.name.as_str(), link.block.as_deref(), &link.heading), ("Dir/File", Some("b"), &None));
    assert_eq!((link.text.as_deref(), link.is_embed), (Some("t"), true));
}
