//! Values as JSON (RFC 8259): read strictly, written in one spelling.
//!
//! Strict means: no comments, no trailing commas, no key twice in an object, no integer that a [`Datum`] doesn't hold
//! exactly, no number beyond every finite float. A number is an integer if it has neither fraction nor exponent.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use super::{Datum, fits};
use crate::limits::{MAX_DATUM_BYTES, MAX_DATUM_DEPTH};

/// Text that is no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    kind: JsonErrorKind,
    /// The position.
    /// Unit: bytes from the beginning.
    at: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JsonErrorKind {
    Expected(&'static str),
    Escape,
    Control,
    Number,
    TwiceTheKey,
    TooDeep,
    TooLong,
}

impl fmt::Display for JsonError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Of a text that is too long nothing was read: there is no place in it to be named.
        if self.kind != JsonErrorKind::TooLong {
            write!(out, "at byte {}: ", self.at)?;
        }
        match self.kind {
            JsonErrorKind::Expected(what) => write!(out, "expected {what}"),
            JsonErrorKind::Escape => out.write_str("an escape that JSON doesn't have"),
            JsonErrorKind::Control => out.write_str("a control character in a string"),
            JsonErrorKind::Number => out.write_str("a number that can't be held exactly enough"),
            JsonErrorKind::TwiceTheKey => out.write_str("the object has this key already"),
            JsonErrorKind::TooDeep => write!(out, "nested more than {MAX_DATUM_DEPTH} deep"),
            JsonErrorKind::TooLong => write!(out, "longer than {MAX_DATUM_BYTES} bytes"),
        }
    }
}

impl core::error::Error for JsonError {}

impl JsonError {
    /// Returns the position of the fault.
    /// Unit: bytes from the beginning.
    #[must_use]
    pub const fn at(&self) -> usize {
        self.at
    }
}

impl Datum {
    /// Reads JSON. Takes time in the length of the text.
    ///
    /// ```
    /// use statemark_runtime::Datum;
    ///
    /// assert_eq!(Datum::from_json("[1, 1.0]"), Ok(Datum::List(vec![Datum::Int(1), Datum::Float(1.0)])));
    /// assert_eq!(Datum::from_json("[1,]").unwrap_err().to_string(), "at byte 3: expected a value");
    /// ```
    ///
    /// # Errors
    ///
    /// It isn't JSON, isn't exact, or passes [`MAX_DATUM_BYTES`] or [`MAX_DATUM_DEPTH`].
    pub fn from_json(text: &str) -> Result<Self, JsonError> {
        let mut reader = Reader { text, at: 0 };
        if text.len() > MAX_DATUM_BYTES {
            return Err(reader.error(JsonErrorKind::TooLong));
        }
        reader.blanks();
        let datum = reader.value(MAX_DATUM_DEPTH)?;
        reader.blanks();
        match reader.peek() {
            None => Ok(datum),
            Some(_) => Err(reader.expected("the end")),
        }
    }
}

/// JSON without blanks, the keys of each object sorted. Numbers read back as the same value and kind.
impl fmt::Display for Datum {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => out.write_str("null"),
            Self::Bool(bool) => write!(out, "{bool}"),
            Self::Int(int) => write!(out, "{int}"),
            // The shortest digits that read back as the same float, and always a fraction or an exponent.
            Self::Float(float) if float.is_finite() => write!(out, "{float:?}"),
            Self::Float(_) => out.write_str("null"),
            Self::Text(text) => write_text(text, out),
            Self::List(items) => {
                out.write_char('[')?;
                for (index, item) in items.iter().enumerate() {
                    separate(index, out)?;
                    write!(out, "{item}")?;
                }
                out.write_char(']')
            }
            Self::Object(fields) => {
                out.write_char('{')?;
                for (index, (key, field)) in fields.iter().enumerate() {
                    separate(index, out)?;
                    write_text(key, out)?;
                    write!(out, ":{field}")?;
                }
                out.write_char('}')
            }
        }
    }
}

fn separate(index: usize, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    if index > 0 {
        out.write_char(',')
    } else {
        Ok(())
    }
}

