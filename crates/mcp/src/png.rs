//! Renders SVG pictures as PNG, for clients that do not show SVG.
//!
//! Text is set in the fonts that come with Skald, so that a picture looks the same on every machine. Nothing outside
//! the SVG is read: no system fonts, no files, no addresses.

use std::sync::{Arc, OnceLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{ImageHrefResolver, Options, Tree};

/// Pixels for each unit of the SVG, so that text stays sharp on dense screens.
const SCALE: f32 = 2.0;
/// Pixels that a side may have.
const SIDE_PX_MAX: u32 = 4_000;
/// SVG units that a side may have.
const SIDE_UNITS_MAX: u32 = SIDE_PX_MAX / 2;
/// The last font that the pictures name before the generic family.
const FAMILY: &str = "DejaVu Sans";

/// Why there is no PNG.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PngError {
    #[error("the SVG cannot be read: {0}")]
    Svg(#[from] resvg::usvg::Error),
    #[error("the picture is {width} by {height} units, allowed: {SIDE_UNITS_MAX} a side")]
    TooLarge { width: u32, height: u32 },
    #[error("the PNG cannot be written: {0}")]
    Encoding(String),
}

/// The SVG as a PNG, two pixels for each of its units.
pub(crate) fn render_png(svg: &str) -> Result<Vec<u8>, PngError> {
    let nothing = ImageHrefResolver { resolve_data: Box::new(|_, _, _| None), resolve_string: Box::new(|_, _| None) };
    let options = Options {
        font_family: FAMILY.to_owned(),
        fontdb: font_database(),
        image_href_resolver: nothing,
        ..Options::default()
    };
    let tree = Tree::from_str(svg, &options)?;
    let size = tree.size().to_int_size();
    let too_large = PngError::TooLarge { width: size.width(), height: size.height() };
    let scaled = size.scale_by(SCALE).filter(|size| size.width().max(size.height()) <= SIDE_PX_MAX);
    let Some(mut pixmap) = scaled.and_then(|size| Pixmap::new(size.width(), size.height())) else {
        return Err(too_large);
    };
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|error| PngError::Encoding(error.to_string()))
}

fn font_database() -> Arc<Database> {
    static FONTS: OnceLock<Arc<Database>> = OnceLock::new();
    let read = || {
        let mut database = Database::new();
        database.load_font_data(include_bytes!("../assets/DejaVuSans.subset.ttf").to_vec());
        database.load_font_data(include_bytes!("../assets/DejaVuSans-Bold.subset.ttf").to_vec());
        database.set_sans_serif_family(FAMILY);
        Arc::new(database)
    };
    Arc::clone(FONTS.get_or_init(read))
}

#[cfg(test)]
mod tests {
    use skald_picture::{Chart, ChartMode, Series, Theme};

    use super::*;

    fn chart(title: &str, theme: Theme) -> String {
        let series = Series { name: "2d2", bars: &[(2, 0.25), (3, 0.5), (4, 0.25)] };
        Chart { title, subtitle: "", series, against: None, mode: ChartMode::Exactly, mark: None, theme }.svg()
    }

    fn strip(width: u32, inner: &str) -> String {
        format!("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"8\">{inner}</svg>")
    }

    #[test]
    fn a_chart_has_two_pixels_for_each_unit() {
        let png = render_png(&chart("2d2", Theme::Light)).unwrap();
        assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n");
        let side = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
        assert_eq!((side(16), side(20)), (1440, 800));
    }

    #[test]
    fn a_picture_for_every_theme_is_light() {
        assert_eq!(render_png(&chart("2d2", Theme::Auto)).unwrap(), render_png(&chart("2d2", Theme::Light)).unwrap());
        assert_ne!(render_png(&chart("2d2", Theme::Auto)).unwrap(), render_png(&chart("2d2", Theme::Dark)).unwrap());
    }

    #[test]
    fn text_is_drawn_without_fonts_of_the_system() {
        let picture =
            |text: char| render_png(&strip(8, &format!("<text y=\"8\" font-size=\"8\">{text}</text>"))).unwrap();
        // A font draws the same box for each character that it lacks.
        let unknown = picture('\u{e000}');
        for character in "7d+≥×−→…■▲●◆éß".chars() {
            assert_ne!(picture(character), unknown, "{character}");
        }
    }

    #[test]
    fn a_picture_at_the_limit_is_drawn_and_one_past_it_refused() {
        assert!(render_png(&strip(SIDE_UNITS_MAX, "")).is_ok());
        let error = render_png(&strip(SIDE_UNITS_MAX + 1, "")).unwrap_err();
        assert_eq!(error.to_string(), "the picture is 2001 by 8 units, allowed: 2000 a side");
        assert!(render_png(&strip(u32::MAX, "")).is_err());
    }

    #[test]
    fn what_is_no_svg_is_refused() {
        assert!(matches!(render_png("<svg"), Err(PngError::Svg(_))));
    }
}
