use proptest::prelude::*;
use serde_json::json;

use super::notation::{Duality, Edge};
use super::*;
use crate::limits;

const ENTROPY: [u8; 32] = [7; 32];

fn replay_request(seed: Seed) -> RandomRequest {
    RandomRequest { seed: Some(seed), roll_mode: RollMode::Replay }
}

fn roll_faces(seed: Seed, sides: u32, count: usize) -> Vec<u32> {
    let mut randomness = Randomness::new(replay_request(seed), ENTROPY).unwrap();
    (0..count).map(|_| randomness.roll_die(sides)).collect()
}

#[test]
fn every_edge_of_a_judgement() {
    let judged = |hope, fear, modifier, difficulty| {
        let judgement = judge(hope, fear, modifier, difficulty).unwrap();
        (judgement.total, judgement.is_crit, judgement.meets_difficulty, judgement.outcome)
    };
    assert_eq!(judged(8, 5, 2, Some(15)), (15, false, true, Outcome::SuccessWithHope));
    assert_eq!(judged(5, 8, 2, Some(15)), (15, false, true, Outcome::SuccessWithFear));
    assert_eq!(judged(8, 5, 2, Some(16)), (15, false, false, Outcome::FailureWithHope));
    assert_eq!(judged(5, 8, 2, Some(16)), (15, false, false, Outcome::FailureWithFear));
    assert_eq!(judged(8, 5, 2, None), (15, false, false, Outcome::RollWithHope));
    assert_eq!(judged(5, 8, 2, None), (15, false, false, Outcome::RollWithFear));
    // A crit overrides the difficulty; without a difficulty `meets_difficulty` is false.
    assert_eq!(judged(1, 1, -5, Some(30)), (-3, true, true, Outcome::CriticalSuccess));
    assert_eq!(judged(1, 1, 0, None), (2, true, false, Outcome::CriticalSuccess));
    // Difficulty 0 is a difficulty: a total below it fails.
    assert_eq!(judged(2, 1, -4, Some(0)), (-1, false, false, Outcome::FailureWithHope));
    assert_eq!(judged(2, 1, 0, Some(0)), (3, false, true, Outcome::SuccessWithHope));
    assert_eq!(judged(12, 11, i32::MAX, Some(i32::MAX)).0, 23 + i64::from(i32::MAX));
    assert_eq!(judged(1, 2, i32::MIN, Some(0)).0, 3 + i64::from(i32::MIN));
}

#[test]
fn dice_out_of_range_and_negative_difficulties_are_refused() {
    for (hope, fear, die, value) in [(0, 5, "hope", 0), (13, 5, "hope", 13), (5, -1, "fear", -1), (5, 13, "fear", 13)] {
        assert_eq!(judge(hope, fear, 0, None), Err(DiceRefusal::DualityDieOutOfRange { die, value }));
    }
    let refusal = DiceRefusal::DifficultyNegative { value: -1 };
    assert_eq!(judge(5, 6, 0, Some(-1)), Err(refusal.clone()));
    assert_eq!(probability(0, -1), Err(refusal.clone()));
    assert_eq!(
        roll_duality(Duality { difficulty: Some(-1), ..Duality::default() }, RandomRequest::default(), ENTROPY),
        Err(refusal)
    );
}

#[test]
fn the_rules_version_is_the_documented_one() {
    assert_eq!(
        serde_json::to_value(rules_version()).unwrap(),
        json!({
            "system": "Daggerheart",
            "module": "Duality",
            "rules_version": "1.0.0",
            "dice_model": "DUALITY_D12_V1",
            "total_formula": "hope + fear + modifier",
            "crit_rule": "HOPE_EQUALS_FEAR_IS_CRITICAL",
            "difficulty_rule": "TOTAL_MEETS_OR_EXCEEDS_DIFFICULTY",
            "outcomes": [
                "ROLL_WITH_HOPE", "ROLL_WITH_FEAR", "SUCCESS_WITH_HOPE", "SUCCESS_WITH_FEAR",
                "FAILURE_WITH_HOPE", "FAILURE_WITH_FEAR", "CRITICAL_SUCCESS"
            ]
        })
    );
}

