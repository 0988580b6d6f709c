use proptest::prelude::*;
use skald_domain::dice::{Outcome, judge};

use super::measure_and_format_text::{format_percent, shorten, text_width};
use super::palette::Ink;
use super::*;

const TWO_DICE: [(i64, f64); 3] = [(2, 0.25), (3, 0.5), (4, 0.25)];

fn chart<'a>(name: &'a str, bars: &'a [(i64, f64)]) -> Chart<'a> {
    let series = Series { name, bars };
    Chart { title: name, subtitle: "", series, against: None, mode: ChartMode::Exactly, mark: None, theme: Theme::Auto }
}

fn duality_cells(modifier: i32, difficulty: Option<i32>) -> impl Fn(i32, i32) -> Cell {
    move |hope, fear| {
        let judgement = judge(hope, fear, modifier, difficulty).unwrap();
        Cell { total: judgement.total, outcome: judgement.outcome }
    }
}

/// The texts of a picture. It has to be well-formed, with every number in it a number.
pub(super) fn picture_texts(svg: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(svg).unwrap();
    for attribute in document.descendants().flat_map(|node| node.attributes()) {
        let value = attribute.value();
        assert!(!value.contains("NaN") && !value.contains("inf"), "{} is {value}", attribute.name());
    }
    let texts = document.descendants().filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "text")));
    texts.filter_map(|node| node.text()).map(str::to_owned).collect()
}

#[test]
fn a_small_chart() {
    let mark = Some(Mark { mode: ChartMode::AtLeast, value: 3 });
    let svg = Chart { subtitle: "two coins", mark, ..chart("2d2", &TWO_DICE) }.svg();
    insta::assert_snapshot!(svg.replace("><", ">\n<"));
}

#[test]
fn a_forced_theme_has_no_style_sheet() {
    for (theme, card) in [(Theme::Light, Ink::Card.shade().light), (Theme::Dark, Ink::Card.shade().dark)] {
        let svg = Chart { theme, ..chart("2d2", &TWO_DICE) }.svg();
        assert!(!svg.contains("<style>") && svg.contains(card), "{theme:?}");
    }
    assert!(chart("2d2", &TWO_DICE).svg().contains("@media (prefers-color-scheme: dark)"));
}

#[test]
fn names_stay_text() {
    let name = "<script>alert(\"1\")</script> & \u{0}\u{b}\u{ffff}]]>";
    let svg = chart(name, &TWO_DICE).svg();
    assert!(!svg.contains("<script"));
    assert_eq!(picture_texts(&svg)[0], "<script>alert(\"1\")</script> & \u{fffd}\u{fffd}\u{fffd}]]>");
}

#[test]
fn sums_reach_over_the_totals_of_both() {
    let (one, other) = ([(2, 1.0)], [(1, 0.5), (3, 0.5)]);
    let against = Some(Series { name: "other", bars: &other });
    let svg = |mode| Chart { against, mode, ..chart("one", &one) }.svg();
    let bars = |svg: &str| picture_texts(svg).iter().filter(|text| ["100%", "50%"].contains(&text.as_str())).count();
    // One label is of the axis; the others are of bars at 1 and 2 (or 2 and 3), and at 1, 2 and 3.
    assert_eq!(bars(&svg(ChartMode::AtLeast)), 1 + 2 + 3);
    assert_eq!(bars(&svg(ChartMode::AtMost)), 1 + 2 + 3);
}

#[test]
fn a_chart_of_nothing_says_so() {
    for bars in [&[][..], &[(1, f64::NAN), (2, -1.0), (3, 0.0)]] {
        assert_eq!(picture_texts(&chart("nothing", bars).svg()), ["nothing", "nothing to show"]);
    }
}

#[test]
fn thousands_of_totals_are_one_outline() {
    let bars: Vec<(i64, f64)> = (0..50_000).map(|value| (value, 1.0 / 50_000.0)).collect();
    for mode in [ChartMode::Exactly, ChartMode::AtLeast, ChartMode::AtMost] {
        let svg = Chart { mode, ..chart("1d50000", &bars) }.svg();
        assert!(svg.len() < 30_000, "{mode:?} takes {} bytes", svg.len());
        assert!(picture_texts(&svg).len() < 30);
    }
}

