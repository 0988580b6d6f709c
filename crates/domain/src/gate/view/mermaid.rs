//! Renders a process as a Mermaid `stateDiagram-v2`.

use std::fmt::Write;

use crate::gate::process::Process;

impl Process {
    /// Renders the diagram and highlights the current state, if one is given. States get generated ids, so that their
    /// names may contain any character.
    pub fn mermaid(&self, current: Option<&str>) -> String {
        let id = |name: &str| self.states.iter().position(|state| state.name == name).map(|index| format!("s{index}"));
        let mut text = "stateDiagram-v2\n".to_owned();
        // Writing to a `String` does not fail.
        let mut line = |content: String| {
            let _ = writeln!(text, "    {content}");
        };
        for (index, state) in self.states.iter().enumerate() {
            line(format!("state \"{}\" as s{index}", escape_label(&state.name)));
        }
        if let Some(initial) = id(&self.initial_state) {
            line(format!("[*] --> {initial}"));
        }
        for transition in &self.transitions {
            if let (Some(from), Some(to)) = (id(&transition.from), id(&transition.to)) {
                let guard =
                    transition.guard.as_ref().map(|guard| format!(" [{}]", escape_label(guard))).unwrap_or_default();
                line(format!("{from} --> {to} : {}{guard}", escape_label(&transition.event)));
            }
        }
        for (index, _) in self.states.iter().enumerate().filter(|(_, state)| state.is_final) {
            line(format!("s{index} --> [*]"));
        }
        if let Some(current) = current.and_then(id) {
            line("classDef current font-weight:bold,stroke-width:3px".to_owned());
            line(format!("class {current} current"));
        }
        text
    }
}

/// Escapes the characters that have a meaning in Mermaid labels as character references.
fn escape_label(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' | '#' | ';' | ':' | '<' | '>' | '{' | '}' | '[' | ']' | '%' => {
                escaped.extend(["#", &u32::from(character).to_string(), ";"]);
            }
            _ => escaped.push(character),
        }
    }
    escaped
}
