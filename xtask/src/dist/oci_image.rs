//! The container image, as an OCI layout written without a daemon: a layer with the few files of Debian that the program
//! needs, and a layer with the program. A `manifest.json` beside the layout names the same blobs, for a Docker that loads only
//! the archives of `docker save`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use super::release::Release;
use super::{Payload, copy, empty_folder, pack, pretty, write as write_text};
use crate::{install, run};

/// The user of the program: a number, so that a cluster can see that it is not root.
pub(super) const USER: u32 = 65532;
/// Where the world is kept.
const DATA: &str = "/data";
/// The Debian packages that files are taken of. Each brings its copyright, and its entry for scanners.
const PACKAGES: [&str; 4] = ["base-files", "ca-certificates", "libc6", "libgcc-s1"];
/// Where `docker load` looks for the parts of an image.
const DOCKER_MANIFEST: &str = "manifest.json";
const CERTIFICATES: &str = "/etc/ssl/certs/ca-certificates.crt";

/// A layer in the layout.
struct Layer {
    /// The hash of the archive before it is compressed.
    diff_id: String,
    descriptor: Value,
}

/// Writes the layout, packed as one file that container programs load.
pub(super) fn write(release: &Release, payload: &Payload, staging: &Path, folder: &Path) -> anyhow::Result<PathBuf> {
    let layout = staging.join("oci");
    empty_folder(&layout.join("blobs/sha256"))?;
    let base = staging.join("image-base");
    copy_base_files(&payload.program, &base)?;
    let own = staging.join("image-skald");
    copy(&payload.program, &own.join("usr/bin/skald"))?;
    copy(&payload.licence_notices, &own.join("usr/share/doc/skald/THIRD-PARTY-LICENSES.txt"))?;
    let open = staging.join("image-folders");
    fs::create_dir_all(open.join("data"))?;
    fs::create_dir_all(open.join("tmp"))?;
    let layers = [
        write_layer(release, &base, None, &layout, "base")?,
        write_layer(release, &own, Some(&open), &layout, "skald")?,
    ];
    let diff_ids: Vec<&str> = layers.iter().map(|layer| layer.diff_id.as_str()).collect();
    let config = write_blob(&layout, &render_config(release, &diff_ids)?, "application/vnd.oci.image.config.v1+json")?;
    let layers: Vec<Value> = layers.into_iter().map(|layer| layer.descriptor).collect();
    write_text(&layout.join(DOCKER_MANIFEST), &pretty(&render_docker_manifest(release, &config, &layers)?))?;
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": config,
        "layers": layers,
        "annotations": render_labels(release)?,
    });
    let mut manifest = write_blob(&layout, &manifest, "application/vnd.oci.image.manifest.v1+json")?;
    manifest["platform"] = json!({"architecture": release.machine.debian, "os": "linux"});
    // The second is what Docker and Podman call a loaded image; the first is its tag in the layout.
    manifest["annotations"] = json!({
        "org.opencontainers.image.ref.name": release.version,
        "io.containerd.image.name": local_name(release),
    });
    let index = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [manifest],
    });
    write_text(&layout.join("index.json"), &pretty(&index))?;
    write_text(&layout.join("oci-layout"), "{\"imageLayoutVersion\":\"1.0.0\"}\n")?;
    let image = folder.join(release.file_name("oci.tar"));
    let mut command = pack::tar_command(release.epoch);
    command.args(pack::OF_ROOT).arg("-cf").arg(&image).arg("-C").arg(&layout).args([
        "blobs",
        "index.json",
        DOCKER_MANIFEST,
        "oci-layout",
    ]);
    run::run_captured(&mut command)?;
    Ok(image)
}

/// What Docker and Podman call the image after they have loaded it.
pub(super) fn local_name(release: &Release) -> String {
    format!("localhost/skald:{}", release.version)
}

