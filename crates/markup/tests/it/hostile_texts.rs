//! Any text, in time linear in it, without a panic and without a stack overflow.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use skald_markup::{
    entry_from_html, html_to_markdown, markdown_to_html, mentioned_ids, mentions, plain_text, replace_mentions,
    replace_wiki_links, sanitize_html, snippet, update_entry,
};

use crate::html_tokens::html_tokens;

fn run_all(text: &str) {
    let html = markdown_to_html(text);
    let _ = html_to_markdown(text);
    let _ = html_to_markdown(&html);
    let _ = sanitize_html(text);
    let _ = sanitize_html(&html);
    let _ = mentions(text);
    let _ = mentioned_ids(text);
    assert_eq!(replace_mentions(text, |_| None), text);
    assert_eq!(replace_wiki_links(text, |_| None), text);
    let _ = replace_wiki_links(text, |_| Some(1));
    let plain = plain_text(text);
    let _ = snippet(&plain, &["a".to_owned(), "ß".to_owned(), String::new()], 40, str::to_lowercase);
    let entry = entry_from_html(text);
    let longer = update_entry(&entry, &format!("{}\n\nmore", entry.markdown)).and_then(|entry| entry.html);
    assert!(longer.is_some_and(|html| html.contains("more")));
}

/// A debug build on a busy machine: far above what linear work takes, far below what quadratic work would.
const MOST: Duration = Duration::from_mins(1);

fn assert_quick(name: &str, text: &str) {
    let start = Instant::now();
    run_all(text);
    let taken = start.elapsed();
    assert!(taken < MOST, "{name} of {} bytes took {taken:?}", text.len());
}

#[test]
fn deep_nesting() {
    for marker in [
        ">",
        "> ",
        "- ",
        "1. ",
        "* ",
        "> - ",
        "[",
        "![",
        "(",
        "**",
        "*a _b ",
        "<div>",
        "<b>",
        "<b id=1><i>",
        "<ul><li>",
        "<blockquote>",
        "<table><tr><td>",
        "<a href=x>",
        "<span>",
        "<p><b>",
        "<svg>",
        "<template>",
        "<details><summary>",
    ] {
        assert_quick(marker, &format!("{}x", marker.repeat(10_000)));
    }
    let closed = format!("{}x{}", "<div>".repeat(10_000), "</div>".repeat(10_000));
    assert_quick("closed", &closed);
    let quotes = format!("{}x{}", "<blockquote>".repeat(300), "</blockquote>".repeat(300));
    assert_quick("quotes", &quotes);
    let lists = format!("{}x{}", "<ul><li>".repeat(200), "</li></ul>".repeat(200));
    assert_quick("lists", &lists);
    assert_quick("bold", &format!("{}x{}", "<b><i>".repeat(200), "</i></b>".repeat(200)));
}

#[test]
fn deep_html_is_kept() {
    for (open, close) in
        [("<blockquote>", "</blockquote>"), ("<ul><li>", "</li></ul>"), ("<b><i>", "</i></b>"), ("<div>", "</div>")]
    {
        let html = format!("{}x{}", open.repeat(100), close.repeat(100));
        let back = markdown_to_html(&html_to_markdown(&html));
        assert!(back.contains('x'), "{back}");
        let count = |text: &str, tag: &str| html_tokens(text).iter().filter(|token| token.starts_with(tag)).count();
        if open != "<b><i>" {
            assert_eq!(count(&back, open.split('>').next().unwrap()), 100, "{back}");
        }
    }
    let deep = format!("{}x{}", "<div>".repeat(5_000), "</div>".repeat(5_000));
    assert!(markdown_to_html(&html_to_markdown(&deep)).contains(&deep));
}

