//! A small SVG writer: elements, attributes, colours and escaped text.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::palette::Ink;
use super::{Point, Theme};

const FONTS: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'DejaVu Sans', sans-serif";

/// A document that is being written.
pub(super) struct Svg {
    text: String,
    theme: Theme,
    used: BTreeSet<(Paint, Ink)>,
}

/// What a colour is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Paint {
    Fill,
    Stroke,
}

impl Paint {
    fn name(self) -> &'static str {
        match self {
            Self::Fill => "fill",
            Self::Stroke => "stroke",
        }
    }
}

impl Svg {
    pub(super) fn new(width: f64, height: f64, theme: Theme) -> Self {
        let (width, height) = (format_number(width), format_number(height));
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"skald-picture\" role=\"img\" width=\"{width}\" \
             height=\"{height}\" viewBox=\"0 0 {width} {height}\" font-family=\"{FONTS}\">"
        );
        Self { text, theme, used: BTreeSet::new() }
    }

    /// Begins an element; `text` or `end` completes it.
    pub(super) fn element(&mut self, name: &'static str) -> Element<'_> {
        self.text.push('<');
        self.text.push_str(name);
        Element { svg: self, name, classes: String::new() }
    }

    /// Begins a line of text at its baseline.
    pub(super) fn label(&mut self, x: f64, y: f64, size: f64) -> Element<'_> {
        self.element("text").number("x", x).number("y", y).number("font-size", size)
    }

    /// A straight line.
    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64)) -> Element<'_> {
        self.element("line").number("x1", from.0).number("y1", from.1).number("x2", to.0).number("y2", to.1)
    }

    /// Closes an element that was opened.
    pub(super) fn close(&mut self, name: &'static str) {
        let _ = write!(self.text, "</{name}>");
    }

    pub(super) fn finish(mut self) -> String {
        if self.theme == Theme::Auto {
            self.text.push_str("<style>@media (prefers-color-scheme: dark) {");
            for (paint, ink) in &self.used {
                let (paint, shade) = (paint.name(), ink.shade());
                let _ = write!(self.text, ".skald-picture .{paint}-{}{{{paint}:{}}}", shade.class, shade.dark);
            }
            self.text.push_str("}</style>");
        }
        self.text.push_str("</svg>");
        self.text
    }
}

/// An element that is being written.
#[must_use]
pub(super) struct Element<'a> {
    svg: &'a mut Svg,
    name: &'static str,
    classes: String,
}

impl Element<'_> {
    pub(super) fn attribute(self, name: &str, value: &str) -> Self {
        let _ = write!(self.svg.text, " {name}=\"");
        escape(value, &mut self.svg.text);
        self.svg.text.push('"');
        self
    }

    pub(super) fn number(self, name: &str, value: f64) -> Self {
        self.attribute(name, &format_number(value))
    }

    pub(super) fn fill(self, ink: Ink) -> Self {
        self.paint(Paint::Fill, ink)
    }

    pub(super) fn stroke(self, ink: Ink, width: f64) -> Self {
        self.paint(Paint::Stroke, ink).number("stroke-width", width)
    }

    /// Draws an outline around text, so that it stays legible over lines.
    pub(super) fn halo(self) -> Self {
        self.halo_on(Ink::Card)
    }

    /// Like `halo`, for another background colour.
    pub(super) fn halo_on(self, ground: Ink) -> Self {
        self.stroke(ground, 4.0).attribute("stroke-linejoin", "round").attribute("paint-order", "stroke")
    }

    fn paint(mut self, paint: Paint, ink: Ink) -> Self {
        let shade = ink.shade();
        if self.svg.theme == Theme::Auto {
            let space = if self.classes.is_empty() { "" } else { " " };
            let _ = write!(self.classes, "{space}{}-{}", paint.name(), shade.class);
            self.svg.used.insert((paint, ink));
        }
        let colour = if self.svg.theme == Theme::Dark { shade.dark } else { shade.light };
        self.attribute(paint.name(), colour)
    }

    fn write_classes(self) -> Self {
        if self.classes.is_empty() {
            return self;
        }
        let classes = self.classes.clone();
        self.attribute("class", &classes)
    }

    /// Completes the element with nothing inside.
    pub(super) fn end(self) {
        self.write_classes().svg.text.push_str("/>");
    }

    /// Writes the start tag only; child elements follow until `close`.
    pub(super) fn open(self) {
        self.write_classes().svg.text.push('>');
    }

    /// Completes the element with text inside.
    pub(super) fn text(self, text: &str) {
        let element = self.write_classes();
        element.svg.text.push('>');
        escape(text, &mut element.svg.text);
        let _ = write!(element.svg.text, "</{}>", element.name);
    }
}

/// A number with at most two decimals. NaN and infinity become 0, or the SVG would be invalid.
pub(super) fn format_number(value: f64) -> String {
    let value = if value.is_finite() { value } else { 0.0 };
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// A point rounded to a tenth of a unit, to keep the SVG small.
pub(super) fn format_point((x, y): Point) -> String {
    format!("{} {}", format_tenth(x), format_tenth(y))
}

fn format_tenth(value: f64) -> String {
    let text = format!("{:.1}", if value.is_finite() { value } else { 0.0 });
    text.strip_suffix(".0").map_or_else(|| text.clone(), str::to_owned)
}

/// Escapes markup, turns white space into spaces, and replaces characters that XML forbids.
fn escape(text: &str, document: &mut String) {
    for character in text.chars() {
        match character {
            '&' => document.push_str("&amp;"),
            '<' => document.push_str("&lt;"),
            '>' => document.push_str("&gt;"),
            '"' => document.push_str("&quot;"),
            '\t' | '\n' | '\r' => document.push(' '),
            control if control.is_control() => document.push('\u{fffd}'),
            '\u{fffe}' | '\u{ffff}' => document.push('\u{fffd}'),
            other => document.push(other),
        }
    }
}
