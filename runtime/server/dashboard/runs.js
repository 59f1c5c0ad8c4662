/**
 * All runs, by what they need: a person, an agent, nothing.
 *
 * The server gives them page by page, the latest first; a page is asked for when somebody scrolls to its place. The stream says
 * what changes meanwhile. A search looks through the pages until it has filled the screen.
 */

import { all, get } from './api.js';
import { html, useEffect, useMemo, useRef, useState, List, Problem, Status, Time, Dialog, line, shown, throttled, useRead, to } from './parts.js';
import { StartForm } from './form.js';

/** The groups, with what the server is asked for each. */
const GROUPS = [
  { name: 'person', title: 'Needs a person', query: { waiting_for_person: true } },
  { name: 'agent', title: 'Needs an agent', query: { status: 'running,waiting,paused' } },
  { name: 'nothing', title: 'Needs nothing', query: { status: 'completed,failed,cancelled' } },
];

const OVER = new Set(['completed', 'failed', 'cancelled']);

/** Returns the group of a run. */
export const need = (run) => {
  if (OVER.has(run.status)) return 'nothing';
  return run.requests > 0 ? 'person' : 'agent';
};

const fromList = (it) => ({ ...it, requests: it.counts?.requests ?? 0 });
const fromStream = (it, known) => ({
  ...known, run_id: it.run_id, workflow: it.workflow, status: it.status, states: it.states,
  requests: it.requests?.length ?? 0, title: it.title ?? known?.title, parent: it.parent ?? known?.parent, updated_at: it.updated_at ?? Date.now(),
});

/** Reads the runs of each group, page by page, and keeps them as the stream says they are. */
function useRuns(bus, workflow) {
  const state = useRef({ rows: new Map(), cursors: {}, busy: false });
  const [version, bump] = useState(0);
  const [error, setError] = useState(null);
  const show = useMemo(() => throttled(() => bump((it) => it + 1), 120), []);
  const load = async (name) => {
    const own = state.current;
    if (own.busy || own.cursors[name] === null) return;
    own.busy = true;
    const group = GROUPS.find((it) => it.name === name);
    try {
      const data = await get('/runs', { ...group.query, workflow, limit: 100, cursor: own.cursors[name] });
      if (state.current !== own) return;
      for (const run of data.runs) if (!own.rows.has(run.run_id) || own.cursors[name] === undefined) own.rows.set(run.run_id, fromList(run));
      own.cursors[name] = data.cursor ?? null;
      setError(null);
    } catch (problem) {
      setError(problem);
      own.failed = true;
    } finally {
      own.busy = false;
      show();
    }
  };
  useEffect(() => {
    state.current = { rows: new Map(), cursors: {}, busy: false };
    const begin = async () => { for (const { name } of GROUPS) await load(name); };
    begin();
    const leave = bus.onRun((told, event) => {
      const own = state.current;
      if (told === null) {
        if (event === 'missed') { state.current = { rows: new Map(), cursors: {}, busy: false }; begin(); }
        return;
      }
      if (!told.run_id || told.kind) return;
      if (!workflow || told.workflow === workflow) own.rows.set(told.run_id, fromStream(told, own.rows.get(told.run_id)));
      show();
    });
    return () => { leave(); show.cancel(); };
  }, [workflow]);
  return { ...state.current, version, load, error };
}

/** Puts runs below the runs that began them, where both are in a list. Returns each with its depth. */
export function nested(list) {
  const known = new Set(list.map((it) => it.run_id));
  const below = new Map();
  const tops = [];
  for (const run of list) {
    if (run.parent && known.has(run.parent) && run.parent !== run.run_id) below.set(run.parent, [...(below.get(run.parent) ?? []), run]);
    else tops.push(run);
  }
  const out = [];
  const walk = (run, depth) => {
    out.push({ run, depth });
    (below.get(run.run_id) ?? []).forEach((it) => walk(it, depth + 1));
  };
  tops.forEach((run) => walk(run, 0));
  return out;
}

function Row({ run, depth }) {
  return html`<a class="run" href=${to('runs', run.run_id)} tabindex="-1">
    <${Status} of=${run.status} />
    <span class="name" style=${{ paddingLeft: `${Math.min(depth, 5) * 18}px` }}>${depth ? html`<span class="dim" aria-hidden="true">└ </span>` : null}<span class="title">${line(run.title ?? run.run_id, 80)}</span>${run.title ? html` <span class="id">${line(run.run_id, 40)}</span>` : null}</span>
    <span class="workflow">${line(run.workflow, 40)}${run.unreviewed ? html` <span class="tag" title="nobody has accepted its workflow">unreviewed</span>` : null}</span>
    <span class="states">${line((run.states ?? []).join(', '), 60)}</span>
    <span class="asks">${run.requests ? html`<span class="count warn">${run.requests} ${run.requests === 1 ? 'request' : 'requests'}</span>` : null}</span>
    <span class="when"><${Time} at=${run.updated_at} /></span></a>`;
}

