//! Parts that many pages use: errors, cards, fields, empty lists, pages of a list, times, text to copy.

use jiff::Timestamp;
use maud::{Markup, html};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use skald_app::Fault;

use crate::people_hints::hint_for_people;

/// An error with its hint, as the catalogue has it.
pub(crate) fn fault_box(fault: &Fault) -> Markup {
    let body = fault.body();
    html! {
        div.fault role="alert" {
            @let (message, source) = split_message(&body.message);
            p.fault-message { (sentence(message)) }
            (source_lines(source))
            @if let Some(hint) = body.hint.as_deref().and_then(hint_for_people) { p.fault-hint { (sentence(&hint)) } }
            @if !body.allowed.is_empty() {
                p.fault-hint { "Possible: " (body.allowed.join(", ")) "." }
            }
            p.fault-code { code { (body.code.name()) } @if let Some(id) = &body.request_id { " · " (id) } }
        }
    }
}

/// A message, and the lines below it: a text with a mark below the place that is wrong.
pub(crate) fn split_message(message: &str) -> (&str, Option<&str>) {
    message.split_once('\n').map_or((message, None), |(message, source)| (message, Some(source)))
}

/// These lines in letters of equal width, so that the mark stands below its place.
pub(crate) fn source_lines(source: Option<&str>) -> Markup {
    html! { @if let Some(source) = source { pre.fault-source dir="ltr" { (source) } } }
}

/// Messages begin in lower case, since they stand in sentences elsewhere.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().collect::<String>()).unwrap_or_default();
    let end = if text.ends_with(['.', '!', '?', '…', ':']) { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

/// Whether a fault is about a field of the form.
pub(crate) fn is_about(fault: Option<&Fault>, field: &str) -> bool {
    fault.and_then(|fault| fault.body().path.as_deref()?.strip_prefix('/')) == Some(field)
}

/// The value of `aria-describedby` of a field: the ids of its notes, and that of its error if it has one.
pub(crate) fn described_by(notes: Option<&str>, fault: Option<&Fault>, field: &str) -> Option<String> {
    let error = is_about(fault, field).then(|| format!("{field}-fault"));
    let ids: Vec<String> = notes.map(str::to_owned).into_iter().chain(error).collect();
    (!ids.is_empty()).then(|| ids.join(" "))
}

/// The value of `aria-invalid` of a field.
pub(crate) fn invalid(fault: Option<&Fault>, field: &str) -> Option<&'static str> {
    is_about(fault, field).then_some("true")
}

/// The error of one field, if the fault is about it: beside the field that it names.
pub(crate) fn field_fault(fault: Option<&Fault>, field: &str) -> Markup {
    html! {
        @if let Some(fault) = fault.filter(|_| is_about(fault, field)) {
            @let (message, source) = split_message(&fault.body().message);
            div.field-fault id={ (field) "-fault" } role="alert" {
                (sentence(message))
                (source_lines(source))
                @if let Some(hint) = fault.body().hint.as_deref().and_then(hint_for_people) { " " (sentence(&hint)) }
            }
        }
    }
}

/// A field with its label, what was typed, and its error.
pub(crate) struct TextField<'a> {
    pub name: &'a str,
    pub label: &'a str,
    pub value: &'a str,
    pub kind: &'static str,
    pub note: Option<&'a str>,
    pub is_required: bool,
    pub fault: Option<&'a Fault>,
}

impl TextField<'_> {
    pub(crate) fn render(&self) -> Markup {
        let Self { name, label, value, kind, note, is_required, fault } = *self;
        let described = described_by(note.map(|_| format!("{name}-note")).as_deref(), fault, name);
        html! {
            div.field {
                label for=(name) { (label) }
                @if kind == "textarea" {
                    textarea #(name) name=(name) rows="4" required[is_required] aria-describedby=[described]
                        aria-invalid=[invalid(fault, name)] dir="auto" {
                        (value)
                    }
                } @else {
                    input #(name) type=(kind) name=(name) value=(value) required[is_required] autocomplete="off"
                        aria-describedby=[described] aria-invalid=[invalid(fault, name)] dir="auto";
                }
                @if let Some(note) = note { p.field-note id={ (name) "-note" } { (note) } }
                (field_fault(fault, name))
            }
        }
    }
}

/// A card with a heading.
pub(crate) fn card(title: &str, body: &Markup) -> Markup {
    html! { section.card { h2 { (title) } (*body) } }
}

