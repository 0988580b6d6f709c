//! A router that records its paths and the surface of each, so that all mounted routes can be listed.

use axum::Router;
use axum::handler::Handler;
use axum::routing::MethodRouter;
use skald_app::FaultShape;

/// Routes, their paths and their surfaces. `serve` takes only this type, so every route is in the list.
pub struct MountedRoutes<S = ()> {
    router: Router<S>,
    paths: Vec<String>,
    sections: Vec<Section>,
}

/// The paths of a surface. Their requests are counted for it, and refused while the server stops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Section {
    /// The surface label in metrics.
    pub surface: String,
    path: String,
    /// Whether all paths below belong to it too.
    is_subtree: bool,
    pub fault_shape: FaultShape,
}

impl Section {
    /// A section with everything below the first segment of a route's path, mounted or not.
    pub(crate) fn from_path(surface: &str, path: &str, fault_shape: FaultShape) -> Self {
        let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
        Self { surface: surface.to_owned(), path: format!("/{first}"), is_subtree: true, fault_shape }
    }

    pub(crate) fn has_path(&self, path: &str) -> bool {
        let below = path.strip_prefix(self.path.as_str());
        below.is_some_and(|below| below.is_empty() || (self.is_subtree && below.starts_with('/')))
    }
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
        self.sections.push(Section { surface, path: path.to_owned(), is_subtree: false, fault_shape });
        self.mount(path, handler)
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

    pub(crate) fn into_router(self) -> Router<S> {
        self.router
    }
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
