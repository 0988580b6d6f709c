//! Labels of arrows, and a text description of the flow chart for screen readers.

use super::{Arrow, Flow, FlowProgress};
use crate::measure_and_format_text::{shorten, text_width};

/// Stops and arrows that a description names.
const NAMED_MAX: usize = 60;
/// The width of a line, in units.
const ROOM: f64 = 236.0;
const SIZE: f64 = 12.0;
const SIZE_SMALL: f64 = 11.0;
const LINE_HEIGHT: f64 = 15.0;

/// The label of an arrow, line by line.
pub(super) struct Lines {
    pub(super) lines: Vec<TextLine>,
    pub(super) width: f64,
}

pub(super) struct TextLine {
    pub(super) text: String,
    pub(super) size: f64,
    /// Whether the line is the condition of the arrow, not its name.
    pub(super) is_condition: bool,
}

impl Lines {
    pub(super) fn height(&self) -> f64 {
        super::count_to_f64(self.lines.len()) * LINE_HEIGHT + 4.0
    }

    /// The height of a loop that has this name.
    pub(super) fn loop_height(&self) -> f64 {
        self.height().max(30.0) + 4.0
    }

    /// The baseline of each line below the top.
    pub(super) fn baselines(&self) -> impl Iterator<Item = (f64, &TextLine)> {
        self.lines.iter().enumerate().map(|(index, line)| (super::count_to_f64(index) * LINE_HEIGHT + 13.0, line))
    }
}

/// The label of an arrow. `target` names the stop it leads to, if the arrow is cut short.
pub(super) fn arrow_label(arrow: &Arrow, target: Option<&str>) -> Lines {
    let line = |text: String, size: f64, is_condition: bool| TextLine { text, size, is_condition };
    let mut lines = vec![line(shorten(arrow.name, SIZE, ROOM), SIZE, false)];
    if let Some(condition) = arrow.condition {
        let room = ROOM - text_width("[]", SIZE_SMALL);
        lines.push(line(format!("[{}]", shorten(condition, SIZE_SMALL, room)), SIZE_SMALL, true));
    }
    if let Some(by) = arrow.by {
        let room = ROOM - text_width("by ", SIZE_SMALL);
        lines.push(line(format!("by {}", shorten(by, SIZE_SMALL, room)), SIZE_SMALL, true));
    }
    if let Some(target) = target {
        let room = ROOM - text_width("→ ", SIZE);
        lines.push(line(format!("→ {}", shorten(target, SIZE, room)), SIZE, false));
    }
    let widest = lines.iter().map(|line| text_width(&line.text, line.size)).fold(0.0, f64::max);
    Lines { lines, width: widest + 8.0 }
}

/// An arrow in words, at full length.
pub(super) fn describe_arrow(flow: &Flow, arrow: &Arrow) -> String {
    let condition = arrow.condition.map(|condition| format!(" [{condition}]")).unwrap_or_default();
    let (from, to) = (flow.stops[arrow.from].name, flow.stops[arrow.to].name);
    let by = arrow.by.map(|by| format!(" by {by}")).unwrap_or_default();
    format!("{from} → {to}: {}{condition}{by}", arrow.name)
}

pub(super) fn describe_flow(flow: &Flow) -> String {
    let names = |is_meant: &dyn Fn(usize) -> bool| {
        let meant: Vec<&str> =
            flow.stops.iter().enumerate().filter(|(index, _)| is_meant(*index)).map(|(_, stop)| stop.name).collect();
        let more =
            if meant.len() > NAMED_MAX { format!(" and {} more", meant.len() - NAMED_MAX) } else { String::new() };
        (!meant.is_empty()).then(|| format!("{}{more}", meant[..meant.len().min(NAMED_MAX)].join(", ")))
    };
    let sentence = |before: &str, found: Option<String>| found.map(|found| format!("{before}: {found}."));
    let of = |progress: FlowProgress| names(&|index| flow.stops[index].progress == progress);
    let sentences = [
        Some(format!(
            "{} and {}.",
            count_with_noun(flow.stops.len(), "state"),
            count_with_noun(flow.arrows.len(), "transition")
        )),
        sentence("Begins in", names(&|index| flow.start == Some(index))),
        sentence("Ends in", names(&|index| flow.stops[index].is_last)),
        sentence("Current", of(FlowProgress::Current)),
        sentence("Visited", of(FlowProgress::Visited)),
    ];
    let arrows = flow.arrows.iter().take(NAMED_MAX).map(|found| format!("{}.", describe_arrow(flow, found)));
    let more = flow.arrows.len().saturating_sub(NAMED_MAX);
    let more = (more > 0).then(|| format!("And {}.", count_with_noun(more, "more transition")));
    sentences.into_iter().flatten().chain(arrows).chain(more).collect::<Vec<_>>().join(" ")
}

/// A count with its noun.
fn count_with_noun(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}
