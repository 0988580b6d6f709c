//! Linker arguments of the binary on Linux: packed relative relocations for a faster start, and equal functions once.

use std::env;

fn main() {
    // What the loader has to mend in a position-independent binary is a table of more than a megabyte, read at every
    // start. Packed, it is a few pages.
    let of = |name: &str| env::var(name).unwrap_or_default();
    if of("CARGO_CFG_TARGET_OS") == "linux" && of("CARGO_CFG_TARGET_ENV") == "gnu" {
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
        // Many functions are equal once they are compiled for their types. The linker of the toolchain keeps one of them;
        // on other processors than this one the toolchain has no linker of its own.
        if of("CARGO_CFG_TARGET_ARCH") == "x86_64" && of("PROFILE") == "release" {
            println!("cargo:rustc-link-arg-bins=-Wl,--icf=all");
            // The functions that a start runs, which a release puts side by side.
            println!("cargo:rerun-if-env-changed=SKALD_FUNCTION_ORDER");
            if let Ok(order) = env::var("SKALD_FUNCTION_ORDER") {
                println!("cargo:rustc-link-arg-bins=-Wl,--symbol-ordering-file={order}");
                println!("cargo:rustc-link-arg-bins=-Wl,--no-warn-symbol-ordering");
            }
        }
    }
    println!("cargo:rerun-if-changed=build.rs");
}
