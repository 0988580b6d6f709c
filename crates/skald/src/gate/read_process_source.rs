//! Reads process files from a path, or from standard input.

use std::io::Read;
use std::path::Path;

use skald_app::{Code, Fault, limits};

/// Given in place of a file, for standard input.
const STANDARD_INPUT: &str = "-";

pub(super) fn source_name(file: &Path) -> String {
    if file == Path::new(STANDARD_INPUT) { "standard input".to_owned() } else { file.display().to_string() }
}

/// The content of a process file. Reading stops one byte past the limit: that is enough for a refusal.
pub(super) fn read_source(file: &Path) -> Result<String, Fault> {
    let most = limits::PROCESS_BYTES_MAX as u64 + 1;
    let mut bytes = Vec::new();
    let read = if file == Path::new(STANDARD_INPUT) {
        std::io::stdin().lock().take(most).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(file).and_then(|file| file.take(most).read_to_end(&mut bytes))
    };
    let name = source_name(file);
    read.map_err(|error| {
        let fault = Fault::new(Code::InvalidParams, format!("{name} cannot be read: {error}"));
        fault.hint("name a YAML file, or - for standard input")
    })?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        // A character may have been cut where reading stopped; then the file is too long anyway.
        Err(error) if error.as_bytes().len() as u64 == most => {
            Ok(String::from_utf8_lossy(error.as_bytes()).into_owned())
        }
        Err(error) => {
            let before = String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()]);
            let line = before.matches('\n').count() + 1;
            let fault = Fault::new(Code::InvalidParams, format!("{name} is no UTF-8 text, see line {line}"));
            Err(fault.hint("save the file as UTF-8"))
        }
    }
}
