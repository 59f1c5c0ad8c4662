//! The few colors of the command line's own texts.

/// Colors, or none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Palette {
    color: bool,
}

impl Palette {
    pub(crate) const fn new(color: bool) -> Self {
        Self { color }
    }

    /// A title, the name of a state.
    pub(crate) fn strong(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// What is said beside the point.
    pub(crate) fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    /// An event: what one can do.
    pub(crate) fn event(self, text: &str) -> String {
        self.paint("36", text)
    }

    /// A guard: what must hold.
    pub(crate) fn guard(self, text: &str) -> String {
        self.paint("33", text)
    }

    /// Success.
    pub(crate) fn good(self, text: &str) -> String {
        self.paint("32", text)
    }

    /// Failure, refusal.
    pub(crate) fn bad(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    fn paint(self, codes: &str, text: &str) -> String {
        if self.color && !text.is_empty() {
            format!("\u{1b}[{codes}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}
