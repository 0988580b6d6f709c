//! The fields of a form as a browser sends them: `application/x-www-form-urlencoded`, up to a limit.

use std::time::Duration;

use axum::body::to_bytes;
use axum::extract::{FromRequest, Request};
use percent_encoding::percent_decode_str;
use skald_app::{Caller, Code, Fault, limits};

use crate::middleware::PageError;

/// The fields of a form. A field that was sent twice has the last value.
#[derive(Debug, Clone, Default)]
pub(crate) struct Form {
    fields: Vec<(String, String)>,
}

impl Form {
    pub(crate) fn parse(text: &str) -> Self {
        let decode = |text: &str| percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned();
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        let fields = pairs.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            // Browsers send line breaks as two characters.
            (decode(name), decode(value).replace("\r\n", "\n"))
        });
        Self { fields: fields.collect() }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Replaces the value of a field, or adds it.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.fields.retain(|(found, _)| found != name);
        self.fields.push((name.to_owned(), value.to_owned()));
    }

    /// The fields whose names begin with a prefix, without it.
    pub(crate) fn strip_prefix(&self, prefix: &str) -> Self {
        let stripped =
            self.iter().filter_map(|(name, value)| Some((name.strip_prefix(prefix)?.to_owned(), value.to_owned())));
        Self { fields: stripped.collect() }
    }

    /// Every value of a field, such as of several checkboxes.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.iter().filter(move |(found, _)| *found == name).map(|(_, value)| value)
    }

    /// The value as it was typed, if the field was sent.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.fields.iter().rev().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// The value as it was typed; empty if it is not there.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.value(name).unwrap_or_default()
    }

    /// The value without spaces around it, if there is one.
    pub(crate) fn filled(&self, name: &str) -> Option<&str> {
        Some(self.text(name).trim()).filter(|text| !text.is_empty())
    }

    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.filled(name).is_some()
    }

    /// A whole number, if one was typed.
    pub(crate) fn integer(&self, name: &str) -> Result<Option<i64>, Fault> {
        let Some(text) = self.filled(name) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| {
            let fault = Fault::new(Code::InvalidParams, format!("{text:?} is not a whole number"));
            fault.with_path(format!("/{name}")).hint("type digits, with a minus before them if need be")
        })
    }
}

impl<S: Send + Sync> FromRequest<S> for Form {
    type Rejection = PageError;

    async fn from_request(request: Request, _: &S) -> Result<Self, PageError> {
        let is_known = request.extensions().get::<Caller>().is_some();
        // Limit the body of callers that are not signed in.
        let most = if is_known { limits::PAGE_FORM_BYTES_MAX } else { limits::REDEEM_BODY_BYTES_MAX };
        let body = to_bytes(request.into_body(), most);
        let body = tokio::time::timeout(Duration::from_secs(limits::BODY_READ_SECONDS), body).await;
        let body = body.ok().and_then(Result::ok).ok_or_else(|| {
            Fault::new(Code::TooLarge, format!("the form cannot be read, or has more than {most} bytes"))
                .hint("send less at once")
        })?;
        Ok(Self::parse(&String::from_utf8_lossy(&body)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_read_as_it_was_typed() {
        let form = Form::parse("e=2d6%2B1+%3E%3D+7&note=a%0D%0Ab&who=1&who=2&empty=+");
        assert_eq!(form.text("e"), "2d6+1 >= 7");
        assert_eq!(form.text("note"), "a\nb");
        assert_eq!(form.text("who"), "2");
        assert_eq!((form.filled("empty"), form.text("missing")), (None, ""));
        assert_eq!(Form::parse("n=-3").integer("n").expect("a number"), Some(-3));
        assert_eq!(Form::parse("n=x").integer("n").expect_err("no number").body().path.as_deref(), Some("/n"));
    }
}
