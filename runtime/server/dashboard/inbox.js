/**
 * The inbox: what people are asked, each request with all that it is about, and its decision.
 *
 * What a person decides on is never cut: a request that is larger than an answer of the server is read in pieces. A decision
 * names one request, and the server refuses it to anybody but a person. Where a signature is demanded, the page shows the text
 * and the commands that sign it, and goes on by itself when the decision arrives.
 *
 * What is shown stays until the person chooses another: agents open and withdraw requests, and may know when somebody decides.
 * One that is over keeps its room, without buttons; one that comes goes below the others; and buttons that have just come or
 * moved can't be pressed yet.
 */

import { all, get, getEvents, getRun, join, path, post } from './api.js';
import { html, useEffect, useMemo, useRef, useState, Act, Loading, Problem, Text, Time, line, pretty, shown, throttled, useKept, useNow, useRead, useSettled, duration, to } from './parts.js';
import { useForm } from './form.js';
import { Drawing, pendingOf } from './drawing.js';
import { who } from './journal.js';

/** Reads the open requests of a run, whole. */
export const readRequests = (run) => all(path('runs', run, 'requests'), {}, 'requests');

/** Reads one open request, whole. Returns null if it isn't open any more. */
async function readRequest(id) {
  const pages = [];
  let cursor = `${id}@0`;
  do {
    const data = await get('/requests', { run_id: runOf(id), cursor });
    pages.push(data.requests);
    cursor = data.cursor;
    // Further pieces of the same one.
  } while (cursor?.startsWith(`${id}@`));
  return join(pages).find((it) => it.request_id === id) ?? null;
}

/** Returns the run that a request belongs to. */
const runOf = (id) => id.slice(0, id.lastIndexOf(':'));

/** Finds the record that ended a request. Returns undefined if there is none: the run is over, or was rewound. */
async function findEnd(id) {
  // A request's number is that of the record that opened it.
  let after = Number(id.slice(id.lastIndexOf(':') + 1));
  while (after !== undefined) {
    const data = await getEvents(runOf(id), { kinds: ['request.resolved'], after_seq: after });
    const found = data.records?.find((it) => it.body?.request === id);
    if (found) return found;
    after = data.cursor;
  }
  return undefined;
}

/** What became of a request that isn't open any more. */
function Verdict({ id, done }) {
  const read = useRead(async () => (done ? undefined : findEnd(id)), [id, done]);
  const end = read.value;
  let words = 'is decided, withdrawn or past';
  if (done) words = `is ${done.resolution ?? 'decided'}${done.by ? ` by ${done.by}` : ''}`;
  else if (end) words = `is ${end.body.resolution.replace(/_/g, ' ')} by ${who(end.actor)}${end.body.comment ? `: ${end.body.comment}` : ''}`;
  return html`<p class="done verdict words" role="status">Request ${shown(id)} ${shown(words)}.</p>`;
}

