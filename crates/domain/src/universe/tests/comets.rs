//! Compares positions of two comets with those of an ephemeris library.
//!
//! The elements are published ones: 1P/Halley by JPL (epoch 1994-02-17), 2P/Encke as in J. Meeus, Astronomical
//! Algorithms, example 33.b (perihelion of 1990). Angles are in the ecliptic of J2000.
//!
//! The positions are those of `ephem` 4.2.1, a package of the Python index: `EllipticalBody` with these elements, its
//! `sun_distance`, `hlon` and `hlat` as heliocentric ecliptic coordinates in astronomical units. It answers for the time at
//! which the light left; the dates were shifted by that time, and the equinox was set to the date, so that nothing is
//! precessed. `pymeeus` 0.5.12, `Minor.heliocentric_ecliptical_position`, has the same directions within 0.005 degrees.

use serde_json::{Value, json};

use super::super::*;

/// Published elements of an orbit. Angles are in degrees, the axis in astronomical units.
struct Elements {
    semi_major_axis: f64,
    eccentricity: f64,
    inclination: f64,
    ascending_node: f64,
    argument_of_perihelion: f64,
}

const HALLEY: Elements = Elements {
    semi_major_axis: 17.834_144_29,
    eccentricity: 0.967_142_908_5,
    inclination: 162.262_690_6,
    ascending_node: 58.420_080_98,
    argument_of_perihelion: 111.332_485_1,
};

/// Days from the perihelion, JD 2446467.395317, and the position then.
const HALLEY_POSITIONS: [(f64, [f64; 3]); 12] = [
    (-9000.0, [-16.350_374, 26.502_622, -8.894_665]),
    (-3000.0, [-7.002_847, 17.210_049, -4.790_993]),
    (-300.0, [0.369_205, 4.215_621, -0.605_536]),
    (-40.0, [0.867_295, 0.504_553, 0.151_814]),
    (-3.0, [0.402_935, -0.393_129, 0.175_647]),
    (0.0, [0.331_245, -0.453_867, 0.166_287]),
    (25.0, [-0.339_699, -0.716_944, 0.027_528]),
    (100.0, [-1.811_508, -0.458_014, -0.416_899]),
    (500.0, [-5.506_170, 1.938_423, -1.825_076]),
    (2000.0, [-11.659_064, 8.431_180, -4.589_257]),
    (7000.0, [-19.177_129, 20.639_977, -8.682_902]),
    (13_750.0, [-19.834_361, 27.170_686, -9.955_924]),
];

const ENCKE: Elements = Elements {
    semi_major_axis: 2.209_140_4,
    eccentricity: 0.850_219_6,
    inclination: 11.945_24,
    ascending_node: 334.750_06,
    argument_of_perihelion: 186.233_52,
};

/// Days from the perihelion, JD 2448193.04502, and the position then.
const ENCKE_POSITIONS: [(f64, [f64; 3]); 12] = [
    (-900.0, [2.773_159, -1.910_377, -0.115_280]),
    (-300.0, [3.355_638, -0.219_693, 0.260_788]),
    (-60.0, [1.061_518, 0.678_277, 0.225_580]),
    (-20.0, [0.183_460, 0.562_896, 0.124_263]),
    (-4.0, [-0.242_371, 0.249_217, 0.025_814]),
    (0.0, [-0.312_505, 0.108_494, -0.007_442]),
    (3.0, [-0.339_437, -0.007_066, -0.031_984]),
    (10.0, [-0.322_672, -0.265_988, -0.080_015]),
    (50.0, [0.271_074, -1.078_931, -0.181_985]),
    (200.0, [2.020_495, -1.855_594, -0.172_721]),
    (600.0, [3.860_583, -1.339_479, 0.092_091]),
    (1100.0, [1.675_959, 0.593_440, 0.264_796]),
];

/// Degrees per day of a body that goes around the Sun at one astronomical unit (Gauss).
const MEAN_MOTION: f64 = 0.985_607_668_6;

impl Elements {
    /// The axes of the orbit in ecliptic coordinates: towards the perihelion, and a quarter of a turn further.
    fn axes(&self) -> [[f64; 3]; 2] {
        let [inclination, node, argument] = [self.inclination, self.ascending_node, self.argument_of_perihelion]
            .map(|angle| angle.to_radians().sin_cos());
        let perihelion = [
            node.1 * argument.1 - node.0 * argument.0 * inclination.1,
            node.0 * argument.1 + node.1 * argument.0 * inclination.1,
            argument.0 * inclination.0,
        ];
        let quarter = [
            -node.1 * argument.0 - node.0 * argument.1 * inclination.1,
            -node.0 * argument.0 + node.1 * argument.1 * inclination.1,
            argument.1 * inclination.0,
        ];
        [perihelion, quarter]
    }

    /// The comet as a body of a universe, at its perihelion at time 0. The ecliptic is the XZ plane and Y is north.
    fn to_body(&self) -> Value {
        let [[px, pz, py], [qx, qz, qy]] = self.axes();
        // The rotation takes X to the perihelion, Z to the quarter, and Y to their cross product, of which the first
        // coordinate is enough to find the three angles.
        let normal_x = qy * pz - qz * py;
        let rotation = [(-qy).atan2(qz), qx.asin(), (-normal_x).atan2(px)].map(f64::to_degrees);
        json!({
            "id": "comet", "name": "Comet", "mass": 1e-11, "radius": 1e-8, "color": "#CFE8F5", "parentId": "sun",
            "children": [], "bodyType": "comet", "orbitalDistance": self.semi_major_axis,
            "semiMajorAxis": self.semi_major_axis, "eccentricity": self.eccentricity,
            "orbitalSpeed": MEAN_MOTION / self.semi_major_axis.powf(1.5) / 86_400.0, "orbitalPhase": 0,
            "orbitRotX": rotation[0], "orbitRotY": rotation[1], "orbitRotZ": rotation[2],
        })
    }
}

#[test]
fn comets_are_where_an_ephemeris_has_them() {
    for (name, elements, positions) in [("Halley", HALLEY, HALLEY_POSITIONS), ("Encke", ENCKE, ENCKE_POSITIONS)] {
        let sun = json!({
            "id": "sun", "name": "Sun", "mass": 1, "radius": 0.005, "color": "#FFF4EA", "children": ["comet"],
            "parentId": null, "orbitalDistance": 0, "orbitalSpeed": 0,
        });
        let state = json!({"stars": {"sun": sun, "comet": elements.to_body()}, "rootIds": ["sun"]});
        let state: UniverseState = serde_json::from_value(state).unwrap();
        for (days, expected) in positions {
            let position = state.snapshot().world_position("comet", days * 86_400.0).unwrap();
            let found = [position.x.0, position.z.0, position.y.0];
            let distance = |vector: [f64; 3]| vector.iter().map(|axis| axis * axis).sum::<f64>().sqrt();
            let off = distance([0, 1, 2].map(|axis: usize| found[axis] - expected[axis])) / distance(expected);
            assert!(off < 0.001, "{name} after {days} days: {found:?} is not {expected:?}, by {off}");
            let view = state.body_view("comet", Some(days * 86_400.0), None, 1).unwrap();
            assert_eq!((view.position, view.world_position), (position, position), "the same in its view");
        }
    }
}
