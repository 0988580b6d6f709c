//! Catalogue of the commands for people and models: ten categories, and for each command its purpose and an example.

/// Commands that belong together.
#[derive(Debug)]
pub struct Category {
    /// The title in the original's headings, such as Star Hierarchy.
    pub title: &'static str,
    /// The name in the original's specification, such as Star hierarchy.
    pub name: &'static str,
    /// The value of a filter, such as star-hierarchy.
    pub slug: &'static str,
    pub commands: &'static [CommandEntry],
}

/// One command.
#[derive(Debug)]
pub struct CommandEntry {
    /// Its `type`.
    pub name: &'static str,
    pub purpose: &'static str,
    /// The required fields.
    pub required: &'static [&'static str],
    /// As JSON. It is accepted in a universe whose state is [`EXAMPLE_STATE`].
    pub example: &'static str,
}

const fn command(
    name: &'static str,
    purpose: &'static str,
    required: &'static [&'static str],
    example: &'static str,
) -> CommandEntry {
    CommandEntry { name, purpose, required, example }
}

/// Finds a category by its title, name or slug, in any case, with spaces, hyphens or underscores.
pub fn category(name: &str) -> Option<&'static Category> {
    let plain = |text: &str| text.trim().to_lowercase().replace(['-', '_'], " ");
    let wanted = plain(name);
    CATEGORIES.iter().find(|category| plain(category.slug) == wanted)
}

/// The entry of the command of this name.
pub fn command_entry(name: &str) -> Option<&'static CommandEntry> {
    CATEGORIES.iter().flat_map(|category| category.commands).find(|command| command.name == name)
}

