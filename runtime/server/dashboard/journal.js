/**
 * The journal: every record of a run, of which only those in view are read. Records of some kinds, or of a state, are read in
 * order as somebody scrolls.
 */

import { getEvents } from './api.js';
import { readRecord } from './live.js';
import { html, useEffect, useMemo, useRef, useState, Fields, Text, clock, line, shown, throttled, List, Problem, useRead } from './parts.js';

/** Kinds of records, by what they are about. */
export const KINDS = [
  ['moves', 'Moves', ['run.started', 'run.forked', 'event', 'queued', 'refused', 'step', 'run.paused', 'run.continued', 'run.cancelled', 'run.forced', 'run.rewound', 'run.migrated', 'run.closed', 'run.imported', 'child.started', 'child.ended']],
  ['people', 'People', ['request.opened', 'request.resolved', 'note', 'annotation']],
  ['work', 'Work', ['attempt.started', 'attempt.ended', 'message', 'tool', 'usage', 'progress', 'effect', 'session']],
  ['results', 'Results', ['artifact', 'check', 'checkpoint.taken', 'checkpoint.restored', 'worktree.made', 'subflow']],
];

/** Most records of an answer. */
const PAGE = 50;

const names = (list) => (list ?? []).join(', ');

/** Says in a line what a record says. A kind that this page doesn't know is shown with its own words. */
export function summary(record) {
  const { kind, body } = record;
  // A list has one line of a record that is larger than an answer.
  if (!body) return record.text ?? '';
  const moved = () => {
    const steps = body.step?.steps ?? [];
    const exited = steps.flatMap((it) => it.exited ?? []);
    const entered = steps.flatMap((it) => it.entered ?? []);
    return entered.length || exited.length ? `${names(exited) || '·'} → ${names(entered) || '·'}` : body.step ? 'nothing moved' : '';
  };
  switch (kind) {
    case 'run.started': return `${body.workflow}${body.title ? ` “${body.title}”` : ''} begins in ${names(body.step?.leaves)}`;
    case 'run.forked': return `begins as ${body.from} up to ${body.at}`;
    case 'event': return `${body.event} ${moved()}`;
    case 'queued': return `${body.event} waits`;
    case 'refused': return body.reason ?? body.code;
    case 'step': return `${body.step}${body.unit ? ` (${body.unit})` : ''} ${body.status}${body.message ? `: ${body.message}` : ''}`;
    case 'attempt.started': return `${body.attempt}: ${body.executor ?? ''}${body.model ? ` (${body.model})` : ''} in ${body.state ?? ''}`;
    case 'attempt.ended': return `${body.attempt}: ${body.outcome ?? 'over'}${body.reason ? `: ${body.reason}` : ''}`;
    case 'progress': return `${body.done !== undefined ? `${Math.round(body.done * 100)} % ` : ''}${body.message ?? ''}`;
    case 'message': return `${body.role}: ${body.text ?? ''}`;
    case 'tool': return `${body.name} ${body.verdict ?? ''}${body.reason ? `: ${body.reason}` : ''}${body.milliseconds !== undefined ? `, ${body.milliseconds} ms` : ''}`;
    case 'request.opened': return `${body.kind}: ${body.prompt ?? ''}`;
    case 'request.resolved': return `${body.request} ${body.resolution}${body.comment ? `: ${body.comment}` : ''}`;
    case 'artifact': return `${body.name} ${body.revision}, ${body.stage}${body.verdict?.holds === false ? ', its contract fails' : ''}`;
    case 'check': return `${body.name} ${body.ran?.passed ? 'passed' : `failed${body.ran?.exit_code !== undefined ? ` (${body.ran.exit_code})` : ''}`}`;
    case 'usage': return `${body.input_tokens ?? 0} tokens in, ${body.output_tokens ?? 0} out${body.model ? `, ${body.model}` : ''}`;
    case 'run.rewound': return `back to ${body.to}${body.reason ? `: ${body.reason}` : ''}`;
    case 'worktree.made': return `${body.branch}, in ${body.folder}`;
    case 'checkpoint.taken': case 'checkpoint.restored': return body.name ?? '';
    case 'child.started': case 'child.ended': return `${body.run}${body.workflow ? ` (${body.workflow})` : ''}${body.success !== undefined ? (body.success ? ' succeeded' : ' failed') : ''}`;
    default: return body.reason ?? body.text ?? body.message ?? body.name ?? (Object.keys(body).length ? JSON.stringify(body) : '');
  }
}

/** Names whoever wrote a record. */
export const who = (actor) => (actor ? `${actor.name ? `${actor.name} ` : ''}${actor.name ? `(${actor.role})` : actor.role}` : '');

/** A record, whole. */
export function RecordView({ run, record: listed, onClose }) {
  const read = useRead(async () => (listed.body ? listed : readRecord(run, listed.seq)), [run, listed.seq]);
  const record = read.value ?? listed;
  const { body = {} } = record;
  const long = Object.entries(body).filter(([, value]) => typeof value === 'string' && (value.length > 200 || value.includes('\n')));
  return html`<section class="record" aria-label=${`Record ${record.seq}`}>
    <header><h2>${record.seq} <code>${shown(record.kind)}</code></h2>${onClose ? html`<button class="plain" aria-label="Close" onClick=${onClose}>✕</button>` : null}</header>
    <${Fields} of=${{ at: new Date(record.time).toLocaleString(), by: who(record.actor), session: record.actor?.session }} />
    ${long.map(([name, value]) => html`<h3 key=${name}>${shown(name)}</h3><${Text} of=${value} />`)}
    <${Problem} error=${read.error} />
    <h3>Body</h3><${Text} code of=${JSON.stringify(body, null, 2)} /></section>`;
}

