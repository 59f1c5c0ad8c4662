/**
 * Workflows: the machine, what is proved of it, the findings in its file, which tools each state grants, and its documents.
 */

import { all, get, getSource, getWorkflow, path } from './api.js';
import { html, useEffect, useMemo, useState, Dialog, Fields, Loading, Problem, Status, Tabs, Text, line, shown, useRead, duration, to } from './parts.js';
import { Drawing } from './drawing.js';
import { StartForm } from './form.js';

/** The page of all workflows. */
export function WorkflowsPage({ bus }) {
  const [search, setSearch] = useState('');
  const { value, error, again } = useRead(() => all('/workflows', {}, 'workflows'), []);
  useEffect(() => bus.onRun((_, event) => { if (event === 'workflows') again(); }), []);
  const found = (value ?? []).filter((it) => `${it.id} ${it.title ?? ''} ${it.description ?? ''}`.toLowerCase().includes(search.toLowerCase()));
  return html`<main id="main" tabindex="-1" class="page"><div class="bar"><h1>Workflows</h1><label class="away" for="search">Search</label><input id="search" type="search" placeholder="search  ( / )" value=${search} onInput=${(it) => setSearch(it.target.value)} /></div>
    <${Problem} error=${error} onRetry=${again} />${!value && !error ? html`<${Loading} what="the workflows" />` : null}
    ${value && !value.length ? html`<p class="empty">No spec here defines a workflow: <code>statemark new NAME --workflow</code> writes one.</p>` : null}
    <ul class="cards">${found.map((it) => html`<li key=${it.id}><h2><a href=${to('workflows', it.id)}>${line(it.title ?? it.id, 80)}</a></h2>
      <p>${line(it.description ?? '', 220)}</p><p class="dim"><code>${line(it.source ?? '', 80)}</code> · ${it.states} states${it.diagnostics ? ` · ${it.diagnostics} findings` : ''}${it.unreviewed ? ' · unreviewed' : ''}</p></li>`)}</ul></main>`;
}

/** Which tools each state grants: a matrix of tools and states. */
export function grants(states) {
  const rows = new Map();
  const row = (kind, name) => {
    const key = `${kind} ${name}`;
    if (!rows.has(key)) rows.set(key, { kind, name, cells: {} });
    return rows.get(key).cells;
  };
  for (const it of states) {
    for (const name of it.allowed_tools ?? []) row('tool', name)[it.state] = 'yes';
    for (const name of it.disallowed_tools ?? []) row('tool', name)[it.state] = 'no';
    for (const name of it.capabilities ?? []) row('capability', name)[it.state] = 'yes';
  }
  return [...rows.values()].sort((a, b) => (a.kind === b.kind ? 0 : a.kind === 'tool' ? -1 : 1));
}

function Grants({ states }) {
  const rows = grants(states);
  if (!rows.length) return html`<p class="dim">No state restricts any tool.</p>`;
  const mark = (row, state) => {
    const said = row.cells[state.state];
    if (said === 'no') return ['✕', 'withheld', 'no'];
    if (said === 'yes') return ['✓', 'granted', 'yes'];
    const list = row.kind === 'tool' ? state.allowed_tools : state.capabilities;
    // A state without a list of its own leaves it to the states around it, or restricts nothing.
    return list || (row.kind === 'tool' && state.capabilities) ? ['·', 'not listed', 'none'] : ['∘', 'not restricted here', 'open'];
  };
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Grants by state"><table class="matrix"><thead><tr><th scope="col">tool or capability</th>${states.map((it) => html`<th key=${it.state} scope="col"><span>${line(it.state, 40)}</span></th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr key=${row.kind + row.name}><th scope="row"><code>${shown(row.name)}</code>${row.kind === 'capability' ? html` <span class="dim">capability</span>` : null}</th>${states.map((state) => {
      const [sign, word, kind] = mark(row, state);
      return html`<td key=${state.state} class=${kind} title=${`${row.name} in ${state.state}: ${word}`}><span aria-hidden="true">${sign}</span><span class="away">${word}</span></td>`;
    })}</tr>`)}</tbody></table></div><p class="dim">✓ granted · ✕ withheld · · not in the state's list · ∘ not restricted by the state</p>`;
}

