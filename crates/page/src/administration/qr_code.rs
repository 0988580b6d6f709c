//! A QR code as one path of an SVG, black on white in any theme, so that every camera reads it.

use std::fmt::Write;

use maud::{Markup, html};
use qrcode::types::Color;
use qrcode::{EcLevel, QrCode};

/// Modules around the code that stay white, as the standard asks.
const QUIET: usize = 4;

/// The code of a text; `None` if the text is too long for one.
pub(super) fn qr_code(text: &str, label: &str) -> Option<Markup> {
    let code = QrCode::with_error_correction_level(text.as_bytes(), EcLevel::M).ok()?;
    let (width, colors) = (code.width(), code.to_colors());
    let mut path = String::new();
    for (row, line) in colors.chunks(width).enumerate() {
        for (column, _) in line.iter().enumerate().filter(|(_, color)| **color == Color::Dark) {
            let _ = write!(path, "M{} {}h1v1h-1z", column + QUIET, row + QUIET);
        }
    }
    let side = width + 2 * QUIET;
    let view = format!("0 0 {side} {side}");
    Some(html! {
        svg.qr viewBox=(view) role="img" aria-label=(label) shape-rendering="crispEdges" {
            rect width=(side) height=(side) fill="#ffffff" {}
            path d=(path) fill="#000000" {}
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_fits_and_a_novel_does_not() {
        let drawn = qr_code("http://192.168.1.7:8080/join/skaldinvite_x", "Invitation").expect("it fits").into_string();
        assert!(drawn.contains("aria-label=\"Invitation\"") && !drawn.contains("style"), "{drawn}");
        assert!(qr_code(&"x".repeat(5_000), "Invitation").is_none());
    }
}
