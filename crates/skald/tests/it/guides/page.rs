//! The code blocks of a Markdown page, with the comments that say how they are tested.

use std::path::Path;

/// A guide.
pub(super) struct GuidePage {
    /// Its path in the repository.
    pub(super) name: String,
    pub(super) blocks: Vec<GuideBlock>,
}

/// A fenced code block.
pub(super) struct GuideBlock {
    language: String,
    /// The comment on the line before it, without its marks.
    comment: Option<String>,
    /// The line of the page on which its text begins.
    pub(super) line: usize,
    pub(super) text: String,
}

impl GuidePage {
    pub(super) fn read(root: &Path, name: &str) -> Self {
        Self::parse(name, &std::fs::read_to_string(root.join(name)).expect("a page"))
    }

    pub(super) fn parse(name: &str, text: &str) -> Self {
        let (mut blocks, mut comment, mut open) = (Vec::new(), None, None::<(usize, GuideBlock)>);
        for (index, line) in text.lines().enumerate() {
            let trimmed = line.trim_start();
            let indent = line.len() - trimmed.len();
            match (&mut open, trimmed.strip_prefix("```")) {
                (None, Some(language)) => {
                    let language = language.trim().to_owned();
                    let block = GuideBlock { language, comment: comment.take(), line: index + 2, text: String::new() };
                    open = Some((indent, block));
                }
                (Some(_), Some("")) => blocks.extend(open.take().map(|(_, block)| block)),
                (Some((indent, block)), _) => {
                    block.text.push_str(line.get(*indent..).unwrap_or(trimmed));
                    block.text.push('\n');
                }
                (None, None) => {
                    let marked = trimmed.strip_prefix("<!--").and_then(|rest| rest.strip_suffix("-->"));
                    // A blank line keeps the comment, anything else ends it.
                    if let Some(marked) = marked {
                        comment = Some(marked.trim().to_owned());
                    } else if !trimmed.is_empty() {
                        comment = None;
                    }
                }
            }
        }
        Self { name: name.to_owned(), blocks }
    }
}

impl GuideBlock {
    pub(super) fn is_shell(&self) -> bool {
        ["sh", "bash", "zsh", "console", "shell"].contains(&self.language.as_str())
    }

    /// Why a shell block is not run.
    pub(super) fn reason_not_to_run(&self) -> Option<&str> {
        self.comment
            .as_deref()
            .filter(|_| self.is_shell())
            .and_then(|comment| comment.strip_prefix("not run:"))
            .map(str::trim)
    }

    /// Whether it is text that somebody sees, such as what a command prints.
    pub(super) fn is_text(&self) -> bool {
        ["", "text"].contains(&self.language.as_str())
    }

    /// Why a block of text is compared with nothing.
    pub(super) fn reason_not_to_compare(&self) -> Option<&str> {
        self.comment.as_deref().and_then(|comment| comment.strip_prefix("not compared:")).map(str::trim)
    }

    pub(super) fn is_run(&self) -> bool {
        self.is_shell() && self.reason_not_to_run().is_none()
    }

    /// Whether its command is an example of one that Skald refuses.
    pub(super) fn is_refused(&self) -> bool {
        self.is_shell() && self.comment.as_deref() == Some("refused")
    }

    /// Whether it shows what the block before it prints.
    pub(super) fn is_sample(&self) -> bool {
        self.comment.as_deref() == Some("prints")
    }
}
