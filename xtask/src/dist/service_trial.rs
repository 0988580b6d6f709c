//! Tries out the systemd unit: boots a Debian with the package in a container of systemd-nspawn, and asks the service.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};

use super::bare_debian::Root;
use super::release::Release;
use super::{debian_package, write as write_text};
use crate::server::TestServer;
use crate::{install, print_line, run};

pub(super) fn try_service(release: &Release, folder: &Path) -> anyhow::Result<()> {
    install::install_programs(&[("systemd-nspawn", "systemd-container")])?;
    let root = Root::copy_of_bare_debian("service")?;
    if run::run_silently(container(&root).arg("/bin/true")).is_err() {
        print_line("NOT RUN: the systemd unit. This machine forbids a container of systemd-nspawn.");
        return root.remove();
    }
    let in_root = |words: &[&str]| {
        let quiet = [("DEBIAN_FRONTEND".to_owned(), "noninteractive".to_owned())];
        run::run_captured(&mut root.command(0, &quiet, words))
    };
    in_root(&["apt-get", "update"])?;
    in_root(&["apt-get", "install", "--yes", "--no-install-recommends", "systemd", "systemd-sysv"])?;
    let name = debian_package::file_name(release);
    std::fs::copy(folder.join(&name), root.join(&name))?;
    in_root(&["dpkg", "--install", &format!("/{name}")])?;
    in_root(&["systemctl", "enable", "skald"])?;
    let server = TestServer::start(|port| {
        let settings = format!("SKALD_HTTP_ADDR=127.0.0.1:{port}\nSKALD_GRPC_ADDR=off\n");
        // A missing file shows as a server on another port.
        let _ = write_text(&root.join("/etc/default/skald"), &settings);
        let mut command = container(&root);
        command.arg("--boot");
        command
    });
    let server = server.context("the service did not start")?;
    super::trial::check_health(&server)?;
    let world = root.join("/var/lib/private/skald/skald.db");
    ensure!(world.exists(), "the service does not keep its world in {}", world.display());
    make_token_as_root(&root, &server)?;
    super::trial::check_stopped(server)?;
    print_line("the systemd unit: a booted Debian starts it, with all its restrictions, and it answers");
    root.remove()
}

/// Makes a token in the service's store as root does it, and checks that the service still writes: files that belong to
/// root would stop it.
fn make_token_as_root(root: &Root, server: &TestServer) -> anyhow::Result<()> {
    let store = [("SKALD_STORE".to_owned(), "sqlite:/var/lib/skald/skald.db".to_owned())];
    run::run_captured(&mut root.command(0, &store, &["skald", "token", "create", "Nils", "--role", "gm"]))?;
    let url = format!("{}/api/v1/campaign_create", server.url());
    let written = run::run_captured(Command::new("curl").args([
        "-sS",
        "--fail-with-body",
        "-d",
        "{\"name\":\"Bells\",\"gm_mode\":\"HUMAN\"}",
        &url,
    ]));
    written.context("the service no longer writes").map(drop)
}

/// A container with the network of this machine, which leaves no trace in a systemd of this machine. It outlives a
/// systemd-nspawn that is killed, so both are in a namespace of processes that ends with its first one.
fn container(root: &Root) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "systemd-nspawn"]);
    command.args(["--quiet", "--register=no", "--keep-unit", "--directory"]).arg(&root.folder);
    command
}