#[test]
fn an_explanation_has_five_steps_with_their_numbers() {
    assert_eq!(
        serde_json::to_value(explain(8, 5, 2, Some(15)).unwrap()).unwrap(),
        json!({
            "hope": 8, "fear": 5, "modifier": 2, "difficulty": 15, "total": 15,
            "is_crit": false, "meets_difficulty": true, "outcome": "SUCCESS_WITH_HOPE", "rules_version": "1.0.0",
            "intermediates": {
                "base_total": 13, "total": 15, "is_crit": false, "meets_difficulty": true,
                "hope_gt_fear": true, "fear_gt_hope": false
            },
            "steps": [
                {"code": "SUM_DICE", "message": "Sum hope and fear dice",
                 "data": {"hope": 8, "fear": 5, "base_total": 13}},
                {"code": "APPLY_MODIFIER", "message": "Apply modifier to base total",
                 "data": {"base_total": 13, "modifier": 2, "total": 15}},
                {"code": "CHECK_CRIT", "message": "Check for critical outcome",
                 "data": {"hope": 8, "fear": 5, "is_crit": false}},
                {"code": "CHECK_DIFFICULTY", "message": "Compare total against difficulty",
                 "data": {"total": 15, "difficulty": 15, "meets_difficulty": true, "critical_override": false}},
                {"code": "SELECT_OUTCOME", "message": "Select final outcome based on roll",
                 "data": {"outcome": "SUCCESS", "outcome_code": 3, "outcome_label": "Success with hope"}}
            ]
        })
    );
}

#[test]
fn an_explanation_without_a_difficulty_leaves_it_out() {
    let explanation = serde_json::to_value(explain(4, 4, 0, None).unwrap()).unwrap();
    assert_eq!(explanation.get("difficulty"), None);
    assert_eq!(
        explanation["steps"][3]["data"],
        json!({"total": 8, "meets_difficulty": false, "critical_override": false})
    );
    assert_eq!(
        explanation["steps"][4]["data"],
        json!({"outcome": "CRITICAL_SUCCESS", "outcome_code": 7, "outcome_label": "Critical success"})
    );
    let with_fear = serde_json::to_value(explain(3, 4, 0, None).unwrap()).unwrap();
    assert_eq!(with_fear["steps"][4]["data"]["outcome"], "ROLL");
    let crit_below = serde_json::to_value(explain(2, 2, 0, Some(20)).unwrap()).unwrap();
    assert_eq!(crit_below["steps"][3]["data"]["critical_override"], true);
}

#[test]
fn odds_are_counted_not_guessed() {
    let counted = |modifier, difficulty| {
        let odds = probability(modifier, difficulty).unwrap();
        assert_eq!(odds.total_outcomes, 144);
        assert_eq!(odds.success_count + odds.failure_count, 144);
        assert_eq!(odds.crit_count, 12);
        assert_eq!(
            odds.outcome_counts.iter().map(|row| row.outcome.as_str()).collect::<Vec<_>>(),
            ["CRITICAL_SUCCESS", "SUCCESS_WITH_HOPE", "SUCCESS_WITH_FEAR", "FAILURE_WITH_HOPE", "FAILURE_WITH_FEAR"]
        );
        let counts: Vec<u32> = odds.outcome_counts.iter().map(|row| row.count).collect();
        (counts, odds.success_count, odds.failure_count)
    };
    assert_eq!(counted(2, 15), (vec![12, 36, 36, 30, 30], 84, 60));
    assert_eq!(counted(0, 10), (vec![12, 50, 50, 16, 16], 112, 32));
    assert_eq!(counted(0, 12), (vec![12, 41, 41, 25, 25], 94, 50));
    assert_eq!(counted(0, 15), (vec![12, 25, 25, 41, 41], 62, 82));
    assert_eq!(counted(0, 20), (vec![12, 6, 6, 60, 60], 24, 120));
    assert_eq!(counted(0, 25), (vec![12, 0, 0, 66, 66], 12, 132));
    assert_eq!(counted(0, 0), (vec![12, 66, 66, 0, 0], 144, 0));
    assert_eq!(counted(-2, 15), (vec![12, 16, 16, 50, 50], 44, 100));
    assert_eq!(counted(5, 15).1, 112);
}

