//! Paths of the hook's own program: the running file, and every link by which it was started.

use std::path::{Path, PathBuf};

use super::resolve_paths;

/// Links that are followed, so that a loop ends.
const LINKS_MAX: usize = 40;

/// The program's paths, each resolved lexically and with links followed.
pub(super) fn program_paths(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::env::current_exe().into_iter().collect();
    let started = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
    let written = if started.components().count() > 1 { Some(folder.join(&started)) } else { find_in_path(&started) };
    found.extend(written.map(follow_links).unwrap_or_default());
    let settled = found.iter().flat_map(|path| {
        let text = path.to_string_lossy();
        [resolve_paths::resolve_lexically(folder, &text), resolve_paths::resolve_links(folder, &text)]
    });
    let mut settled: Vec<PathBuf> = settled.collect();
    settled.sort();
    settled.dedup();
    settled
}

/// Finds a program in `PATH`, as a shell does.
fn find_in_path(name: &Path) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let is_named = !name.as_os_str().is_empty();
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| is_named && path.is_file())
}

/// A path, and the target of every link that begins there.
fn follow_links(path: PathBuf) -> Vec<PathBuf> {
    let mut found = vec![path];
    while let Some(last) = found.last().filter(|_| found.len() <= LINKS_MAX) {
        let Ok(target) = std::fs::read_link(last) else { break };
        let next = last.parent().unwrap_or(Path::new("/")).join(target);
        found.push(next);
    }
    found
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn every_link_on_the_way_is_found() {
        let folder = std::env::temp_dir().join(format!("skald-program-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("bin")).unwrap();
        std::os::unix::fs::symlink("bin/second", folder.join("first")).unwrap();
        std::os::unix::fs::symlink("third", folder.join("bin/second")).unwrap();
        std::os::unix::fs::symlink("circle", folder.join("circle")).unwrap();
        let found = follow_links(folder.join("first"));
        assert_eq!(found, [folder.join("first"), folder.join("bin/second"), folder.join("bin/third")]);
        assert!(follow_links(folder.join("circle")).len() <= LINKS_MAX + 1);
        assert!(!program_paths(&folder).is_empty());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
