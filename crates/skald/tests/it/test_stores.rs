//! Stores for the program under test: a fresh SQLite file or PostgreSQL schema each.

use skald_testkit::TemporaryFolder;
use std::sync::atomic::{AtomicU32, Ordering};

/// A fresh store, by its address.
pub(crate) struct TestStore {
    pub(crate) address: String,
    _folder: Option<TemporaryFolder>,
}

impl TestStore {
    pub(crate) fn memory() -> Self {
        Self { address: "memory".to_owned(), _folder: None }
    }

    pub(crate) fn sqlite() -> Self {
        let folder = TemporaryFolder::new();
        Self { address: format!("sqlite:{}", folder.file("world.db").display()), _folder: Some(folder) }
    }

    /// A new schema in the PostgreSQL for tests.
    pub(crate) fn postgres() -> Self {
        Self::new_schema(&required_env("SKALD_TEST_POSTGRES"))
    }

    /// A new schema in this PostgreSQL.
    pub(crate) fn new_schema(server: &str) -> Self {
        Self { address: create_schema(server, &unique_name("program")), _folder: None }
    }
}

/// Creates a schema, and returns its address.
pub(crate) fn create_schema(server: &str, schema: &str) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let (client, connection) =
            tokio_postgres::connect(server, tokio_postgres::NoTls).await.expect("PostgreSQL answers");
        tokio::spawn(connection);
        client.batch_execute(&format!("CREATE SCHEMA {schema}")).await.expect("a schema");
    });
    format!("{server}?options=-csearch_path%3D{schema}")
}

/// An environment variable that `cargo xtask test` sets.
pub(crate) fn required_env(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set; `cargo xtask test` sets it"))
}

/// A unique name.
fn unique_name(kind: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("{kind}_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}
