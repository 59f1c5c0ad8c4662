//! Ten states and twenty transitions, nothing else: `flat.md`.

pub mod in_statig {
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

    #[derive(Default)]
    pub struct Order;

    #[state_machine(initial = "State::cart()", state(derive(Debug)))]
    impl Order {
        #[state]
        fn cart(event: &Event) -> Outcome<State> {
            match event {
                Event::Proceed => Transition(State::checkout()),
                _ => Super,
            }
        }

        #[state]
        fn checkout(event: &Event) -> Outcome<State> {
            match event {
                Event::Back => Transition(State::cart()),
                Event::Confirm => Transition(State::paying()),
                _ => Super,
            }
        }

        #[state]
        fn paying(event: &Event) -> Outcome<State> {
            match event {
                Event::Decline => Transition(State::checkout()),
                Event::Approve => Transition(State::paid()),
                _ => Super,
            }
        }

        #[state]
        fn paid(event: &Event) -> Outcome<State> {
            match event {
                Event::Proceed => Transition(State::packing()),
                Event::Cancel => Transition(State::refunded()),
                _ => Super,
            }
        }

        #[state]
        fn packing(event: &Event) -> Outcome<State> {
            match event {
                Event::Proceed => Transition(State::shipped()),
                Event::Cancel => Transition(State::refunded()),
                Event::Back => Transition(State::paid()),
                _ => Super,
            }
        }

        #[state]
        fn refunded(event: &Event) -> Outcome<State> {
            match event {
                Event::Proceed => Transition(State::cart()),
                Event::Back => Transition(State::cart()),
                _ => Super,
            }
        }

        #[state]
        fn shipped(event: &Event) -> Outcome<State> {
            match event {
                Event::Confirm => Transition(State::delivered()),
                Event::Report => Transition(State::lost()),
                _ => Super,
            }
        }

        #[state]
        fn delivered(event: &Event) -> Outcome<State> {
            match event {
                Event::Report => Transition(State::returned()),
                Event::Proceed => Transition(State::cart()),
                _ => Super,
            }
        }

        #[state]
        fn lost(event: &Event) -> Outcome<State> {
            match event {
                Event::Approve => Transition(State::refunded()),
                Event::Proceed => Transition(State::packing()),
                _ => Super,
            }
        }

        #[state]
        fn returned(event: &Event) -> Outcome<State> {
            match event {
                Event::Approve => Transition(State::refunded()),
                Event::Decline => Transition(State::delivered()),
                _ => Super,
            }
        }
    }
}

pub mod in_smlang {
    smlang::statemachine! {
        derive_states: [Debug],
        derive_events: [Clone, Copy],
        transitions: {
            *Cart + Proceed = Checkout,
            Checkout + Back = Cart,
            Checkout + Confirm = Paying,
            Paying + Decline = Checkout,
            Paying + Approve = Paid,
            Paid + Proceed = Packing,
            Paid + Cancel = Refunded,
            Packing + Proceed = Shipped,
            Packing + Cancel = Refunded,
            Packing + Back = Paid,
            Shipped + Confirm = Delivered,
            Shipped + Report = Lost,
            Lost + Approve = Refunded,
            Lost + Proceed = Packing,
            Delivered + Report = Returned,
            Delivered + Proceed = Cart,
            Returned + Approve = Refunded,
            Returned + Decline = Delivered,
            Refunded + Proceed = Cart,
            Refunded + Back = Cart,
        }
    }

    pub struct Context;

    impl StateMachineContext for Context {}
}

rust_fsm::state_machine! {
    #[derive(Clone, Copy, Debug)]
    /// The machine in rust-fsm, which has its own module.
    pub in_rust_fsm(Cart)

        Cart => {
            Proceed => Checkout,
        },
        Checkout => {
            Back => Cart,
            Confirm => Paying,
        },
        Paying => {
            Decline => Checkout,
            Approve => Paid,
        },
        Paid => {
            Proceed => Packing,
            Cancel => Refunded,
        },
        Packing => {
            Proceed => Shipped,
            Cancel => Refunded,
            Back => Paid,
        },
        Refunded => {
            Proceed => Cart,
            Back => Cart,
        },
        Shipped => {
            Confirm => Delivered,
            Report => Lost,
        },
        Delivered => {
            Report => Returned,
            Proceed => Cart,
        },
        Lost => {
            Approve => Refunded,
            Proceed => Packing,
        },
        Returned => {
            Approve => Refunded,
            Decline => Delivered,
        },
}
