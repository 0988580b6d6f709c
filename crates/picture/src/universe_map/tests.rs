use proptest::prelude::*;

use super::map_layout::MapLayout;
use super::*;
use crate::panel_area::PanelArea;
use crate::tests::picture_texts;

fn body(name: &str, kind: SceneBodyKind, parent: Option<usize>, distance: f64, degrees: f64) -> SceneBody<'_> {
    let (sin, cos) = degrees.to_radians().sin_cos();
    SceneBody {
        id: name,
        name,
        kind,
        color: "#c8a070",
        mass: 1.0,
        radius: 1.0,
        parent,
        at: (distance * cos, distance * sin),
        path: Path::Orbit { center: (0.0, 0.0), major: (distance, 0.0), minor: (0.0, distance) },
        is_rogue: false,
        ring: None,
        tail: None,
        accretion: None,
        bands: Vec::new(),
    }
}

fn cloud(name: &str, at: Point, size: f64) -> Cloud<'_> {
    Cloud { name, color: "#6a4c93", accent: "#ff6b9d", at, size: (size, size), density: 0.5 }
}

fn scene_of(bodies: Vec<SceneBody<'_>>) -> UniverseScene<'_> {
    UniverseScene { title: "Here", time: 0.0, bodies, clouds: Vec::new(), groups: Vec::new(), theme: Theme::Auto }
}

/// Distances as those of the Solar System, with moons that are a thousand times nearer.
fn solar_system() -> Vec<SceneBody<'static>> {
    let mut bodies = vec![body("Sun", SceneBodyKind::Star, None, 0.0, 0.0)];
    for (name, distance, degrees) in [
        ("Mercury", 0.39, 252.0),
        ("Venus", 0.72, 182.0),
        ("Earth", 1.0, 100.0),
        ("Mars", 1.52, 355.0),
        ("Jupiter", 5.2, 34.0),
        ("Saturn", 9.5, 50.0),
        ("Uranus", 19.2, 313.0),
        ("Neptune", 30.1, 305.0),
    ] {
        bodies.push(body(name, SceneBodyKind::Planet, Some(0), distance, degrees));
    }
    bodies.push(body("Moon", SceneBodyKind::Moon, Some(3), 0.0026, 218.0));
    for (name, distance, degrees) in
        [("Io", 0.0028, 20.0), ("Europa", 0.0045, 130.0), ("Ganymede", 0.0072, 250.0), ("Callisto", 0.0126, 330.0)]
    {
        bodies.push(body(name, SceneBodyKind::Moon, Some(5), distance, degrees));
    }
    let belt = |name, inner, outer| Band { name, color: "#a08c72", inner, outer, opacity: 0.6, is_disk: false };
    bodies[0].bands = vec![belt("Asteroid belt", 2.1, 3.3), belt("Kuiper belt", 31.0, 49.0)];
    bodies[6].ring = Some(Ring { outer: 2.3, color: "#cdb98c" });
    bodies
}

/// Checks the invariants of the layout.
fn check_layout<'a>(scene: &'a UniverseScene<'a>) -> MapLayout<'a> {
    let layout = MapLayout::new(scene);
    let card = PanelArea { left: 0.0, top: 0.0, width: map_layout::WIDTH, height: layout.height };
    for panel in &layout.panels {
        assert!(card.contains(&panel.area), "{:?}", panel.area);
        for disc in &panel.discs {
            assert!(
                panel.area.contains(&PanelArea::centered_at(disc.at, disc.radius)),
                "{disc:?} is outside of {:?}",
                panel.area
            );
        }
        for dot in &panel.dots {
            assert!(panel.area.contains(&PanelArea::centered_at(*dot, 0.5)), "{dot:?}");
        }
    }
    for (index, label) in layout.labels.iter().enumerate() {
        assert!(layout.panels.iter().any(|panel| panel.area.contains(&label.area)), "{label:?} is in no panel");
        for other in &layout.labels[..index] {
            assert!(!label.area.overlaps(&other.area), "{} meets {}", label.text, other.text);
        }
        for disc in layout.panels.iter().flat_map(|panel| &panel.discs) {
            assert!(
                !label.area.overlaps(&PanelArea::centered_at(disc.at, disc.radius)),
                "{} covers {disc:?}",
                label.text
            );
        }
    }
    layout
}

