//! Lists of processes, submitted processes and their findings as text.

use serde_json::Value;

use super::{TextPage, align_columns, list_items, one_line};

pub(in crate::gate) fn processes(answer: &Value) -> String {
    let mut rows = vec![["ID", "VERSION", "ORIGIN", "NAME", "STATES"].map(str::to_owned).to_vec()];
    let mut unfit = Vec::new();
    for process in list_items(&answer["processes"]) {
        let states: Vec<String> = list_items(&process["states"]).map(one_line).collect();
        let mut row = ["process_id", "version", "origin", "name"].map(|field| one_line(&process[field])).to_vec();
        row.push(states.join(", "));
        rows.push(row);
        if process["error"].is_string() {
            unfit.push(format!("{}: {}", one_line(&process["process_id"]), one_line(&process["error"])));
        }
    }
    if rows.len() == 1 {
        return "There are no processes. `skald gate submit FILE` keeps one.".to_owned();
    }
    let mut page = TextPage::default();
    page.add_lines(align_columns(&rows)).add_section("Unfit for runs", unfit);
    page.into_text()
}

pub(in crate::gate) fn submitted_process(file: &str, answer: &Value) -> String {
    let mut page = TextPage::default();
    let [id, version, hash] = ["process_id", "version", "hash"].map(|field| one_line(&answer[field]));
    page.add_line(format!("{id} {version} is stored for new runs, as {hash}"));
    page.add_lines(list_items(&answer["findings"]).map(|found| finding(file, found)));
    page.into_text()
}

/// `file:line:column: error CODE: message; hint`, as compilers write it.
pub(in crate::gate) fn finding(file: &str, finding: &Value) -> String {
    format!("{file}:{}", finding_in_file(finding))
}

/// Like `finding`, without the file's name.
pub(in crate::gate) fn finding_in_file(finding: &Value) -> String {
    let [severity, code, message, hint] =
        ["severity", "code", "message", "hint"].map(|field| one_line(&finding[field]));
    format!("{}:{}: {severity} {code}: {message}; {hint}", finding["line"], finding["column"])
}
