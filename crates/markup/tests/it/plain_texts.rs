//! The readable text of Markdown.

use skald_markup::{plain_text, plain_text_with_names, snippet};

#[test]
fn markup_is_gone() {
    let text = "# The *Inn*\n\nA `b_c` [link](x) ![pic](y)\\\nnew line &amp; more\nsoft\n\n- [x] a\n- b\n  - c\n\n> q\n\n***\n\n~~s~~ <u>u</u>a<br>b";
    assert_eq!(plain_text(text), "The Inn\nA b_c link pic\nnew line & more soft\na\nb\nc\nq\ns ua\nb");
}

#[test]
fn tables_code_and_raw_html_are_text() {
    assert_eq!(plain_text("| a | b |\n| --- | --- |\n| x\\|y | z |\n\nend"), "a b\nx|y z\nend");
    assert_eq!(plain_text("```rust\nlet a = 1;\n```\n\nend"), "let a = 1;\nend");
    assert_eq!(
        plain_text("<div class=\"x\"><p>a <b>b</b>c</p><p>d &amp; [entity:1|E]</p></div>\n\nend"),
        "a bc\nd & E\nend"
    );
}

#[test]
fn mentions_are_named() {
    let text = "[entity:1] [entity:2|Bob] [entity:3] `[entity:1]` [icon:fa-x] [new:item|Cup] [post:4|notes] [character:1|anchor:#x]";
    let named = plain_text_with_names(text, |id| (id == 1).then(|| "Ann_a *b*".to_owned()));
    assert_eq!(named, "Ann_a *b* Bob [entity:3] [entity:1]  Cup notes Ann_a *b*");
    assert_eq!(plain_text("[entity:1|A] met [entity:2]"), "A met [entity:2]");
}

#[test]
fn snippets_are_cut_from_it() {
    let text = format!("# Intro\n\n{}\n\nThe **Dragon** sleeps here.", "filler words ".repeat(30));
    let cut = snippet(&plain_text(&text), &["dragon".to_owned()], 60, str::to_lowercase);
    assert!(cut.starts_with('…') && cut.contains("The Dragon sleeps here."), "{cut}");
    assert!(cut.chars().count() <= 62);
}
