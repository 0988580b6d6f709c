//! `kanka://context`: what the lore holds and how to write it, in the keys and words that clients of Kanka know.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{Allowed, App, Call, Exposed, Fault, Operation, OperationKind, PermissionClass, Route, Toolset};

pub(super) struct KankaContext;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct KankaContextInput {}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct KankaContextOutput(Value);

impl Operation for KankaContext {
    const NAME: &'static str = "kanka_context";
    const TITLE: &'static str = "Kanka context";
    const SUMMARY: &'static str = "What kinds of entities there are, their fields, and how texts mention entities.";
    const TOOLSET: Toolset = Toolset::Lore;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::Anyone;
    const CLASS: PermissionClass = PermissionClass::Reference;
    const EXPOSED: Exposed = Exposed::NotAsTool;
    const ROUTES: &'static [Route] = &[Route::get("/api/v1/lore/context")];
    type Input = KankaContextInput;
    type Output = KankaContextOutput;

    async fn run(_: &App, _: &Call<'_>, _: KankaContextInput) -> Result<KankaContextOutput, Fault> {
        Ok(KankaContextOutput(context()))
    }
}

/// The keys and texts of Kanka's MCP server, and under `skald` what is added to them.
fn context() -> Value {
    json!({
        "description": "Kanka is a worldbuilding and campaign management tool. This MCP server provides limited access to manage core entity types and their descriptions.",
        "supported_entities": {
            "character": "People in your world (PCs, NPCs, etc)",
            "creature": "Monster types and animals (templates, not individuals)",
            "location": "Places, regions, buildings, landmarks",
            "organization": "Groups, guilds, governments, companies",
            "race": "Species and ancestries",
            "note": "Private GM notes and session digests",
            "journal": "Session summaries and campaign chronicles",
            "quest": "Missions, objectives, and story arcs"
        },
        "core_fields": {
            "name": "Required. The entity's name",
            "type": "Optional. Subtype like 'NPC', 'City', 'Guild' (user-defined)",
            "entry": "Optional. Main description in Markdown format",
            "tags": "Optional. String array for categorization",
            "is_private": "Optional. If true, only campaign admins can see"
        },
        "terminology": {
            "entity_type": "The main category (character, location, etc.) - fixed list",
            "type": "User-defined subtype within a category (e.g., 'NPC' for characters, 'City' for locations)"
        },
        "posts": "Additional notes/comments can be attached to any entity",
        "mentions": {
            "description": "Cross-reference entities using [entity:ID] or [entity:ID|custom text] in entry fields",
            "examples": ["[entity:1234]", "[entity:1234|the ancient dragon]"],
            "note": "The MCP server preserves these during Markdown/HTML conversion"
        },
        "limitations": "This MCP server only supports basic fields. Advanced features like attributes, relations, abilities, and most entity-specific fields are not available.",
        "skald": {
            "entities": {
                "item": "Things that somebody may find, carry or lose",
                "clue": "What somebody may find out",
                "event": "What happened, or will",
                "document": "Letters, maps, books, handouts",
                "other": "Everything else"
            },
            "fields": {
                "aliases": "Other names and misspellings, found like the name",
                "parent": "The entity that it belongs to or lies in",
                "image": "A URL of a picture",
                "date": "When it happened",
                "actor_id": "The actor at the table that it is",
                "entry_append": "Adds to an entry without reading it first"
            },
            "names": "A unique name is taken wherever an entity id is. [[Name]] in an entry becomes [entity:ID].",
            "deletion": "Deleted entities lie in an archive until the game master empties it; lore_history brings them back."
        }
    })
}
