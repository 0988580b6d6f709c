//! Draws a process as an SVG diagram: its states, its transitions, and the current state of a run.

use std::collections::{BTreeMap, BTreeSet};

use skald_domain::gate::{EVERYBODY, Process, Transition};

use skald_picture::{Arrow, Flow, FlowProgress, Stop, Theme};

/// Draws a process as SVG, with the current and the visited states of a run if they are given.
pub(super) fn svg(process: &Process, current: Option<&str>, visited: &[&str], theme: Theme) -> String {
    let places: BTreeMap<&str, usize> =
        process.states.iter().enumerate().map(|(index, state)| (state.name.as_str(), index)).collect();
    let visited: BTreeSet<&str> = visited.iter().copied().collect();
    let progress = |name: &str| match current {
        Some(current) if current == name => FlowProgress::Current,
        _ if visited.contains(name) => FlowProgress::Visited,
        _ => FlowProgress::Ahead,
    };
    let place = |name: &str| places.get(name).copied();
    let stops = process.states.iter().map(|state| Stop {
        name: &state.name,
        is_last: state.is_final,
        progress: progress(&state.name),
    });
    let by = |transition: &Transition| match transition.allowed_roles.as_deref() {
        None => None,
        Some([]) => Some("nobody".to_owned()),
        Some(roles) if roles.iter().any(|role| role == EVERYBODY) => None,
        Some(roles) => Some(roles.join(", ")),
    };
    let by: Vec<Option<String>> = process.transitions.iter().map(by).collect();
    let arrows = process.transitions.iter().zip(&by).filter_map(|(transition, by)| {
        Some(Arrow {
            from: place(&transition.from)?,
            to: place(&transition.to)?,
            name: &transition.event,
            condition: transition.guard.as_deref(),
            by: by.as_deref(),
        })
    });
    let flow = Flow {
        title: &process.name,
        subtitle: &format!("{} {}", process.id, process.version),
        stops: stops.collect(),
        start: place(&process.initial_state),
        arrows: arrows.collect(),
        theme,
    };
    flow.svg()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use skald_domain::gate::load;

    use super::super::shipped_processes::shipped_processes;
    use super::*;

    #[test]
    fn a_shipped_process_is_drawn_with_where_its_run_is() {
        for (id, source) in shipped_processes() {
            let process = load(source).process.unwrap();
            let (first, last) = (&process.states[0].name, &process.states[1].name);
            let svg = svg(&process, Some(last), &[first, last], Theme::Auto);
            let document = roxmltree::Document::parse(&svg).unwrap();
            let groups = |class: &'static str| {
                document.root_element().children().filter(move |node| node.attribute("class") == Some(class))
            };
            let title = |node: roxmltree::Node| node.first_element_child().unwrap().text().unwrap().to_owned();
            let states: Vec<String> = groups("state").map(title).collect();
            assert_eq!(states, process.states.iter().map(|state| state.name.clone()).collect::<Vec<_>>(), "{id}");
            assert_eq!(groups("transition").count(), process.transitions.len(), "{id}");
            let words: Vec<String> = groups("transition").map(title).collect();
            let second = "second_review → canon: approve [is_backed] by human".to_owned();
            assert_eq!(words.contains(&second), id == "canon-review", "{words:?}");
            let description = document.root_element().children().find(|node| node.tag_name().name() == "desc").unwrap();
            let described = format!("Current: {last}. Visited: {first}.");
            assert!(description.text().unwrap().contains(&described), "{id}: {description:?}");
        }
    }

    #[test]
    fn a_process_about_as_large_as_one_can_be_is_drawn() {
        let head = "process: {id: p, version: '1', name: P, initial_state: s0}\nstates:\n";
        let mut source = format!("{head}  - {{name: s0}}\n");
        for number in 1..1_500 {
            writeln!(source, "  - {{name: s{number}, is_final: true}}").unwrap();
        }
        source += "events: [{name: go, allowed_roles: ['*']}]\ntransitions:\n";
        for number in 1..1_500 {
            writeln!(source, "  - {{from: s0, event: go, to: s{number}}}").unwrap();
        }
        let loaded = load(&source);
        let process = loaded.process.unwrap_or_else(|| panic!("{:?}", loaded.findings.first()));
        let svg = svg(&process, None, &[], Theme::Light);
        assert_eq!(svg.matches("class=\"transition\"").count(), 1_499);
    }
}
