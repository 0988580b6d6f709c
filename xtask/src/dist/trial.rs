//! Tries out a release: packs it twice and compares the bytes, runs the public validators, and starts each artifact where
//! nothing else is installed.

use std::fs;
use std::io::Write;
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use super::bare_debian::{self, Root};
use super::release::Release;
use super::validators::{self, Validators};
use super::{
    build_program, claude_plugin, debian_package, empty_folder, folder, oci_image, pack, service_trial, write_artifacts,
};
use crate::server::TestServer;
use crate::{paths, print_line, run};

/// A user who is nobody in particular, and their home.
const USER: u32 = 1000;
const HOME: &str = "/home/ana";

/// Builds everything a second time in another folder, as somebody would who has the commit and the published order of
/// functions, and compares it with what is in `target/dist/artifacts`.
pub(crate) fn check_packed_again() -> anyhow::Result<()> {
    let target = paths::target().join("second-build");
    let second = paths::target().join("second-artifacts");
    empty_folder(&target)?;
    let published = folder().join(Release::read()?.file_name("function-order.txt"));
    build_program::forget_function_order();
    build_program::take_function_order(&published)?;
    write_artifacts(&build_program::build(&target)?, &second, Some(&published))?;
    compare_folders(&folder(), &second)?;
    for folder in [target, second.with_extension("staging"), second] {
        fs::remove_dir_all(folder)?;
    }
    Ok(())
}

fn compare_folders(first: &Path, second: &Path) -> anyhow::Result<()> {
    let (files, others) = (pack::files_below(first)?, pack::files_below(second)?);
    ensure!(files == others, "two runs wrote different files: {files:?} and {others:?}");
    for file in &files {
        let same = fs::read(first.join(file))? == fs::read(second.join(file))?;
        ensure!(same, "two runs wrote different bytes into {}", file.display());
    }
    print_line(&format!("two runs wrote the same bytes into {} files", files.len()));
    Ok(())
}

/// Validates and starts every artifact in a folder.
pub(crate) fn try_artifacts(folder: &Path) -> anyhow::Result<()> {
    let release = Release::read()?;
    run::run_captured(Command::new("sha256sum").args(["--check", "--strict", "SHA256SUMS"]).current_dir(folder))?;
    let validators = Validators::install()?;
    validators.check_sbom(&folder.join(release.file_name("cdx.json")))?;
    validators.check_plugin()?;
    validators::check_unit()?;
    print_line("the validators accept the bill of materials, the plugin and the systemd unit");
    try_bundle(&release, &validators, folder).context("the MCPB bundle")?;
    try_plugin(&release, &validators, folder).context("the plugin for Claude Code")?;
    if !bare_debian::can_enter() {
        print_line("NOT RUN: artifacts in a bare Debian. This machine forbids a mount.");
        return Ok(());
    }
    try_archive(&release, folder).context("the archive")?;
    try_package(&release, folder).context("the Debian package")?;
    try_image(&release, folder).context("the image")?;
    service_trial::try_service(&release, folder).context("the systemd unit")
}

/// Unpacks the bundle, and starts the server as a desktop client would.
fn try_bundle(release: &Release, validators: &Validators, folder: &Path) -> anyhow::Result<()> {
    let unpacked = paths::target().join("roots/bundle");
    empty_folder(&unpacked)?;
    let mut archive = zip::ZipArchive::new(fs::File::open(folder.join(release.file_name("mcpb")))?)?;
    archive.extract(&unpacked)?;
    validators.check_bundle(&unpacked.join("manifest.json"))?;
    let manifest: Value = serde_json::from_str(&fs::read_to_string(unpacked.join("manifest.json"))?)?;
    let config = &manifest["server"]["mcp_config"];
    let data = unpacked.join("Skald");
    let fill = |value: &Value| {
        let text = value.as_str().unwrap_or_default().replace("${__dirname}", &unpacked.to_string_lossy());
        text.replace("${user_config.data_dir}", &data.to_string_lossy())
    };
    let arguments = config["args"].as_array().context("the manifest has no arguments")?.iter().map(fill);
    let mut command = Command::new(fill(&config["command"]));
    let answer = ask_over_stdio(command.args(arguments))?;
    ensure!(answer["result"]["serverInfo"]["version"] == release.version.as_str(), "it answered {answer}");
    ensure!(data.join("skald.db").exists(), "the world is not in the folder of the setting");
    print_line("mcpb accepts the bundle, and its server answers");
    fs::remove_dir_all(unpacked).map_err(Into::into)
}

