//! Finds ambiguous `ORDER BY` clauses in SQL. A bare name there is the output column of that name, if there is one, and
//! not the table's: `SELECT id::text … ORDER BY id` compares texts.

/// Keywords that end the list of outputs or the list of `ORDER BY`.
const LIST_ENDS: [&str; 13] = [
    "FROM",
    "WHERE",
    "GROUP",
    "HAVING",
    "WINDOW",
    "UNION",
    "EXCEPT",
    "INTERSECT",
    "ORDER",
    "LIMIT",
    "OFFSET",
    "FOR",
    "ON",
];

/// The names in `ORDER BY` that are also computed outputs.
pub(super) fn ambiguous_names(statement: &str) -> Vec<String> {
    let mut found = Vec::new();
    // One list of outputs for each open parenthesis: the last SELECT there.
    let mut outputs: Vec<Vec<String>> = vec![Vec::new()];
    let tokens = tokenize(statement);
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        match token.to_uppercase().as_str() {
            "(" => outputs.push(Vec::new()),
            ")" if outputs.len() > 1 => drop(outputs.pop()),
            "SELECT" => {
                let computed = list_items(&tokens[at..]).into_iter().filter_map(computed_output).collect();
                *outputs.last_mut().expect("one is always open") = computed;
            }
            "ORDER" if tokens.get(at).is_some_and(|next| next.eq_ignore_ascii_case("BY")) => {
                let ordered = list_items(&tokens[at + 1..]).into_iter().filter_map(bare_name);
                let computed = outputs.last().expect("one is always open");
                found.extend(ordered.filter(|name| computed.contains(name)));
            }
            _ => {}
        }
    }
    found
}

/// Words, numbers and texts; `::`; and every other character by itself. Comments are left out.
fn tokenize(statement: &str) -> Vec<String> {
    let lines = statement.lines().map(|line| line.split("--").next().unwrap_or_default());
    let text: Vec<char> = lines.collect::<Vec<_>>().join("\n").chars().collect();
    let is_word = |character: char| character.is_alphanumeric() || character == '_' || character == '$';
    let (mut tokens, mut at) = (Vec::new(), 0);
    while let Some(first) = text.get(at).copied() {
        let rest = &text[at..];
        let length = match first {
            '\'' | '"' => 2 + rest[1..].iter().take_while(|character| **character != first).count(),
            ':' if rest.get(1) == Some(&':') => 2,
            _ if is_word(first) => rest.iter().take_while(|character| is_word(**character)).count(),
            _ => 1,
        };
        let token: String = rest.iter().take(length).collect();
        if !first.is_whitespace() {
            tokens.push(token.trim_matches('"').to_owned());
        }
        at += length;
    }
    tokens
}

/// The items between commas, up to the end of the list.
fn list_items(tokens: &[String]) -> Vec<&[String]> {
    let (mut items, mut depth, mut begin, mut end) = (Vec::new(), 0_usize, 0, tokens.len());
    for (at, token) in tokens.iter().enumerate() {
        match token.to_uppercase().as_str() {
            "(" => depth += 1,
            ")" if depth > 0 => depth -= 1,
            "," if depth == 0 => {
                items.push(&tokens[begin..at]);
                begin = at + 1;
            }
            word if depth == 0 && (word == ")" || LIST_ENDS.contains(&word)) => {
                end = at;
                break;
            }
            _ => {}
        }
    }
    items.push(&tokens[begin..end]);
    items
}

fn is_name(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// The name of an output, unless it is a column under its own name.
fn computed_output(item: &[String]) -> Option<String> {
    let (expression, alias) = match item {
        [expression @ .., word, alias] if word.eq_ignore_ascii_case("AS") => (expression, Some(alias)),
        item => (item, None),
    };
    let column = match expression {
        [column] => Some(column),
        [_, dot, column] if dot == "." => Some(column),
        _ => None,
    };
    match (column, alias) {
        (Some(column), Some(alias)) => (alias != column).then(|| alias.clone()),
        (Some(_), None) => None,
        (None, Some(alias)) => Some(alias.clone()),
        (None, None) => implied_name(expression),
    }
}

/// The name that the database gives to an output without an alias: a cast is named after its operand, a call after its
/// function. Anything else has none.
fn implied_name(expression: &[String]) -> Option<String> {
    let inner = match expression {
        [cast, open, inner @ ..] if cast.eq_ignore_ascii_case("CAST") && open == "(" => inner,
        expression => expression,
    };
    let is_cast = inner.len() < expression.len();
    let mut rest = inner.iter().skip_while(|token| *token == "(").peekable();
    let mut name = None;
    while let Some(token) = rest.next_if(|token| is_name(token) && !token.eq_ignore_ascii_case("AS") || *token == ".") {
        name = Some(token);
    }
    let after = rest.find(|token| *token != ")")?;
    let is_named = after == "::" || after == "(" || (is_cast && after.eq_ignore_ascii_case("AS"));
    name.filter(|_| is_named).cloned()
}

/// The name in an `ORDER BY` item that is only a name, with or without a direction.
fn bare_name(item: &[String]) -> Option<String> {
    let (name, rest) = item.split_first()?;
    let is_bare = rest.iter().all(|word| ["ASC", "DESC", "NULLS", "FIRST", "LAST"].contains(&&*word.to_uppercase()));
    (is_name(name) && is_bare).then(|| name.clone())
}

#[test]
fn a_name_that_is_computed_is_found() {
    for (statement, found) in [
        ("SELECT id::text, place FROM t ORDER BY id, place LIMIT 1", &["id"][..]),
        ("SELECT id::text\nFROM t -- by number\norder by id desc nulls last, place", &["id"]),
        ("SELECT t.id::text FROM t ORDER BY id", &["id"]),
        ("SELECT (id)::text, CAST(t.place AS text) FROM t ORDER BY id, place", &["id", "place"]),
        ("SELECT lower(name) AS name, id FROM t ORDER BY id, name", &["name"]),
        ("SELECT max(a, b), id FROM t GROUP BY id ORDER BY max", &["max"]),
        ("SELECT a AS b, b AS a FROM t ORDER BY a, b", &["a", "b"]),
        ("WITH w AS (SELECT id::text FROM t ORDER BY id) SELECT id FROM w ORDER BY id", &["id"]),
        ("SELECT id::text FROM t WHERE n IN (SELECT n FROM u ORDER BY n) ORDER BY id", &["id"]),
        ("SELECT id::text FROM t UNION SELECT n FROM u ORDER BY id", &[]),
    ] {
        assert_eq!(ambiguous_names(statement), found, "{statement}");
    }
}

#[test]
fn a_name_that_is_clear_is_left_alone() {
    for statement in [
        "SELECT id::text, place FROM t ORDER BY t.id, place LIMIT $1",
        "SELECT id, place FROM t WHERE (id, place) > ($1, $2) ORDER BY id, place",
        "SELECT t.id, a AS a FROM t ORDER BY id, a",
        "SELECT id::text AS shown FROM t ORDER BY id",
        "SELECT id >= now(), id + 1, -place FROM t ORDER BY id DESC, place",
        "SELECT id::text FROM t ORDER BY lower(id), id + 1",
        "SELECT array_agg(n ORDER BY id), id::text FROM t",
        "INSERT INTO t (id) SELECT id FROM u ORDER BY place ON CONFLICT (id) DO UPDATE SET id = excluded.id",
        "SELECT ',' || id, 'ORDER BY id' FROM t",
    ] {
        assert_eq!(ambiguous_names(statement), [""; 0], "{statement}");
    }
}
