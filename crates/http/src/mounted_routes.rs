//! A router whose paths can be listed: it mounts nothing that it does not record.

use axum::Router;
use axum::handler::Handler;
use axum::routing::MethodRouter;

/// Routes and their paths. The server takes nothing else, so that a route cannot be mounted past the list.
pub struct MountedRoutes<S = ()> {
    router: Router<S>,
    paths: Vec<String>,
}

impl<S: Clone + Send + Sync + 'static> Default for MountedRoutes<S> {
    fn default() -> Self {
        Self { router: Router::new(), paths: Vec::new() }
    }
}

impl<S: Clone + Send + Sync + 'static> MountedRoutes<S> {
    #[must_use]
    pub fn route(mut self, path: &str, handler: MethodRouter<S>) -> Self {
        self.paths.push(path.to_owned());
        Self { router: self.router.route(path, handler), paths: self.paths }
    }

    pub(crate) fn merge(mut self, other: Self) -> Self {
        self.paths.extend(other.paths);
        Self { router: self.router.merge(other.router), paths: self.paths }
    }

    /// What answers where no path fits, and where a path fits and the method does not.
    pub(crate) fn fallbacks<T: 'static, U: 'static>(
        self,
        no_route: impl Handler<T, S>,
        no_method: impl Handler<U, S>,
    ) -> Self {
        let router = self.router.fallback(no_route).method_not_allowed_fallback(no_method);
        Self { router, paths: self.paths }
    }

    pub(crate) fn with_state(self, state: S) -> MountedRoutes {
        MountedRoutes { router: self.router.with_state(state), paths: self.paths }
    }

    /// The paths of all routes, as templates.
    pub(crate) fn paths(&self) -> &[String] {
        &self.paths
    }

    pub(crate) fn into_router(self) -> Router<S> {
        self.router
    }
}
