//! QR codes: on the page as one path of an SVG, black on white in any theme, so that every camera reads it; in a terminal
//! as half blocks.

use std::fmt::Write;

use maud::{Markup, html};
use qrcode::render::unicode::Dense1x2;
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

/// The code of a text in lines for a terminal, two modules in each character; `None` if the text is too long for one. The
/// light modules are drawn and the dark ones left out, since terminals are dark more often than light.
pub fn terminal_qr_code(text: &str) -> Option<String> {
    let code = QrCode::with_error_correction_level(text.as_bytes(), EcLevel::M).ok()?;
    let mut drawn = code.render::<Dense1x2>();
    // The library draws with blocks what it calls dark.
    Some(drawn.dark_color(Dense1x2::Light).light_color(Dense1x2::Dark).quiet_zone(true).build())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_shows_every_module_with_its_margin() {
        let link = "http://192.168.1.7:8081/join/skaldinvite_x";
        let drawn = terminal_qr_code(link).expect("it fits");
        let code = QrCode::with_error_correction_level(link.as_bytes(), EcLevel::M).expect("it fits");
        let (width, side) = (code.width(), code.width() + 2 * QUIET);
        let lines: Vec<Vec<char>> = drawn.lines().map(|line| line.chars().collect()).collect();
        assert_eq!(lines.len(), side.div_ceil(2), "{drawn}");
        let is_light = |row: usize, column: usize| match lines[row / 2][column] {
            '█' => true,
            '▀' => row.is_multiple_of(2),
            '▄' => !row.is_multiple_of(2),
            _ => false,
        };
        for (at, color) in code.to_colors().into_iter().enumerate() {
            assert_eq!(is_light(at / width + QUIET, at % width + QUIET), color == Color::Light, "{at}: {drawn}");
        }
        assert!((0..side).all(|column| is_light(0, column)) && (0..side).all(|row| is_light(row, side - 1)), "{drawn}");
        assert!(terminal_qr_code(&"x".repeat(5_000)).is_none());
    }

    #[test]
    fn a_link_fits_and_a_novel_does_not() {
        let drawn = qr_code("http://192.168.1.7:8080/join/skaldinvite_x", "Invitation").expect("it fits").into_string();
        assert!(drawn.contains("aria-label=\"Invitation\"") && !drawn.contains("style"), "{drawn}");
        assert!(qr_code(&"x".repeat(5_000), "Invitation").is_none());
    }
}
