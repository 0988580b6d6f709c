//! Packs the assets: each file with the hash of its content in its name, plain, with gzip and with brotli.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

const FOLDER: &str = "assets";
/// The modules that other scripts import. One may import those before it.
const SHARED_MODULES: [&str; 3] = ["form-state.js", "answers.js", "stream.js"];

fn main() {
    println!("cargo:rerun-if-changed={FOLDER}");
    println!("cargo:rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join(FOLDER);
    let mut files: Vec<PathBuf> =
        fs::read_dir(&folder).expect("the assets").map(|entry| entry.expect("an asset").path()).collect();
    files.sort();
    // A module that others import has to have its name before they get theirs.
    let others = files.into_iter().filter(|file| !SHARED_MODULES.iter().any(|name| file.ends_with(name)));
    let shared = SHARED_MODULES.map(|name| folder.join(name));
    let mut imports: Vec<(String, String)> = Vec::new();
    let mut source = String::from("pub(super) const ASSETS: &[Asset] = &[\n");
    for file in shared.into_iter().chain(others) {
        if let Some(mime_type) = mime_type(&file) {
            let mut plain = fs::read(&file).expect("an asset can be read");
            let mut imports_stream = false;
            if mime_type.starts_with("text/javascript") {
                let text = String::from_utf8(plain).expect("text");
                imports_stream = text.contains("\"./stream.js\"");
                plain = imports.iter().fold(text, |text, (name, hashed)| text.replace(name, hashed)).into_bytes();
            }
            if let Some(name) = SHARED_MODULES.into_iter().find(|name| file.ends_with(name)) {
                imports.push((format!("\"./{name}\""), format!("\"./{}\"", hashed_name(name, &plain))));
            }
            source.push_str(&pack(&file, plain, (mime_type, imports_stream), &out));
        }
    }
    source.push_str("];\n");
    fs::write(out.join("assets.rs"), source).expect("OUT_DIR can be written");
}

/// The type of a file that is served; a licence is not.
fn mime_type(file: &Path) -> Option<&'static str> {
    match file.extension()?.to_str()? {
        "css" => Some("text/css; charset=utf-8"),
        "js" => Some("text/javascript; charset=utf-8"),
        "svg" => Some("image/svg+xml"),
        _ => None,
    }
}

/// The name with the hash of the content in it.
fn hashed_name(name: &str, plain: &[u8]) -> String {
    let (stem, extension) = name.rsplit_once('.').expect("an extension");
    let hash = Sha256::digest(plain).iter().take(8).fold(String::new(), |mut hash, byte| {
        write!(hash, "{byte:02x}").expect("a string can be written");
        hash
    });
    format!("{stem}.{hash}.{extension}")
}

fn pack(file: &Path, plain: Vec<u8>, (mime_type, imports_stream): (&str, bool), out: &Path) -> String {
    let name = file.file_name().and_then(|name| name.to_str()).expect("a plain name");
    let path = hashed_name(name, &plain);
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(&plain).expect("memory can be written");
    let mut brotli = brotli::CompressorWriter::new(Vec::new(), 4096, 11, 22);
    brotli.write_all(&plain).expect("memory can be written");
    let packed = [("", plain), (".gz", gzip.finish().expect("memory can be written")), (".br", brotli.into_inner())];
    for (suffix, bytes) in packed {
        fs::write(out.join(format!("{name}{suffix}")), bytes).expect("OUT_DIR can be written");
    }
    // Paths relative to `assets.rs`: a target folder that two checkouts share keeps no path of either.
    format!(
        "Asset {{ name: {name:?}, path: \"/assets/{path}\", mime_type: {mime_type:?}, imports_stream: {imports_stream}, \
         plain: include_bytes!(\"{name}\"), gzip: include_bytes!(\"{name}.gz\"), brotli: include_bytes!(\"{name}.br\") }},\n",
    )
}