/// The manifest of `docker save`: the paths of the configuration and of the layers, by their descriptors in the layout.
fn render_docker_manifest(release: &Release, config: &Value, layers: &[Value]) -> anyhow::Result<Value> {
    let path = |descriptor: &Value| {
        let digest = descriptor["digest"].as_str().and_then(|digest| digest.strip_prefix("sha256:"));
        digest.map(|digest| format!("blobs/sha256/{digest}")).context("a blob without a digest")
    };
    let layers: Vec<String> = layers.iter().map(path).collect::<anyhow::Result<_>>()?;
    Ok(json!([{"Config": path(config)?, "RepoTags": [local_name(release)], "Layers": layers}]))
}

/// Checks an unpacked image: the manifest for Docker names files that are there, and as many layers as the configuration.
pub(super) fn check_docker_manifest(layout: &Path) -> anyhow::Result<()> {
    let read = |name: &str| -> anyhow::Result<Value> {
        let text = fs::read_to_string(layout.join(name)).with_context(|| format!("{name} is not in the image"))?;
        serde_json::from_str(&text).with_context(|| format!("{name} is no JSON"))
    };
    let manifest = read(DOCKER_MANIFEST)?;
    let config = read(manifest[0]["Config"].as_str().context("no configuration")?)?;
    let layers: Vec<&str> = manifest[0]["Layers"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for layer in &layers {
        ensure!(layout.join(layer).is_file(), "{DOCKER_MANIFEST} names {layer}, which is not in the image");
    }
    let expected = config["rootfs"]["diff_ids"].as_array().map_or(0, Vec::len);
    ensure!(layers.len() == expected && expected > 0, "{DOCKER_MANIFEST} has {} of {expected} layers", layers.len());
    Ok(())
}

/// Copies what the program needs of Debian: the libraries that it loads, certificates, and the files that name users,
/// hosts and the system.
fn copy_base_files(program: &Path, root: &Path) -> anyhow::Result<()> {
    install::install_programs(&[("update-ca-certificates", "ca-certificates")])?;
    // As Debian has it, so that each library is found under both names.
    for name in ["lib", "lib64"] {
        fs::create_dir_all(root.join("usr").join(name))?;
        std::os::unix::fs::symlink(format!("usr/{name}"), root.join(name))?;
    }
    let libraries = run::run_captured(Command::new("ldd").arg(program))?;
    for library in libraries.lines().filter_map(parse_ldd_line) {
        copy_library(Path::new(library), root)?;
    }
    copy(Path::new(CERTIFICATES), &root.join(CERTIFICATES.trim_start_matches('/')))?;
    copy(Path::new("/usr/lib/os-release"), &root.join("usr/lib/os-release"))?;
    write_text(
        &root.join("etc/passwd"),
        &format!(
            "root:x:0:0:root:/:/sbin/nologin\nskald:x:{USER}:{USER}:skald:{DATA}:/sbin/nologin\n\
             nobody:x:65534:65534:nobody:/:/sbin/nologin\n"
        ),
    )?;
    write_text(&root.join("etc/group"), &format!("root:x:0:\nskald:x:{USER}:\nnogroup:x:65534:\n"))?;
    write_text(&root.join("etc/nsswitch.conf"), "passwd: files\ngroup: files\nhosts: files dns\n")?;
    std::os::unix::fs::symlink("../usr/lib/os-release", root.join("etc/os-release"))?;
    // Mount points: a run-time mounts what it has, a chroot binds what it needs.
    for folder in ["dev", "proc", "sys"] {
        fs::create_dir_all(root.join(folder))?;
    }
    for package in PACKAGES {
        let copyright = format!("usr/share/doc/{package}/copyright");
        copy(&Path::new("/").join(&copyright), &root.join(&copyright))?;
        let status = run::run_captured(Command::new("dpkg-query").args(["--status", package]))?;
        write_text(&root.join("var/lib/dpkg/status.d").join(package), &status)?;
    }
    Ok(())
}

/// Copies a library to where it really is, and links the other name under which it is loaded.
fn copy_library(library: &Path, root: &Path) -> anyhow::Result<()> {
    let real = library.canonicalize().with_context(|| format!("{} is not there", library.display()))?;
    let real_name = real.strip_prefix("/")?;
    copy(&real, &root.join(real_name))?;
    let loaded = root.join(library.strip_prefix("/")?);
    if !loaded.exists() {
        fs::create_dir_all(loaded.parent().context("a library without a folder")?)?;
        std::os::unix::fs::symlink(&real, loaded)?;
    }
    Ok(())
}

/// The path in a line of `ldd`, such as `libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f)`.
fn parse_ldd_line(line: &str) -> Option<&str> {
    let path = line.split_once("=> ").map_or(line, |(_, path)| path).trim();
    path.starts_with('/').then(|| path.split(" (").next()).flatten()
}

/// Packs a folder as a layer, and after it the folders that belong to the user of the program.
fn write_layer(
    release: &Release,
    folder: &Path,
    of_user: Option<&Path>,
    layout: &Path,
    name: &str,
) -> anyhow::Result<Layer> {
    let archive = layout.with_file_name(format!("layer-{name}.tar"));
    let mut command = pack::tar_command(release.epoch);
    command.args(pack::OF_ROOT).arg("-cf").arg(&archive).arg("-C").arg(folder);
    let mut names: Vec<_> =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.file_name())).collect::<Result<_, _>>()?;
    names.sort();
    run::run_captured(command.args(names))?;
    if let Some(of_user) = of_user {
        for (name, owner, mode) in [("data", USER, "0700"), ("tmp", 0, "1777")] {
            let mut command = pack::tar_command(release.epoch);
            command.args([format!("--owner={owner}"), format!("--group={owner}"), format!("--mode={mode}")]);
            run::run_captured(command.arg("-rf").arg(&archive).arg("-C").arg(of_user).arg(name))?;
        }
    }
    let diff_id = format!("sha256:{}", pack::sha256_of_file(&archive)?);
    let packed = pack::gzip(&archive)?;
    let (digest, size) = (pack::sha256_of_file(&packed)?, fs::metadata(&packed)?.len());
    fs::rename(packed, layout.join("blobs/sha256").join(&digest))?;
    let media_type = "application/vnd.oci.image.layer.v1.tar+gzip";
    Ok(Layer {
        diff_id,
        descriptor: json!({"mediaType": media_type, "digest": format!("sha256:{digest}"), "size": size}),
    })
}