fn write_text(text: &str, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    out.write_char('"')?;
    for char in text.chars() {
        match char {
            '"' => out.write_str("\\\"")?,
            '\\' => out.write_str("\\\\")?,
            '\n' => out.write_str("\\n")?,
            '\r' => out.write_str("\\r")?,
            '\t' => out.write_str("\\t")?,
            '\u{8}' => out.write_str("\\b")?,
            '\u{c}' => out.write_str("\\f")?,
            '\0'..='\u{1f}' => write!(out, "\\u{:04x}", u32::from(char))?,
            _ => out.write_char(char)?,
        }
    }
    out.write_char('"')
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn error(&self, kind: JsonErrorKind) -> JsonError {
        JsonError { kind, at: self.at }
    }

    fn expected(&self, what: &'static str) -> JsonError {
        self.error(JsonErrorKind::Expected(what))
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Reports whether this byte stood here; it is passed then.
    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn value(&mut self, depth: usize) -> Result<Datum, JsonError> {
        match self.peek() {
            Some(b'n') => self.word("null", Datum::Null),
            Some(b't') => self.word("true", Datum::Bool(true)),
            Some(b'f') => self.word("false", Datum::Bool(false)),
            Some(b'"') => self.string().map(Datum::Text),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b'[') => self.list(self.inside(depth)?),
            Some(b'{') => self.object(self.inside(depth)?),
            _ => Err(self.expected("a value")),
        }
    }

    fn inside(&self, depth: usize) -> Result<usize, JsonError> {
        let error = || self.error(JsonErrorKind::TooDeep);
        depth.checked_sub(1).ok_or_else(error)
    }

    fn word(&mut self, word: &str, datum: Datum) -> Result<Datum, JsonError> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        if !rest.starts_with(word) {
            return Err(self.expected("a value"));
        }
        self.at += word.len();
        Ok(datum)
    }

    fn list(&mut self, depth: usize) -> Result<Datum, JsonError> {
        let mut items = Vec::new();
        self.at += 1;
        self.blanks();
        if self.eat(b']') {
            return Ok(Datum::List(items));
        }
        loop {
            self.blanks();
            items.push(self.value(depth)?);
            self.blanks();
            if self.eat(b']') {
                return Ok(Datum::List(items));
            }
            if !self.eat(b',') {
                return Err(self.expected("`,` or `]`"));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Datum, JsonError> {
        let mut fields = BTreeMap::new();
        self.at += 1;
        self.blanks();
        if self.eat(b'}') {
            return Ok(Datum::Object(fields));
        }
        loop {
            self.blanks();
            let at = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.expected("a key"));
            }
            let key = self.string()?;
            self.blanks();
            if !self.eat(b':') {
                return Err(self.expected("`:`"));
            }
            self.blanks();
            let field = self.value(depth)?;
            if fields.insert(key, field).is_some() {
                let kind = JsonErrorKind::TwiceTheKey;
                return Err(JsonError { kind, at });
            }
            self.blanks();
            if self.eat(b'}') {
                return Ok(Datum::Object(fields));
            }
            if !self.eat(b',') {
                return Err(self.expected("`,` or `}`"));
            }
        }
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start {
            return Err(self.expected("a digit"));
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Datum, JsonError> {
        let start = self.at;
        self.eat(b'-');
        if !self.eat(b'0') {
            self.digits()?;
        }
        let mut integer = true;
        if self.eat(b'.') {
            integer = false;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            integer = false;
            self.at += 1;
            if !self.eat(b'+') {
                self.eat(b'-');
            }
            self.digits()?;
        }
        let digits = self.text.get(start..self.at).unwrap_or_default();
        let datum = if integer {
            let int = digits.parse().ok().filter(|&int| fits(int));
            int.map(Datum::Int)
        } else {
            let float = digits.parse().ok().filter(|float: &f64| float.is_finite());
            float.map(Datum::Float)
        };
        let kind = JsonErrorKind::Number;
        datum.ok_or(JsonError { kind, at: start })
    }

    fn string(&mut self) -> Result<String, JsonError> {
        let mut text = String::new();
        self.at += 1;
        loop {
            let start = self.at;
            while !matches!(self.peek(), None | Some(b'"' | b'\\' | 0..=0x1F)) {
                self.at += 1;
            }
            // What stops the loop is ASCII, so both ends lie on character boundaries.
            text.push_str(self.text.get(start..self.at).unwrap_or_default());
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => {
                    self.at += 1;
                    text.push(self.escape()?);
                }
                Some(_) => return Err(self.error(JsonErrorKind::Control)),
                None => return Err(self.expected("`\"`")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        let char = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                return self.unicode();
            }
            _ => return Err(self.error(JsonErrorKind::Escape)),
        };
        self.at += 1;
        Ok(char)
    }

    /// Reads four digits, or twice four with another escape between: a pair of surrogates.
    fn unicode(&mut self) -> Result<char, JsonError> {
        let at = self.at;
        let error = JsonError {
            kind: JsonErrorKind::Escape,
            at,
        };
        let first = self.hex()?;
        if !(0xD800..0xDC00).contains(&first) {
            return char::from_u32(first).ok_or(error);
        }
        if !(self.eat(b'\\') && self.eat(b'u')) {
            return Err(error);
        }
        let second = self.hex()?;
        if !(0xDC00..0xE000).contains(&second) {
            return Err(error);
        }
        char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00)).ok_or(error)
    }

    fn hex(&mut self) -> Result<u32, JsonError> {
        let digits = self.text.get(self.at..self.at + 4).unwrap_or_default();
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(self.error(JsonErrorKind::Escape));
        }
        self.at += 4;
        u32::from_str_radix(digits, 16).map_err(|_| self.error(JsonErrorKind::Escape))
    }
}
