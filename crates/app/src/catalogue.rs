//! The catalogue: one ordered list of all operations, resources and prompts. Surfaces, reference pages and the OpenAPI
//! file are rendered from it.

use std::collections::HashMap;

use serde_json::Value;

use crate::json_schema;
use crate::resource::{self, UriFields};
use crate::{
    Code, CompletionTarget, Fault, FaultBody, FaultField, Nouns, OperationEntry, OperationKind, PromptEntry, Resource,
    Toolset, truncate_for_message,
};

pub struct Catalogue {
    operations: Vec<OperationEntry>,
    resources: Vec<Resource>,
    prompts: Vec<PromptEntry>,
    positions: HashMap<&'static str, usize>,
    nouns: Nouns,
    instructions: Vec<(Toolset, &'static str)>,
}

impl Catalogue {
    /// The catalogue of all nouns.
    pub fn from_all_nouns() -> Self {
        Self::from_nouns(&Nouns::all())
    }

    /// The catalogue of these nouns, in their order.
    pub fn from_nouns(nouns: &Nouns) -> Self {
        let operations = nouns.iter().flat_map(|noun| noun.operations()).collect();
        let resources = nouns.iter().flat_map(|noun| noun.resources()).collect();
        let prompts = nouns.iter().flat_map(|noun| noun.prompts()).collect();
        let instructions = nouns.iter().filter_map(|noun| noun.instructions()).collect();
        Self { nouns: nouns.clone(), instructions, ..Self::new(operations, resources, prompts) }
    }

    /// A catalogue of these parts.
    ///
    /// # Panics
    /// If two operations share a name, or a resource names an operation that is missing or not a read.
    pub fn new(operations: Vec<OperationEntry>, resources: Vec<Resource>, prompts: Vec<PromptEntry>) -> Self {
        let positions: HashMap<_, _> = operations.iter().enumerate().map(|(at, entry)| (entry.name, at)).collect();
        assert_eq!(positions.len(), operations.len(), "two operations share a name");
        for resource in &resources {
            let reads = positions.get(resource.operation).is_some_and(|at| operations[*at].kind == OperationKind::Read);
            assert!(reads, "{} reads through no read operation", resource.uri);
        }
        Self { operations, resources, prompts, positions, nouns: Nouns::none(), instructions: Vec::new() }
    }

    pub fn operations(&self) -> &[OperationEntry] {
        &self.operations
    }

    pub fn resources(&self) -> &[Resource] {
        &self.resources
    }

    pub fn prompts(&self) -> &[PromptEntry] {
        &self.prompts
    }

    /// The instructions for models, one text for each toolset.
    pub fn instructions(&self) -> &[(Toolset, &'static str)] {
        &self.instructions
    }

    /// If a resource is read from a larger one, the URI under which changes of the larger one are announced.
    pub fn containing_resource(&self, uri: &str) -> Option<String> {
        self.nouns.iter().find_map(|noun| noun.containing_resource(uri))
    }

    fn fault_fields(&self) -> impl Iterator<Item = &'static FaultField> {
        self.nouns.iter().flat_map(|noun| noun.fault_fields())
    }

    /// Adds to a fault the ids of the things that the input names. They are read from the raw JSON, so that an error names
    /// the thing even if the input could not be parsed.
    pub fn with_subjects_of(&self, input: &Value) -> impl Fn(Fault) -> Fault + use<> {
        let subjects: Vec<(&str, &str, String)> = self
            .fault_fields()
            .filter_map(|field| {
                let id = input.get(field.name).and_then(Value::as_str)?;
                Some((field.subject?, field.name, id.to_owned()))
            })
            .collect();
        move |fault| subjects.iter().fold(fault, |fault, (noun, field, id)| fault.subject(noun, field, id))
    }

    /// The schema of an error body, with the fields of all nouns.
    pub fn fault_schema(&self) -> Value {
        let mut body = json_schema::inline_schema::<FaultBody>();
        let Some(properties) = body["properties"].as_object_mut() else { return body };
        for field in self.fault_fields() {
            let mut schema = (field.schema)();
            schema.as_object_mut().map(|schema| schema.remove("title"));
            schema["description"] = field.description.into();
            properties.insert(field.name.to_owned(), schema);
        }
        body
    }

    /// The index of an operation in the list.
    pub(crate) fn operation_index(&self, name: &str) -> Result<usize, Fault> {
        self.positions.get(name).copied().ok_or_else(|| {
            let known: Vec<&str> = self.operations.iter().map(|entry| entry.name).collect();
            Fault::new(Code::NotFound, format!("there is no operation {:?}", truncate_for_message(name)))
                .hint(format!("known: {}", known.join(", ")))
                .allowed(known)
        })
    }

    pub fn operation(&self, name: &str) -> Result<&OperationEntry, Fault> {
        self.operation_index(name).map(|at| &self.operations[at])
    }

    pub fn prompt(&self, name: &str) -> Result<&PromptEntry, Fault> {
        self.prompts.iter().find(|prompt| prompt.name == name).ok_or_else(|| {
            let known: Vec<&str> = self.prompts.iter().map(|prompt| prompt.name).collect();
            Fault::new(Code::NotFound, format!("there is no prompt {:?}", truncate_for_message(name)))
                .hint(format!("known: {}", known.join(", ")))
                .allowed(known)
        })
    }

    /// The resource that a URI names, with the input fields that the URI contains.
    pub fn resolve(&self, uri: &str) -> Result<(&Resource, UriFields), Fault> {
        self.resolve_among(uri, |_| true)
    }

    /// Like `resolve`, restricted to visible toolsets: an error names no others.
    pub fn resolve_among(
        &self,
        uri: &str,
        is_visible: impl Fn(Toolset) -> bool + Copy,
    ) -> Result<(&Resource, UriFields), Fault> {
        let resources = self.resources.iter().filter(move |resource| is_visible(resource.toolset));
        let mut fitting =
            resources.clone().filter_map(|resource| resource.match_uri(uri).map(|fields| (resource, fields)));
        fitting.next().ok_or_else(|| resource::unresolved_uri_fault(uri, resources))
    }

    /// The toolset of a completion target.
    pub fn toolset_of(&self, target: &CompletionTarget) -> Result<Toolset, Fault> {
        match target {
            CompletionTarget::Prompt(name) => self.prompt(name).map(|prompt| prompt.toolset),
            CompletionTarget::Resource(uri) => self.resource_by_template(uri).map(|resource| resource.toolset),
        }
    }

    /// A resource by the exact URI or template under which it is listed.
    pub(crate) fn resource_by_template(&self, uri: &str) -> Result<&Resource, Fault> {
        self.resources
            .iter()
            .find(|resource| resource.uri == uri)
            .ok_or_else(|| resource::unresolved_uri_fault(uri, self.resources.iter()))
    }
}
