//! The effects that a spec declares: the enum `Effect`, due effects, and the traits of their hosts.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use super::host::action_docs;
use crate::back::rust::facts::Facts;
use crate::back::rust::tokens::doc;

/// Writes the types, if the machine declares effects.
pub(in crate::back::rust) fn write(facts: &Facts<'_>) -> Option<TokenStream> {
    if !facts.has_effects() {
        return None;
    }
    let effects = || facts.effects();
    let names: Vec<_> = effects().map(|(handle, _)| facts.action(handle)).collect();
    let texts: Vec<_> = effects().map(|(_, action)| action.name.as_str()).collect();
    let docs: Vec<_> = effects()
        .map(|(handle, action)| doc(&action_docs(facts, handle, action)))
        .collect();
    let methods: Vec<_> = effects()
        .map(|(handle, _)| Ident::new(facts.names.action(handle), Span::call_site()))
        .collect();
    let context = facts.data.is_some().then(|| {
        quote! {
            /// The context as it was at its action.
            pub context: Context,
        }
    });
    Some(quote! {
        /// An effect that the spec declares.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Effect {
            #(#docs #names,)*
        }

        impl Effect {
            /// Every effect, in the order of the spec.
            pub const ALL: &'static [Self] = &[#(Self::#names),*];

            /// Returns its name in the spec.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    #(Self::#names => #texts,)*
                }
            }

            /// Finds the effect of that name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().find(|effect| effect.name() == name).copied()
            }
        }

        impl ::core::fmt::Display for Effect {
            fn fmt(&self, out: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                out.write_str(self.name())
            }
        }

        /// An effect that the machine has decided, and that isn't settled.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Due {
            /// The key, which no other effect of this machine has; a repetition has the same.
            pub key: u64,
            /// The effect.
            pub effect: Effect,
            #context
        }

        /// Carries out effects. One that was interrupted comes again, with the same key.
        pub trait EffectHost {
            /// The reason why an effect could not be carried out.
            type Error;

            #(
                #docs
                ///
                /// # Errors
                ///
                /// It could not be carried out; it stays due.
                fn #methods(&mut self, due: &Due) -> Result<(), Self::Error>;
            )*
        }

        /// Carries out effects, as an [`EffectHost`] that is awaited.
        pub trait AsyncHost {
            /// The reason why an effect could not be carried out.
            type Error;

            #(
                #docs
                ///
                /// # Errors
                ///
                /// It could not be carried out; it stays due.
                fn #methods(
                    &mut self,
                    due: &Due,
                ) -> impl ::core::future::Future<Output = Result<(), Self::Error>>;
            )*
        }
    })
}

/// Writes the methods of the machine.
pub(in crate::back::rust) fn methods(facts: &Facts<'_>) -> Option<TokenStream> {
    if !facts.has_effects() {
        return None;
    }
    let names: Vec<_> = facts
        .effects()
        .map(|(handle, _)| facts.action(handle))
        .collect();
    let methods: Vec<_> = facts
        .effects()
        .map(|(handle, _)| Ident::new(facts.names.action(handle), Span::call_site()))
        .collect();
    Some(quote! {
        /// Returns the effects that are due, oldest first. Each stays until it is settled.
        #[must_use]
        pub fn due(&self) -> &[Due] {
            self.effects.due()
        }

        /// Reports that an effect was carried out. Returns false if none is due that has the key.
        pub fn settled(&mut self, key: u64) -> bool {
            self.effects.forget(|due| due.key == key)
        }

        /// Hands over what is due, one effect after the other, and settles each that was carried out.
        ///
        /// # Errors
        ///
        /// An effect could not be carried out. It and those behind it stay due.
        pub fn hand_over<E: EffectHost>(&mut self, host: &mut E) -> Result<(), E::Error> {
            while let Some(due) = self.effects.due().first() {
                let key = due.key;
                match due.effect {
                    #(Effect::#names => host.#methods(due)?,)*
                }
                self.settled(key);
            }
            Ok(())
        }

        /// Hands over due effects as [`Machine::hand_over`] does, and awaits each of them, on any executor.
        ///
        /// # Errors
        ///
        /// An effect could not be carried out. It and those behind it stay due.
        pub async fn hand_over_async<E: AsyncHost>(&mut self, host: &mut E) -> Result<(), E::Error> {
            while let Some(due) = self.effects.due().first() {
                let key = due.key;
                match due.effect {
                    #(Effect::#names => host.#methods(due).await?,)*
                }
                self.settled(key);
            }
            Ok(())
        }
    })
}
