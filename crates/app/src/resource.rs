//! Resources: URI templates over read operations.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::Value;

use crate::input::nearest_word;
use crate::{Code, Fault, Toolset, truncate_for_message};

/// The fields of an operation's input that a URI gives, by name.
pub type UriFields = Vec<(&'static str, String)>;

/// A URI, or a template of URIs, that is read through an operation. `{name}` stands for one field of the operation's
/// input; `{?one,two}` at the end for fields that may be given as a query, in any order (RFC 6570).
#[derive(Debug, Clone, Copy)]
pub struct Resource {
    pub uri: &'static str,
    pub name: &'static str,
    pub title: &'static str,
    pub summary: &'static str,
    pub toolset: Toolset,
    pub mime_type: &'static str,
    pub operation: &'static str,
    /// An input field that the resource itself fills in.
    pub fixed: Option<(&'static str, &'static str)>,
    /// For a template: the field whose newest values are each listed as a resource.
    pub listed: Option<&'static str>,
}

impl Resource {
    pub fn is_template(&self) -> bool {
        self.uri.contains('{')
    }

    /// The URI of a template with one field filled in.
    pub fn uri_with_field(&self, field: &str, value: &str) -> String {
        self.uri.replace(&format!("{{{field}}}"), &percent_encode(value))
    }

    /// The input fields in `uri`, or `None` if it does not match this template.
    pub fn match_uri(&self, uri: &str) -> Option<UriFields> {
        let (mut template, mut rest) = (self.uri, uri);
        let mut fields: UriFields = self.fixed.map(|(name, value)| (name, value.to_owned())).into_iter().collect();
        while let Some((literal, after)) = template.split_once('{') {
            rest = rest.strip_prefix(literal)?;
            let (name, after) = after.split_once('}')?;
            if let Some(names) = name.strip_prefix('?') {
                parse_query(names, rest, &mut fields)?;
                return after.is_empty().then_some(fields);
            }
            let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
            let (text, left) = rest.split_at(end);
            if text.is_empty() {
                return None;
            }
            fields.push((name, percent_decode(text)?));
            (template, rest) = (after, left);
        }
        (template == rest).then_some(fields)
    }
}

/// Adds the fields of a query; `None` if one is unknown or repeated.
fn parse_query(names: &'static str, rest: &str, fields: &mut UriFields) -> Option<()> {
    if rest.is_empty() {
        return Some(());
    }
    for pair in rest.strip_prefix('?')?.split('&') {
        let (name, text) = pair.split_once('=')?;
        let name = names.split(',').find(|known| *known == name)?;
        if fields.iter().any(|(given, _)| *given == name) {
            return None;
        }
        fields.push((name, percent_decode(text)?));
    }
    Some(())
}

/// The fault for a URI that matches no template of its scheme, or no resource. The templates are listed only in
/// `allowed`, to keep the message short.
pub(crate) fn unresolved_uri_fault<'a>(uri: &str, resources: impl Iterator<Item = &'a Resource> + Clone) -> Fault {
    let is_same_scheme = |resource: &&Resource| scheme(uri).is_some() && scheme(uri) == scheme(resource.uri);
    let of_scheme: Vec<&Resource> = resources.clone().filter(is_same_scheme).collect();
    let known: Vec<&str> = of_scheme.iter().map(|resource| resource.uri).collect();
    let fault = if scheme(uri) == Some("imagineer") {
        Fault::new(Code::NotFound, format!("unknown resource {:?}", truncate_for_message(uri)))
    } else if of_scheme.iter().any(|resource| resource.is_template()) {
        Fault::new(Code::InvalidParams, format!("the URI {:?} is malformed", truncate_for_message(uri)))
    } else {
        Fault::new(Code::NotFound, format!("there is no resource {:?}", truncate_for_message(uri)))
    };
    let fault = fault.value(&Value::from(uri)).hint(match nearest_word(uri, &known) {
        Some(template) => format!("did you mean {template}?"),
        None => "resources/list and resources/templates/list have what can be read".to_owned(),
    });
    if !known.is_empty() {
        return fault.allowed(known);
    }
    let mut schemes: Vec<String> =
        resources.filter_map(|resource| scheme(resource.uri)).map(|scheme| format!("{scheme}://")).collect();
    schemes.dedup();
    fault.allowed(schemes)
}

fn scheme(uri: &str) -> Option<&str> {
    uri.split_once("://").map(|(scheme, _)| scheme)
}

/// Characters escaped in a segment of a path or URI: all but the unreserved ones of RFC 3986.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Encodes a text as one segment of a path or URI.
pub fn percent_encode(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}

/// The text that a segment stands for; `None` if it is malformed or no UTF-8.
pub(crate) fn percent_decode(text: &str) -> Option<String> {
    // percent_encoding would pass an invalid escape through unchanged.
    let is_escape = |after: &str| {
        after.as_bytes().first_chunk::<2>().is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    if !text.split('%').skip(1).all(is_escape) {
        return None;
    }
    percent_decode_str(text).decode_utf8().ok().map(Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_gives_what_its_template_names() {
        let resource = Resource {
            uri: "sky://{id}/places{?t,limit}",
            name: "places",
            title: "Places",
            summary: "Places.",
            toolset: Toolset::Universe,
            mime_type: "application/json",
            operation: "places",
            fixed: Some(("view", "places")),
            listed: None,
        };
        let fields = |uri: &str| {
            let fields = resource.match_uri(uri)?;
            Some(fields.iter().skip(1).map(|(name, text)| format!("{name}={text}")).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(fields("sky://a/places").as_deref(), Some("id=a"));
        assert_eq!(fields("sky://a/places?limit=2&t=-1.5e3").as_deref(), Some("id=a limit=2 t=-1.5e3"));
        assert_eq!(fields("sky://a%20b/places?t=%31").as_deref(), Some("id=a b t=1"));
        for wrong in ["?", "?t", "?t=1&t=2", "?u=1", "?id=b", "?t=%", "x?t=1", "/?t=1", "#t"] {
            assert_eq!(fields(&format!("sky://a/places{wrong}")), None, "{wrong}");
        }
    }

    #[test]
    fn a_segment_is_decoded_to_what_it_was() {
        for (text, escaped) in [("a-b._~9", "a-b._~9"), ("a b/%?", "a%20b%2F%25%3F"), ("Åse", "%C3%85se"), ("", "")] {
            assert_eq!(percent_encode(text), escaped);
            assert_eq!(percent_decode(escaped).as_deref(), Some(text));
        }
        assert_eq!(percent_decode("%c3%85%2f").as_deref(), Some("Å/"));
        for malformed in ["%", "%4", "a%zz", "%%41", "%+1", "%4é", "%ff", "%c3"] {
            assert_eq!(percent_decode(malformed), None, "{malformed}");
        }
    }
}