/** Returns a word as a shell takes it. */
const shellWord = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`);

/** The data of the event that waits, beside what the context has now. */
function Changes({ data, context }) {
  const fields = data && typeof data === 'object' && !Array.isArray(data) ? Object.entries(data) : [];
  if (!fields.length) return data === undefined || data === null ? null : html`<h3>Its data</h3><${Text} code of=${pretty(data)} />`;
  return html`<h3>Its data, beside the context now</h3><div class="scroll" tabindex="0" role="group" aria-label="Data of the event"><table><thead><tr><th scope="col">field</th><th scope="col">now</th><th scope="col">with the event</th></tr></thead>
    <tbody>${fields.map(([name, value]) => html`<tr key=${name}><th scope="row">${shown(name)}</th><td>${context && Object.hasOwn(context, name) ? html`<code>${shown(JSON.stringify(context[name]))}</code>` : html`<span class="dim">${context ? 'not in the context' : ''}</span>`}</td><td>${whole(value)}</td></tr>`)}</tbody></table></div>`;
}

/** A value that somebody decides on: all of it. */
const whole = (value) => (typeof value === 'string' ? html`<div class="words">${shown(value)}</div>` : html`<code class="words">${pretty(value)}</code>`);

/** The signing of a decision elsewhere. */
function Signing({ it, decision, onDone }) {
  const [text, setText] = useState(null);
  const [armor, setArmor] = useState('');
  const [error, setError] = useState(null);
  const where = path('requests', it.request_id);
  useEffect(() => {
    let left = false;
    setText(null);
    post(where, { ...decision, to_sign: true }).then((data) => { if (!left) { setText(data.to_sign); setError(null); } }, (problem) => { if (!left) setError(problem); });
    return () => { left = true; };
  }, [JSON.stringify(decision)]);
  const id = shellWord(it.request_id);
  const answer = decision.answer === undefined ? '' : ` ${shellWord(typeof decision.answer === 'string' ? decision.answer : JSON.stringify(decision.answer))}`;
  const verb = { approve: 'approve', deny: 'deny', send_back: 'deny', answer: 'answer' }[decision.action];
  const comment = decision.comment ? ` --comment ${shellWord(decision.comment)}` : '';
  const command = `statemark ${verb} ${id}${answer}${comment}`;
  const hand = async () => {
    setError(null);
    const time = Number(/^time (\d+)/m.exec(text)?.[1]);
    try { onDone(await post(where, { ...decision, signature: { time, armor } })); } catch (problem) { setError(problem); }
  };
  return html`<div class="signing"><h3>To be signed</h3>
    <p>This decision counts only with your signature. At a terminal, your key signs it with</p>
    <${Text} code of=${`${command} --sign-with ~/.ssh/id_ed25519.pub`} />
    <p class="dim">The page goes on by itself when it arrives.</p>
    <${Problem} error=${error} />
    ${text ? html`<details open><summary>or sign this text yourself</summary><${Text} code of=${text} />
      <p class="dim">Kept as <code>decision</code>, <code>ssh-keygen -Y sign -n statemark -f KEY decision</code> writes <code>decision.sig</code>, which belongs here:</p>
      <label>Signature<textarea class="code" rows="4" spellcheck="false" placeholder="-----BEGIN SSH SIGNATURE-----" value=${armor} onInput=${(event) => setArmor(event.target.value)}></textarea></label>
      <${Act} kind="main" disabled=${!armor.includes('SSH SIGNATURE')} onAct=${hand}>Hand it in<//></details>` : null}</div>`;
}

/** The buttons and fields that decide a request; what became of it, in their room, if it is `over`. */
function Decide({ it, me, onDecided, over }) {
  const buttons = useRef(null);
  const [settled, isSettled] = useSettled(buttons);
  const [comment, setComment] = useState('');
  const [text, setText] = useState('');
  const [choice, setChoice] = useState('');
  const [error, setError] = useState(null);
  const [done, setDone] = useState(null);
  const [signing, setSigning] = useState(null);
  const form = useForm(it.schema ?? undefined, undefined, 'answer');
  const decide = (decision) => async () => {
    setError(null);
    const body = { ...decision(), ...(comment ? { comment } : {}) };
    if (it.signed) { setSigning(body); return; }
    try {
      const answer = await post(path('requests', it.request_id), body);
      setDone(answer);
      onDecided?.(answer);
    } catch (problem) { setError(problem); }
  };
  const act = (kind, label, decision) => html`<${Act} kind=${kind} disabled=${!settled} onAct=${async () => { if (!isSettled()) return; try { await decide(decision)(); } catch (problem) { setError(problem); } }}>${label}<//>`;
  const is = (...kinds) => kinds.includes(it.kind);
  const ended = Boolean(done) || over;
  const only = me.role !== 'person' ? html`<p class="note">Only a person decides, and the server takes you for ${me.role === 'observer' ? 'an observer' : 'an agent'}: give a person's token (top right).</p>` : null;
  return html`<div class=${ended ? 'decide over' : 'decide'}><div class="means" inert=${ended}>${only}
    ${is('select') ? html`<fieldset><legend>Choose</legend>${(it.choices ?? []).map((one, at) => html`<label key=${at} class="radio"><input type="radio" name=${`choice-${it.request_id}`} checked=${choice === one} onChange=${() => setChoice(one)} /> <span class="words">${shown(one)}</span></label>`)}</fieldset>` : null}
    ${is('text') ? html`<label>Answer<textarea rows="4" value=${text} onInput=${(event) => setText(event.target.value)}></textarea></label>` : null}
    ${is('json') ? form.view : null}
    <label>Comment <span class="dim">${is('review') ? 'what is to be changed' : 'may be left out'}</span><textarea rows="1" value=${comment} onInput=${(event) => setComment(event.target.value)}></textarea></label>
    <p class="row" ref=${buttons}>
      ${is('approval') ? html`${act('main', 'Approve', () => ({ action: 'approve' }))}${act('bad', 'Deny', () => ({ action: 'deny' }))}` : null}
      ${is('confirm') ? html`${act('main', 'Yes', () => ({ action: 'approve' }))}${act('', 'No', () => ({ action: 'deny' }))}` : null}
      ${is('review') ? html`${act('main', 'Approve', () => ({ action: 'approve' }))}${act('', 'Send back', () => ({ action: 'send_back' }))}` : null}
      ${is('select') ? act('main', 'Answer', () => { if (!choice) throw new Error('choose one'); return { action: 'answer', answer: choice }; }) : null}
      ${is('text') ? act('main', 'Answer', () => ({ action: 'answer', answer: text })) : null}
      ${is('json') ? act('main', 'Answer', () => ({ action: 'answer', answer: form.read() })) : null}</p>
    <${Problem} error=${error} />
    ${signing ? html`<${Signing} it=${it} decision=${signing} onDone=${(answer) => { setDone(answer); onDecided?.(answer); }} />` : null}</div>
    ${ended ? html`<${Verdict} id=${it.request_id} done=${done} />` : null}</div>`;
}

