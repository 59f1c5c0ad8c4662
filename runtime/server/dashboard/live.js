/**
 * The stream of changes, taken up again where it was cut off.
 *
 * `EventSource` can't send a token, so the events are read from an answer of `fetch`. Whoever was cut off says the id of the
 * last event, and gets what came since; the server may have been another process meanwhile.
 */

import { authorization, Unreachable } from './api.js';
import { parse } from './exact.js';

/** Longest silence of a stream that lives. The server says something every 15 seconds. Unit: milliseconds. */
const SILENCE = 40_000;

/** The waits before the first tries to reach the server again. Unit: milliseconds. */
const WAITS = [250, 500, 1_000, 2_000, 4_000];

/**
 * Follows a stream until the returned function is called.
 * @param {Record<string, string|number>} query `run_id` and `after_seq`, or `after`
 * @param {(event: string, data: any) => void} onEvent
 * @param {(state: 'live'|'lost'|'refused', error?: any) => void} onState
 * @returns {() => void}
 */
export function follow(query, onEvent, onState) {
  let last = null;
  let ended = false;
  let tries = 0;
  let abort;
  let timer;
  const again = () => {
    if (ended) return;
    const wait = WAITS[Math.min(tries, WAITS.length - 1)];
    tries += 1;
    timer = setTimeout(run, wait);
  };
  async function run() {
    abort = new AbortController();
    let watchdog;
    const alive = () => {
      clearTimeout(watchdog);
      watchdog = setTimeout(() => abort.abort(), SILENCE);
    };
    try {
      alive();
      const headers = { ...authorization(), Accept: 'text/event-stream' };
      if (last !== null) headers['Last-Event-ID'] = last;
      const response = await fetch(`/api/stream?${new URLSearchParams(query)}`, { headers, signal: abort.signal, cache: 'no-store' });
      if (!response.ok) {
        if (response.status >= 400 && response.status < 500 && response.status !== 429) {
          const body = await response.json().catch(() => ({}));
          ended = true;
          onState('refused', body.error ?? { code: 'failed', message: `the server answers with ${response.status}` });
          return;
        }
        throw new Unreachable();
      }
      tries = 0;
      onState('live');
      for await (const event of events(response.body, alive)) {
        if (event.id !== undefined) last = event.id;
        if (event.event && !ended) onEvent(event.event, event.data ? parse(event.data) : {});
      }
    } catch { /* The next try tells more. */ } finally { clearTimeout(watchdog); }
    if (!ended) {
      onState('lost');
      again();
    }
  }
  const online = () => { clearTimeout(timer); tries = 0; if (!ended) { abort?.abort(); } };
  addEventListener('online', online);
  run();
  return () => {
    ended = true;
    removeEventListener('online', online);
    clearTimeout(timer);
    abort?.abort();
  };
}

/**
 * Reads a record whole. A list of records cuts those that are larger than an answer; the stream doesn't.
 * @returns {Promise<any>}
 */
export async function readRecord(run, seq) {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), SILENCE);
  try {
    const query = new URLSearchParams({ run_id: run, after_seq: seq - 1 });
    const response = await fetch(`/api/stream?${query}`, { headers: authorization(), signal: abort.signal, cache: 'no-store' });
    if (!response.ok) throw new Unreachable();
    for await (const event of events(response.body, () => {})) {
      if (event.event === 'record') return parse(event.data);
    }
    throw new Unreachable();
  } finally {
    clearTimeout(timer);
    abort.abort();
  }
}

/** Reads server-sent events from a body. */
async function* events(body, alive) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  let event = {};
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    alive();
    rest += value;
    const lines = rest.split('\n');
    rest = lines.pop();
    for (const whole of lines) {
      const line = whole.endsWith('\r') ? whole.slice(0, -1) : whole;
      if (line === '') {
        if (event.id !== undefined || event.event) yield event;
        event = {};
        continue;
      }
      const at = line.indexOf(':');
      if (at <= 0) continue;
      const field = line.slice(0, at);
      const text = line.slice(at + 1).replace(/^ /, '');
      if (field === 'data') event.data = event.data === undefined ? text : `${event.data}\n${text}`;
      else if (field === 'event' || field === 'id') event[field] = text;
    }
  }
}
