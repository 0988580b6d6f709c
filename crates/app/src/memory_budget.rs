//! Memory budget of the whole process for reading and parsing large requests and for copying large answers.
//!
//! A parsed value takes some hundred bytes, however short its text, so a few large requests at once would take
//! gigabytes. Large requests wait in a semaphore, first come first served: once to be read, once to be parsed. Small
//! ones never wait.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use skald_domain::limits;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::input::count_values;
use crate::{Code, Fault};

/// Bytes, or values, per permit.
const UNIT: usize = 1_024;

static BYTES: LazyLock<Arc<Semaphore>> = LazyLock::new(|| new_semaphore(limits::LARGE_BODIES_BYTES_MAX));
static VALUES: LazyLock<Arc<Semaphore>> = LazyLock::new(|| new_semaphore(limits::LARGE_BODIES_VALUES_MAX));
static ANSWERS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| new_semaphore(limits::LARGE_ANSWERS_BYTES_MAX));

fn new_semaphore(most: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(most.div_ceil(UNIT)))
}

/// The part of a budget that one request has, until it has been answered.
#[derive(Debug)]
pub struct Reservation(#[expect(dead_code, reason = "it is held, not read")] OwnedSemaphorePermit);

/// Reserves memory for reading a body of this length, or of the maximum if the length is unknown.
pub async fn reserve_bytes(length: Option<u64>) -> Result<Reservation, Fault> {
    let length = length.and_then(|length| usize::try_from(length).ok()).unwrap_or(usize::MAX);
    // Longer bodies are refused when they are read.
    reserve(&BYTES, length.min(limits::BODY_BYTES_MAX), "bytes").await
}

/// Reserves room for parsing a body. `None` if it is small.
pub async fn reserve_values(body: &[u8]) -> Result<Option<Reservation>, Fault> {
    if body.len() <= limits::SMALL_BODY_BYTES_MAX {
        return Ok(None);
    }
    // Bodies with more values are refused when they are parsed.
    reserve(&VALUES, count_values(body).min(limits::JSON_VALUES_MAX), "values").await.map(Some)
}

/// Reserves room for an answer that has to be copied to be sent, until it has been sent.
pub async fn reserve_answer(length: usize) -> Result<Reservation, Fault> {
    // An answer larger than the whole budget waits until all of it is free.
    reserve(&ANSWERS, length.min(limits::LARGE_ANSWERS_BYTES_MAX), "bytes").await
}

async fn reserve(budget: &Arc<Semaphore>, count: usize, what: &str) -> Result<Reservation, Fault> {
    let units = u32::try_from(count.div_ceil(UNIT)).unwrap_or(u32::MAX);
    let waiting = Duration::from_secs(limits::BODY_READ_SECONDS);
    if let Ok(Ok(permit)) = tokio::time::timeout(waiting, Arc::clone(budget).acquire_many_owned(units)).await {
        return Ok(Reservation(permit));
    }
    let message = format!("too many large requests are being worked on, one of {count} {what} waited too long");
    let fault = Fault::new(Code::RateLimited, message).retry_after_ms(1_000);
    Err(fault.hint("send it again later, or in smaller parts: short requests are not held up"))
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    /// Waits for a permit that is never released. Time is paused in these tests, so the timeout is exact.
    async fn assert_rate_limited(reserved: impl Future<Output = Result<Reservation, Fault>>) {
        let began = Instant::now();
        assert_eq!(reserved.await.expect_err("there is no room").code(), Code::RateLimited);
        assert_eq!(began.elapsed().as_secs(), limits::BODY_READ_SECONDS);
    }

    #[tokio::test(start_paused = true)]
    async fn bytes_of_large_requests_have_an_end() {
        let reserve = |length: usize| reserve_bytes(Some(length as u64));
        let first = reserve(limits::BODY_BYTES_MAX).await.expect("there is room");
        let second = reserve(limits::LARGE_BODIES_BYTES_MAX - limits::BODY_BYTES_MAX).await.expect("it fits exactly");
        assert_rate_limited(reserve(1)).await;
        drop(second);
        let second = reserve(limits::SMALL_BODY_BYTES_MAX + 1).await.expect("there is room again");
        drop((first, second));
        let unknown = reserve_bytes(None).await.expect("one of unknown length counts as the largest");
        assert_rate_limited(reserve(limits::LARGE_BODIES_BYTES_MAX - limits::BODY_BYTES_MAX + 1)).await;
        drop(unknown);
    }

    #[tokio::test(start_paused = true)]
    async fn values_of_large_requests_have_an_end() {
        // One value for the document and one for each comma.
        let body = |values: usize| vec![b','; values - 1];
        let small = reserve_values(&body(limits::SMALL_BODY_BYTES_MAX + 1)).await.expect("it is small");
        assert!(small.is_none());
        let (large, most) = (limits::SMALL_BODY_BYTES_MAX + 2, limits::LARGE_BODIES_VALUES_MAX);
        let first = reserve_values(&body(large)).await.expect("there is room");
        assert!(first.is_some());
        // What is left, in whole units.
        let rest = (most.div_ceil(UNIT) - large.div_ceil(UNIT)) * UNIT;
        let second = reserve_values(&body(rest)).await.expect("it fits exactly");
        assert_rate_limited(async {
            reserve_values(&body(large)).await.map(|reserved| reserved.expect("it is large"))
        })
        .await;
        drop((first, second));
        reserve_values(&body(most)).await.expect("there is room for all").expect("it is large");
    }

    #[tokio::test(start_paused = true)]
    async fn bytes_of_large_answers_have_an_end() {
        let all = reserve_answer(limits::LARGE_ANSWERS_BYTES_MAX).await.expect("there is room");
        assert_rate_limited(reserve_answer(1)).await;
        drop(all);
        reserve_answer(limits::LARGE_ANSWERS_BYTES_MAX + 1)
            .await
            .expect("a larger one waits for all the room there is");
    }
}
