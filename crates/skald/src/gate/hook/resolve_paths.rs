//! Resolves paths in two ways: lexically, and with all symbolic links followed.

use std::path::{Component, Path, PathBuf};

use super::PROJECT_VARIABLE;

/// Links that are followed in one path, so that a loop ends.
const LINKS_MAX: usize = 40;

/// A path relative to a folder, with `.` and `..` resolved lexically, as some programs do.
pub(super) fn resolve_lexically(folder: &Path, path: &str) -> PathBuf {
    let mut settled = PathBuf::new();
    for part in folder.join(expand_variables(folder, path)).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                settled.pop();
            }
            part => settled.push(part),
        }
    }
    settled
}

/// A path relative to a folder, with every symbolic link followed, as the operating system does. Parts that do not
/// exist stay as written.
pub(super) fn resolve_links(folder: &Path, path: &str) -> PathBuf {
    let mut left = LINKS_MAX;
    follow_links(PathBuf::new(), &folder.join(expand_variables(folder, path)), &mut left)
}

fn follow_links(mut settled: PathBuf, path: &Path, left: &mut usize) -> PathBuf {
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                settled.pop();
            }
            part => {
                settled.push(part);
                if *left > 0
                    && let Ok(target) = std::fs::read_link(&settled)
                {
                    *left -= 1;
                    settled.pop();
                    // An absolute target replaces the path so far.
                    settled = follow_links(settled, &target, left);
                }
            }
        }
    }
    settled
}

/// A path with a leading `~`, `$HOME`, `$PWD` or `$CLAUDE_PROJECT_DIR` expanded, as a shell or an agent does.
fn expand_variables(folder: &Path, path: &str) -> PathBuf {
    let after = |marks: &[&str]| {
        let rest = marks.iter().find_map(|mark| path.strip_prefix(mark));
        rest.filter(|rest| rest.is_empty() || rest.starts_with('/')).map(|rest| rest.trim_start_matches('/'))
    };
    let home = after(&["~", "$HOME", "${HOME}"]).and_then(|rest| Some(std::env::home_dir()?.join(rest)));
    let project = || {
        let rest = after(&["$CLAUDE_PROJECT_DIR", "${CLAUDE_PROJECT_DIR}"])?;
        Some(PathBuf::from(std::env::var_os(PROJECT_VARIABLE)?).join(rest))
    };
    let here = || after(&["$PWD", "${PWD}", "~+"]).map(|rest| folder.join(rest));
    home.or_else(project).or_else(here).unwrap_or_else(|| PathBuf::from(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_settled() {
        let folder = Path::new("/home/project");
        assert_eq!(resolve_lexically(folder, "a/./b/../c"), Path::new("/home/project/a/c"));
        assert_eq!(resolve_lexically(folder, "../../../x"), Path::new("/x"));
        assert_eq!(resolve_lexically(folder, "/a/../b"), Path::new("/b"));
        assert_eq!(resolve_lexically(folder, "$PWD/a"), Path::new("/home/project/a"));
        assert_eq!(resolve_lexically(folder, "$PWDa"), Path::new("/home/project/$PWDa"));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_wherever_they_stand() {
        let folder = std::env::temp_dir().join(format!("skald-paths-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("deep/there")).unwrap();
        let folder = folder.canonicalize().unwrap();
        std::os::unix::fs::symlink("deep/there", folder.join("link")).unwrap();
        std::os::unix::fs::symlink(folder.join("gone"), folder.join("dangling")).unwrap();
        std::os::unix::fs::symlink("circle", folder.join("circle")).unwrap();
        assert_eq!(resolve_links(&folder, "link/new.txt"), folder.join("deep/there/new.txt"));
        assert_eq!(resolve_links(&folder, "link/../x"), folder.join("deep/x"), "the folder above is the target's");
        assert_eq!(resolve_lexically(&folder, "link/../x"), folder.join("x"));
        assert_eq!(resolve_links(&folder, "dangling"), folder.join("gone"), "also where nothing is yet");
        assert_eq!(resolve_links(&folder, "circle"), folder.join("circle"));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
