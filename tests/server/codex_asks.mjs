// Lets Codex' app-server work in a project whose hooks a person has trusted, and says yes to what it asks. Prints each question's
// command, one a line, as JSON.
// Usage: node codex_asks.mjs CODEX PROJECT      Adds the trust to the configuration in CODEX_HOME
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [program, project] = process.argv.slice(2);

/** Talks with a new app-server until `hear` returns something: it gets each message, and a function that answers. */
async function talk(hear) {
  const codex = spawn(program, ["app-server"], { stdio: ["pipe", "pipe", "inherit"] });
  const late = setTimeout(() => codex.kill(), 60_000);
  const say = (message) => codex.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
  say({ id: 1, method: "initialize", params: { clientInfo: { name: "statemark-tests", title: null, version: "1" } } });
  for await (const line of createInterface({ input: codex.stdout })) {
    const message = JSON.parse(line);
    if (message.error) throw new Error(line);
    if (message.id === 1) say({ method: "initialized" });
    const end = hear(message, say);
    if (end === undefined) continue;
    clearTimeout(late);
    codex.kill();
    return end;
  }
  throw new Error("Codex ended without an answer, or took more than 60 seconds");
}

const hooks = await talk((message, say) => {
  if (message.id === 1) say({ id: 2, method: "hooks/list", params: { cwds: [project] } });
  return message.id === 2 ? message.result.data[0].hooks : undefined;
});
for (const { key, currentHash } of hooks) {
  const trust = `[hooks.state.${JSON.stringify(key)}]\ntrusted_hash = ${JSON.stringify(currentHash)}\n`;
  appendFileSync(join(process.env.CODEX_HOME, "config.toml"), trust);
}

await talk((message, say) => {
  if (message.id === 1) {
    say({ id: 2, method: "thread/start", params: { cwd: project, approvalPolicy: "on-request", sandbox: "read-only" } });
  } else if (message.id === 2) {
    const input = [{ type: "text", text: "go", text_elements: [] }];
    say({ id: 3, method: "turn/start", params: { threadId: message.result.thread.id, input } });
  } else if (message.method === "item/commandExecution/requestApproval") {
    console.log(JSON.stringify(message.params.command));
    say({ id: message.id, result: { decision: "accept" } });
  }
  return message.method === "turn/completed" ? true : undefined;
});
