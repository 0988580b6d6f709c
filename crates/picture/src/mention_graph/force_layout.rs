//! Force-directed layout: all entities push each other away, and lines pull those together that mention each other.

use super::drawn_graph::DrawnGraph;
use crate::{Point, count_to_f64};

/// How often all forces are applied.
const STEPS: u16 = 300;
/// Cosine and sine of the golden angle. Multiplication alone places the first positions, because `sin` and `cos` differ
/// between platforms in their last digit.
const GOLDEN_TURN: Point = (-0.737_368_878_078_319_7, 0.675_490_294_261_523_8);
/// Pull towards the middle, which keeps parts together that no line joins.
const GRAVITY: f64 = 0.7;
/// The pull of a line between entities that have no neighbour in common, and what common neighbours add to it. The
/// difference moves clusters apart.
const PULL: (f64, f64) = (0.35, 1.3);
/// The squared distance below which entities push no harder.
const NEAR: f64 = 0.01;

/// Positions of all entities around the middle. Lines are about 1 long, and the longest extent is horizontal.
pub(super) fn lay_out(graph: &DrawnGraph) -> Vec<Point> {
    let mut places = spiral(graph.entities.len());
    let pulls = line_pulls(graph);
    let mut forces = vec![(0.0, 0.0); places.len()];
    for step in 0..STEPS {
        for (force, place) in forces.iter_mut().zip(&places) {
            *force = (-GRAVITY * place.0, -GRAVITY * place.1);
        }
        push_apart(&places, &mut forces);
        for (line, pull) in graph.lines.iter().zip(&pulls) {
            let apart = difference(places[line.to], places[line.from]);
            let pull = pull * length(apart);
            add(&mut forces[line.from], apart, pull);
            add(&mut forces[line.to], apart, -pull);
        }
        // The largest move shrinks, so that the layout comes to rest.
        let left = 1.0 - f64::from(step) / f64::from(STEPS);
        let most = 0.02 + 0.6 * left * left;
        for (place, force) in places.iter_mut().zip(&forces) {
            let far = length(*force);
            add(place, *force, 0.3_f64.min(most / far.max(1e-9)));
        }
    }
    turn_longest_extent_horizontal(&mut places);
    places
}

/// A golden-angle spiral: no two points are close, and the first are in the middle.
fn spiral(count: usize) -> Vec<Point> {
    let mut turn = (1.0, 0.0);
    let point = |index: usize| {
        let radius = (count_to_f64(index) + 0.5).sqrt();
        turn = (turn.0 * GOLDEN_TURN.0 - turn.1 * GOLDEN_TURN.1, turn.0 * GOLDEN_TURN.1 + turn.1 * GOLDEN_TURN.0);
        (turn.0 * radius, turn.1 * radius)
    };
    (0..count).map(point).collect()
}

fn push_apart(places: &[Point], forces: &mut [Point]) {
    for (index, place) in places.iter().enumerate() {
        for other in 0..index {
            let apart = difference(*place, places[other]);
            let push = 1.0 / (apart.0 * apart.0 + apart.1 * apart.1).max(NEAR);
            add(&mut forces[index], apart, push);
            add(&mut forces[other], apart, -push);
        }
    }
}

/// The strength of each line.
fn line_pulls(graph: &DrawnGraph) -> Vec<f64> {
    let neighbours = graph.neighbours();
    let pull = |from: usize, to: usize| {
        let common = neighbours[from].intersection(&neighbours[to]).count();
        let possible = neighbours[from].len().min(neighbours[to].len()).saturating_sub(1);
        PULL.0 + PULL.1 * count_to_f64(common) / count_to_f64(possible.max(1))
    };
    graph.lines.iter().map(|line| pull(line.from, line.to)).collect()
}

/// Turns the layout so that it extends farthest to the sides, as the card does.
fn turn_longest_extent_horizontal(places: &mut [Point]) {
    let count = count_to_f64(places.len().max(1));
    let middle = places.iter().fold((0.0, 0.0), |sum, place| (sum.0 + place.0 / count, sum.1 + place.1 / count));
    let (mut across, mut mixed, mut down) = (0.0, 0.0, 0.0);
    for place in places.iter_mut() {
        *place = difference(*place, middle);
        across += place.0 * place.0;
        mixed += place.0 * place.1;
        down += place.1 * place.1;
    }
    // The direction in which the points vary most: an eigenvector of their covariance.
    let half = (across - down) / 2.0;
    let root = (half * half + mixed * mixed).sqrt();
    let axis = if half >= 0.0 { (half + root, mixed) } else { (mixed, root - half) };
    let far = length(axis);
    if far < 1e-9 {
        return;
    }
    let axis = (axis.0 / far, axis.1 / far);
    for place in places {
        *place = (place.0 * axis.0 + place.1 * axis.1, place.1 * axis.0 - place.0 * axis.1);
    }
}

fn difference(to: Point, from: Point) -> Point {
    (to.0 - from.0, to.1 - from.1)
}

fn add(to: &mut Point, vector: Point, factor: f64) {
    to.0 += vector.0 * factor;
    to.1 += vector.1 * factor;
}

/// The length of a vector, without `hypot`, which differs between platforms.
pub(super) fn length(vector: Point) -> f64 {
    (vector.0 * vector.0 + vector.1 * vector.1).sqrt()
}
