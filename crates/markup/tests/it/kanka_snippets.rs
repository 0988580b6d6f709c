//! The snippets on which other converters were compared: Markdown to HTML to Markdown to HTML has to be stable.

use skald_markup::{html_to_markdown, markdown_to_html};

use crate::html_tokens::assert_same_html;

/// Goes there and back, checks that the HTML is the same, and answers the second Markdown.
fn round_trip(markdown: &str) -> String {
    let html = markdown_to_html(markdown);
    let again = html_to_markdown(&html);
    assert_same_html(&html, &markdown_to_html(&again), &format!("{markdown}\n=>\n{again}"));
    again
}

#[test]
fn plain_mentions() {
    assert_eq!(round_trip("Met [entity:12] and [entity:13|the duke]."), "Met [entity:12] and [entity:13|the duke].");
}

#[test]
fn markup_inside_of_a_mention() {
    let text = "[entity:1|snake_case *x*] and [character:9|snake_case _y_]";
    assert_eq!(round_trip(text), text);
    assert!(markdown_to_html(text).contains(text));
}

#[test]
fn mentions_in_headings_and_bold() {
    let text = "## About [entity:4|Ann]\n\n**[entity:4]** and *see [location:5|it]*";
    assert_eq!(round_trip(text), text);
}

#[test]
fn nested_list_of_two_spaces() {
    assert_eq!(round_trip("- a\n  - b\n    - c\n- d"), "- a\n  - b\n    - c\n- d");
}

#[test]
fn ordered_list_with_nested_bullets() {
    assert_eq!(round_trip("1. a\n   - b\n   - c\n2. d"), "1. a\n   - b\n   - c\n2. d");
}

#[test]
fn table_with_a_mention_that_has_a_pipe() {
    let text = "| who | what |\n| --- | --- |\n| [entity:4|x] | y |";
    assert_eq!(round_trip(text), text);
    assert_eq!(
        round_trip(
            r"| who | what |
| --- | --- |
| [entity:4\|x] | y |"
        ),
        text
    );
}

#[test]
fn fenced_code_with_a_language_and_a_mention() {
    let text = "```rust\nlet a = \"[entity:4|x]\";\n```";
    assert_eq!(round_trip(text), text);
}

#[test]
fn inline_code() {
    let text = "Use `a_b *c* [entity:4|x]` here";
    assert_eq!(round_trip(text), text);
}

#[test]
fn mention_before_parentheses() {
    assert_eq!(round_trip("[entity:12](text)"), "[entity:12](text)");
}

#[test]
fn literal_stars_numbers_and_signs() {
    let html = markdown_to_html(r"\*star\* 1\. & <3");
    assert!(html.contains("*star* 1. &amp; &lt;3"));
    round_trip(r"\*star\* 1\. & <3");
    round_trip(r"1\. not a list");
}

#[test]
fn quote_link_image_rule_and_strikethrough() {
    let text = "> quote\n\n[link](https://x.org \"t\") ![image](a.png)\n\n***\n\n~~x~~";
    assert_eq!(round_trip(text), text);
}

#[test]
fn frame() {
    let text = "<iframe src=\"https://www.youtube.com/embed/x\"></iframe>";
    assert_eq!(round_trip(text), text);
    round_trip("Text before <iframe src=\"https://www.youtube.com/embed/x\"></iframe> and after");
}

#[test]
fn hard_and_soft_breaks() {
    assert_eq!(round_trip("a  \nb\nc"), "a\\\nb\nc");
}

#[test]
fn adjacent_mentions() {
    assert_eq!(round_trip("[entity:1][entity:2]{attribute:3}[post:4]"), "[entity:1][entity:2]{attribute:3}[post:4]");
}

#[test]
fn raw_html_passes() {
    assert_eq!(markdown_to_html("<u>x</u> **y**"), "<p><u>x</u> <strong>y</strong></p>\n");
}

#[test]
fn mention_labels_are_text() {
    assert_eq!(markdown_to_html("[entity:1|A & <b>]"), "<p>[entity:1|A &amp; &lt;b&gt;]</p>\n");
    assert_eq!(round_trip("[entity:1|A & <b>]"), "[entity:1|A & <b>]");
    assert_eq!(
        markdown_to_html("<div title=\"[entity:1|A &amp; B]\">x</div>"),
        "<div title=\"[entity:1|A &amp; B]\">x</div>"
    );
}

#[test]
fn mentions_stay_themselves_in_links_and_attributes() {
    round_trip("[see [entity:1]](https://x.org/[entity:1|a])");
    round_trip("![alt [entity:1|b]](x.png \"title [entity:2]\")");
    round_trip("<span title=\"[entity:1|a b]\">x</span>");
}

#[test]
fn private_use_letters_survive() {
    let text = "a \u{e000}\u{e010}\u{e001} [entity:1] \u{e000} b";
    assert_eq!(markdown_to_html(text), format!("<p>{text}</p>\n"));
    assert_eq!(round_trip(text), text);
}

#[test]
fn wiki_links_stay_readable() {
    assert_eq!(round_trip("[[The Inn]] and [[The Inn|it]]"), "[[The Inn]] and [[The Inn|it]]");
    assert_eq!(round_trip("| a |\n| --- |\n| [[The Inn\\|it]] |"), "| a |\n| --- |\n| [[The Inn\\|it]] |");
}