function Row({ record, seq }) {
  if (!record) return html`<span class="entry"><span class="seq">${seq ?? ''}</span><span class="dim">…</span></span>`;
  return html`<span class=${`entry ${record.kind.replace(/\W/g, '-')}`}><span class="seq">${record.seq}</span><span class="clock">${clock(record.time)}</span>
    <span class="kind">${line(record.kind, 24)}</span><span class="what">${line(summary(record), 300)}</span><span class="by">${line(who(record.actor), 30)}</span></span>`;
}

/** Holds the records that were read, by their numbers. */
function useRecords(id, fresh) {
  const records = useRef(new Map());
  const asked = useRef(new Set());
  const [version, bump] = useState(0);
  const show = useMemo(() => throttled(() => bump((it) => it + 1), 60), []);
  for (const record of fresh) records.current.set(record.seq, record);
  useEffect(() => () => show.cancel(), []);
  const ask = async (after) => {
    if (asked.current.has(after)) return;
    asked.current.add(after);
    try {
      const data = await getEvents(id, { after_seq: after, limit: PAGE });
      for (const record of data.records ?? []) records.current.set(record.seq, record);
      show();
    } catch { setTimeout(() => { asked.current.delete(after); show(); }, 1000); }
  };
  return { records: records.current, ask, version };
}

/** The journal's tab. */
export function Journal({ id, seq, fresh, state, onState }) {
  const [kinds, setKinds] = useState('');
  const [open, setOpen] = useState(null);
  const isFiltered = Boolean(kinds || state);
  return html`<div class="journal">
    <div class="bar"><div class="chips" role="group" aria-label="Kinds of records"><button aria-pressed=${kinds === '' ? 'true' : 'false'} onClick=${() => setKinds('')}>All <span class="count">${seq}</span></button>
      ${KINDS.map(([name, title]) => html`<button key=${name} aria-pressed=${kinds === name ? 'true' : 'false'} onClick=${() => setKinds(name)}>${title}</button>`)}</div>
      ${state ? html`<span class="tag">only of ${shown(state)} <button class="plain" aria-label="All states" onClick=${() => onState('')}>✕</button></span>` : null}</div>
    <div class=${open ? 'split open' : 'split'}>
      ${isFiltered ? html`<${Filtered} key=${`${kinds} ${state}`} id=${id} kinds=${KINDS.find(([name]) => name === kinds)?.[2]} state=${state} fresh=${fresh} onOpen=${setOpen} />`
        : html`<${Whole} id=${id} seq=${seq} fresh=${fresh} onOpen=${setOpen} />`}
      ${open ? html`<${RecordView} run=${id} record=${open} onClose=${() => setOpen(null)} />` : null}
    </div></div>`;
}

/** All records: a row for each number, read when it comes into view. */
function Whole({ id, seq, fresh, onOpen }) {
  const { records, ask } = useRecords(id, fresh);
  const range = (first, last) => {
    for (let at = first + 1; at <= last; at += 1) {
      if (!records.has(at)) { ask(at - 1); return; }
    }
  };
  return html`<${List} id="journal" label="Journal" count=${seq} height=${26} stick onRange=${range} onOpen=${(index) => { const it = records.get(index + 1); if (it) onOpen(it); }}
    row=${(index) => { const record = records.get(index + 1); if (!record) queueMicrotask(() => range(index, index + 1)); return html`<${Row} record=${record} seq=${index + 1} />`; }} />`;
}

/** Records of some kinds, or of the visits of a state. */
function Filtered({ id, kinds, state, fresh, onOpen }) {
  const [rows, setRows] = useState([]);
  const own = useRef({ cursor: 0, busy: false, end: false, left: false });
  const more = async () => {
    const it = own.current;
    if (it.busy || it.end) return;
    it.busy = true;
    try {
      const data = await getEvents(id, { kinds, state, after_seq: it.cursor || undefined, limit: PAGE });
      if (it.left) return;
      it.cursor = data.cursor ?? data.records?.at(-1)?.seq ?? it.cursor;
      it.end = data.cursor === undefined;
      setRows((before) => [...before, ...(data.records ?? []).filter((record) => record.seq > (before.at(-1)?.seq ?? 0))]);
    } catch { it.end = true; } finally { it.busy = false; }
  };
  useEffect(() => { own.current.left = false; more(); return () => { own.current.left = true; }; }, []);
  useEffect(() => {
    if (!own.current.end || !fresh.length) return;
    own.current.end = false;
    more();
  }, [fresh.at(-1)?.seq]);
  return html`<${List} id="filtered" label="Journal, filtered" count=${rows.length} height=${26} onRange=${(_, last) => { if (last >= rows.length) more(); }}
    onOpen=${(index) => onOpen(rows[index])} row=${(index) => html`<${Row} record=${rows[index]} />`} />`;
}
