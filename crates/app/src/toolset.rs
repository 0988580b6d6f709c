//! Toolsets: named groups of operations, resources and prompts, and the set that a client sees.

use std::str::FromStr;

use crate::{OperationEntry, OperationKind};

/// A named group of operations, resources and prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Toolset {
    Dice,
    Campaign,
    Lore,
    Canon,
    Gate,
    Universe,
}

impl Toolset {
    pub const ALL: [Self; 6] = [Self::Dice, Self::Campaign, Self::Lore, Self::Canon, Self::Gate, Self::Universe];

    pub fn name(self) -> &'static str {
        match self {
            Self::Dice => "dice",
            Self::Campaign => "campaign",
            Self::Lore => "lore",
            Self::Canon => "canon",
            Self::Gate => "gate",
            Self::Universe => "universe",
        }
    }
}

/// A set of toolsets. As text: names with commas between them, or `all`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Toolsets(u8);

impl Toolsets {
    pub const NONE: Self = Self(0);
    pub const ALL: Self = Self(0b11_1111);

    pub fn contains(self, toolset: Toolset) -> bool {
        self.0 & (1 << toolset as u8) != 0
    }

    #[must_use]
    pub fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl FromStr for Toolsets {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.split(',').all(|name| name.trim().is_empty()) {
            let allowed = Toolset::ALL.map(Toolset::name).join(", ");
            return Err(format!("no toolset is named, allowed: {allowed}, all"));
        }
        text.split(',').map(str::trim).filter(|name| !name.is_empty()).try_fold(Self(0), |set, name| {
            if name.eq_ignore_ascii_case("all") {
                return Ok(Self::ALL);
            }
            Toolset::ALL
                .into_iter()
                .find(|toolset| toolset.name().eq_ignore_ascii_case(name))
                .map(|toolset| Self(set.0 | 1 << toolset as u8))
                .ok_or_else(|| {
                    let allowed = Toolset::ALL.map(Toolset::name).join(", ");
                    format!("unknown toolset {name:?}, allowed: {allowed}, all")
                })
        })
    }
}

/// What one request may see: the toolsets, and whether commands are among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolsetFilter {
    pub toolsets: Toolsets,
    pub read_only: bool,
}

impl ToolsetFilter {
    pub const EVERYTHING: Self = Self { toolsets: Toolsets::ALL, read_only: false };

    pub fn admits(self, entry: &OperationEntry) -> bool {
        self.toolsets.contains(entry.toolset) && !(self.read_only && entry.kind == OperationKind::Command)
    }
}
