//! Resources: URI templates over read operations.

use serde_json::Value;

use crate::{Code, Fault, Toolset, short};

/// The fields of an operation's input that a URI gives, by name.
pub type UriFields = Vec<(&'static str, String)>;

/// A URI, or a template of URIs, that reads through an operation. `{name}` stands for one field of the operation's input.
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
}

impl Resource {
    pub fn is_template(&self) -> bool {
        self.uri.contains('{')
    }

    /// The fields that `uri` gives the operation, or `None` if it is not one of this template's.
    pub fn fields(&self, uri: &str) -> Option<UriFields> {
        let (mut template, mut rest) = (self.uri, uri);
        let mut fields: UriFields = self.fixed.map(|(name, value)| (name, value.to_owned())).into_iter().collect();
        while let Some((literal, after)) = template.split_once('{') {
            rest = rest.strip_prefix(literal)?;
            let (name, after) = after.split_once('}')?;
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

pub(crate) fn not_found(uri: &str, resources: &[Resource]) -> Fault {
    let known: Vec<&str> = resources.iter().map(|resource| resource.uri).collect();
    Fault::new(Code::NotFound, format!("there is no resource {:?}", short(uri)))
        .value(&Value::from(uri))
        .hint(format!("known: {}", known.join(", ")))
        .allowed(known)
}

fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first == b'%' {
            let value = |digit: u8| char::from(digit).to_digit(16);
            let [high, low] = *rest.first_chunk::<2>()?;
            bytes.push(u8::try_from(value(high)? * 16 + value(low)?).ok()?);
            rest = &rest[2..];
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}