/// The ten categories with the 25 commands, in the order of the original.
pub const CATEGORIES: &[Category] = &[
    Category {
        title: "Simulation",
        name: "Simulation",
        slug: "simulation",
        commands: &[command(
            "tick",
            "let dt simulated seconds pass (1 if left out), or hours, days, years; bodies are where the time says",
            &[],
            r#"{"type": "tick", "dt": 86400}"#,
        )],
    },
    Category {
        title: "Star CRUD",
        name: "Star CRUD",
        slug: "star-crud",
        commands: &[
            command(
                "addStar",
                "add a body of any kind under a new id; parentId is the body it moves around, null for a root; \
                 orbitalPeriodDays may stand for orbitalSpeed",
                &["id", "payload"],
                concat!(
                    r##"{"type": "addStar", "id": "mars", "payload": {"name": "Mars", "bodyType": "planet", "mass": 1.1, "##,
                    r##""radius": 0.5, "color": "#C1440E", "parentId": "sun", "orbitalDistance": 22, "##,
                    r##""orbitalSpeed": 0.53, "orbitalPhase": 45}}"##,
                ),
            ),
            command(
                "updateStar",
                "change fields of a body; null clears an optional one",
                &["id", "payload"],
                r#"{"type": "updateStar", "id": "earth", "payload": {"name": "Terra", "eccentricity": 0.0167}}"#,
            ),
            command(
                "removeStar",
                "remove a body and all that moves around it",
                &["id"],
                r#"{"type": "removeStar", "id": "earth"}"#,
            ),
        ],
    },
    Category {
        title: "Star Hierarchy",
        name: "Star hierarchy",
        slug: "star-hierarchy",
        commands: &[
            command(
                "attachStar",
                "let a body move around another one",
                &["childId", "parentId"],
                r#"{"type": "attachStar", "childId": "moon", "parentId": "sun"}"#,
            ),
            command(
                "detachStar",
                "make a body a root; its orbitalDistance becomes 0",
                &["childId"],
                r#"{"type": "detachStar", "childId": "moon"}"#,
            ),
        ],
    },
    Category {
        title: "Group CRUD",
        name: "Group CRUD",
        slug: "group-crud",
        commands: &[
            command(
                "addGroup",
                "add a group under a new id; its children must be there already",
                &["id", "payload"],
                concat!(
                    r#"{"type": "addGroup", "id": "local", "payload": {"name": "Local Cluster", "#,
                    r#""children": [{"id": "sun", "type": "system"}], "parentGroupId": null}}"#,
                ),
            ),
            command(
                "updateGroup",
                "change name, color, icon or position of a group",
                &["id", "payload"],
                r##"{"type": "updateGroup", "id": "inner", "payload": {"name": "Inner Arm", "color": "#3366FF"}}"##,
            ),
            command(
                "removeGroup",
                "remove a group; groups in it join the one above, systems stay without it",
                &["id"],
                r#"{"type": "removeGroup", "id": "arm"}"#,
            ),
        ],
    },
    Category {
        title: "Group Hierarchy",
        name: "Group hierarchy",
        slug: "group-hierarchy",
        commands: &[
            command(
                "addToGroup",
                "put a system or a group into a group",
                &["groupId", "child"],
                r#"{"type": "addToGroup", "groupId": "inner", "child": {"id": "sun", "type": "system"}}"#,
            ),
            command(
                "removeFromGroup",
                "take a system or a group out of a group",
                &["groupId", "childId"],
                r#"{"type": "removeFromGroup", "groupId": "arm", "childId": "inner"}"#,
            ),
            command(
                "moveToGroup",
                "take a system or a group out of every group and put it into one, or with null into none",
                &["childId", "childType"],
                r#"{"type": "moveToGroup", "childId": "sun", "childType": "system", "targetGroupId": "inner"}"#,
            ),
        ],
    },
    Category {
        title: "Small Body Fields",
        name: "Small body fields",
        slug: "small-body-fields",
        commands: &[
            command(
                "setSmallBodyFields",
                "replace all small body fields, by id; the answer has what was removed",
                &["fields"],
                concat!(
                    r##"{"type": "setSmallBodyFields", "fields": {"kuiper": {"id": "kuiper", "systemId": "sun", "##,
                    r##""hostStarId": "sun", "innerRadius": 60, "outerRadius": 90, "thickness": 3, "##,
                    r##""particleCount": 2000, "baseColor": "#8899AA", "highlightColor": "#DDEEFF", "opacity": 0.6, "##,
                    r##""brightness": 1, "clumpiness": 0.2, "rotationSpeedMultiplier": 0.5, "beltType": "kuiper", "##,
                    r##""regionLabel": "Kuiper Belt", "isIcy": true, "seed": 7, "style": "scattered"}}}"##,
                ),
            ),
            command(
                "updateSmallBodyField",
                "change fields of a small body field",
                &["id", "patch"],
                r#"{"type": "updateSmallBodyField", "id": "main-belt", "patch": {"opacity": 0.9, "visible": true}}"#,
            ),
            command(
                "removeSmallBodyField",
                "remove a small body field",
                &["id"],
                r#"{"type": "removeSmallBodyField", "id": "main-belt"}"#,
            ),
        ],
    },
    Category {
        title: "Protoplanetary Disks",
        name: "Protoplanetary disks",
        slug: "protoplanetary-disks",
        commands: &[
            command(
                "setProtoplanetaryDisks",
                "replace all protoplanetary disks, by id; addProtoplanetaryDisk adds one",
                &["disks"],
                r#"{"type": "setProtoplanetaryDisks", "disks": {}}"#,
            ),
            command(
                "addProtoplanetaryDisk",
                "add a protoplanetary disk, in place of one with the same id",
                &["disk"],
                concat!(
                    r##"{"type": "addProtoplanetaryDisk", "disk": {"id": "young", "systemId": "sun", "##,
                    r##""centralStarId": "sun", "innerRadius": 1, "outerRadius": 5, "thickness": 0.3, "##,
                    r##""particleCount": 5000, "baseColor": "#D4A574", "highlightColor": "#FFD700", "opacity": 0.5, "##,
                    r##""brightness": 0.5, "clumpiness": 0.3, "rotationSpeedMultiplier": 0.3, "seed": "young", "##,
                    r##""style": "moderate", "bandFrequency": 5}}"##,
                ),
            ),
            command(
                "updateProtoplanetaryDisk",
                "change fields of a protoplanetary disk",
                &["id", "patch"],
                r#"{"type": "updateProtoplanetaryDisk", "id": "disk", "patch": {"style": "thick", "name": null}}"#,
            ),
            command(
                "removeProtoplanetaryDisk",
                "remove a protoplanetary disk",
                &["id"],
                r#"{"type": "removeProtoplanetaryDisk", "id": "disk"}"#,
            ),
        ],
    },
    Category {
        title: "Nebulae",
        name: "Nebulae",
        slug: "nebulae",
        commands: &[
            command(
                "setNebulae",
                "replace all nebulae, by id; the answer has what was removed",
                &["nebulae"],
                concat!(
                    r##"{"type": "setNebulae", "nebulae": {"veil": {"id": "veil", "name": "Veil", "##,
                    r##""position": {"x": 900, "y": 40, "z": -300}, "radius": 120, "density": 0.4, "brightness": 0.7, "##,
                    r##""baseColor": "#402060", "accentColor": "#A050F0", "noiseScale": 1.5, "noiseDetail": 4, "##,
                    r##""seed": 11}}}"##,
                ),
            ),
            command(
                "updateNebula",
                "change fields of a nebula",
                &["id", "patch"],
                r#"{"type": "updateNebula", "id": "cloud", "patch": {"density": 0.8}}"#,
            ),
            command("removeNebula", "remove a nebula", &["id"], r#"{"type": "removeNebula", "id": "cloud"}"#),
        ],
    },
    Category {
        title: "Rings",
        name: "Rings",
        slug: "rings",
        commands: &[
            command(
                "updateRing",
                "change the ring of a body, or give it one",
                &["planetId", "patch"],
                r##"{"type": "updateRing", "planetId": "earth", "patch": {"opacity": 0.4, "color": "#CCCCFF"}}"##,
            ),
            command(
                "removeRing",
                "take the ring of a body away",
                &["planetId"],
                r#"{"type": "removeRing", "planetId": "saturn"}"#,
            ),
        ],
    },
    Category {
        title: "Snapshot",
        name: "Snapshot",
        slug: "snapshot",
        commands: &[command(
            "replaceSnapshot",
            "replace all that the universe holds; time goes on as it is",
            &["snapshot"],
            concat!(
                r##"{"type": "replaceSnapshot", "snapshot": {"stars": {"sol": {"id": "sol", "name": "Sol", "##,
                r##""mass": 330, "radius": 2, "color": "#FFF4EA", "children": [], "parentId": null, "##,
                r##""orbitalDistance": 0, "orbitalSpeed": 0, "orbitalPhase": 0}}, "rootIds": ["sol"]}}"##,
            ),
        )],
    },
];

/// A small universe in which every example is accepted.
pub const EXAMPLE_STATE: &str = include_str!("example.json");