/// Writes a JSON file under its hash, and returns what refers to it.
fn write_blob(layout: &Path, value: &Value, media_type: &str) -> anyhow::Result<Value> {
    let text = value.to_string();
    let digest = pack::sha256(text.as_bytes());
    write_text(&layout.join("blobs/sha256").join(&digest), &text)?;
    Ok(json!({"mediaType": media_type, "digest": format!("sha256:{digest}"), "size": text.len()}))
}

fn render_labels(release: &Release) -> anyhow::Result<Value> {
    Ok(json!({
        // The registry of MCP compares it with the name of the entry.
        "io.modelcontextprotocol.server.name": release.server_name(),
        "org.opencontainers.image.created": release.time()?,
        "org.opencontainers.image.description": release.description,
        "org.opencontainers.image.licenses": "Apache-2.0",
        "org.opencontainers.image.source": release.repository(),
        "org.opencontainers.image.title": "Skald",
        "org.opencontainers.image.version": release.version,
    }))
}

/// How the image is started: as a server that others reach, which needs a token, or with other arguments.
fn render_config(release: &Release, diff_ids: &[&str]) -> anyhow::Result<Value> {
    let time = release.time()?;
    Ok(json!({
        "created": time,
        "architecture": release.machine.debian,
        "os": "linux",
        "config": {
            "User": format!("{USER}:{USER}"),
            "ExposedPorts": {"8080/tcp": {}, "8081/tcp": {}},
            "Env": [
                "PATH=/usr/bin",
                format!("HOME={DATA}"),
                format!("SKALD_STORE=sqlite:{DATA}/skald.db"),
                "SKALD_HTTP_ADDR=0.0.0.0:8081",
                "SKALD_GRPC_ADDR=0.0.0.0:8080",
            ],
            "Entrypoint": ["/usr/bin/skald"],
            "Cmd": ["serve"],
            "Volumes": {DATA: {}},
            "WorkingDir": DATA,
            "Labels": render_labels(release)?,
            "StopSignal": "SIGTERM",
        },
        "rootfs": {"type": "layers", "diff_ids": diff_ids},
        "history": [
            {"created": time, "created_by": "cargo xtask dist", "comment": "files of Debian"},
            {"created": time, "created_by": "cargo xtask dist", "comment": "skald"},
        ],
    }))
}

