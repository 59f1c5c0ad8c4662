//! Three levels with entry and exit actions on each: `deep.md`. smlang and rust-fsm have no hierarchy.

pub mod in_statig {
    use crate::Counter;
    use statig::prelude::*;

    #[derive(Clone, Copy)]
    pub enum Event {
        Power,
        Play,
        Stop,
        Wind,
        Switch,
    }

    #[derive(Default)]
    pub struct Player(Counter);

    #[state_machine(initial = "State::off()", state(derive(Debug)))]
    impl Player {
        #[state(
            entry_action = "in_stopped",
            exit_action = "out_stopped",
            superstate = "tape"
        )]
        fn stopped(event: &Event) -> Outcome<State> {
            match event {
                Event::Play => Transition(State::playing()),
                _ => Super,
            }
        }

        #[state(
            entry_action = "in_playing",
            exit_action = "out_playing",
            superstate = "tape"
        )]
        fn playing(event: &Event) -> Outcome<State> {
            match event {
                Event::Stop => Transition(State::stopped()),
                Event::Wind => Transition(State::winding()),
                _ => Super,
            }
        }

        #[state(
            entry_action = "in_winding",
            exit_action = "out_winding",
            superstate = "tape"
        )]
        fn winding(event: &Event) -> Outcome<State> {
            match event {
                Event::Stop => Transition(State::stopped()),
                _ => Super,
            }
        }

        #[state(
            entry_action = "in_tuned",
            exit_action = "out_tuned",
            superstate = "radio"
        )]
        fn tuned(event: &Event) -> Outcome<State> {
            match event {
                Event::Wind => Transition(State::seeking()),
                _ => Super,
            }
        }

        #[state(
            entry_action = "in_seeking",
            exit_action = "out_seeking",
            superstate = "radio"
        )]
        fn seeking(event: &Event) -> Outcome<State> {
            match event {
                Event::Stop => Transition(State::tuned()),
                _ => Super,
            }
        }

        #[superstate(entry_action = "in_tape", exit_action = "out_tape", superstate = "on")]
        fn tape(event: &Event) -> Outcome<State> {
            match event {
                Event::Switch => Transition(State::tuned()),
                _ => Super,
            }
        }

        #[superstate(
            entry_action = "in_radio",
            exit_action = "out_radio",
            superstate = "on"
        )]
        fn radio(event: &Event) -> Outcome<State> {
            match event {
                Event::Switch => Transition(State::stopped()),
                _ => Super,
            }
        }

        #[superstate(entry_action = "in_on", exit_action = "out_on")]
        fn on(event: &Event) -> Outcome<State> {
            match event {
                Event::Power => Transition(State::off()),
                _ => Super,
            }
        }

        #[state(entry_action = "in_off", exit_action = "out_off")]
        fn off(event: &Event) -> Outcome<State> {
            match event {
                Event::Power => Transition(State::stopped()),
                _ => Super,
            }
        }

        #[action]
        fn in_stopped(&mut self) {
            self.0.add(0);
        }

        #[action]
        fn out_stopped(&mut self) {
            self.0.add(1);
        }

        #[action]
        fn in_playing(&mut self) {
            self.0.add(2);
        }

        #[action]
        fn out_playing(&mut self) {
            self.0.add(3);
        }

        #[action]
        fn in_winding(&mut self) {
            self.0.add(4);
        }

        #[action]
        fn out_winding(&mut self) {
            self.0.add(5);
        }

        #[action]
        fn in_tuned(&mut self) {
            self.0.add(6);
        }

        #[action]
        fn out_tuned(&mut self) {
            self.0.add(7);
        }

        #[action]
        fn in_seeking(&mut self) {
            self.0.add(8);
        }

        #[action]
        fn out_seeking(&mut self) {
            self.0.add(9);
        }

        #[action]
        fn in_off(&mut self) {
            self.0.add(10);
        }

        #[action]
        fn out_off(&mut self) {
            self.0.add(11);
        }

        #[action]
        fn in_on(&mut self) {
            self.0.add(12);
        }

        #[action]
        fn out_on(&mut self) {
            self.0.add(13);
        }

        #[action]
        fn in_tape(&mut self) {
            self.0.add(14);
        }

        #[action]
        fn out_tape(&mut self) {
            self.0.add(15);
        }

        #[action]
        fn in_radio(&mut self) {
            self.0.add(16);
        }

        #[action]
        fn out_radio(&mut self) {
            self.0.add(17);
        }
    }
}
