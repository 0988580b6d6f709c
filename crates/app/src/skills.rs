//! Skills: instructions for a model that come with Skald, as the files of `plugin/skills`. The plugin ships the same
//! files; here they are embedded, for surfaces that serve them and for the prompt `game_master`.

use crate::Toolset;
use crate::sha256::sha256_hex;

/// A folder of instructions, whose first file is `SKILL.md`.
#[derive(Debug, Clone, Copy)]
pub struct Skill {
    pub name: &'static str,
    /// It is offered where this toolset is.
    pub toolset: Toolset,
    pub files: &'static [SkillFile],
}

/// A file of a skill.
#[derive(Debug, Clone, Copy)]
pub struct SkillFile {
    /// Its path in the folder of the skill.
    pub path: &'static str,
    pub text: &'static str,
}

macro_rules! game_master_file {
    ($path:literal) => {
        SkillFile { path: $path, text: include_str!(concat!("../../../plugin/skills/game-master/", $path)) }
    };
}

/// All skills.
pub const SKILLS: [Skill; 1] = [Skill {
    name: "game-master",
    toolset: Toolset::Campaign,
    files: &[
        game_master_file!("SKILL.md"),
        game_master_file!("references/session-zero.md"),
        game_master_file!("references/scenes.md"),
        game_master_file!("references/secrets.md"),
        game_master_file!("references/gate.md"),
        game_master_file!("references/recap.md"),
    ],
}];

impl Skill {
    /// The fields of the front matter of `SKILL.md`, in their order. Each is one line of plain text.
    pub fn front_matter(&self) -> Vec<(&'static str, &'static str)> {
        self.split_main_file().0.lines().filter_map(|line| line.split_once(": ")).collect()
    }

    /// The instructions of `SKILL.md`, without the front matter.
    pub fn instructions(&self) -> &'static str {
        self.split_main_file().1
    }

    fn split_main_file(&self) -> (&'static str, &'static str) {
        let text = self.files[0].text.strip_prefix("---\n").expect("a skill begins with front matter");
        text.split_once("\n---\n").expect("front matter ends with dashes")
    }
}

impl SkillFile {
    /// SHA-256 of the file, in hexadecimal digits.
    pub fn sha256(&self) -> String {
        sha256_hex(self.text.as_bytes())
    }

    /// The file's name without folder and ending: `scenes` of `references/scenes.md`.
    pub fn page_name(&self) -> &'static str {
        let name = self.path.rsplit('/').next().unwrap_or(self.path);
        name.strip_suffix(".md").unwrap_or(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Catalogue;

    /// A skill is read by models that pay for each token; four characters are about one.
    const MAIN_FILE_CHARS_MAX: usize = 2_500 * 4;

    #[test]
    fn a_skill_has_the_shape_that_clients_expect() {
        for skill in SKILLS {
            assert_eq!(skill.files[0].path, "SKILL.md");
            let fields = skill.front_matter();
            let field = |name: &str| fields.iter().find(|(field, _)| *field == name).map(|(_, value)| *value);
            assert_eq!(field("name"), Some(skill.name), "the folder has the name of the skill");
            let description = field("description").expect("a description");
            assert!((40..=1024).contains(&description.len()) && description.contains("Use when"), "{description}");
            assert!(field("compatibility").is_none_or(|text| text.len() <= 500));
            let lines = skill.split_main_file().0.lines().count();
            assert_eq!(lines, fields.len(), "each line of the front matter is a field");
            assert!(fields.iter().all(|(_, value)| !value.contains(": ") && !value.contains(" #")), "plain YAML texts");
            assert!(skill.files[0].text.len() < MAIN_FILE_CHARS_MAX, "{}", skill.files[0].text.len());
            for file in &skill.files[1..] {
                assert!(skill.instructions().contains(file.path), "{} is not mentioned", file.path);
            }
        }
    }

    /// Words in backticks with an underscore or a dot, which look like names of tools.
    fn tool_names(text: &str) -> Vec<&str> {
        let code = text.split('`').skip(1).step_by(2);
        let is_name = |word: &&str| {
            word.contains('_') && word.chars().all(|letter| letter.is_ascii_lowercase() || "_.".contains(letter))
        };
        code.filter(is_name).collect()
    }

    #[test]
    fn a_skill_names_only_tools_and_fields_that_there_are() {
        let catalogue = Catalogue::from_all_nouns();
        let fields_of = |entry: &crate::OperationEntry| {
            let output = serde_json::to_string(&***entry.output).expect("a schema is JSON");
            entry.full_input.to_string() + &output
        };
        let schemas: String = catalogue.operations().iter().map(fields_of).collect();
        // A field of every error, which no schema of an operation has.
        let answers = ["retry_after_ms"];
        let mut found = 0;
        for file in SKILLS.iter().flat_map(|skill| skill.files) {
            for name in tool_names(file.text) {
                let is_tool = catalogue.operations().iter().any(|entry| entry.name == name);
                let is_field = schemas.contains(&format!("\"{name}\"")) || answers.contains(&name);
                assert!(is_tool || is_field, "{}: there is no {name}", file.path);
                found += usize::from(is_tool);
            }
        }
        assert!(found > 30, "{found}");
    }
}
