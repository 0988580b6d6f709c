//! Renames tags in the remote place, with one request for all entities that have the tag.

use std::collections::BTreeSet;

use skald_domain::lore::{LoreState, fold_name};

use super::sync_run::{SyncFailure, SyncRun};

impl SyncRun<'_> {
    /// Renames tags there that were renamed here. If one request cannot do it, each entity is sent with its new tags.
    pub(super) async fn rename_tags(&mut self, tag_ids: &BTreeSet<u32>) -> Result<(), SyncFailure> {
        for tag_id in tag_ids {
            let committed = self.read_lore().await?;
            let Some(tag) = committed.state.tag(*tag_id) else { continue };
            let new_name = tag.name.to_string();
            let Some(name) = self.name_there(&committed.state, *tag_id, &new_name).await? else { continue };
            self.check_lease()?;
            if self.remote.rename_tag(name.clone(), new_name.clone()).await? {
                self.report.sent += 1;
                self.note_renamed_tag(&name, &new_name).await?;
            }
        }
        Ok(())
    }

    /// The name that a tag has there: all entities that have the tag had that name when both sides agreed last.
    async fn name_there(&self, state: &LoreState, tag_id: u32, new_name: &str) -> Result<Option<String>, SyncFailure> {
        let tagged: Vec<_> = state.entities().filter(|entity| entity.tags.contains(&tag_id)).collect();
        let ids: Vec<u64> = tagged.iter().map(|entity| entity.entity_id).collect();
        let rows = self.app.agreed_rows(self.campaign_id, &ids).await?;
        let mut names: Option<Vec<String>> = None;
        for entity in tagged {
            let Some(row) = rows.get(&entity.entity_id) else { continue };
            if row.base.tags.iter().any(|tag| fold_name(tag) == fold_name(new_name)) {
                continue;
            }
            let ours = state.tag_names(entity);
            let is_ours = |name: &str| ours.iter().any(|own| fold_name(own) == fold_name(name));
            let gone = row.base.tags.iter().filter(|name| !is_ours(name)).cloned();
            names = Some(match names {
                None => gone.collect(),
                Some(names) => {
                    let gone: Vec<String> = gone.collect();
                    names.into_iter().filter(|name| gone.contains(name)).collect()
                }
            });
        }
        match names.as_deref() {
            // A name that another tag here has is another tag there too.
            Some([name]) if state.find_tag(name).is_none() => Ok(Some(name.clone())),
            _ => Ok(None),
        }
    }

    /// Every entity that had the tag there has it under its new name.
    async fn note_renamed_tag(&self, name: &str, new_name: &str) -> Result<(), SyncFailure> {
        for known in self.app.agreed_ids(self.campaign_id).await? {
            let Some(mut row) = self.agreed_row(known.entity_id).await? else { continue };
            let Some(tag) = row.base.tags.iter_mut().find(|tag| fold_name(tag) == fold_name(name)) else { continue };
            new_name.clone_into(tag);
            self.put_row(known.entity_id, &row).await?;
        }
        Ok(())
    }
}
