//! The web page: HTML rendered on the server over the engine, live by server-sent events.
//!
//! It speaks to the [`Engine`] only. The `http` crate checks hosts and origins and identifies the caller before a route
//! here is reached; what a caller may not see, the engine does not answer. Every page can be read and every form sent
//! without JavaScript; with it, htmx sends forms and swaps what the server rendered.

mod administration;
mod assets;
mod campaign_head;
mod campaign_place;
mod canon;
mod components;
mod dice;
mod engine_calls;
mod extractors;
mod form;
mod gate;
mod graph;
mod home;
mod inline_picture;
mod kanka;
mod layout;
mod live_pages;
mod lore;
mod middleware;
mod people_hints;
mod public_url;
mod resource_events;
mod session_cookie;
mod sign_in;
mod table;
mod theme;
mod timeline;
mod universe;
mod unknown_address;
mod view_as;
mod visitor;

use std::sync::Arc;

use axum::routing::{MethodRouter, any, get, post};
use skald_app::{Engine, ToolsetFilter};
use tokio_util::sync::CancellationToken;
use tower_http::csrf::CsrfLayer;

pub use administration::terminal_qr_code;
pub use middleware::render_refused;
pub use public_url::PublicUrl;
pub use session_cookie::session_secret;

/// Options of the page.
pub struct PageOptions {
    /// The operations that the server offers. If it offers no commands, the page only reads.
    pub visible: ToolsetFilter,
    /// How a program that speaks MCP connects, for whoever asks.
    pub connections: Arc<ListConnections>,
    /// The address by which other devices open the page, if the server was told one. Links of invitations begin with it.
    pub public_url: Option<PublicUrl>,
    /// Why nothing can be stored right now; `None` if all is well.
    pub store_trouble: Arc<dyn Fn() -> Option<String> + Send + Sync>,
    /// Cancelled when the server stops: streams end.
    pub stopping: CancellationToken,
}

/// Lists how programs connect to this server, for whoever asks.
pub type ListConnections = dyn Fn(&ConnectionRequest<'_>) -> Vec<ClientConnection> + Send + Sync;

/// Who asks how to connect, and under which name this server was reached.
#[derive(Debug, Clone, Copy)]
pub struct ConnectionRequest<'a> {
    /// The `Host` of the request, which was checked before.
    pub host: Option<&'a str>,
    pub is_https: bool,
    /// The owner, at the machine that the server runs on: the only one who may see its paths.
    pub is_local_owner: bool,
}

/// How one program is connected.
#[derive(Debug, Clone)]
pub struct ClientConnection {
    pub name: String,
    /// Where the program looks for its file.
    pub file: String,
    /// Commands that do it.
    pub commands: Vec<String>,
    /// The file's content where the program starts Skald itself; for the owner on this machine.
    pub stdio: Option<String>,
    /// The file's content where it connects over HTTP.
    pub http: String,
}

/// The state that all requests share.
pub(crate) struct PageContext {
    engine: Arc<dyn Engine>,
    options: PageOptions,
    rendered: table::live_table::RenderedTables,
}

type SharedContext = Arc<PageContext>;

