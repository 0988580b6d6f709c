//! MCP resources of universes: URIs of universes, their parts and the documentation pages.

use super::changed_resources;
use crate::{MIME_JSON, Resource, Toolset};

const MARKDOWN: &str = "text/markdown";

/// A resource that `universe_read` serves.
const fn view_resource(
    uri: &'static str,
    name: &'static str,
    view: &'static str,
    title: &'static str,
    summary: &'static str,
) -> Resource {
    Resource {
        uri,
        name,
        title,
        summary,
        toolset: Toolset::Universe,
        mime_type: MIME_JSON,
        operation: "universe_read",
        fixed: Some(("view", view)),
        listed: None,
    }
}

/// A documentation page.
const fn docs_resource(
    uri: &'static str,
    name: &'static str,
    page: &'static str,
    title: &'static str,
    summary: &'static str,
) -> Resource {
    Resource {
        uri,
        name,
        title,
        summary,
        toolset: Toolset::Universe,
        mime_type: MARKDOWN,
        operation: "universe_docs",
        fixed: Some(("page", page)),
        listed: None,
    }
}

pub(crate) fn resources() -> Vec<Resource> {
    [universe_resources(), docs_resources()].concat()
}

fn universe_resources() -> Vec<Resource> {
    vec![
        view_resource(
            changed_resources::LIST,
            "universes",
            "universes",
            "Universes",
            "All universes without what they hold, the newest first.",
        ),
        view_resource(
            "universes://list{?cursor,limit}",
            "universes_page",
            "universes",
            "Universes, page by page",
            "The same from a nextCursor on, as many as are wanted.",
        ),
        Resource {
            uri: "universe://{universeId}",
            name: "universe",
            title: "A universe",
            summary: "One universe with its name, its revision and all that it holds.",
            toolset: Toolset::Universe,
            mime_type: MIME_JSON,
            operation: "universe_record",
            fixed: None,
            listed: None,
        },
        view_resource(
            "universe://{universeId}/summary",
            "universe_summary",
            "summary",
            "A universe in a page",
            "How much there is of what, the first roots, the time.",
        ),
        view_resource(
            "universe://{universeId}/bodies{?cursor,limit}",
            "universe_bodies",
            "bodies",
            "Bodies of a universe",
            "Its bodies by id, page by page.",
        ),
        view_resource(
            "universe://{universeId}/body/{bodyId}{?t,cursor,limit}",
            "universe_body",
            "body",
            "A body",
            "One body with its parent, a page of its children, its groups, and where it is at a time.",
        ),
        view_resource(
            "universe://{universeId}/groups{?cursor,limit}",
            "universe_groups",
            "groups",
            "Groups of a universe",
            "Its groups by id, page by page.",
        ),
        view_resource(
            "universe://{universeId}/positions{?t,cursor,limit}",
            "universe_positions",
            "positions",
            "Where bodies are",
            "World positions of bodies by id, page by page, at a time or now.",
        ),
        Resource {
            uri: "universe://{universeId}/map.svg{?t,theme}",
            name: "universe_map",
            title: "The map of a universe",
            summary: "A picture of it: its systems seen from above, at its own time or another.",
            toolset: Toolset::Universe,
            mime_type: "image/svg+xml",
            operation: "universe_map",
            fixed: None,
            listed: None,
        },
    ]
}

fn docs_resources() -> Vec<Resource> {
    vec![
        docs_resource(
            "docs://universe/overview",
            "universe_overview",
            "overview",
            "Universes: overview",
            "What a universe is, and what to do in which order.",
        ),
        docs_resource(
            "docs://universe/structure",
            "universe_structure",
            "structure",
            "Universes: structure",
            "Everything that a universe holds, field by field.",
        ),
        docs_resource(
            "docs://universe/commands",
            "universe_commands",
            "commands",
            "Universes: commands",
            "The 25 commands with an example of each, what it answers and how it fails.",
        ),
        docs_resource(
            "docs://universe/rules",
            "universe_rules",
            "rules",
            "Universes: rules",
            "What is refused and why, by the names of the failures.",
        ),
        docs_resource(
            "docs://universe/streaming",
            "universe_streaming",
            "streaming",
            "Universes: as it happens",
            "How to hear of every command when it is done.",
        ),
        docs_resource(
            "docs://universe/full",
            "universe_docs",
            "full",
            "Universes: all pages",
            "All of these pages in one.",
        ),
        Resource {
            uri: "docs://universe/commands/{command}",
            name: "universe_command",
            title: "A command",
            summary: "One command: its schema, an example, the event of its success and the ways it can fail.",
            toolset: Toolset::Universe,
            mime_type: MIME_JSON,
            operation: "universe_command_docs",
            fixed: None,
            listed: None,
        },
    ]
}
