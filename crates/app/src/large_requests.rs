//! A thread on which large requests are handled, so that parsing them does not delay short requests on other threads.

use std::io;
use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

/// The thread's queue. The thread ends when the last clone is dropped.
#[derive(Debug, Clone)]
pub struct LargeRequests {
    queue: mpsc::UnboundedSender<BoxFuture<'static, ()>>,
}

impl LargeRequests {
    /// Starts the thread. Tasks that a request spawns run on the runtime that this is called on, not on the thread.
    pub fn start() -> io::Result<Self> {
        let (queue, requests) = mpsc::unbounded_channel();
        let runtime = Handle::current();
        std::thread::Builder::new().name("large-requests".to_owned()).spawn(move || {
            // Lower priority, so that short requests come first when all processors are busy. On other systems
            // niceness would apply to the whole process.
            #[cfg(target_os = "linux")]
            if let Err(error) = rustix::process::nice(NICENESS) {
                tracing::debug!(%error, "large requests have the same priority as short ones");
            }
            runtime.block_on(poll_all(requests));
        })?;
        Ok(Self { queue })
    }

    /// Polls a future on the thread. `None` if it panicked. Dropping this drops the future.
    pub async fn run<T: Send + 'static>(&self, future: impl Future<Output = T> + Send + 'static) -> Option<T> {
        let (mut answer, answered) = oneshot::channel();
        let request = async move {
            let output = tokio::select! {
                // First, so that nothing is parsed after the caller is gone.
                biased;
                () = answer.closed() => None,
                output = AssertUnwindSafe(future).catch_unwind() => output.ok(),
            };
            if let Some(output) = output {
                // Fails only if the caller is gone.
                let _ = answer.send(output);
            }
        };
        self.queue.send(request.boxed()).ok()?;
        answered.await.ok()
    }
}

/// What is added to the thread's niceness. Other systems than Linux change the niceness of whole processes only.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 5;

async fn poll_all(mut requests: mpsc::UnboundedReceiver<BoxFuture<'static, ()>>) {
    let mut under_way = FuturesUnordered::new();
    loop {
        tokio::select! {
            request = requests.recv() => match request {
                Some(request) => under_way.push(request),
                None => break,
            },
            Some(()) = under_way.next() => {}
        }
    }
    while under_way.next().await.is_some() {}
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn a_request_that_waits_holds_up_no_other() {
        let requests = LargeRequests::start().unwrap();
        let (first, second) = (requests.clone(), requests.clone());
        let (go, gone) = oneshot::channel();
        let waiting = tokio::spawn(async move { first.run(gone).await });
        assert_eq!(second.run(async { 2 }).await, Some(2));
        go.send(1).unwrap();
        assert_eq!(waiting.await.unwrap(), Some(Ok(1)));
    }

    #[tokio::test]
    async fn it_is_polled_on_a_thread_of_its_own_within_the_same_runtime() {
        let requests = LargeRequests::start().unwrap();
        let here = std::thread::current().id();
        let polled = requests.run(async move {
            let spawned = tokio::spawn(async { std::thread::current().id() }).await.unwrap();
            (std::thread::current().id(), spawned)
        });
        let (thread, spawned) = polled.await.unwrap();
        assert_ne!(thread, here);
        assert_eq!(spawned, here, "a runtime of one thread has its tasks there");
    }

    #[tokio::test]
    async fn a_panic_is_no_answer_and_ends_nothing_else() {
        let requests = LargeRequests::start().unwrap();
        assert_eq!(requests.run(async { panic!("as planned") }).await, None::<()>);
        assert_eq!(requests.run(async { 2 }).await, Some(2));
    }

    #[tokio::test]
    async fn what_nobody_waits_for_is_dropped() {
        let requests = LargeRequests::start().unwrap();
        let (held, dropped) = oneshot::channel::<()>();
        let request = requests.run(async move {
            let _held = held;
            std::future::pending::<()>().await;
        });
        assert!(tokio::time::timeout(Duration::from_millis(50), request).await.is_err());
        let dropped = tokio::time::timeout(Duration::from_secs(10), dropped).await;
        assert!(dropped.expect("it is dropped").is_err());
    }
}
