//! `grpc.health.v1`: the health of the services, to check or to watch.

use tonic::server::NamedService;
use tonic_health::ServingStatus;
use tonic_health::pb::health_server::HealthServer;
use tonic_health::server::{HealthReporter, HealthService};

use crate::serve::SERVICES;

/// The health of all services, initially serving. Clones share it.
#[derive(Clone)]
pub struct GrpcHealth(HealthReporter);

impl GrpcHealth {
    /// Starts with every service as serving.
    pub async fn new() -> Self {
        let health = Self(HealthReporter::new());
        health.set_serving(true).await;
        health
    }

    /// Sets the status of every service and of the server as a whole.
    pub async fn set_serving(&self, is_serving: bool) {
        let status = if is_serving { ServingStatus::Serving } else { ServingStatus::NotServing };
        for service in SERVICES {
            self.0.set_service_status(service, status).await;
        }
    }

    /// Removes all statuses, which ends the streams of `Watch` calls.
    pub(crate) async fn clear_statuses(&self) {
        let mut reporter = self.0.clone();
        for service in SERVICES {
            reporter.clear_service_status(service).await;
        }
    }

    pub(crate) fn service(&self) -> HealthServer<HealthService> {
        HealthServer::new(HealthService::from_health_reporter(self.0.clone()))
    }
}

/// The full name of a generated service.
pub(crate) const fn service_name<S: NamedService>() -> &'static str {
    S::NAME
}
