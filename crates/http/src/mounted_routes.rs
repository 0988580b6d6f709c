//! A router that records its paths and the surface of each, so that all mounted routes can be listed.

use axum::Router;
use axum::extract::{Request, State};
use axum::handler::Handler;
use axum::middleware::{self, Next};
use axum::routing::MethodRouter;
use skald_app::FaultShape;

use crate::Calls;
use crate::page_routes::{PageHooks, PageRoutes, wants_html};
use crate::routes::unknown_path;

/// Routes, their paths and their surfaces. `serve` takes only this type, so every route is in the list.
pub struct MountedRoutes<S = ()> {
    router: Router<S>,
    paths: Vec<String>,
    sections: Vec<Section>,
}

/// The paths of a surface. Their requests are counted for it, and refused while the server stops.
#[derive(Debug, Clone)]
pub(crate) struct Section {
    /// The surface label in metrics.
    pub surface: String,
    path: String,
    /// Whether all paths below belong to it too.
    is_subtree: bool,
    pub fault_shape: FaultShape,
    /// Set if people open these paths in a browser.
    pub page: Option<PageHooks>,
}

impl Section {
    /// A section with everything below the first segment of a route's path, mounted or not.
    pub(crate) fn from_path(surface: &str, path: &str, fault_shape: FaultShape) -> Self {
        Self {
            surface: surface.to_owned(),
            path: format!("/{}", first_segment(path)),
            is_subtree: true,
            fault_shape,
            page: None,
        }
    }

    /// The length of its path: of two sections that have a path, the longer one is meant.
    pub(crate) fn path_len(&self) -> usize {
        self.path.len()
    }

    pub(crate) fn has_path(&self, path: &str) -> bool {
        let below = path.strip_prefix(self.path.as_str());
        below.is_some_and(|below| below.is_empty() || (self.is_subtree && below.starts_with('/')))
    }
}

/// The section that a path belongs to. A surface below another one has its own paths.
pub(crate) fn section_of<'a>(sections: &'a [Section], path: &str) -> Option<&'a Section> {
    sections.iter().filter(|section| section.has_path(path)).max_by_key(|section| section.path_len())
}

impl<S: Clone + Send + Sync + 'static> Default for MountedRoutes<S> {
    fn default() -> Self {
        Self { router: Router::new(), paths: Vec::new(), sections: Vec::new() }
    }
}

impl<S: Clone + Send + Sync + 'static> MountedRoutes<S> {
    /// Mounts the route of another surface. The surface is named by the path.
    #[must_use]
    pub fn route(mut self, path: &str, handler: MethodRouter<S>) -> Self {
        let surface = path.trim_matches('/').to_owned();
        let fault_shape = FaultShape::Object;
        self.sections.push(Section { surface, path: path.to_owned(), is_subtree: false, fault_shape, page: None });
        self.mount(path, handler)
    }

    /// Mounts another surface at a path and everything below it. Its calls are waited for when the server stops.
    #[must_use]
    pub fn subtree(
        mut self,
        surface: &str,
        path: &str,
        fault_shape: FaultShape,
        calls: &Calls,
        handler: MethodRouter<S>,
    ) -> Self {
        let (surface, section_path) = (surface.to_owned(), path.to_owned());
        self.sections.push(Section { surface, path: section_path, is_subtree: true, fault_shape, page: None });
        let handler = count_requests(handler, calls);
        self.mount(path, handler.clone()).mount(&format!("{path}/{{*below}}"), handler)
    }

    /// Mounts the web page. Its calls are waited for when the server stops.
    #[must_use]
    pub fn page(self, page: PageRoutes<S>, calls: &Calls) -> Self {
        let PageRoutes { routes, unknown_address, hooks } = page;
        let unknown_address = count_requests(unknown_address, calls);
        let answer = move |State(state): State<S>, request: Request| {
            let page = unknown_address.clone();
            async move {
                let is_page = request.extensions().get::<PageHooks>().is_some() && wants_html(request.headers());
                if is_page { Handler::call(page, request, state).await } else { unknown_path(request).await }
            }
        };
        let mounted = Self { router: self.router.fallback(answer), ..self };
        routes.into_iter().fold(mounted, |mut mounted, (path, handler)| {
            let section = Section::from_path("page", path, FaultShape::Object);
            let section = Section { is_subtree: path != "/", page: Some(hooks), ..section };
            mounted = mounted.add_section(section);
            mounted.mount(path, count_requests(handler, calls))
        })
    }

    /// Mounts a route of a section, or of none.
    pub(crate) fn mount(mut self, path: &str, handler: MethodRouter<S>) -> Self {
        if !self.paths.iter().any(|mounted| mounted == path) {
            self.paths.push(path.to_owned());
        }
        Self { router: self.router.route(path, handler), ..self }
    }

    pub(crate) fn add_section(mut self, section: Section) -> Self {
        if !self.sections.iter().any(|known| known.path == section.path) {
            self.sections.push(section);
        }
        self
    }

    /// Sets the handlers for an unknown path, and for a known path with another method.
    pub(crate) fn with_fallbacks<T: 'static, U: 'static>(
        self,
        no_route: impl Handler<T, S>,
        no_method: impl Handler<U, S>,
    ) -> Self {
        let router = self.router.fallback(no_route).method_not_allowed_fallback(no_method);
        Self { router, ..self }
    }

    pub(crate) fn with_state(self, state: S) -> MountedRoutes {
        MountedRoutes { router: self.router.with_state(state), paths: self.paths, sections: self.sections }
    }

    /// The paths of all routes, as templates.
    pub(crate) fn paths(&self) -> &[String] {
        &self.paths
    }

    pub(crate) fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// The first segments of the paths of no section, such as those of health and metrics.
    pub(crate) fn segments_of_no_section(&self) -> Vec<String> {
        let is_listed = |path: &str| self.sections.iter().any(|section| section.has_path(path));
        let others = self.paths.iter().filter(|path| !is_listed(path));
        others.map(|path| first_segment(path).to_owned()).collect()
    }

    pub(crate) fn into_router(self) -> Router<S> {
        self.router
    }
}

/// The first segment of a path.
pub(crate) fn first_segment(path: &str) -> &str {
    path.trim_start_matches('/').split('/').next().unwrap_or_default()
}

/// A handler whose calls are waited for when the server stops.
fn count_requests<S: Clone + Send + Sync + 'static>(handler: MethodRouter<S>, calls: &Calls) -> MethodRouter<S> {
    let calls = calls.clone();
    handler.layer(middleware::from_fn(move |request: Request, next: Next| {
        let call = calls.begin();
        async move {
            let response = next.run(request).await;
            drop(call);
            response
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_ends_with_a_segment() {
        let section = Section::from_path("rest", "/universes/{id}/events", FaultShape::Sentence);
        for path in ["/universes", "/universes/", "/universes/u-1/moons"] {
            assert!(section.has_path(path), "{path}");
        }
        for path in ["/", "/universe", "/universes2", "/api/universes"] {
            assert!(!section.has_path(path), "{path}");
        }
    }

    #[test]
    fn the_route_of_another_surface_is_one_path() {
        let routes = MountedRoutes::<()>::default().route("/mcp", MethodRouter::new());
        let [section] = routes.sections() else { panic!("one section") };
        assert_eq!(
            (section.surface.as_str(), section.has_path("/mcp"), section.has_path("/mcp/health")),
            ("mcp", true, false)
        );
    }
}