#[test]
fn published_test_vectors() {
    // docs/dice.md prints these, for other implementations of the algorithm.
    assert_eq!(Seed::from_integer(42).to_string(), "1711d0d7e92187a157f0273bdc18ba9e377856a4e3a5d32fe9159d045966d4a8");
    assert_eq!(roll_faces(Seed::from_bytes([0; 32]), 20, 10), [1, 1, 20, 1, 9, 12, 18, 11, 4, 19]);
    assert_eq!(roll_faces(Seed::from_integer(42), 6, 10), [6, 3, 6, 2, 2, 2, 5, 3, 6, 1]);
    assert_eq!(roll_faces(Seed::from_integer(42), 12, 4), [3, 8, 6, 7]);
    assert_eq!(roll_faces(Seed::from_integer(-1), 1_000_000, 3), [163_211, 724_540, 118_486]);
}

#[test]
fn the_key_stream_is_rfc_8439s() {
    // ChaCha20 with a zero key, nonce and counter: the first words of the key stream in RFC 8439, appendix A.1, vector 1.
    // A die of 2^16 sides keeps the lowest 16 bits of each word and rejects nothing.
    assert_eq!(
        roll_faces(Seed::from_bytes([0; 32]), 1 << 16, 4),
        [0xade0_b876_u32, 0x903d_f1a0, 0xe56a_5d40, 0x28bd_8653].map(|word| (word & 0xffff) + 1)
    );
}

#[test]
fn a_seed_is_an_integer_or_64_hex_digits() {
    let request = |value| serde_json::from_value::<RandomRequest>(value);
    let hex = "00ff".repeat(16);
    let parsed = request(json!({"seed": hex, "roll_mode": "replay"})).unwrap();
    assert_eq!(parsed.seed.unwrap().to_string(), hex);
    assert_eq!(parsed.roll_mode, RollMode::Replay);
    assert_eq!(request(json!({"seed": hex.to_uppercase()})).unwrap().seed, parsed.seed);
    assert_eq!(request(json!({"seed": 42})).unwrap().seed, Some(Seed::from_integer(42)));
    assert_eq!(request(json!({"seed": u64::MAX})).unwrap().seed, Some(Seed::from_integer(u64::MAX.into())));
    for bad in [json!("42"), json!(1.5), json!(true), json!("zz".repeat(32)), json!("é".repeat(32))] {
        assert!(request(json!({ "seed": bad })).is_err(), "{bad} passed as a seed");
    }
}

#[test]
fn a_clients_seed_counts_in_a_replay_only() {
    let seed = Seed::from_integer(42);
    let (live, report) =
        roll_duality(Duality::default(), RandomRequest { seed: Some(seed), ..RandomRequest::default() }, ENTROPY)
            .unwrap();
    assert_eq!((report.seed_used, report.seed_source), (Seed::from_bytes(ENTROPY), SeedSource::Server));
    let (replayed, report) = roll_duality(Duality::default(), replay_request(seed), ENTROPY).unwrap();
    assert_eq!((report.seed_used, report.seed_source), (seed, SeedSource::Client));
    assert_ne!((live.hope, live.fear), (replayed.hope, replayed.fear));
    let (again, _) = roll_duality(Duality::default(), replay_request(seed), [9; 32]).unwrap();
    assert_eq!(again, replayed);
    let missing = RandomRequest { seed: None, roll_mode: RollMode::Replay };
    assert_eq!(roll_duality(Duality::default(), missing, ENTROPY), Err(DiceRefusal::SeedMissing));
}