/** What is proved of a machine. */
function Proofs({ proofs = [] }) {
  if (!proofs.length) return html`<p class="dim">Nothing is known: the server has the table alone.</p>`;
  return html`<ul class="plain-list proofs">${proofs.map((it, at) => html`<li key=${at}><${Status} of=${it.verdict === 'holds' ? 'holds' : it.verdict === 'unknown' ? 'unknown' : 'fails'} /> ${shown(it.text)}
    ${it.why ? html`<div class="dim">${shown(it.why)}</div>` : null}
    ${it.witness?.events?.length ? html`<div class="dim">by ${it.witness.events.map((event) => html`<code key=${event}>${line(event, 40)}</code> `)}</div>` : null}
    ${it.assumes?.length ? html`<details><summary class="dim">what that assumes</summary><ul>${it.assumes.map((one) => html`<li key=${one}>${shown(one)}</li>`)}</ul></details>` : null}</li>`)}</ul>`;
}

function Findings({ id }) {
  const { value, error } = useRead(async () => {
    const found = [];
    let cursor;
    do {
      const data = await get(path('workflows', id, 'findings'), { cursor });
      found.push(...(data.diagnostics ?? []));
      cursor = data.cursor;
    } while (cursor);
    return found;
  }, [id]);
  if (error) return html`<${Problem} error=${error} />`;
  if (!value) return html`<${Loading} what="the findings" />`;
  if (!value.length) return html`<p class="dim">There are none.</p>`;
  return html`<ul class="plain-list findings">${value.map((it, at) => html`<li key=${at}><span class=${`tag ${it.severity}`}>${shown(it.severity)}</span> <code>${shown(it.code)}</code> ${shown(it.message)} <span class="dim">${shown(it.path)}${it.range ? `:${it.range.start.line}` : ''}</span>
    ${(it.help ?? []).map((help, n) => html`<div key=${n} class="dim">help: ${shown(help)}</div>`)}${(it.notes ?? []).map((note, n) => html`<div key=${n} class="dim">${shown(note)}</div>`)}</li>`)}</ul>`;
}

function Transitions({ rows, events }) {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Transitions"><table><thead><tr><th scope="col">from</th><th scope="col">event</th><th scope="col">to</th><th scope="col">if</th><th scope="col">what else</th></tr></thead><tbody>${rows.map((it, at) => html`<tr key=${at}><td>${shown(it.from ?? 'anywhere')}</td>
    <td>${[...(it.events ?? []), ...(it.on ?? [])].map((event) => html`<code key=${event} title=${events?.[event]?.data ? JSON.stringify(events[event].data) : undefined}>${line(event, 60)}</code> `)}${(it.after_ms ?? []).map((ms) => `after ${duration(ms)} `)}</td>
    <td>${shown((it.to ?? []).join(', ') || 'stays')}</td><td>${it.guard ? html`<code>${shown(it.guard)}</code>` : ''}</td>
    <td>${it.requires_approval ? html`<span class="tag">asks a person</span>` : null}${it.actions?.length ? html`<span class="dim">${line(it.actions.join(', '), 80)}</span>` : null}${it.when ? html`<span class="dim">${shown(it.when)}</span>` : null}</td></tr>`)}</tbody></table></div>`;
}

function States({ states }) {
  return html`<ul class="plain-list">${states.map((it) => html`<li key=${it.state} class="state"><strong>${shown(it.title ?? it.state)}</strong>${it.title ? html` <code>${shown(it.state)}</code>` : null}${it.in ? html` <span class="dim">in ${shown(it.in)}</span>` : null}${it.is_final ? html` <span class="tag">end</span>` : null}
    ${it.instructions ? html`<div class="words">${shown(typeof it.instructions === 'string' ? it.instructions : JSON.stringify(it.instructions))}</div>` : null}
    ${it.requires ? html`<${Fields} of=${{ requires: it.requires, max_iterations: it.max_iterations }} />` : null}</li>`)}</ul>`;
}

