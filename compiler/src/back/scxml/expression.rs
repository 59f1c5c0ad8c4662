//! Expressions as SCXML's conditions and values.
//!
//! They are in the language of definitions, with the names that a document declares.

use std::ops::Range;

use statemark_runtime::{
    self as runtime, Dialect, FieldId, GuardId, Operator, Sections, StateId, TextId, spell,
};

use super::Writer;
use crate::arena::Handle;
use crate::back::table::program;
use crate::ir::{Constant, Expression};

impl Writer<'_> {
    /// Writes an expression, as a condition or a value.
    pub(super) fn expression(&self, expression: &Expression) -> String {
        let rows = program(expression);
        spell(
            &rows.code,
            &Document {
                writer: self,
                rows: &rows,
            },
        )
    }
}

/// The language of a document.
///
/// Literals are in single quotes, so that they can be in attributes as they are.
struct Document<'w> {
    writer: &'w Writer<'w>,
    rows: &'w Sections,
}

impl Document<'_> {
    fn literal(&self, text: TextId) -> &str {
        self.rows.texts.get(text.index()).map_or("", AsRef::as_ref)
    }

    fn is_same(&self, written: &runtime::Constant, constant: &Constant) -> bool {
        match (written, constant) {
            (runtime::Constant::Null, Constant::Null) => true,
            (runtime::Constant::Bool(one), Constant::Bool(other)) => one == other,
            (runtime::Constant::Int(one), Constant::Int(other)) => one == other,
            (runtime::Constant::Float(one), Constant::Float(other)) => one == other,
            (runtime::Constant::Text(one), Constant::Text(other)) => self.literal(*one) == other,
            _ => false,
        }
    }
}

impl Dialect for Document<'_> {
    fn field(&self, field: FieldId) -> String {
        let fields = &self.writer.machine.fields;
        fields.at(Handle::at(field.index())).path.clone()
    }

    fn guard(&self, guard: GuardId) -> String {
        let declared = &self.writer.declared;
        declared.name_of_host(Handle::at(guard.index())).to_owned()
    }

    fn in_state(&self, state: StateId) -> String {
        format!("In({})", quoted(self.writer.states.get(state.index())))
    }

    fn constants(&self, range: &Range<u32>) -> &[runtime::Constant] {
        let range = range.start as usize..range.end as usize;
        self.rows.constants.get(range).unwrap_or_default()
    }

    fn text(&self, text: TextId) -> String {
        quoted(self.literal(text))
    }

    fn comparison(&self, field: FieldId, operator: Operator, range: &Range<u32>) -> Option<&str> {
        let written = self.constants(range);
        self.writer.declared.comparison(|other, how, constants| {
            let mut pairs = written.iter().zip(constants);
            other.index() == field.index()
                && how == operator
                && written.len() == constants.len()
                && pairs.all(|(written, constant)| self.is_same(written, constant))
        })
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("'");
    for letter in text.chars() {
        match letter {
            '\\' => quoted.push_str("\\\\"),
            '\'' => quoted.push_str("\\'"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            letter if letter.is_control() => {
                quoted.push_str(&format!("\\u{:04x}", u32::from(letter)));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('\'');
    quoted
}
