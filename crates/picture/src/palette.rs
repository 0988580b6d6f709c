//! Colour palette, light and dark. Text has a contrast of 4.5 to 1 with its background in both.

/// A colour by what it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ink {
    Card,
    Border,
    Text,
    Muted,
    /// Lines of the axis.
    Rule,
    /// The series, or the first of two.
    First,
    /// The series that it is compared with.
    Second,
    /// Bars that succeed.
    Success,
    /// Bars that do not succeed.
    Rest,
    Critical,
    OnCritical,
    HopeSuccess,
    OnHopeSuccess,
    FearSuccess,
    OnFearSuccess,
    HopeFailure,
    OnHopeFailure,
    FearFailure,
    OnFearFailure,
    /// The background of a map.
    Sky,
    /// Faint stars of the background.
    Speckle,
    Orbit,
    /// Around a disc of any colour.
    Outline,
    /// Bodies that are drawn as dots.
    Dust,
    /// The current state of a process run.
    Current,
    OnCurrent,
    /// A visited state of a process run.
    Visited,
    OnVisited,
    /// Entities of a campaign, by their type.
    Character,
    Creature,
    Location,
    Organization,
    Race,
    Note,
    Journal,
    Quest,
    Item,
    Clue,
    Event,
    Document,
    OtherEntity,
}

/// All colours, in the order of their use.
const INKS: [Ink; 41] = [
    Ink::Card,
    Ink::Border,
    Ink::Text,
    Ink::Muted,
    Ink::Rule,
    Ink::First,
    Ink::Second,
    Ink::Success,
    Ink::Rest,
    Ink::Critical,
    Ink::OnCritical,
    Ink::HopeSuccess,
    Ink::OnHopeSuccess,
    Ink::FearSuccess,
    Ink::OnFearSuccess,
    Ink::HopeFailure,
    Ink::OnHopeFailure,
    Ink::FearFailure,
    Ink::OnFearFailure,
    Ink::Sky,
    Ink::Speckle,
    Ink::Orbit,
    Ink::Outline,
    Ink::Dust,
    Ink::Current,
    Ink::OnCurrent,
    Ink::Visited,
    Ink::OnVisited,
    Ink::Character,
    Ink::Creature,
    Ink::Location,
    Ink::Organization,
    Ink::Race,
    Ink::Note,
    Ink::Journal,
    Ink::Quest,
    Ink::Item,
    Ink::Clue,
    Ink::Event,
    Ink::Document,
    Ink::OtherEntity,
];

/// Every colour: its name, and how it looks on a light and on a dark background.
pub fn palette() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    INKS.into_iter().map(|ink| {
        let Shade { class, light, dark } = ink.shade();
        (class, light, dark)
    })
}

/// A colour's name in the style sheet, and how it looks.
pub(super) struct Shade {
    pub(super) class: &'static str,
    pub(super) light: &'static str,
    pub(super) dark: &'static str,
}

impl Ink {
    pub(super) fn shade(self) -> Shade {
        let (class, light, dark) = match self {
            Self::Card => ("card", "#ffffff", "#151a23"),
            Self::Border => ("border", "#dfe3ea", "#2c3543"),
            Self::Text => ("text", "#1b2330", "#e9edf3"),
            Self::Muted => ("muted", "#566173", "#a4afbf"),
            Self::Rule => ("rule", "#e7eaf0", "#2a3240"),
            Self::First => ("first", "#3b6fb6", "#6ea2e8"),
            Self::Second => ("second", "#b0580c", "#f0a35e"),
            Self::Success => ("success", "#0c7365", "#3fc1a6"),
            Self::Rest => ("rest", "#c5cdd8", "#4a5567"),
            Self::Critical => ("critical", "#f2b632", "#f2b632"),
            Self::OnCritical => ("on-critical", "#3a2800", "#2b1d00"),
            Self::HopeSuccess => ("hope-success", "#1f6f8b", "#55b7d4"),
            Self::OnHopeSuccess => ("on-hope-success", "#ffffff", "#06222c"),
            Self::FearSuccess => ("fear-success", "#7a3e9d", "#bd92e3"),
            Self::OnFearSuccess => ("on-fear-success", "#ffffff", "#210a35"),
            Self::HopeFailure => ("hope-failure", "#d3e8ef", "#1f3c48"),
            Self::OnHopeFailure => ("on-hope-failure", "#1c4353", "#bfe2ee"),
            Self::FearFailure => ("fear-failure", "#e9dcf2", "#3a284c"),
            Self::OnFearFailure => ("on-fear-failure", "#4b2a63", "#dfccf0"),
            Self::Sky => ("sky", "#f5f7fb", "#0a0e17"),
            Self::Speckle => ("speckle", "#cbd4e3", "#4a5874"),
            Self::Orbit => ("orbit", "#b7c1d1", "#3d4a60"),
            Self::Outline => ("outline", "#3d4757", "#c3ccda"),
            Self::Dust => ("dust", "#8c98ab", "#75839a"),
            Self::Current => ("current", "#1f6f8b", "#55b7d4"),
            Self::OnCurrent => ("on-current", "#ffffff", "#06222c"),
            Self::Visited => ("visited", "#d3e8ef", "#1f3c48"),
            Self::OnVisited => ("on-visited", "#1c4353", "#bfe2ee"),
            Self::Character => ("character", "#2f6fc4", "#6ea8f2"),
            Self::Creature => ("creature", "#b8352a", "#f0806f"),
            Self::Location => ("location", "#2e7d3f", "#66c27c"),
            Self::Organization => ("organization", "#7a3e9d", "#bd92e3"),
            Self::Race => ("race", "#b0458f", "#ec8fd0"),
            Self::Note => ("note", "#7a6a55", "#c0ae92"),
            Self::Journal => ("journal", "#8a6a00", "#dcbc48"),
            Self::Quest => ("quest", "#bf5a08", "#f5a35c"),
            Self::Item => ("item", "#08807c", "#45c8c0"),
            Self::Clue => ("clue", "#5c7a00", "#b3d14f"),
            Self::Event => ("event", "#c22262", "#ff86a8"),
            Self::Document => ("document", "#4a6b8a", "#9fbcd6"),
            Self::OtherEntity => ("other-entity", "#646c78", "#a9b0bb"),
        };
        Shade { class, light, dark }
    }
}
