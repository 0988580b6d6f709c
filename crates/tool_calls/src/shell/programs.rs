//! Tables of programs: those that run other programs, by which arguments, and the position of their subcommand.

/// Reserved words that may precede a command.
pub(super) const RESERVED: [&str; 9] = ["if", "then", "elif", "else", "do", "while", "until", "!", "coproc"];

pub(super) const SHELLS: [&str; 11] =
    ["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "yash", "rbash", "csh"];

/// A program that runs the command in its arguments.
pub(super) struct Wrapper {
    pub name: &'static str,
    /// Options that are followed by their value.
    pub valued: &'static [&'static str],
    /// Arguments before the command.
    pub operands: usize,
}

const fn wrapper(name: &'static str, valued: &'static [&'static str], operands: usize) -> Wrapper {
    Wrapper { name, valued, operands }
}

pub(super) const WRAPPERS: &[Wrapper] = &[
    wrapper("sudo", &["-u", "-g", "-h", "-p", "-C", "-r", "-t", "-D", "-R", "-T", "--user", "--group", "--chdir"], 0),
    wrapper("doas", &["-u", "-C"], 0),
    wrapper("env", &["-u", "--unset", "-C", "--chdir"], 0),
    wrapper("nohup", &[], 0),
    wrapper("setsid", &[], 0),
    wrapper("nice", &["-n", "--adjustment"], 0),
    wrapper("ionice", &["-c", "-n", "-t", "--class", "--classdata"], 0),
    wrapper("timeout", &["-k", "-s", "--kill-after", "--signal"], 1),
    wrapper("gtimeout", &["-k", "-s", "--kill-after", "--signal"], 1),
    wrapper("stdbuf", &["-i", "-o", "-e", "--input", "--output", "--error"], 0),
    wrapper("time", &["-f", "-o", "--format", "--output"], 0),
    wrapper("command", &[], 0),
    wrapper("builtin", &[], 0),
    wrapper("exec", &["-a"], 0),
    wrapper("chroot", &[], 1),
    wrapper("unshare", &["-S", "-G", "--setuid", "--setgid", "--root", "--wd", "-R", "-w"], 0),
    wrapper("nsenter", &["-t", "-S", "-G", "--target", "--setuid", "--setgid"], 0),
    wrapper("setpriv", &["--reuid", "--regid", "--groups", "--inh-caps", "--ambient-caps", "--bounding-set"], 0),
    wrapper("runuser", &["-u", "-g", "--user", "--group"], 0),
    wrapper("flock", &["-w", "-E", "--timeout", "--conflict-exit-code"], 1),
    wrapper("strace", &["-o", "-e", "-s", "-u", "-E", "-P", "-a", "-b"], 0),
    wrapper("ltrace", &["-o", "-e", "-s", "-u", "-l", "-x"], 0),
    wrapper("busybox", &[], 0),
    wrapper("toybox", &[], 0),
    wrapper("taskset", &[], 1),
    wrapper("chrt", &[], 1),
    wrapper("numactl", &["-N", "-m", "-C", "--cpunodebind", "--membind", "--physcpubind"], 0),
    wrapper("systemd-run", &["-p", "-u", "-E", "--property", "--unit", "--uid", "--gid", "--setenv", "--slice"], 0),
    wrapper("fakeroot", &["-l", "-s", "-i"], 0),
    wrapper("firejail", &[], 0),
    wrapper("bwrap", &["--chdir", "--unsetenv"], 0),
    wrapper("proot", &["-r", "-b", "-w"], 0),
    wrapper("caffeinate", &["-t", "-w"], 0),
    wrapper("noglob", &[], 0),
    wrapper("nocorrect", &[], 0),
    wrapper("repeat", &[], 1),
    wrapper("chronic", &[], 0),
    wrapper("unbuffer", &[], 0),
    wrapper("xargs", &["-I", "-n", "-P", "-L", "-d", "-E", "-s", "-a", "--max-args", "--arg-file", "--delimiter"], 0),
    wrapper("parallel", &["-j", "-a", "-S", "--jobs", "--arg-file", "--colsep"], 0),
    wrapper("npx", &["-p", "--package"], 0),
    wrapper("bunx", &[], 0),
    wrapper("uvx", &["--from", "--with", "-p", "--python"], 0),
];

/// Names of all programs that run the command in their arguments.
pub fn launcher_names() -> impl Iterator<Item = &'static str> {
    SHELLS.into_iter().chain(WRAPPERS.iter().map(|wrapper| wrapper.name))
}

