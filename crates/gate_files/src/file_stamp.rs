//! File stamps, which show that a file is unchanged: its identity, its size, and its times of change.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Systems tell the time of a change in steps, of up to a hundredth of a second. A change within one step of another
/// leaves no trace, so a stamp this young says nothing yet.
const YOUNG: Duration = Duration::from_millis(50);

/// Who has a file mapped into memory and has written there leaves no further trace until the system has put that on disk,
/// which it does by itself within less than this.
const UNWRITTEN: Duration = Duration::from_mins(10);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    /// Anybody can set this back,
    modified: (i64, u32),
    /// but not this: of content, of its attributes and of its name.
    changed: (i64, u32),
}

impl Stamp {
    #[cfg(unix)]
    pub(super) fn of(stat: &rustix::fs::Stat) -> Self {
        Self {
            device: fit(stat.st_dev, u64::MAX),
            inode: fit(stat.st_ino, u64::MAX),
            size: fit(stat.st_size, u64::MAX),
            modified: (fit(stat.st_mtime, i64::MAX), fit(stat.st_mtime_nsec, u32::MAX)),
            changed: (fit(stat.st_ctime, i64::MAX), fit(stat.st_ctime_nsec, u32::MAX)),
        }
    }

    /// Where nobody says when a file was changed, only when it claims to have been modified, no stamp is ever settled.
    #[cfg(not(unix))]
    pub(super) fn of(about: &std::fs::Metadata) -> Self {
        let modified = about.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
        let modified = (i64::try_from(modified.as_secs()).unwrap_or(i64::MAX), modified.subsec_nanos());
        Self { device: 0, inode: 0, size: about.len(), modified, changed: (i64::MAX, 0) }
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Which file it is, whatever it is called.
    pub(super) fn file(&self) -> (u64, u64) {
        (self.device, self.inode)
    }

    /// Whether a change after a moment would show in the stamp, once the file is on disk.
    pub(super) fn is_settled(&self, at: SystemTime) -> bool {
        self.is_aged(YOUNG, at)
    }

    /// Whether the file is on disk, for all that its stamp says.
    pub(super) fn is_written(&self, at: SystemTime) -> bool {
        self.is_aged(UNWRITTEN, at)
    }

    fn is_aged(&self, age: Duration, at: SystemTime) -> bool {
        let now = at.duration_since(UNIX_EPOCH).unwrap_or_default();
        let Ok(seconds) = u64::try_from(self.changed.0) else { return true };
        let nanoseconds = Duration::from_nanos(self.changed.1.into());
        Duration::from_secs(seconds).saturating_add(nanoseconds).saturating_add(age) <= now
    }
}

/// The fields of a stamp are of other types on other systems.
#[cfg(unix)]
fn fit<T>(value: impl TryInto<T>, otherwise: T) -> T {
    value.try_into().unwrap_or(otherwise)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_young_stamp_says_nothing() {
        let stamp = |changed| Stamp { device: 1, inode: 1, size: 1, modified: (0, 0), changed };
        let at = UNIX_EPOCH + Duration::from_secs(100);
        assert!(!stamp((0, 0)).is_written(at) && stamp((0, 0)).is_written(UNIX_EPOCH + Duration::from_mins(10)));
        assert!(stamp((99, 950_000_000)).is_settled(at));
        assert!(!stamp((99, 950_000_001)).is_settled(at));
        assert!(!stamp((100, 0)).is_settled(at));
        assert!(!stamp((i64::MAX, u32::MAX)).is_settled(at));
        assert!(stamp((-1, 0)).is_settled(at));
    }
}
