//! Every way to call the macro.

// Beside this file.
statemark::machine!("door.md");
// Under another name, with types.
statemark::machine!("door.md" as gate, typestate);
// A diagram alone needs a name.
statemark::machine!("stateDiagram-v2
    [*] --> on
    on --> off : press
    off --> on : press
" as lamp);
// Two machines.
statemark::machine!(r#"
## STATE-MACHINE: ping

```mermaid
stateDiagram-v2
    [*] --> a
    a --> [*] : over
```

## STATE-MACHINE: pong

```mermaid
stateDiagram-v2
    [*] --> b
    b --> [*] : over
```
"#);

#[derive(Default)]
struct Hinge(u32);

impl door::Host for Hinge {
    fn squeak(&mut self) {
        self.0 += 1;
    }
}

impl gate::Host for Hinge {
    fn squeak(&mut self) {
        self.0 += 1;
    }
}

fn main() {
    let mut door = door::Machine::new(Hinge::default());
    assert_eq!(door.send(door::Event::Push), Ok(statemark::Outcome::Taken));
    assert_eq!(door.send(door::Event::Push), Ok(statemark::Outcome::Ignored));
    assert_eq!((door.state(), door.host().0), (door::State::Open, 1));

    let gate = gate::typestate::Gate::new(Hinge::default()).push().pull().push();
    assert_eq!(gate.into_host().0, 2);

    const OFF: Option<lamp::State> = lamp::State::INITIAL.on(lamp::Event::Press);
    assert_eq!(OFF, Some(lamp::State::Off));

    let mut ping = ping::Machine::new(());
    assert_eq!(ping.send(ping::Event::Over), Ok(statemark::Outcome::Ended));
    assert_eq!(ping.send(ping::Event::Over), Err(statemark::StepError::Ended));
    assert_eq!(pong::State::ALL.len(), 2);

    let snapshot = door.snapshot();
    let again = door::Machine::restore(Hinge::default(), snapshot).unwrap();
    assert_eq!((again.state(), again.host().0), (door::State::Open, 0));
    assert!(gate::Machine::restore(Hinge::default(), lamp::Machine::new(()).snapshot()).is_err());
}
