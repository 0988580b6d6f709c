//! Makes HTML safe to show: an allow-list of elements and attributes. No script, style, form, event handler or
//! attribute that a page's own code acts on; frames only of known hosts, and on the web page none at all.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use ammonia::Builder;

use crate::html_tree::{HtmlElement, HtmlTree, NodeContent, NodeId, push_escaped_text};
use crate::simplify_table::text_alignment;

const TAGS: [&str; 62] = [
    "a",
    "abbr",
    "b",
    "big",
    "blockquote",
    "br",
    "caption",
    "cite",
    "code",
    "col",
    "colgroup",
    "dd",
    "del",
    "details",
    "div",
    "dl",
    "dt",
    "em",
    "figcaption",
    "figure",
    "font",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "i",
    "iframe",
    "img",
    "input",
    "ins",
    "label",
    "li",
    "mark",
    "ol",
    "p",
    "pre",
    "q",
    "s",
    "small",
    "span",
    "strike",
    "strong",
    "sub",
    "summary",
    "sup",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "tr",
    "u",
    "ul",
    "wbr",
    "var",
    "kbd",
    "samp",
    "section",
];
/// Elements that go with all that is in them.
const DROPPED_TAGS: [&str; 13] = [
    "script",
    "style",
    "textarea",
    "select",
    "noscript",
    "template",
    "title",
    "svg",
    "math",
    "xmp",
    "noembed",
    "noframes",
    "plaintext",
];
/// Hosts whose pages may be embedded, each with the start that the path must have.
const EMBED_HOSTS: [(&str, &str); 19] = [
    ("www.youtube.com", "/embed/"),
    ("youtube.com", "/embed/"),
    ("www.youtube-nocookie.com", "/embed/"),
    ("player.vimeo.com", "/video/"),
    ("open.spotify.com", "/embed"),
    ("w.soundcloud.com", "/player"),
    ("docs.google.com", "/"),
    ("drive.google.com", "/"),
    ("calendar.google.com", "/"),
    ("maps.google.com", "/"),
    ("www.google.com", "/maps/"),
    ("www.dndbeyond.com", "/"),
    ("aonprd.com", "/"),
    ("www.aonprd.com", "/"),
    ("2e.aonprd.com", "/"),
    ("bandcamp.com", "/EmbeddedPlayer/"),
    ("www.openstreetmap.org", "/export/embed.html"),
    ("player.twitch.tv", "/"),
    ("watabou.github.io", "/"),
];

const TEXT_BYTES_MAX: usize = 4096;
/// No address and no title is longer.
const ATTRIBUTE_BYTES_MAX: usize = 8192;

/// Elements that the web page shows otherwise: its policy loads nothing from elsewhere.
const NOT_ON_PAGE: [&str; 4] = ["iframe", "img", "input", "font"];

const HEADINGS: [&str; 5] = ["h2", "h3", "h4", "h5", "h6"];

static BUILDER: LazyLock<Builder<'static>> = LazyLock::new(builder);
static PAGE_BUILDER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut builder = builder();
    builder.rm_tags(NOT_ON_PAGE);
    builder
});

/// HTML that is safe to show. HTML that is too complex to look into is shown as text.
pub fn sanitize_html(html: &str) -> String {
    let Ok(mut tree) = HtmlTree::parse(html) else {
        let mut text = String::with_capacity(html.len());
        push_escaped_text(&mut text, html);
        return text;
    };
    prepare(&mut tree);
    BUILDER.clean(&tree.children_to_html(tree.root)).to_string()
}

/// HTML as a part of the web page: safe to show, with links in place of pictures and frames, ticks in place of
/// checkboxes, and headings below the page's own title, none more than one level below the one before it.
pub fn sanitize_page_html(html: &str) -> String {
    let Ok(mut tree) = HtmlTree::parse(html) else { return sanitize_html(html) };
    prepare(&mut tree);
    replace_for_page(&mut tree);
    PAGE_BUILDER.clean(&tree.children_to_html(tree.root)).to_string()
}

fn replace_for_page(tree: &mut HtmlTree) {
    // The title of the page.
    let mut level = 1;
    for id in tree.descendants(tree.root) {
        let Some(element) = tree.element(id) else { continue };
        match &*element.name {
            "img" | "iframe" => {
                let address = element.attribute("src").unwrap_or_default().trim().to_owned();
                let name = element.attribute("alt").or(element.attribute("title")).unwrap_or_default().trim();
                let name = if name.is_empty() { address.clone() } else { name.to_owned() };
                let text = tree.add(NodeContent::Text(name), Vec::new());
                let mut link = HtmlElement::new("a");
                link.attributes.push(("href".to_owned(), address));
                let node = tree.node_mut(id);
                node.content = NodeContent::Element(link);
                node.children = vec![text];
            }
            "input" => {
                let tick = if element.attribute("checked").is_some() { "☑ " } else { "☐ " };
                tree.node_mut(id).content = NodeContent::Text(tick.to_owned());
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                let own = usize::from(element.name.as_bytes()[1] - b'0');
                level = own.clamp(2, level + 1);
                if let Some(element) = tree.element_mut(id) {
                    element.name = HEADINGS[level - 2].into();
                }
            }
            _ => {}
        }
    }
}

