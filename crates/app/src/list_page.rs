//! Pagination of lists from read models: limits, cursors, and the documents that the caller may see.

use crate::{App, Caller, Code, Fault, limits, truncate_for_message};
use skald_journal::{Document, Partitions};

/// One page of a list.
pub(crate) struct ListPage<T> {
    pub items: Vec<T>,
    pub next_cursor: Option<String>,
}

/// What a list makes of a document.
pub(crate) enum ListedDocument<T> {
    Shown(T),
    /// The caller may see it, and did not ask for it.
    Unwanted,
    /// The caller may not see it: nothing in the answer depends on it.
    Hidden,
}

impl<T> From<Option<T>> for ListedDocument<T> {
    fn from(shown: Option<T>) -> Self {
        shown.map_or(Self::Hidden, Self::Shown)
    }
}

pub(crate) fn check_page_limit(limit: Option<usize>) -> Result<usize, Fault> {
    let limit = limit.unwrap_or(limits::PAGE_DEFAULT);
    if (1..=limits::PAGE_MAX).contains(&limit) {
        return Ok(limit);
    }
    let fault = Fault::new(Code::InvalidParams, format!("limit is {limit}, allowed: 1 to {}", limits::PAGE_MAX));
    Err(fault.with_path("/limit").hint("ask for fewer, and send the next cursor for the rest"))
}

pub(crate) fn invalid_cursor_fault(cursor: &str) -> Fault {
    Fault::new(Code::InvalidParams, format!("unknown cursor {:?}", truncate_for_message(cursor)))
        .with_path("/cursor")
        .hint("send the next cursor as it was answered, or none for the first page")
}

impl App {
    /// Lists a collection for a caller, highest rank first. Only the campaigns that the caller has a role in are read.
    /// `seen` parses a document, or returns `None` if the caller may not see it.
    pub(crate) async fn list_documents<T: Send, L: Into<ListedDocument<T>> + Send>(
        &self,
        caller: &Caller,
        collection: &str,
        cursor: Option<&str>,
        limit: usize,
        seen: impl Fn(&Document) -> Result<L, Fault> + Send,
    ) -> Result<ListPage<T>, Fault> {
        let campaigns = caller.campaign_ids();
        let partitions = campaigns.as_deref().map_or(Partitions::All, Partitions::Of);
        self.list_documents_in(partitions, collection, cursor, limit, seen).await
    }

    /// Lists a collection in the given partitions, whoever the caller is.
    pub(crate) async fn list_documents_in<T: Send, L: Into<ListedDocument<T>> + Send>(
        &self,
        partitions: Partitions<'_>,
        collection: &str,
        cursor: Option<&str>,
        limit: usize,
        seen: impl Fn(&Document) -> Result<L, Fault> + Send,
    ) -> Result<ListPage<T>, Fault> {
        let mut after = match cursor {
            None => None,
            Some(cursor) => {
                let (rank, id) = cursor.split_once('.').ok_or_else(|| invalid_cursor_fault(cursor))?;
                Some((rank.parse::<i64>().map_err(|_| invalid_cursor_fault(cursor))?, id.to_owned()))
            }
        };
        let (mut items, mut next_cursor, mut unwanted) = (Vec::new(), None, 0);
        // Where the next page begins: never at a hidden document, whose id the cursor would tell.
        let mut last_visible = None;
        // Hidden documents do not fill a page, so further pages are read until it is full.
        'pages: loop {
            let place = after.as_ref().map(|(rank, id)| (*rank, id.as_str()));
            let documents = self.journal.documents(collection, partitions, place, limits::PAGE_MAX).await;
            let documents = documents.map_err(|error| self.store_fault(&error))?;
            let is_last = documents.len() < limits::PAGE_MAX;
            for document in documents {
                let listed = seen(&document)?.into();
                let is_page_full = match listed {
                    ListedDocument::Shown(_) => items.len() == limit,
                    ListedDocument::Unwanted => unwanted == limits::UNWANTED_ROWS_READ_MAX,
                    ListedDocument::Hidden => false,
                };
                if is_page_full {
                    next_cursor = last_visible;
                    break 'pages;
                }
                if !matches!(listed, ListedDocument::Hidden) {
                    last_visible = Some(format!("{}.{}", document.rank, document.id));
                }
                match listed {
                    ListedDocument::Shown(item) => items.push(item),
                    ListedDocument::Unwanted => unwanted += 1,
                    ListedDocument::Hidden => {}
                }
                after = Some((document.rank, document.id));
            }
            if is_last {
                break;
            }
        }
        Ok(ListPage { items, next_cursor })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_a_size_unless_another_is_asked_for() {
        assert_eq!(check_page_limit(None).unwrap(), limits::PAGE_DEFAULT);
        for limit in [1, limits::PAGE_DEFAULT + 1, limits::PAGE_MAX] {
            assert_eq!(check_page_limit(Some(limit)).unwrap(), limit);
        }
        for limit in [0, limits::PAGE_MAX + 1] {
            let refused = check_page_limit(Some(limit)).unwrap_err();
            assert_eq!((refused.code(), refused.body().path.as_deref()), (Code::InvalidParams, Some("/limit")));
        }
    }
}
