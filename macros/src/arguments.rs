//! The arguments of `machine!`.

use syn::parse::{Parse, ParseStream};
use syn::{Ident, LitStr, Token};

/// The arguments: a path or a text, then what to do with it.
pub(crate) struct Arguments {
    /// The path, or the text of the spec if it has a line end.
    pub(crate) text: LitStr,
    /// The name of the module, after `as`.
    pub(crate) module: Option<Ident>,
    /// True to write the states as types as well.
    pub(crate) typestate: bool,
    /// True to let actions fail where the spec doesn't say otherwise.
    pub(crate) actions_fail: bool,
    /// True to make errors of warnings.
    pub(crate) deny_warnings: bool,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let text = input.parse()?;
        let mut module = None;
        if input.peek(Token![as]) {
            input.parse::<Token![as]>()?;
            module = Some(input.parse()?);
        }
        let (mut typestate, mut actions_fail, mut deny_warnings) = (false, false, false);
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            let option: Ident = input.parse()?;
            if option == "typestate" {
                typestate = true;
            } else if option == "actions_fail" {
                actions_fail = true;
            } else if option == "deny_warnings" {
                deny_warnings = true;
            } else {
                return Err(syn::Error::new(
                    option.span(),
                    format!(
                        "unknown option `{option}`; there are `typestate`, `actions_fail` and `deny_warnings`"
                    ),
                ));
            }
        }
        Ok(Self {
            text,
            module,
            typestate,
            actions_fail,
            deny_warnings,
        })
    }
}
