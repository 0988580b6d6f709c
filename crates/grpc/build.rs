//! Generates Rust code from the `.proto` files, without an installed `protoc`.

use std::path::PathBuf;

const FILES: [&str; 4] =
    ["campaign/v1/campaign.proto", "session/v1/session.proto", "duality/v1/duality.proto", "skald/v1/gateway.proto"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let descriptors = protox::compile(FILES, ["proto"])?;
    let folder = PathBuf::from(std::env::var("OUT_DIR")?);
    // What reflection tells.
    std::fs::write(folder.join("descriptors.bin"), prost::Message::encode_to_vec(&descriptors))?;
    tonic_prost_build::configure().compile_fds(descriptors)?;
    for file in FILES {
        println!("cargo:rerun-if-changed=proto/{file}");
    }
    Ok(())
}
