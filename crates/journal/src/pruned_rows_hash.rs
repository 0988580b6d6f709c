//! Running hash and count of pruned side rows, so that verification and seals still account for them.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::stored_values::part_digest;
use super::{Hash, hex};

/// A sum, stored as the fields `count` and `hash` of a side row.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RowSum {
    pub count: u64,
    /// SHA-256, in hexadecimal digits, of the hash before and the digest of the row that was added. Empty before the
    /// first.
    pub hash: String,
}

impl RowSum {
    /// Adds the body of a row that is removed.
    pub fn add(&mut self, body: &str) {
        self.add_digest(&part_digest(body));
    }

    fn add_digest(&mut self, row: &Hash) {
        self.count += 1;
        self.hash = hex(&Sha256::digest(format!("{}{}", self.hash, hex(row))).into());
    }

    /// Whether `later` can be this sum after these rows were added, in order. If more rows were added after them, only
    /// the count can be compared.
    pub(super) fn can_become<'a>(&self, later: &Self, rows: impl IntoIterator<Item = &'a Hash>) -> bool {
        let mut sum = self.clone();
        for row in rows {
            sum.add_digest(row);
        }
        later.count > sum.count || later == &sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(rows: &[&str]) -> RowSum {
        let mut sum = RowSum::default();
        for row in rows {
            sum.add(row);
        }
        sum
    }

    #[test]
    fn a_sum_grows_by_the_rows_that_were_removed() {
        let (before, rows) = (sum(&["a"]), ["b", "c"].map(part_digest));
        assert!(before.can_become(&sum(&["a", "b", "c"]), &rows));
        assert!(before.can_become(&sum(&["a", "b", "c", "d"]), &rows), "another one came after them");
        assert!(before.can_become(&before, &[]));
        for other in [sum(&["a", "b"]), sum(&["a", "c", "b"]), sum(&["a", "b", "x"]), RowSum::default()] {
            assert!(!before.can_become(&other, &rows), "{other:?}");
        }
        assert!(!before.can_become(&sum(&["x"]), &[]));
    }
}
