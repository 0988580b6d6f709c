//! Numbers of campaigns, for programs that know a campaign by a number: each has one beside its id, valid wherever an id
//! is. A number follows from the id; if an older campaign has it already, the next free one is taken.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

use sha2::{Digest, Sha256};

use super::stream::CAMPAIGNS;
use crate::{App, Caller, Fault};
use skald_journal::{Cursor, Partitions};

/// Numbers fit 31 bits: some programs know no others.
const NUMBER_MAX: u64 = 2_000_000_000;
/// Documents that are read at once.
const DOCUMENTS_PER_READ: usize = 200;

/// The numbers that were read last. Campaigns are never deleted, so a number that was given stays.
#[derive(Default)]
pub(crate) struct CampaignNumberCache(RwLock<Arc<AssignedNumbers>>);

#[derive(Default)]
struct AssignedNumbers {
    ids: BTreeMap<u64, String>,
    numbers: HashMap<String, u64>,
    /// The end of the journal before the campaigns were read.
    read_at: Option<Cursor>,
}

impl AssignedNumbers {
    /// Numbers for campaigns, the oldest first.
    fn assign(ids: impl IntoIterator<Item = String>, read_at: Cursor) -> Self {
        let mut assigned = Self { read_at: Some(read_at), ..Self::default() };
        for id in ids {
            let mut number = preferred_number(&id);
            while assigned.ids.contains_key(&number) {
                number = number % NUMBER_MAX + 1;
            }
            assigned.ids.insert(number, id.clone());
            assigned.numbers.insert(id, number);
        }
        assigned
    }
}

/// From 1 to `NUMBER_MAX`.
fn preferred_number(id: &str) -> u64 {
    let hash = Sha256::digest(id.as_bytes());
    let bytes = hash.iter().take(8).fold(0_u64, |number, byte| (number << 8) | u64::from(*byte));
    bytes % NUMBER_MAX + 1
}

impl App {
    /// The number of a campaign.
    pub(super) async fn campaign_number(&self, campaign_id: &str) -> Result<Option<u64>, Fault> {
        let find = |assigned: &AssignedNumbers| assigned.numbers.get(campaign_id).copied();
        self.find_assigned(find).await
    }

    /// The campaign that a text of digits stands for, unless the caller has no role in it.
    pub(super) async fn campaign_of_number(&self, caller: &Caller, text: &str) -> Result<Option<String>, Fault> {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let Some(number) = text.parse::<u64>().ok().filter(|_| is_number) else { return Ok(None) };
        // A campaign whose id is such a text comes first.
        let find = |assigned: &AssignedNumbers| {
            if assigned.numbers.contains_key(text) { Some(text.to_owned()) } else { assigned.ids.get(&number).cloned() }
        };
        let found = self.find_assigned(find).await?;
        Ok(found.filter(|campaign_id| caller.role_in(campaign_id).is_some()))
    }

    /// Looks into the numbers that are known, and reads them again if there is none and something was written since.
    async fn find_assigned<T>(&self, find: impl Fn(&AssignedNumbers) -> Option<T> + Send) -> Result<Option<T>, Fault> {
        let known = Arc::clone(&self.campaign_numbers.0.read().unwrap_or_else(PoisonError::into_inner));
        if let Some(found) = find(&known) {
            return Ok(Some(found));
        }
        let end = self.journal.end_cursor().await.map_err(|error| self.store_fault(&error))?;
        if known.read_at == Some(end) {
            return Ok(None);
        }
        let assigned = Arc::new(AssignedNumbers::assign(self.campaign_ids_by_age().await?, end));
        let found = find(&assigned);
        *self.campaign_numbers.0.write().unwrap_or_else(PoisonError::into_inner) = assigned;
        Ok(found)
    }

    /// The ids of all campaigns, whoever asks, the oldest first.
    async fn campaign_ids_by_age(&self) -> Result<Vec<String>, Fault> {
        let mut campaigns: Vec<(i64, String)> = Vec::new();
        loop {
            let after = campaigns.last().map(|(rank, id)| (*rank, id.as_str()));
            let read = self.journal.documents(CAMPAIGNS, Partitions::All, after, DOCUMENTS_PER_READ).await;
            let read = read.map_err(|error| self.store_fault(&error))?;
            let is_last = read.len() < DOCUMENTS_PER_READ;
            campaigns.extend(read.into_iter().map(|document| (document.rank, document.id)));
            if is_last {
                break;
            }
        }
        campaigns.sort();
        Ok(campaigns.into_iter().map(|(_, id)| id).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_differ_and_older_campaigns_keep_theirs() {
        let ids: Vec<String> = (0..1_000).map(|number| format!("camp_{number}")).collect();
        let all = AssignedNumbers::assign(ids.clone(), Cursor::default());
        let older = AssignedNumbers::assign(ids[..500].to_vec(), Cursor::default());
        assert_eq!((all.ids.len(), all.numbers.len()), (1_000, 1_000));
        assert!(older.numbers.iter().all(|(id, number)| all.numbers[id] == *number));
        assert!(all.ids.keys().all(|number| (1..=NUMBER_MAX).contains(number)));
    }

    #[test]
    fn a_number_that_is_taken_is_passed_over() {
        // The same id twice stands for two ids with the same number.
        let twice = AssignedNumbers::assign(["a".to_owned(), "a".to_owned()], Cursor::default());
        let number = preferred_number("a");
        assert_eq!(twice.ids.keys().copied().collect::<Vec<_>>(), [number, number + 1]);
    }
}
