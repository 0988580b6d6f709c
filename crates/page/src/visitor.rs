//! The visitor of a request: its caller, the chosen theme, and whether htmx requested a fragment.

use axum::extract::{FromRequestParts, OptionalFromRequestParts};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use skald_app::{Caller, CampaignRole, Code, Engine, Principal, unidentified_caller_fault};

use crate::middleware::PageError;
use crate::session_cookie::session_secret;
use crate::theme::ChosenTheme;
use crate::view_as::ViewedAs;

/// A request that somebody sent with a browser.
#[derive(Debug, Clone)]
pub(crate) struct Visitor {
    pub caller: Caller,
    pub browser: Browser,
    /// Whose view a game master looks at: then `caller` has that person's rights.
    pub viewed_as: Option<ViewedAs>,
}

/// How the browser shows pages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Browser {
    pub theme: ChosenTheme,
    /// htmx sent the request: the answer is a part of a page.
    pub wants_fragment: bool,
    pub is_signed_in: bool,
}

impl Browser {
    pub(crate) fn from_headers(headers: &HeaderMap) -> Self {
        Self {
            theme: ChosenTheme::from_headers(headers),
            wants_fragment: headers.contains_key("hx-request"),
            is_signed_in: session_secret(headers).is_some(),
        }
    }
}

impl Visitor {
    /// What the visitor is called in the head of a page.
    pub(crate) fn name(&self) -> &str {
        match &self.caller.principal {
            Principal::Owner => "Owner",
            Principal::Holder(holder) => &holder.name,
        }
    }

    pub(crate) fn is_owner(&self) -> bool {
        self.caller.principal == Principal::Owner
    }

    pub(crate) fn is_game_master_of(&self, campaign_id: &str) -> bool {
        self.caller.role_in(campaign_id) == Some(CampaignRole::Gm)
    }

    /// Reads the visitor's rights again, for a stream that goes on. False once they are gone; while the store is down
    /// they are as they were last known.
    pub(crate) async fn refresh(&mut self, engine: &dyn Engine) -> bool {
        if self.is_owner() {
            return true;
        }
        let refreshed = match &mut self.viewed_as {
            Some(viewed_as) => viewed_as.refresh_caller(engine).await,
            None => engine.refresh_caller(&self.caller).await,
        };
        match refreshed {
            Ok(caller) => self.caller = caller,
            Err(fault) => return fault.code() == Code::Unavailable,
        }
        true
    }

    /// Whether the visitor may roll and take notes there.
    pub(crate) fn plays_in(&self, campaign_id: &str) -> bool {
        self.caller.role_in(campaign_id) >= Some(CampaignRole::Player)
    }
}

impl<S: Sync> FromRequestParts<S> for Visitor {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, PageError> {
        let caller = parts.extensions.get::<Caller>().cloned().ok_or_else(unidentified_caller_fault)?;
        let viewed_as = parts.extensions.get::<ViewedAs>().cloned();
        Ok(Self { caller, browser: Browser::from_headers(&parts.headers), viewed_as })
    }
}

impl<S: Sync> FromRequestParts<S> for Browser {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, PageError> {
        Ok(Self::from_headers(&parts.headers))
    }
}

impl<S: Sync> OptionalFromRequestParts<S> for Visitor {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Option<Self>, PageError> {
        Ok(<Self as FromRequestParts<S>>::from_request_parts(parts, state).await.ok())
    }
}
