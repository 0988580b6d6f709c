//! placeholder
use crate::picture::Theme;
use domain::gate::Process;
pub fn svg(process: &Process, _current: Option<&str>, _visited: &[&str], _theme: Theme) -> String {
    process.mermaid(_current)
}