#[test]
fn a_solar_system_has_all_its_names() {
    let scene = scene_of(solar_system());
    let layout = check_layout(&scene);
    assert_eq!((layout.unlabelled, layout.undrawn, layout.dotted), (0, 0, 0));
    let texts = picture_texts(&scene.svg());
    for name in scene.bodies.iter().map(|body| body.name).chain(["Asteroid belt", "Kuiper belt"]) {
        assert!(texts.iter().any(|text| text == name), "{name} is missing");
    }
    assert!(texts.contains(&"time 0 · 1 star, 8 planets, 5 moons, 2 belts".to_owned()), "{texts:?}");
    // The planets are in their order from the star outwards, and apart.
    let discs = &layout.panels[0].discs;
    let from_star =
        |disc: &map_layout::Disc| distance_scale::length((disc.at.0 - discs[0].at.0, disc.at.1 - discs[0].at.1));
    let planets: Vec<f64> =
        discs.iter().filter(|disc| scene.bodies[disc.body].kind == SceneBodyKind::Planet).map(from_star).collect();
    assert!(planets.windows(2).all(|pair| pair[1] - pair[0] > 15.0), "{planets:?}");
}

#[test]
fn even_distances_are_drawn_to_scale() {
    let planet =
        |number: u8| body("planet", SceneBodyKind::Planet, Some(0), f64::from(number) * 10.0, f64::from(number) * 40.0);
    let mut bodies = vec![body("star", SceneBodyKind::Star, None, 0.0, 0.0)];
    bodies.extend((1..=6).map(planet));
    let even = scene_of(bodies.clone());
    assert_eq!(check_layout(&even).panels[0].note, "distances to scale");
    // Something far away bends the scale, and the picture says so.
    bodies.push(body("far", SceneBodyKind::Planet, Some(0), 1e7, 0.0));
    let far = scene_of(bodies);
    assert_eq!(check_layout(&far).panels[0].note, "distances on a logarithmic scale");
}

#[test]
fn the_same_sky_is_the_same_picture() {
    let one = scene_of(solar_system());
    assert_eq!(one.svg(), one.clone().svg());
    assert_ne!(one.svg(), UniverseScene { time: 1.0, ..one.clone() }.svg());
}

#[test]
fn a_forced_theme_has_no_style_sheet() {
    for (theme, ground) in [(Theme::Light, "#f5f7fb"), (Theme::Dark, "#0a0e17")] {
        let svg = UniverseScene { theme, ..scene_of(solar_system()) }.svg();
        assert!(!svg.contains("<style>") && svg.contains(ground), "{theme:?}");
    }
    let svg = scene_of(solar_system()).svg();
    assert!(svg.contains("@media (prefers-color-scheme: dark)") && svg.contains(".fill-sky{fill:#0a0e17}"));
}

#[test]
fn colours_are_read_in_every_form() {
    let read = |text: &str| chosen_colour::HexColour::parse(text).hex();
    assert_eq!(["#fa0", "#FA08", "#ffaa00", "#FFAA0080"].map(read), ["#ffaa00"; 4].map(str::to_owned));
    let grey = read("");
    assert_eq!(["red", "#red", "#12", "#12345", "fa0", "#ffaa0g"].map(read), [(); 6].map(|()| grey.clone()));
}

#[test]
fn an_empty_sky_says_so() {
    let svg = scene_of(Vec::new()).svg();
    assert_eq!(picture_texts(&svg)[..3], ["Here", "time 0 · nothing in it yet", "An empty sky"].map(str::to_owned));
}

