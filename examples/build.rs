//! Compiles the spec of the traffic light into a module.

fn main() {
    statemark_compiler::build::Config::new()
        .runtime("::statemark::runtime")
        .spec("traffic_light/traffic_light.md")
        .compile();
}
