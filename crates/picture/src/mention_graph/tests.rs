use proptest::prelude::*;
use roxmltree::{Document, Node};

use super::drawn_graph::{DrawnGraph, NODES_MAX};
use super::entity_groups::GROUPS;
use super::name_labels::NameLabel;
use super::node_placement::NodePlacement;
use super::*;
use crate::palette::Ink;
use crate::panel_area::PanelArea;
use crate::tests::picture_texts;

fn graph_of(names: &[&str], edges: &[(u64, u64)]) -> MentionGraph {
    let degree = |id: u64| edges.iter().filter(|(from, to)| *from == id || *to == id).count();
    let node = |(id, name): (u64, &&str)| {
        let group = ["character", "location", "organization"][usize::try_from((id - 1) % 3).unwrap()];
        MentionGraphNode { id, name: (*name).to_owned(), group, degree: degree(id) }
    };
    let nodes = (1..).zip(names).map(node).collect();
    let edges = edges.iter().map(|(from, to)| MentionGraphEdge { from: *from, to: *to }).collect();
    MentionGraph { nodes, edges, relationships: Vec::new(), left_out: 0, theme: Theme::Auto }
}

fn small_graph() -> MentionGraph {
    let names = ["Mira Voss", "Port Orlen", "The Gilded Hand", "Captain Hale", "Old Tobin"];
    graph_of(&names, &[(1, 2), (2, 1), (3, 1), (4, 2), (5, 3), (4, 1)])
}

