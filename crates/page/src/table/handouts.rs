//! The strip of handouts: what the game master revealed to this visitor and not to everybody.

use maud::{Markup, html};

use super::state::TableState;
use crate::lore::type_icon::type_icon;
use crate::lore::{entity_path, lore_path};

/// Handouts of the strip; the lore has the others.
const HANDOUTS_SHOWN: usize = 4;

pub(super) fn render(state: &TableState) -> Markup {
    html! {
        @if !state.handouts.is_empty() {
            section.revealed.handout-strip aria-label="Revealed to you" {
                div.split {
                    h2 { "Revealed to you" }
                    @if state.handouts.len() > HANDOUTS_SHOWN {
                        a.muted href=(lore_path(&state.head.id)) { "All " (state.handouts.len()) }
                    }
                }
                ul.chips {
                    @for handout in state.handouts.iter().take(HANDOUTS_SHOWN) {
                        li id={ "h-" (handout.entity_id) } {
                            a.chip.handout href=(entity_path(&state.head.id, handout.entity_id)) {
                                (type_icon(&handout.entity_type)) bdi { (handout.name) }
                            }
                        }
                    }
                }
            }
        }
    }
}
