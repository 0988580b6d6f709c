//! Linker arguments of the binary: packed relative relocations on Linux, for a faster start.

use std::env;

fn main() {
    // What the loader has to mend in a position-independent binary is a table of more than a megabyte, read at every
    // start. Packed, it is a few pages.
    let of = |name: &str| env::var(name).unwrap_or_default();
    if of("CARGO_CFG_TARGET_OS") == "linux" && of("CARGO_CFG_TARGET_ENV") == "gnu" {
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
