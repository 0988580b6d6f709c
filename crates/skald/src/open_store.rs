//! Opens the store, and builds the engine with the system's clock and randomness.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use skald_app::{App, Clock, Entropy, LocalEngine};
use skald_gate_files::FoldersOptions;
use skald_journal::Journal;
use skald_store::OpenError;
use tokio_util::sync::CancellationToken;

use crate::arguments::{GateArguments, StoreArguments};
use crate::gate_folders::{data_folder, gate_folders};

/// How soon a store that cannot be reached is tried again.
const RETRY_DELAY: Duration = Duration::from_millis(500);
/// Interval of log messages while waiting for a store.
const WAIT_LOG_INTERVAL: Duration = Duration::from_secs(10);

struct OsEntropy;

impl Entropy for OsEntropy {
    fn bytes(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).expect("the operating system gives randomness");
        bytes
    }
}

struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::now()
    }
}

/// A random id that nobody can guess.
pub(crate) fn random_id() -> String {
    skald_journal::hex(&OsEntropy.bytes())
}

/// An engine on an empty store in memory: for rolls in a terminal, for checks, and for generated files.
pub(crate) fn memory_engine() -> Arc<LocalEngine> {
    LocalEngine::new(build_app(Arc::new(skald_store::Memory::new())))
}

/// The engine on the store that the command line names.
pub(crate) async fn open_engine(arguments: &StoreArguments, gate: &GateArguments) -> anyhow::Result<Arc<LocalEngine>> {
    build_engine(open_journal(arguments).await?, arguments, gate)
}

/// The engine for a server, which waits while its database cannot be reached. `None` if the server is stopped first.
pub(crate) async fn wait_for_engine(
    arguments: &StoreArguments,
    gate: &GateArguments,
    stopping: &CancellationToken,
) -> anyhow::Result<Option<Arc<LocalEngine>>> {
    let mut logged_at: Option<Instant> = None;
    loop {
        let opened = tokio::select! {
            () = stopping.cancelled() => return Ok(None),
            opened = open_engine(arguments, gate) => opened,
        };
        let error = match opened {
            Ok(engine) => return Ok(Some(engine)),
            Err(error) => error,
        };
        let Some(away @ OpenError::Unreachable { .. }) = error.downcast_ref() else { return Err(error) };
        if logged_at.is_none_or(|logged_at| logged_at.elapsed() >= WAIT_LOG_INTERVAL) {
            tracing::warn!("waiting for the store: {away}");
            logged_at = Some(Instant::now());
        }
        tokio::select! {
            () = stopping.cancelled() => return Ok(None),
            () = tokio::time::sleep(RETRY_DELAY) => {}
        }
    }
}

/// The engine on a store that must exist, so that commands that only read create no file.
pub(crate) async fn open_existing_engine(
    arguments: &StoreArguments,
    gate: &GateArguments,
) -> anyhow::Result<Arc<LocalEngine>> {
    build_engine(open_existing(arguments).await?, arguments, gate)
}

/// The engine on a journal, with the folders of the gate's files.
fn build_engine(
    journal: Arc<dyn Journal>,
    arguments: &StoreArguments,
    gate: &GateArguments,
) -> anyhow::Result<Arc<LocalEngine>> {
    let mut app = build_app(journal);
    app.default_campaign.clone_from(&arguments.campaign);
    app.remotes = Arc::new(skald_kanka::KankaConnector::new(Arc::new(crate::kanka_token::read_token)));
    if let Some(role) = gate.role.as_deref().map(str::trim).filter(|role| !role.is_empty()) {
        role.clone_into(&mut app.gate_role);
    }
    // An empty path if the working folder has been deleted.
    let working = std::env::current_dir().unwrap_or_default();
    let options =
        gate_folders(gate, &working, data_folder().as_deref(), skald_store::is_shared(&store_address(arguments)?));
    let restored = evidence_folder(&store_address(arguments)?);
    if let Some(folder) = &restored {
        skald_store::hide_folder_from_others(folder);
    }
    let options = FoldersOptions { restored, ..options };
    app.files = Arc::new(skald_gate_files::Folders::new(options));
    Ok(LocalEngine::new(app))
}

