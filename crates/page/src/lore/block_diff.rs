//! Compares two versions of a text block by block: which blocks both have, and which only one has.

/// Texts with more blocks are compared only after their common beginning and end.
const COMPARED_BLOCKS_MAX: usize = 400;

/// A part of two texts that is the same in both, or differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DiffHunk<'a> {
    Same(Vec<&'a str>),
    Changed { theirs: Vec<&'a str>, ours: Vec<&'a str> },
}

/// Splits both texts into parts that are the same and parts that differ, in the order of the texts.
pub(crate) fn diff_hunks<'a>(theirs: &'a str, ours: &'a str) -> Vec<DiffHunk<'a>> {
    let mut hunks: Vec<DiffHunk<'a>> = Vec::new();
    for side in diff_blocks(theirs, ours) {
        match (side, hunks.last_mut()) {
            (BlockSide::Both(block), Some(DiffHunk::Same(blocks))) => blocks.push(block),
            (BlockSide::Both(block), _) => hunks.push(DiffHunk::Same(vec![block])),
            (BlockSide::Theirs(block), Some(DiffHunk::Changed { theirs, .. })) => theirs.push(block),
            (BlockSide::Ours(block), Some(DiffHunk::Changed { ours, .. })) => ours.push(block),
            (BlockSide::Theirs(block), _) => hunks.push(DiffHunk::Changed { theirs: vec![block], ours: Vec::new() }),
            (BlockSide::Ours(block), _) => hunks.push(DiffHunk::Changed { theirs: Vec::new(), ours: vec![block] }),
        }
    }
    hunks
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum BlockSide<'a> {
    Both(&'a str),
    Theirs(&'a str),
    Ours(&'a str),
}

/// The blocks of both texts in one order. A block ends with an empty line.
fn diff_blocks<'a>(theirs: &'a str, ours: &'a str) -> Vec<BlockSide<'a>> {
    let (theirs, ours) = (blocks(theirs), blocks(ours));
    let begin = theirs.iter().zip(&ours).take_while(|(one, other)| one == other).count();
    let ends = theirs[begin..].iter().rev().zip(ours[begin..].iter().rev());
    let end = ends.take_while(|(one, other)| one == other).count();
    let mut sides: Vec<BlockSide<'a>> = theirs[..begin].iter().copied().map(BlockSide::Both).collect();
    sides.extend(middle(&theirs[begin..theirs.len() - end], &ours[begin..ours.len() - end]));
    sides.extend(theirs[theirs.len() - end..].iter().copied().map(BlockSide::Both));
    sides
}

fn blocks(text: &str) -> Vec<&str> {
    text.split("\n\n").map(str::trim).filter(|block| !block.is_empty()).collect()
}

/// Aligns the blocks by their longest common subsequence.
fn middle<'a>(theirs: &[&'a str], ours: &[&'a str]) -> Vec<BlockSide<'a>> {
    if theirs.len().max(ours.len()) > COMPARED_BLOCKS_MAX {
        let ours = ours.iter().copied().map(BlockSide::Ours);
        return theirs.iter().copied().map(BlockSide::Theirs).chain(ours).collect();
    }
    let width = ours.len() + 1;
    let mut lengths = vec![0_u32; (theirs.len() + 1) * width];
    for (row, one) in theirs.iter().enumerate().rev() {
        for (column, other) in ours.iter().enumerate().rev() {
            lengths[row * width + column] = if one == other {
                lengths[(row + 1) * width + column + 1] + 1
            } else {
                lengths[(row + 1) * width + column].max(lengths[row * width + column + 1])
            };
        }
    }
    let (mut row, mut column, mut sides) = (0, 0, Vec::new());
    while row < theirs.len() || column < ours.len() {
        if row < theirs.len() && column < ours.len() && theirs[row] == ours[column] {
            sides.push(BlockSide::Both(theirs[row]));
            (row, column) = (row + 1, column + 1);
        } else if column == ours.len()
            || row < theirs.len() && lengths[(row + 1) * width + column] >= lengths[row * width + column + 1]
        {
            sides.push(BlockSide::Theirs(theirs[row]));
            row += 1;
        } else {
            sides.push(BlockSide::Ours(ours[column]));
            column += 1;
        }
    }
    sides
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_both_and_of_one_are_told_apart() {
        let found = diff_blocks("a\n\nb\n\nd", "a\n\nc\n\nd\n\ne");
        let expected = [
            BlockSide::Both("a"),
            BlockSide::Theirs("b"),
            BlockSide::Ours("c"),
            BlockSide::Both("d"),
            BlockSide::Ours("e"),
        ];
        assert_eq!(found, expected);
        assert_eq!(diff_blocks("", ""), []);
        let hunks = diff_hunks("a\n\nb\n\nd", "a\n\nc\n\nd\n\ne");
        let changed = |theirs: &[&'static str], ours: &[&'static str]| DiffHunk::Changed {
            theirs: theirs.into(),
            ours: ours.into(),
        };
        let same = |block| DiffHunk::Same(vec![block]);
        assert_eq!(hunks, [same("a"), changed(&["b"], &["c"]), same("d"), changed(&[], &["e"])]);
        let long = |word: &str| vec![word; COMPARED_BLOCKS_MAX + 1].join("\n\n");
        assert_eq!(diff_blocks(&long("x"), &long("y")).len(), 2 * (COMPARED_BLOCKS_MAX + 1));
    }
}