#[test]
fn pools_keep_their_order_and_their_sums() {
    let dice = [DiceSpec { sides: 20, count: 2 }, DiceSpec { sides: 6, count: 1 }, DiceSpec { sides: 1, count: 3 }];
    let rolled = roll_pools(&dice, replay_request(Seed::from_integer(42)), ENTROPY).unwrap();
    assert_eq!(
        rolled.rolls.iter().map(|roll| (roll.sides, roll.results.len())).collect::<Vec<_>>(),
        [(20, 2), (6, 1), (1, 3)]
    );
    assert_eq!(rolled.rolls[2].results, [1, 1, 1]);
    assert_eq!(rolled.total, rolled.rolls.iter().map(|roll| roll.total).sum::<u64>());
    assert!(rolled.rolls.iter().all(|roll| roll.total == roll.results.iter().copied().map(u64::from).sum::<u64>()));
}

#[test]
fn pools_past_their_limits_are_refused() {
    let refused = |dice: &[(i64, i64)]| {
        let dice: Vec<DiceSpec> = dice.iter().map(|&(count, sides)| DiceSpec { sides, count }).collect();
        roll_pools(&dice, RandomRequest::default(), ENTROPY).map(|rolled| rolled.total)
    };
    assert_eq!(refused(&[]), Err(DiceRefusal::DiceMissing));
    assert_eq!(refused(&[(1, 6), (0, 6)]), Err(DiceRefusal::DiceNotPositive { index: 1, sides: 6, count: 0 }));
    assert_eq!(refused(&[(1, -6)]), Err(DiceRefusal::DiceNotPositive { index: 0, sides: -6, count: 1 }));
    let (sides, dice) = (i64::from(limits::DIE_SIDES_MAX), i64::from(limits::DICE_MAX));
    assert_eq!(refused(&[(1, sides + 1)]), Err(DiceRefusal::SidesTooMany { index: 0, sides: sides + 1 }));
    assert_eq!(refused(&[(600, 6), (dice - 599, 6)]), Err(DiceRefusal::DiceTooMany { given: dice + 1 }));
    assert_eq!(refused(&[(i64::MAX, 6), (i64::MAX, 6)]), Err(DiceRefusal::DiceTooMany { given: i64::MAX }));
    let most = limits::DICE_SPECS_MAX;
    assert_eq!(refused(&vec![(1, 6); most + 1]), Err(DiceRefusal::SpecsTooMany { given: most + 1 }));
    assert!(refused(&[(dice, sides)]).is_ok());
    assert!(refused(&vec![(10, 6); most]).is_ok());
}

/// The value that chi-square exceeds once in a million runs of fair dice (Wilson and Hilferty's approximation).
pub(super) fn chi_square_limit(degrees: f64) -> f64 {
    let z = 4.753;
    let spread = 2.0 / (9.0 * degrees);
    degrees * (1.0 - spread + z * spread.sqrt()).powi(3)
}

#[test]
fn a_million_seeded_dice_are_fair() {
    for sides in [2_u32, 6, 10, 12, 20, 100] {
        let mut randomness = Randomness::new(replay_request(Seed::from_integer(i128::from(sides))), ENTROPY).unwrap();
        let mut counts = vec![0_u32; sides as usize];
        for _ in 0..1_000_000 {
            counts[randomness.roll_die(sides) as usize - 1] += 1;
        }
        let expected = 1_000_000.0 / f64::from(sides);
        let chi_square: f64 = counts.iter().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum();
        let limit = chi_square_limit(f64::from(sides - 1));
        assert!(chi_square < limit, "d{sides}: chi-square {chi_square} over {limit}");
    }
}

#[test]
fn neighbouring_dice_are_independent() {
    let mut randomness = Randomness::new(replay_request(Seed::from_integer(144)), ENTROPY).unwrap();
    let mut counts = [0_u32; 144];
    for _ in 0..1_000_000 {
        let (hope, fear) = (randomness.roll_die(12), randomness.roll_die(12));
        counts[((hope - 1) * 12 + fear - 1) as usize] += 1;
    }
    let expected = 1_000_000.0 / 144.0;
    let chi_square: f64 = counts.iter().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum();
    assert!(chi_square < chi_square_limit(143.0), "chi-square {chi_square}");
}

