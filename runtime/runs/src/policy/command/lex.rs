//! A line cut into words and ends of commands, as a shell or a reader of quotes does.

/// Longest command that is read. Unit: bytes. Why: as much as a kernel takes for one word.
pub(super) const MAX_LINE: usize = 128 << 10;
/// The way in which a line is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// As a shell does.
    Shell,
    /// As words with quotes, without any shell.
    Words,
}
/// A word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// The text, without quotes.
    pub(super) text: String,
    /// False if a shell may make something else of it: names of files, a home.
    pub(super) is_certain: bool,
    /// The length of the beginning that is the same whatever a shell makes of it. Unit: bytes.
    kept: usize,
}

impl Word {
    /// Creates a word that means itself.
    pub(super) fn certain(text: String) -> Self {
        Self {
            kept: text.len(),
            text,
            is_certain: true,
        }
    }

    /// Creates a word that may be anything.
    pub(super) fn unknown() -> Self {
        Self {
            text: "*".to_owned(),
            is_certain: false,
            kept: 0,
        }
    }

    /// Returns the beginning that each word has which a shell makes of it.
    pub(super) fn beginning(&self) -> &str {
        self.text.get(..self.kept).unwrap_or_default()
    }

    /// Reports whether a shell may make a word of it that begins with a `-`.
    pub(super) fn may_begin_option(&self) -> bool {
        !self.is_certain && (self.kept == 0 || self.text.starts_with('-'))
    }
}
/// The reason for which a command line isn't read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} at byte {at}")]
pub struct Unread {
    /// The part that isn't read, as a noun phrase.
    pub what: String,
    /// Its place. Unit: bytes from the beginning of the line.
    pub at: usize,
}

impl Unread {
    pub(super) fn new(at: usize, what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            at,
        }
    }
}
/// A piece of a line.
pub(super) enum Token {
    Word(Word),
    /// The end of a command, at a byte.
    End(usize),
}

/// Cuts a line into words and ends of commands.
pub(super) fn lex(line: &str, reading: Reading) -> Result<Vec<Token>, Unread> {
    if line.len() > MAX_LINE {
        return Err(Unread::new(MAX_LINE, "a longer line than is read"));
    }
    let mut lexer = Lexer {
        line,
        at: 0,
        reading,
        tokens: Vec::new(),
        word: None,
        begin: 0,
    };
    lexer.run()?;
    lexer.end_word();
    Ok(lexer.tokens)
}

struct Lexer<'l> {
    line: &'l str,
    at: usize,
    reading: Reading,
    tokens: Vec<Token>,
    word: Option<Word>,
    /// The place where the word begins. Unit: bytes.
    begin: usize,
}