#[test]
fn a_megabyte_of_brackets() {
    let text = "[".repeat(1_000_000);
    let start = Instant::now();
    let html = markdown_to_html(&text);
    assert!(html.contains(&text));
    assert!(sanitize_html(&html).contains(&text));
    assert_eq!(plain_text(&text), text);
    assert_eq!(mentions(&text), []);
    assert_eq!(replace_wiki_links(&text, |_| Some(1)), text);
    let markdown = html_to_markdown(&text);
    assert_eq!(markdown.len(), 2 * text.len());
    assert!(start.elapsed() < MOST, "{:?}", start.elapsed());
}

#[test]
fn many_wiki_link_starts() {
    let text = "[[".repeat(100_000);
    let start = Instant::now();
    assert_eq!(replace_wiki_links(&text, |_| Some(1)), text);
    let text = "[[a]]".repeat(40_000);
    assert_eq!(replace_wiki_links(&text, |_| Some(1)), "[entity:1]".repeat(40_000));
    let text = "[[a|".repeat(50_000);
    assert_eq!(replace_wiki_links(&text, |_| Some(1)), text);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn long_runs_of_one_thing() {
    let parts = [
        "]",
        "`",
        "` ",
        "*",
        "_",
        "*a",
        "**a** ",
        "~",
        "<",
        "<a",
        "<!--",
        "<a b",
        "&",
        "&amp",
        "|",
        "\\",
        "[a](",
        "[a]",
        "![a](b)",
        "{attribute:",
        "[entity:1|",
        "[entity:1]",
        "<b>x</b>",
        "<br>",
        "<p>",
        "<p>a",
        "</p>",
        "<td>",
        "<table>",
        "\n",
        "\n\n",
        "a\n\n",
        "- a\n",
        "> a\n",
        "# a\n",
        "|a|b|\n",
        "\u{e000}",
        "a ",
        "<b>a</b> ",
        "<i>a</i><b>b</b>",
        "<script>",
        "<textarea>",
        "<?",
        "\r\n",
        "\0",
        "ä",
        "<p><b id=1>",
        "<x a=b>",
        "<select>",
        "<frameset>",
        "<li>",
        "&nbsp;",
        "<code>`</code>",
        "```\n",
        "    a\n",
        "[a]: b\n",
        "<input type=checkbox>",
        "<p>a</p>",
        "<a href=x>a</a>",
        "<ul><li>a</ul>",
    ];
    for part in parts {
        assert_quick(part, &part.repeat(10_000 / part.len()));
    }
    assert_quick("attributes", &format!("<a {}>", (0..20_000).map(|n| format!("a{n}")).collect::<Vec<_>>().join(" ")));
    let formats = (0..2_000).map(|n| format!("<b id={n}>")).collect::<Vec<_>>().concat();
    assert_quick("reconstructed", &format!("{formats}{}", "<p>x".repeat(20_000)));
    let table = format!(
        "<table><thead><tr><th>{}</th></tr></thead><tbody>{}</tbody></table>",
        "y".repeat(50_000),
        "<tr><td>1</td></tr>".repeat(2_000)
    );
    assert!(html_to_markdown(&table).len() < 2 * table.len());
    assert_quick("deep and blank", &format!("{}a{}", "- ".repeat(20_000), "\n".repeat(60_000)));
}

#[test]
fn time_grows_with_length() {
    // Twice the text may take four times as long before this fails: quadratic work would take sixteen times.
    for part in ["[", "<b>x</b>", "[[", "<p>a</p>", "a *b* [entity:1|c]\n\n", "> - a\n", "`", "<div>"] {
        let time = |count: usize| {
            let text = part.repeat(count / part.len());
            let measured = (0..3).map(|_| {
                let start = Instant::now();
                run_all(&text);
                start.elapsed()
            });
            measured.min().unwrap()
        };
        let (short, long) = (time(8_000), time(32_000));
        assert!(long < short * 14 + Duration::from_millis(200), "{part:?}: {short:?} and {long:?}");
    }
}

fn fragment() -> impl Strategy<Value = String> {
    let parts = prop::sample::select(vec![
        "a",
        " ",
        "\n",
        "\n\n",
        "*",
        "**",
        "_",
        "~~",
        "`",
        "```\n",
        "#",
        "# ",
        "- ",
        "1. ",
        "> ",
        "    ",
        "|",
        "| --- |\n",
        "[",
        "]",
        "(",
        ")",
        "!",
        "\\",
        "&amp;",
        "&",
        "<",
        ">",
        "<p>",
        "</p>",
        "<br>",
        "<b>",
        "</b>",
        "<i>",
        "</i>",
        "<ul>",
        "<li>",
        "</li>",
        "</ul>",
        "<table>",
        "<tr>",
        "<td>",
        "<th>",
        "</table>",
        "<code>",
        "</code>",
        "<pre>",
        "</pre>",
        "<div>",
        "</div>",
        "<a href=\"x\">",
        "</a>",
        "<!--",
        "-->",
        "<img src=x>",
        "<input type=checkbox>",
        "<blockquote>",
        "</blockquote>",
        "<h1>",
        "</h1>",
        "<hr>",
        "[entity:1|",
        "[entity:1]",
        "{attribute:2}",
        "[[",
        "]]",
        "[x] ",
        "\u{e000}",
        "\u{a0}",
        "ä",
        "x",
        "1",
        ".",
        "-",
        "=",
        ":",
        "<script>",
        "</script>",
        "<span style=\"x\">",
        "</span>",
        "<details>",
        "<summary>",
        "</details>",
        "\t",
        "\r\n",
        "<iframe>",
        "<svg>",
        "<template>",
        "http://a.b",
    ]);
    prop::collection::vec(parts, 0..40).prop_map(|parts| parts.concat())
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: 400, failure_persistence: None, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn arbitrary_text_never_panics(text in "\\PC{0,200}") {
        run_all(&text);
    }

    #[test]
    fn arbitrary_markup_never_panics(text in fragment()) {
        run_all(&text);
    }

    /// HTML that came from Markdown is stable, whatever the Markdown is. The first time does not count: tag soup
    /// becomes a tree that no HTML stands for, so that even a browser reads its own HTML otherwise.
    #[test]
    fn html_of_any_markup_is_stable(text in fragment()) {
        let again = |html: &str| markdown_to_html(&html_to_markdown(html));
        let html = again(&again(&text));
        prop_assert_eq!(html_tokens(&again(&html)), html_tokens(&html), "{:?} {:?}", text, html);
    }

    /// The HTML of an edited entry means what its Markdown means, whatever the HTML was.
    #[test]
    fn edited_entries_mean_their_markdown(text in fragment()) {
        let old = entry_from_html(&text);
        let new = update_entry(&old, &format!("first\n\n{}\n\nlast", old.markdown)).expect("the text differs");
        let html = new.html.expect("it came as HTML");
        let words = |html: &str| plain_text(&html_to_markdown(html)).split_whitespace().collect::<Vec<_>>().join(" ");
        let shown = words(&html);
        prop_assert!(shown.starts_with("first") && shown.ends_with("last"), "{:?} {:?}", text, html);
        prop_assert_eq!(shown, words(&markdown_to_html(&new.markdown)), "{:?} {:?}", text, html);
    }

    #[test]
    fn sanitised_html_has_no_script(text in fragment()) {
        let shown = sanitize_html(&text);
        prop_assert!(!shown.contains("<script") && !shown.contains("style="), "{}", shown);
    }

    #[test]
    fn plain_words_are_not_lost(words in prop::collection::vec("[a-z]{3,8}", 1..8), noise in fragment()) {
        let html = format!("<p>{}</p>{noise}", words.join(" <i>and</i> "));
        let back = plain_text(&html_to_markdown(&html));
        for word in &words {
            prop_assert!(back.contains(word.as_str()), "{} in {}", word, back);
        }
    }
}
