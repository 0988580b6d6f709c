//! The program as a user runs it.

mod access;
mod bridge;
mod changes;
mod command_line;
mod context;
mod damage;
mod disk;
mod faults;
mod following;
mod kills;
mod places;
mod play;
mod player;
mod printed;
mod process;
mod processes;
mod recorded;
mod rest;
mod serving;
mod stdio;
mod stories;
mod table;
mod traced;
mod universe;
mod universes;
mod world;
