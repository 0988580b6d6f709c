//! Signal handling: the first signal stops the server gracefully, the second one at once.

use tokio_util::sync::CancellationToken;

/// The exit code of a program ended by SIGINT.
const INTERRUPTED: i32 = 130;

/// A token that is cancelled on the first SIGINT or SIGTERM; on other systems than Unix, on Ctrl-C.
pub(crate) fn cancel_on_signal() -> std::io::Result<CancellationToken> {
    let stopping = CancellationToken::new();
    let mut signals = StopSignals::listen()?;
    let stop = stopping.clone();
    tokio::spawn(async move {
        for count in 0_u8.. {
            signals.wait().await;
            if count > 0 {
                std::process::exit(INTERRUPTED);
            }
            tracing::info!("stopping");
            stop.cancel();
        }
    });
    Ok(stopping)
}

#[cfg(unix)]
struct StopSignals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl StopSignals {
    fn listen() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn wait(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct StopSignals;

#[cfg(not(unix))]
impl StopSignals {
    #[expect(clippy::unnecessary_wraps, reason = "on Unix it can fail")]
    fn listen() -> std::io::Result<Self> {
        Ok(Self)
    }

    async fn wait(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