/// Programs of which a subcommand runs the command after it, each with that subcommand.
pub fn launcher_subcommands() -> impl Iterator<Item = (&'static str, &'static str)> {
    WRAPPING_SUBCOMMANDS
        .iter()
        .flat_map(|(name, subcommands, _)| subcommands.iter().map(|subcommand| (*name, *subcommand)))
}

/// Wrappers whose command gets arguments that are not written in the line.
pub(super) const ADDS_WORDS: [&str; 2] = ["xargs", "parallel"];

/// Subcommands that run the command after them, and the number of arguments in between: `rustup run stable cargo test`.
pub(super) const WRAPPING_SUBCOMMANDS: &[(&str, &[&str], usize)] = &[
    ("rustup", &["run"], 1),
    ("npm", &["exec", "x"], 0),
    ("pnpm", &["exec", "dlx"], 0),
    ("yarn", &["exec", "dlx"], 0),
    ("uv", &["run"], 0),
    ("poetry", &["run"], 0),
    ("pipenv", &["run"], 0),
    ("pipx", &["run"], 0),
    ("bundle", &["exec"], 0),
    ("mise", &["exec", "x"], 0),
    ("nix", &["run", "shell", "develop"], 0),
];

/// Programs with subcommands, and their options before the subcommand that are followed by a value.
pub(super) const WITH_SUBCOMMANDS: &[(&str, &[&str])] = &[
    (
        "git",
        &["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--attr-source"],
    ),
    ("cargo", &["--color", "--config", "-Z", "-C"]),
    ("rustup", &[]),
    ("npm", &["--prefix", "-C", "--workspace", "-w", "--userconfig", "--script-shell"]),
    ("pnpm", &["--dir", "-C", "--filter", "-F", "--workspace-dir"]),
    ("yarn", &["--cwd"]),
    ("docker", &["-H", "--host", "-c", "--context", "--config", "-l", "--log-level"]),
    ("podman", &["--connection", "-c", "--url", "--log-level", "--root"]),
    ("kubectl", &["-n", "--namespace", "--context", "--kubeconfig", "-s", "--server", "--cluster", "--user", "--as"]),
    ("helm", &["-n", "--namespace", "--kube-context", "--kubeconfig"]),
    ("gh", &["-R", "--repo", "--hostname"]),
    ("glab", &["-R", "--repo"]),
    ("systemctl", &["-H", "--host", "-M", "--machine", "-t", "-p"]),
    ("apt", &["-o", "-c", "-t"]),
    ("apt-get", &["-o", "-c", "-t"]),
    ("pip", &["--python", "--log", "--proxy", "--cache-dir"]),
    ("pip3", &["--python", "--log", "--proxy", "--cache-dir"]),
    ("uv", &["--directory", "--project", "--config-file", "--cache-dir"]),
    ("poetry", &["-C", "--directory", "-P", "--project"]),
    ("go", &["-C"]),
    ("terraform", &["-chdir"]),
    ("aws", &["--profile", "--region", "--output", "--endpoint-url"]),
    ("gcloud", &["--project", "--account", "--configuration"]),
    ("hg", &["-R", "--repository", "--cwd", "--config"]),
    ("svn", &["--config-dir", "--config-option"]),
    ("brew", &[]),
    ("skald", &["--log", "--log-format"]),
];

/// Options that give a program code, or name a program to run or a file to write.
pub(super) struct ProgramOptions {
    pub names: &'static [&'static str],
    /// The subcommand that has them; empty for every subcommand.
    pub subcommand: &'static str,
    pub options: &'static [&'static str],
    /// Whether they count only before the first argument, like `-c` of Python before the script.
    pub is_before_arguments: bool,
}

