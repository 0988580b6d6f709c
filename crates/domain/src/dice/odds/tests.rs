use std::collections::BTreeMap;

use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::One;
use proptest::prelude::*;

use super::*;
use crate::dice::notation::tests::any_expression;
use crate::dice::notation::{Dialect, Notation, Roll, parse};
use crate::dice::{DiceRefusal, RandomRequest, Randomness, RollMode, Seed, roll_notation};

fn parse_expression(text: &str) -> Expression {
    match parse(text, Dialect::Auto).unwrap().roll {
        Roll::Total(expression) => expression,
        other => panic!("{other} is not a total"),
    }
}

fn exact_odds(expression: &Expression) -> Result<Odds, OddsRefusal> {
    odds(expression, &ComputationBudget::default())
}

fn distribution(text: &str) -> Distribution {
    exact_odds(&parse_expression(text)).unwrap().distribution
}

fn fraction(weight: &BigUint, whole: &BigUint) -> String {
    let common = weight.gcd(whole);
    format!("{}/{}", weight / &common, whole / &common)
}

fn chance(text: &str, holds: impl Fn(i64) -> bool) -> String {
    let distribution = distribution(text);
    fraction(&distribution.weight_where(holds), distribution.total_weight())
}

/// Rolls an expression with every sequence of faces. `None` if there are too many.
fn enumerate(expression: &Expression) -> Option<Result<BTreeMap<i64, BigUint>, DiceRefusal>> {
    const RUNS_MAX: usize = 20_000;
    let notation = Notation { roll: Roll::Total(expression.clone()), comment: None };
    let mut scripts: Vec<Vec<u32>> = vec![Vec::new()];
    let mut found: Vec<(i64, Vec<u32>)> = Vec::new();
    let mut runs = 0;
    while let Some(script) = scripts.pop() {
        runs += 1;
        if runs > RUNS_MAX {
            return None;
        }
        let (mut asked, mut missing) = (Vec::new(), None);
        let result = roll_notation(&notation, &mut |sides| {
            let face = script.get(asked.len()).copied();
            asked.push(sides);
            if face.is_none() {
                missing.get_or_insert(sides);
            }
            face.unwrap_or(1)
        });
        match (missing, result) {
            (Some(sides), _) => scripts.extend((1..=sides).map(|face| [script.as_slice(), &[face]].concat())),
            (None, Ok(results)) => found.push((results[0].total, asked)),
            (None, Err(refusal)) => return Some(Err(refusal)),
        }
    }
    // Every run weighs one over the product of its sides.
    let products: Vec<BigUint> =
        found.iter().map(|(_, asked)| asked.iter().map(|sides| BigUint::from(*sides)).product()).collect();
    let common = products.iter().fold(BigUint::one(), |common, product| common.lcm(product));
    let mut weights = BTreeMap::<i64, BigUint>::new();
    for ((total, _), product) in found.iter().zip(products) {
        *weights.entry(*total).or_default() += &common / product;
    }
    Some(Ok(weights))
}

fn reduce_weights(weights: impl IntoIterator<Item = (i64, BigUint)>) -> Vec<(i64, String)> {
    let weights: Vec<(i64, BigUint)> = weights.into_iter().collect();
    let whole: BigUint = weights.iter().map(|(_, weight)| weight).sum();
    weights.iter().map(|(value, weight)| (*value, fraction(weight, &whole))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, max_global_rejects: 100_000, ..ProptestConfig::default() })]

    #[test]
    fn odds_are_what_enumeration_counts(expression in any_expression()) {
        let Some(counted) = enumerate(&expression) else { return Err(TestCaseError::reject("too many to enumerate")) };
        match (counted, exact_odds(&expression)) {
            (Ok(counted), Ok(odds)) => {
                let sum: BigUint = odds.distribution.weights().iter().map(|(_, weight)| weight).sum();
                prop_assert_eq!(&sum, odds.distribution.total_weight());
                prop_assert_eq!(reduce_weights(odds.distribution.weights().to_vec()), reduce_weights(counted), "{}", expression);
            }
            (Err(DiceRefusal::ExpressionDividesByZero { .. }), refused) => {
                prop_assert!(matches!(refused, Err(OddsRefusal::DivisionByZero { .. })), "{}", expression);
            }
            // A division that only some rolls would make by zero is refused for all of them.
            (Ok(_), Err(refused)) => prop_assert!(!matches!(refused, OddsRefusal::TooCostly(_)), "{}", expression),
            (Err(refusal), odds) => prop_assert!(false, "{expression}: {refusal} {odds:?}"),
        }
    }
}

