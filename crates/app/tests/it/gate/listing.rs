//! Lists of runs: a filter that few runs pass reads a bounded number of rows for a page.

use serde_json::{Value, json};
use skald_domain::limits;

use super::{call_as_owner, engine, run};

#[test]
fn a_page_ends_early_if_a_filter_drops_too_many_rows() {
    run(async {
        let engine = engine();
        let oldest = json!({"process_id": "exploration-process", "run_id": "the-oldest"});
        call_as_owner(&engine, "state_gate.create_run", oldest).await;
        for number in 0..=limits::UNWANTED_ROWS_READ_MAX {
            let other = json!({"process_id": "quest", "run_id": format!("other-{number}")});
            call_as_owner(&engine, "state_gate.create_run", other).await;
        }
        let mut input = json!({"process_id": "exploration-process"});
        let first = call_as_owner(&engine, "state_gate.list_runs", input.clone()).await;
        assert_eq!(first["runs"], json!([]), "the limit is passed before the run is reached");
        input["cursor"] = first["next_cursor"].clone();
        let second = call_as_owner(&engine, "state_gate.list_runs", input).await;
        assert_eq!((&second["runs"][0]["run_id"], &second["next_cursor"]), (&json!("the-oldest"), &Value::Null));
    });
}
