//! `/keeping/audit`: who called what, when, and how it ended, with filters.

use axum::extract::State;
use axum::response::Response;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use maud::{Markup, html};
use serde::Deserialize;
use skald_app::{AuditFilter, AuditRow, Code, Fault, Token};

use super::{AdministrationPage, administration_page};
use crate::SharedContext;
use crate::components::{empty_state, time};
use crate::extractors::PageQuery;
use crate::middleware::PageError;
use crate::visitor::Visitor;

/// Rows of the page.
const ROWS_SHOWN: usize = 200;

#[derive(Debug, Default, Deserialize)]
pub(crate) struct AuditQuery {
    #[serde(default)]
    user: String,
    #[serde(default)]
    operation: String,
    #[serde(default)]
    outcome: String,
    #[serde(default)]
    campaign: String,
    /// A day, the first that is shown.
    #[serde(default)]
    since: String,
}

impl AuditQuery {
    fn filter(&self) -> Result<AuditFilter, Fault> {
        let filled = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let since = filled(&self.since).map(|text| first_moment(&text)).transpose()?;
        Ok(AuditFilter {
            since,
            until: None,
            principal: filled(&self.user),
            campaign_id: filled(&self.campaign),
            operation: filled(&self.operation),
            outcome: filled(&self.outcome),
        })
    }
}

fn first_moment(text: &str) -> Result<Timestamp, Fault> {
    let at = text.parse::<Date>().ok().and_then(|day| day.to_zoned(TimeZone::UTC).ok());
    at.map(|at| at.timestamp()).ok_or_else(|| {
        let fault = Fault::new(Code::InvalidParams, format!("{:?} is no day", skald_app::truncate_for_message(text)));
        fault.with_path("/since").hint("type it as 2026-01-31")
    })
}

/// `GET /keeping/audit`.
pub(crate) async fn show_audit(
    State(context): State<SharedContext>,
    visitor: Visitor,
    PageQuery(query): PageQuery<AuditQuery>,
) -> Result<Response, PageError> {
    let administration = context.administration(&visitor)?;
    let rows = administration.read_audit(&visitor.caller, &query.filter()?, ROWS_SHOWN).await?;
    let tokens = administration.list_tokens(&visitor.caller).await?;
    Ok(administration_page(
        &visitor,
        AdministrationPage::Audit,
        &html! {
            section.card {
                h2 { "Audit" }
                p.muted { "Calls with a token, without their content. The newest first, times in UTC where no script runs." }
                (filter_form(&query, &tokens))
            }
            section.card { (audit_table(&rows, &tokens)) }
        },
    ))
}

fn filter_form(query: &AuditQuery, tokens: &[Token]) -> Markup {
    html! {
        form.audit-filter method="get" action="/keeping/audit" {
            div.field {
                label for="audit-user" { "Who" }
                select #audit-user name="user" {
                    option value="" { "everybody" }
                    option value="owner" selected[query.user == "owner"] { "the owner" }
                    @for token in tokens { option value=(token.id) selected[token.id == query.user] { (token.name) } }
                }
            }
            @for (name, label, value) in [("operation", "Operation", &query.operation), ("outcome", "Outcome", &query.outcome), ("campaign", "Campaign id", &query.campaign)] {
                div.field { label for={ "audit-" (name) } { (label) } input id={ "audit-" (name) } type="text" name=(name) value=(value) autocomplete="off" spellcheck="false"; }
            }
            div.field { label for="audit-since" { "Since" } input #audit-since type="date" name="since" value=(query.since); }
            button { "Filter" }
        }
    }
}

fn audit_table(rows: &[AuditRow], tokens: &[Token]) -> Markup {
    let who =
        |id: &str| tokens.iter().find(|token| token.id == id).map_or_else(|| id.to_owned(), |token| token.name.clone());
    html! {
        @if rows.is_empty() {
            (empty_state("No such call", &html! { p { "Calls with a token are noted while a server runs. " a href="/keeping/audit" { "Take the filters away" } "." } }))
        } @else {
            div.table-scroll tabindex="0" role="region" aria-label="Calls" {
                table.audit {
                    thead { tr { th scope="col" { "When" } th scope="col" { "Who" } th scope="col" { "What" } th scope="col" { "Outcome" } th scope="col" { "By" } th scope="col" { "Took" } } }
                    tbody {
                        @for row in rows.iter().rev() {
                            tr {
                                td { (time(&row.at.to_string())) }
                                td dir="auto" { (who(&row.principal)) }
                                td { code { (row.operation) } }
                                td { span.badge.badge-refused[row.outcome != "ok"] { (row.outcome) } }
                                td { (row.surface) }
                                td.number { (row.duration_us.div_ceil(1_000)) " ms" }
                            }
                        }
                    }
                }
            }
            @if rows.len() == ROWS_SHOWN { p.muted { "The newest " (ROWS_SHOWN) "; filter to see older ones, or " code { "skald audit export" } " for all." } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_what_was_typed_and_nothing_else() {
        let query =
            AuditQuery { since: "2026-01-31".to_owned(), outcome: " FORBIDDEN ".to_owned(), ..AuditQuery::default() };
        let filter = query.filter().expect("a filter");
        assert_eq!(filter.since.map(|at| at.to_string()).as_deref(), Some("2026-01-31T00:00:00Z"));
        assert_eq!((filter.outcome.as_deref(), filter.principal), (Some("FORBIDDEN"), None));
        let bad = AuditQuery { since: "yesterday".to_owned(), ..AuditQuery::default() };
        assert_eq!(bad.filter().expect_err("no day").body().path.as_deref(), Some("/since"));
    }
}
