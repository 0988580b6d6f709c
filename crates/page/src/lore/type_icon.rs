//! Icons of the types of entities, in the colours that the pictures use for them.

use maud::{Markup, PreEscaped, html};

/// Every type with its word for several, in the order of the lists.
pub(crate) const TYPES: [(&str, &str); 13] = [
    ("character", "Characters"),
    ("location", "Places"),
    ("organization", "Organizations"),
    ("quest", "Quests"),
    ("item", "Items"),
    ("creature", "Creatures"),
    ("race", "Peoples"),
    ("event", "Events"),
    ("clue", "Clues"),
    ("journal", "Journals"),
    ("document", "Documents"),
    ("note", "Notes"),
    ("other", "Others"),
];

/// A type as one word with a capital.
pub(crate) fn type_title(entity_type: &str) -> String {
    let mut letters = entity_type.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// The icon of a type; a screen reader hears the word.
pub(crate) fn type_icon(entity_type: &str) -> Markup {
    let known = TYPES.iter().find(|(word, _)| *word == entity_type).map_or("other", |(word, _)| word);
    html! {
        span class={ "type-icon type-" (known) } title=(type_title(known)) {
            (PreEscaped(format!(
                "<svg viewBox=\"0 0 20 20\" width=\"18\" height=\"18\" aria-hidden=\"true\" fill=\"none\" \
                 stroke=\"currentColor\" stroke-width=\"1.7\" stroke-linecap=\"round\" stroke-linejoin=\"round\">{}</svg>",
                shapes(known)
            )))
            span.visually-hidden { (type_title(known)) ": " }
        }
    }
}

fn shapes(entity_type: &str) -> &'static str {
    match entity_type {
        "character" => {
            "<circle cx=\"10\" cy=\"6.5\" r=\"3.2\"/><path d=\"M3.5 17c.6-4 3.2-5.6 6.5-5.6s5.900 1.600 6.500 5.600\"/>"
        }
        "creature" => {
            "<ellipse cx=\"10\" cy=\"13.500\" rx=\"3.800\" ry=\"3\"/><path d=\"M4.500 9.500v-1M8 6V4.500M12 6V4.500M15.500 9.500v-1\"/>"
        }
        "location" => {
            "<path d=\"M10 18s5.500-5.600 5.500-10a5.500 5.500 0 0 0-11 0c0 4.400 5.500 10 5.500 10z\"/><circle cx=\"10\" cy=\"8\" r=\"1.900\"/>"
        }
        "organization" => "<path d=\"M5 18V3M5 4h10l-2.500 3.500L15 11H5\"/>",
        "race" => {
            "<circle cx=\"7\" cy=\"7\" r=\"2.600\"/><circle cx=\"14\" cy=\"8\" r=\"2\"/><path d=\"M2.500 16.500c.4-3.200 2-4.600 4.500-4.600s4.100 1.400 4.500 4.600M13 12.200c2.400-.2 4 1 4.500 3.800\"/>"
        }
        "note" => "<path d=\"M4 3.500h12v9l-4 4H4zM12 16.500v-4h4M7 7.500h6M7 10.500h3\"/>",
        "journal" => {
            "<path d=\"M10 5.500C8 4 5.500 3.600 3 4v11.500c2.500-.4 5 0 7 1.500 2-1.500 4.500-1.900 7-1.500V4c-2.500-.4-5 0-7 1.500zM10 5.500V17\"/>"
        }
        "quest" => {
            "<path d=\"M10 2.500l2.200 5 5.300.600-4 3.600 1.100 5.300L10 14.300 5.400 17l1.100-5.300-4-3.600 5.300-.600z\"/>"
        }
        "item" => "<path d=\"M6 3.500h8l3 4-7 9.500L3 7.500zM3 7.500h14M10 17L7.500 7.500 10 3.500l2.500 4z\"/>",
        "clue" => "<circle cx=\"8.500\" cy=\"8.500\" r=\"5\"/><path d=\"M12.300 12.300L17 17\"/>",
        "event" => "<path d=\"M11 2.500L4.500 11.500H10L9 17.500l6.500-9H10z\"/>",
        "document" => "<path d=\"M5 2.500h7l3.500 3.500v11.500H5zM12 2.500V6h3.500M7.500 10h5M7.500 13h5\"/>",
        _ => "<circle cx=\"10\" cy=\"10\" r=\"5.500\"/>",
    }
}
