//! The same with guards and actions: `guarded.md`. rust-fsm has no guards.

pub mod in_statig {
    use crate::Counter;
    use statig::prelude::*;

    #[derive(Clone, Copy)]
    pub enum Event {
        Proceed,
        Back,
        Confirm,
        Decline,
        Approve,
        Cancel,
        Report,
    }

    #[state_machine(initial = "State::cart()", state(derive(Debug)))]
    impl Counter {
        #[state]
        fn cart(&mut self, event: &Event) -> Outcome<State> {
            match event {
                Event::Proceed if self.filled() => Transition(State::checkout()),
                _ => Super,
            }
        }

        #[state]
        fn checkout(&mut self, event: &Event) -> Outcome<State> {
            match event {
                Event::Back => {
                    self.count();
                    Transition(State::cart())
                }
                Event::Confirm if self.known() => Transition(State::paying()),
                _ => Super,
            }
        }

        #[state]
        fn paying(&mut self, event: &Event) -> Outcome<State> {
            match event {
                Event::Decline => {
                    self.count();
                    Transition(State::checkout())
                }
                Event::Approve if self.covered() => {
                    self.book();
                    Transition(State::paid())
                }
                _ => Super,
            }
        }

        #[state]
        fn paid(&mut self, event: &Event) -> Outcome<State> {
            match event {
                Event::Proceed => Transition(State::packing()),
                Event::Cancel => {
                    self.book();
                    Transition(State::refunded())
                }
                _ => Super,
            }
        }

        #[state]
        fn packing(&mut self, event: &Event) -> Outcome<State> {
            match event {
                Event::Proceed if self.filled() => {
                    self.book();
                    Transition(State::shipped())
                }
                Event::Cancel => Transition(State::refunded()),
                Event::Back => {
                    self.count();
                    Transition(State::paid())
                }
                _ => Super,
            }
        }

        #[state]
        fn refunded(&mut self, event: &Event) -> Outcome<State> {
            match event {
                Event::Proceed if self.known() => Transition(State::cart()),
                Event::Back => {
                    self.count();
                    Transition(State::cart())
                }
                _ => Super,
            }
        }

        #[state]
        fn shipped(&mut self, event: &Event) -> Outcome<State> {
            match event {
                Event::Confirm if self.known() => Transition(State::delivered()),
                Event::Report => {
                    self.count();
                    Transition(State::lost())
                }
                _ => Super,
            }
        }

        #[state]
        fn delivered(&mut self, event: &Event) -> Outcome<State> {
            match event {
                Event::Report if self.known() => {
                    self.count();
                    Transition(State::returned())
                }
                Event::Proceed => Transition(State::cart()),
                _ => Super,
            }
        }

        #[state]
        fn lost(&mut self, event: &Event) -> Outcome<State> {
            match event {
                Event::Approve if self.covered() => {
                    self.book();
                    Transition(State::refunded())
                }
                Event::Proceed => Transition(State::packing()),
                _ => Super,
            }
        }

        #[state]
        fn returned(&mut self, event: &Event) -> Outcome<State> {
            match event {
                Event::Approve if self.covered() => {
                    self.book();
                    Transition(State::refunded())
                }
                Event::Decline => Transition(State::delivered()),
                _ => Super,
            }
        }
    }
}

pub mod in_smlang {
    use crate::Counter;

    smlang::statemachine! {
        derive_states: [Debug],
        derive_events: [Clone, Copy],
        transitions: {
            *Cart + Proceed [filled] = Checkout,
            Checkout + Back / count = Cart,
            Checkout + Confirm [known] = Paying,
            Paying + Decline / count = Checkout,
            Paying + Approve [covered] / book = Paid,
            Paid + Proceed = Packing,
            Paid + Cancel / book = Refunded,
            Packing + Proceed [filled] / book = Shipped,
            Packing + Cancel = Refunded,
            Packing + Back / count = Paid,
            Shipped + Confirm [known] = Delivered,
            Shipped + Report / count = Lost,
            Lost + Approve [covered] / book = Refunded,
            Lost + Proceed = Packing,
            Delivered + Report [known] / count = Returned,
            Delivered + Proceed = Cart,
            Returned + Approve [covered] / book = Refunded,
            Returned + Decline = Delivered,
            Refunded + Proceed [known] = Cart,
            Refunded + Back / count = Cart,
        }
    }

    impl StateMachineContext for Counter {
        fn filled(&self) -> Result<bool, ()> {
            Ok(self.filled())
        }

        fn known(&self) -> Result<bool, ()> {
            Ok(self.known())
        }

        fn covered(&self) -> Result<bool, ()> {
            Ok(self.covered())
        }

        fn count(&mut self) -> Result<(), ()> {
            self.count();
            Ok(())
        }

        fn book(&mut self) -> Result<(), ()> {
            self.book();
            Ok(())
        }
    }
}
