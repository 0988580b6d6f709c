//! The program as a user runs it.

mod command_line;
mod process;
mod serving;
mod stdio;
