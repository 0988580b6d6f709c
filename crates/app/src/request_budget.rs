//! How much of large requests is read and parsed at once, and how much of large answers is copied, over the whole process.
//!
//! A parsed value takes some hundred bytes, however few it is written with, so a handful of large requests at once would
//! take gigabytes. They wait for each other, in the order in which they came: first for room to be read, then for room to
//! be parsed. Small ones never wait.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use domain::limits;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::input::count_values;
use crate::{Code, Fault};

/// One permit stands for so many bytes, or so many values.
const UNIT: usize = 1_024;

static BYTES: LazyLock<Arc<Semaphore>> = LazyLock::new(|| semaphore(limits::LARGE_BODIES_BYTES_MAX));
static VALUES: LazyLock<Arc<Semaphore>> = LazyLock::new(|| semaphore(limits::LARGE_BODIES_VALUES_MAX));
static ANSWERS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| semaphore(limits::LARGE_ANSWERS_BYTES_MAX));

fn semaphore(most: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(most.div_ceil(UNIT)))
}

/// The part of a budget that one request has, until it has been answered.
#[derive(Debug)]
pub struct Reserved(#[expect(dead_code, reason = "it is held, not read")] OwnedSemaphorePermit);

/// Reserves room for reading a body of this length, or of the largest that is taken where its length is not known.
pub async fn reserve_bytes(length: Option<u64>) -> Result<Reserved, Fault> {
    let length = length.and_then(|length| usize::try_from(length).ok()).unwrap_or(usize::MAX);
    // What is longer is refused when it is read.
    reserve(&BYTES, length.min(limits::BODY_BYTES_MAX), "bytes").await
}

/// Reserves room for parsing a body. `None` if it is small.
pub async fn reserve_values(body: &[u8]) -> Result<Option<Reserved>, Fault> {
    if body.len() <= limits::SMALL_BODY_BYTES_MAX {
        return Ok(None);
    }
    // What has more is refused when it is parsed.
    reserve(&VALUES, count_values(body).min(limits::JSON_VALUES_MAX), "values").await.map(Some)
}

/// Reserves room for an answer that has to be copied to be sent, until it has been sent.
pub async fn reserve_answer(length: usize) -> Result<Reserved, Fault> {
    // One that is larger than all the room there is waits until nobody else has any.
    reserve(&ANSWERS, length.min(limits::LARGE_ANSWERS_BYTES_MAX), "bytes").await
}

async fn reserve(budget: &Arc<Semaphore>, count: usize, what: &str) -> Result<Reserved, Fault> {
    let units = u32::try_from(count.div_ceil(UNIT)).unwrap_or(u32::MAX);
    let waiting = Duration::from_secs(limits::BODY_READ_SECONDS);
    if let Ok(Ok(permit)) = tokio::time::timeout(waiting, Arc::clone(budget).acquire_many_owned(units)).await {
        return Ok(Reserved(permit));
    }
    let message = format!("too many large requests are being worked on, one of {count} {what} waited too long");
    let fault = Fault::new(Code::RateLimited, message).retry_after_ms(1_000);
    Err(fault.hint("send it again later, or in smaller parts: short requests are not held up"))
}
