//! Well-known types of relationships and the words by which they are read from the other end.

/// A type and its inverse; a symmetric type is its own inverse.
const KNOWN_TYPES: &[(&str, &str)] = &[
    ("parent_of", "child_of"),
    ("sibling_of", "sibling_of"),
    ("married_to", "married_to"),
    ("ancestor_of", "descendant_of"),
    ("loves", "loved_by"),
    ("knows", "knows"),
    ("friend_of", "friend_of"),
    ("enemy_of", "enemy_of"),
    ("rival_of", "rival_of"),
    ("allied_with", "allied_with"),
    ("at_war_with", "at_war_with"),
    ("trades_with", "trades_with"),
    ("mentors", "mentored_by"),
    ("rules", "ruled_by"),
    ("employs", "employed_by"),
    ("manages", "reports_to"),
    ("has_member", "member_of"),
    ("leads", "led_by"),
    ("founded", "founded_by"),
    ("serves", "served_by"),
    ("worships", "worshipped_by"),
    ("protects", "protected_by"),
    ("hunts", "hunted_by"),
    ("fears", "feared_by"),
    ("owes", "owed_by"),
    ("located_at", "contains"),
    ("lives_in", "home_of"),
    ("born_in", "birthplace_of"),
    ("headquartered_at", "headquarters_of"),
    ("borders", "borders"),
    ("part_of", "has_part"),
    ("owns", "owned_by"),
    ("created", "created_by"),
    ("wields", "wielded_by"),
    ("seeks", "sought_by"),
    ("guards", "guarded_by"),
    ("conceals", "concealed_by"),
    ("records", "recorded_in"),
    ("caused", "caused_by"),
    ("participated_in", "involved"),
    ("witnessed", "witnessed_by"),
    ("murdered", "murdered_by"),
    ("cursed", "cursed_by"),
    ("betrayed", "betrayed_by"),
    ("blackmails", "blackmailed_by"),
    ("disguised_as", "impersonated_by"),
    ("plays", "played_by"),
];

/// Other words for a well-known type.
const ALIASES: &[(&str, &str)] = &[
    ("works_for", "employed_by"),
    ("spouse_of", "married_to"),
    ("ally_of", "allied_with"),
    ("located_in", "located_at"),
];

/// Words of all well-known types, from both ends.
pub fn known_relation_words() -> impl Iterator<Item = &'static str> {
    KNOWN_TYPES.iter().flat_map(|(word, inverse)| [Some(*word), (word != inverse).then_some(*inverse)]).flatten()
}

/// The word and the inverse of a well-known type, given either word or an alias.
pub(super) fn known_relation(word: &str) -> Option<(&'static str, &'static str)> {
    let word = ALIASES.iter().find(|(alias, _)| *alias == word).map_or(word, |(_, word)| word);
    KNOWN_TYPES.iter().find_map(|(one, other)| {
        if *one == word {
            return Some((*one, *other));
        }
        (*other == word).then_some((*other, *one))
    })
}

/// The form in which words of types are compared and stored: `Member of` is `member_of`. `None` if it has other
/// characters than letters, digits and what separates words.
pub fn relation_word(text: &str) -> Option<String> {
    let is_separator = |letter: char| letter == '_' || letter == '-' || letter.is_whitespace();
    if !text.chars().all(|letter| letter.is_alphanumeric() || is_separator(letter) || letter == '\'') {
        return None;
    }
    let words = text.split(is_separator).filter(|word| !word.is_empty());
    let word = words.map(str::to_lowercase).collect::<Vec<_>>().join("_");
    (!word.is_empty()).then_some(word)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_word_has_one_inverse_and_is_the_inverse_of_it() {
        let mut seen = BTreeSet::new();
        for (word, inverse) in KNOWN_TYPES {
            assert!(seen.insert(*word), "{word} is in the table twice");
            assert!(word == inverse || seen.insert(*inverse), "{inverse} is in the table twice");
            assert_eq!(known_relation(word), Some((*word, *inverse)));
            assert_eq!(known_relation(inverse), Some((*inverse, *word)));
            assert_eq!(relation_word(word).as_deref(), Some(*word));
        }
        for (alias, word) in ALIASES {
            assert!(!seen.contains(alias) && seen.contains(word), "{alias}");
            assert_eq!(known_relation(alias).map(|(word, _)| word), Some(*word));
        }
        assert_eq!(known_relation_words().collect::<BTreeSet<_>>(), seen);
        assert_eq!(known_relation("sings_to"), None);
    }

    #[test]
    fn words_are_compared_without_case_and_separators() {
        for text in ["Member of", " member-of ", "MEMBER_OF", "member  of"] {
            assert_eq!(relation_word(text).as_deref(), Some("member_of"), "{text}");
        }
        assert_eq!(relation_word("Schüler von").as_deref(), Some("schüler_von"));
        for text in ["", " _ ", "a/b", "<b>", "x\u{202e}y"] {
            assert_eq!(relation_word(text), None, "{text}");
        }
    }
}