/**
 * A request with all that it is about.
 *
 * Where it leads is the server's word, by the run's own table: the workflow's file may say something else by now.
 */
export function Request({ it, run, me, onDecided, inRun, over = false }) {
  const now = useNow();
  // The context as it was when the request came into view: another one would move what is below, and nothing counts over it.
  const context = useRef(undefined);
  context.current ??= run?.context;
  const leads = it.leads ?? [];
  return html`<article class=${over ? 'request over' : 'request'} id=${`request-${it.request_id}`} aria-label=${`Request ${it.request_id}`}>
    <h2 class="away">Request ${shown(it.request_id)}</h2>
    <header><span class="tag">${shown(it.kind)}</span> <code>${shown(it.request_id)}</code>${inRun ? null : html` <a href=${to('runs', it.run_id)}>${line(run?.title ?? it.run_id, 80)}</a> <span class="dim">${line(it.workflow, 60)}</span>`}
      ${it.unreviewed ? html`<span class="tag" title="nobody has accepted its workflow">unreviewed</span>` : null}${it.signed ? html`<span class="tag">to be signed</span>` : null}${it.blocking ? html`<span class="tag" title="no event is taken until it is answered">holds the run</span>` : null}
      <span class="grow"></span><span class="dim">asked by ${shown(it.asked_by)} <${Time} at=${it.asked_at} />${it.expires ? `, ${it.expires > now ? `${duration(it.expires - Math.max(now, Date.now()))} left` : 'expired'}` : ''}</span></header>
    <div class="prompt words" tabindex="0" role="group" aria-label="Question">${shown(it.prompt)}</div>
    ${it.again ? html`<p class="note">It was asked before: ${shown(it.again.request)}, and what it is about has changed since.</p>` : null}
    ${it.details !== undefined && it.details !== null ? html`<h3>Beside it</h3>${typeof it.details === 'string' ? html`<${Text} of=${it.details} />` : html`<${Text} code of=${JSON.stringify(it.details, null, 2)} />`}` : null}
    ${it.event ? html`<h3>The event that waits: <code>${shown(it.event.event)}</code></h3>
      ${leads.map((row, at) => html`<p key=${at}>It leads from <strong>${shown(row.from ?? 'anywhere')}</strong> to <strong>${shown((row.to ?? []).join(', ') || 'the same')}</strong>${row.guard ? html`, if <code>${shown(row.guard)}</code>` : null}${row.actions?.length ? `, doing ${shown(row.actions.join(', '))}` : ''}.</p>`)}
      ${it.event.claims?.length ? html`<p>The sender claims: ${shown(it.event.claims.join('; '))}</p>` : null}
      ${Object.entries(it.event.artifacts ?? {}).map(([name, revision]) => html`<p key=${name}>Handed in: <a href=${to('runs', it.run_id, 'artifacts')}>${shown(name)}</a>, revision ${revision}.</p>`)}
      <${Changes} data=${it.event.data} context=${context.current} />` : null}
    ${it.approvers?.length ? html`<p class="dim">For ${shown(it.approvers.join(', '))}.</p>` : null}
    <${Decide} it=${it} me=${me} onDecided=${onDecided} over=${over} /></article>`;
}

