use proptest::prelude::*;

use super::*;
use crate::limits;

fn canonical(text: &str, dialect: Dialect) -> String {
    match parse(text, dialect) {
        Ok(notation) => notation.to_string(),
        Err(error) => format!("{}\n{}", error.caret(text), error.message),
    }
}

fn canonical_auto(text: &str) -> String {
    canonical(text, Dialect::Auto)
}

#[test]
fn what_people_type_has_one_canonical_form() {
    for (typed, printed) in [
        ("d20", "1d20"),
        ("D%", "1d100"),
        ("4dF", "4dF"),
        ("4d6k3", "4d6kh3"),
        ("4d6kh3 + 2", "4d6kh3+2"),
        ("4d6d1", "4d6dl1"),
        ("20d20d", "20d20dl1"),
        ("adv+5", "2d20kh1+5"),
        ("dis - 1", "2d20kl1-1"),
        ("3d6!", "3d6x"),
        ("3d6x", "3d6x"),
        ("1d6x3<5", "1d6x<=4cap3"),
        ("3d6x=6cap2", "3d6x=6cap2"),
        ("3d6xo", "3d6x=6cap1"),
        ("3d6!!", "3d6!!"),
        ("3d6!p", "3d6!p"),
        ("1d10x>8kh1", "1d10x>=9kh1"),
        ("4d6kh3x", "4d6xkh3"),
        ("2d6r1", "2d6ro=1"),
        ("2d6rr<3", "2d6rr<=2"),
        ("2d6min2", "2d6min2"),
        ("5d10cs>=8df=1", "5d10cs>=8df=1"),
        ("5d10cs>=8f1", "5d10cs>=8df=1"),
        ("5d10cs=8", "5d10cs==8"),
        ("1d20adv+5", "2d20kh1+5"),
        ("d20dis", "2d20kl1"),
        ("(1d6,1d8)kh1", "{1d6,1d8}kh1"),
        ("2d6[fire] + 1d8[cold]", "2d6[fire]+1d8[cold]"),
        ("(2d6+3)*2", "(2d6+3)*2"),
        ("2d6+3*2", "2d6+3*2"),
        ("2-(3-1)", "2-(3-1)"),
        ("-2d6", "-2d6"),
        ("{4d6,3d8}kh1", "{4d6,3d8}kh1"),
        ("6x(4d6kh3)", "6x(4d6kh3)"),
        ("2d20kh1+5 >= 15", "2d20kh1+5 >= 15"),
        ("2d6+3 vs 1d20", "2d6+3 vs 1d20"),
        ("duality(+2, dc 15, adv)", "duality(+2, dc 15, adv)"),
        ("duality", "duality(+0)"),
        ("dd+2", "duality(+2)"),
        ("1d20+5 # to hit", "1d20+5 # to hit"),
        ("4d6s", "4d6"),
    ] {
        assert_eq!(canonical_auto(typed), printed, "{typed}");
        assert_eq!(canonical_auto(printed), printed, "{typed}: the canonical form is its own");
    }
}

#[test]
fn roll20_counts_where_foundry_compares() {
    assert_eq!(canonical("5d10>7", Dialect::Roll20), "5d10cs>=7");
    assert_eq!(canonical("5d10>7", Dialect::Foundry), "5d10 > 7");
    assert_eq!(canonical("5d10>7", Dialect::Avrae), "5d10 > 7");
    assert_eq!(canonical("5d10>7f1", Dialect::Auto), "5d10cs>=7df=1");
    assert_eq!(canonical("5d10>=30", Dialect::Roll20), "5d10 >= 30");
}

#[test]
fn over_includes_the_number_in_roll20_only() {
    assert_eq!(canonical("3d6!>4", Dialect::Roll20), "3d6x>=4");
    assert_eq!(canonical("3d6!>4", Dialect::Foundry), "3d6x>=5");
    assert_eq!(canonical("3d6!>4", Dialect::Avrae), "3d6x>=5");
    assert_eq!(canonical("4d6rr<2", Dialect::Roll20), "4d6rr<=2");
    assert_eq!(canonical("4d6rr<2", Dialect::Foundry), "4d6rr<=1");
}

