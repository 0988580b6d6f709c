//! The strip of handouts: what the game master revealed to this visitor, and lately to the whole table.

use maud::{Markup, html};

use super::state::TableState;
use crate::lore::lore_path;

/// Handouts of the strip; the lore has the others.
const HANDOUTS_SHOWN: usize = 4;

pub(super) fn render(state: &TableState) -> Markup {
    html! {
        @if !state.handouts.is_empty() {
            section.revealed.handout-strip aria-label="Revealed to you" {
                div.split {
                    h2 { "Revealed to you" }
                    @if state.handout_count > HANDOUTS_SHOWN {
                        a.muted href={ (lore_path(&state.head.id)) "?revealed=all" } { "All " (state.handout_count) }
                    }
                }
                ul.chips {
                    @for handout in state.handouts.iter().take(HANDOUTS_SHOWN) {
                        li id=(handout.element_id()) { (handout.link(&state.head.id, "chip handout")) }
                    }
                }
            }
        }
    }
}