/** A document: the spec as it was written, or its diagram. */
function Document({ id, format }) {
  const { value, error } = useRead(() => getSource(id, format), [id, format]);
  if (error) return html`<${Problem} error=${error} />`;
  return value === undefined ? html`<${Loading} what="the document" />` : html`<${Text} code of=${value} />`;
}

/** The page of a workflow. */
export function WorkflowPage({ id, tab, me, bus }) {
  const { value, error, again } = useRead(() => getWorkflow(id), [id]);
  const [starting, setStarting] = useState(false);
  useEffect(() => bus.onRun((_, event) => { if (event === 'workflows') again(); }), []);
  const tabs = [['machine', 'Machine'], ['proofs', 'Proofs'], ['findings', 'Findings', value?.diagnostics], ['grants', 'Grants'], ['artifacts', 'Artifacts'], ['spec', 'Spec'], ['diagram', 'Mermaid']];
  const states = useMemo(() => value?.states ?? [], [value]);
  if (!value) return html`<main id="main" tabindex="-1" class="page">${error ? html`<${Problem} error=${error} onRetry=${again} />` : html`<${Loading} what="the workflow" />`}</main>`;
  return html`<main id="main" tabindex="-1" class="page">
    <p class="crumbs"><a href=${to('workflows')}>Workflows</a></p>
    <div class="bar"><h1>${line(value.title ?? id, 100)}</h1>${value.unreviewed ? html`<span class="tag" title="nobody has accepted it as it is">unreviewed</span>` : null}<span class="grow"></span>
      <a class="button" href=${`${to('runs')}?workflow=${encodeURIComponent(id)}`}>Its runs</a>${me.role !== 'observer' ? html`<button class="main" onClick=${() => setStarting(true)}>Start a run</button>` : null}</div>
    <p>${shown(value.description ?? '')}</p>
    <${Tabs} label="Parts of the workflow" tabs=${tabs} current=${tab} onSelect=${(it) => { location.hash = to('workflows', id, it); }} />
    <div id="panel" role="tabpanel" aria-labelledby=${`tab-${tab}`} class="panel">
      ${tab === 'machine' ? html`<div class="columns"><div class="column"><${Drawing} workflow=${id} states=${states} /><h2>Transitions</h2><${Transitions} rows=${value.transitions ?? []} events=${value.events} /></div><div class="column"><h2>States</h2><${States} states=${states} /></div></div>` : null}
      ${tab === 'proofs' ? html`<${Proofs} proofs=${value.proofs} />` : null}
      ${tab === 'findings' ? html`<${Findings} id=${id} />` : null}
      ${tab === 'grants' ? html`<${Grants} states=${states} />` : null}
      ${tab === 'artifacts' ? (value.artifacts && Object.keys(value.artifacts).length ? Object.entries(value.artifacts).map(([name, contract]) => html`<section key=${name}><h2>${shown(name)}</h2><p>${shown(contract.description ?? '')}</p><${Text} code of=${JSON.stringify(contract, null, 2)} /></section>`) : html`<p class="dim">It demands no artifact.</p>`) : null}
      ${tab === 'spec' ? html`<${Document} id=${id} format="markdown" />` : null}
      ${tab === 'diagram' ? html`<${Document} id=${id} format="mermaid" />` : null}
    </div>
    ${starting ? html`<${Dialog} title="Start a run" onClose=${() => setStarting(false)} wide><${StartForm} workflows=${[{ id, title: value.title }]} first=${id} onStarted=${(run) => { setStarting(false); location.hash = to('runs', run); }} /><//>` : null}</main>`;
}
