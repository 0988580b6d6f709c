//! The grammar of mentions.

use skald_markup::{Mention, MentionKind, mentioned_ids, mentions, replace_mentions};

fn only(text: &str) -> Mention {
    let found = mentions(text);
    assert_eq!(found.len(), 1, "{text}: {found:?}");
    found.into_iter().next().expect("one")
}

#[test]
fn every_form_is_read() {
    let plain = only("a [entity:12] b");
    assert_eq!((plain.range, plain.kind, plain.id, plain.label), (2..13, MentionKind::Entity, Some(12), None));
    assert_eq!(only("[entity:12|the duke]").label.as_deref(), Some("the duke"));
    let typed = only("[dice_roll-x:12|Ann|anchor:#x|page:map]");
    assert_eq!((typed.word.as_str(), typed.label.as_deref()), ("dice_roll-x", Some("Ann")));
    let options: Vec<_> = typed.options.iter().map(|option| (option.name.as_str(), option.value.as_str())).collect();
    assert_eq!(options, [("anchor", "#x"), ("page", "map")]);
    for option in ["page:a", "field:entry", "transclude:x", "anchor:#a", "params:a=b", "tooltip:t", "alias:3"] {
        let mention = only(&format!("[entity:1|{option}]"));
        assert_eq!((mention.options.len(), mention.label), (1, None), "{option}");
    }
    assert_eq!(only("[post:7]").kind, MentionKind::Post);
    let icon = only("[icon:fa-solid fa-x]");
    assert_eq!((icon.kind, icon.word.as_str(), icon.id), (MentionKind::Icon, "fa-solid fa-x", None));
    assert_eq!(only("{attribute:5}").kind, MentionKind::Attribute);
    let new = only("[new:character|Bob: the Bold]");
    assert_eq!(
        (new.kind, new.word.as_str(), new.label.as_deref()),
        (MentionKind::New, "character", Some("Bob: the Bold"))
    );
}

#[test]
fn what_only_looks_like_one_is_none() {
    let texts = [
        "[entity:]",
        "[entity:x]",
        "[entity: 12]",
        "[:12]",
        "[12:12]",
        "[entity:12",
        "[entity:12|a\nb]",
        r"\[entity:12]",
        "[entity:99999999999999999999]",
        "[entity:-1]",
        "{attribute:}",
        "{attribute:5",
        "{entity:5}",
        "[new:character]",
        "[new:|x]",
        "[icon:]",
        "[entity:+5]",
        "[x]",
        "",
    ];
    for text in texts {
        assert_eq!(mentions(text), [], "{text}");
    }
    assert_eq!(mentions(r"\\[entity:12]").len(), 1);
}

#[test]
fn mentions_in_tables_headings_and_code() {
    let text = "# [entity:1]\n\n| [entity:2|a] |\n| --- |\n| `[entity:3|b]` |\n\n`[entity:4]`\n\n```\n[entity:5]\n```\n\n    [entity:6]\n\n<b>[entity:7]</b>";
    let in_code: Vec<_> = mentions(text).into_iter().map(|mention| (mention.id.unwrap(), mention.in_code)).collect();
    assert_eq!(in_code, [(1, false), (2, false), (3, true), (4, true), (5, true), (6, true), (7, false)]);
    assert_eq!(mentioned_ids(text), [1, 2, 7]);
}

#[test]
fn ids_are_sorted_and_unique_and_of_entities_only() {
    assert_eq!(
        mentioned_ids("[item:9] [entity:2] [character:9|x] [post:1] {attribute:3} [new:item|x] [icon:x]"),
        [2, 9]
    );
}

#[test]
fn ranges_are_bytes_of_the_text() {
    let text = "ä [entity:1|ö] 日 {attribute:2}";
    let parts: Vec<_> = mentions(text).into_iter().map(|mention| &text[mention.range]).collect();
    assert_eq!(parts, ["[entity:1|ö]", "{attribute:2}"]);
}

#[test]
fn mentions_are_replaced() {
    let text = "[entity:1] [entity:2|b] `[entity:1]`";
    let replaced = replace_mentions(text, |mention| match (mention.id, mention.in_code) {
        (Some(1), false) => Some("*gone*".to_owned()),
        (Some(2), _) => {
            let mut moved = mention.clone();
            moved.id = Some(20);
            Some(moved.to_markdown())
        }
        _ => None,
    });
    assert_eq!(replaced, "*gone* [entity:20|b] `[entity:1]`");
}

#[test]
fn a_mention_is_written_as_it_was_read() {
    for text in
        ["[entity:1]", "[character:1|Ann|anchor:#x]", "{attribute:5}", "[icon:fa fa-x]", "[new:item|Cup]", "[post:3|a]"]
    {
        assert_eq!(only(text).to_markdown(), text);
    }
    let mut mention = only("[entity:1]");
    mention.label = Some("a]b|c".to_owned());
    assert_eq!(mention.to_markdown(), "[entity:1|a)b/c]");
}
