//! Head and tail of a program's output.

use std::collections::VecDeque;

/// Longest head. Unit: bytes. Why: a program's first output says what it does.
const HEAD: usize = 8 << 10;

/// Longest tail. Unit: bytes. Why: the failure is at the end.
const TAIL: usize = 24 << 10;

/// Longest beginning that is kept besides.
///
/// Unit: bytes. Why: nobody reads more, and some commands never stop.
const LONG: usize = 4 << 20;

/// Captured output of one stream.
#[derive(Debug, Default)]
pub(super) struct CapturedOutput {
    long: Vec<u8>,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: u64,
}

impl CapturedOutput {
    /// Appends output.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let room = LONG.saturating_sub(self.long.len()).min(bytes.len());
        self.long.extend_from_slice(bytes.split_at(room).0);
        let room = HEAD.saturating_sub(self.head.len()).min(bytes.len());
        let (head, rest) = bytes.split_at(room);
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..over);
        self.left_out = self
            .left_out
            .saturating_add(u64::try_from(over).unwrap_or(u64::MAX));
    }

    /// Returns the output from its beginning on, with a line where it was too long for that, too.
    pub(super) fn to_long_text(&self) -> String {
        let mut text = String::from_utf8_lossy(&self.long).into_owned();
        if self.long.len() >= LONG {
            text.push_str("\n… the output goes on here …\n");
        }
        text
    }

    /// Returns the output as a string, and the length of the omitted part in bytes.
    ///
    /// A line stands in place of that part.
    pub(super) fn to_text(&self) -> (String, u64) {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        if self.left_out == 0 {
            let whole = [self.head.as_slice(), &tail].concat();
            return (String::from_utf8_lossy(&whole).into_owned(), 0);
        }
        let (head, tail) = (
            String::from_utf8_lossy(&self.head),
            String::from_utf8_lossy(&tail),
        );
        let gap = if head.ends_with('\n') { "" } else { "\n" };
        let left_out = self.left_out;
        let text = format!("{head}{gap}… {left_out} bytes are left out here …\n{tail}");
        (text, left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_output_is_whole_however_it_comes() {
        let mut output = CapturedOutput::default();
        let text = "é line\n".repeat(2_000);
        for bytes in text.as_bytes().chunks(7) {
            output.push(bytes);
        }
        assert_eq!(output.to_text(), (text, 0));
    }

    #[test]
    fn of_long_output_beginning_and_end_are_kept() {
        let mut output = CapturedOutput::default();
        output.push(b"first\n");
        output.push(&vec![b'x'; 1 << 20]);
        output.push(b"\nlast\n");
        let (text, left_out) = output.to_text();
        assert!(text.starts_with("first\nxxx") && text.ends_with("xxx\nlast\n"));
        assert_eq!(left_out, (1 << 20) + 12 - 32 * 1024);
        assert!(text.contains(&format!("\n… {left_out} bytes are left out here …\n")));
        let long = output.to_long_text();
        assert_eq!(long.len(), 6 + (1 << 20) + 6);
        output.push(&vec![b'y'; LONG]);
        let long = output.to_long_text();
        assert!(long.len() < LONG + 64 && long.ends_with("y\n… the output goes on here …\n"));
    }
}
