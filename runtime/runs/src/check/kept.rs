//! The beginning and the end of what a program prints.

use std::collections::VecDeque;

/// Most of the beginning that is kept. Unit: bytes. Why: what a program says first tells what it does.
const HEAD: usize = 8 << 10;

/// Most of the end that is kept. Unit: bytes. Why: what has gone wrong stands there.
const TAIL: usize = 24 << 10;

/// What is kept of a stream.
#[derive(Debug, Default)]
pub(super) struct Kept {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: u64,
}

impl Kept {
    /// Takes what comes next.
    pub(super) fn push(&mut self, bytes: &[u8]) {
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

    /// As text, with a line in place of what is left out; and how much that is.
    pub(super) fn text(&self) -> (String, u64) {
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
        let mut kept = Kept::default();
        let text = "é line\n".repeat(2_000);
        for bytes in text.as_bytes().chunks(7) {
            kept.push(bytes);
        }
        assert_eq!(kept.text(), (text, 0));
    }

    #[test]
    fn of_long_output_beginning_and_end_are_kept() {
        let mut kept = Kept::default();
        kept.push(b"first\n");
        kept.push(&vec![b'x'; 1 << 20]);
        kept.push(b"\nlast\n");
        let (text, left_out) = kept.text();
        assert!(text.starts_with("first\nxxx") && text.ends_with("xxx\nlast\n"));
        assert_eq!(left_out, (1 << 20) + 12 - 32 * 1024);
        assert!(text.contains(&format!("\n… {left_out} bytes are left out here …\n")));
    }
}
