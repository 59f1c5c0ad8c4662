// Cursor's own reader and runner of hooks, as `@cursor/sdk` has them, without its agent: that works at Cursor's servers, which ask for
// an account. The package doesn't export them, so a copy of it is made that does.
// Usage: node cursor.mjs SDK PROJECT      SDK is the folder with node_modules. Reads events, one a line: {"step": …, …fields};
// runs the hooks of the project's .cursor/hooks.json, and prints the answer to each
import { spawn } from "node:child_process";
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";

const [sdk, project] = process.argv.slice(2);

/** Replaces a text that has to be in a file exactly once. */
function replace(file, text, by) {
  const [before, after, ...more] = readFileSync(file, "utf8").split(text);
  if (after === undefined || more.length > 0) throw new Error(`\`${text}\` isn't in ${file} once: is it another version?`);
  writeFileSync(file, before + by + after);
}

const copy = join(sdk, "hooks");
rmSync(copy, { recursive: true, force: true });
cpSync(join(sdk, "node_modules/@cursor/sdk/dist/cjs"), copy, { recursive: true });
writeFileSync(join(copy, "package.json"), '{"type": "commonjs"}');
replace(join(copy, "342.js"), "class pE{constructor(", "globalThis.hooks=()=>({Reader:gE,Runner:pE});class pE{constructor(");
replace(join(copy, "index.js"), ",i.e=", ",globalThis.bundle=i,i.e=");
createRequire(import.meta.url)(join(copy, "index.js"));
await Promise.all([bundle.e(360), bundle.e(342)]);
bundle("./src/agent/local-executor.ts");
const { Reader, Runner } = globalThis.hooks();

const files = { readFile: (path) => readFile(path, "utf8"), exists: async (path) => existsSync(path) };
const config = await new Reader(files, { projectConfigPath: join(project, ".cursor/hooks.json") }).load();
if (config.errors.length > 0) throw new Error(JSON.stringify(config.errors));

/** The terminal's part: it runs a command by a shell. */
const shell = {
  async *execute(_, command, { workingDirectory: cwd, env }) {
    const child = spawn("bash", ["-c", command], { cwd, env: { ...process.env, ...env } });
    const said = [];
    for (const type of ["stdout", "stderr"]) child[type].on("data", (data) => said.push({ type, data }));
    const code = await new Promise((resolve) => child.on("close", resolve));
    yield* said;
    yield { type: "exit", code };
  },
};

const runner = new Runner(config, project, { cursor_version: "1.0.32" }, shell);
const session = { conversation_id: "session", generation_id: "turn", model: "scripted" };
for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const { step, ...fields } = JSON.parse(line);
  console.log(JSON.stringify((await runner.executeHookForStep(step, { ...session, ...fields })) ?? {}));
}
