/**
 * The history of a run: visits of states, rewinds, forks and checkpoints; and the ways back: a fork or a rewind, each with its
 * dry run first.
 */

import { get, join, path, post } from './api.js';
import { html, useState, Act, Dialog, Fields, List, Loading, Problem, clock, duration, line, shown, useRead, to } from './parts.js';
import { who } from './journal.js';

/** Most visits that are read. Why: each page costs the server a look at the whole run. */
const MOST = 5000;

/** Reads the timeline, whole. */
async function readTimeline(id) {
  const pages = [];
  let cursor;
  let count = 0;
  do {
    const data = await get(path('runs', id, 'timeline'), { cursor });
    pages.push(data);
    count += data.visits?.length ?? 0;
    cursor = data.cursor;
  } while (cursor && count < MOST);
  const part = (name) => join(pages.map((it) => it[name] ?? []));
  return { visits: part('visits'), marks: part('marks'), branches: part('branches'), forks: part('forks'), origins: part('origins'), cut: Boolean(cursor) };
}

/** A fork or a rewind: first what it would do, then the deed. */
function Way({ id, kind, seq, onClose, onDone }) {
  const [at, setAt] = useState(String(seq));
  const [label, setLabel] = useState('');
  const [plan, setPlan] = useState(null);
  const [error, setError] = useState(null);
  const isFork = kind === 'fork';
  const body = () => (isFork
    ? { at_seq: Number(at), ...(label ? { branch_label: label } : {}) }
    : { to: Number(at), ...(label ? { reason: label } : {}) });
  const ask = async () => {
    setError(null);
    try { setPlan(await post(path('runs', id, kind), { ...body(), dry_run: true })); } catch (problem) { setPlan(null); setError(problem); }
  };
  const act = async () => {
    setError(null);
    try {
      const token = plan?.confirm_token;
      const done = await post(path('runs', id, kind), { ...body(), ...(token ? { confirm_token: token } : {}) });
      onDone(done);
    } catch (problem) { setError(problem); setPlan(null); }
  };
  return html`<${Dialog} title=${isFork ? `Fork ${line(id, 40)}` : `Rewind ${line(id, 40)}`} onClose=${onClose} wide>
    <p class="dim">${isFork ? 'A new run begins with this one’s journal up to a record. This one is untouched.' : 'What came after a record counts no more. Nothing is deleted: the journal keeps it.'}</p>
    <div class="field"><label for="way-at">${isFork ? 'Last record that counts in both' : 'Last record that still counts'}</label><input id="way-at" type="number" min="1" value=${at} onInput=${(it) => { setAt(it.target.value); setPlan(null); }} /></div>
    <div class="field"><label for="way-label">${isFork ? 'Name for people' : 'Reason'}</label><input id="way-label" value=${label} onInput=${(it) => { setLabel(it.target.value); setPlan(null); }} /></div>
    <${Problem} error=${error} />
    ${plan ? html`<h3>What would become of it</h3><div class="plan"><${Fields} of=${plan.plan ?? plan} /></div>` : null}
    <p class="row"><${Act} onAct=${ask} kind=${plan ? '' : 'main'}>Dry run<//><${Act} kind=${plan ? 'main' : ''} disabled=${!plan} onAct=${act}>${isFork ? 'Fork' : 'Rewind'}<//></p><//>`;
}

/** The buttons that open those dialogs. */
export function Ways({ id, seq, onDone }) {
  const [open, setOpen] = useState(null);
  return html`<button onClick=${() => setOpen('fork')}>Fork…</button><button onClick=${() => setOpen('rewind')}>Rewind…</button>
    ${open ? html`<${Way} id=${id} kind=${open} seq=${open === 'fork' ? seq : Math.max(1, seq - 1)} onClose=${() => setOpen(null)}
      onDone=${(done) => { const kind = open; setOpen(null); if (kind === 'fork') location.hash = to('runs', done.run_id); else onDone?.(); }} />` : null}`;
}

/** The tab of history. */
export function History({ id, seq, mayDrive, onChanged }) {
  const { value, error } = useRead(() => readTimeline(id), [id, seq]);
  const [way, setWay] = useState(null);
  if (error && !value) return html`<${Problem} error=${error} />`;
  if (!value) return html`<${Loading} what="the history" />`;
  const rows = [
    ...value.visits.map((it) => ({ at: it.entered ?? it.seq ?? 0, time: it.since, visit: it })),
    ...value.marks.map((it) => ({ at: it.seq ?? 0, time: it.time, mark: it })),
  ].sort((a, b) => a.at - b.at || (a.mark ? -1 : 1));
  return html`<div class="history">
    ${value.origins.length ? html`<p>It begins with the journal of ${value.origins.map((it) => html`<a key=${it.run ?? it.run_id} href=${to('runs', it.run ?? it.run_id)}>${line(it.run ?? it.run_id, 60)}</a> up to ${it.at ?? it.at_seq ?? it.seq} `)}</p>` : null}
    ${value.forks.length ? html`<p>Forks: ${value.forks.map((it) => html`<a key=${it.run ?? it.run_id} href=${to('runs', it.run ?? it.run_id)}>${line(it.run ?? it.run_id, 60)}</a> at ${it.at ?? it.at_seq ?? it.seq} `)}</p>` : null}
    ${value.cut ? html`<p class="dim">Only the first ${MOST} visits are shown.</p>` : null}
    <${List} id="history" label="History" count=${rows.length} height=${28} row=${(index) => {
      const row = rows[index];
      const counts = (row.visit ?? row.mark).counts !== false;
      return html`<span class=${`entry ${counts ? '' : 'undone'}`}><span class="seq">${row.at}</span><span class="clock">${clock(row.time)}</span>
        ${row.visit ? html`<span class="what">${line(row.visit.state, 60)} <span class="dim">visit ${row.visit.number}${row.visit.until ?? row.visit.left_at ? `, ${duration((row.visit.until ?? row.visit.left_at) - row.visit.since)}` : ''}${counts ? '' : ', taken back'}</span></span>`
          : html`<span class="what"><em>${line(row.mark.what, 40)}</em> <span class="dim">${line(row.mark.name ?? row.mark.reason ?? (row.mark.to !== undefined ? `to ${row.mark.to}` : ''), 80)} ${line(who(row.mark.actor), 40)}</span></span>`}
        ${mayDrive && counts && row.at > 0 ? html`<span class="acts"><button class="link" aria-label=${`fork here, at ${row.at}`} onClick=${(it) => { it.stopPropagation(); setWay({ kind: 'fork', seq: row.at }); }}>fork here</button>
          ${row.at < seq ? html`<button class="link" aria-label=${`rewind to here, to ${row.at}`} onClick=${(it) => { it.stopPropagation(); setWay({ kind: 'rewind', seq: row.at }); }}>rewind to here</button>` : null}</span>` : null}</span>`;
    }} />
    ${way ? html`<${Way} id=${id} kind=${way.kind} seq=${way.seq} onClose=${() => setWay(null)} onDone=${(done) => { const { kind } = way; setWay(null); if (kind === 'fork') location.hash = to('runs', done.run_id); else onChanged(); }} />` : null}</div>`;
}