#[test]
fn a_plain_reroll_is_once_in_foundry_and_until_none_is_left_in_roll20() {
    assert_eq!(canonical("4d6r1", Dialect::Foundry), "4d6ro=1");
    assert_eq!(canonical("4d6r1", Dialect::Roll20), "4d6rr=1");
    assert!(canonical("4d6r1", Dialect::Avrae).contains("rr"));
    assert_eq!(canonical("4d6ro<3", Dialect::Avrae), "4d6ro<=2");
}

#[test]
fn avrae_names_the_end_that_is_meant() {
    assert_eq!(canonical("4d6pl1", Dialect::Auto), "4d6dl1");
    assert_eq!(canonical("4d6ph1", Dialect::Avrae), "4d6dh1");
    assert!(parse("4d6k3", Dialect::Avrae).unwrap_err().hint.contains("kh"));
    assert_eq!(canonical("1d20mi2", Dialect::Auto), "1d20min2");
    assert_eq!(canonical("4d6e6", Dialect::Avrae), "4d6x");
}

#[test]
fn what_would_be_misread_is_refused() {
    for (typed, dialect, said) in [
        ("4d6ra6", Dialect::Auto, "ra adds one die to the whole pool"),
        ("4d6ra6", Dialect::Avrae, "ra adds one die to the whole pool"),
        ("4d6r1<3", Dialect::Foundry, "a number before a comparison"),
        ("4d6rr2<3", Dialect::Foundry, "a number before a comparison"),
        ("3d6x2=6", Dialect::Foundry, "caps the whole pool"),
        ("1d20cs>18", Dialect::Roll20, "in Roll20 cs marks criticals"),
        ("1d20cs20", Dialect::Roll20, "in Roll20 cs marks criticals"),
        ("{1d6,1d8}>4", Dialect::Roll20, "Roll20 counts the items"),
        ("4d6k3", Dialect::Avrae, "in Avrae k3 is about the dice that show 3"),
        ("4d6k>3", Dialect::Foundry, "not by what they show"),
        ("4d6d<3", Dialect::Foundry, "not by what they show"),
        ("5d10f1", Dialect::Auto, "failures are taken from successes"),
        ("5d10df=1", Dialect::Auto, "failures are taken from successes"),
        ("5d10cf=1", Dialect::Auto, "cf is not supported"),
    ] {
        let error = parse(typed, dialect).unwrap_err();
        assert!(error.message.contains(said), "{typed}: {}", error.message);
        assert!(error.column >= 3, "{typed}: {}", error.column);
    }
    assert_eq!(canonical("4d6r1 < 3", Dialect::Foundry), "4d6ro=1 < 3");
    assert_eq!(canonical("{1d6,1d8}>=4", Dialect::Roll20), "{1d6,1d8} >= 4");
    assert_eq!(canonical("1d6>4+1d8>4", Dialect::Roll20), "1d6cs>=4+1d8cs>=4");
}

#[test]
fn a_long_text_is_shown_around_the_place() {
    let text = format!("{}?{}", "1+".repeat(50), "+1".repeat(50));
    let error = parse(&text, Dialect::Auto).unwrap_err();
    let shown = error.caret(&text);
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines[0].chars().count(), 82, "{shown}");
    assert_eq!(lines[0].chars().nth(lines[1].chars().count() - 1), Some('?'), "{shown}");
}

