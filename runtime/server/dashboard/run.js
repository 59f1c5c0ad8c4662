/**
 * A run: its place on the drawing, its steps, what is next and why not, and tabs for all that its journal holds. Live: each
 * record comes by the stream, and the run is read again a moment later.
 */

import { get, getEvents, getRun, path, post } from './api.js';
import { follow } from './live.js';
import { html, useEffect, useMemo, useRef, useState, Act, Fields, Loading, Problem, Status, Tabs, Text, Time, line, shown, throttled, useKept, to } from './parts.js';
import { Drawing, pendingOf } from './drawing.js';
import { Steps } from './steps.js';
import { EventForm } from './form.js';
import { Journal, summary, who } from './journal.js';
import { Attempts } from './attempts.js';
import { Artifacts } from './artifacts.js';
import { History, Ways } from './travel.js';
import { Request, readRequests } from './inbox.js';

/** Most records that came by the stream and are kept for the tabs. Why: the journal has all of them. */
const KEPT = 2000;

const OVER = new Set(['completed', 'failed', 'cancelled']);

/** Kinds of records after which other requests may be open. Why: a request may be large, and most records change none. */
const ASKING = /^(request\.|run\.|event$|queued$)/;

/** Reads a run and follows it. */
function useRun(id, onState) {
  const [state, setState] = useState({ run: null, why: null, requests: [], error: null });
  const [machine, setMachine] = useState(null);
  const [parent, setParent] = useState(null);
  const [fresh, setFresh] = useState([]);
  const reload = useRef(() => {});
  useEffect(() => {
    let left = false;
    let leave = () => {};
    let busy = false;
    let again = false;
    let follows = false;
    let asks = true;
    // The run's own table, whatever the workflow's file says by now.
    const readMachine = () => getRun(id, ['states', 'events']).then((it) => { if (!left) setMachine(it); }, () => {});
    const read = async () => {
      if (busy) { again = true; return; }
      busy = true;
      try {
        const run = await getRun(id, ['visits', 'context', 'children', 'config']);
        const why = OVER.has(run.next.status) ? null : await get(path('runs', id, 'why')).catch(() => null);
        if (left) return;
        setState((it) => ({ run, why, requests: OVER.has(run.next.status) ? [] : it.requests, error: null }));
        if (asks) {
          asks = false;
          readRequests(id).then((requests) => { if (!left) setState((it) => ({ ...it, requests })); }, () => { asks = true; });
        }
        if (!follows) {
          follows = true;
          begin(run.next.seq);
          readMachine();
          getEvents(id, { limit: 1 }).then((data) => { if (!left) setParent(data.records?.[0]?.body?.parent ?? null); }, () => {});
        }
      } catch (error) {
        if (left) return;
        setState((it) => ({ ...it, error }));
        if (error.code === 'unreachable' && !follows) setTimeout(() => { if (!left) read(); }, 1000);
      } finally {
        busy = false;
        if (again && !left) { again = false; soon(); }
      }
    };
    const soon = throttled(read, 250);
    const incoming = [];
    const show = throttled(() => {
      const records = incoming.splice(0);
      setFresh((it) => [...it, ...records].slice(-KEPT));
      setState((it) => (it.run ? { ...it, run: { ...it.run, next: { ...it.run.next, seq: Math.max(it.run.next.seq, records.at(-1)?.seq ?? 0) } } } : it));
    }, 80);
    const begin = (seq) => {
      leave = follow({ run_id: id, after_seq: seq }, (event, data) => {
        if (left) return;
        if (event === 'record') { incoming.push(data); show(); }
        if (event === 'record' && data.kind === 'run.migrated') readMachine();
        asks ||= event !== 'record' || ASKING.test(data.kind);
        soon();
      }, (now) => { onState?.(now); if (now === 'live') soon(); });
    };
    reload.current = soon;
    read();
    return () => { left = true; leave(); soon.cancel(); show.cancel(); };
  }, [id]);
  return { ...state, machine, parent, fresh, reload: () => reload.current() };
}

/** A reason for which a run stands still, with the call that would move it. */
function Blocker({ it, id }) {
  const call = it.unblock;
  return html`<li class="blocker"><span class="words">${shown(it.reason)}</span>${it.since ? html` <span class="dim">since <${Time} at=${it.since} /></span>` : null}
    ${call?.arguments?.request_id ? html` <a class="button" href=${to('runs', id, 'now')} onClick=${(event) => { event.preventDefault(); document.getElementById(`request-${call.arguments.request_id}`)?.scrollIntoView({ block: 'start' }); }}>to the request</a>`
      : call ? html` <details><summary class="dim">what would move it</summary><${Text} code of=${typeof call === 'string' ? call : call.command ?? JSON.stringify(call, null, 2)} /></details>` : null}</li>`;
}