/// Unpacks the plugin, and has Claude Code install it.
fn try_plugin(release: &Release, validators: &Validators, folder: &Path) -> anyhow::Result<()> {
    let unpacked = paths::target().join("roots/claude-plugin");
    empty_folder(&unpacked)?;
    zip::ZipArchive::new(fs::File::open(folder.join(claude_plugin::file_name(release)))?)?.extract(&unpacked)?;
    validators.install_plugin(&unpacked)?;
    print_line("Claude Code installs the plugin from its unpacked folder, and removes it again");
    fs::remove_dir_all(unpacked).map_err(Into::into)
}

/// Sends the first request of a client over stdio, and returns the answer.
fn ask_over_stdio(command: &mut Command) -> anyhow::Result<Value> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let request = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "dist", "version": "1"}}
    });
    // The server ends when its input does.
    writeln!(child.stdin.take().context("no input")?, "{request}")?;
    let output = String::from_utf8(child.wait_with_output()?.stdout)?;
    Ok(serde_json::from_str(output.lines().next().context("no answer")?)?)
}

fn try_archive(release: &Release, folder: &Path) -> anyhow::Result<()> {
    let root = Root::copy_of_bare_debian("archive")?;
    let name = release.file_name("tar.gz");
    fs::copy(folder.join(&name), root.join(&name))?;
    run::run_captured(&mut root.command(0, &[], &["tar", "-xzf", &format!("/{name}"), "-C", "/opt"]))?;
    try_as_user(release, &root, &format!("/opt/{}/skald", release.stem()))?;
    print_line("the archive: in a bare Debian skald serve answers, and skald doctor is content");
    root.remove()
}

fn try_package(release: &Release, folder: &Path) -> anyhow::Result<()> {
    let root = Root::copy_of_bare_debian("package")?;
    let name = debian_package::file_name(release);
    fs::copy(folder.join(&name), root.join(&name))?;
    run::run_captured(&mut root.command(0, &[], &["dpkg", "--install", &format!("/{name}")]))?;
    try_as_user(release, &root, "skald")?;
    let listed = run::run_captured(&mut root.command(0, &[], &["dpkg", "--verify", "skald"]))?;
    ensure!(listed.trim().is_empty(), "dpkg finds changed files: {listed}");
    run::run_captured(&mut root.command(0, &[], &["dpkg", "--purge", "skald"]))?;
    ensure!(!root.join("/usr/bin/skald").exists(), "the program is still there after the package was removed");
    print_line("the package: in a bare Debian skald serve answers, skald doctor is content, and it is removed again");
    root.remove()
}

/// Starts the program in a root as a user with a home.
fn try_as_user(release: &Release, root: &Root, program: &str) -> anyhow::Result<()> {
    fs::create_dir_all(root.join(HOME))?;
    run::run_captured(Command::new("chown").arg(format!("{USER}:{USER}")).arg(root.join(HOME)))?;
    let environment = [("HOME".to_owned(), HOME.to_owned())];
    let version = run::run_captured(&mut root.command(USER, &environment, &[program, "--version"]))?;
    ensure!(version.trim() == format!("skald {}", release.version), "it is {version}");
    let server = TestServer::start(|port| {
        let address = format!("127.0.0.1:{port}");
        root.command(USER, &environment, &[program, "serve", "--http-addr", &address, "--grpc-addr", "off"])
    })?;
    check_health(&server)?;
    let address = format!("127.0.0.1:{}", server.port);
    let doctor = [program, "doctor", "--http-addr", &address, "--grpc-addr", "off"];
    run::run_captured(&mut root.command(USER, &environment, &doctor))?;
    check_stopped(server)
}

