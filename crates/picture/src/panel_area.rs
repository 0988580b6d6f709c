//! A rectangle of a picture, to find out what overlaps and what fits.

use super::Point;

/// A box on the picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PanelArea {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl PanelArea {
    pub(super) fn right(&self) -> f64 {
        self.left + self.width
    }

    pub(super) fn bottom(&self) -> f64 {
        self.top + self.height
    }

    pub(super) fn middle(&self) -> Point {
        (self.left + self.width / 2.0, self.top + self.height / 2.0)
    }

    pub(super) fn centered_at((x, y): Point, reach: f64) -> Self {
        Self { left: x - reach, top: y - reach, width: 2.0 * reach, height: 2.0 * reach }
    }

    /// The smallest box around points. Without a point, it is empty.
    pub(super) fn around(points: &[Point]) -> Self {
        let Some(first) = points.first() else {
            return Self::centered_at((0.0, 0.0), 0.0);
        };
        let least = points.iter().fold(*first, |least, point| (least.0.min(point.0), least.1.min(point.1)));
        let most = points.iter().fold(*first, |most, point| (most.0.max(point.0), most.1.max(point.1)));
        Self { left: least.0, top: least.1, width: most.0 - least.0, height: most.1 - least.1 }
    }

    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right() && other.left < self.right() && self.top < other.bottom() && other.top < self.bottom()
    }

    pub(super) fn contains(&self, other: &Self) -> bool {
        self.left <= other.left
            && self.top <= other.top
            && self.right() >= other.right()
            && self.bottom() >= other.bottom()
    }

    /// This area, smaller by so much on each side.
    pub(super) fn inset(&self, by: f64) -> Self {
        let (width, height) = ((self.width - 2.0 * by).max(0.0), (self.height - 2.0 * by).max(0.0));
        Self { left: self.left + by, top: self.top + by, width, height }
    }

    pub(super) fn clamp(&self, (x, y): Point) -> Point {
        (x.clamp(self.left, self.right()), y.clamp(self.top, self.bottom()))
    }
}