/// A graph of entities that each mention several others, without any structure.
fn dense_graph(count: u64, mentions: u64, name: &str) -> MentionGraph {
    let names: Vec<String> = (1..=count).map(|id| format!("{name} {id}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let edges: Vec<(u64, u64)> = (1..=count)
        .flat_map(|id| (1..=mentions).map(move |step| (id, (id * 7 + step * step * 5) % count + 1)))
        .collect();
    graph_of(&names, &edges)
}

/// Two groups of ten that mention each other, joined by one mention.
fn two_clusters() -> MentionGraph {
    let names = ["Someone"; 20];
    let ring =
        |first: u64| (0..10).flat_map(move |step| [1, 3, 4].map(|far| (first + step, first + (step + far) % 10)));
    let edges: Vec<(u64, u64)> = ring(1).chain(ring(11)).chain([(4, 15)]).collect();
    graph_of(&names, &edges)
}

/// Checks that everything is on the card and apart, and returns the names.
fn check_layout(graph: &MentionGraph) -> Vec<Option<NameLabel>> {
    let drawn = DrawnGraph::new(graph);
    let placement = NodePlacement::new(&drawn);
    let curves = curved_lines::curves(&drawn, &placement);
    let labels = name_labels::place_names(&drawn, &placement, &curves);
    let card = PanelArea { left: 0.0, top: 0.0, width: placement.width, height: placement.height };
    assert!(card.contains(&placement.panel), "{:?}", placement.panel);
    for circle in &placement.circles {
        let area = PanelArea::centered_at(circle.at, circle.radius);
        assert!(placement.panel.contains(&area), "{circle:?} is outside of {:?}", placement.panel);
    }
    for (index, label) in labels.iter().enumerate() {
        let Some(label) = label else { continue };
        assert!(placement.panel.contains(&label.area), "{label:?} is outside of {:?}", placement.panel);
        for other in labels[..index].iter().flatten() {
            assert!(!label.area.overlaps(&other.area), "{} meets {}", label.text, other.text);
        }
        for circle in &placement.circles {
            let disc = PanelArea::centered_at(circle.at, circle.radius);
            assert!(!label.area.overlaps(&disc), "{} covers {circle:?}", label.text);
        }
    }
    for entry in &placement.legend {
        assert!(entry.at.1 < placement.height - 10.0, "{} is below the card", entry.text);
    }
    labels
}

/// Reads the picture and checks that all of it is in its view box. Returns the number of lines and of arrowheads.
fn check_svg(svg: &str) -> (usize, usize) {
    picture_texts(svg);
    let document = Document::parse(svg).unwrap();
    let view: Vec<f64> =
        document.root_element().attribute("viewBox").unwrap().split(' ').map(|part| part.parse().unwrap()).collect();
    let check = |x: f64, y: f64, reach: f64| {
        assert!(x - reach >= 0.0 && x + reach <= view[2], "x {x} with {reach} is outside of {view:?}");
        assert!(y - reach >= 0.0 && y + reach <= view[3], "y {y} with {reach} is outside of {view:?}");
    };
    let number = |node: Node, name: &str| node.attribute(name).unwrap().parse::<f64>().unwrap();
    let (mut lines, mut heads) = (0, 0);
    for node in document.descendants() {
        match node.tag_name().name() {
            "circle" => check(number(node, "cx"), number(node, "cy"), number(node, "r")),
            "text" => check(number(node, "x"), number(node, "y"), 0.0),
            "path" => {
                let path = node.attribute("d").unwrap();
                let numbers: Vec<f64> = path
                    .split(|letter: char| letter.is_alphabetic() || letter == ' ')
                    .filter(|part| !part.is_empty())
                    .map(|part| part.parse().unwrap())
                    .collect();
                numbers.chunks(2).for_each(|point| check(point[0], point[1], 0.0));
                lines += usize::from(path.contains('Q'));
                heads += usize::from(path.contains('Z'));
            }
            _ => {}
        }
    }
    (lines, heads)
}

#[test]
fn a_small_mention_graph() {
    let svg = MentionGraph { left_out: 3, ..small_graph() }.svg();
    insta::assert_snapshot!(svg.replace("><", ">\n<"));
}

#[test]
fn every_entity_of_a_small_graph_has_its_name() {
    let svg = small_graph().svg();
    assert!(check_layout(&small_graph()).iter().all(Option::is_some));
    let texts = picture_texts(&svg);
    assert_eq!(texts[..2], ["Who mentions whom", "5 entities, 6 mentions"]);
    for node in small_graph().nodes {
        assert!(texts.contains(&node.name), "{} is missing", node.name);
    }
    for words in ["2 characters", "2 locations", "1 organization"] {
        assert!(texts.iter().any(|text| text == words), "{words} is not in {texts:?}");
    }
    assert!(!texts.iter().any(|text| text.contains("more") && text.starts_with("and")), "{texts:?}");
}

#[test]
fn mutual_mentions_are_one_line_with_two_heads() {
    assert_eq!(check_svg(&small_graph().svg()), (5, 6));
    assert_eq!(check_svg(&graph_of(&["a", "b"], &[(1, 2), (2, 1)]).svg()), (1, 2));
    // Repeated mentions, mentions of oneself and of unknown entities are not drawn.
    assert_eq!(check_svg(&graph_of(&["a", "b"], &[(1, 2), (1, 2), (1, 1), (1, 9), (9, 2)]).svg()), (1, 1));
}

#[test]
fn the_description_says_how_many_there_are_and_who_is_mentioned_most() {
    let svg = MentionGraph { left_out: 12, ..small_graph() }.svg();
    let document = Document::parse(&svg).unwrap();
    let text = |name: &str| {
        document.root_element().children().find(|node| node.has_tag_name(("http://www.w3.org/2000/svg", name)))
    };
    assert_eq!(text("title").and_then(|node| node.text()), Some("Who mentions whom"));
    let description = text("desc").and_then(|node| node.text()).unwrap();
    assert!(
        description.starts_with(
            "5 entities, 6 mentions: 2 characters, 2 locations, 1 organization. \
             Mentioned most: Mira Voss (by 3), Port Orlen (by 2), The Gilded Hand (by 1). And 12 more, not drawn."
        ),
        "{description}"
    );
    assert!(description.contains("Mira Voss and Port Orlen mention each other."), "{description}");
    assert!(description.contains("Old Tobin mentions The Gilded Hand."), "{description}");
    assert!(picture_texts(&svg).contains(&"and 12 more".to_owned()));
}

#[test]
fn an_empty_graph_says_how_to_begin() {
    let svg = graph_of(&[], &[]).svg();
    check_svg(&svg);
    let texts = picture_texts(&svg);
    assert!(texts.contains(&"Nothing mentions anything yet".to_owned()), "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("[[Name]]")), "{texts:?}");
    assert!(svg.contains("<desc>Nothing mentions anything yet. Write [[Name]] in an entry"), "{svg}");
    // Entities without a mention are drawn, with the same advice.
    let svg = graph_of(&["Mira", "Sel"], &[]).svg();
    check_svg(&svg);
    let texts = picture_texts(&svg);
    assert!(texts.contains(&"2 entities, no mentions yet".to_owned()), "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("[[Name]]")), "{texts:?}");
    // Entities that are not drawn are counted all the same.
    let svg = MentionGraph { left_out: 4, ..graph_of(&[], &[]) }.svg();
    check_svg(&svg);
    assert!(picture_texts(&svg).contains(&"and 4 more".to_owned()));
}

#[test]
fn the_same_graph_is_the_same_picture_in_any_order() {
    let graph = dense_graph(40, 4, "Somebody");
    let mut turned = graph.clone();
    turned.nodes.reverse();
    turned.edges.reverse();
    assert_eq!(graph.svg(), graph.clone().svg());
    assert_eq!(graph.svg(), turned.svg());
}

#[test]
fn a_forced_theme_has_no_style_sheet() {
    for (theme, ground) in [(Theme::Light, Ink::Sky.shade().light), (Theme::Dark, Ink::Sky.shade().dark)] {
        let svg = MentionGraph { theme, ..small_graph() }.svg();
        assert!(!svg.contains("<style>") && svg.contains(ground), "{theme:?}");
    }
    let svg = small_graph().svg();
    assert!(svg.contains("@media (prefers-color-scheme: dark)") && svg.contains(".fill-character{fill:"));
}

#[test]
fn names_stay_text() {
    let names = ["<script>alert(1)</script>", "\"onload=\"x", "🪐 Ω", "كوكب المريخ", "]]>&amp;", "\u{0}\u{b}", "  "];
    let graph = graph_of(&names, &[(1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (7, 1)]);
    check_layout(&graph);
    let svg = graph.svg();
    check_svg(&svg);
    for markup in ["<script", "\"onload=\"", "\u{fffd}"] {
        assert!(!svg.contains(markup), "{markup}");
    }
    let texts = picture_texts(&svg);
    for name in ["<script>alert(1)</script>", "\"onload=\"x", "]]>&amp;", "entity 6", "entity 7"] {
        assert!(texts.iter().any(|text| text == name), "{name} is not in {texts:?}");
    }
}

#[test]
fn deceptive_characters_are_not_drawn() {
    let svg = graph_of(&["evil\u{202e}txt", "a\u{e0041}\nb\u{2067}"], &[(1, 2)]).svg();
    assert!(!svg.contains(skald_domain::deceptive_characters::is_deceptive), "{svg}");
    let texts = picture_texts(&svg);
    assert!(texts.contains(&"eviltxt".to_owned()) && texts.contains(&"a b".to_owned()), "{texts:?}");
}

#[test]
fn clusters_are_apart() {
    let drawn = DrawnGraph::new(&two_clusters());
    let placement = NodePlacement::new(&drawn);
    // Entities have the same name, so follow the lines, without the one that joins the clusters.
    let neighbours = drawn.neighbours();
    let is_bridge = |line: &&drawn_graph::MentionLine| neighbours[line.from].is_disjoint(&neighbours[line.to]);
    let bridges: Vec<_> = drawn.lines.iter().filter(is_bridge).collect();
    assert_eq!(bridges.len(), 1);
    let mut first = vec![bridges[0].from];
    let mut next = 0;
    while next < first.len() {
        let more = neighbours[first[next]].iter().filter(|other| **other != bridges[0].to && !first.contains(other));
        let more: Vec<usize> = more.copied().collect();
        first.extend(more);
        next += 1;
    }
    assert_eq!(first.len(), 10);
    let x = |index: usize| placement.circles[index].at.0;
    let range = |is_first: bool| {
        let members = (0..20).filter(|index| first.contains(index) == is_first).map(x);
        members.fold((f64::MAX, f64::MIN), |(least, most), x| (least.min(x), most.max(x)))
    };
    let (one, other) = (range(true), range(false));
    assert!(one.1 + 40.0 < other.0 || other.1 + 40.0 < one.0, "{one:?} and {other:?}");
}

#[test]
fn larger_graphs_have_their_names_too() {
    for (graph, unnamed_max) in [
        (two_clusters(), 0),
        (dense_graph(20, 3, "Lady Eveline Drake"), 0),
        (dense_graph(60, 2, "Port Orlen"), 0),
        (dense_graph(60, 6, "The Gilded Hand"), 2),
        (dense_graph(60, 3, &"of a long and winding title ".repeat(8)), 3),
    ] {
        let unnamed = check_layout(&graph).iter().filter(|label| label.is_none()).count();
        assert!(unnamed <= unnamed_max, "{unnamed} of {} have no name", graph.nodes.len());
        let svg = graph.svg();
        check_svg(&svg);
        assert!(svg.len() < 150_000, "{} bytes", svg.len());
    }
}

#[test]
fn a_great_many_entities_take_bounded_room() {
    let graph = MentionGraph { left_out: 5, ..dense_graph(1_000, 10, "Somebody") };
    let svg = graph.svg();
    check_layout(&graph);
    check_svg(&svg);
    assert!(svg.contains(&format!("and {} more", 1_005 - NODES_MAX)));
    // Everybody mentions everybody.
    let complete = dense_graph(100, 100, "Somebody").svg();
    assert!(complete.len() < 1_000_000, "{} bytes", complete.len());
    let most = MentionGraph { left_out: usize::MAX, ..graph }.svg();
    check_svg(&most);
}

#[test]
fn every_group_has_its_own_colour_and_an_unknown_one_is_other() {
    let mut graph = graph_of(&["Someone"; 14], &[(1, 2)]);
    for (node, group) in graph.nodes.iter_mut().zip(GROUPS.map(|group| group.name).into_iter().chain(["dragon"])) {
        node.group = group;
    }
    let svg = graph.svg();
    check_layout(&graph);
    check_svg(&svg);
    let texts = picture_texts(&svg);
    assert!(texts.contains(&"2 others".to_owned()) && texts.contains(&"1 document".to_owned()), "{texts:?}");
    for (index, group) in GROUPS.iter().enumerate() {
        for other in &GROUPS[..index] {
            let (one, two) = (group.ink.shade(), other.ink.shade());
            assert!(one.light != two.light && one.dark != two.dark && one.class != two.class, "{group:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_mention_graph_is_well_formed(
        nodes in prop::collection::vec(
            (0..50_u64, any::<String>(), prop::sample::select(vec!["character", "item", "", "<b>"]), any::<usize>()),
            0..50,
        ),
        edges in prop::collection::vec((0..55_u64, 0..55_u64), 0..150),
        left_out in any::<usize>(),
    ) {
        let nodes = nodes.into_iter().map(|(id, name, group, degree)| MentionGraphNode { id, name, group, degree });
        let edges = edges.into_iter().map(|(from, to)| MentionGraphEdge { from, to });
        let graph = MentionGraph { nodes: nodes.collect(), edges: edges.collect(), relationships: Vec::new(), left_out, theme: Theme::Auto };
        check_layout(&graph);
        check_svg(&graph.svg());
    }
}

#[test]
fn a_relationship_is_a_bold_line_beside_the_mentions() {
    let plain = small_graph();
    let relationship =
        |from, to, word: &str, is_symmetric| super::GraphRelationship { from, to, word: word.to_owned(), is_symmetric };
    // Two of them stand where no mention is, and one leads to an entity that is not drawn.
    let relationships = vec![
        relationship(1, 5, "parent_of", false),
        relationship(3, 4, "rival_of", true),
        relationship(1, 2, "rules", false),
        relationship(1, 99, "knows", true),
    ];
    let svg = MentionGraph { relationships, ..plain.clone() }.svg();
    check_svg(&svg);
    assert!(svg.contains("6 mentions, 3 relationships"), "{svg}");
    assert!(svg.contains("Mira Voss parent_of Old Tobin. The Gilded Hand rival_of Captain Hale."), "{svg}");
    assert!(svg.contains("A bold one is a relationship."), "{svg}");
    assert!(!plain.svg().contains("relationship"));
}
