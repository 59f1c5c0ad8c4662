// A model that is scripted: it serves the Messages API, the Responses API and the Gemini API on the loopback, and answers the
// turns of a conversation by the calls of a file, one after another, then with a text. What the client sends back goes into a log.
// Usage: node model.mjs SCRIPT LOG      SCRIPT has one call a line: {"name": …, "input": {…}}; prints its address
import { appendFileSync, readFileSync } from "node:fs";
import { createServer } from "node:http";

const [script, log] = process.argv.slice(2);
const calls = readFileSync(script, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
let turn = 0;

/** Writes what tools have answered, one a line. */
function note(texts) {
  for (const text of texts) appendFileSync(log, JSON.stringify(text) + "\n");
}

/** Returns the next call; none where the script has ended. */
const next = () => calls[turn++];

const stream = (response, events) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const [event, data] of events) response.write(`event: ${event}\ndata: ${JSON.stringify({ type: event, ...data })}\n\n`);
  response.end();
};

const answer = (response, body) => {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
};

/** Answers a turn of the Messages API. */
function messages(request, response) {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const last = request.messages.at(-1);
  const results = Array.isArray(last.content) ? last.content.filter((block) => block.type === "tool_result") : [];
  // Titles and other asides come without tools.
  const isMain = (request.tools ?? []).length > 0;
  if (isMain) note(results.map((block) => block.content));
  const call = isMain ? next() : undefined;
  const block = call
    ? { type: "tool_use", id: `toolu_${turn}`, name: call.name, input: {} }
    : { type: "text", text: "" };
  const delta = call
    ? { type: "input_json_delta", partial_json: JSON.stringify(call.input) }
    : { type: "text_delta", text: "done" };
  const stop_reason = call ? "tool_use" : "end_turn";
  const message = { id: `msg_${turn}`, type: "message", role: "assistant", model: request.model, content: [], stop_reason: null, stop_sequence: null, usage };
  if (!request.stream) {
    const content = [call ? { ...block, input: call.input } : { type: "text", text: "done" }];
    return answer(response, { ...message, content, stop_reason });
  }
  stream(response, [
    ["message_start", { message }],
    ["content_block_start", { index: 0, content_block: block }],
    ["content_block_delta", { index: 0, delta }],
    ["content_block_stop", { index: 0 }],
    ["message_delta", { delta: { stop_reason, stop_sequence: null }, usage }],
    ["message_stop", {}],
  ]);
}

/** Answers a turn of the Responses API. */
function responses(request, response) {
  const input = Array.isArray(request.input) ? request.input : [];
  // Each turn has the whole conversation: only what came behind the last call is new.
  const from = input.findLastIndex((item) => /_call$/.test(item.type)) + 1;
  note(input.slice(from).filter((item) => /_output$/.test(item.type)).map((item) => item.output));
  const call = next();
  const id = `call_${turn}`;
  const item = !call
    ? { type: "message", role: "assistant", id: `msg_${turn}`, content: [{ type: "output_text", text: "done" }] }
    : typeof call.input === "string"
      ? { type: "custom_tool_call", id: `ct_${turn}`, call_id: id, name: call.name, input: call.input }
      : { type: "function_call", id: `fc_${turn}`, call_id: id, name: call.name, ...(call.namespace && { namespace: call.namespace }), arguments: JSON.stringify(call.input) };
  const usage = { input_tokens: 1, input_tokens_details: null, output_tokens: 1, output_tokens_details: null, total_tokens: 2 };
  stream(response, [
    ["response.created", { response: { id: `resp_${turn}` } }],
    ["response.output_item.done", { item }],
    ["response.completed", { response: { id: `resp_${turn}`, usage } }],
  ]);
}

/** Answers a turn of the Gemini API. */
function contents(request, response, isStream) {
  const last = request.contents.at(-1);
  // Summaries and other asides come without functions.
  const isMain = (request.tools ?? []).some((tool) => tool.functionDeclarations);
  if (isMain) note(last.parts.filter((part) => part.functionResponse).map((part) => part.functionResponse.response));
  const call = isMain ? next() : undefined;
  const part = call ? { functionCall: { id: `call_${turn}`, name: call.name, args: call.input } } : { text: "done" };
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
  const body = { candidates: [{ index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" }], usageMetadata };
  if (!isStream) return answer(response, body);
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(`data: ${JSON.stringify(body)}\n\n`);
}

const server = createServer((request, response) => {
  let body = "";
  request.on("data", (part) => (body += part));
  request.on("end", () => {
    const path = request.url.split("?")[0];
    if (process.env.MODEL_DEBUG) appendFileSync(log + ".requests", `${path} ${body}\n`);
    if (request.method === "POST" && path.endsWith("/messages")) return messages(JSON.parse(body), response);
    if (request.method === "POST" && path.endsWith("/responses")) return responses(JSON.parse(body), response);
    if (path.endsWith("enerateContent")) return contents(JSON.parse(body), response, path.endsWith(":streamGenerateContent"));
    if (path.endsWith(":countTokens")) return answer(response, { totalTokens: 1 });
    if (path.endsWith("count_tokens")) return answer(response, { input_tokens: 1 });
    response.writeHead(404, { "content-type": "application/json" });
    response.end("{}");
  });
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
