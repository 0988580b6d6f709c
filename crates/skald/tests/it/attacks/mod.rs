//! What a hostile client or agent tries, a file for each aim. Each attempt gets nothing, and the server goes on.

mod become_the_owner;
mod break_the_hook;
mod call_from_another_site;
mod crowd_the_server;
mod leave_the_hook;