/// The routes of the page.
pub struct PageRouteList {
    /// Every route, by path.
    pub routes: Vec<(&'static str, MethodRouter)>,
    /// Answers a browser at an address that is no route.
    pub unknown_address: MethodRouter,
}

/// All routes of the page.
pub fn page_routes(engine: Arc<dyn Engine>, options: PageOptions) -> PageRouteList {
    let context = Arc::new(PageContext { engine, options, rendered: table::live_table::RenderedTables::default() });
    let mut routes: Vec<(&'static str, MethodRouter<SharedContext>)> = vec![
        ("/assets/{name}", get(assets::serve)),
        ("/", get(home::show).post(home::create_campaign)),
        ("/changes", get(live_pages::home_changes)),
        (live_pages::RUNS_STREAM, get(live_pages::run_changes)),
        (live_pages::SKIES_STREAM, get(live_pages::universe_changes)),
        ("/c/{campaign}/changes/{page}", get(live_pages::page_changes)),
        ("/sign-in", get(sign_in::show).post(sign_in::sign_in)),
        ("/sign-out", post(sign_in::sign_out)),
        ("/join", get(sign_in::show_join).post(sign_in::join)),
        ("/join/{code}", get(sign_in::show_join_code)),
        ("/browsers", get(sign_in::browsers)),
        ("/browsers/end", post(sign_in::end_browser)),
        ("/theme", post(theme::choose)),
        ("/keeping", get(administration::show_people)),
        ("/keeping/tokens", post(administration::create_token)),
        ("/keeping/tokens/revoke", post(administration::revoke_token)),
        ("/keeping/invitations", post(administration::create_invitation)),
        ("/keeping/invitations/revoke", post(administration::revoke_invitation)),
        ("/keeping/audit", get(administration::show_audit)),
        ("/keeping/store", get(administration::show_store)),
        ("/keeping/verify", post(administration::verify)),
        ("/keeping/backup", post(administration::backup)),
        ("/keeping/limits", get(administration::show_limits)),
        ("/c/{campaign}/sky", get(universe::list_universes).post(universe::create_universe)),
        ("/c/{campaign}/sky/{universe}", get(universe::show_universe)),
        ("/c/{campaign}/sky/{universe}/map", get(universe::universe_map)),
        ("/c/{campaign}/sky/{universe}/events", get(universe::universe_events)),
        ("/c/{campaign}/sky/{universe}/command", post(universe::send_command)),
        ("/skies", get(universe::list_universes_without_campaign)),
        ("/skies/{universe}", get(universe::show_universe)),
        ("/skies/{universe}/map", get(universe::universe_map)),
        ("/skies/{universe}/events", get(universe::universe_events)),
        ("/skies/{universe}/command", post(universe::send_command)),
        ("/c/{campaign}/runs", get(gate::list_runs)),
        ("/c/{campaign}/runs/{run}", get(gate::show_run)),
        ("/c/{campaign}/runs/{run}/events", get(gate::run_events)),
        ("/c/{campaign}/runs/{run}/evidence", get(gate::show_evidence)),
        ("/c/{campaign}/runs/{run}/emit", post(gate::emit_event)),
        ("/c/{campaign}/runs/{run}/override", post(gate::override_guard)),
        ("/c/{campaign}/runs/{run}/cancel", post(gate::cancel_run)),
        ("/runs", get(gate::list_runs_without_campaign)),
        ("/runs/{run}", get(gate::show_run)),
        ("/runs/{run}/events", get(gate::run_events)),
        ("/runs/{run}/evidence", get(gate::show_evidence)),
        ("/runs/{run}/emit", post(gate::emit_event)),
        ("/runs/{run}/override", post(gate::override_guard)),
        ("/runs/{run}/cancel", post(gate::cancel_run)),
        ("/dice", get(dice::show)),
        ("/dice/odds.svg", get(dice::picture)),
        ("/c/{campaign}", get(table::show)),
        ("/c/{campaign}/live", get(table::live_table::stream)),
        ("/c/{campaign}/odds", get(table::preview_odds)),
        ("/c/{campaign}/roll", post(table::roll)),
        ("/c/{campaign}/note", post(table::take_note)),
        ("/c/{campaign}/tracker", post(table::change_tracker)),
        ("/c/{campaign}/spotlight", post(table::set_spotlight)),
        ("/c/{campaign}/session/start", post(table::start_session)),
        ("/c/{campaign}/session/end", post(table::end_session)),
        ("/c/{campaign}/sessions", get(table::show_sessions)),
        ("/c/{campaign}/sessions/{number}", get(table::show_session)),
        ("/c/{campaign}/luck.svg", get(table::luck_picture)),
        ("/c/{campaign}/view-as", get(view_as::show).post(view_as::choose)),
    ];
    routes.extend(lore::routes::lore_routes());
    let finish = |route: MethodRouter<SharedContext>| {
        let route = route.with_state(Arc::clone(&context));
        let route = route.layer(CsrfLayer::new());
        route.layer(axum::middleware::from_fn_with_state(Arc::clone(&context), middleware::finish_response))
    };
    let unknown_address = finish(any(unknown_address::answer));
    PageRouteList { routes: routes.into_iter().map(|(path, route)| (path, finish(route))).collect(), unknown_address }
}
