//! Attacks on the gate, in files named after what they try.

mod break_the_hook;
mod leave_the_hook;
mod second_user;
