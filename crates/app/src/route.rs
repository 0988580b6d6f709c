//! A REST route of an operation, as data: the HTTP surface and the OpenAPI description are rendered from it.

/// Path prefix of every operation that is not REST-only: `POST /api/v1/<operation>`.
pub const API_PREFIX: &str = "/api/v1";

pub const MIME_JSON: &str = "application/json";
pub const MIME_YAML: &str = "application/yaml";
const EVENT_STREAM: &str = "text/event-stream";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpMethod {
    Get,
    Post,
    Put,
    Delete,
}

impl HttpMethod {
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
        }
    }
}

/// How the body of a request becomes input of the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestBody {
    /// It is not read.
    None,
    /// An object with the fields that path and query do not give.
    Fields,
    /// The whole body is the value of this field.
    Field(&'static str),
    /// Like `Field`, if the body is an array. Another operation at the same route takes other bodies.
    Items(&'static str),
}

/// How success is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Success {
    /// 200 with the answer.
    Ok,
    /// 200 with this field of the answer. A `nextCursor` beside it becomes a `Link` to the next page.
    Page(&'static str),
    /// 201 with the answer. The `Location` is this path, with fields of the answer in it.
    Created(&'static str),
    /// 204 without a body.
    NoContent,
    /// 200 with events as they happen.
    Events,
}

impl Success {
    pub fn status(self) -> u16 {
        match self {
            Self::Ok | Self::Page(_) | Self::Events => 200,
            Self::Created(_) => 201,
            Self::NoContent => 204,
        }
    }
}

/// The form of `error` in the body of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultShape {
    /// An object with all fields.
    Object,
    /// A sentence for people, with the fields beside it: as clients of the Solar System Constructor read it.
    Sentence,
    /// A sentence, the HTTP status as `code`, and the fields at fault: as programs written for Kanka read it.
    StatusAndSentence,
}

/// A REST route besides `POST /api/v1/<operation>`. Each `{name}` in the path is an input field; other fields come in
/// the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    pub method: HttpMethod,
    /// From the root.
    pub path: &'static str,
    /// A name in the path and the input field that it stands for, where they differ.
    renamed: Option<(&'static str, &'static str)>,
    /// An input field that the route itself fills in.
    pub fixed: Option<(&'static str, &'static str)>,
    pub body: RequestBody,
    pub success: Success,
    pub mime_type: &'static str,
    /// Whether `If-None-Match` is answered by 304.
    pub is_conditional: bool,
    pub fault_shape: FaultShape,
}

impl Route {
    pub const fn new(method: HttpMethod, path: &'static str) -> Self {
        Self {
            method,
            path,
            renamed: None,
            fixed: None,
            body: RequestBody::None,
            success: Success::Ok,
            mime_type: MIME_JSON,
            is_conditional: false,
            fault_shape: FaultShape::Object,
        }
    }

    /// A route that answers JSON.
    pub const fn get(path: &'static str) -> Self {
        Self::new(HttpMethod::Get, path)
    }

    /// A route that answers a document: the `text` of the operation's answer.
    pub const fn document(path: &'static str, mime_type: &'static str) -> Self {
        Self { mime_type, ..Self::get(path) }
    }

    /// Sets one input field to a fixed value.
    #[must_use]
    pub const fn with_fixed_field(mut self, field: &'static str, value: &'static str) -> Self {
        self.fixed = Some((field, value));
        self
    }

    /// Maps a name in the path to an input field of another name.
    #[must_use]
    pub const fn with_renamed_field(mut self, in_path: &'static str, field: &'static str) -> Self {
        self.renamed = Some((in_path, field));
        self
    }

    #[must_use]
    pub const fn with_body(mut self, body: RequestBody) -> Self {
        self.body = body;
        self
    }

    #[must_use]
    pub const fn with_success(mut self, success: Success) -> Self {
        self.success = success;
        if let Success::Events = success {
            self.mime_type = EVENT_STREAM;
        }
        self
    }

    /// Answers `If-None-Match`.
    #[must_use]
    pub const fn with_conditional_get(mut self) -> Self {
        self.is_conditional = true;
        self
    }

    #[must_use]
    pub const fn with_fault_shape(mut self, fault_shape: FaultShape) -> Self {
        self.fault_shape = fault_shape;
        self
    }

    /// The input field that a name in the path stands for.
    pub fn input_field<'a>(&self, in_path: &'a str) -> &'a str {
        match self.renamed {
            Some((name, field)) if name == in_path => field,
            _ => in_path,
        }
    }

    /// The names in the path, each with the input field that it stands for.
    pub fn path_fields(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let names = self.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
        names.map(|name| (name, self.input_field(name)))
    }
}
