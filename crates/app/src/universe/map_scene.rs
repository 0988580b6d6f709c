//! Converts a universe into the scene of its map: positions seen from above, paths, kinds and colours.

use std::collections::BTreeMap;

use skald_domain::universe::{BodyKind, Position, Snapshot, Star, local_position, orbit};

use skald_picture::{Band, Cloud, Path, Point, Ring, SceneBody, SceneBodyKind, Theme, UniverseScene};

/// Default length of a rogue planet's trajectory before and after the time of the map, as in the original.
const TRAJECTORY_SECONDS: f64 = 100.0;

/// Default colours of belts.
const ROCK_COLOR: &str = "#9c8f7a";
const ICE_COLOR: &str = "#8fb3cc";

/// The scene of a universe at a time.
pub(super) fn universe_scene<'a>(name: &'a str, snapshot: &'a Snapshot, time: f64, theme: Theme) -> UniverseScene<'a> {
    let stars = snapshot.bodies();
    let mut bodies: Vec<SceneBody> = Vec::with_capacity(stars.len());
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    // A rogue planet need not be among the roots.
    let listed = snapshot.root_ids().iter().filter_map(|id| stars.get(id));
    let rogues = stars.values().filter(|star| star.parent_id.is_none() && star.is_rogue());
    let mut waiting: Vec<(&Star, Option<usize>)> = Vec::with_capacity(stars.len());
    for root in listed.chain(rogues) {
        if places.insert(&root.id, 0).is_none() {
            waiting.push((root, None));
        }
    }
    let mut next = 0;
    while let Some((star, parent)) = waiting.get(next).copied() {
        next += 1;
        let index = bodies.len();
        places.insert(&star.id, index);
        bodies.push(scene_body(star, parent, time));
        let children = star.children.iter().filter_map(|id| stars.get(id));
        waiting.extend(children.map(|child| (child.as_ref(), Some(index))));
    }
    for (hosts, band) in scene_bands(snapshot) {
        if let Some(host) = hosts.into_iter().find_map(|id| places.get(id)) {
            bodies[*host].bands.push(band);
        }
    }
    let groups = snapshot.groups().values().map(|group| &*group.name).collect();
    UniverseScene { title: name, time, bodies, clouds: scene_clouds(snapshot), groups, theme }
}

fn project_from_above(position: Position) -> Point {
    (position.x.0, position.z.0)
}

fn scene_body(star: &Star, parent: Option<usize>, time: f64) -> SceneBody<'_> {
    let path = match orbit(star) {
        Some(orbit) => Path::Orbit {
            center: project_from_above(orbit.center),
            major: project_from_above(orbit.major),
            minor: project_from_above(orbit.minor),
        },
        None => straight_path(star, time),
    };
    let colour = star.rogue_planet.as_ref().filter(|_| star.is_rogue()).and_then(|rogue| rogue.color_override.as_ref());
    let kind = scene_kind(star);
    SceneBody {
        id: &star.id,
        name: &star.name,
        kind,
        color: colour.unwrap_or(&star.color),
        mass: star.mass.0,
        radius: star.radius.0,
        parent,
        at: project_from_above(local_position(star, time)),
        path,
        is_rogue: star.is_rogue(),
        ring: star.ring.as_ref().map(|ring| Ring { outer: ring.outer_radius_multiplier.0, color: &ring.color }),
        tail: match &star.comet {
            Some(comet) if comet.has_tail => Some(&comet.tail_color),
            None if kind == SceneBodyKind::Comet => Some(&star.color),
            _ => None,
        },
        accretion: star.black_hole.as_ref().filter(|hole| hole.has_accretion_disk).map(|hole| {
            hole.disk_inner_color.as_ref().or(hole.disk_outer_color.as_ref()).map_or("#ffa93a", |colour| &**colour)
        }),
        bands: Vec::new(),
    }
}

/// The straight path of a body without an orbit, from a past to a future position.
fn straight_path(star: &Star, time: f64) -> Path {
    let meta = star.rogue_planet.as_deref();
    let is_shown = meta.is_none_or(|meta| meta.show_trajectory != Some(false));
    let window = |seconds: Option<f64>| if is_shown { seconds.unwrap_or(TRAJECTORY_SECONDS) } else { 0.0 };
    let past = window(meta.and_then(|meta| meta.trajectory_past_window).map(|seconds| seconds.0));
    let future = window(meta.and_then(|meta| meta.trajectory_future_window).map(|seconds| seconds.0));
    Path::Straight {
        from: project_from_above(local_position(star, time - past)),
        to: project_from_above(local_position(star, time + future)),
    }
}

fn scene_kind(star: &Star) -> SceneBodyKind {
    match star.kind() {
        BodyKind::Star => SceneBodyKind::Star,
        BodyKind::Planet => SceneBodyKind::Planet,
        BodyKind::Moon => SceneBodyKind::Moon,
        BodyKind::Asteroid => SceneBodyKind::Asteroid,
        BodyKind::Comet => SceneBodyKind::Comet,
        BodyKind::LagrangePoint => SceneBodyKind::LagrangePoint,
        BodyKind::BlackHole => SceneBodyKind::BlackHole,
        BodyKind::Unspecified => SceneBodyKind::Other,
    }
}

/// Visible belts, fields and disks, each with the ids of possible hosts. The first host that exists counts.
fn scene_bands(snapshot: &Snapshot) -> impl Iterator<Item = (Vec<&str>, Band<'_>)> {
    let belts = snapshot.belts().values().filter(|belt| belt.visible != Some(false)).map(|belt| {
        let plain = if belt.is_icy == Some(true) { ICE_COLOR } else { ROCK_COLOR };
        let band = Band {
            name: &belt.name,
            color: belt.color.as_deref().unwrap_or(plain),
            inner: belt.inner_radius.0,
            outer: belt.outer_radius.0,
            opacity: 0.7,
            is_disk: false,
        };
        (vec![&*belt.parent_id], band)
    });
    let fields = snapshot.small_body_fields().values().filter(|field| field.visible != Some(false)).map(|field| {
        let band = Band {
            name: field.name.as_ref().unwrap_or(&field.region_label),
            color: &field.base_color,
            inner: field.inner_radius.0,
            outer: field.outer_radius.0,
            opacity: field.opacity.clamped(),
            is_disk: false,
        };
        (vec![&*field.host_star_id, &*field.system_id], band)
    });
    let disks = snapshot.protoplanetary_disks().values().map(|disk| {
        let band = Band {
            name: disk.name.as_deref().unwrap_or("protoplanetary disk"),
            color: &disk.base_color,
            inner: disk.inner_radius.0,
            outer: disk.outer_radius.0,
            opacity: disk.opacity.clamped(),
            is_disk: true,
        };
        (vec![&*disk.central_star_id, &*disk.system_id], band)
    });
    belts.chain(fields).chain(disks)
}

fn scene_clouds(snapshot: &Snapshot) -> Vec<Cloud<'_>> {
    let seen = snapshot.nebulae().values().filter(|nebula| nebula.visible != Some(false));
    seen.map(|nebula| {
        let size = nebula.dimensions.map_or((nebula.radius.0, nebula.radius.0), project_from_above);
        Cloud {
            name: &nebula.name,
            color: &nebula.base_color,
            accent: &nebula.accent_color,
            at: project_from_above(nebula.position),
            size: (size.0.abs(), size.1.abs()),
            density: nebula.density.clamped(),
        }
    })
    .collect()
}
