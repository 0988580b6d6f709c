//! Tests of `sanitize_html`: which elements and attributes of foreign HTML are shown, and which are removed.

use skald_markup::{markdown_to_html, sanitize_html, sanitize_page_html};

#[test]
fn nothing_active_is_left() {
    let texts = [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<a href=\"javascript:alert(1)\">x</a>",
        "<style>p{}</style>",
        "<p style=\"background:url(//x)\">x</p>",
        "<p hx-get=\"/x\" data-hx-get=\"/x\" x-data=\"{}\" data-x=\"1\">x</p>",
        "<form action=\"/x\"><button>x</button><input name=\"a\" value=\"b\"></form>",
        "<input type=\"text\" name=\"a\">",
        "<iframe src=\"https://evil.org/x\"></iframe>",
        "<iframe srcdoc=\"<script>alert(1)</script>\"></iframe>",
        "<iframe src=\"https://www.youtube.com.evil.org/embed/x\"></iframe>",
        "<iframe src=\"https://www.youtube.com@evil.org/embed/x\"></iframe>",
        "<iframe src=\"https://www.google.com/url?q=x\"></iframe>",
        "<iframe src=\"https://evil.org\\@www.youtube.com/embed/\"></iframe>",
        "<object data=\"x\"></object><embed src=\"x\">",
        "<svg><script>alert(1)</script></svg>",
        "<svg onload=alert(1)>",
        "<math><mi xlink:href=\"javascript:alert(1)\">",
        "<base href=\"//evil\">",
        "<meta http-equiv=refresh content=\"0\">",
        "<a href=\"data:text/html,x\">x</a>",
        "<img src=\"data:image/svg+xml,x\">",
        "<video src=x autoplay></video>",
        "<div class=\"modal fixed\" id=\"login\" name=\"x\">x</div>",
        "<a href=\"vbscript:x\">x</a>",
        "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">",
        "<template><script>x</script></template>",
        "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=alert(1)&gt;\">",
        "<select><option>x</option></select><textarea>x</textarea>",
        "<body onload=x>",
        "<link rel=stylesheet href=x>",
    ];
    for text in texts {
        let shown = sanitize_html(text).to_lowercase();
        let forbidden = [
            "<script",
            "onerror=",
            "onload=",
            "javascript:",
            "vbscript:",
            "<style",
            "style=",
            "hx-",
            "x-data",
            "data-",
            "<form",
            "<button",
            "name=",
            "<iframe",
            "srcdoc",
            "<object",
            "<embed",
            "<svg",
            "<math",
            "<base",
            "<meta",
            "data:",
            "<video",
            "class=",
            "id=",
            "<template",
            "<select",
            "<textarea",
            "<body",
            "<link",
            "<noscript",
        ];
        // Escaped text is no markup.
        let markup = shown.replace("&lt;img src=1 onerror=alert(1)&gt;", "");
        for word in forbidden {
            assert!(!markup.contains(word), "{text} is shown as {shown}");
        }
        assert!(!shown.contains("type=\"text\""), "{shown}");
    }
}

#[test]
fn what_markdown_makes_is_shown() {
    let markdown = "# a\n\n| x | y |\n| :-: | --- |\n| 1 | 2 |\n\n- [x] done\n\n```rust\nx\n```\n\n[l](https://x.org) ![p](https://x.org/p.png) ~~s~~\n\n<details open><summary>s</summary>t</details>\n\n<u>u</u> <sup>1</sup>";
    let shown = sanitize_html(&markdown_to_html(markdown));
    for part in [
        "<h1>a</h1>",
        "<th align=\"center\">x</th>",
        "type=\"checkbox\"",
        "checked=\"\"",
        "disabled=\"\"",
        "<code class=\"language-rust\">",
        "href=\"https://x.org\"",
        "rel=\"noopener noreferrer nofollow\"",
        "<img src=\"https://x.org/p.png\" alt=\"p\">",
        "<del>s</del>",
        "<details open=\"\"><summary>s</summary>t</details>",
        "<u>u</u> <sup>1</sup>",
    ] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
}

