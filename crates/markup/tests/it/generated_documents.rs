//! 200 documents of all constructs that the crate supports, made from fixed seeds: Markdown to HTML to Markdown to
//! HTML, and the second HTML has to be the first.

use skald_markup::{html_to_markdown, markdown_to_html, mentions};

use crate::html_tokens::assert_same_html;

/// Xorshift: the same documents on every machine.
struct Dice(u64);

impl Dice {
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("31 bits") % count
    }

    fn pick<'a>(&mut self, items: &[&'a str]) -> &'a str {
        items[self.below(items.len())]
    }
}

const WORDS: [&str; 22] = [
    "dragon",
    "the",
    "old",
    "king",
    "Ärger",
    "snake_case",
    "100 gp",
    "it's",
    "\"quoted\"",
    "a/b",
    "x*y",
    "5 > 4",
    "& co",
    "C#",
    "1.",
    "- dash",
    "(aside)",
    "mid-word",
    "naïve",
    "日本語",
    "…",
    "e.g.",
];
const MENTIONS: [&str; 11] = [
    "[entity:12]",
    "[entity:13|the *old* duke]",
    "[character:12|Ann_x|anchor:#x]",
    "[location:7|page:map|Tower]",
    "[post:3]",
    "[post:3|notes]",
    "[icon:fa-solid fa-dragon]",
    "{attribute:5}",
    "[new:character|Bob the Bold]",
    "[dice-roll:9]",
    "[item:4|tooltip:hi & <b>|alias:9]",
];

fn word(dice: &mut Dice) -> String {
    dice.pick(&WORDS).replace('*', "\\*")
}

fn words(dice: &mut Dice, most: usize) -> String {
    let count = 1 + dice.below(most);
    (0..count).map(|_| word(dice)).collect::<Vec<_>>().join(" ")
}

/// One line of inline constructs.
fn inline(dice: &mut Dice, depth: usize) -> String {
    let count = 1 + dice.below(4);
    let mut parts = vec![format!("w{}", dice.below(100))];
    for _ in 0..count {
        let inner = if depth < 2 { inline(dice, depth + 1) } else { words(dice, 2) };
        // Emphasis in emphasis of the same kind means different things to different parsers.
        parts.push(match dice.below(18) {
            0..3 if depth > 0 => format!("_{}_", word(dice)),
            0 => format!("**{}**", inner.trim()),
            1 => format!("*{}*", inner.trim()),
            2 => format!("~~{}~~", inner.trim()),
            3 if depth == 0 => format!("***{}***", word(dice)),
            4 => format!("`{}`", dice.pick(&["code", "a_b *c*", "x", "<b>", "[entity:1|in code]"])),
            5 => "``a ` b``".to_owned(),
            6 => format!("[{}](https://x.org/{}?a=1&b=2 \"a title\")", words(dice, 2), dice.below(9)),
            7 => format!("![{}](https://x.org/p%20q.png)", words(dice, 2)),
            8 => format!("<u>{inner}</u>"),
            9 => format!("x<sup>{}</sup> H<sub>2</sub>O", dice.below(9)),
            10 => format!("<mark class=\"y\">{inner}</mark>"),
            11 => format!("<span style=\"color: #f00\">{inner}</span>"),
            12 => "<https://auto.link/x_y>".to_owned(),
            13 => "a<br>b".to_owned(),
            14 => "[[Wiki Link]]".to_owned(),
            15..17 => dice.pick(&MENTIONS).to_owned(),
            _ => words(dice, 4),
        });
        if dice.below(6) == 0 {
            let glued = dice.pick(&MENTIONS);
            let last = parts.len() - 1;
            parts[last].push_str(glued);
        }
    }
    parts.join(" ")
}

fn paragraph(dice: &mut Dice) -> String {
    let lines = 1 + dice.below(3);
    (0..lines).map(|_| inline(dice, 0)).collect::<Vec<_>>().join(dice.pick(&["\n", "\\\n", "  \n"]))
}

fn indented(text: &str, width: usize) -> String {
    text.lines()
        .enumerate()
        .map(
            |(index, line)| {
                if index == 0 || line.is_empty() { line.to_owned() } else { format!("{}{line}", " ".repeat(width)) }
            },
        )
        .collect::<Vec<_>>()
        .join("\n")
}