#[test]
fn names_stay_text() {
    let names = ["<script>alert(1)</script>", "\"onload=\"x", "🪐 Ω", "كوكب المريخ", "]]>&amp;", "\u{0}\u{b}"];
    let long = "x".repeat(200);
    let mut bodies = vec![body(names[0], SceneBodyKind::Star, None, 0.0, 0.0)];
    for (number, name) in (1_u8..).zip(names.iter().copied().chain([long.as_str()])) {
        bodies.push(body(name, SceneBodyKind::Planet, Some(0), f64::from(number), f64::from(number) * 77.0));
    }
    bodies[0].bands =
        vec![Band { name: "<b>", color: "red\"/>", inner: 8.0, outer: 9.0, opacity: f64::NAN, is_disk: true }];
    let hostile = UniverseScene {
        title: names[0],
        groups: names.to_vec(),
        clouds: vec![cloud("<i>", (9.0, 9.0), 2.0)],
        ..scene_of(bodies)
    };
    check_layout(&hostile);
    let svg = hostile.svg();
    for markup in ["<script", "<b>", "<i>", "\"onload=\"", "red"] {
        assert!(!svg.contains(markup), "{markup}");
    }
    assert!(picture_texts(&svg).contains(&names[0].to_owned()));
}

#[test]
fn systems_at_one_place_are_drawn_apart() {
    let mut bodies: Vec<SceneBody> = (0..30).map(|_| body("a system", SceneBodyKind::Star, None, 0.0, 0.0)).collect();
    bodies.extend((0..30).map(|parent| body("a planet", SceneBodyKind::Planet, Some(parent), 5.0, 10.0)));
    let galaxy = scene_of(bodies);
    let layout = check_layout(&galaxy);
    assert_eq!(layout.panels.len(), 1 + map_layout::PANELS_MAX);
    assert_eq!((layout.panelless, layout.undrawn), (21, 21));
    let discs = &layout.panels[0].discs;
    for (index, disc) in discs.iter().enumerate() {
        for other in &discs[..index] {
            let distance = distance_scale::length((disc.at.0 - other.at.0, disc.at.1 - other.at.1));
            assert!(distance > disc.radius + other.radius, "{disc:?} is on {other:?}");
        }
    }
}

#[test]
fn a_wanderer_has_a_dashed_way_and_an_arrow() {
    let mut rogue = body("Nomad", SceneBodyKind::Planet, None, 0.0, 0.0);
    rogue.is_rogue = true;
    rogue.path = Path::Straight { from: (-20.0, 3.0), to: (20.0, -3.0) };
    let svg = UniverseScene { clouds: vec![cloud("Rose", (30.0, 0.0), 20.0)], ..scene_of(vec![rogue]) }.svg();
    assert!(svg.contains("stroke-dasharray") && picture_texts(&svg).contains(&"Rose".to_owned()));
}

#[test]
fn a_great_many_bodies_take_bounded_room() {
    let mut stones = vec![body("star", SceneBodyKind::Star, None, 0.0, 0.0)];
    for number in 0..10_000_u32 {
        let mut stone = body("a stone of some name", SceneBodyKind::Asteroid, Some(0), 0.0, 0.0);
        let number = f64::from(number);
        stone.at = (number.sin() * (50.0 + number / 100.0), number.cos() * (50.0 + number / 100.0));
        // No circle, so that its orbit is many points.
        stone.path = Path::Orbit { center: (1.0, 0.0), major: (60.0, 9.0), minor: (-7.0, 40.0) };
        stone.mass = number;
        stones.push(stone);
    }
    let planets = stones.iter().map(|stone| SceneBody {
        kind: if stone.parent.is_some() { SceneBodyKind::Planet } else { SceneBodyKind::Star },
        ..stone.clone()
    });
    let planets = planets.collect::<Vec<_>>();
    // A chain: each body moves around the one before.
    let chain = (0..100_000)
        .map(|index: usize| body("link", SceneBodyKind::Planet, index.checked_sub(1), 3.0, 20.0))
        .collect::<Vec<_>>();
    let roots = (0..10_000).map(|_| body("root", SceneBodyKind::Star, None, 3.0, 20.0)).collect::<Vec<_>>();
    for bodies in [stones, planets, chain, roots] {
        let many = scene_of(bodies);
        let layout = check_layout(&many);
        let drawn: usize = layout.panels.iter().map(|panel| panel.discs.len() + panel.dots.len()).sum();
        assert!(drawn + layout.undrawn >= many.bodies.len(), "{drawn} drawn and {} not", layout.undrawn);
        let svg = many.svg();
        assert!(svg.len() < 1_000_000, "{} bytes", svg.len());
        assert!(picture_texts(&svg).len() < 300);
    }
}