#[test]
fn known_values() {
    assert_eq!(chance("4d6kh3", |value| value == 18), "7/432");
    assert_eq!(chance("4d6kh3", |value| value == 13), "43/324");
    assert_eq!(chance("2d20kh1", |value| value >= 15), "51/100");
    assert_eq!(chance("2d20kl1", |value| value >= 15), "9/100");
    assert_eq!(chance("2d6", |value| value == 7), "1/6");
    assert_eq!(chance("4dF", |value| value == 0), "19/81");
    assert_eq!(chance("1d6rr=1", |value| value == 2), "1/5");
    assert_eq!(chance("1d6ro=1", |value| value == 1), "1/36");
    assert_eq!(chance("1d6x", |value| value == 7), "1/36");
    assert_eq!(chance("1d6/2", |value| value == 0), "1/6");
    assert_eq!(chance("{1d6,1d8}kh1", |value| value == 8), "1/8");
}

#[test]
fn a_hundred_dice_sum_to_one() {
    let distribution = distribution("100d6");
    let sum: BigUint = distribution.weights().iter().map(|(_, weight)| weight).sum();
    assert_eq!(&sum, distribution.total_weight());
    assert_eq!(distribution.total_weight(), &BigUint::from(6_u32).pow(100));
    assert_eq!((distribution.lowest(), distribution.highest()), (100, 600));
    assert_eq!(distribution.mean(), (350.into(), BigUint::one()));
    assert!((distribution.standard_deviation() - (100.0_f64 * 35.0 / 12.0).sqrt()).abs() < 1e-9);
}

#[test]
fn mass_beyond_the_cap_is_exact() {
    let beyond = |text: &str| exact_odds(&parse_expression(text)).unwrap().beyond_cap.chance();
    let fraction = |text: &str| beyond(text).and_then(|chance| chance.fraction);
    assert_eq!(fraction("1d6x=6cap2").as_deref(), Some("1/216"));
    assert_eq!(fraction("2d6x=6cap1").as_deref(), Some("71/1296"));
    assert_eq!(beyond("3d6"), None);
    // The fraction is left out, the decimal is exact to its last digit.
    let Expression::Pool(pool) = parse_expression("1000d6x") else { panic!("a pool") };
    let many = PastCapChance::from_dice(&distribution("1d6"), pool.explode.unwrap(), pool.count).chance().unwrap();
    assert_eq!(many.fraction, None);
    assert!((many.decimal / (1_000.0 / 6_f64.powi(21)) - 1.0).abs() < 1e-9, "{}", many.decimal);
}

#[test]
fn what_costs_too_much_is_refused() {
    for text in ["1000d1000kh500", "1000d1000000", "{100d100,100d100,100d100}kh2", "20d20xkh10", "500d500*500d500"] {
        assert!(matches!(exact_odds(&parse_expression(text)), Err(OddsRefusal::TooCostly(_))), "{text}");
    }
}

#[test]
fn a_refusal_names_the_estimate_and_the_limit() {
    let refused = |text: &str| exact_odds(&parse_expression(text)).unwrap_err().to_string();
    assert_eq!(
        refused("1d1000000"),
        "exact odds of this would need a row for each of 1,000,000 sides, and at most 100,000 are allowed"
    );
    for text in ["1000d1000kh500", "500d500*500d500", "1000d100000"] {
        assert!(refused(text).contains("that is allowed, which is"), "{text}: {}", refused(text));
    }
    assert_eq!(refused("1d6/(1d6-1)"), "1d6-1 may be zero, and something is divided by it");
    assert_eq!(
        Cost::Work { times: 3_000 }.to_string(),
        "take about 3,000 times the work that is allowed, which is about a second of it"
    );
}

#[test]
fn a_chance_is_that_of_a_result_as_good_or_better() {
    let chance = |text: &str, total: i64, against: Option<i64>| {
        let odds = line_odds(&parse(text, Dialect::Auto).unwrap().roll, &ComputationBudget::default()).unwrap();
        let result = crate::dice::RollResult { total, success: None, against, duality: None, pools: Vec::new() };
        odds.chance_of(&result).fraction.unwrap()
    };
    assert_eq!(chance("1d20", 15, None), "3/10");
    assert_eq!(chance("1d20 >= 11", 15, Some(11)), "3/10");
    assert_eq!(chance("1d20 > 11", 15, Some(11)), "3/10");
    assert_eq!(chance("1d20 <= 11", 15, Some(11)), "3/4");
    assert_eq!(chance("1d20 < 11", 3, Some(11)), "3/20");
    assert_eq!(chance("1d20 = 11", 11, Some(11)), "1/20");
    assert_eq!(chance("1d20 = 11", 13, Some(11)), "1/4");
    assert_eq!(chance("1d6 vs 1d6", 6, Some(1)), "1/36");
    assert_eq!(chance("1d6 vs 1d6", 1, Some(6)), "1/1");
    assert_eq!(chance("duality(+0, dc 15)", 24, Some(15)), "1/144");
}

