//! A store whose tables tests edit directly and restore afterwards.

use std::path::PathBuf;

use crate::program_under_test::World;

const TABLES: [&str; 6] = ["heads", "records", "commands", "documents", "snapshots", "shelf"];

pub(super) enum EditedStore {
    Sqlite(PathBuf),
    Postgres(String),
}

impl EditedStore {
    /// The store of a world, with a copy of its tables for `undo`. No server may have it open.
    pub(super) fn new(world: &World) -> Self {
        let store = match world.store().strip_prefix("sqlite:") {
            Some(path) => Self::Sqlite(PathBuf::from(path)),
            None => Self::Postgres(world.store().to_owned()),
        };
        for table in TABLES {
            store.edit(&format!("CREATE TABLE before_{table} AS SELECT * FROM {table}"));
        }
        store
    }

    /// Executes SQL statements.
    pub(super) fn edit(&self, statements: &str) {
        match self {
            Self::Sqlite(path) => {
                let file = rusqlite::Connection::open(path).expect("a file");
                file.execute_batch(statements).unwrap_or_else(|error| panic!("{statements}: {error}"));
            }
            Self::Postgres(address) => {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
                runtime.block_on(async {
                    let (client, connection) =
                        tokio_postgres::connect(address, tokio_postgres::NoTls).await.expect("PostgreSQL answers");
                    tokio::spawn(connection);
                    client.batch_execute(statements).await.unwrap_or_else(|error| panic!("{statements}: {error}"));
                });
            }
        }
    }

    /// Sets the schema version of the store to an older one.
    pub(super) fn lower_version(&self, version: u32) {
        self.edit(&match self {
            Self::Sqlite(_) => format!("PRAGMA user_version = {version}"),
            Self::Postgres(_) => format!("UPDATE skald_schema SET version = {version}"),
        });
    }

    /// Restores all tables.
    pub(super) fn undo(&self) {
        let overriding = match self {
            Self::Sqlite(_) => "",
            Self::Postgres(_) => "OVERRIDING SYSTEM VALUE",
        };
        for table in TABLES {
            self.edit(&format!("DELETE FROM {table}; INSERT INTO {table} {overriding} SELECT * FROM before_{table}"));
        }
    }
}

/// The result of `skald verify`: the root hash, or the findings.
pub(super) fn verify_store(world: &World) -> Result<String, Vec<String>> {
    verify_store_with(world, &[])
}

pub(super) fn verify_store_with(world: &World, arguments: &[&str]) -> Result<String, Vec<String>> {
    let output = world.run(&[&["verify"], arguments].concat());
    let lines = |bytes: &[u8]| String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect::<Vec<_>>();
    if !output.status.success() {
        return Err(lines(&output.stderr));
    }
    let said = lines(&output.stdout);
    let root = said.iter().find_map(|line| line.strip_prefix("root "));
    Ok(root.unwrap_or_else(|| panic!("{said:?} has no root")).to_owned())
}
