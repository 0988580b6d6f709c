//! Metrics in the text format of Prometheus.

use std::time::Duration;

use axum::http::StatusCode;
use metrics::{Counter, Histogram};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

/// Upper bounds, in seconds, of the request time's buckets.
const BUCKETS: [f64; 10] = [0.000_1, 0.000_5, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0];
/// How often measurements are folded into their buckets.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

/// The process's metrics, to be read at `/metrics`.
#[derive(Clone)]
pub struct Exposition(PrometheusHandle);

impl Exposition {
    /// Installs the global recorder. Call it before anything is counted.
    pub fn install() -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        let recorder = PrometheusBuilder::new().set_buckets(&BUCKETS)?.build_recorder();
        let handle = recorder.handle();
        metrics::set_global_recorder(recorder)?;
        metrics::describe_counter!("skald_operations_total", "Operations called, by name and outcome.");
        metrics::describe_counter!("skald_http_requests_total", "HTTP requests, by surface and status class.");
        metrics::describe_histogram!("skald_http_request_seconds", "Time until the answer began, by surface.");
        metrics::describe_gauge!("skald_nodes", "Processes on the same store that share the rate limits.");
        metrics::describe_gauge!("skald_universes_read", "Universes whose stream of commands is read.");
        metrics::describe_gauge!("skald_universe_readers", "Readers of such streams.");
        metrics::describe_counter!("skald_universe_readers_dropped_total", "Readers that were given up.");
        Ok(Self(handle))
    }

    pub(crate) fn render(&self) -> String {
        self.0.render()
    }

    /// Folds measurements into their buckets to bound memory. Runs until it is dropped.
    pub async fn run_upkeep(self) {
        let mut interval = tokio::time::interval(UPKEEP_INTERVAL);
        loop {
            interval.tick().await;
            self.0.run_upkeep();
        }
    }
}

/// The metrics of a surface, looked up once.
pub(crate) struct Meter {
    answered: [Counter; 5],
    seconds: Histogram,
}

impl Meter {
    pub(crate) fn for_surface(surface: &str) -> Self {
        let counter = |class: &'static str| metrics::counter!("skald_http_requests_total", "surface" => surface.to_owned(), "status" => class);
        Self {
            answered: ["1xx", "2xx", "3xx", "4xx", "5xx"].map(counter),
            seconds: metrics::histogram!("skald_http_request_seconds", "surface" => surface.to_owned()),
        }
    }

    pub(crate) fn record_answer(&self, status: StatusCode, took: Duration) {
        if let Some(counter) = self.answered.get(usize::from(status.as_u16() / 100).wrapping_sub(1)) {
            counter.increment(1);
        }
        self.seconds.record(took.as_secs_f64());
    }
}
