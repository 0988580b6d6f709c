//! Tests of the conversion of HTML by Kanka's editors to Markdown, one for each demand.

use skald_markup::{html_to_markdown, markdown_to_html};

use crate::html_tokens::assert_same_html;

fn assert_written(html: &str, markdown: &str) {
    assert_eq!(html_to_markdown(html), markdown);
    let again = markdown_to_html(markdown);
    assert_eq!(html_to_markdown(&again), markdown, "the second time, from {again}");
}

#[test]
fn demand_01_an_empty_summernote_paragraph_stays_html() {
    assert_written("<p>One</p><p><br></p><p>Two</p>", "One\n\n<p><br></p>\n\nTwo");
    assert_written("<p>One</p><p>&nbsp;</p><p></p>", "One\n\n<p>&nbsp;</p>\n\n<p></p>");
}

#[test]
fn demand_02_a_tiptap_table_becomes_a_pipe_table() {
    let html = r#"<table style="min-width: 50px;"><colgroup><col style="min-width: 25px;"><col style="min-width: 25px;"></colgroup><tbody><tr><th colspan="1" rowspan="1"><p>Name</p></th><th colspan="1" rowspan="1"><p>Role</p></th></tr><tr><td colspan="1" rowspan="1"><p>x|y</p></td><td colspan="1" rowspan="1"><p><strong>b</strong></p></td></tr></tbody></table>"#;
    assert_written(html, "| Name | Role |\n| --- | --- |\n| x\\|y | **b** |");
}

#[test]
fn demand_03_a_table_that_markdown_cannot_say_stays_html() {
    let spanning =
        r#"<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td colspan="2">c</td></tr></tbody></table>"#;
    assert_written(spanning, spanning);
    let paragraphs =
        "<table><thead><tr><th>a</th></tr></thead><tbody><tr><td><p>b</p><p>c</p></td></tr></tbody></table>";
    assert_written(paragraphs, paragraphs);
    let headless = "<table><tbody><tr><td>a</td></tr></tbody></table>";
    assert_written(headless, headless);
}

#[test]
fn demand_04_a_pipe_in_code_in_a_cell_is_escaped() {
    let html = "<table><thead><tr><th>a</th></tr></thead><tbody><tr><td><code>a|b</code></td></tr></tbody></table>";
    assert_written(html, "| a |\n| --- |\n| `a\\|b` |");
    assert_same_html(&markdown_to_html("| a |\n| --- |\n| `a\\|b` |"), html, "the pipe comes back");
}