const fn code_options(names: &'static [&'static str], options: &'static [&'static str]) -> ProgramOptions {
    ProgramOptions { names, subcommand: "", options, is_before_arguments: true }
}

const fn options_anywhere(names: &'static [&'static str], options: &'static [&'static str]) -> ProgramOptions {
    ProgramOptions { names, subcommand: "", options, is_before_arguments: false }
}

const fn git_options(subcommand: &'static str, options: &'static [&'static str]) -> ProgramOptions {
    ProgramOptions { names: &["git"], subcommand, options, is_before_arguments: false }
}

pub(super) const PROGRAM_OPTIONS: &[ProgramOptions] = &[
    code_options(&["python", "python2", "python3", "pypy", "pypy3"], &["-c"]),
    code_options(&["perl"], &["-e", "-E", "-M", "-m", "-x"]),
    code_options(&["ruby"], &["-e", "-r", "-x"]),
    code_options(
        &["node", "nodejs", "bun"],
        &["-e", "--eval", "-p", "--print", "-r", "--require", "--import", "--loader"],
    ),
    code_options(&["deno"], &["eval", "--preload"]),
    code_options(&["php"], &["-r", "-B", "-R", "-E", "-d"]),
    code_options(&["lua", "luajit", "r", "rscript", "osascript", "julia", "elixir"], &["-e", "-E"]),
    options_anywhere(&["sed", "gsed"], &["-e", "--expression", "-f", "--file"]),
    options_anywhere(
        &["awk", "gawk", "mawk", "nawk"],
        &["-f", "--file", "-e", "--source", "-i", "--include", "-l", "--load"],
    ),
    options_anywhere(&["cargo"], &["--config", "-Z"]),
    git_options("", &["--upload-pack", "--receive-pack", "--exec", "--open-files-in-pager", "--extcmd", "--output"]),
    git_options("grep", &["-O"]),
    git_options("clone", &["-u", "-c", "--config"]),
    git_options("rebase", &["-x"]),
    git_options("difftool", &["-x"]),
    options_anywhere(
        &["tar", "bsdtar", "gtar"],
        &[
            "--to-command",
            "--checkpoint-action",
            "-I",
            "--use-compress-program",
            "--rsh-command",
            "-F",
            "--info-script",
        ],
    ),
    options_anywhere(&["rsync"], &["-e", "--rsh", "--rsync-path"]),
    options_anywhere(&["ssh", "scp", "sftp"], &["-o", "-S", "-F"]),
    options_anywhere(&["sort"], &["--compress-program"]),
    options_anywhere(&["rg"], &["--pre", "--hostname-bin"]),
    options_anywhere(&["go"], &["-exec", "-toolexec", "-vettool"]),
    options_anywhere(&["npm", "pnpm", "yarn"], &["--script-shell", "--node-options"]),
    options_anywhere(&["make", "gmake"], &["--eval", "-f", "--file", "--makefile", "-I", "--include-dir"]),
    options_anywhere(&["zip"], &["-TT", "--unzip-command"]),
    options_anywhere(&["man"], &["-P", "--pager", "-H", "--html"]),
    options_anywhere(&["vim", "vi", "nvim", "view", "ex"], &["-c", "--cmd", "-S", "-s", "-u", "+"]),
    options_anywhere(&["emacs"], &["--eval", "--execute", "-f", "--funcall", "-l", "--load", "--script"]),
    options_anywhere(&["sqlite3"], &["-cmd", "--cmd", "-init", "--init"]),
    options_anywhere(&["gdb", "lldb"], &["-ex", "-x", "--eval-command", "-o", "-s"]),
    options_anywhere(&["gcc", "g++", "cc", "c++", "clang", "clang++"], &["-wrapper", "-fplugin", "-B"]),
];

/// Programs whose combined short options may include the one that takes code: `perl -ne …`.
pub(super) const CODE_LETTERS: &[(&str, &[char])] =
    &[("perl", &['e', 'E']), ("ruby", &['e']), ("python", &['c']), ("python3", &['c'])];

/// Programs whose `NAME=value` arguments set variables that may name programs.
pub(super) const TAKES_VARIABLES: [&str; 2] = ["make", "gmake"];
