//! The stores under test: memory, a fresh SQLite file, a fresh PostgreSQL schema.

use skald_testkit::TemporaryFolder;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use skald_journal::Journal;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoreKind {
    Memory,
    Sqlite,
    Postgres,
}

/// A fresh store, and the address to open it again.
pub(crate) struct TestStore {
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) address: String,
    _folder: TemporaryFolder,
}

impl TestStore {
    pub(crate) async fn new(kind: StoreKind) -> Self {
        let folder = TemporaryFolder::new();
        let address = match kind {
            StoreKind::Memory => "memory".to_owned(),
            StoreKind::Sqlite => format!("sqlite:{}", folder.file("world.db").display()),
            StoreKind::Postgres => create_schema().await,
        };
        Self { journal: skald_store::open(&address).await.unwrap(), address, _folder: folder }
    }

    /// Opens the store again, as another process or node would.
    pub(crate) async fn open_again(&self) -> Arc<dyn Journal> {
        match self.address.as_str() {
            "memory" => Arc::clone(&self.journal),
            address => skald_store::open(address).await.unwrap(),
        }
    }
}

/// The address of the PostgreSQL server for tests. Each test gets a schema of its own.
pub(crate) fn server_address() -> String {
    std::env::var("SKALD_TEST_POSTGRES").expect("SKALD_TEST_POSTGRES, which `cargo xtask test` sets, is an address")
}

/// Creates a schema, and returns its address.
pub(crate) async fn create_schema() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let schema = format!("test_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    connect(&server_address()).await.batch_execute(&format!("CREATE SCHEMA {schema}")).await.unwrap();
    format!("{}?options=-csearch_path%3D{schema}&application_name={schema}", server_address())
}

/// A direct connection to the database, without the store.
pub(crate) async fn connect(address: &str) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(address, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

type StoreTest = fn(TestStore) -> Pin<Box<dyn Future<Output = ()>>>;

pub(crate) fn run_on_store(kind: StoreKind, promise: StoreTest) {
    block_on(async { promise(TestStore::new(kind).await).await });
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(future)
}

/// Waits until a condition holds, and panics if that takes too long.
pub(crate) async fn wait_until<F: Future<Output = bool>>(what: &str, mut is_so: impl FnMut() -> F) {
    for _ in 0..1_000 {
        if is_so().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{what} did not come");
}

/// Defines one test per guarantee and store.
macro_rules! on_every_store {
    ($($promise:ident,)+) => {
        on_every_store!(@ memory Memory $($promise,)+);
        on_every_store!(@ sqlite Sqlite $($promise,)+);
        on_every_store!(@ postgres Postgres $($promise,)+);
    };
    (@ $module:ident $kind:ident $($promise:ident,)+) => {
        mod $module {
            $(#[test]
            fn $promise() {
                $crate::test_stores::run_on_store($crate::test_stores::StoreKind::$kind, |place| Box::pin(super::$promise(place)));
            })+
        }
    };
}
pub(crate) use on_every_store;