/** The page of all runs. */
export function RunsPage({ bus, query, me }) {
  const [only, setOnly] = useState(query.get('needs') ?? 'all');
  const [search, setSearch] = useState('');
  const [workflow, setWorkflow] = useState(query.get('workflow') ?? '');
  const [starting, setStarting] = useState(false);
  const workflows = useRead(() => all('/workflows', {}, 'workflows', 500), []);
  const { rows, cursors, version, load, error } = useRuns(bus, workflow);
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (run) => words.every((word) => `${run.run_id} ${run.title ?? ''} ${run.workflow} ${run.status} ${(run.states ?? []).join(' ')}`.toLowerCase().includes(word));
  const groups = useMemo(() => {
    const found = { person: [], agent: [], nothing: [] };
    for (const run of rows.values()) if (fits(run)) found[need(run)].push(run);
    for (const list of Object.values(found)) list.sort((a, b) => b.updated_at - a.updated_at || (a.run_id < b.run_id ? 1 : -1));
    return found;
  }, [version, search, rows]);
  const isWhole = (name) => cursors[name] === null;
  const items = useMemo(() => {
    const out = [];
    for (const { name, title } of GROUPS) {
      if (only !== 'all' && only !== name) continue;
      const list = groups[name];
      if (!list.length && isWhole(name) && only === 'all') continue;
      out.push({ heading: title, name, count: list.length, whole: isWhole(name) });
      nested(list).forEach(({ run, depth }) => out.push({ run, depth, name }));
      if (!isWhole(name)) out.push({ more: name });
    }
    return out;
  }, [groups, only, version]);
  // Asks for the next page of the group whose end is in view.
  const range = (first, last) => {
    const end = items.slice(first, last).find((it) => it?.more);
    if (end) load(end.more);
  };
  const isEmpty = rows.size === 0 && GROUPS.every(({ name }) => isWhole(name));
  return html`<main id="main" tabindex="-1" class="runs">
    <div class="bar">
      <h1>Runs</h1>
      <div class="chips" role="group" aria-label="What they need">${[['all', 'All'], ...GROUPS.map((it) => [it.name, it.title])].map(([name, title]) => html`
        <button key=${name} aria-pressed=${only === name ? 'true' : 'false'} onClick=${() => setOnly(name)}>${title}${name !== 'all' ? html` <span class="count">${groups[name].length}${isWhole(name) ? '' : '+'}</span>` : null}</button>`)}</div>
      <label class="away" for="workflow">Workflow</label>
      <select id="workflow" value=${workflow} onChange=${(it) => setWorkflow(it.target.value)}><option value="">every workflow</option>${(workflows.value ?? []).map((it) => html`<option key=${it.id} value=${it.id}>${shown(it.id)}</option>`)}</select>
      <label class="away" for="search">Search</label>
      <input id="search" type="search" placeholder="search  ( / )" value=${search} onInput=${(it) => setSearch(it.target.value)} />
      <span class="grow"></span>
      ${me.role !== 'observer' ? html`<button class="main" onClick=${() => setStarting(true)}>Start a run</button>` : null}
    </div>
    <${Problem} error=${error} />
    ${isEmpty ? html`<div class="empty"><p>There is no run yet.</p><p class="dim">Start one here, let an agent call <code>start_run</code>, or type <code>statemark start WORKFLOW</code>.</p></div>`
      : html`<${List} label="Runs" count=${items.length} height=${32} onRange=${range} turn=${version} isRow=${(index) => Boolean(items[index].run)}
        onOpen=${(index) => { const { run } = items[index]; if (run) location.hash = to('runs', run.run_id); }}
        row=${(index) => {
          const item = items[index];
          if (item.run) return html`<${Row} run=${item.run} depth=${item.depth} />`;
          if (item.more) return html`<span class="more">${words.length ? 'searching' : 'reading'} further runs…</span>`;
          return html`<span class=${`heading ${item.name}`}>${item.heading} <span class="count">${item.count}${item.whole ? '' : '+'}</span></span>`;
        }} />`}
    ${starting ? html`<${Dialog} title="Start a run" onClose=${() => setStarting(false)} wide><${StartForm} workflows=${workflows.value ?? []} first=${workflow} onStarted=${(id) => { setStarting(false); location.hash = to('runs', id); }} /><//>` : null}
  </main>`;
}