/** The page of all requests. */
export function InboxPage({ bus, request, me }) {
  const { value, error, again } = useRead(() => all('/requests', { brief: true }, 'requests'), []);
  useEffect(() => {
    const soon = throttled(again, 300);
    const leave = bus.onRun(() => soon());
    return () => { leave(); soon.cancel(); };
  }, []);
  const { rows, putAway } = useKept(value, 'request_id');
  const gone = rows.filter((it) => it.over).length;
  const first = rows.find((it) => !it.over)?.id;
  // What is shown has its name in the address, so that nothing takes its place.
  useEffect(() => { if (!request && first) location.replace(to('inbox', first)); }, [request, first]);
  return html`<main id="main" tabindex="-1" class="page"><div class="bar"><h1>Inbox</h1><span class="dim">${value ? `${value.length} open` : ''}</span>
      ${gone ? html`<button class="link" onClick=${putAway}>put away what is over</button>` : null}</div>
    <${Problem} error=${error} onRetry=${again} />
    ${!value && !error ? html`<${Loading} what="the requests" />` : null}
    ${value && !rows.length ? html`<p class="empty">Nobody is asked anything.</p>` : null}
    ${value && (rows.length || request) ? html`<div class="split open inbox"><ul class="picker" aria-label="Requests">${rows.map(({ id, it, over }) => html`<li key=${id}><a class=${over ? 'over' : ''} href=${to('inbox', id)} aria-current=${id === request ? 'true' : undefined}>
      <span class="tag">${shown(it.kind)}</span>${over ? html` <span class="tag">over</span>` : null} ${line(it.prompt, 90)}<br /><span class="dim">${line(it.run_id, 40)} · ${line(it.workflow, 30)} · <${Time} at=${it.asked_at} /></span></a></li>`)}</ul>
      ${request ? html`<${Chosen} key=${request} id=${request} over=${!value.some((it) => it.request_id === request)} me=${me} again=${again} />` : null}</div>` : null}</main>`;
}

/** The chosen request, beside the drawing of its run. */
function Chosen({ id, over, me, again }) {
  const read = useRead(() => readRequest(id), [id]);
  if (read.value) return html`<${Whole} it=${read.value} me=${me} again=${again} over=${over} />`;
  if (read.error) return html`<${Problem} error=${read.error} onRetry=${read.again} />`;
  return read.loading ? html`<${Loading} what="the request" />` : html`<${Verdict} id=${id} />`;
}

function Whole({ it, me, again, over }) {
  const run = useRead(() => getRun(it.run_id, ['visits', 'context', 'states']), [it.run_id, it.request_id]);
  const pending = useMemo(() => pendingOf(over ? [] : [it]), [it, over]);
  return html`<div><${Request} it=${it} run=${run.value} me=${me} over=${over} onDecided=${() => setTimeout(again, 800)} />
    ${run.value ? html`<section aria-label="What it leads to"><h2>What it leads to</h2><${Drawing} run=${it.run_id} workflow=${it.workflow} seq=${run.value.next.transitions} states=${run.value.states} active=${run.value.next.configuration} visits=${run.value.visits} pending=${pending} /></section>` : null}</div>`;
}
