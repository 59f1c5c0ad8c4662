// Asks Codex' app-server which tools its MCP servers have, and prints a line for each server: its name, then its tools.
// Usage: node codex.mjs CODEX
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const codex = spawn(process.argv[2], ["app-server"], { stdio: ["pipe", "pipe", "inherit"] });
const late = setTimeout(() => fail("no answer within 60 seconds"), 60_000);
const say = (message) => codex.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");

function fail(why) {
  console.error(why);
  codex.kill();
  process.exit(1);
}

say({ id: 1, method: "initialize", params: { clientInfo: { name: "statemark-tests", title: null, version: "1" } } });
for await (const line of createInterface({ input: codex.stdout })) {
  const message = JSON.parse(line);
  if (message.error) fail(JSON.stringify(message.error));
  if (message.id === 1) {
    say({ method: "initialized" });
    say({ id: 2, method: "mcpServerStatus/list", params: {} });
  }
  if (message.id === 2) {
    for (const server of message.result.data) {
      console.log(server.name, ...Object.keys(server.tools).sort());
    }
    clearTimeout(late);
    codex.kill();
    process.exit(0);
  }
}
fail("Codex ended without an answer");
