//! Table of programs that can run other programs, and the arguments by which they do. A tool pattern that leaves those
//! arguments open allows any shell command. A program that runs code of the project (`cargo test`) is not listed once
//! its subcommand is named. All programs that the shell parser knows to run others are in it; a test compares the two.

/// A program that runs other programs.
pub(super) struct LauncherProgram {
    pub names: &'static [&'static str],
    /// The subcommand that does so; empty if the program itself does.
    pub subcommand: &'static str,
    pub open_arguments: OpenArguments,
    /// How it runs another program, for the message to the author.
    pub why: &'static str,
}

/// Which patterns of a program are too wide.
#[derive(Clone, Copy)]
pub(super) enum OpenArguments {
    /// Those that leave the first argument open; once it is named, the rest cannot start another program.
    FirstArgument,
    /// All that leave any argument open.
    AnyArgument,
}

const fn first_argument(names: &'static [&'static str], why: &'static str) -> LauncherProgram {
    LauncherProgram { names, subcommand: "", open_arguments: OpenArguments::FirstArgument, why }
}

const fn any_argument(names: &'static [&'static str], why: &'static str) -> LauncherProgram {
    LauncherProgram { names, subcommand: "", open_arguments: OpenArguments::AnyArgument, why }
}

const fn subcommand(names: &'static [&'static str], subcommand: &'static str, why: &'static str) -> LauncherProgram {
    LauncherProgram { names, subcommand, open_arguments: OpenArguments::FirstArgument, why }
}

const NAMED_PROGRAM: &str = "it runs the program that its arguments name";
const BY_NAME: &str = "it runs any program or script by its name";
const OF_GIT: &str = "this subcommand runs the programs that it is told";

pub(super) const LAUNCHER_PROGRAMS: &[LauncherProgram] = &[
    first_argument(
        &["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "yash", "rbash", "csh", "pwsh", "powershell"],
        "it is a shell",
    ),
    first_argument(
        &["python", "python2", "python3", "pypy", "pypy3", "perl", "ruby", "node", "nodejs", "deno", "bun", "php"],
        "it runs the code that it is given",
    ),
    first_argument(
        &["lua", "luajit", "rscript", "osascript", "tclsh", "expect", "julia", "groovy"],
        "it runs the code that it is given",
    ),
    first_argument(&["awk", "gawk", "mawk", "nawk"], "its programs call system()"),
    first_argument(&["sed", "gsed"], "its scripts run commands with e and write files with w"),
    any_argument(
        &["find", "gfind", "fd", "fdfind", "watch", "entr"],
        "-exec, -delete and the like do whatever they are told",
    ),
    first_argument(
        &["eval", "exec", "command", "builtin", "source", ".", "trap", "alias"],
        "the shell runs what follows it",
    ),
    first_argument(
        &["xargs", "parallel", "env", "sudo", "doas", "su", "nohup", "setsid", "nice", "ionice"],
        NAMED_PROGRAM,
    ),
    first_argument(
        &["timeout", "stdbuf", "time", "chroot", "unshare", "nsenter", "setpriv", "runuser", "flock"],
        NAMED_PROGRAM,
    ),
    first_argument(
        &["strace", "ltrace", "busybox", "toybox", "systemd-run", "script", "screen", "tmux"],
        NAMED_PROGRAM,
    ),
    first_argument(&["at", "batch", "crontab", "npx", "bunx", "uvx"], NAMED_PROGRAM),
    first_argument(&["gtimeout", "taskset", "chrt", "numactl", "caffeinate", "chronic", "unbuffer"], NAMED_PROGRAM),
    first_argument(&["fakeroot", "firejail", "bwrap", "proot"], NAMED_PROGRAM),
    first_argument(&["noglob", "nocorrect", "repeat"], "the shell runs what follows it"),
    any_argument(&["ssh", "mosh", "socat", "nc", "ncat"], "it runs commands, here or elsewhere"),
    any_argument(
        &[
            "vim", "vi", "nvim", "view", "ex", "ed", "emacs", "nano", "less", "more", "man", "gdb", "lldb", "sqlite3",
            "psql",
        ],
        "it has commands of its own that start a shell",
    ),
    first_argument(&["git"], "-c alias.x='!…', config, bisect run and others run programs"),
    subcommand(&["git"], "config", OF_GIT),
    subcommand(&["git"], "bisect", OF_GIT),
    subcommand(&["git"], "rebase", OF_GIT),
    subcommand(&["git"], "submodule", OF_GIT),
    subcommand(&["git"], "filter-branch", OF_GIT),
    subcommand(&["git"], "difftool", OF_GIT),
    subcommand(&["git"], "mergetool", OF_GIT),
    first_argument(&["cargo"], "--config names programs, run and install start and fetch them"),
    first_argument(
        &[
            "npm", "pnpm", "yarn", "pip", "pip3", "uv", "poetry", "bundle", "gem", "go", "rustup", "pipx", "pipenv",
            "mise", "nix", "brew",
        ],
        "it fetches and runs programs",
    ),
    subcommand(&["npm", "pnpm", "yarn"], "run", BY_NAME),
    subcommand(&["npm", "pnpm", "yarn", "bundle"], "exec", BY_NAME),
    subcommand(&["pnpm", "yarn"], "dlx", BY_NAME),
    subcommand(&["uv", "poetry", "pipx", "pipenv", "nix", "go", "rustup"], "run", BY_NAME),
    subcommand(&["npm", "mise"], "x", BY_NAME),
    subcommand(&["mise"], "exec", BY_NAME),
    subcommand(&["nix"], "shell", BY_NAME),
    subcommand(&["nix"], "develop", BY_NAME),
    first_argument(
        &["make", "gmake", "just", "task", "ninja", "gradle", "mvn", "ant", "cmake"],
        "it runs whatever a file or an argument says",
    ),
    first_argument(&["docker", "podman", "nerdctl", "kubectl"], "run and exec start programs"),
    subcommand(&["docker", "podman", "nerdctl", "kubectl"], "run", BY_NAME),
    subcommand(&["docker", "podman", "nerdctl", "kubectl"], "exec", BY_NAME),
];
