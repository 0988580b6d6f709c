//! An edit of the Markdown keeps the HTML of everything else, byte by byte.

use skald_markup::{Entry, entry_from_html, update_entry};

const SUMMERNOTE: &str = "<p style=\"text-align: center;\"><b>The Inn</b>&nbsp;of\n  <i>Two</i> Moons</p><p><br></p>\r\n\
<p>Owner: <a href=\"#\" class=\"mention\" data-mention=\"[character:12]\" data-name=\"Ann\">Ann</a>.</p>\
<table class=\"table table-bordered\"><tbody><tr><td>a</td><td>b<br></td></tr></tbody></table>\n\n\
<ul><li>ale</li><li>stew</li></ul><p>Second paragraph.</p><p><img src=\"x.png\" data-gallery-id=\"5\"></p>\
<p>Unclosed one<p>Last";

const TIPTAP: &str = "<h2>Goals</h2><ul data-type=\"taskList\"><li data-checked=\"true\" data-type=\"taskItem\"><label>\
<input type=\"checkbox\" checked=\"checked\"><span></span></label><div><p>done</p></div></li></ul><p></p>\
<p>Edit me.</p><ul><li><p>one</p></li><li><p>two</p></li></ul>\
<table style=\"min-width: 25px;\"><colgroup><col style=\"min-width: 25px;\"></colgroup><tbody><tr><th colspan=\"1\" rowspan=\"1\">\
<p>H</p></th></tr><tr><td colspan=\"1\" rowspan=\"1\"><p>x|y</p></td></tr></tbody></table><p>The end.</p>";

fn updated(old: &Entry, from: &str, to: &str) -> String {
    assert!(old.markdown.contains(from), "{:?}", old.markdown);
    let markdown = old.markdown.replacen(from, to, 1);
    let new = update_entry(old, &markdown).expect("the text differs");
    assert_eq!(new.markdown, markdown);
    new.html.expect("it came as HTML")
}

#[test]
fn a_paragraph_of_a_summernote_text_changes_alone() {
    let entry = entry_from_html(SUMMERNOTE);
    let html = updated(&entry, "Second paragraph.", "Third *paragraph*.");
    assert_eq!(html, SUMMERNOTE.replace("<p>Second paragraph.</p>", "<p>Third <em>paragraph</em>.</p>\n"));
}

#[test]
fn a_paragraph_of_a_tiptap_text_changes_alone() {
    let entry = entry_from_html(TIPTAP);
    let html = updated(&entry, "Edit me.", "Edited.");
    assert_eq!(html, TIPTAP.replace("<p>Edit me.</p>", "<p>Edited.</p>\n"));
}

#[test]
fn every_block_can_change_alone() {
    for source in [SUMMERNOTE, TIPTAP] {
        let entry = entry_from_html(source);
        // Items of a list with blank lines are one block.
        let marked = entry.markdown.replace("\n\n- two", "\n\u{0}- two");
        let whole: Vec<String> = marked.split("\n\n").map(|block| block.replace('\0', "\n")).collect();
        let blocks: Vec<&str> = whole.iter().map(String::as_str).collect();
        for index in 0..blocks.len() {
            let mut changed = blocks.clone();
            changed[index] = "Something else.";
            let html = update_entry(&entry, &changed.join("\n\n")).unwrap().html.unwrap();
            // What stands before and after the changed block is there, unchanged.
            let place = html.find("<p>Something else.</p>\n").unwrap();
            assert!(source.starts_with(&html[..place]), "{index}: {html}");
            let rest = &html[place + "<p>Something else.</p>\n".len()..];
            assert!(source.ends_with(rest), "{index}: {html}");
            assert!(place + rest.len() + 300 > source.len(), "{index}: {html}");
        }
    }
}

#[test]
fn blocks_can_be_added_removed_and_moved() {
    let entry = entry_from_html("<p>a </p><p>b<b> </b></p><p>c\n</p>");
    let html = |markdown: &str| update_entry(&entry, markdown).unwrap().html.unwrap();
    assert_eq!(entry.markdown, "a\n\nb\n\nc");
    assert_eq!(html("a\n\nc"), "<p>a </p><p>c\n</p>");
    assert_eq!(html("new\n\na\n\nb\n\nc"), "<p>new</p>\n<p>a </p><p>b<b> </b></p><p>c\n</p>");
    assert_eq!(html("c\n\nb\n\na"), "<p>c\n</p><p>b<b> </b></p><p>a </p>");
    assert_eq!(html(""), "");
}

#[test]
fn the_same_text_is_no_change() {
    let entry = entry_from_html(TIPTAP);
    assert_eq!(update_entry(&entry, &entry.markdown), None);
    assert_eq!(update_entry(&entry, &entry.markdown.replace('\n', "\r\n")), None);
    assert_eq!(update_entry(&entry, &format!("{}\n", entry.markdown)), None);
}

#[test]
fn a_text_that_was_never_html_gets_none() {
    let entry = Entry { markdown: "a".to_owned(), html: None };
    assert_eq!(update_entry(&entry, "b\r\nc"), Some(Entry { markdown: "b\nc".to_owned(), html: None }));
}

#[test]
fn markdown_of_another_converter_still_finds_its_html() {
    // Written with other markers and escapes than this converter has.
    let html = "<h2>Goals</h2><ul><li>a</li><li>b</li></ul><p>x <b>y</b></p>";
    let entry = Entry { markdown: "Goals\n---\n\n* a\n* b\n\nx __y__".to_owned(), html: Some(html.to_owned()) };
    let new = update_entry(&entry, "Goals\n---\n\n* a\n* b\n\nx __y__\n\nmore").unwrap();
    assert_eq!(new.html.unwrap(), format!("{html}<p>more</p>\n"));
}

#[test]
fn a_changed_link_definition_changes_the_block_that_uses_it() {
    let html = "<p><a href=\"https://a.org\">x</a></p><p>y</p>";
    let entry = Entry { markdown: "[x][l]\n\ny\n\n[l]: https://a.org".to_owned(), html: Some(html.to_owned()) };
    let new = update_entry(&entry, "[x][l]\n\ny\n\n[l]: https://b.org").unwrap();
    assert_eq!(new.html.unwrap(), "<p><a href=\"https://b.org\">x</a></p>\n<p>y</p>");
}

#[test]
fn markdown_between_html_tags_stays_between_them() {
    let entry = entry_from_html("<p>a</p>");
    let first = update_entry(&entry, "a\n\n<div>\n\n*b*\n\n</div>\n\nc").unwrap();
    assert_eq!(first.html.as_deref(), Some("<p>a</p><div>\n<p><em>b</em></p>\n</div>\n<p>c</p>\n"));
    let second = update_entry(&first, "a\n\n<div>\n\n*b*\n\n</div>\n\nd").unwrap();
    assert_eq!(second.html.as_deref(), Some("<p>a</p><div>\n<p><em>b</em></p>\n</div>\n<p>d</p>\n"));
}

#[test]
fn converted_blocks_are_kept_by_the_next_edit() {
    let entry = entry_from_html(SUMMERNOTE);
    let first = update_entry(&entry, &entry.markdown.replace("Second", "Third")).unwrap();
    let second = update_entry(&first, &first.markdown.replace("Third", "Second")).unwrap();
    assert_eq!(second.html.unwrap(), SUMMERNOTE.replace("<p>Second paragraph.</p>", "<p>Second paragraph.</p>\n"));
}
