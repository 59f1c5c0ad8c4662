//! A pedestrian crossing: `build.rs` made a module of `traffic_light.md`, which is included here.

use std::io::Write as _;

include!(concat!(env!("OUT_DIR"), "/traffic_light.rs"));

use traffic_light::{Event, Host, Machine, Super};

/// The lamps and the button.
#[derive(Default)]
struct Crossing {
    pressed: bool,
    lamps: Vec<&'static str>,
}

impl Host for Crossing {
    fn somebody_waits(&self) -> bool {
        self.pressed
    }

    fn cars_green(&mut self) {
        self.lamps.push("green for cars");
    }

    fn cars_yellow(&mut self) {
        self.lamps.push("yellow for cars");
    }

    fn cars_red(&mut self) {
        self.lamps.push("red for cars");
    }

    fn people_green(&mut self) {
        self.lamps.push("green for people");
    }

    fn people_red(&mut self) {
        self.lamps.push("red for people");
    }

    fn reset_button(&mut self) {
        self.pressed = false;
    }

    fn start_flashing(&mut self) {
        self.lamps.push("yellow flashes");
    }

    fn stop_flashing(&mut self) {
        self.lamps.push("the flashing stops");
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout().lock();
    let mut light = Machine::new(Crossing::default());
    write_step(&mut out, "power on", &mut light)?;
    let minute = [
        Event::Tick,
        Event::Tick,
        Event::Switch,
        Event::Tick,
        Event::Switch,
        Event::Fault,
        Event::Repaired,
    ];
    for (second, event) in minute.into_iter().enumerate() {
        if second == 1 {
            light.host_mut().pressed = true;
            writeln!(out, "{:<10}somebody presses the button", "")?;
        }
        if light.send(event)?.is_taken() {
            write_step(&mut out, event.name(), &mut light)?;
        }
        if light.is_in(Super::People) && !light.can(Event::Tick) {
            writeln!(
                out,
                "{:<10}last call: only {:?} may come now",
                "",
                light.events().collect::<Vec<_>>()
            )?;
        }
    }
    Ok(())
}

/// Writes one line: the input, the active states, the work of the lamps.
fn write_step(
    out: &mut impl std::io::Write,
    what: &str,
    light: &mut Machine<Crossing>,
) -> std::io::Result<()> {
    let lamps = std::mem::take(&mut light.host_mut().lamps);
    writeln!(
        out,
        "{what:<10}{:<10}{}",
        light.state().name(),
        lamps.join(", ")
    )
}
