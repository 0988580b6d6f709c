//! Pool for long computations: at most one per processor, each cancelled when its caller is gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Semaphore;

/// Runs long computations on blocking threads. Others wait asynchronously for a permit.
pub(crate) struct ComputationPool {
    permits: Arc<Semaphore>,
}

impl Default for ComputationPool {
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self { permits: Arc::new(Semaphore::new(processors)) }
    }
}

/// Sets the flag that cancels a computation when its caller drops the future.
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl ComputationPool {
    /// Runs `work`, which gets a function that returns true once the caller is gone. `None` if it panicked.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Fn() -> bool) -> T + Send + 'static,
    ) -> Option<T> {
        let permit = Arc::clone(&self.permits).acquire_owned().await.ok()?;
        let is_given_up = Arc::new(AtomicBool::new(false));
        let _waiting = CancelOnDrop(Arc::clone(&is_given_up));
        let computation = tokio::task::spawn_blocking(move || {
            // The permit is released when the work ends, which may be after the caller is gone.
            let _permit = permit;
            work(&|| is_given_up.load(Ordering::Relaxed))
        });
        computation.await.ok()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn work_is_told_when_its_caller_has_gone() {
        let computing = ComputationPool::default();
        let (begun, has_begun) = mpsc::channel();
        let (ended, has_ended) = mpsc::channel();
        let work = computing.run(move |is_given_up| {
            begun.send(()).unwrap();
            while !is_given_up() {
                std::thread::sleep(Duration::from_millis(1));
            }
            ended.send(()).unwrap();
        });
        let caller = async {
            while has_begun.try_recv().is_err() {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            _ = work => panic!("it ends only when it is given up"),
            () = caller => {}
        }
        tokio::task::spawn_blocking(move || has_ended.recv_timeout(Duration::from_secs(10)).unwrap()).await.unwrap();
    }

    #[tokio::test]
    async fn a_panic_is_no_answer() {
        assert_eq!(ComputationPool::default().run(|_| panic!("as planned")).await, None::<()>);
    }
}