#[test]
fn tails_are_left_out_and_said_to_be() {
    let bars: Vec<(i64, f64)> = (-100..=100).map(|value| (value, if value == 0 { 0.999_98 } else { 1e-7 })).collect();
    let note = "not drawn: the least likely of −100 to 100, under 0.1% together";
    assert!(picture_texts(&chart("long tails", &bars).svg()).contains(&note.to_owned()));
    let unlikely: Vec<(i64, f64)> = (1..=100).map(|value| (value, 1e-30)).collect();
    let texts = picture_texts(&chart("all unlikely", &unlikely).svg());
    assert!(texts.contains(&"1".to_owned()) || texts.contains(&"10".to_owned()), "{texts:?}");
    assert!(!texts.iter().any(|text| text.starts_with("not drawn")), "{texts:?}");
}

#[test]
fn a_long_name_keeps_its_beginning_and_its_end() {
    let name = format!("first{}last", "+1d6".repeat(120));
    let short = shorten(&name, 17.0, 600.0);
    assert!(short.starts_with("first") && short.ends_with("last") && short.contains('…'), "{short}");
    assert!(text_width(&short, 17.0) <= 600.0);
    assert!(chart(&name, &TWO_DICE).svg().contains(&format!("<title>{name}</title>")));
}

#[test]
fn percentages_are_never_certain_by_rounding() {
    let cases = [
        (0.0, "0%"),
        (1e-30, "<0.1%"),
        (0.0463, "4.6%"),
        (0.5, "50%"),
        (0.999_9, ">99.9%"),
        (1.0 - 1e-15, "100%"),
        (1.0, "100%"),
    ];
    for (chance, text) in cases {
        assert_eq!(format_percent(chance, 1), text);
    }
}

#[test]
fn a_grid_counts_all_pairs() {
    let grid = Grid { title: "duality(+2, dc 15)", subtitle: "", theme: Theme::Auto };
    let shares =
        |svg: &str| -> Vec<String> { picture_texts(svg).into_iter().filter(|text| text.contains("of 144")).collect() };
    assert_eq!(
        shares(&grid.svg(duality_cells(2, Some(15)))),
        [
            "12 of 144 · 8.33%",
            "36 of 144 · 25%",
            "36 of 144 · 25%",
            "30 of 144 · 20.83%",
            "30 of 144 · 20.83%",
            "84 of 144"
        ]
    );
    assert_eq!(
        shares(&grid.svg(duality_cells(0, None))),
        ["12 of 144 · 8.33%", "66 of 144 · 45.83%", "66 of 144 · 45.83%"]
    );
}

#[test]
fn every_outcome_has_a_name_and_room_for_it() {
    for outcome in Outcome::ALL {
        let grid = Grid { title: "one outcome", subtitle: "", theme: Theme::Light };
        let texts = picture_texts(&grid.svg(|_, _| Cell { total: i64::MIN, outcome }));
        assert!(texts.iter().any(|text| text == outcome.label()), "{outcome:?}");
        assert!(texts.iter().any(|text| text == "144 of 144 · 100%"));
    }
}

