//! The machines as somebody writes them who has no generator: one `match` over state and event.

pub(crate) mod flat {
    use crate::flat::{Event, State};

    pub(crate) struct Machine {
        pub(crate) state: State,
    }

    impl Machine {
        pub(crate) fn new(_host: ()) -> Self {
            Self { state: State::Cart }
        }

        pub(crate) fn host(&self) -> &Self {
            self
        }

        #[inline]
        pub(crate) fn send(&mut self, event: Event) -> bool {
            self.state = match (self.state, event) {
                (State::Cart, Event::Proceed) => State::Checkout,
                (State::Checkout, Event::Back) => State::Cart,
                (State::Checkout, Event::Confirm) => State::Paying,
                (State::Paying, Event::Decline) => State::Checkout,
                (State::Paying, Event::Approve) => State::Paid,
                (State::Paid, Event::Proceed) => State::Packing,
                (State::Paid, Event::Cancel) => State::Refunded,
                (State::Packing, Event::Proceed) => State::Shipped,
                (State::Packing, Event::Cancel) => State::Refunded,
                (State::Packing, Event::Back) => State::Paid,
                (State::Shipped, Event::Confirm) => State::Delivered,
                (State::Shipped, Event::Report) => State::Lost,
                (State::Lost, Event::Approve) => State::Refunded,
                (State::Lost, Event::Proceed) => State::Packing,
                (State::Delivered, Event::Report) => State::Returned,
                (State::Delivered, Event::Proceed) => State::Cart,
                (State::Returned, Event::Approve) => State::Refunded,
                (State::Returned, Event::Decline) => State::Delivered,
                (State::Refunded, Event::Proceed) => State::Cart,
                (State::Refunded, Event::Back) => State::Cart,
                _ => return false,
            };
            true
        }
    }
}

pub(crate) mod guarded {
    use crate::Counter;
    use crate::guarded::{Event, Host as _, State};

    pub(crate) struct Machine {
        pub(crate) state: State,
        host: Counter,
    }

    impl Machine {
        pub(crate) fn new(host: Counter) -> Self {
            Self {
                state: State::Cart,
                host,
            }
        }

        pub(crate) fn host(&self) -> &Counter {
            &self.host
        }

        #[inline]
        pub(crate) fn send(&mut self, event: Event) -> bool {
            self.state = match (self.state, event) {
                (State::Cart, Event::Proceed) if self.host.filled() => State::Checkout,
                (State::Checkout, Event::Back) => {
                    self.host.count();
                    State::Cart
                }
                (State::Checkout, Event::Confirm) if self.host.known() => State::Paying,
                (State::Paying, Event::Decline) => {
                    self.host.count();
                    State::Checkout
                }
                (State::Paying, Event::Approve) if self.host.covered() => {
                    self.host.book();
                    State::Paid
                }
                (State::Paid, Event::Proceed) => State::Packing,
                (State::Paid, Event::Cancel) => {
                    self.host.book();
                    State::Refunded
                }
                (State::Packing, Event::Proceed) if self.host.filled() => {
                    self.host.book();
                    State::Shipped
                }
                (State::Packing, Event::Cancel) => State::Refunded,
                (State::Packing, Event::Back) => {
                    self.host.count();
                    State::Paid
                }
                (State::Shipped, Event::Confirm) if self.host.known() => State::Delivered,
                (State::Shipped, Event::Report) => {
                    self.host.count();
                    State::Lost
                }
                (State::Lost, Event::Approve) if self.host.covered() => {
                    self.host.book();
                    State::Refunded
                }
                (State::Lost, Event::Proceed) => State::Packing,
                (State::Delivered, Event::Report) if self.host.known() => {
                    self.host.count();
                    State::Returned
                }
                (State::Delivered, Event::Proceed) => State::Cart,
                (State::Returned, Event::Approve) if self.host.covered() => {
                    self.host.book();
                    State::Refunded
                }
                (State::Returned, Event::Decline) => State::Delivered,
                (State::Refunded, Event::Proceed) if self.host.known() => State::Cart,
                (State::Refunded, Event::Back) => {
                    self.host.count();
                    State::Cart
                }
                _ => return false,
            };
            true
        }
    }
}

pub(crate) mod deep {
    use crate::Counter;
    use crate::deep::{Event, Host as _, State};

    pub(crate) struct Machine {
        pub(crate) state: State,
        host: Counter,
    }

    impl Machine {
        pub(crate) fn new(host: Counter) -> Self {
            let mut host = host;
            host.in_off();
            Self {
                state: State::Off,
                host,
            }
        }

        pub(crate) fn host(&self) -> &Counter {
            &self.host
        }