/** An event that the state takes, or the reason why not now. */
function Legal({ it }) {
  const reasons = [
    ...(it.unmet ?? []).map((part) => `${part.part} is false${(part.facts ?? []).length ? ` (${part.facts.map((fact) => `${fact.field} is ${JSON.stringify(fact.value)}`).join(', ')})` : ''}`),
    it.held_by?.reason, it.lacks?.length ? `it lacks ${it.lacks.join(', ')}` : '', it.claims?.length ? `it takes a claim: ${it.claims.join('; ')}` : '',
  ].filter(Boolean);
  return html`<li class=${it.enabled ? 'legal yes' : 'legal no'}><span aria-hidden="true">${it.enabled ? '▸' : '·'}</span> <code>${line(it.event, 60)}</code> <span class="dim">${line(it.from, 40)} → ${line((it.to ?? []).join(', ') || 'stays', 60)}</span>
    ${it.requires_approval ? html` <span class="tag">asks a person</span>` : null}${it.enabled ? null : html`<div class="words dim">not now${reasons.length ? `: ${shown(reasons.join('; '))}` : ''}</div>`}</li>`;
}

function Next({ run, why, machine, id, mayDrive, reload }) {
  const next = run.next;
  const instructions = Object.entries(next.instructions ?? {});
  const tools = next.tools ?? {};
  return html`<section class="next" aria-labelledby="next-title"><h2 id="next-title">Next</h2>
    ${next.reason ? html`<p>${shown(next.reason)}</p>` : null}
    ${OVER.has(next.status) ? html`<p class="dim">The run is over: it needs nothing.</p>` : null}
    ${why?.blockers?.length ? html`<h3>Why it stands where it is</h3><ul class="plain-list">${why.blockers.map((it, at) => html`<${Blocker} key=${at} it=${it} id=${id} />`)}</ul>` : null}
    ${next.legal?.length ? html`<h3>Events</h3><ul class="plain-list">${next.legal.map((it, at) => html`<${Legal} key=${at} it=${it} />`)}</ul>` : null}
    ${mayDrive && next.legal?.length && next.status !== 'paused' ? html`<details class="sender"><summary>Send an event</summary><${EventForm} run=${id} legal=${next.legal} machine=${machine} onSent=${reload} /></details>` : null}
    ${instructions.length ? html`<h3>What the state wants</h3>${instructions.map(([state, text]) => html`<div key=${state} class="instructions"><code>${shown(state)}</code><div class="words">${shown(typeof text === 'string' ? text : JSON.stringify(text))}</div></div>`)}` : null}
    <h3>Tools</h3><p class="words">${tools.all ? 'all of them' : (tools.allowed ?? []).length ? shown((tools.allowed ?? []).join(', ')) : 'none'}${tools.disallowed?.length ? `; but not ${shown(tools.disallowed.join(', '))}` : ''}</p>
    ${next.iterations?.length ? html`<p class="dim">${next.iterations.map((it) => `${it.state}: ${it.iteration} of ${it.max_iterations} calls`).join('; ')}</p>` : null}
    ${next.hints ? html`<details><summary>Hints for its executor</summary><${Fields} of=${next.hints} /></details>` : null}</section>`;
}

/** What people are asked, and were while somebody looks. */
function Asked({ requests, run, me, onDecided }) {
  const { rows, putAway } = useKept(requests, 'request_id');
  if (!rows.length) return null;
  return html`<section aria-labelledby="requests-title"><div class="bar"><h2 id="requests-title">Asked</h2>
      ${rows.some((it) => it.over) ? html`<button class="link" onClick=${putAway}>put away what is over</button>` : null}</div>
    ${rows.map(({ id, it, over }) => html`<${Request} key=${id} it=${it} run=${run} me=${me} over=${over} onDecided=${onDecided} inRun />`)}</section>`;
}

/** What comes now: the last records, the newest first. */
function Recent({ fresh, id }) {
  if (!fresh.length) return null;
  return html`<section aria-labelledby="recent-title"><h2 id="recent-title">Since you look <a class="dim" href=${to('runs', id, 'journal')}>journal</a></h2>
    <ol class="recent" aria-live="polite" aria-relevant="additions">${fresh.slice(-8).reverse().map((it) => html`<li key=${it.seq}><span class="seq">${it.seq}</span> <span class="kind">${line(it.kind, 24)}</span> ${line(summary(it), 160)} <span class="dim">${line(who(it.actor), 30)}</span></li>`)}</ol></section>`;
}