/// What stands in place of an empty list: what it is, and what to do next.
pub(crate) fn empty_state(title: &str, next: &Markup) -> Markup {
    html! { div.empty { p.empty-title { (title) } div.empty-next { (*next) } } }
}

/// The link to the rest of a list that was cut.
pub(crate) fn next_page(path: &str, cursor: Option<&str>) -> Markup {
    html! {
        @if let Some(cursor) = cursor {
            @let join = if path.contains('?') { "&" } else { "?" };
            nav.pages aria-label="Pages" { a.button href={ (path) (join) "cursor=" (encode(cursor)) } { "Show more" } }
        }
    }
}

/// What is encoded in a part of a URL. A dot is, since two of them would lead elsewhere.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'~');

/// A text as a part of a URL.
pub(crate) fn encode(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

/// Text in a box, with a button that copies it where scripts run.
pub(crate) fn copy_block(text: &str) -> Markup {
    html! {
        div.copy {
            pre tabindex="0" { code { (text) } }
            button.copy-button type="button" data-copy hidden { "Copy" }
        }
    }
}

/// A moment of the journal as people read it. A script shows it in the reader's own time.
pub(crate) fn time(at: &str) -> Markup {
    let shown = parse_time(at).map_or_else(|| at.to_owned(), |at| at.strftime("%Y-%m-%d %H:%M UTC").to_string());
    html! { time datetime=(at) data-time="full" { (shown) } }
}

/// The same, the hour alone.
pub(crate) fn clock_time(at: &str) -> Markup {
    let shown = parse_time(at).map_or_else(|| at.to_owned(), |at| at.strftime("%-H:%M").to_string());
    html! { time datetime=(at) data-time="clock" { (shown) } }
}

fn parse_time(at: &str) -> Option<Timestamp> {
    at.parse().ok()
}

/// A number with its noun: one roll, two rolls.
pub(crate) fn count(number: u64, singular: &str, plural: &str) -> String {
    format!("{number} {}", if number == 1 { singular } else { plural })
}

/// A chance as people say it: without digits that mean nothing, and in one piece.
pub(crate) fn percent(chance: f64) -> String {
    let percent = chance * 100.0;
    match percent {
        percent if chance <= 0.0 || percent >= 100.0 => format!("{percent:.0}\u{a0}%"),
        percent if percent < 0.1 => "under 0.1\u{a0}%".to_owned(),
        percent if percent > 99.9 => "over 99.9\u{a0}%".to_owned(),
        percent if !(10.0..=99.0).contains(&percent) => format!("{percent:.1}\u{a0}%"),
        percent => format!("{percent:.0}\u{a0}%"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skald_app::Code;

    #[test]
    fn an_error_is_shown_with_its_hint_and_as_text() {
        let fault = Fault::new(Code::NotFound, "there is no <b>campaign</b>").hint("look at the list");
        let shown = fault_box(&fault).into_string();
        assert!(
            shown.contains("There is no &lt;b&gt;campaign&lt;/b&gt;.") && shown.contains("Look at the list."),
            "{shown}"
        );
        assert!(shown.contains("NOT_FOUND"), "{shown}");
    }

    #[test]
    fn a_mark_stands_below_the_place_that_is_wrong() {
        let fault = Fault::new(Code::InvalidParams, "found 'd'\n2dd6\n  ^").with_path("/expression");
        let source = "<pre class=\"fault-source\" dir=\"ltr\">2dd6\n  ^</pre>";
        let shown = fault_box(&fault).into_string();
        assert!(shown.contains(&format!("<p class=\"fault-message\">Found 'd'.</p>{source}")), "{shown}");
        let shown = field_fault(Some(&fault), "expression").into_string();
        assert!(shown.contains(&format!("Found 'd'.{source}")) && !shown.contains("<p "), "{shown}");
    }

    #[test]
    fn ids_stay_readable_in_addresses_and_nothing_leads_elsewhere() {
        assert_eq!(encode("camp_a-1"), "camp_a-1");
        assert_eq!(encode("../?a=b&c#d é"), "%2E%2E%2F%3Fa%3Db%26c%23d%20%C3%A9");
    }

    #[test]
    fn chances_have_the_digits_that_mean_something() {
        for (chance, shown) in [
            (0.0, "0\u{a0}%"),
            (1.0, "100\u{a0}%"),
            (0.583, "58\u{a0}%"),
            (0.0833, "8.3\u{a0}%"),
            (0.0001, "under 0.1\u{a0}%"),
        ] {
            assert_eq!(percent(chance), shown);
        }
    }
}
