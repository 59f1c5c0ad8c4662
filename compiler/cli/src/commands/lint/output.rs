//! The destination of the report of `lint`: standard output, or a file.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use statemark_compiler::diag::render::ReportFormat;
use statemark_text::visible;

use crate::failure::Failure;
use crate::files::{check_output, unwritable};
use crate::printer::Printer;
use statemark_runs::files::PendingFile;

/// The destination of a report.
pub(super) struct Output {
    format: ReportFormat,
    file: Option<ReportFile>,
}

/// A file under a temporary name, until the report is whole.
struct ReportFile {
    path: PathBuf,
    /// The file that it replaces, if there is one.
    replaced: Option<PathBuf>,
    pending: PendingFile,
    writer: BufWriter<File>,
}

impl Output {
    /// Prepares the destination: a file, else standard output.
    pub(super) fn new(path: Option<&Path>, format: ReportFormat) -> Result<Self, Failure> {
        path.map_or(Ok(()), check_output)?;
        let file = path.map(|path| {
            let open = || {
                let pending = PendingFile::new(path, true)?;
                let writer = BufWriter::new(pending.create_shared()?);
                io::Result::Ok(ReportFile {
                    path: path.to_owned(),
                    replaced: path.canonicalize().ok(),
                    pending,
                    writer,
                })
            };
            open().map_err(|error| unwritable(path, &error))
        });
        Ok(Self {
            format,
            file: file.transpose()?,
        })
    }

    /// Fails if the report would take the place of a file that is checked.
    pub(super) fn check_is_not(&self, checked: &str) -> Result<(), Failure> {
        let Some(ReportFile {
            replaced: Some(replaced),
            ..
        }) = &self.file
        else {
            return Ok(());
        };
        if Path::new(checked).canonicalize().ok().as_ref() != Some(replaced) {
            return Ok(());
        }
        Err(Failure::new(format!(
            "`{checked}` is checked, and isn't replaced by its report"
        ))
        .with_help("name another file"))
    }

    /// Writes a part of the report.
    ///
    /// To the terminal it goes as a remark where the result is something else.
    pub(super) fn write(
        &mut self,
        text: &str,
        is_remark: bool,
        printer: &mut Printer,
    ) -> Result<(), Failure> {
        if text.is_empty() {
            return Ok(());
        }
        let is_json = matches!(
            self.format,
            ReportFormat::Json
                | ReportFormat::JsonLines
                | ReportFormat::Gitlab
                | ReportFormat::Sarif
                | ReportFormat::Rdjson
        );
        match &mut self.file {
            Some(file) => file
                .writer
                .write_all(text.as_bytes())
                .map_err(|error| unwritable(&file.path, &error)),
            None => {
                match (is_remark, is_json) {
                    (true, true) => printer.remark_findings(&visible::json(text)),
                    (true, false) => printer.remark_findings(text),
                    (false, true) => printer.bytes(visible::json(text).as_bytes()),
                    (false, false) => printer.findings(text),
                }
                Ok(())
            }
        }
    }

    /// Gives a file its name.
    pub(super) fn finish(self) -> Result<(), Failure> {
        let Some(ReportFile {
            path,
            pending,
            mut writer,
            ..
        }) = self.file
        else {
            return Ok(());
        };
        let outcome = writer.flush().and_then(|()| {
            drop(writer);
            pending.finish()
        });
        outcome.map_err(|error| unwritable(&path, &error))
    }
}