/** Pause, continue, cancel. */
function Control({ id, status, reload }) {
  const [error, setError] = useState(null);
  const [sure, setSure] = useState(false);
  const order = (action) => async () => {
    setError(null);
    setSure(false);
    try { await post(path('runs', id, 'control'), { action }); reload(); } catch (problem) { setError(problem); }
  };
  if (OVER.has(status)) return null;
  return html`${status === 'paused' ? html`<${Act} onAct=${order('continue')}>Continue<//>` : html`<${Act} onAct=${order('pause')}>Pause<//>`}
    ${sure ? html`<${Act} kind="bad" onAct=${order('cancel')}>Really cancel it<//><button onClick=${() => setSure(false)}>No</button>` : html`<button onClick=${() => setSure(true)}>Cancel…</button>`}
    ${error ? html`<div class="wide-problem"><${Problem} error=${error} /></div>` : null}`;
}

/** The page of a run. */
export function RunPage({ id, tab, rest, query, me }) {
  const { run, why, requests, error, machine, parent, fresh, reload } = useRun(id);
  const [state, setState] = useState(query.get('state') ?? '');
  const mayDrive = me.role !== 'observer';
  const pending = useMemo(() => pendingOf(requests), [requests]);
  if (!run) return html`<main id="main" tabindex="-1">${error && error.code !== 'unreachable' ? html`<${Problem} error=${error} onRetry=${reload} />` : html`<${Loading} what="the run" />`}</main>`;
  const { next } = run;
  const pick = (step) => { setState(step === state ? '' : step); location.hash = to('runs', id, 'journal'); };
  const tabs = [
    ['now', 'Now', requests.length || null], ['journal', 'Journal'], ['attempts', 'Attempts'], ['artifacts', 'Artifacts'],
    ['history', 'History'], ['context', 'Context'],
  ];
  return html`<main id="main" tabindex="-1" class="page run-page">
    <div class="head">
      <p class="crumbs"><a href=${to('runs')}>Runs</a> / <a href=${to('workflows', next.workflow)}>${line(next.workflow, 60)}</a>${parent ? html` / below <a href=${to('runs', parent.run)}>${line(parent.run, 60)}</a>${parent.step ? ` in ${line(parent.step, 40)}` : ''}` : null}</p>
      <div class="bar"><h1>${line(run.title ?? id, 120)}</h1> <${Status} of=${next.status} />
        <span class="where">${line((next.configuration ?? []).join(', '), 120)}</span>
        ${next.unreviewed ? html`<span class="tag" title="nobody has accepted its workflow">unreviewed</span>` : null}${run.imported_by ? html`<span class="tag">imported by ${line(run.imported_by, 40)}</span>` : null}
        <span class="grow"></span>
        ${mayDrive ? html`<${Control} id=${id} status=${next.status} reload=${reload} /><${Ways} id=${id} seq=${next.seq} onDone=${reload} />` : null}</div>
      <p class="dim facts"><code>${shown(id)}</code> · record <span class="seq">${next.seq}</span> · began <${Time} at=${run.created_at} /> · changed <${Time} at=${fresh.at(-1)?.time ?? run.updated_at} /></p>
      <${Tabs} label="Parts of the run" tabs=${tabs} current=${tab} onSelect=${(it) => { location.hash = to('runs', id, it); }} />
    </div>
    <div id="panel" role="tabpanel" aria-labelledby=${`tab-${tab}`} class=${`panel ${tab}`}>
      ${error ? html`<${Problem} error=${error} onRetry=${reload} />` : null}
      ${tab === 'now' ? html`<div class="columns">
        <div class="column"><section aria-labelledby="machine-title"><h2 id="machine-title">Machine</h2><${Drawing} run=${id} workflow=${next.workflow} seq=${next.transitions} states=${machine?.states} active=${next.configuration} visits=${run.visits} pending=${pending} onState=${pick} /></section>
          <section aria-labelledby="steps-title"><h2 id="steps-title">Steps</h2><${Steps} run=${run} machine=${machine} current=${state} onStep=${pick} /></section></div>
        <div class="column"><${Asked} requests=${requests} run=${run} me=${me} onDecided=${reload} />
          <${Next} run=${run} why=${why} machine=${machine} id=${id} mayDrive=${mayDrive} reload=${reload} />
          <${Recent} fresh=${fresh} id=${id} /></div></div>` : null}
      ${tab === 'journal' ? html`<${Journal} id=${id} seq=${next.seq} fresh=${fresh} state=${state} onState=${setState} />` : null}
      ${tab === 'attempts' ? html`<${Attempts} id=${id} seq=${next.seq} fresh=${fresh} />` : null}
      ${tab === 'artifacts' ? html`<${Artifacts} id=${id} seq=${lastOf(fresh, 'artifact')} rest=${rest} />` : null}
      ${tab === 'history' ? html`<${History} id=${id} seq=${next.transitions} mayDrive=${mayDrive} onChanged=${reload} />` : null}
      ${tab === 'context' ? html`<h2>Context</h2><${Fields} of=${run.context ?? {}} /><h2>Configuration</h2><${Text} code of=${JSON.stringify(run.config ?? {}, null, 2)} />` : null}
    </div></main>`;
}

/** Returns the number of the last record of a kind that came. */
const lastOf = (records, kind) => records.findLast?.((it) => it.kind === kind)?.seq ?? 0;
