//! Tests of attacks by a hostile client or agent, a file for each aim. Each attempt fails, and the server goes on.

mod become_the_owner;
mod break_the_hook;
mod bypass_the_hook;
mod call_from_another_site;
mod crowd_the_server;
mod edited_store;
mod forge_a_token;
mod inject_syntax;
mod learn_the_servers_paths;
mod leave_sessions_half_open;
mod probe_for_ids;
mod read_on_after_revocation;
mod read_slowly;
mod rewrite_the_journal;
mod second_user;
mod tamper_with_the_store;
