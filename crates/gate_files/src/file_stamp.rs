//! File stamps, which show that a file is unchanged: its identity, its size, and its times of change.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// File times have a resolution of up to a hundredth of a second. A second change within it leaves the stamp as it is,
/// so a stamp this young proves nothing.
const TIME_RESOLUTION: Duration = Duration::from_millis(50);

/// After a write through a memory mapping, further writes do not change the times until the system has written the file
/// to disk, which it does by itself within less than this.
const WRITEBACK_MAX: Duration = Duration::from_mins(10);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileStamp {
    device: u64,
    inode: u64,
    size: u64,
    /// Modification time. Anybody who may write the file can set it back.
    modified: (i64, u32),
    /// Change time (ctime) of content, attributes or name. It cannot be set back.
    changed: (i64, u32),
}

impl FileStamp {
    #[cfg(unix)]
    pub(super) fn from_metadata(stat: &rustix::fs::Stat) -> Self {
        Self {
            device: convert_or(stat.st_dev, u64::MAX),
            inode: convert_or(stat.st_ino, u64::MAX),
            size: convert_or(stat.st_size, u64::MAX),
            modified: (convert_or(stat.st_mtime, i64::MAX), convert_or(stat.st_mtime_nsec, u32::MAX)),
            changed: (convert_or(stat.st_ctime, i64::MAX), convert_or(stat.st_ctime_nsec, u32::MAX)),
        }
    }

    /// There is no change time here, only a modification time that can be set back, so no stamp is ever settled.
    #[cfg(not(unix))]
    pub(super) fn from_metadata(about: &std::fs::Metadata) -> Self {
        let modified = about.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
        let modified = (i64::try_from(modified.as_secs()).unwrap_or(i64::MAX), modified.subsec_nanos());
        Self { device: 0, inode: 0, size: about.len(), modified, changed: (i64::MAX, 0) }
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// The identity of the file, independent of its name.
    pub(super) fn file_id(&self) -> (u64, u64) {
        (self.device, self.inode)
    }

    /// Whether a change after `at` would show in the stamp, provided that the file is on disk.
    pub(super) fn is_stable(&self, at: SystemTime) -> bool {
        self.is_older_than(TIME_RESOLUTION, at)
    }

    /// Whether the file is old enough to be on disk for certain.
    pub(super) fn is_written(&self, at: SystemTime) -> bool {
        self.is_older_than(WRITEBACK_MAX, at)
    }

    fn is_older_than(&self, age: Duration, at: SystemTime) -> bool {
        let now = at.duration_since(UNIX_EPOCH).unwrap_or_default();
        let Ok(seconds) = u64::try_from(self.changed.0) else { return true };
        let nanoseconds = Duration::from_nanos(self.changed.1.into());
        Duration::from_secs(seconds).saturating_add(nanoseconds).saturating_add(age) <= now
    }
}

/// Converts a field of `Stat`, whose types differ between systems. Only Unix has it.
#[cfg(unix)]
fn convert_or<T>(value: impl TryInto<T>, otherwise: T) -> T {
    value.try_into().unwrap_or(otherwise)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_young_stamp_says_nothing() {
        let stamp = |changed| FileStamp { device: 1, inode: 1, size: 1, modified: (0, 0), changed };
        let at = UNIX_EPOCH + Duration::from_secs(100);
        assert!(!stamp((0, 0)).is_written(at) && stamp((0, 0)).is_written(UNIX_EPOCH + Duration::from_mins(10)));
        assert!(stamp((99, 950_000_000)).is_stable(at));
        assert!(!stamp((99, 950_000_001)).is_stable(at));
        assert!(!stamp((100, 0)).is_stable(at));
        assert!(!stamp((i64::MAX, u32::MAX)).is_stable(at));
        assert!(stamp((-1, 0)).is_stable(at));
    }
}