#[test]
fn a_difficulty_for_a_duality_roll_counts_its_critical_successes() {
    let odds =
        |text: &str| line_odds(&parse(text, Dialect::Auto).unwrap().roll, &ComputationBudget::default()).unwrap();
    let need = odds("duality(+2)").need(0.5).unwrap();
    let at = |difficulty: i64| odds(&format!("duality(+2, dc {difficulty})")).success.unwrap();
    assert_eq!(at(need.difficulty.unwrap()), need.chance);
    assert!(need.chance.decimal >= 0.5 && at(need.difficulty.unwrap() + 1).decimal < 0.5);
    assert!(odds("duality(+2)").need(0.05).unwrap_err().contains("any difficulty"));
    assert!(odds("2d6 = 7").need(0.5).unwrap_err().contains("equal"));
}

#[test]
fn work_ends_when_it_is_given_up() {
    let asked = std::cell::Cell::new(0_u32);
    let is_given_up = || {
        asked.set(asked.get() + 1);
        asked.get() > 10
    };
    assert_eq!(
        odds(&parse_expression("500d20"), &ComputationBudget::with_cancellation(&is_given_up)),
        Err(OddsRefusal::GivenUp)
    );
    assert_eq!(asked.get(), 11);
}

/// All parts of one answer are charged to the same budget.
#[test]
fn many_parts_are_not_many_efforts() {
    let part = "500d20";
    let sum = vec![part; 60].join("+");
    assert!(exact_odds(&parse_expression(part)).is_ok());
    assert!(matches!(exact_odds(&parse_expression(&sum)), Err(OddsRefusal::TooCostly(_))));
}

#[test]
fn a_sample_has_all_that_odds_have() {
    let mut faces = 0_u32;
    let mut draw = |sides: u32| {
        faces += 1;
        faces % sides + 1
    };
    let sampled = |text: &str, draw: &mut dyn FnMut(u32) -> u32| {
        sample_odds(&parse(text, Dialect::Auto).unwrap(), 144, draw, &ComputationBudget::default()).unwrap()
    };
    let check = sampled("1d6 >= 4", &mut draw);
    assert_eq!(check.success.unwrap().fraction.as_deref(), Some("1/2"));
    let duality = sampled("duality(+2, dc 15)", &mut draw);
    assert!(duality.success.is_some() && !duality.outcomes.is_empty());
    let versus = sampled("1d6 vs 1d6", &mut draw);
    assert!(versus.tie.is_some() && versus.against.is_some());
    assert_eq!(sampled("3x(1d4)", &mut draw).distribution.total_weight(), &BigUint::from(144_u32));
}

/// Together these expressions use every modifier.
const EXPRESSIONS: [&str; 52] = [
    "1d20",
    "2d6",
    "3d6+2",
    "1d100",
    "4dF",
    "1d6-1d6",
    "2d6*2",
    "1d12/3",
    "-1d8",
    "(1d4+1)*(1d4+1)",
    "4d6kh3",
    "4d6kl3",
    "4d6dh1",
    "4d6dl1",
    "2d20kh1",
    "2d20kl1",
    "3d8kh1",
    "5d4dl2",
    "3dFkh1",
    "4d6kh0",
    "1d6x",
    "2d6x",
    "1d6x>=5",
    "2d4x=4cap2",
    "1d6!!",
    "2d6!!>=5",
    "1d6!p",
    "2d8!p>=7",
    "3d6xkh2",
    "3d6xdl1",
    "2d6ro=1",
    "2d6rr<=2",
    "2d100rr<=98",
    "1d1000rr>=4",
    "3d6ro<=2kh2",
    "1d6ro>=5",
    "2d10rr=10",
    "1d20min10",
    "2d6max4",
    "3d6min2max5",
    "2d6min3x",
    "4d6!!kh2",
    "5d10cs>=8",
    "5d10cs>=8df=1",
    "4d6cs=6",
    "3d6xcs>=5",
    "4d6kh3cs>=4",
    "{1d6,1d8}kh1",
    "{2d4,1d10}kl1",
    "{1d6,1d6,1d6}dl1",
    "3d6!pkh2",
    "{1d4x,1d6}dh1+1",
];

/// Rolls of each; a longer run sets `SKALD_CHI_ROLLS`.
fn roll_count() -> u32 {
    std::env::var("SKALD_CHI_ROLLS").ok().and_then(|rolls| rolls.parse().ok()).unwrap_or(4_000)
}

