/**
 * What agents did: attempts with their messages, tool calls, verdicts, tokens and cost, and the checks' outputs, as they come.
 *
 * Everything is taken from the journal, so that records of kinds to come are shown, too: by their own words.
 */

import { getEvents } from './api.js';
import { readRecord } from './live.js';
import { html, useEffect, useMemo, useState, Fields, Problem, Status, Text, Time, clock, duration, line, shown, Value } from './parts.js';
import { summary, who } from './journal.js';

const WORK = ['attempt.started', 'attempt.ended', 'message', 'tool', 'usage', 'progress', 'check', 'effect'];

/** Records before the end that are read at first, and more of them at a time. */
const WINDOW = 400;

/** Returns the attempt that a record names, in whatever field. */
const attemptOf = ({ kind, seq, body = {} }) => (kind === 'attempt.started' ? String(body.attempt ?? seq) : body?.attempt !== undefined ? String(body.attempt) : undefined);

/** Leaves out that a call is about to run where another record says what came of it. */
export function withResults(records) {
  const ran = new Set(records.filter((it) => it.kind === 'tool' && it.body && !it.body.reserved).map((it) => it.body.call));
  return records.filter((it) => !(it.kind === 'tool' && it.body?.reserved && ran.has(it.body.call)));
}

/** Groups records by attempts; those that name none belong to the one that is open, or to nobody's. */
export function attemptsOf(records) {
  const groups = [];
  const known = new Map();
  let open = null;
  for (const record of records) {
    const name = attemptOf(record);
    let group = name === undefined ? open : known.get(name);
    if (!group) {
      group = { name: name ?? null, records: [], started: record.kind === 'attempt.started' ? record : null };
      groups.push(group);
      if (name !== undefined) known.set(name, group);
      open = group;
    }
    group.records.push(record);
    if (record.kind === 'attempt.started') open = group;
    if (record.kind === 'attempt.ended') { group.ended = record; if (open === group) open = null; }
  }
  return groups;
}

/** Adds up what was spent. The cost's unit is the journal's: millionths. */
function spent(records) {
  const sum = { input: 0, output: 0, cost: 0, calls: 0, refused: 0 };
  for (const { kind, body = {} } of records) {
    if (kind === 'usage') { sum.input += body.input_tokens ?? 0; sum.output += body.output_tokens ?? 0; sum.cost += body.cost ?? 0; }
    if (kind === 'tool') { sum.calls += 1; if (/den|refus/.test(body.verdict ?? '')) sum.refused += 1; }
  }
  return sum;
}

function Entry({ record: listed, id }) {
  const [whole, setWhole] = useState(null);
  const record = whole ?? listed;
  const { kind, body } = record;
  if (!body) {
    // It is larger than an answer of the list.
    return html`<li class="other"><span class="clock">${clock(record.time)}</span><code>${line(kind, 30)}</code> ${line(record.text, 200)} <button class="link" onClick=${() => readRecord(id, record.seq).then(setWhole, () => {})}>read it whole</button></li>`;
  }
  if (kind === 'message') {
    const text = body.text ?? '';
    return html`<li class=${`say ${/^[a-z]+$/.test(body.role ?? '') ? body.role : ''}`}><span class="clock">${clock(record.time)}</span><strong>${line(body.role, 20)}</strong>
      ${text.length > 600 ? html`<details open=${text.length < 4000}><summary>${text.length} characters</summary><${Text} of=${text} /></details>` : html`<div class="words">${shown(text)}</div>`}</li>`;
  }
  if (kind === 'tool') {
    const bad = /den|refus|fail/.test(body.verdict ?? '');
    return html`<li class=${`call ${bad ? 'denied' : ''}`}><span class="clock">${clock(record.time)}</span><code>${line(body.name, 60)}</code> <span class=${`tag ${bad ? 'bad' : ''}`}>${body.reserved ? 'at work' : line(body.verdict, 20)}</span>${body.observed ? html` <span class="tag">only observed</span>` : null}
      ${body.milliseconds !== undefined ? html` <span class="dim">${duration(body.milliseconds)}</span>` : null}${body.output !== undefined ? html` <span class="dim">${body.output} bytes</span>` : null}
      ${body.reason ? html`<div class="words">${shown(body.reason)}</div>` : null}${body.files?.length ? html`<div class="dim">${line(body.files.join(', '), 300)}</div>` : null}</li>`;
  }
  if (kind === 'check') {
    const ran = body.ran ?? {};
    return html`<li class="check"><span class="clock">${clock(record.time)}</span><${Status} of=${ran.passed ? 'completed' : 'failed'} /> check <code>${line(body.name, 60)}</code> <span class="dim">${line((body.command ?? []).join(' '), 120)}</span>
      <details><summary>what it said</summary>${typeof ran.stdout === 'string' ? html`<${Text} code of=${ran.stdout} />` : null}${typeof ran.stderr === 'string' ? html`<${Text} code of=${ran.stderr} />` : null}<${Fields} of=${Object.fromEntries(Object.entries(ran).filter(([name]) => name !== 'stdout' && name !== 'stderr'))} /></details></li>`;
  }
  const rest = Object.entries(body).filter(([name]) => name !== 'attempt');
  return html`<li class="other"><span class="clock">${clock(record.time)}</span><code>${line(kind, 30)}</code> ${line(summary(record), 300)}
    ${rest.some(([, value]) => typeof value === 'object' && value !== null) ? html`<details><summary>all of it</summary><${Value} of=${body} /></details>` : null}</li>`;
}

