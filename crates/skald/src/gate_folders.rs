//! Default folders of process files and artifacts, used unless the command line names others.

use std::path::{Path, PathBuf};

use skald_gate_files::FoldersOptions;

use crate::arguments::GateArguments;

/// The gate's folder in a working folder.
const GATE_FOLDER: &str = ".state_gate";

/// The folders of process files and artifacts. If `is_shared`, servers on several machines may use the store, and no
/// folder is common to them: then artifacts have no default folder.
pub(crate) fn gate_folders(
    arguments: &GateArguments,
    working: &Path,
    data: Option<&Path>,
    is_shared: bool,
) -> FoldersOptions {
    let own = working.join(GATE_FOLDER);
    let process_folders = match arguments.process_dirs.as_slice() {
        [] => [own.join("processes")].into_iter().chain(data.map(|data| data.join("processes"))).collect(),
        named => named.iter().map(|folder| working.join(folder)).collect(),
    };
    let artifacts = match &arguments.artifact_dir {
        Some(folder) => Some(working.join(folder)),
        None if is_shared => None,
        None if own.is_dir() => Some(own.join("artifacts")),
        None => data.map(|data| data.join("artifacts")),
    };
    FoldersOptions { working: working.to_owned(), process_folders, artifacts, restored: None }
}

/// The platform's data directory. `None` without a home directory.
pub(crate) fn data_folder() -> Option<PathBuf> {
    directories::ProjectDirs::from("", "", "skald").map(|folders| folders.data_dir().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATA: &str = "/data";

    fn chosen_folders(arguments: &GateArguments, working: &Path, is_shared: bool) -> (Vec<PathBuf>, Option<PathBuf>) {
        let options = gate_folders(arguments, working, Some(Path::new(DATA)), is_shared);
        assert_eq!(options.working, working);
        (options.process_folders, options.artifacts)
    }

    #[test]
    fn the_working_folder_comes_before_the_data_directory() {
        let (arguments, plain) = (GateArguments::default(), Path::new("/nowhere/at/all"));
        let of = |working: &Path| vec![working.join(".state_gate/processes"), PathBuf::from("/data/processes")];
        assert_eq!(chosen_folders(&arguments, plain, false), (of(plain), Some("/data/artifacts".into())));
        assert_eq!(chosen_folders(&arguments, plain, true), (of(plain), None));

        let working = std::env::temp_dir().join(format!("skald-folders-{}", std::process::id()));
        std::fs::create_dir_all(working.join(GATE_FOLDER)).unwrap();
        assert_eq!(
            chosen_folders(&arguments, &working, false),
            (of(&working), Some(working.join(".state_gate/artifacts")))
        );
        assert_eq!(chosen_folders(&arguments, &working, true).1, None);
        std::fs::remove_dir_all(&working).unwrap();

        let homeless = gate_folders(&arguments, plain, None, false);
        assert_eq!((homeless.process_folders.len(), homeless.artifacts), (1, None));
    }

    #[test]
    fn folders_that_are_named_are_taken() {
        let arguments = GateArguments {
            process_dirs: vec!["a".into(), "/b".into()],
            artifact_dir: Some("proofs".into()),
            role: None,
        };
        let expected = (vec!["/home/a".into(), "/b".into()], Some("/home/proofs".into()));
        for is_shared in [false, true] {
            assert_eq!(chosen_folders(&arguments, Path::new("/home"), is_shared), expected);
        }
    }
}