/// Drops frames of unknown hosts and fields that are no checkboxes, says the alignment of cells without a style, and
/// cuts long texts: the serializer takes time quadratic in the `&` of one text or attribute.
fn prepare(tree: &mut HtmlTree) {
    let is_dropped = |tree: &HtmlTree, id: NodeId| match tree.element(id) {
        Some(element) if &*element.name == "iframe" => !element.attribute("src").is_some_and(is_embed_address),
        Some(element) if &*element.name == "input" => {
            !element.attribute("type").is_some_and(|kind| kind.eq_ignore_ascii_case("checkbox"))
        }
        _ => false,
    };
    let root = tree.root;
    for id in std::iter::once(root).chain(tree.descendants(root)) {
        let kept: Vec<NodeId> = tree.children(id).iter().copied().filter(|child| !is_dropped(tree, *child)).collect();
        let cut = kept.into_iter().flat_map(|child| cut_text(tree, child)).collect();
        tree.node_mut(id).children = cut;
        let Some(element) = tree.element_mut(id) else { continue };
        element.attributes.retain(|(_, value)| value.len() <= ATTRIBUTE_BYTES_MAX);
        if &*element.name == "iframe" {
            tree.node_mut(id).children.clear();
            continue;
        }
        if !matches!(&*element.name, "td" | "th") {
            continue;
        }
        if let Some(word) = element.attribute("style").and_then(text_alignment) {
            element.remove_attribute("align");
            element.attributes.push(("align".to_owned(), word.to_owned()));
        }
    }
}

/// A long text as several, with comments between them that are dropped later.
fn cut_text(tree: &mut HtmlTree, id: NodeId) -> Vec<NodeId> {
    let NodeContent::Text(text) = &tree.node(id).content else { return vec![id] };
    if text.len() <= TEXT_BYTES_MAX {
        return vec![id];
    }
    let text = text.clone();
    let mut parts = Vec::new();
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (part, after) = rest.split_at(rest.floor_char_boundary(TEXT_BYTES_MAX));
        parts.push(tree.add(NodeContent::Text(part.to_owned()), Vec::new()));
        parts.push(tree.add(NodeContent::Comment(String::new()), Vec::new()));
        rest = after;
    }
    parts.pop();
    parts
}

fn is_embed_address(address: &str) -> bool {
    let Some(rest) = address.trim().strip_prefix("https://") else { return false };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let is_plain = !address.contains(['\\', '\n', '\t', '\r']);
    is_plain && EMBED_HOSTS.iter().any(|(known, start)| host == *known && path.starts_with(start))
}

fn builder() -> Builder<'static> {
    let attributes: [(&str, &[&str]); 16] = [
        ("a", &["href"]),
        ("img", &["src", "alt", "width", "height"]),
        ("iframe", &["src", "width", "height", "allowfullscreen"]),
        ("input", &["checked"]),
        ("ol", &["start", "reversed"]),
        ("li", &["value"]),
        ("td", &["colspan", "rowspan", "align"]),
        ("th", &["colspan", "rowspan", "align", "scope"]),
        ("col", &["span"]),
        ("colgroup", &["span"]),
        ("details", &["open"]),
        ("font", &["color"]),
        ("code", &["class"]),
        ("q", &["cite"]),
        ("del", &["datetime"]),
        ("ins", &["datetime"]),
    ];
    let tag_attributes: HashMap<_, HashSet<_>> =
        attributes.into_iter().map(|(tag, names)| (tag, names.iter().copied().collect())).collect();
    let sandbox = "allow-scripts allow-same-origin allow-popups allow-presentation";
    let mut builder = Builder::empty();
    builder
        .tags(TAGS.into_iter().collect())
        .clean_content_tags(DROPPED_TAGS.into_iter().collect())
        .tag_attributes(tag_attributes)
        .generic_attributes(["title", "lang", "dir"].into_iter().collect())
        .url_schemes(["http", "https", "mailto"].into_iter().collect())
        .link_rel(Some("noopener noreferrer nofollow"))
        .strip_comments(true)
        .set_tag_attribute_value("input", "type", "checkbox")
        .set_tag_attribute_value("input", "disabled", "")
        .set_tag_attribute_value("iframe", "sandbox", sandbox)
        .set_tag_attribute_value("iframe", "loading", "lazy")
        .set_tag_attribute_value("iframe", "referrerpolicy", "strict-origin-when-cross-origin")
        .attribute_filter(filter_attribute);
    builder
}

/// The language of code is the only class that stays.
fn filter_attribute<'a>(tag: &str, name: &str, value: &'a str) -> Option<Cow<'a, str>> {
    let is_language = |word: &str| {
        word.strip_prefix("language-").is_some_and(|language| {
            language.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'+' | b'#'))
        })
    };
    match (tag, name) {
        ("code", "class") => value.split_ascii_whitespace().find(|word| is_language(word)).map(Cow::Borrowed),
        ("iframe", "src") => is_embed_address(value).then_some(Cow::Borrowed(value)),
        _ => Some(Cow::Borrowed(value)),
    }
}
