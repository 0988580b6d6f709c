//! Signal handling: the first signal stops the server gracefully, the second one at once.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// The exit code of a program ended by SIGINT.
const INTERRUPTED: i32 = 130;

/// A token that is cancelled on the first SIGINT or SIGTERM.
pub(crate) fn cancel_on_signal() -> std::io::Result<CancellationToken> {
    let stopping = CancellationToken::new();
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let stop = stopping.clone();
    tokio::spawn(async move {
        for count in 0_u8.. {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            if count > 0 {
                std::process::exit(INTERRUPTED);
            }
            tracing::info!("stopping");
            stop.cancel();
        }
    });
    Ok(stopping)
}