/// Stops a server, and checks that nothing of it is left in the root that it ran in.
pub(super) fn check_stopped(server: TestServer) -> anyhow::Result<()> {
    let port = server.port;
    drop(server);
    // The kernel ends the processes of the root after the one that was stopped.
    let is_open = || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok();
    let is_stopped = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        !is_open()
    });
    ensure!(is_stopped, "a server still listens on port {port}");
    Ok(())
}

pub(super) fn check_health(server: &TestServer) -> anyhow::Result<()> {
    let health = run::run_captured(Command::new("curl").args(["-sSf", &format!("{}/health", server.url())]))?;
    let health: Value = serde_json::from_str(&health)?;
    ensure!(health["name"] == "skald", "the server answered {health}");
    Ok(())
}

/// Unpacks the image by umoci, and starts it as its configuration says: as its user, with its environment.
fn try_image(release: &Release, folder: &Path) -> anyhow::Result<()> {
    let unpacked = paths::target().join("roots/image");
    // A trial that failed leaves its bundle behind.
    empty_folder(&unpacked)?;
    empty_folder(&unpacked.join("layout"))?;
    let archive = folder.join(release.file_name("oci.tar"));
    run::run_captured(Command::new("tar").arg("-xf").arg(archive).arg("-C").arg(unpacked.join("layout")))?;
    oci_image::check_docker_manifest(&unpacked.join("layout"))?;
    let image = format!("{}:{}", unpacked.join("layout").display(), release.version);
    run::run_captured(Command::new("umoci").args(["unpack", "--image", &image]).arg(unpacked.join("bundle")))?;
    let config: Value = serde_json::from_str(&fs::read_to_string(unpacked.join("bundle/config.json"))?)?;
    let process = &config["process"];
    let user = process["user"]["uid"].as_u64().and_then(|user| u32::try_from(user).ok()).context("no user")?;
    ensure!(user == oci_image::USER, "the image runs as {user}");
    let environment = process["env"].as_array().into_iter().flatten().filter_map(|line| line.as_str()?.split_once('='));
    let environment: Vec<(String, String)> =
        environment.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let program = process["args"][0].as_str().context("no program")?;
    ensure!(process["args"][1] == "serve", "the image does not serve by itself");

    let root = Root { folder: unpacked.join("bundle/rootfs"), mounts: Vec::new() };
    run::run_captured(&mut root.command(user, &environment, &[program, "token", "create", "Ana", "--role", "gm"]))?;
    let server = TestServer::start(|port| {
        let address = format!("0.0.0.0:{port}");
        root.command(user, &environment, &[program, "serve", "--http-addr", &address, "--grpc-addr", "off"])
    })?;
    check_health(&server)?;
    let address = format!("127.0.0.1:{}", server.port);
    let doctor = [program, "doctor", "--http-addr", &address, "--grpc-addr", "off"];
    run::run_captured(&mut root.command(user, &environment, &doctor))?;
    let answer = ask_over_stdio(&mut root.command(user, &environment, &[program, "mcp"]))?;
    ensure!(answer["result"]["serverInfo"]["version"] == release.version.as_str(), "it answered {answer}");
    print_line(
        "the image: umoci unpacks it, and as its own user it serves, answers over stdio, and skald doctor is content",
    );
    check_stopped(server)?;
    fs::remove_dir_all(unpacked).map_err(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_bytes_are_found() {
        let folder = std::env::temp_dir().join(format!("skald-trial-{}", std::process::id()));
        for (run, text) in [("1", "same"), ("2", "same"), ("3", "other")] {
            empty_folder(&folder.join(run)).unwrap();
            fs::write(folder.join(run).join("file"), text).unwrap();
        }
        compare_folders(&folder.join("1"), &folder.join("2")).unwrap();
        let error = compare_folders(&folder.join("1"), &folder.join("3")).unwrap_err();
        assert!(error.to_string().contains("different bytes into file"), "{error}");
        fs::remove_dir_all(folder).unwrap();
    }
}