impl Lexer<'_> {
    fn run(&mut self) -> Result<(), Unread> {
        while let Some(char) = self.peek(0) {
            let at = self.at;
            if self.word.is_none() {
                self.begin = at;
            }
            match char {
                ' ' | '\t' => {
                    self.advance();
                    self.end_word();
                }
                '\n' if self.reading == Reading::Words => {
                    self.advance();
                    self.end_word();
                }
                '\'' => self.read_single()?,
                '"' => self.read_double()?,
                '\\' => {
                    self.advance();
                    match self.advance() {
                        // A line goes on.
                        Some('\n') if self.reading == Reading::Shell => {}
                        Some(char) => self.push(char, true),
                        None => return Err(Unread::new(at, "a `\\` at the end")),
                    }
                }
                '`' => return Err(Unread::new(at, "a substitution (`` ` ``)")),
                '$' => self.read_dollar(false)?,
                '<' | '>' => self.read_redirection()?,
                '\n' | ';' | '&' | '|' => self.read_operator()?,
                char if char.is_control() => {
                    return Err(Unread::new(at, "a control character"));
                }
                char if self.reading == Reading::Words => {
                    self.advance();
                    self.push(char, true);
                }
                '(' | ')' => return Err(Unread::new(at, format!("`{char}`"))),
                '{' | '}'
                    if self
                        .line
                        .get(at..)
                        .is_some_and(|rest| rest.starts_with("{}")) =>
                {
                    self.advance();
                    self.advance();
                    self.push('{', true);
                    self.push('}', true);
                }
                '{' | '}' => return Err(Unread::new(at, format!("`{char}`"))),
                '#' if self.word.is_none() => return Err(Unread::new(at, "a comment")),
                '~' | '=' if self.word.is_none() => {
                    self.advance();
                    self.push(char, false);
                    // It stays, or becomes a path from `/`, and no option begins with either.
                    self.begin_word().kept = char.len_utf8();
                }
                '*' | '?' | '[' | ']' | '^' => {
                    self.advance();
                    self.push(char, false);
                }
                char => {
                    self.advance();
                    self.push(char, true);
                }
            }
        }
        Ok(())
    }

    fn peek(&self, offset: usize) -> Option<char> {
        self.line.get(self.at..)?.chars().nth(offset)
    }

    fn advance(&mut self) -> Option<char> {
        let char = self.peek(0)?;
        self.at = self.at.saturating_add(char.len_utf8());
        Some(char)
    }

    fn push(&mut self, char: char, is_certain: bool) {
        let word = self.begin_word();
        word.text.push(char);
        word.is_certain &= is_certain;
        if word.is_certain {
            word.kept = word.text.len();
        }
    }

    fn begin_word(&mut self) -> &mut Word {
        self.word
            .get_or_insert_with(|| Word::certain(String::new()))
    }

    fn end_word(&mut self) {
        if let Some(word) = self.word.take() {
            self.tokens.push(Token::Word(word));
        }
    }

    fn read_single(&mut self) -> Result<(), Unread> {
        let at = self.at;
        self.advance();
        self.begin_word();
        loop {
            match self.advance() {
                Some('\'') => return Ok(()),
                Some(char) => self.push(char, true),
                None => return Err(Unread::new(at, "a quote that isn't closed")),
            }
        }
    }

    fn read_double(&mut self) -> Result<(), Unread> {
        let at = self.at;
        self.advance();
        self.begin_word();
        loop {
            let here = self.at;
            match self.advance() {
                Some('"') => return Ok(()),
                Some('\\') => match self.peek(0) {
                    Some(escaped @ ('"' | '\\' | '$' | '`')) => {
                        self.advance();
                        self.push(escaped, true);
                    }
                    Some('\n') if self.reading == Reading::Shell => drop(self.advance()),
                    _ => self.push('\\', true),
                },
                Some('`') => return Err(Unread::new(here, "a substitution (`` ` ``)")),
                Some('$') => {
                    self.at = here;
                    self.read_dollar(true)?;
                }
                // Of some shells' interactive history.
                Some('!') if self.reading == Reading::Shell => self.push('!', false),
                Some(char) => self.push(char, true),
                None => return Err(Unread::new(at, "a quote that isn't closed")),
            }
        }
    }

    /// Reads a `$`, which stands for itself where no name follows.
    fn read_dollar(&mut self, in_quotes: bool) -> Result<(), Unread> {
        let at = self.at;
        self.advance();
        let next = self.peek(0);
        if next == Some('(') {
            return Err(Unread::new(at, "a substitution (`$(`)"));
        }
        let stands_alone = match next {
            Some('"') => in_quotes,
            next => next.is_none_or(|it| it == ' ' || it == '\t'),
        };
        if self.reading == Reading::Words || stands_alone {
            self.push('$', true);
            return Ok(());
        }
        Err(Unread::new(at, "a variable (`$`)"))
    }

    /// Reads a redirection, of which those that change no file are read.
    fn read_redirection(&mut self) -> Result<(), Unread> {
        let at = self.at;
        let unread = || Err(Unread::new(at, "a redirection"));
        if self.reading == Reading::Words {
            let char = self.peek(0).unwrap_or('>');
            return Err(Unread::new(at, format!("`{char}`")));
        }
        // A number before it belongs to it.
        match &self.word {
            // As it is written, without quotes.
            Some(word)
                if word.text.bytes().all(|it| it.is_ascii_digit())
                    && self.line.get(self.begin..at) == Some(word.text.as_str()) =>
            {
                self.word = None;
            }
            Some(_) => self.end_word(),
            None => {}
        }
        let rest = self.line.get(at..).unwrap_or_default();
        let operator = ["&>>", "&>", ">>", ">&", ">", "<"];
        let Some(operator) = operator.into_iter().find(|it| rest.starts_with(it)) else {
            return unread();
        };
        let after = rest.get(operator.len()..).unwrap_or_default();
        let target = after.trim_start_matches([' ', '\t']);
        let end = target.find([' ', '\t', '\n', ';', '&', '|', '<', '>', '(', ')']);
        let target = target
            .get(..end.unwrap_or(target.len()))
            .unwrap_or_default();
        let is_harmless = match operator {
            ">&" => target == "1" || target == "2",
            _ => target == "/dev/null",
        };
        if !is_harmless {
            return unread();
        }
        let blanks = after
            .len()
            .saturating_sub(after.trim_start_matches([' ', '\t']).len());
        let length = operator
            .len()
            .saturating_add(blanks)
            .saturating_add(target.len());
        self.at = at.saturating_add(length);
        Ok(())
    }

    /// Reads an operator between two commands.
    fn read_operator(&mut self) -> Result<(), Unread> {
        let at = self.at;
        let rest = self.line.get(at..).unwrap_or_default();
        if self.reading == Reading::Words {
            let known = ["&&", "||", "|&", ";", "&", "|"];
            let operator = known.into_iter().find(|it| rest.starts_with(it));
            return Err(Unread::new(at, format!("`{}`", operator.unwrap_or(";"))));
        }
        if rest.starts_with("&>") {
            self.end_word();
            return self.read_redirection();
        }
        self.end_word();
        let known = ["&&", "||", "|&", ";", "&", "|", "\n"];
        let operator = known.into_iter().find(|it| rest.starts_with(it));
        self.at = at.saturating_add(operator.map_or(1, str::len));
        self.tokens.push(Token::End(at));
        Ok(())
    }
}