        #[inline]
        pub(crate) fn send(&mut self, event: Event) -> bool {
            let host = &mut self.host;
            self.state = match (self.state, event) {
                (State::Stopped, Event::Play) => {
                    host.out_stopped();
                    host.in_playing();
                    State::Playing
                }
                (State::Playing, Event::Stop) => {
                    host.out_playing();
                    host.in_stopped();
                    State::Stopped
                }
                (State::Playing, Event::Wind) => {
                    host.out_playing();
                    host.in_winding();
                    State::Winding
                }
                (State::Winding, Event::Stop) => {
                    host.out_winding();
                    host.in_stopped();
                    State::Stopped
                }
                (State::Tuned, Event::Wind) => {
                    host.out_tuned();
                    host.in_seeking();
                    State::Seeking
                }
                (State::Seeking, Event::Stop) => {
                    host.out_seeking();
                    host.in_tuned();
                    State::Tuned
                }
                (State::Stopped, Event::Switch) => {
                    host.out_stopped();
                    host.out_tape();
                    host.in_radio();
                    host.in_tuned();
                    State::Tuned
                }
                (State::Stopped, Event::Power) => {
                    host.out_stopped();
                    host.out_tape();
                    host.out_on();
                    host.in_off();
                    State::Off
                }
                (State::Playing, Event::Switch) => {
                    host.out_playing();
                    host.out_tape();
                    host.in_radio();
                    host.in_tuned();
                    State::Tuned
                }
                (State::Playing, Event::Power) => {
                    host.out_playing();
                    host.out_tape();
                    host.out_on();
                    host.in_off();
                    State::Off
                }
                (State::Winding, Event::Switch) => {
                    host.out_winding();
                    host.out_tape();
                    host.in_radio();
                    host.in_tuned();
                    State::Tuned
                }
                (State::Winding, Event::Power) => {
                    host.out_winding();
                    host.out_tape();
                    host.out_on();
                    host.in_off();
                    State::Off
                }
                (State::Tuned, Event::Switch) => {
                    host.out_tuned();
                    host.out_radio();
                    host.in_tape();
                    host.in_stopped();
                    State::Stopped
                }
                (State::Tuned, Event::Power) => {
                    host.out_tuned();
                    host.out_radio();
                    host.out_on();
                    host.in_off();
                    State::Off
                }
                (State::Seeking, Event::Switch) => {
                    host.out_seeking();
                    host.out_radio();
                    host.in_tape();
                    host.in_stopped();
                    State::Stopped
                }
                (State::Seeking, Event::Power) => {
                    host.out_seeking();
                    host.out_radio();
                    host.out_on();
                    host.in_off();
                    State::Off
                }
                (State::Off, Event::Power) => {
                    host.out_off();
                    host.in_on();
                    host.in_tape();
                    host.in_stopped();
                    State::Stopped
                }
                _ => return false,
            };
            true
        }
    }
}

pub(crate) mod regions {
    use crate::regions::{Event, State};

    pub(crate) struct Machine {
        is_on: bool,
        deck: State,
        volume: State,
        light: State,
    }

    impl Machine {
        pub(crate) fn new() -> Self {
            Self {
                is_on: false,
                deck: State::Stopped,
                volume: State::Normal,
                light: State::Bright,
            }
        }

        /// The leaves; while the machine is off all three are that one.
        pub(crate) fn leaves(&self) -> [State; 3] {
            if self.is_on {
                [self.deck, self.volume, self.light]
            } else {
                [State::Off; 3]
            }
        }

        #[inline]
        pub(crate) fn send(&mut self, event: Event) -> bool {
            if event == Event::Power {
                self.is_on = !self.is_on;
                return true;
            }
            if !self.is_on {
                return false;
            }
            match (event, self.deck, self.volume, self.light) {
                (Event::Play, State::Stopped | State::Paused, ..) => self.deck = State::Playing,
                (Event::Pause, State::Playing, ..) => self.deck = State::Paused,
                (Event::Stop, State::Playing | State::Paused, ..) => self.deck = State::Stopped,
                (Event::Mute, _, State::Normal, _) => self.volume = State::Muted,
                (Event::Mute, _, State::Muted, _) => self.volume = State::Normal,
                (Event::Louder, _, State::Normal, _) => self.volume = State::Loud,
                (Event::Quieter, _, State::Loud, _) => self.volume = State::Normal,
                (Event::Darken, _, _, State::Bright) => self.light = State::Dim,
                (Event::Lighten, _, _, State::Dim) => self.light = State::Bright,
                _ => return false,
            }
            true
        }
    }
}
