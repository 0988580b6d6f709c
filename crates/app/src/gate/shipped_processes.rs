//! The processes that come with Skald: one for exploration, and four for game masters.

#[cfg(test)]
mod tests;

/// The ids and the YAML sources of the shipped processes.
pub(super) fn shipped_processes() -> [(&'static str, &'static str); 5] {
    [
        ("exploration-process", include_str!("processes/exploration-process.yaml")),
        ("session-preparation", include_str!("processes/session-preparation.yaml")),
        ("quest", include_str!("processes/quest.yaml")),
        ("character-creation", include_str!("processes/character-creation.yaml")),
        ("canon-review", include_str!("processes/canon-review.yaml")),
    ]
}