#[test]
fn demand_05_alignment_of_columns_is_kept() {
    let markdown = "| a | b | c | d |\n| :-- | :-: | --: | --- |\n| 1 | 2 | 3 | 4 |";
    let html = markdown_to_html(markdown);
    assert!(html.contains(r#"<th style="text-align: center">"#));
    assert_written(&html, markdown);
    let attributes = html.replace(r#"style="text-align: "#, r#"align=""#);
    assert_eq!(html_to_markdown(&attributes), markdown);
}

#[test]
fn demand_06_checkboxes_keep_their_state() {
    let tiptap = r#"<ul data-type="taskList"><li data-checked="true" data-type="taskItem"><label><input type="checkbox" checked="checked"><span></span></label><div><p>done</p></div></li><li data-checked="false" data-type="taskItem"><label><input type="checkbox"><span></span></label><div><p>to do</p></div></li></ul>"#;
    assert_written(tiptap, "- [x] done\n- [ ] to do");
    assert_written(&markdown_to_html("- [x] done\n- [ ] to do"), "- [x] done\n- [ ] to do");
    assert_written(&markdown_to_html("- [x] done\n\n- [ ] to do"), "- [x] done\n\n- [ ] to do");
}

#[test]
fn demand_07_details_stay_a_raw_block() {
    let html = r#"<details open=""><summary>Secret</summary><p>The <em>duke</em> did it.</p></details>"#;
    assert_written(html, html);
    assert_written(
        "<details open><summary>S</summary>text</details>",
        r#"<details open=""><summary>S</summary>text</details>"#,
    );
}

#[test]
fn demand_08_a_rendered_mention_collapses() {
    let anchor = |text: &str, config: &str| {
        format!(
            r##"<p>See <a href="#" class="mention" data-mention="[character:12]" data-name="Ann"{config}>{text}</a>.</p>"##
        )
    };
    assert_written(&anchor("Annie", r#" data-config="anchor:#x""#), "See [character:12|Annie|anchor:#x].");
    assert_written(&anchor("Ann", ""), "See [character:12].");
    let rendered =
        r#"<p><a href="https://app.kanka.io/w/1/entities/7" class="entity-mention" data-id="7">The <b>Inn</b></a></p>"#;
    assert_written(rendered, "[entity:7|The Inn]");
    let inside_raw_html =
        r#"<div class="box"><a class="mention" data-mention="[character:12]" data-name="Ann">Ann</a></div>"#;
    assert_written(inside_raw_html, r#"<div class="box">[character:12]</div>"#);
}

#[test]
fn demand_09_mentions_are_identical_also_in_cells() {
    let text = "[character:12|Ann_x *y*] {attribute:5}";
    assert_written(&format!("<p>{text}</p>"), text);
    let cell = format!("<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>{text}</td></tr></tbody></table>");
    assert_written(&cell, &format!("| a |\n| --- |\n| {text} |"));
    assert_same_html(&markdown_to_html(&format!("| a |\n| --- |\n| {text} |")), &cell, "in a cell");
}

#[test]
fn demand_10_text_that_looks_like_markdown_is_escaped() {
    assert_written("<p>1. ~~t~~ *s*</p>", r"1\. \~\~t\~\~ \*s\*");
}

#[test]
fn demand_11_adjacent_lists_stay_apart() {
    assert_written("<ul><li>a</li></ul><ul><li>b</li></ul>", "- a\n\n<!-- -->\n\n- b");
    assert_written("<ol><li>a</li></ol><ol><li>b</li></ol>", "1. a\n\n<!-- -->\n\n1. b");
    assert_written("<ul><li>a</li></ul><ol><li>b</li></ol>", "- a\n\n1. b");
}

#[test]
fn demand_12_a_gallery_picture_keeps_its_paragraph() {
    let html = r#"<p><img src="https://x.org/a.png" data-gallery-id="7"></p>"#;
    assert_written(html, html);
    let within = r#"<p>Look: <img src="https://x.org/a.png" data-gallery-id="7"> there</p>"#;
    assert_written(within, r#"Look: <img src="https://x.org/a.png" data-gallery-id="7"> there"#);
}

#[test]
fn space_at_the_edge_of_bold_text_moves_out() {
    assert_written("<p>a<strong> b </strong>c</p>", "a **b** c");
}

#[test]
fn bare_text_gets_a_paragraph() {
    assert_written("Just <b>text</b>", "Just **text**");
    assert_written("<blockquote>quote</blockquote>", "> quote");
}

#[test]
fn what_markdown_does_not_know_survives_as_html() {
    let inline = r#"x <span style="color: red">red</span> <sup>2</sup> <u>under</u> <mark>m</mark> H<sub>2</sub>O"#;
    assert_written(&format!("<p>{inline}</p>"), inline);
    let list = "<dl><dt>a</dt><dd>b</dd></dl>";
    assert_written(list, list);
    let heading = r#"<h2 id="goals">Goals</h2>"#;
    assert_written(heading, heading);
    let aligned = r#"<p style="text-align: center;">mid</p>"#;
    assert_written(aligned, aligned);
    let frame = r#"<iframe src="https://www.youtube.com/embed/x" width="560"></iframe>"#;
    assert_written(frame, frame);
}

#[test]
fn letters_that_would_be_markup_are_escaped() {
    let texts = [
        "-",
        "---",
        "+ a",
        "# a",
        "#",
        "a #",
        "> a",
        "=",
        "1)",
        "&amp;copy; &amp;#65;",
        "a &lt;b&gt; c &lt;",
        "`x`",
        "_a_ a_b",
        "!",
        "~",
        "\\",
        "\\*",
        "[a](b)",
        "[a]: b",
        "[[a_b]]",
        "a | b",
        "| a |",
        "<u>x</u>",
        "&amp;",
        "http://a.b/_c_",
        "a<br>---",
        "a<br>===",
        "a | b<br>--- | ---",
        "a<br># b",
        "a<br>1. b",
        "a<br>- b",
        "a<br>    b",
        "Wow!<a href=\"x\">y</a>",
        "x<b>a.</b>b",
        "<b><i>x</i></b>",
        "<i><b>x</b> y</i>",
        "<b>a</b><i>b</i>",
        "a<i>b</i>c",
        "<b>[entity:1]</b>x",
        "<code>`</code> <code> </code> <code>a``b</code>",
        "<code></code>",
        "<code>a</code><code>b</code>",
        "<a href=\"a%20b(c\" title='q\"t'>l</a>",
        "<a href=\"\">l</a>",
        "<img src=\"x\" alt=\"a]b\">",
        "a&nbsp;b &nbsp;",
        "<em>a</em>b<em>c</em>",
        "x<!-- note -->y",
        "{attribute:5}* a",
        "<b>a<br>b</b>",
        "<a href=\"x\"><img src=\"y\" alt=\"\"></a>",
    ];
    for text in texts {
        for html in
            [format!("<p>{text}</p>"), format!("<ul><li>{text}</li><li>x</li></ul>"), format!("<h3>{text}</h3>")]
        {
            let markdown = html_to_markdown(&html);
            let once = markdown_to_html(&markdown);
            assert_eq!(html_to_markdown(&once), markdown, "{html}");
            let expected = html
                .replace("<b>", "<strong>")
                .replace("</b>", "</strong>")
                .replace("<i>", "<em>")
                .replace("</i>", "</em>")
                .replace("<img src=\"y\" alt=\"\">", "<img src=\"y\" alt=\"\" />");
            assert_same_html(&once, &expected, &markdown);
        }
    }
}

#[test]
fn only_what_has_to_be_html_is_html() {
    for text in
        ["-", "---", "Wow!<a href=\"x\">y</a>", "<b><i>x</i></b>", "<i>a <b>x</b></i>", "a<br>---", "&amp;copy;"]
    {
        let markdown = html_to_markdown(&format!("<p>{text}</p>"));
        assert!(!markdown.contains('<'), "{text}: {markdown}");
    }
}

#[test]
fn code_blocks_keep_their_language_and_blank_lines() {
    assert_written("<pre><code class=\"language-rust\">fn a() {\n\n}\n</code></pre>", "```rust\nfn a() {\n\n}\n```");
    assert_written("<pre><code>a ``` b\n</code></pre>", "````\na ``` b\n````");
    assert_same_html(
        &markdown_to_html(&html_to_markdown("<pre>a\n\n  b</pre>")),
        "<pre>a\n\n  b</pre>",
        "pre without code",
    );
}

#[test]
fn lists_nest() {
    assert_written("<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>", "- a\n  - b\n- c");
    assert_written("<ol start=\"3\"><li>a<ul><li>b</li></ul></li></ol>", "3. a\n   - b");
    assert_written("<ul><li><p>a</p></li><li><p>b</p></li></ul>", "- a\n\n- b");
    assert_written("<ul><li><p>a</p></li></ul>", "- a");
    assert_written("<ul><li>a</li><li></li></ul>", "- a\n-");
}

#[test]
fn a_mixed_list_stays_html() {
    let html = "<ul><li>a</li><li><p>b</p><p>c</p></li></ul>";
    assert_written(html, html);
}
