#!/usr/bin/env node
// Starts the program of the package for this system, which npm has installed beside this one. Nothing is downloaded here,
// so that it works without a network and with `--ignore-scripts`.
"use strict";

const { spawn } = require("node:child_process");

const system = `${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "statemark.exe" : "statemark";

let program;
try {
    program = require.resolve(`@statemark/${system}/${file}`);
} catch {
    console.error(
        `error: there is no package @statemark/${system}\n  help: install with optional dependencies, or build the program: cargo install statemark-cli`,
    );
    process.exit(2);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => {
    console.error(`error: ${program} can't be started: ${error.message}`);
    process.exit(2);
});
// A terminal sends Ctrl-C to both, and a service manager ends this one alone; the program decides what either means.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) {
    process.on(signal, () => child.kill(signal));
}
child.on("exit", (status, signal) => {
    if (signal) {
        process.removeAllListeners(signal);
        process.kill(process.pid, signal);
    } else {
        process.exitCode = status;
    }
});
