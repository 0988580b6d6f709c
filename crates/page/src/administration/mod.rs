//! `/keeping`: pages for the owner of the server: tokens and invitations, the audit log, the store, the limits.

mod audit_page;
mod invitations;
mod people;
mod qr_code;
mod store;

use axum::http::HeaderValue;
use axum::http::header::CACHE_CONTROL;
use axum::response::Response;
use maud::{Markup, html};
use skald_app::{Administration, Code, Fault};

pub(crate) use audit_page::show_audit;
pub(crate) use invitations::{create_invitation, revoke_invitation};
pub(crate) use people::{create_token, revoke_token, show_people};
pub use qr_code::terminal_qr_code;
pub(crate) use store::{backup, show_limits, show_store, verify};

use crate::PageContext;
use crate::layout::{MainPart, PageLayout};
use crate::visitor::Visitor;

/// The pages below `/keeping`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AdministrationPage {
    People,
    Audit,
    Store,
    Limits,
}

impl AdministrationPage {
    const ALL: [(Self, &str, &str); 4] = [
        (Self::People, "People", "/keeping"),
        (Self::Audit, "Audit", "/keeping/audit"),
        (Self::Store, "Store", "/keeping/store"),
        (Self::Limits, "Limits", "/keeping/limits"),
    ];
}

impl PageContext {
    /// The administration of the engine. Refuses every visitor but the owner; each of its methods does so too.
    fn administration(&self, visitor: &Visitor) -> Result<&dyn Administration, Fault> {
        if !visitor.is_owner() {
            let fault = Fault::new(Code::Forbidden, "this page is for the owner of the server");
            return Err(fault.hint("open it on the machine where Skald runs"));
        }
        self.engine.administration().ok_or_else(|| {
            let fault = Fault::new(Code::NotFound, "the store is kept by another server");
            fault.hint("open the page of the server that keeps the world")
        })
    }
}

/// Renders a page of `/keeping`. It may contain a token, so no cache may store it.
fn administration_page(visitor: &Visitor, part: AdministrationPage, body: &Markup) -> Response {
    let title = AdministrationPage::ALL.iter().find(|(known, _, _)| *known == part).map_or("", |(_, title, _)| title);
    let layout = PageLayout::for_visitor(title, visitor).part(MainPart::Keeping).style("keeping.css");
    let mut response = layout.render(html! {
        div.stack {
            header { h1 { "Keeping" } p.lead { "Who may come in, what was done, and how the world is kept safe." } }
            nav.keeping-tabs aria-label="Keeping" {
                @for (other, title, path) in AdministrationPage::ALL {
                    a.keeping-tab href=(path) aria-current=[(other == part).then_some("page")] { (title) }
                }
                a.keeping-tab href="/browsers" { "Browsers" }
            }
            (*body)
        }
    });
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
