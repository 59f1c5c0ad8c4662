// Written by `statemark hook install opencode`: Statemark is asked before a tool runs, and told after it.
import { spawn } from "node:child_process";

const COMMAND = "statemark hook opencode";

export const Statemark = async ({ client, directory }) => {
  // Calls that were admitted and haven't ended, by their id.
  const open = new Map();
  // Sessions that began others, by the other's id; null for one that nobody began.
  const parents = new Map();

  const parentOf = async (id) => {
    if (!parents.has(id)) {
      const session = await client.session.get({ path: { id } });
      if (!session.data) throw new Error(`session ${id} isn't known`);
      parents.set(id, session.data.parentID ?? null);
    }
    return parents.get(id);
  };

  // A sub-agent is held with the session that it works for.
  const rootOf = async (id) => {
    const parent = await parentOf(id);
    return parent === null ? id : rootOf(parent);
  };

  const run = (message) =>
    new Promise((resolve, reject) => {
      const hook = spawn(COMMAND, { shell: true, cwd: directory });
      const said = { stdout: "", stderr: "" };
      for (const name of ["stdout", "stderr"]) {
        hook[name].setEncoding("utf8");
        hook[name].on("data", (text) => (said[name] += text));
      }
      hook.on("error", reject);
      hook.stdin.on("error", () => {});
      hook.on("close", (code) => {
        if (code === 0) resolve(said.stdout);
        else reject(new Error(said.stderr.trim() || `statemark hook exited with ${code}`));
      });
      hook.stdin.end(JSON.stringify(message));
    });

  // Returns what the hook says: nothing, a refusal, or something that the agent should know.
  const ask = async (hook_event_name, session, fields) => {
    const session_id = await rootOf(session);
    const agent = session === session_id ? {} : { agent_id: session };
    const text = await run({ hook_event_name, session_id, ...agent, cwd: directory, ...fields });
    return text.trim() ? (JSON.parse(text).hookSpecificOutput ?? {}) : {};
  };

  // Tells what has happened: whoever can't be told keeps nobody from going on.
  const tell = (...what) => ask(...what).catch(() => ({}));

  const describe = ({ tool, input }, callID) => ({ tool_name: tool, tool_input: input, tool_use_id: callID });

  return {
    // An executor denies all tools until it is certain that this is here.
    config: async (config) => {
      if (process.env.STATEMARK_ATTEMPT && typeof config.permission === "object") config.permission["*"] = "allow";
    },
    "experimental.chat.system.transform": async ({ sessionID }, { system }) => {
      if (!sessionID) return;
      const { additionalContext } = await tell("UserPromptSubmit", sessionID, {});
      if (additionalContext) system.push(additionalContext);
    },
    // What the states take away from commands, and what they set.
    "shell.env": async ({ sessionID }, { env }) => {
      if (!sessionID) return;
      const variables = (await ask("ShellEnv", sessionID, { tool_input: Object.keys(process.env) })).env ?? {};
      for (const [name, value] of Object.entries(variables)) env[name] = value ?? undefined;
    },
    "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
      const call = { tool, input: args, began: Date.now() };
      const said = await ask("PreToolUse", sessionID, describe(call, callID));
      if (said.permissionDecision === "deny") throw new Error(said.permissionDecisionReason);
      open.set(callID, call);
    },
    "tool.execute.after": async ({ sessionID, callID }, result) => {
      const call = open.get(callID);
      if (!call || !open.delete(callID)) return;
      const duration_ms = Date.now() - call.began;
      const fields = { ...describe(call, callID), tool_response: result.output ?? result.content, duration_ms };
      const { additionalContext } = await tell("PostToolUse", sessionID, fields);
      if (additionalContext && typeof result.output === "string") result.output += `\n${additionalContext}`;
    },
    event: async ({ event }) => {
      const { part, info } = event.properties ?? {};
      if (event.type === "message.part.updated" && part.type === "tool" && part.state.status === "error") {
        const call = open.get(part.callID);
        if (!call || !open.delete(part.callID)) return;
        const duration_ms = Date.now() - call.began;
        const fields = { ...describe(call, part.callID), tool_response: part.state.error, duration_ms };
        await tell("PostToolUseFailure", part.sessionID, fields);
      }
      if (event.type === "session.deleted" && info && !info.parentID) await tell("SessionEnd", info.id, {});
    },
  };
};