/** The tab of attempts. */
export function Attempts({ id, seq, fresh }) {
  const [from, setFrom] = useState(() => Math.max(0, seq - WINDOW));
  const [read, setRead] = useState([]);
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(true);
  useEffect(() => {
    let left = false;
    (async () => {
      setBusy(true);
      const records = [];
      let after = from || undefined;
      try {
        do {
          const data = await getEvents(id, { kinds: WORK, after_seq: after, limit: 100 });
          records.push(...(data.records ?? []));
          after = data.cursor;
        } while (after && !left);
        if (!left) { setRead(records); setError(null); }
      } catch (problem) { if (!left) setError(problem); }
      if (!left) setBusy(false);
    })();
    return () => { left = true; };
  }, [id, from]);
  const records = useMemo(() => {
    const bySeq = new Map(read.map((it) => [it.seq, it]));
    fresh.filter((it) => WORK.includes(it.kind) || it.kind.startsWith('attempt.')).forEach((it) => bySeq.set(it.seq, it));
    return withResults([...bySeq.values()].sort((a, b) => a.seq - b.seq));
  }, [read, fresh, fresh.length]);
  const groups = attemptsOf(records);
  const sum = spent(records);
  return html`<div class="attempts">
    <${Problem} error=${error} />
    ${from > 0 ? html`<button onClick=${() => setFrom(Math.max(0, from - WINDOW * 4))}>Show earlier records (before ${from})</button>` : null}
    ${records.length ? html`<p class="sum">${sum.calls} tool calls${sum.refused ? `, ${sum.refused} refused` : ''} · ${sum.input.toLocaleString()} tokens in, ${sum.output.toLocaleString()} out${sum.cost ? ` · cost ${(sum.cost / 1e6).toFixed(4)}` : ''}</p>` : null}
    ${!busy && !records.length ? html`<p class="empty">No agent has written down what it did ${from > 0 ? `since record ${from}` : 'here'}.</p>` : null}
    ${groups.map((group, at) => html`<section key=${group.name ?? `loose-${at}`} class="attempt" aria-label=${group.name ? `Attempt ${group.name}` : 'Work outside of attempts'}>
      <h2>${group.name ? html`Attempt ${line(group.name, 40)} <${Status} of=${group.ended ? (group.ended.body.outcome ?? group.ended.body.status ?? 'completed') : 'running'} />` : 'Outside of attempts'}
      ${group.started ? html` <span class="dim">${line(who(group.started.actor), 40)} · <${Time} at=${group.started.time} />${group.ended ? ` · ${duration(group.ended.time - group.started.time)}` : ''}</span>` : null}</h2>
      ${group.started ? html`<${Fields} of=${Object.fromEntries(Object.entries(group.started.body).filter(([name]) => name !== 'attempt'))} />` : null}
      ${group.ended?.body?.reason ? html`<p class="words">${shown(group.ended.body.reason)}</p>` : null}
      <ol class="transcript" tabindex="0" aria-label="Transcript">${group.records.filter((it) => it.kind !== 'attempt.started').map((record) => html`<${Entry} key=${record.seq} record=${record} id=${id} />`)}</ol></section>`)}
  </div>`;
}
