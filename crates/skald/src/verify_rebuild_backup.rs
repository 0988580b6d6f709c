//! `skald verify`, `skald rebuild` and `skald backup`: maintenance of the store.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use skald_app::EvidenceFile;
use skald_journal::{VerifyFinding, VerifyReport, VerifyVerdict, hex};

use crate::arguments::{BackupArguments, GateArguments, StoreArguments, VerifyArguments};
use crate::output::{ProgressBar, error_from_fault, print_error, print_lines, print_note, to_printable};
use crate::{open_store, seal};

pub(crate) async fn verify(arguments: &VerifyArguments) -> anyhow::Result<ExitCode> {
    let journal = open_store::open_existing(&arguments.store).await?;
    // Read the seals first, so that an invalid one fails before the long verification.
    let public_key = arguments.public_key.as_deref();
    let seals = seal::read_seals(&arguments.seal, public_key)?;
    let progress = ProgressBar::start("verifying");
    let verified =
        skald_journal::verify_with_contents(&*journal, &skald_app::Nouns::all().stream_kinds(), |streams, records| {
            progress.set_message(&format!("{streams} streams, {records} records"));
        })
        .await;
    progress.end();
    let (verdict, contents) = verified.context("the journal cannot be read")?;
    let differences = seal::compare_seals(&*journal, &contents, &seals, public_key.is_some()).await?;
    match verdict {
        VerifyVerdict::Sound(report) if differences.is_empty() => {
            print_lines(&format!("sound: {}\nroot {}", report_text(&report), hex(&report.root)));
            if report.older_answers > 0 {
                let count = report.older_answers;
                print_lines(&format!(
                    "{count} answers are from before records noted them: only the root and seals cover these"
                ));
            }
            if report.busy > 0 {
                let count = report.busy;
                print_lines(&format!(
                    "{count} streams were written to all the while: only their records were compared"
                ));
            }
            Ok(ExitCode::SUCCESS)
        }
        verdict => {
            let (report, findings, unlisted) = match verdict {
                VerifyVerdict::Sound(report) => (report, Vec::new(), 0),
                VerifyVerdict::Unsound { report, findings, unlisted } => (report, findings, unlisted),
            };
            let findings: Vec<VerifyFinding> = findings.into_iter().chain(differences).collect();
            print_findings(&findings);
            let count = findings.len() + unlisted;
            let unlisted = if unlisted > 0 { format!(", {unlisted} of them not listed") } else { String::new() };
            print_error(&anyhow::anyhow!("unsound: {count} findings{unlisted}, in {}", report_text(&report)));
            Ok(ExitCode::FAILURE)
        }
    }
}

/// Prints findings, each with its remedy.
pub(crate) fn print_findings(findings: &[VerifyFinding]) {
    for finding in findings {
        print_note(&to_printable(&finding.to_string()));
        print_note(&format!("    {}", finding.kind.remedy()));
    }
}

fn report_text(report: &VerifyReport) -> String {
    let VerifyReport { streams, records, documents, answers, side_rows, .. } = report;
    format!(
        "{streams} streams, {records} records, {documents} rows of read models, {answers} answers, {side_rows} rows beside \
         the journal"
    )
}

pub(crate) async fn rebuild(arguments: &StoreArguments) -> anyhow::Result<ExitCode> {
    let journal = open_store::open_existing(arguments).await?;
    let progress = ProgressBar::start("rebuilding");
    let rebuilt =
        skald_journal::rebuild_with_progress(&*journal, &skald_app::Nouns::all().stream_kinds(), |streams, rows| {
            progress.set_message(&format!("{streams} streams, {rows} rows"));
        })
        .await;
    progress.end();
    let rows = rebuilt.context("the read models cannot be rebuilt")?;
    print_lines(&format!("rebuilt {rows} rows of read models, and the snapshots"));
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn backup(arguments: &BackupArguments) -> anyhow::Result<ExitCode> {
    let engine = open_store::open_existing_engine(&arguments.store, &GateArguments::default()).await?;
    let evidence = evidence_folder(&arguments.file);
    if evidence.symlink_metadata().is_ok() {
        bail!("there is a {} already, and a backup replaces nothing; choose another name", evidence.display());
    }
    let progress = ProgressBar::start("copying");
    let copied = engine.app().journal.backup(&arguments.file).await;
    progress.end();
    copied.with_context(|| format!("no backup was written to {}", arguments.file.display()))?;
    let bytes = std::fs::metadata(&arguments.file).map(|file| file.len()).unwrap_or_default();
    print_lines(&format!("{}: {bytes} bytes", arguments.file.display()));
    // The list is read after the copy, so that it has all evidence that the copy knows of.
    let files = engine.app().evidence_files().await.map_err(|fault| error_from_fault(&fault))?;
    copy_evidence(&files, &evidence)
        .with_context(|| format!("evidence could not be copied to {}", evidence.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// The folder of a backup's evidence, beside its file.
fn evidence_folder(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".evidence");
    name.into()
}

/// Copies evidence that was submitted by path: the store holds only its hashes.
fn copy_evidence(files: &[EvidenceFile], target: &Path) -> anyhow::Result<()> {
    let mut copied = 0;
    for EvidenceFile { run_id, folder, path, sha256 } in files {
        let to = target.join(run_id).join(path);
        skald_store::create_private_folder(to.parent().unwrap_or(target))?;
        if skald_gate_files::copy_artifact(folder, path, sha256, &to)? {
            copied += 1;
        } else {
            print_note(&format!(
                "{}: left out, since it is gone or was changed after it was submitted, and does not count any more",
                to_printable(&format!("{folder}/{path}"))
            ));
        }
    }
    if copied > 0 {
        print_lines(&format!("{}: {copied} files of evidence", target.display()));
    }
    Ok(())
}