#[test]
fn frames_of_known_hosts_are_boxed_in() {
    let shown = sanitize_html("<iframe src=\"https://www.youtube.com/embed/x\" onload=\"x\" width=\"5\"></iframe>");
    assert!(shown.contains("src=\"https://www.youtube.com/embed/x\"") && shown.contains("sandbox=\""), "{shown}");
    assert!(!shown.contains("onload"));
}

#[test]
fn a_checkbox_cannot_be_used() {
    assert!(sanitize_html("<input type=\"checkbox\">").contains("disabled"));
}

#[test]
fn html_that_is_too_complex_is_shown_as_text() {
    let shown = sanitize_html(&"<div onclick=x>".repeat(2000));
    assert!(!shown.contains('<') && shown.contains("&lt;div onclick=x&gt;"));
}

#[test]
fn sanitising_twice_changes_nothing() {
    let html = "<p>a &amp; b &lt;c&gt;</p><table><tbody><tr><td align=\"left\">x</td></tr></tbody></table><a href=\"https://x.org/?a=1&amp;b=2\">l</a>";
    let once = sanitize_html(html);
    assert_eq!(sanitize_html(&once), once);
}

#[test]
fn nothing_that_a_page_acts_on_is_left() {
    let texts = [
        "<p hx-get=/x hx-trigger=load data-hx-post=/x hx-on:click=x ws-connect=/x>x</p>",
        "<hx-partial hx-target=\"#main\">x</hx-partial>",
        "<p style=\"position:fixed\" class=\"menu\" id=\"main\" onclick=x ONMOUSEOVER=x>x</p>",
        "<form action=/sign-out method=post><button formaction=/x>x</button><input type=checkbox form=x></form>",
        "<iframe src=\"https://www.youtube.com/embed/x\"></iframe>",
        "<img src=\"https://elsewhere.example/x.png\" srcset=x onerror=x alt=\"&lt;script&gt;\">",
        "<img src=\"javascript:alert(1)\" alt=x>",
        "<font color=red face=x>x</font>",
        "<svg><a href=\"javascript:x\"><script>x</script></a></svg>",
        "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=alert(1)&gt;\">",
        "[x](javascript:alert(1)) ![x](data:image/svg+xml,x) <script>x</script>",
        "<dialog open>x</dialog><meta http-equiv=refresh content=0><base href=//x><link rel=stylesheet href=x>",
    ];
    for text in texts {
        for shown in [sanitize_page_html(text), sanitize_page_html(&markdown_to_html(text))] {
            let tags: String =
                shown.split('<').skip(1).filter_map(|tag| tag.split_once('>')).map(|(tag, _)| tag).collect();
            let forbidden = [
                "hx-",
                "data-",
                "ws-",
                "style",
                "class",
                "id=",
                "onclick",
                "onmouse",
                "onerror",
                "form",
                "button",
                "input",
                "iframe",
                "img",
                "font",
                "svg",
                "math",
                "script",
                "javascript",
                "dialog",
                "meta",
                "base",
                "link ",
                "src",
            ];
            for word in forbidden {
                assert!(!tags.to_lowercase().contains(word), "{word} of {text} is in {shown}");
            }
        }
    }
}

#[test]
fn a_page_has_links_for_pictures_and_lower_headings() {
    let shown =
        sanitize_page_html(&markdown_to_html("# Big\n\n![A map](https://x.example/m.png)\n\n- [x] done\n- [ ] open"));
    assert!(shown.contains("<h2>Big</h2>"), "{shown}");
    let headings = sanitize_page_html("<h4>a</h4><h6>b</h6><h1>c</h1><h2>d</h2>");
    assert_eq!(headings, "<h2>a</h2><h3>b</h3><h2>c</h2><h2>d</h2>");
    assert!(shown.contains("href=\"https://x.example/m.png\"") && shown.contains(">A map</a>"), "{shown}");
    assert!(shown.contains("☑ ") && shown.contains("☐ "), "{shown}");
    assert_eq!(
        sanitize_page_html("<a href=\"/c/1/lore/2\">x</a>"),
        "<a href=\"/c/1/lore/2\" rel=\"noopener noreferrer nofollow\">x</a>"
    );
}
