//! Scales of a chart: maps totals and chances to coordinates, and picks round steps for labels.

/// The box that the bars stand in.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlotArea {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

/// Maps totals to x coordinates: every whole number from `first` to `last` has a slot of the same width.
#[derive(Debug, Clone, Copy)]
pub(super) struct Totals {
    pub(super) first: i64,
    pub(super) last: i64,
    left: f64,
    pub(super) slot: f64,
}

impl Totals {
    pub(super) fn new(first: i64, last: i64, area: PlotArea) -> Self {
        let count = difference(last, first) + 1.0;
        Self { first, last, left: area.left, slot: (area.right - area.left) / count }
    }

    pub(super) fn contains(self, value: i64) -> bool {
        (self.first..=self.last).contains(&value)
    }

    /// Where a total's slot begins.
    pub(super) fn slot_start(self, value: i64) -> f64 {
        self.left + difference(value, self.first) * self.slot
    }

    /// Where a total's slot ends.
    pub(super) fn slot_end(self, value: i64) -> f64 {
        self.slot_start(value) + self.slot
    }

    pub(super) fn slot_middle(self, value: i64) -> f64 {
        self.slot_start(value) + self.slot / 2.0
    }

    /// The x coordinate of a number between totals.
    pub(super) fn x_between(self, value: f64) -> f64 {
        self.left + (value - to_f64(self.first) + 0.5) * self.slot
    }

    /// Totals to label: multiples of a round step, so far apart that labels have room.
    pub(super) fn ticks(self, label_width: f64) -> Vec<i64> {
        let (first, last) = (i128::from(self.first), i128::from(self.last));
        let mut step: i128 = 1;
        for factor in [2, 5, 10].into_iter().cycle() {
            #[expect(clippy::cast_precision_loss, reason = "a step's width needs no more than a float's digits")]
            let is_wide = step as f64 * self.slot >= label_width;
            if is_wide {
                break;
            }
            let decade = 10_i128.pow(step.ilog10());
            step = decade * factor;
        }
        let start = first.div_euclid(step) * step;
        let ticks = (0..).map(|index| start + index * step).take_while(|tick| *tick <= last);
        ticks.filter(|tick| *tick >= first).filter_map(|tick| i64::try_from(tick).ok()).collect()
    }
}

/// Maps chances to y coordinates: from zero at the bottom to a round number at the top.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChanceScale {
    top: f64,
    bottom: f64,
    highest: f64,
    step: f64,
}

impl ChanceScale {
    pub(super) fn new(highest: f64, area: PlotArea) -> Self {
        // Smaller maxima count as this one, or the step between ticks would become zero.
        let highest = highest.max(1e-300);
        let raw = highest / 5.0;
        let decade = 10_f64.powf(raw.log10().floor());
        let step =
            [1.0, 2.0, 5.0, 10.0].map(|factor| factor * decade).into_iter().find(|step| *step >= raw * (1.0 - 1e-9));
        let step = step.unwrap_or(raw);
        // Tolerate rounding, so that an axis up to 100 % does not end at 120 %.
        let highest = (highest / step - 1e-6).ceil().max(1.0) * step;
        Self { top: area.top, bottom: area.bottom, highest, step }
    }

    pub(super) fn y(self, chance: f64) -> f64 {
        self.bottom - (chance / self.highest).clamp(0.0, 1.0) * (self.bottom - self.top)
    }

    /// Chances to label, with their labels.
    pub(super) fn ticks(self) -> Vec<(f64, String)> {
        let (percent, count) = (self.step * 100.0, (self.highest / self.step).round());
        let ticks = (0_u8..20).map(f64::from).take_while(|index| *index <= count);
        ticks
            .map(|index| {
                let label = match percent * index {
                    0.0 => "0%".to_owned(),
                    small if percent < 1e-4 => format!("{small:.0e}%").replace('-', "−"),
                    value => super::measure_and_format_text::format_percent(
                        value / 100.0,
                        if percent < 0.9 { decimals_needed(percent) } else { 0 },
                    ),
                };
                (self.step * index, label)
            })
            .collect()
    }
}

/// Decimals that a number below one needs to show its first digit.
fn decimals_needed(value: f64) -> usize {
    (1..12)
        .find(|decimals| value * 10_f64.powi(*decimals) > 0.9)
        .and_then(|found| usize::try_from(found).ok())
        .unwrap_or(0)
}

fn difference(left: i64, right: i64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a place on a picture needs no more than a float's digits")]
    let difference = (i128::from(left) - i128::from(right)) as f64;
    difference
}

/// A total as a float, for means and places.
pub(super) fn to_f64(value: i64) -> f64 {
    difference(value, 0)
}