proptest! {
    #[test]
    fn a_judgement_agrees_with_its_explanation_and_with_the_odds(
        hope in 1..=12_i32, fear in 1..=12_i32, modifier in any::<i32>(), difficulty in proptest::option::of(0..i32::MAX)
    ) {
        let judgement = judge(hope, fear, modifier, difficulty).unwrap();
        prop_assert_eq!(explain(hope, fear, modifier, difficulty).unwrap().judgement, judgement);
        prop_assert_eq!(judgement.total, i64::from(hope) + i64::from(fear) + i64::from(modifier));
        if let Some(difficulty) = difficulty {
            let counts = probability(modifier, difficulty).unwrap().outcome_counts;
            let row = counts.iter().find(|row| row.outcome == judgement.outcome);
            prop_assert!(row.is_some_and(|row| row.count > 0));
        }
    }

    #[test]
    fn a_die_shows_one_of_its_faces(seed in any::<i64>(), sides in 1..=limits::DIE_SIDES_MAX) {
        prop_assert!(roll_faces(Seed::from_integer(seed.into()), sides, 50).iter().all(|face| (1..=sides).contains(face)));
    }

    #[test]
    fn the_same_seed_rolls_the_same_pools(bytes in any::<[u8; 32]>(), sides in 1..1_000_i64, count in 1..50_i64) {
        let dice = [DiceSpec { sides, count }];
        let first = roll_pools(&dice, RandomRequest::default(), bytes).unwrap();
        let again = roll_pools(&dice, replay_request(first.report.seed_used), ENTROPY).unwrap();
        prop_assert_eq!(first.rolls, again.rolls);
    }
}

fn roll_text(text: &str, draw: &mut dyn FnMut(u32) -> u32) -> Vec<RollResult> {
    roll_notation(&notation::parse(text, notation::Dialect::Auto).unwrap(), draw).unwrap()
}

#[test]
fn a_reroll_until_none_is_left_ends() {
    let mut randomness = Randomness::new(replay_request(Seed::from_integer(1)), ENTROPY).unwrap();
    let mut drawn = 0;
    let results = roll_text("1000d1000000rr<=999999", &mut |sides| {
        drawn += 1;
        randomness.roll_die(sides)
    });
    assert_eq!(results[0].total, 1_000_000_000);
    assert!(drawn <= 1_000 * (limits::REROLLS_MAX + 2), "{drawn} dice");
    assert_eq!(results[0].pools[0].dice.len(), drawn as usize);
}

#[test]
fn after_the_last_reroll_only_faces_that_may_stay_are_left() {
    // Every draw is 2 except the last, which draws from the allowed faces only.
    let last = |text: &str, wanted: u32| {
        let (mut sides_seen, mut drawn) = (Vec::new(), 0);
        let results = roll_text(text, &mut |sides| {
            sides_seen.push(sides);
            drawn += 1;
            if drawn == limits::REROLLS_MAX + 2 { wanted } else { 2 }
        });
        (results[0].total, sides_seen.last().copied().unwrap(), drawn)
    };
    let all = limits::REROLLS_MAX + 2;
    assert_eq!([1, 2, 5].map(|face| last("1d6rr=2", face)), [(1, 5, all), (3, 5, all), (6, 5, all)]);
    assert_eq!([1, 4].map(|face| last("1d6rr<=2", face)), [(3, 4, all), (6, 4, all)]);
    assert_eq!(last("1d6rr>=2", 1), (1, 1, all));
    assert_eq!([1, 2].map(|face| last("1dFrr=0", face)), [(-1, 2, all), (1, 2, all)]);
}

#[test]
fn a_table_has_room_for_so_many_dice() {
    let count = |text: &str| {
        let notation = notation::parse(text, notation::Dialect::Auto).unwrap();
        let results = roll_notation(&notation, &mut |sides| sides)?;
        Ok(results.iter().flat_map(|result| &result.pools).map(|pool| pool.dice.len()).sum::<usize>())
    };
    assert_eq!(count("1000d6x"), Ok(21_000));
    assert_eq!(count("100x(10d6x)"), Ok(21_000));
    assert_eq!(count("1000d6ro=6x"), Err(DiceRefusal::ExpressionTooManyThrown));
    assert_eq!(count("100x(10d6ro=6x)"), Err(DiceRefusal::ExpressionTooManyThrown));
}

