//! What a hostile client or agent tries, a file for each aim. Each attempt gets nothing, and the server goes on.

mod become_the_owner;
mod call_from_another_site;
mod edited_store;
mod make_a_token_unseen;
mod rewrite_the_journal;
mod tamper_with_the_store;
