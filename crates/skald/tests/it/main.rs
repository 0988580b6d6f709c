//! The program as a user runs it.

mod command_line;
mod faults;
mod kills;
mod places;
mod player;
mod process;
mod processes;
mod rest;
mod serving;
mod stdio;
mod stories;
mod traced;
