use proptest::prelude::*;
use roxmltree::{Document, Node};

use super::*;
use crate::measure_and_format_text::{BOLD, text_width};
use crate::tests::picture_texts;

fn stop(name: &str) -> Stop<'_> {
    Stop { name, is_last: false, progress: FlowProgress::Ahead }
}

fn arrow(from: usize, to: usize, name: &str) -> Arrow<'_> {
    Arrow { from, to, name, condition: None, by: None }
}

fn flow<'a>(stops: Vec<Stop<'a>>, arrows: Vec<Arrow<'a>>) -> Flow<'a> {
    Flow { title: "A process", subtitle: "", stops, start: Some(0), arrows, theme: Theme::Auto }
}

#[derive(Debug, Clone, Copy)]
struct Area {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Area {
    fn overlaps(&self, other: &Self) -> bool {
        let slack = 0.1;
        self.left + slack < other.right
            && other.left + slack < self.right
            && self.top + slack < other.bottom
            && other.top + slack < self.bottom
    }

    fn contains(&self, (x, y): (f64, f64)) -> bool {
        let slack = 0.1;
        self.left + slack < x && x < self.right - slack && self.top + slack < y && y < self.bottom - slack
    }
}

/// Points along a line.
type Polyline = Vec<(f64, f64)>;

/// What was drawn, read back from the SVG.
struct ParsedPicture {
    view: Area,
    /// Name and box of each state.
    states: Vec<(String, Area)>,
    /// Of each transition: its description, the area of its label, and points along its line.
    transitions: Vec<(String, Area, Polyline)>,
    /// How many borders each state has.
    borders: Vec<usize>,
}

fn number_attribute(node: Node, name: &str) -> f64 {
    node.attribute(name).unwrap().parse().unwrap()
}

fn parse_picture(svg: &str) -> ParsedPicture {
    picture_texts(svg);
    let document = Document::parse(svg).unwrap();
    let root = document.root_element();
    let view: Vec<f64> = root.attribute("viewBox").unwrap().split(' ').map(|part| part.parse().unwrap()).collect();
    let view = Area { left: view[0], top: view[1], right: view[2], bottom: view[3] };
    let tagged = |node: Node, name: &str| node.tag_name().name() == name;
    let groups = |class: &'static str| root.children().filter(move |node| node.attribute("class") == Some(class));
    let title = |node: Node| node.first_element_child().and_then(|title| title.text()).unwrap_or_default().to_owned();
    let rects = |node: Node| node.children().filter(|child| tagged(*child, "rect")).count();
    let state = |node: Node| {
        let rect = node.children().find(|child| tagged(*child, "rect")).unwrap();
        let (left, top) = (number_attribute(rect, "x"), number_attribute(rect, "y"));
        let area = Area {
            left,
            top,
            right: left + number_attribute(rect, "width"),
            bottom: top + number_attribute(rect, "height"),
        };
        let name = node.children().find(|child| tagged(*child, "text")).unwrap();
        let half = text_width(name.text().unwrap_or_default(), number_attribute(name, "font-size") * BOLD) / 2.0;
        assert!(
            number_attribute(name, "x") - half >= left && number_attribute(name, "x") + half <= area.right,
            "a name leaves its box"
        );
        (title(node), area)
    };
    let transition = |node: Node| {
        let lines = node.children().filter(|child| tagged(*child, "text")).map(|text| {
            let (x, y, size) =
                (number_attribute(text, "x"), number_attribute(text, "y"), number_attribute(text, "font-size"));
            let wide = text_width(text.text().unwrap_or_default(), size);
            let left = if text.attribute("text-anchor") == Some("middle") { x - wide / 2.0 } else { x };
            Area { left, right: left + wide, top: y - size * 0.8, bottom: y + size * 0.2 }
        });
        let label = lines.reduce(|one, other| Area {
            left: one.left.min(other.left),
            right: one.right.max(other.right),
            top: one.top.min(other.top),
            bottom: one.bottom.max(other.bottom),
        });
        let path = node.children().find(|child| tagged(*child, "path")).unwrap().attribute("d").unwrap();
        (title(node), label.unwrap(), path_points(path))
    };
    ParsedPicture {
        view,
        states: groups("state").map(state).collect(),
        transitions: groups("transition").map(transition).collect(),
        borders: groups("state").map(rects).collect(),
    }
}

/// Points along a path of `M`, `L`, `V` and `C`.
fn path_points(path: &str) -> Polyline {
    let mut points = Vec::new();
    let mut at = (0.0, 0.0);
    let starts: Vec<usize> = path.match_indices(char::is_alphabetic).map(|(index, _)| index).collect();
    for (index, start) in starts.iter().enumerate() {
        let part = &path[*start..starts.get(index + 1).copied().unwrap_or(path.len())];
        let values: Vec<f64> = part[1..].split(' ').map(|value| value.parse().unwrap()).collect();
        let mut along = |curve: &dyn Fn(f64) -> (f64, f64)| {
            points.extend((0_u8..=12).map(|step| curve(f64::from(step) / 12.0)));
        };
        let from = at;
        match (&part[..1], &values[..]) {
            ("M", [x, y]) => at = (*x, *y),
            ("L", [x, y]) => {
                at = (*x, *y);
                along(&|t| (from.0 + (at.0 - from.0) * t, from.1 + (at.1 - from.1) * t));
            }
            ("V", [y]) => {
                at.1 = *y;
                along(&|t| (at.0, from.1 + (at.1 - from.1) * t));
            }
            ("C", [x1, y1, x2, y2, x, y]) => {
                at = (*x, *y);
                let one = |a: f64, b: f64, c: f64, d: f64, t: f64| {
                    let u = 1.0 - t;
                    u * u * u * a + 3.0 * u * u * t * b + 3.0 * u * t * t * c + t * t * t * d
                };
                along(&|t| (one(from.0, *x1, *x2, *x, t), one(from.1, *y1, *y2, *y, t)));
            }
            other => panic!("{other:?}"),
        }
    }
    points
}

/// Parses the picture and asserts that nothing overlaps.
fn check_no_overlap(flow: &Flow) -> ParsedPicture {
    let svg = flow.svg();
    assert_eq!(svg, flow.svg(), "the same every time");
    let drawn = parse_picture(&svg);
    let boxes: Vec<Area> = drawn.states.iter().map(|(_, area)| *area).collect();
    let labels: Vec<Area> = drawn.transitions.iter().map(|(_, label, _)| *label).collect();
    let all: Vec<Area> = boxes.iter().chain(&labels).copied().collect();
    for (index, one) in all.iter().enumerate() {
        let view = drawn.view;
        assert!(one.left >= view.left && one.right <= view.right, "{one:?} leaves {view:?}");
        assert!(one.top >= view.top && one.bottom <= view.bottom, "{one:?} leaves {view:?}");
        for other in &all[index + 1..] {
            assert!(!one.overlaps(other), "{one:?} overlaps {other:?}");
        }
    }
    for (words, _, line) in &drawn.transitions {
        for point in line {
            assert!(!all.iter().any(|area| area.contains(*point)), "{words} goes through something at {point:?}");
        }
    }
    drawn
}

#[test]
fn states_come_one_below_the_other() {
    let stops = ["one", "two", "three"].map(stop).to_vec();
    let drawn = check_no_overlap(&flow(
        stops,
        vec![arrow(0, 1, "go"), arrow(1, 2, "go"), arrow(2, 0, "back"), arrow(1, 1, "stay")],
    ));
    let tops: Vec<f64> = drawn.states.iter().map(|(_, area)| area.top).collect();
    assert!(tops.is_sorted(), "{tops:?}");
    let words: Vec<&str> = drawn.transitions.iter().map(|(words, ..)| words.as_str()).collect();
    assert_eq!(words, ["one → two: go", "two → three: go", "three → one: back", "two → two: stay"]);
    let ends = |index: usize| {
        let line = &drawn.transitions[index].2;
        (line.first().copied().unwrap(), line.last().copied().unwrap())
    };
    let edge = |point: (f64, f64), y: f64| (point.1 - y).abs() < 0.1;
    // Arrows are written from the top down, whichever way they point.
    let back = ends(2);
    assert!(edge(back.0, drawn.states[0].1.bottom) && edge(back.1, drawn.states[2].1.top));
}

#[test]
fn several_arrows_between_two_states_are_kept_apart() {
    let arrows = ["a", "b", "c", "d"].map(|name| arrow(0, 1, name)).to_vec();
    let mut flow = flow(["one", "two"].map(stop).to_vec(), arrows);
    flow.arrows.extend([arrow(1, 0, "e"), arrow(1, 0, "f"), arrow(0, 0, "g"), arrow(0, 0, "h")]);
    let drawn = check_no_overlap(&flow);
    assert_eq!(drawn.transitions.len(), 8);
    for side in [|line: &[(f64, f64)]| line[0], |line: &[(f64, f64)]| line[line.len() - 1]] {
        let mut ends: Vec<f64> = drawn.transitions[..6].iter().map(|(_, _, line)| side(line).0).collect();
        ends.sort_by(f64::total_cmp);
        assert!(ends.windows(2).all(|pair| pair[1] - pair[0] > 10.0), "{ends:?}");
    }
}

#[test]
fn the_first_the_last_and_where_somebody_is_are_marked() {
    let mut stops = ["one", "two", "three"].map(stop).to_vec();
    stops[2].is_last = true;
    let plain = flow(stops.clone(), vec![arrow(0, 1, "go"), arrow(1, 2, "go")]);
    assert_eq!(check_no_overlap(&plain).borders, [1, 1, 2]);
    assert_eq!(plain.svg().matches("<circle").count(), 1);
    assert_eq!(Flow { start: None, ..plain.clone() }.svg().matches("<circle").count(), 0);
    assert!(!picture_texts(&plain.svg()).contains(&"current".to_owned()));
    stops[0].progress = FlowProgress::Visited;
    stops[1].progress = FlowProgress::Current;
    let going = Flow { stops, ..plain };
    let svg = going.svg();
    check_no_overlap(&going);
    assert!(picture_texts(&svg).contains(&"current".to_owned()) && picture_texts(&svg).contains(&"visited".to_owned()));
    let document = Document::parse(&svg).unwrap();
    let description = document.descendants().find(|node| node.tag_name().name() == "desc").unwrap().text().unwrap();
    assert_eq!(
        description,
        "3 states and 2 transitions. Begins in: one. Ends in: three. Current: two. Visited: one. \
         one → two: go. two → three: go."
    );
}

#[test]
fn names_stay_text_and_wide_ones_have_room() {
    let hostile = "<script>alert(\"1\")</script> & \u{0}]]>";
    let wide = "探索プロセスの観察結果を提出する状態";
    let long = "観".repeat(200);
    let arrows = vec![
        Arrow { from: 0, to: 1, name: hostile, condition: Some(hostile), by: Some(hostile) },
        Arrow { from: 1, to: 2, name: wide, condition: Some(&long), by: Some(wide) },
        Arrow { from: 2, to: 2, name: &long, condition: Some(wide), by: Some(&long) },
    ];
    let flow = Flow { title: hostile, subtitle: &long, ..flow(vec![stop(hostile), stop(wide), stop(&long)], arrows) };
    let svg = flow.svg();
    assert!(!svg.contains("<script"));
    let drawn = check_no_overlap(&flow);
    assert_eq!(drawn.states[0].0, "<script>alert(\"1\")</script> & \u{fffd}]]>");
    assert_eq!(drawn.states[2].0, long, "the whole name is there for who points at it");
    assert!(picture_texts(&svg).contains(&wide.to_owned()));
}

#[test]
fn arrows_to_nowhere_are_left_out_and_nothing_is_drawn_as_nothing() {
    let odd = flow(vec![stop("one")], vec![arrow(0, 7, "go"), arrow(7, 0, "go"), arrow(0, 0, "stay")]);
    assert_eq!(check_no_overlap(&odd).transitions.len(), 1);
    let empty = Flow { start: Some(3), ..flow(vec![], vec![arrow(0, 0, "go")]) };
    assert_eq!(picture_texts(&empty.svg()), ["A process"]);
}

#[test]
fn what_is_too_long_to_follow_names_where_it_leads() {
    let names: Vec<String> = (0..400).map(|number| format!("state {number}")).collect();
    let stops: Vec<Stop> = names.iter().map(|name| stop(name)).collect();
    let mut arrows: Vec<Arrow> = (1..400).map(|to| arrow(to - 1, to, "go")).collect();
    arrows.extend((100..400).map(|from| arrow(from, 0, "restart")));
    let flow = flow(stops, arrows);
    let svg = flow.svg();
    let drawn = parse_picture(&svg);
    assert_eq!((drawn.states.len(), drawn.transitions.len()), (400, 699));
    let cut = picture_texts(&svg).iter().filter(|text| *text == "→ state 0").count();
    assert!((250..300).contains(&cut), "{cut} of 300 are cut short");
    assert!(svg.len() < 1_000_000, "{} bytes", svg.len());
}

fn any_name() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z_]{1,12}", "[a-z_]{1,60}", "[ぁ-ん一-龠]{1,30}"]
}