#[test]
fn an_error_points_at_the_character() {
    for (typed, shown) in [
        ("4d6kh3 +", "4d6kh3 +\n        ^\nexpected a number or dice, found the end"),
        ("4d6kh3 ? 2", "4d6kh3 ? 2\n       ^\nexpected the end, found '?'"),
        ("4dx", "4dx\n  ^\nexpected sides: a number, % or F, found 'x'"),
        ("(2d6", "(2d6\n    ^\nexpected a closing parenthesis, found the end"),
        ("1001d6", "1001d6\n^\na pool has 1 to 1000 dice, not 1001"),
        ("0d6", "0d6\n^\na pool has 1 to 1000 dice, not 0"),
        ("1d0", "1d0\n  ^\na die has 1 to 1000000 sides"),
        ("2d6rr<=6", "2d6rr<=6\n        ^\nevery face is rolled again, so this never ends"),
        ("2d6kh1kh2", "2d6kh1kh2\n      ^\nthis is given twice"),
        ("", "\n^\nexpected a number or dice, found the end"),
        ("2d6[", "2d6[\n   ^\nthis label has no end"),
    ] {
        assert_eq!(canonical_auto(typed), shown);
    }
}

#[test]
fn long_and_deep_texts_are_refused() {
    assert!(parse(&"1+".repeat(300), Dialect::Auto).is_err());
    assert!(parse(&format!("{}1{}", "(".repeat(100), ")".repeat(100)), Dialect::Auto).is_err());
    assert!(parse(&"-".repeat(400), Dialect::Auto).is_err());
    assert!(parse(&"1+".repeat(200).replace("1+1+1+", "1+"), Dialect::Auto).is_err());
    assert!(parse("99999999999999999999d6", Dialect::Auto).is_err());
}

pub(in crate::dice) fn any_condition() -> impl Strategy<Value = Condition> {
    let comparisons = prop_oneof![Just(Comparison::Equal), Just(Comparison::AtLeast), Just(Comparison::AtMost)];
    (comparisons, 1..8_i64).prop_map(|(comparison, value)| Condition { comparison, value })
}

fn any_keep() -> impl Strategy<Value = Keep> {
    let kinds = prop_oneof![
        Just(KeepKind::KeepHighest),
        Just(KeepKind::KeepLowest),
        Just(KeepKind::DropHighest),
        Just(KeepKind::DropLowest)
    ];
    (kinds, 0..4_u32).prop_map(|(kind, count)| Keep { kind, count })
}

/// Pools small enough to enumerate: few dice, few sides, few explosions.
pub(in crate::dice) fn any_pool() -> impl Strategy<Value = Pool> {
    let dice = prop_oneof![4 => (1..6_u32).prop_map(Die::Sides), 1 => Just(Die::Fate)];
    let kinds = prop_oneof![Just(ExplodeKind::Separate), Just(ExplodeKind::Compound), Just(ExplodeKind::Penetrate)];
    let explode = (kinds, any_condition(), 1..3_u32).prop_map(|(kind, when, cap)| Explode { kind, when, cap });
    let count = (any_condition(), prop::option::of(any_condition()))
        .prop_map(|(success, failure)| CountSuccesses { success, failure });
    (
        (1..4_u32, dice),
        prop::option::weighted(0.2, any_condition()),
        prop::option::weighted(0.2, -1..4_i64),
        prop::option::weighted(0.2, 4..6_i64),
        prop::option::weighted(0.4, explode),
        prop::option::weighted(0.5, any_keep()),
        prop::option::weighted(0.3, count),
    )
        .prop_map(|((count, die), reroll, minimum, maximum, explode, keep, count_successes)| Pool {
            count,
            die,
            reroll: reroll.map(|when| Reroll { once: true, when }),
            minimum,
            maximum,
            explode,
            keep,
            count_successes,
        })
}

