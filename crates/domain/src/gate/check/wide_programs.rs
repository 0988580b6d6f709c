//! Table of programs that can run other programs, and the arguments by which they do. A tool pattern that leaves those
//! arguments open allows any shell command. A program that runs code of the project (`cargo test`) is not listed once
//! its subcommand is named.

/// A program that runs other programs.
pub(super) struct WideProgram {
    pub names: &'static [&'static str],
    /// The subcommand that does so; empty if the program itself does.
    pub subcommand: &'static str,
    pub reach: Reach,
    /// How it runs another program, for the message to the author.
    pub why: &'static str,
}

/// Which patterns of a program are too wide.
#[derive(Clone, Copy)]
pub(super) enum Reach {
    /// Those that leave the first argument open; once it is named, the rest cannot start another program.
    FirstArgument,
    /// All that leave any argument open.
    AnyArgument,
}

const fn first(names: &'static [&'static str], why: &'static str) -> WideProgram {
    WideProgram { names, subcommand: "", reach: Reach::FirstArgument, why }
}

const fn any(names: &'static [&'static str], why: &'static str) -> WideProgram {
    WideProgram { names, subcommand: "", reach: Reach::AnyArgument, why }
}

const fn below(names: &'static [&'static str], subcommand: &'static str, why: &'static str) -> WideProgram {
    WideProgram { names, subcommand, reach: Reach::FirstArgument, why }
}

const NAMED_PROGRAM: &str = "it runs the program that its arguments name";
const BY_NAME: &str = "it runs any program or script by its name";
const OF_GIT: &str = "this subcommand runs the programs that it is told";

pub(super) const WIDE_PROGRAMS: &[WideProgram] = &[
    first(&["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "csh", "pwsh", "powershell"], "it is a shell"),
    first(
        &["python", "python2", "python3", "pypy", "pypy3", "perl", "ruby", "node", "nodejs", "deno", "bun", "php"],
        "it runs the code that it is given",
    ),
    first(
        &["lua", "luajit", "rscript", "osascript", "tclsh", "expect", "julia", "groovy"],
        "it runs the code that it is given",
    ),
    first(&["awk", "gawk", "mawk", "nawk"], "its programs call system()"),
    first(&["sed", "gsed"], "its scripts run commands with e and write files with w"),
    any(&["find", "gfind", "fd", "fdfind", "watch", "entr"], "-exec, -delete and the like do whatever they are told"),
    first(&["eval", "exec", "command", "builtin", "source", ".", "trap", "alias"], "the shell runs what follows it"),
    first(&["xargs", "parallel", "env", "sudo", "doas", "su", "nohup", "setsid", "nice", "ionice"], NAMED_PROGRAM),
    first(&["timeout", "stdbuf", "time", "chroot", "unshare", "nsenter", "setpriv", "runuser", "flock"], NAMED_PROGRAM),
    first(&["strace", "ltrace", "busybox", "toybox", "systemd-run", "script", "screen", "tmux"], NAMED_PROGRAM),
    first(&["at", "batch", "crontab", "npx", "bunx", "uvx"], NAMED_PROGRAM),
    any(&["ssh", "mosh", "socat", "nc", "ncat"], "it runs commands, here or elsewhere"),
    any(
        &[
            "vim", "vi", "nvim", "view", "ex", "ed", "emacs", "nano", "less", "more", "man", "gdb", "lldb", "sqlite3",
            "psql",
        ],
        "it has commands of its own that start a shell",
    ),
    first(&["git"], "-c alias.x='!…', config, bisect run and others run programs"),
    below(&["git"], "config", OF_GIT),
    below(&["git"], "bisect", OF_GIT),
    below(&["git"], "rebase", OF_GIT),
    below(&["git"], "submodule", OF_GIT),
    below(&["git"], "filter-branch", OF_GIT),
    below(&["git"], "difftool", OF_GIT),
    below(&["git"], "mergetool", OF_GIT),
    first(&["cargo"], "--config names programs, run and install start and fetch them"),
    first(
        &["npm", "pnpm", "yarn", "pip", "pip3", "uv", "poetry", "bundle", "gem", "go", "rustup", "pipx", "nix", "brew"],
        "it fetches and runs programs",
    ),
    below(&["npm", "pnpm", "yarn"], "run", BY_NAME),
    below(&["npm", "pnpm", "yarn", "bundle"], "exec", BY_NAME),
    below(&["pnpm", "yarn"], "dlx", BY_NAME),
    below(&["uv", "poetry", "pipx", "nix", "go"], "run", BY_NAME),
    first(
        &["make", "gmake", "just", "task", "ninja", "gradle", "mvn", "ant", "cmake"],
        "it runs whatever a file or an argument says",
    ),
    first(&["docker", "podman", "nerdctl", "kubectl"], "run and exec start programs"),
    below(&["docker", "podman", "nerdctl", "kubectl"], "run", BY_NAME),
    below(&["docker", "podman", "nerdctl", "kubectl"], "exec", BY_NAME),
];