type AnyArrow = (usize, usize, String, Option<String>, Option<String>);

fn any_flow() -> impl Strategy<Value = (Vec<(String, bool, u8)>, Vec<AnyArrow>)> {
    (1..14_usize).prop_flat_map(|count| {
        let stops = prop::collection::vec((any_name(), any::<bool>(), 0..3_u8), count);
        let arrows = prop::collection::vec(
            (0..count, 0..count, any_name(), prop::option::of(any_name()), prop::option::of(any_name())),
            0..30,
        );
        (stops, arrows)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn nothing_lies_on_anything_else((stops, arrows) in any_flow(), start in prop::option::of(0..14_usize)) {
        let progress = [FlowProgress::Ahead, FlowProgress::Visited, FlowProgress::Current];
        let flow = Flow {
            start,
            stops: stops
                .iter()
                .map(|(name, is_last, at)| Stop { name, is_last: *is_last, progress: progress[usize::from(*at)] })
                .collect(),
            arrows: arrows
                .iter()
                .map(|(from, to, name, condition, by)| Arrow {
                    from: *from,
                    to: *to,
                    name,
                    condition: condition.as_deref(),
                    by: by.as_deref(),
                })
                .collect(),
            ..flow(vec![], vec![])
        };
        let drawn = check_no_overlap(&flow);
        let names: Vec<&str> = drawn.states.iter().map(|(name, _)| name.as_str()).collect();
        prop_assert_eq!(names, stops.iter().map(|(name, ..)| name.as_str()).collect::<Vec<_>>());
        let mut words: Vec<String> = drawn.transitions.into_iter().map(|(words, ..)| words).collect();
        let mut expected: Vec<String> = flow.arrows.iter().map(|arrow| labels_and_description::describe_arrow(&flow, arrow)).collect();
        words.sort();
        expected.sort();
        prop_assert_eq!(words, expected);
    }

    #[test]
    fn any_names_are_well_formed(one in any::<String>(), other in any::<String>()) {
        let arrows = vec![Arrow { from: 0, to: 1, name: &one, condition: Some(&other), by: Some(&one) }, arrow(1, 1, &other)];
        check_no_overlap(&Flow { title: &other, subtitle: &one, ..flow(vec![stop(&one), stop(&other)], arrows) });
    }
}