pub(in crate::dice) fn any_expression() -> impl Strategy<Value = Expression> {
    let leaf = prop_oneof![
        3 => any_pool().prop_map(Expression::Pool),
        1 => (-9..10_i64).prop_map(Expression::Number),
    ];
    leaf.prop_recursive(2, 4, 3, |inner| {
        let operators = prop_oneof![
            3 => Just(Operator::Add),
            2 => Just(Operator::Subtract),
            1 => Just(Operator::Multiply),
            1 => Just(Operator::Divide)
        ];
        prop_oneof![
            4 => (operators, inner.clone(), inner.clone()).prop_map(|(operator, left, right)| Expression::Binary {
                operator, left: Box::new(left), right: Box::new(right)
            }),
            1 => (inner.clone(), "[a-z]{1,6}").prop_map(|(inner, label)| Expression::Labelled { inner: Box::new(inner), label }),
            1 => inner.clone().prop_filter_map("a negative number is a number", |inner| match inner {
                Expression::Number(_) => None,
                inner => Some(Expression::Negative(Box::new(inner))),
            }),
            2 => (prop::collection::vec(inner, 1..3), prop::option::of(any_keep()))
                .prop_map(|(items, keep)| Expression::Set(Set { items, keep })),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_printed_is_read_again(expression in any_expression(), dialect in prop::sample::select(vec![Dialect::Auto, Dialect::Foundry, Dialect::Roll20])) {
        let notation = Notation { roll: Roll::Total(expression), comment: None };
        let text = notation.to_string();
        prop_assert_eq!(parse(&text, dialect), Ok(notation), "{}", text);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[0-9dkhlrxo!pcsf<>=+*/(){},\\[\\]# a-z%-]{0,40}") {
        for dialect in [Dialect::Auto, Dialect::Foundry, Dialect::Roll20, Dialect::Avrae] {
            match parse(&text, dialect) {
                Ok(notation) => {
                    let again = parse(&notation.to_string(), Dialect::Auto);
                    prop_assert_eq!(again, Ok(notation), "{}", text);
                }
                Err(error) => prop_assert!(error.column <= text.chars().count() && !error.message.is_empty()),
            }
        }
    }

    #[test]
    fn any_text_at_all_is_read_or_refused(text in ".{0,600}") {
        let long = text.chars().count() > limits::EXPRESSION_CHARS_MAX;
        prop_assert!(!long || parse(&text, Dialect::Auto).is_err());
    }
}

/// Each limit of an expression: exactly at it, and one past it.
#[test]
fn an_expression_is_bounded_everywhere() {
    let brackets = |depth: usize| format!("{}1d6{}", "(".repeat(depth), ")".repeat(depth));
    let items = |count: usize| format!("{{{}}}", vec!["1d6"; count].join(","));
    let sides = limits::DIE_SIDES_MAX;
    let (explosions, repeats, number) = (limits::EXPLOSIONS_MAX, limits::REPEATS_MAX, limits::NUMBER_MAX);
    let deepest = (1..100).take_while(|depth| parse(&brackets(*depth), Dialect::Auto).is_ok()).last().unwrap();
    assert!(deepest <= limits::EXPRESSION_DEPTH_MAX && deepest + 2 >= limits::EXPRESSION_DEPTH_MAX, "{deepest}");
    for (fits, past, what) in [
        (format!("1d{sides}"), format!("1d{}", sides + 1), "a number is at most"),
        (format!("{}d6", limits::DICE_MAX), format!("{}d6", limits::DICE_MAX + 1), "a pool has 1 to"),
        (format!("1d6+{number}"), format!("1d6+{}", number + 1), "a number is at most"),
        (format!("1d6xcap{explosions}"), format!("1d6xcap{}", explosions + 1), "a die explodes 1 to"),
        (format!("{repeats}x(1d6)"), format!("{}x(1d6)", repeats + 1), "a roll is repeated 1 to"),
        (items(limits::SET_ITEMS_MAX), items(limits::SET_ITEMS_MAX + 1), "a set has at most"),
        (brackets(deepest), brackets(deepest + 1), "nested at most"),
    ] {
        assert!(parse(&fits, Dialect::Auto).is_ok(), "{fits}: {:?}", parse(&fits, Dialect::Auto).err());
        let error = parse(&past, Dialect::Auto).unwrap_err();
        assert!(error.message.contains(what), "{past}: {}", error.message);
    }
}