/// The contrast of two colours, by the formula of WCAG 2.
fn contrast(one: &str, other: &str) -> f64 {
    let channel = |colour: &str, at: usize| {
        let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
        if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    let luminance =
        |colour: &str| 0.2126 * channel(colour, 1) + 0.7152 * channel(colour, 3) + 0.0722 * channel(colour, 5) + 0.05;
    let (one, other) = (luminance(one), luminance(other));
    one.max(other) / one.min(other)
}

#[test]
fn text_is_legible_in_light_and_in_dark() {
    let pairs = [
        (Ink::Text, Ink::Card, 4.5),
        (Ink::Muted, Ink::Card, 4.5),
        (Ink::Success, Ink::Card, 4.5),
        // The means of two series are written in their colours.
        (Ink::First, Ink::Card, 4.5),
        (Ink::Second, Ink::Card, 4.5),
        (Ink::OnCritical, Ink::Critical, 4.5),
        (Ink::OnHopeSuccess, Ink::HopeSuccess, 4.5),
        (Ink::OnFearSuccess, Ink::FearSuccess, 4.5),
        (Ink::OnHopeFailure, Ink::HopeFailure, 4.5),
        (Ink::OnFearFailure, Ink::FearFailure, 4.5),
        // Names on a map, and what they name.
        (Ink::Text, Ink::Sky, 4.5),
        (Ink::Muted, Ink::Sky, 4.5),
        (Ink::Outline, Ink::Sky, 4.5),
        // Names of states on their boxes.
        (Ink::OnCurrent, Ink::Current, 4.5),
        (Ink::OnVisited, Ink::Visited, 4.5),
        // Bars that succeed and bars that do not.
        (Ink::Success, Ink::Rest, 3.0),
        // Circles of entities.
        (Ink::Character, Ink::Sky, 3.0),
        (Ink::Creature, Ink::Sky, 3.0),
        (Ink::Location, Ink::Sky, 3.0),
        (Ink::Organization, Ink::Sky, 3.0),
        (Ink::Race, Ink::Sky, 3.0),
        (Ink::Note, Ink::Sky, 3.0),
        (Ink::Journal, Ink::Sky, 3.0),
        (Ink::Quest, Ink::Sky, 3.0),
        (Ink::Item, Ink::Sky, 3.0),
        (Ink::Clue, Ink::Sky, 3.0),
        (Ink::Event, Ink::Sky, 3.0),
        (Ink::Document, Ink::Sky, 3.0),
        (Ink::OtherEntity, Ink::Sky, 3.0),
    ];
    for (ink, on, least) in pairs {
        for (one, other) in [(ink.shade().light, on.shade().light), (ink.shade().dark, on.shade().dark)] {
            assert!(contrast(one, other) >= least, "{ink:?} on {on:?}: {:.2}", contrast(one, other));
        }
    }
}

fn any_mode() -> impl Strategy<Value = ChartMode> {
    prop_oneof![Just(ChartMode::Exactly), Just(ChartMode::AtLeast), Just(ChartMode::AtMost)]
}

fn any_value() -> impl Strategy<Value = i64> {
    prop_oneof![-30..30_i64, -100_000..100_000_i64, any::<i64>(), Just(i64::MIN), Just(i64::MAX)]
}

fn any_bars() -> impl Strategy<Value = Vec<(i64, f64)>> {
    let chance = prop_oneof![0.0..=1.0, Just(1e-30), Just(1.0), any::<f64>()];
    prop::collection::vec((any_value(), chance), 0..200)
}

proptest! {
    #[test]
    fn any_chart_is_well_formed(
        bars in any_bars(), others in prop::option::of(any_bars()), name in any::<String>(),
        mode in any_mode(), mark in prop::option::of((any_mode(), any_value())),
    ) {
        let mark = mark.map(|(mode, value)| Mark { mode, value });
        let against = others.as_ref().map(|bars| Series { name: &name, bars });
        let svg = Chart { mode, mark, against, subtitle: &name, ..chart(&name, &bars) }.svg();
        picture_texts(&svg);
    }
}

#[test]
fn luck_is_a_strip_of_dots_for_each_name() {
    let rows = [
        LuckStripRow { name: "Mira", places: &[0.1, 0.9, 0.95] },
        LuckStripRow { name: "Nobody", places: &[] },
        LuckStripRow { name: "Broken", places: &[f64::NAN, 2.0, -1.0] },
    ];
    let svg = LuckStrip { title: "Luck", rows: &rows, theme: Theme::Auto }.svg();
    assert_eq!(picture_texts(&svg), ["Luck", "Mira", "Nobody", "Broken", "unlucky", "as likely", "lucky"]);
    assert_eq!(svg.matches("<circle").count(), 5);
    assert!(svg.contains("Mira: 3 rolls, 65% of the way from unlucky to lucky."), "{svg}");
    let empty = LuckStrip { title: "Luck", rows: &[], theme: Theme::Dark }.svg();
    assert!(picture_texts(&empty).contains(&"no rolls yet".to_owned()));
}