#[test]
fn a_duality_roll_adds_up() {
    for (text, edge) in [("duality(+2, dc 15, adv)", Some(4)), ("duality(+2, dis)", Some(-4)), ("duality(-1)", None)] {
        let mut faces = [8, 5, 4].into_iter();
        let duality = roll_text(text, &mut |_| faces.next().unwrap())[0].duality.unwrap();
        assert_eq!(duality.edge, edge, "{text}");
        let sum = duality.hope + duality.fear + duality.modifier + edge.unwrap_or_default();
        assert_eq!(i64::from(sum), duality.total, "{text}");
    }
}

#[test]
fn dice_of_a_dropped_item_are_dropped() {
    let mut faces = [5, 1, 2, 4].into_iter();
    let results = roll_text("{1d6,{1d6,1d6}kh1,1d6}kh1", &mut |_| faces.next().unwrap());
    let kept: Vec<bool> = results[0].pools.iter().map(|pool| pool.dice[0].state.contains(&DieState::Kept)).collect();
    assert_eq!((results[0].total, kept), (5, vec![true, false, false, false]));
    let dropped = results[0].pools.iter().filter(|pool| pool.dice[0].state == [DieState::Dropped]).count();
    assert_eq!(dropped, 3);
}

/// Each of the thousand dice adds 25: four rerolled ones, twenty exploding sixes, and a two.
#[test]
fn a_roll_leaves_only_so_many_dice_on_the_table() {
    let notation = notation::parse("1000d6rr=1!", notation::Dialect::Auto).unwrap();
    let each = [vec![1; 4], vec![6; 20], vec![2]].concat();
    let with_more_ones = |more: usize| {
        let mut faces = std::iter::repeat_n(1, more).chain(each.iter().copied().cycle());
        roll_notation(&notation, &mut |_| faces.next().unwrap()).map(|results| results[0].pools[0].dice.len())
    };
    assert_eq!(with_more_ones(0), Ok(limits::DICE_THROWN_MAX as usize));
    assert_eq!(with_more_ones(1), Err(DiceRefusal::ExpressionTooManyThrown));
}

#[test]
fn an_edge_and_a_bonus_die_are_added_after_hope_and_fear() {
    let request = || replay_request(Seed::from_integer(7));
    let roll = |duality: Duality| roll_duality(duality, request(), ENTROPY).unwrap().0;
    let plain = roll(Duality { modifier: 2, difficulty: Some(15), ..Duality::default() });
    assert_eq!((plain.edge, plain.bonus), (None, None));
    for (edge, sign) in [(Edge::Advantage, 1), (Edge::Disadvantage, -1)] {
        let rolled = roll(Duality { edge, bonus_die: Some(8), modifier: 2, difficulty: Some(15) });
        let (edge, bonus) = (rolled.edge.unwrap(), rolled.bonus.unwrap());
        assert_eq!((rolled.hope, rolled.fear, rolled.modifier), (plain.hope, plain.fear, 2));
        assert!((1..=6).contains(&(edge * sign)) && (1..=8).contains(&bonus), "{rolled:?}");
        assert_eq!(rolled.total, plain.total + i64::from(edge) + i64::from(bonus));
        assert_eq!(rolled.meets_difficulty, rolled.is_crit || rolled.total >= 15);
    }
    assert_eq!(Edge::from_flags(true, true), Edge::None);
}

#[test]
fn a_bonus_die_is_small_and_there_is_one() {
    let most = limits::BONUS_DIE_SIDES_MAX;
    let read = |text: &str| notation::parse(text, notation::Dialect::Auto).map(|notation| notation.to_string());
    assert_eq!(read(&format!("duality(d{most})")).unwrap(), format!("duality(+0, +1d{most})"));
    assert_eq!(read("duality(+2, +1d8, dc 15, adv)").unwrap(), "duality(+2, dc 15, adv, +1d8)");
    for wrong in [format!("duality(+1d{})", most + 1), "duality(+2d6)".to_owned(), "duality(-1d6)".to_owned()] {
        assert!(read(&wrong).is_err(), "{wrong}");
    }
    assert!(read("duality(+1d6, +1d8)").unwrap_err().hint.contains("+1d8"));
}
