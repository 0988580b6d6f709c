//! Documentation page of a universe's structure, rendered from its types.

use std::fmt::Write;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use skald_domain::universe::{
    AsteroidBelt, EXAMPLE_STATE, Group, NebulaRegion, ProtoplanetaryDisk, SmallBodyField, Star,
};

use super::super::answer_schemas::StateShape;
use crate::{json_schema, reference_pages};

const HEAD: &str = "# Structure\n\nA universe is an object with nine keys, and all of them are always there. Everything \
    in it has an id of your choice, up to 200 characters, which is also its key.\n";

/// A section: its title, its text, and the schema of the type whose fields it lists.
type DocumentedType = (&'static str, &'static str, fn(&mut SchemaGenerator) -> Schema);

const DOCUMENTED_TYPES: [DocumentedType; 7] = [
    (
        "The whole",
        "Lengths are in world units, angles in degrees, times in simulated seconds.",
        StateShape::json_schema,
    ),
    (
        "Body",
        "Under `stars`: a star, planet, moon, asteroid, comet, Lagrange point or black hole. `parentId` and `children` \
         are two sides of one link, which `attachStar` and `detachStar` change; a body without a parent is listed in \
         `rootIds`, except that a rogue planet need not be. A body moves on an ellipse with its parent in a focus: \
         where it is follows from `time` alone.",
        Star::json_schema,
    ),
    (
        "Group",
        "Under `groups`. It holds systems, which are bodies with all that moves around them, and other groups. A group \
         without a parent is listed in `rootGroupIds`.",
        Group::json_schema,
    ),
    ("Asteroid belt", "Under `belts`. An older form: only `replaceSnapshot` changes it.", AsteroidBelt::json_schema),
    ("Small body field", "Under `smallBodyFields`: a belt of particles around a body.", SmallBodyField::json_schema),
    ("Protoplanetary disk", "Under `protoplanetaryDisks`.", ProtoplanetaryDisk::json_schema),
    ("Nebula", "Under `nebulae`.", NebulaRegion::json_schema),
];

pub(super) fn render_page() -> String {
    let mut page = HEAD.to_owned();
    for (title, about, make) in DOCUMENTED_TYPES {
        let (shown, _) = json_schema::custom_schema(make);
        let _ = write!(page, "\n## {title}\n\n{about}\n\n| field | type | required | what |\n|---|---|---|---|\n");
        for row in reference_pages::field_rows(&shown, "") {
            let _ = writeln!(page, "{row}");
        }
    }
    let _ = write!(page, "\n## An example\n\n```json\n{}\n```\n", EXAMPLE_STATE.trim());
    page
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, to_value};
    use skald_domain::universe::UniverseState;

    use super::*;

    #[test]
    fn the_whole_has_the_keys_of_a_state() {
        let (shown, _) = json_schema::custom_schema(StateShape::json_schema);
        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&shown["properties"]), keys(&to_value(UniverseState::default()).unwrap()));
        let page = render_page();
        for field in ["`stars` | object | yes", "`children[].type` | string | yes", "`ring.seed` | string or number |"]
        {
            assert!(page.contains(field), "{field}");
        }
    }
}