fn any_number() -> impl Strategy<Value = f64> {
    prop_oneof![-100.0..100.0_f64, 0.0..1.0_f64, -1e7..1e7_f64, any::<f64>(), Just(0.0), Just(f64::MAX)]
}

fn any_point() -> impl Strategy<Value = Point> {
    (any_number(), any_number())
}

fn any_kind() -> impl Strategy<Value = SceneBodyKind> {
    prop::sample::select(vec![
        SceneBodyKind::Star,
        SceneBodyKind::BlackHole,
        SceneBodyKind::Planet,
        SceneBodyKind::Comet,
        SceneBodyKind::Moon,
        SceneBodyKind::Other,
        SceneBodyKind::Asteroid,
        SceneBodyKind::LagrangePoint,
    ])
}

fn any_body() -> impl Strategy<Value = (SceneBody<'static>, usize)> {
    let path = prop_oneof![
        (any_point(), any_point(), any_point()).prop_map(|(center, major, minor)| Path::Orbit { center, major, minor }),
        (any_point(), any_point()).prop_map(|(from, to)| Path::Straight { from, to }),
    ];
    let looks = (
        any_kind(),
        any::<bool>(),
        any::<bool>(),
        any_number(),
        any_number(),
        prop::sample::select(vec!["", "a", "Some World"]),
    );
    let band = prop::collection::vec((any_number(), any_number(), any_number(), any::<bool>()), 0..3);
    (looks, any_point(), path, band, 0..80_usize).prop_map(
        |((kind, is_rogue, is_rich, mass, radius, name), at, path, bands, parent)| {
            let ring = is_rich.then_some(Ring { outer: mass, color: "#fff" });
            let bands = bands.into_iter().map(|(inner, outer, opacity, is_disk)| Band {
                name,
                color: "#abc",
                inner,
                outer,
                opacity,
                is_disk,
            });
            let body = SceneBody {
                mass,
                radius,
                at,
                path,
                is_rogue,
                ring,
                tail: is_rich.then_some("#fff"),
                accretion: is_rich.then_some("#fa0"),
                bands: bands.collect(),
                ..body(name, kind, None, 0.0, 0.0)
            };
            (body, parent)
        },
    )
}

#[test]
fn a_reader_of_the_picture_finds_each_body_by_its_id() {
    let hostile = SceneBody { id: "a\"b<c", ..body("Vex", SceneBodyKind::Planet, Some(0), 3.0, 10.0) };
    let svg = scene_of(vec![body("Sun", SceneBodyKind::Star, None, 0.0, 0.0), hostile]).svg();
    picture_texts(&svg);
    assert!(svg.contains("<g class=\"body\" data-body=\"Sun\" data-name=\"Sun\" data-x="), "{svg}");
    assert!(svg.contains("data-body=\"a&quot;b&lt;c\" data-name=\"Vex\""), "{svg}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_sky_is_well_formed(
        bodies in prop::collection::vec(any_body(), 0..80),
        clouds in prop::collection::vec((any_point(), any_point(), any_number()), 0..4),
        time in any_number(),
    ) {
        let linked = bodies.into_iter().enumerate().map(|(index, (body, parent))| {
            // The first is a root, and so is one in ten of the others.
            let parent = (index > 0 && parent >= 8).then(|| parent % index);
            SceneBody { parent, ..body }
        });
        let clouds = clouds.into_iter().map(|(at, size, density)| Cloud { size, density, ..cloud("a cloud", at, 1.0) });
        let any = UniverseScene { time, clouds: clouds.collect(), ..scene_of(linked.collect()) };
        check_layout(&any);
        picture_texts(&any.svg());
    }
}
