//! Going on behind a statement that can't be read.

use super::{Bad, Parser, Resume};
use crate::diag::Diagnostic;
use crate::front::mermaid::lex::rule::is_space;
use crate::front::mermaid::lex::{Kind, Token};

impl Parser<'_> {
    /// A statement that breaks at a token. Line ends, braces and what stands on a later line are left for what follows.
    pub(super) fn broken_at(&self, token: Token, diagnostic: Diagnostic) -> Bad {
        let stays = matches!(token.kind, Kind::NewLine | Kind::End | Kind::Close)
            || (self.used > 0 && self.line_of(token.lead) > self.line_of(self.used - 1));
        let resume = if stays {
            Resume::Here
        } else {
            Resume::BehindLine(token.lead)
        };
        Bad {
            diagnostic: Box::new(diagnostic),
            resume,
        }
    }

    /// A statement that is given up from an offset to the end of its line.
    pub(super) fn broken_line(at: usize, diagnostic: Diagnostic) -> Bad {
        Bad {
            diagnostic: Box::new(diagnostic),
            resume: Resume::BehindLine(at),
        }
    }

    /// A statement that is given up, while what stands at the offset is read again.
    pub(super) fn broken_before(at: usize, diagnostic: Diagnostic) -> Bad {
        Bad {
            diagnostic: Box::new(diagnostic),
            resume: Resume::At(at),
        }
    }

    pub(super) fn recover(&mut self, bad: Bad) {
        let line = self.line_of(match bad.resume {
            Resume::Here => self.used.saturating_sub(1),
            Resume::BehindLine(at) | Resume::At(at) => at,
        });
        self.silence(line);
        self.report(*bad.diagnostic);
        match bad.resume {
            Resume::Here => {}
            Resume::BehindLine(at) => self.skip_line(at),
            Resume::At(at) => self.restart(at),
        }
        self.previous = None;
    }

    /// Reads on at an offset, between statements, with the braces that are open now.
    pub(super) fn restart(&mut self, at: usize) {
        self.peeked = None;
        self.used = at;
        self.lexer.resume(at, self.frames.len() - 1);
    }

    /// Passes over the rest of a line, but for a `}` that closes what is open. A `{` that it leaves open is kept, so that
    /// its `}` doesn't close something else.
    fn skip_line(&mut self, at: usize) {
        let end = self.line_range(at).end;
        let line = self.slice(at..end);
        let mut stop = end;
        let mut opened = 0_usize;
        let mut before = ' ';
        for (offset, c) in line.char_indices() {
            match c {
                ':' => break,
                '{' => opened += 1,
                '}' if opened > 0 => opened -= 1,
                '}' if self.frames.len() > 1 && is_space(before) => {
                    stop = at + offset;
                    break;
                }
                _ => {}
            }
            before = c;
        }
        for _ in 0..opened {
            self.open_nothing();
        }
        self.restart(stop);
    }
}
