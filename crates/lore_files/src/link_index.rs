//! Resolves links between files as Obsidian does: by the name of a file, by its path, and by an alias.

use std::collections::BTreeMap;

use unicode_normalization::UnicodeNormalization;

/// The names by which links reach one entity.
#[derive(Debug)]
pub(crate) struct LinkNames {
    pub(crate) source_id: String,
    /// With or without the extension of Markdown.
    pub(crate) path: String,
    pub(crate) aliases: Vec<String>,
}

#[derive(Debug, Default)]
pub(crate) struct LinkIndex {
    targets: Vec<LinkTarget>,
    by_source_id: BTreeMap<String, usize>,
    by_file_name: BTreeMap<String, Vec<usize>>,
    by_alias: BTreeMap<String, Vec<usize>>,
}

#[derive(Debug)]
struct LinkTarget {
    source_id: String,
    /// Folded, without an extension.
    path: String,
}

impl LinkIndex {
    pub(crate) fn new(names: impl IntoIterator<Item = LinkNames>) -> Self {
        let mut index = Self::default();
        for LinkNames { source_id, path, aliases } in names {
            let number = index.targets.len();
            let path = fold_link(remove_extension(&path));
            index.by_source_id.entry(source_id.clone()).or_insert(number);
            index.by_file_name.entry(file_name(&path).to_owned()).or_default().push(number);
            for alias in aliases {
                index.by_alias.entry(fold_link(&alias)).or_default().push(number);
            }
            index.targets.push(LinkTarget { source_id, path });
        }
        index
    }

    /// The `source_id` that a link means in the text of the entity `from`.
    pub(crate) fn link_target(&self, from: &str, link: &str) -> Option<&str> {
        let link = link_path(link);
        if let Some(number) = self.by_source_id.get(link) {
            return Some(&self.targets[*number].source_id);
        }
        let from_number = self.by_source_id.get(from).copied();
        if link.is_empty() {
            // `[[#Heading]]` is a place in the same file.
            return from_number.map(|number| self.targets[number].source_id.as_str());
        }
        let from_folder = from_number.map_or("", |number| folder(&self.targets[number].path));
        let link = fold_link(remove_extension(link));
        let candidates = match link.strip_prefix('/') {
            _ if link.starts_with("./") || link.starts_with("../") => {
                self.find_path(&resolve_relative(from_folder, &link)?)
            }
            Some(absolute) => self.find_path(absolute),
            None => self.find_name_or_path(&link),
        };
        let best = candidates.into_iter().min_by_key(|number| {
            let path = &self.targets[*number].path;
            (*path != link, folder(path) != from_folder, path.matches('/').count(), *number)
        });
        let best = best.or_else(|| self.by_alias.get(&link).and_then(|numbers| numbers.first().copied()))?;
        Some(&self.targets[best].source_id)
    }

    /// Files of this name, or whose path ends with these folders and this name.
    fn find_name_or_path(&self, link: &str) -> Vec<usize> {
        let same_name = self.by_file_name.get(file_name(link)).map_or(&[][..], Vec::as_slice);
        let is_match = |number: &&usize| {
            let path = &self.targets[**number].path;
            path.strip_suffix(link).is_some_and(|before| before.is_empty() || before.ends_with('/'))
        };
        same_name.iter().filter(is_match).copied().collect()
    }

    fn find_path(&self, path: &str) -> Vec<usize> {
        let same_name = self.by_file_name.get(file_name(path)).map_or(&[][..], Vec::as_slice);
        same_name.iter().filter(|number| self.targets[**number].path == path).copied().collect()
    }
}

/// The path of a link, without brackets, text, heading and block: `[[Places/Inn#Cellar|below]]` is `Places/Inn`.
pub(crate) fn link_path(link: &str) -> &str {
    let link = link.trim().trim_start_matches('!');
    let link = link.strip_prefix("[[").unwrap_or(link);
    let link = link.strip_suffix("]]").unwrap_or(link);
    let link = link.split('|').next().unwrap_or(link);
    // In a table the bar is escaped.
    let link = link.strip_suffix('\\').unwrap_or(link);
    link.split('#').next().unwrap_or(link).trim()
}

/// The form in which names are compared: composed and in lower case.
pub(crate) fn fold_link(text: &str) -> String {
    text.nfc().flat_map(char::to_lowercase).nfc().collect()
}

fn remove_extension(path: &str) -> &str {
    let extension = [".md", ".markdown"].into_iter().find(|extension| {
        path.len() > extension.len()
            && path.get(path.len() - extension.len()..).is_some_and(|end| end.eq_ignore_ascii_case(extension))
    });
    extension.map_or(path, |extension| &path[..path.len() - extension.len()])
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// `None` for a link that leaves the source.
fn resolve_relative(from_folder: &str, link: &str) -> Option<String> {
    let mut parts: Vec<&str> = from_folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in link.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index() -> LinkIndex {
        let names = |path: &str, alias: &str| LinkNames {
            source_id: path.to_owned(),
            path: path.to_owned(),
            aliases: vec![alias.to_owned()],
        };
        LinkIndex::new([
            names("Places/Inn.md", "The Prancing Pony"),
            names("Old/Deep/Inn.md", "x"),
            names("Inn.Keeper.md", "Inn"),
            names("People/Élan.md", "Ann"),
            names("People/Ann.md", "y"),
            names("Old/Note.md", "z"),
        ])
    }

    fn check(from: &str, link: &str, expected: Option<&str>) {
        assert_eq!(index().link_target(from, link), expected, "{link} in {from}");
    }

    #[test]
    fn links_find_names_then_paths_then_aliases() {
        check("", "[[Inn]]", Some("Places/Inn.md"));
        check("Old/Deep/Inn.md", "inn", Some("Old/Deep/Inn.md"));
        check("", "![[deep/INN#Cellar|below]]", Some("Old/Deep/Inn.md"));
        check("", "eep/Inn", None);
        check("", "Inn.md", Some("Places/Inn.md"));
        check("", "Inn.Keeper", Some("Inn.Keeper.md"));
        check("", "the prancing pony", Some("Places/Inn.md"));
        check("", "Ann\\|her", Some("People/Ann.md"));
        check("", "E\u{301}lan", Some("People/Élan.md"));
        check("", "Nowhere", None);
    }

    #[test]
    fn relative_links_start_at_the_folder_of_the_file() {
        check("Old/Note.md", "./Deep/Inn", Some("Old/Deep/Inn.md"));
        check("Old/Note.md", "../Places/Inn.md", Some("Places/Inn.md"));
        check("Old/Note.md", "../../Places/Inn", None);
        check("Old/Note.md", "/Places/Inn", Some("Places/Inn.md"));
        check("Old/Note.md", "#Heading", Some("Old/Note.md"));
    }
}
