//! The routes of the lore, its graph, the timeline, the canon and the mirror of Kanka.

use axum::routing::{MethodRouter, get, post};

use crate::{SharedContext, canon, graph, kanka, timeline};

pub(crate) fn lore_routes() -> Vec<(&'static str, MethodRouter<SharedContext>)> {
    vec![
        ("/c/{campaign}/lore", get(super::browse::show)),
        ("/c/{campaign}/lore/events", get(super::browse::events)),
        ("/c/{campaign}/lore/search", get(super::browse::search)),
        ("/c/{campaign}/lore/new", get(super::edit::show_new).post(super::edit::create)),
        ("/c/{campaign}/lore/preview", post(super::edit::preview)),
        ("/c/{campaign}/lore/archive", get(super::history::archive)),
        ("/c/{campaign}/lore/archive/restore", post(super::history::undelete)),
        ("/c/{campaign}/lore/{entity}", get(super::article::show)),
        ("/c/{campaign}/lore/{entity}/events", get(super::article::events)),
        ("/c/{campaign}/lore/{entity}/edit", get(super::edit::show).post(super::edit::save)),
        ("/c/{campaign}/lore/{entity}/delete", post(super::article::delete)),
        ("/c/{campaign}/lore/{entity}/reveal", post(super::reveal::reveal)),
        ("/c/{campaign}/lore/{entity}/history", get(super::history::show)),
        (
            "/c/{campaign}/lore/{entity}/history/{version}",
            get(super::history::show_version).post(super::history::restore),
        ),
        ("/c/{campaign}/lore/{entity}/posts/new", get(super::posts::show_new).post(super::posts::create)),
        ("/c/{campaign}/lore/{entity}/posts/{post}", get(super::posts::show).post(super::posts::save)),
        ("/c/{campaign}/lore/{entity}/posts/{post}/delete", post(super::posts::delete)),
        ("/c/{campaign}/graph", get(graph::show)),
        ("/c/{campaign}/graph.svg", get(graph::picture)),
        ("/c/{campaign}/graph.json", get(graph::nodes_and_edges)),
        ("/c/{campaign}/timeline", get(timeline::show).post(timeline::add)),
        ("/c/{campaign}/timeline/{event}", get(timeline::show_event).post(timeline::change)),
        ("/c/{campaign}/canon", get(canon::show)),
        ("/c/{campaign}/canon/{conflict}", get(canon::show_conflict).post(canon::decide)),
        ("/c/{campaign}/kanka", get(kanka::show).post(kanka::sync_or_resolve)),
    ]
}