#[test]
fn what_is_rolled_is_what_was_weighed() {
    let rolls = roll_count();
    for (at, text) in EXPRESSIONS.into_iter().enumerate() {
        let notation = parse(text, Dialect::Auto).unwrap();
        let expected = distribution(text);
        let seed = crate::dice::Seed::from_integer(i128::try_from(at).unwrap());
        let request = crate::dice::RandomRequest { seed: Some(seed), roll_mode: crate::dice::RollMode::Replay };
        let mut randomness = crate::dice::Randomness::new(request, [0; 32]).unwrap();
        let mut counts = BTreeMap::<i64, u32>::new();
        for _ in 0..rolls {
            let total = roll_notation(&notation, &mut |sides| randomness.roll_die(sides)).unwrap()[0].total;
            *counts.entry(total).or_default() += 1;
        }
        assert!(counts.keys().all(|total| expected.weights().iter().any(|(value, _)| value == total)), "{text}");
        // Values that are expected fewer than five times are counted together.
        let (mut chi_square, mut degrees) = (0.0, -1.0_f64);
        let (mut rare_expected, mut rare_counted) = (0.0, 0.0);
        for (value, weight) in expected.weights() {
            let often = ratio_to_f64(weight, expected.total_weight()) * f64::from(rolls);
            let counted = f64::from(counts.get(value).copied().unwrap_or_default());
            if often < 5.0 {
                rare_expected += often;
                rare_counted += counted;
            } else {
                chi_square += (counted - often).powi(2) / often;
                degrees += 1.0;
            }
        }
        if rare_expected >= 5.0 {
            chi_square += (rare_counted - rare_expected).powi(2) / rare_expected;
            degrees += 1.0;
        }
        let limit = if degrees < 1.0 { 0.001 } else { crate::dice::tests::chi_square_limit(degrees) };
        assert!(chi_square <= limit, "{text}: chi-square {chi_square} over {limit} with {degrees} degrees");
    }
}

fn line(text: &str) -> LineOdds {
    line_odds(&parse(text, Dialect::Auto).unwrap().roll, &ComputationBudget::default()).unwrap()
}

#[test]
fn luck_is_one_half_on_average() {
    for text in ["2d6", "1d20+5 >= 15", "1d20 <= 5", "1d20 = 7", "2d6+3 vs 1d20", "duality(+2, dc 15, adv, +1d4)"] {
        let odds = line(text);
        let mut draws =
            Randomness::new(RandomRequest { seed: Some(Seed::from_integer(1)), roll_mode: RollMode::Replay }, [0; 32])
                .unwrap();
        let notation = parse(text, Dialect::Auto).unwrap();
        let mut sum = 0.0;
        for _ in 0..2_000 {
            let rolled = roll_notation(&notation, &mut |sides| draws.roll_die(sides)).unwrap();
            let luck = odds.luck_of(&rolled[0]);
            assert!((0.0..=1.0).contains(&luck), "{text}: {luck}");
            sum += luck;
        }
        assert!((sum / 2_000.0 - 0.5).abs() < 0.03, "{text}: {sum}");
    }
}

#[test]
fn two_lines_are_compared_by_their_totals() {
    let [higher, equal, lower] = line("1d6").compare_with(&line("1d4"), &ComputationBudget::default()).unwrap();
    assert_eq!(higher.fraction.as_deref(), Some("7/12"));
    assert_eq!(equal.fraction.as_deref(), Some("1/6"));
    assert_eq!(lower.fraction.as_deref(), Some("1/4"));
}

#[test]
fn a_duality_roll_needs_a_modifier_or_another_difficulty() {
    let need = line("duality(+2, dc 15)").need(0.75).unwrap();
    let difficulty = need.difficulty.unwrap();
    assert_eq!(need.modifier_needed, Some(2 + 15 - difficulty));
    let other = line(&format!("duality(+{}, dc 15)", need.modifier_needed.unwrap()));
    assert_eq!(other.success.unwrap(), need.chance);
    assert_eq!((need.add, line("1d20 >= 15").need(0.5).unwrap().add), (None, Some(4)));
}

#[test]
fn a_short_number_has_four_digits() {
    let short = Exact::new(&1_u32.into(), &3_000_000_u32.into()).shorten();
    assert_eq!((short.fraction.as_deref(), short.decimal), (Some("1/3000000"), 3.333e-7));
    let long = Exact::new(&1_234_567_u32.into(), &9_999_991_u32.into()).shorten();
    assert_eq!((long.fraction, long.decimal), (None, 0.1235));
}

#[test]
fn the_chance_of_the_highest_total_counts_ties_as_lost() {
    let lines = [line("1d6"), line("1d6"), line("1d4")];
    let two = chance_of_highest(&lines[..2], 0).unwrap();
    assert_eq!(two.fraction.as_deref(), Some("5/12"));
    let all: f64 = (0..3).map(|index| chance_of_highest(&lines, index).unwrap().decimal).sum();
    assert!(all < 1.0 && all > 0.7, "{all}");
    assert_eq!(chance_of_highest(&[line("1d1000"), line("1d6")], 0), None);
}
