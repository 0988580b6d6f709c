//! placeholder
pub fn shipped() -> [(&'static str, &'static str); 1] {
    [("exploration-process", include_str!("../../../domain/src/gate/tests/exploration.yaml"))]
}
