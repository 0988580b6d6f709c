//! A unified diff of two texts by lines, for people to read.

/// Lines of context around a change.
const CONTEXT_LINES: usize = 2;
/// Texts with more lines are compared only after their common beginning and end.
const COMPARED_LINES_MAX: usize = 2_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineChange {
    Same,
    Removed,
    Added,
}

/// The changed lines with some around them; `-` marks removed ones and `+` added ones.
pub(super) fn diff_lines(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let lines = changed_lines(&old, &new);
    let is_near = |index: usize| {
        let range = index.saturating_sub(CONTEXT_LINES)..(index + CONTEXT_LINES + 1).min(lines.len());
        lines[range].iter().any(|(change, _)| *change != LineChange::Same)
    };
    let (mut text, mut is_gap) = (String::new(), false);
    for (index, (change, line)) in lines.iter().enumerate() {
        if !is_near(index) {
            is_gap = true;
            continue;
        }
        if std::mem::take(&mut is_gap) {
            text.push_str("…\n");
        }
        text.push_str(match change {
            LineChange::Same => "  ",
            LineChange::Removed => "- ",
            LineChange::Added => "+ ",
        });
        text.push_str(line);
        text.push('\n');
    }
    text
}

fn changed_lines<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(LineChange, &'a str)> {
    let begin = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let end = old[begin..].iter().rev().zip(new[begin..].iter().rev()).take_while(|(old, new)| old == new).count();
    let (old_middle, new_middle) = (&old[begin..old.len() - end], &new[begin..new.len() - end]);
    let same = |lines: &[&'a str]| lines.iter().map(|line| (LineChange::Same, *line)).collect::<Vec<_>>();
    let mut lines = same(&old[..begin]);
    if old_middle.len() > COMPARED_LINES_MAX || new_middle.len() > COMPARED_LINES_MAX {
        lines.extend(old_middle.iter().map(|line| (LineChange::Removed, *line)));
        lines.extend(new_middle.iter().map(|line| (LineChange::Added, *line)));
    } else {
        lines.extend(middle_lines(old_middle, new_middle));
    }
    lines.extend(same(&old[old.len() - end..]));
    lines
}

/// The longest common subsequence of lines, and what is between.
fn middle_lines<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(LineChange, &'a str)> {
    let width = new.len() + 1;
    let mut lengths = vec![0_u32; (old.len() + 1) * width];
    for (row, old_line) in old.iter().enumerate().rev() {
        for (column, new_line) in new.iter().enumerate().rev() {
            lengths[row * width + column] = if old_line == new_line {
                lengths[(row + 1) * width + column + 1] + 1
            } else {
                lengths[(row + 1) * width + column].max(lengths[row * width + column + 1])
            };
        }
    }
    let (mut row, mut column, mut lines) = (0, 0, Vec::new());
    while row < old.len() || column < new.len() {
        let is_same = row < old.len() && column < new.len() && old[row] == new[column];
        let removes = column == new.len()
            || row < old.len() && lengths[(row + 1) * width + column] >= lengths[row * width + column + 1];
        if is_same {
            lines.push((LineChange::Same, old[row]));
            (row, column) = (row + 1, column + 1);
        } else if removes {
            lines.push((LineChange::Removed, old[row]));
            row += 1;
        } else {
            lines.push((LineChange::Added, new[column]));
            column += 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_lines_stand_with_those_around_them() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh";
        let new = "a\nb\nc\nD\ne\nf\ng\nh\ni";
        assert_eq!(diff_lines(old, new), "…\n  b\n  c\n- d\n+ D\n  e\n  f\n  g\n  h\n+ i\n");
        assert_eq!(diff_lines("", "x"), "+ x\n");
        assert_eq!(diff_lines("x", ""), "- x\n");
        assert_eq!(diff_lines("x", "x"), "");
    }

    #[test]
    fn long_texts_are_replaced_as_a_whole() {
        let long = |word: &str| vec![word; COMPARED_LINES_MAX + 1].join("\n");
        let diff = diff_lines(&long("a"), &long("b"));
        assert_eq!(diff.lines().count(), 2 * (COMPARED_LINES_MAX + 1));
    }
}
