//! Conditions on a short text, such as a name or a subtype, compared as names are: without case and accents.

use schemars::JsonSchema;
use serde::Deserialize;
use skald_domain::lore::fold_name;

use crate::{Code, Fault, limits};

/// What a text must be like.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum TextCondition {
    Contains(String),
    Equals(String),
    Lacks(String),
    IsEmpty(bool),
}

/// Conditions that a text must all fit, folded once for many texts.
pub(super) struct FoldedConditions(Vec<TextCondition>);

impl FoldedConditions {
    pub(super) fn new(given: &[TextCondition], pointer: &str) -> Result<Self, Fault> {
        check_term_count(given.len(), pointer)?;
        let folded = given.iter().map(|condition| match condition {
            TextCondition::Contains(part) => TextCondition::Contains(fold_name(part)),
            TextCondition::Equals(whole) => TextCondition::Equals(fold_name(whole)),
            TextCondition::Lacks(part) => TextCondition::Lacks(fold_name(part)),
            TextCondition::IsEmpty(is_empty) => TextCondition::IsEmpty(*is_empty),
        });
        Ok(Self(folded.collect()))
    }

    pub(super) fn match_all(&self, text: &str) -> bool {
        if self.0.is_empty() {
            return true;
        }
        let text = fold_name(text);
        self.0.iter().all(|condition| match condition {
            TextCondition::Contains(part) => text.contains(part.as_str()),
            TextCondition::Equals(whole) => text == *whole,
            TextCondition::Lacks(part) => !text.contains(part.as_str()),
            TextCondition::IsEmpty(is_empty) => text.is_empty() == *is_empty,
        })
    }
}

/// Each entity is compared with every term of a filter, so there are few of them.
pub(super) fn check_term_count(count: usize, pointer: &str) -> Result<(), Fault> {
    let most = limits::FILTER_TERMS_MAX;
    if count <= most {
        return Ok(());
    }
    let fault =
        Fault::new(Code::InvalidParams, format!("a filter has at most {most} terms of a kind, these are {count}"));
    Err(fault.with_path(pointer).hint("ask in several requests"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(conditions: &[TextCondition], text: &str) -> bool {
        FoldedConditions::new(conditions, "/name").unwrap().match_all(text)
    }

    #[test]
    fn texts_are_compared_as_names_are() {
        let part = |text: &str| text.to_owned();
        for (condition, fitting, other) in [
            (TextCondition::Contains(part("LAN")), "Élan", "Ann"),
            (TextCondition::Equals(part("elan")), " Élan ", "Élan the Red"),
            (TextCondition::Lacks(part("red")), "Élan", "Élan the Red"),
            (TextCondition::IsEmpty(true), "  ", "a"),
            (TextCondition::IsEmpty(false), "a", ""),
        ] {
            let condition = [condition];
            assert!(fits(&condition, fitting) && !fits(&condition, other), "{condition:?}");
        }
        let both = [TextCondition::Contains(part("a")), TextCondition::Lacks(part("b"))];
        assert!(fits(&both, "ac") && !fits(&both, "ab") && fits(&[], ""));
    }

    #[test]
    fn a_filter_has_few_terms() {
        assert!(check_term_count(limits::FILTER_TERMS_MAX, "/name").is_ok());
        let refused = check_term_count(limits::FILTER_TERMS_MAX + 1, "/name").unwrap_err();
        assert_eq!((refused.code(), refused.body().path.as_deref()), (Code::InvalidParams, Some("/name")));
    }
}
