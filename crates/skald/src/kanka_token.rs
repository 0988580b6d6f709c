//! The token for Kanka: from a variable, or from a file that only its owner can read. It is read when it is needed, and is
//! neither stored nor printed.

use std::path::{Path, PathBuf};

use crate::gate_folders::data_folder;

const TOKEN: &str = "SKALD_KANKA_TOKEN";
const TOKEN_FILE: &str = "SKALD_KANKA_TOKEN_FILE";
/// In the platform's data directory, if neither variable is set.
const DEFAULT_FILE: &str = "kanka-token";
/// A token of Kanka has about a thousand characters.
const FILE_BYTES_MAX: u64 = 16 * 1024;

/// The token, or why there is none.
pub(crate) fn read_token() -> Result<String, String> {
    if let Some(token) = non_empty(&std::env::var(TOKEN).unwrap_or_default()) {
        return Ok(token);
    }
    let file = std::env::var_os(TOKEN_FILE).filter(|file| !file.is_empty()).map(PathBuf::from);
    match file.or_else(|| data_folder().map(|folder| folder.join(DEFAULT_FILE)).filter(|file| file.exists())) {
        Some(file) => read_token_file(&file),
        None => Err(format!("there is no token for Kanka: neither {TOKEN} nor {TOKEN_FILE} is set")),
    }
}

fn read_token_file(file: &Path) -> Result<String, String> {
    let unreadable = |error: std::io::Error| format!("the token file {} cannot be read: {error}", file.display());
    let metadata = std::fs::metadata(file).map_err(unreadable)?;
    check_permissions(file, &metadata)?;
    if metadata.len() > FILE_BYTES_MAX {
        return Err(format!("the token file {} is no token: it has {} bytes", file.display(), metadata.len()));
    }
    let text = std::fs::read_to_string(file).map_err(unreadable)?;
    non_empty(&text).ok_or_else(|| format!("the token file {} is empty", file.display()))
}

fn non_empty(text: &str) -> Option<String> {
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(unix)]
fn check_permissions(file: &Path, metadata: &std::fs::Metadata) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt;
    let mode = metadata.permissions().mode() & 0o777;
    let (group_and_others, nothing) = (mode % 0o100, 0);
    if group_and_others == nothing {
        return Ok(());
    }
    Err(format!(
        "others can read the token file {} (its mode is {mode:o}); run chmod 600 {}",
        file.display(),
        file.display()
    ))
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "other systems have no modes to check")]
fn check_permissions(_: &Path, _: &std::fs::Metadata) -> Result<(), String> {
    Ok(())
}