/// Checks what a run-time and the registry need of the configuration.
pub(super) fn check(release: &Release) -> anyhow::Result<()> {
    let image = render_config(release, &[])?;
    let config = &image["config"];
    let user = config["User"].as_str().unwrap_or_default();
    ensure!(user.split(':').all(|part| part.parse::<u32>().is_ok_and(|id| id > 0)), "the user {user} is no number");
    ensure!(config["Entrypoint"] == json!(["/usr/bin/skald"]), "the image starts another program");
    ensure!(config["Volumes"][DATA].is_object(), "the world is kept on no volume");
    let label = &config["Labels"]["io.modelcontextprotocol.server.name"];
    ensure!(*label == release.server_name(), "the label {label} is not the name in the registry");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_found_in_the_lines_of_ldd() {
        let lines = [
            ("\tlinux-vdso.so.1 (0x00007ffc)", None),
            ("\tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f)", Some("/lib/x86_64-linux-gnu/libm.so.6")),
            ("\t/lib64/ld-linux-x86-64.so.2 (0x00007f)", Some("/lib64/ld-linux-x86-64.so.2")),
            ("\tlibx.so => not found", None),
        ];
        for (line, expected) in lines {
            assert_eq!(parse_ldd_line(line), expected, "{line}");
        }
    }

    #[test]
    fn docker_finds_the_parts_of_the_image() {
        let blob = |name: &str| json!({"digest": format!("sha256:{name}"), "size": 1});
        let release = Release::example();
        let manifest = render_docker_manifest(&release, &blob("c"), &[blob("a"), blob("b")]).unwrap();
        let expected = json!([{
            "Config": "blobs/sha256/c",
            "RepoTags": ["localhost/skald:1.2.3"],
            "Layers": ["blobs/sha256/a", "blobs/sha256/b"],
        }]);
        assert_eq!(manifest, expected);
        assert!(render_docker_manifest(&release, &json!({}), &[]).is_err());

        let layout = std::env::temp_dir().join(format!("skald-docker-manifest-{}", std::process::id()));
        empty_folder(&layout.join("blobs/sha256")).unwrap();
        fs::write(layout.join(DOCKER_MANIFEST), manifest.to_string()).unwrap();
        let config = json!({"rootfs": {"diff_ids": ["sha256:1", "sha256:2"]}});
        fs::write(layout.join("blobs/sha256/c"), config.to_string()).unwrap();
        fs::write(layout.join("blobs/sha256/a"), "").unwrap();
        let error = check_docker_manifest(&layout).unwrap_err().to_string();
        assert!(error.contains("blobs/sha256/b"), "{error}");
        fs::write(layout.join("blobs/sha256/b"), "").unwrap();
        check_docker_manifest(&layout).unwrap();
        fs::remove_dir_all(layout).unwrap();
    }

    #[test]
    fn the_time_of_the_image_is_that_of_the_release() {
        let image = render_config(&Release::example(), &["sha256:a", "sha256:b"]).unwrap();
        assert_eq!(image["created"], "2023-11-14T22:13:20Z");
        assert_eq!(image["history"].as_array().unwrap().len(), image["rootfs"]["diff_ids"].as_array().unwrap().len());
    }
}
