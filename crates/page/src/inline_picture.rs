//! Pictures of the product. Inside a page: the SVG without its style element, which the policy of a page refuses; the style
//! sheet `picture.css` has the same colours. As an image of its own: with the policy that allows its styles.

use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use maud::{Markup, PreEscaped};

/// The policy of a picture: it has styles of its own, and nothing else.
const PICTURE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

/// An SVG that the engine drew, as an image of its own.
pub(crate) fn picture_response(svg: String) -> Response {
    ([(CONTENT_TYPE, "image/svg+xml"), (CONTENT_SECURITY_POLICY, PICTURE_POLICY)], svg).into_response()
}

/// An SVG that the engine drew, for the body of a page.
pub(crate) fn inline_picture(svg: &str) -> Markup {
    let (open, close) = ("<style>", "</style>");
    // Text in a picture is escaped, so that no name can hold this tag.
    let picture = match (svg.find(open), svg.rfind(close)) {
        (Some(from), Some(to)) if from < to => format!("{}{}", &svg[..from], &svg[to + close.len()..]),
        _ => svg.to_owned(),
    };
    PreEscaped(picture)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_no_style_that_the_policy_refuses() {
        let shown = inline_picture("<svg class=\"skald-picture\"><rect class=\"fill-card\"/><style>x{}</style></svg>");
        assert_eq!(shown.into_string(), "<svg class=\"skald-picture\"><rect class=\"fill-card\"/></svg>");
        assert_eq!(inline_picture("<svg></svg>").into_string(), "<svg></svg>");
    }

    #[test]
    fn every_ink_has_its_colour_in_the_style_sheet() {
        let style = include_str!("../assets/picture.css");
        for (ink, _, _) in skald_picture::palette() {
            for paint in ["fill", "stroke"] {
                let rule = format!(".{paint}-{ink} {{ {paint}: var(--{ink}); }}");
                assert!(style.contains(&rule), "{rule} is missing");
            }
        }
    }
}
