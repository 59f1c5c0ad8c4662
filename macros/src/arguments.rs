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
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let text = input.parse()?;
        let mut module = None;
        if input.peek(Token![as]) {
            input.parse::<Token![as]>()?;
            module = Some(input.parse()?);
        }
        let mut typestate = false;
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            let option: Ident = input.parse()?;
            if option != "typestate" {
                return Err(syn::Error::new(
                    option.span(),
                    format!("unknown option `{option}`; there is `typestate`"),
                ));
            }
            typestate = true;
        }
        Ok(Self {
            text,
            module,
            typestate,
        })
    }
}