fn list(dice: &mut Dice, depth: usize) -> String {
    let is_ordered = dice.below(2) == 0;
    let is_loose = dice.below(4) == 0;
    let has_tasks = dice.below(3) == 0;
    let count = 2 + dice.below(3);
    let start = if dice.below(4) == 0 { 7 } else { 1 };
    let items = (0..count).map(|index| {
        let marker = if is_ordered { format!("{}. ", start + index) } else { "- ".to_owned() };
        let task = if has_tasks { dice.pick(&["[x] ", "[ ] "]) } else { "" };
        let mut item = format!("{task}{}", inline(dice, 1));
        if depth < 3 && dice.below(3) == 0 {
            let gap = if is_loose { "\n\n" } else { "\n" };
            item = format!("{item}{gap}{}", list(dice, depth + 1));
        }
        if is_loose && dice.below(4) == 0 {
            item = format!("{item}\n\n{}", block(dice, 3));
        }
        format!("{marker}{}", indented(&item, marker.len()))
    });
    items.collect::<Vec<_>>().join(if is_loose { "\n\n" } else { "\n" })
}

fn table(dice: &mut Dice) -> String {
    let columns = 1 + dice.below(4);
    let cell = |dice: &mut Dice| match dice.below(7) {
        0 => String::new(),
        1 => "x\\|y".to_owned(),
        2 => "`a\\|b`".to_owned(),
        3 => dice.pick(&MENTIONS).to_owned(),
        4 => "[entity:4\\|escaped]".to_owned(),
        _ => inline(dice, 1),
    };
    let row = |dice: &mut Dice| {
        let cells = (0..columns).map(|_| cell(dice)).collect::<Vec<_>>();
        format!("| {} |", cells.join(" | "))
    };
    let mut lines = vec![row(dice)];
    let rule = (0..columns).map(|_| dice.pick(&["---", ":--", ":-:", "--:"])).collect::<Vec<_>>();
    lines.push(format!("| {} |", rule.join(" | ")));
    for _ in 0..dice.below(4) {
        lines.push(row(dice));
    }
    lines.join("\n")
}

fn block(dice: &mut Dice, depth: usize) -> String {
    match dice.below(if depth < 2 { 14 } else { 8 }) {
        0 => format!("{} {}", "#".repeat(1 + dice.below(6)), inline(dice, 0)),
        1 => format!(
            "```{}\nlet a_b = \"*x*\";\n\n  // [entity:4|in a block] <b> & `\n```",
            dice.pick(&["", "rust", "c++"])
        ),
        2 => "    indented *code*\n\n    more".to_owned(),
        3 => "---".to_owned(),
        4 => format!("<details open><summary>{}</summary>Some *raw* text</details>", words(dice, 2)),
        5 => "<iframe width=\"560\" src=\"https://www.youtube.com/embed/abc\"></iframe>".to_owned(),
        6 => "<div class=\"box\"><p>raw [entity:5|A &amp; B]</p></div>".to_owned(),
        8 => format!("> {}", block(dice, depth + 1).replace('\n', "\n> ")),
        9 => list(dice, depth),
        10 => table(dice),
        11 => format!("{}\n\n<!-- a note -->\n\n{}", list(dice, 2), paragraph(dice)),
        12 => format!("{}\n===", words(dice, 3).replace("- ", "")),
        _ => paragraph(dice),
    }
}

fn document(seed: u64) -> String {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let count = 2 + dice.below(10);
    (0..count).map(|_| block(&mut dice, 0) + "\n").collect::<Vec<_>>().join("\n")
}

#[test]
fn the_second_html_is_the_first() {
    for seed in 1..=200 {
        let markdown = document(seed);
        let html = markdown_to_html(&markdown);
        let again = html_to_markdown(&html);
        assert_same_html(&html, &markdown_to_html(&again), &format!("seed {seed}\n{markdown}\n--- becomes\n{again}"));
        assert_eq!(html_to_markdown(&markdown_to_html(&again)), again, "the third Markdown is the second, seed {seed}");
    }
}

#[test]
fn all_mentions_survive() {
    let forms = |text: &str| {
        let found =
            mentions(text).into_iter().map(|mention| (mention.word, mention.id, mention.label, mention.options));
        found.collect::<Vec<_>>()
    };
    for seed in 1..=200 {
        let markdown = document(seed);
        let again = html_to_markdown(&markdown_to_html(&markdown));
        assert_eq!(forms(&markdown), forms(&again), "seed {seed}\n{markdown}\n--- becomes\n{again}");
    }
}

#[test]
fn little_stays_html_that_markdown_can_say() {
    // Blocks that the grammar writes as HTML, and inline tags, stay. Paragraphs, lists and tables must not become HTML.
    let mut raw_blocks = 0;
    let mut blocks = 0;
    for seed in 1..=200 {
        let again = html_to_markdown(&markdown_to_html(&document(seed)));
        for line in again.lines() {
            blocks += usize::from(line.is_empty());
            let is_raw = ["<p>", "<ul>", "<ol>", "<table>", "<blockquote>", "<h1>", "<h2>", "<pre>"];
            raw_blocks += usize::from(is_raw.iter().any(|tag| line.starts_with(tag)));
        }
    }
    assert!(raw_blocks * 20 < blocks, "{raw_blocks} of {blocks} blocks are raw HTML");
}
