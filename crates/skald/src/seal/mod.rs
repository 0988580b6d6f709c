//! `skald seal`: writes a signed statement of everything stored. Keep it where those who can write to the store cannot
//! reach it.

mod key;
mod seal_schedule;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail};
use serde_json::{Value, json};
use skald_journal::{Journal, SealStatement, StoredContents, VerifyVerdict};

use crate::arguments::SealArguments;
use crate::open_store;
use crate::output::{ProgressBar, print_lines, print_note, to_printable};
use crate::verify_rebuild_backup::print_findings;
pub(crate) use key::SealKey;
use key::{is_valid_signature, parse_public_key};
pub(crate) use seal_schedule::seal_regularly;

pub(crate) async fn run(arguments: &SealArguments) -> anyhow::Result<ExitCode> {
    if let Some(path) = &arguments.new_key {
        let key = SealKey::create(path)?;
        print_lines(&format!(
            "{}\n\nThe key is in {}, for its owner alone. On paper it is\n\n    {}\n\n\
             Whoever has it can seal in your name. Note the public key, the first line: `skald verify --seal FILE \
             --public-key KEY` needs it.",
            key.public_key(),
            path.display(),
            key.paper_text()
        ));
        return Ok(ExitCode::SUCCESS);
    }
    let Some(path) = &arguments.key else { bail!("name the key with --key FILE, or make one with --new-key FILE") };
    let key = SealKey::read(path)?;
    let journal = open_store::open_existing(&arguments.store).await?;
    let progress = ProgressBar::start("sealing");
    let sealed = create_seal(&*journal, &key).await;
    progress.end();
    let seal = match sealed? {
        Ok(seal) => seal,
        Err(findings) => {
            print_findings(&findings);
            bail!("nothing was sealed, since what is stored is not as it was written");
        }
    };
    let file = arguments.out.clone().unwrap_or_else(|| PathBuf::from(seal.file_name()));
    skald_store::write_private_file(&file, &seal.text).with_context(|| format!("cannot write {}", file.display()))?;
    print_lines(&format!(
        "sealed {} streams to {}\npublic key {}",
        seal.statement.heads.len(),
        file.display(),
        key.public_key()
    ));
    Ok(ExitCode::SUCCESS)
}

/// A statement, and the text of its file with the signature.
pub(crate) struct Seal {
    pub(crate) statement: SealStatement,
    pub(crate) text: String,
}

impl Seal {
    /// The default file name. Names sort by time.
    fn file_name(&self) -> String {
        format!("skald-seal-{}.jsonl", self.statement.at.strftime("%Y%m%dT%H%M%S%.6fZ"))
    }
}

/// Verifies the journal, and signs a statement of its contents. The inner error is the findings of an unsound journal.
async fn create_seal(
    journal: &dyn Journal,
    key: &SealKey,
) -> anyhow::Result<Result<Seal, Vec<skald_journal::VerifyFinding>>> {
    // Taken before the verification: records that are written during it may be missing from the seal.
    let at = skald_journal::truncate_to_micros(jiff::Timestamp::now());
    let looked = skald_journal::verify_with_contents(journal, &skald_app::Nouns::all().stream_kinds(), |_, _| {}).await;
    let (verdict, contents) = looked.context("the journal cannot be read")?;
    let report = match verdict {
        VerifyVerdict::Sound(report) => report,
        VerifyVerdict::Unsound { findings, .. } => return Ok(Err(findings)),
    };
    let statement = SealStatement::new(at, &report, contents);
    let signed = statement.text();
    let last = json!({"public_key": key.public_key(), "signature": key.sign(signed.as_bytes())});
    Ok(Ok(Seal { text: format!("{signed}{last}\n"), statement }))
}

/// A seal that was read, and the public key that signed it.
pub(crate) struct ReadSeal {
    pub(crate) statement: SealStatement,
    pub(crate) public_key: String,
}

/// Reads a seal and checks its signature: by the expected key, or else by the key that the seal names.
pub(crate) fn read_seal(path: &Path, expected: Option<&str>) -> anyhow::Result<ReadSeal> {
    let name = path.display();
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read the seal {name}"))?;
    let body = text.trim_end_matches('\n');
    let end = body.rfind('\n').ok_or_else(|| anyhow!("{name} is no seal: it has one line"))? + 1;
    let (signed, last) = body.split_at(end);
    let last: Value = serde_json::from_str(last).with_context(|| format!("{name} does not end with a signature"))?;
    let field = |field: &str| last[field].as_str().map(str::to_owned).ok_or_else(|| anyhow!("{name} has no {field}"));
    let (named, signature) = (field("public_key")?, field("signature")?);
    let expected = expected.map(parse_public_key).transpose()?;
    if let Some(expected) = expected.filter(|expected| *expected != named) {
        bail!("{name} is signed with the key {named}, and not with {expected}");
    }
    if !is_valid_signature(&named, signed.as_bytes(), &signature)? {
        bail!("{name} is not as it was signed: the signature does not fit");
    }
    let statement = SealStatement::parse(signed).map_err(|why| anyhow!("{name}: {why}"))?;
    Ok(ReadSeal { statement, public_key: named })
}

/// Reads seals, the oldest first.
pub(crate) fn read_seals(files: &[PathBuf], expected: Option<&str>) -> anyhow::Result<Vec<ReadSeal>> {
    let mut seals = files.iter().map(|file| read_seal(file, expected)).collect::<anyhow::Result<Vec<_>>>()?;
    seals.sort_by_key(|seal| seal.statement.at);
    Ok(seals)
}

/// Compares the stored contents with seals. Prints the result for each, and returns the differences, oldest seal first.
pub(crate) async fn compare_seals(
    journal: &dyn Journal,
    contents: &StoredContents,
    seals: &[ReadSeal],
    is_key_expected: bool,
) -> anyhow::Result<Vec<skald_journal::VerifyFinding>> {
    let mut findings = Vec::new();
    for ReadSeal { statement, public_key } in seals {
        let compared = statement
            .compare(journal, &skald_app::Nouns::all().stream_kinds(), contents)
            .await
            .context("the journal cannot be read")?;
        let (at, streams) = (statement.at, statement.heads.len());
        let rows = statement.rows.len() + statement.replaceable_rows.len();
        print_note(&match compared.findings.len() {
            0 => format!("as sealed at {at}: {streams} streams and {rows} rows beside the journal"),
            count => format!("{count} differences from what was sealed at {at}"),
        });
        for replaced in &compared.replaced {
            print_note(&format!("    {}", to_printable(replaced)));
        }
        if !is_key_expected {
            print_note(&format!("    signed with {public_key}; --public-key makes sure that it is yours"));
        }
        findings.extend(compared.findings);
    }
    Ok(findings)
}
