//! The path and the query of a request as typed values. A value that does not fit is answered with a page; the extractors
//! of axum answer plain text.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;
use skald_app::{Code, Fault, truncate_for_message};

use crate::middleware::PageError;

/// The `{names}` of the path.
pub(crate) struct PagePath<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for PagePath<T> {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, PageError> {
        if let Ok(axum::extract::Path(names)) = axum::extract::Path::from_request_parts(parts, state).await {
            return Ok(Self(names));
        }
        let message = format!("there is nothing at {:?}", truncate_for_message(parts.uri.path()));
        Err(Fault::new(Code::NotFound, message).hint("a part of the address is not a number that fits").into())
    }
}

/// The fields of the query.
pub(crate) struct PageQuery<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for PageQuery<T> {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, PageError> {
        if let Ok(axum::extract::Query(fields)) = axum::extract::Query::from_request_parts(parts, state).await {
            return Ok(Self(fields));
        }
        let query = truncate_for_message(parts.uri.query().unwrap_or_default());
        let fault = Fault::new(Code::InvalidParams, format!("{query:?} behind the ? has a value that does not fit"));
        Err(fault.hint("leave out what stands behind the ?, or go home").into())
    }
}