fn build_app(journal: Arc<dyn Journal>) -> App {
    App::new(Arc::new(OsEntropy), Arc::new(SystemClock), journal)
}

/// Opens a store that must exist.
pub(crate) async fn open_existing(arguments: &StoreArguments) -> anyhow::Result<Arc<dyn Journal>> {
    let address = store_address(arguments)?;
    if let Some(path) = address.strip_prefix("sqlite:") {
        match std::path::Path::new(path).try_exists() {
            Ok(true) => {}
            Ok(false) if arguments.store.is_none() => {
                bail!("there is no world yet at {path}; start `skald serve`, or name another with --store sqlite:PATH")
            }
            Ok(false) => bail!("there is no file {path}; name one with --store sqlite:PATH"),
            Err(error) => bail!("{path} cannot be read: {error}; run this as the user whom the file belongs to"),
        }
    }
    open_journal(arguments).await
}

/// The store's address: from the command line, or the default file.
pub(crate) fn store_address(arguments: &StoreArguments) -> anyhow::Result<String> {
    match &arguments.store {
        Some(address) => Ok(address.clone()),
        None => Ok(format!("sqlite:{}", default_file()?.display())),
    }
}

/// Where everything is kept, in words for people: a path, or an address without its password.
pub(crate) fn describe_store(arguments: &StoreArguments) -> anyhow::Result<String> {
    let address = absolute_address(&store_address(arguments)?);
    Ok(match address.strip_prefix("sqlite:") {
        Some(path) => path.to_owned(),
        None if address == "memory" => "memory: all is gone when this process ends".to_owned(),
        None => without_password(&address),
    })
}

/// A store's address with `…` in place of its password. A path may have the characters that mark one.
pub(crate) fn without_password(address: &str) -> String {
    if address.starts_with("sqlite:") { address.to_owned() } else { skald_store::without_password(address) }
}

/// The same store, named so that it is found from every working folder.
pub(crate) fn absolute_address(address: &str) -> String {
    let absolute = |path: &str| std::path::absolute(path).ok();
    match address.strip_prefix("sqlite:").and_then(absolute) {
        Some(path) => format!("sqlite:{}", path.display()),
        None => address.to_owned(),
    }
}

pub(crate) async fn open_journal(arguments: &StoreArguments) -> anyhow::Result<Arc<dyn Journal>> {
    let address = store_address(arguments)?;
    if let Some(path) = address.strip_prefix("sqlite:")
        && let Some(folder) = std::path::Path::new(path).parent().filter(|folder| !folder.as_os_str().is_empty())
    {
        skald_store::create_private_folder(folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    }
    let opened = skald_store::open(&address).await;
    let journal = opened.with_context(
        || "the store cannot be opened; choose another with --store sqlite:PATH, postgres://… or memory",
    )?;
    // The last step of migrating an older store. It must come before anything reads or verifies the store.
    let app = build_app(Arc::clone(&journal));
    let imported = app.import_earlier_tokens().await;
    imported.map_err(|fault| anyhow!("the tokens of an earlier version cannot be taken over: {fault}"))?;
    // A damaged store is opened too, so that it can be verified.
    if let Err(fault) = app.fill_note_documents().await {
        tracing::warn!(%fault, "the notes of an earlier version cannot be made searchable; `skald verify` says why");
    }
    Ok(journal)
}

/// The folder of evidence that belongs to a store in a file: a backup writes it beside the copy.
pub(crate) fn evidence_folder(address: &str) -> Option<PathBuf> {
    address.strip_prefix("sqlite:").map(|path| PathBuf::from(format!("{path}.evidence")))
}

/// The default store: one file in the platform's data directory.
fn default_file() -> anyhow::Result<PathBuf> {
    let folder =
        data_folder().ok_or_else(|| anyhow!("there is no home directory; name a file with --store sqlite:PATH"))?;
    Ok(folder.join("skald.db"))
}
