/**
 * The timeline of a run: every step of its machine, those not started too, with their units, and the runs below.
 */

import { html, Status, Time, duration, line, shown, useNow, to } from './parts.js';
import { withParents } from './drawing.js';

/**
 * Returns the steps of a run in the machine's order: what was reported, else what the journal knows of the states.
 * @returns {{step: string, depth: number, status: string, count: number, since?: number, units: any[], children: any[]}[]}
 */
export function stepsOf(run, machine) {
  const states = new Map((machine?.states ?? []).map((it) => [it.state, it]));
  const active = withParents(run.next?.configuration, machine?.states);
  const depth = (state) => (state?.in ? 1 + depth(states.get(state.in)) : 0);
  const reported = new Map();
  for (const it of run.steps ?? []) {
    if (!reported.has(it.step)) reported.set(it.step, []);
    reported.get(it.step).push(it);
  }
  const children = childrenOf(run);
  // What an agent below reports (`agent:state`) stands with its run.
  const known = new Set(children.map((it) => it.workflow));
  const own = [...reported.keys()].filter((it) => !(it.includes(':') && known.has(it.split(':')[0])));
  const names = [...new Set([...(machine?.states ?? []).map((it) => it.state), ...own])];
  return names.map((step) => {
    const state = states.get(step);
    const reports = reported.get(step) ?? [];
    const own = reports.find((it) => !it.unit) ?? (states.has(step) ? undefined : combined(reports));
    const visit = run.visits?.[step];
    let status = own?.status;
    // A report says more than the place; without one the place is what is known.
    if (!status || (status === 'not_started' && visit)) status = active.has(step) ? (run.next?.status === 'waiting' ? 'waiting' : 'running') : visit ? 'completed' : 'not_started';
    if (visit && state?.is_final) status = 'completed';
    return {
      step, status, title: state?.title, message: own?.message,
      depth: depth(state),
      count: visit?.count ?? 0, since: visit?.since, left: visit?.left,
      units: reports.filter((it) => it.unit),
      children: children.filter((it) => it.step === step),
      calls: visit?.iterations,
    };
  });
}

/** Returns what the units of a step say together. */
function combined(reports) {
  const has = (status) => reports.some((it) => it.status === status);
  const status = ['failed', 'waiting', 'running'].find(has) ?? (reports.every((it) => it.status === 'completed' || it.status === 'skipped') ? 'completed' : 'running');
  return { status };
}

/** Returns the runs below, each with what its agent has reported. */
function childrenOf(run) {
  return Object.entries(run.children ?? {}).map(([id, it]) => {
    const isOwn = (report) => report.step.startsWith(`${it.workflow}:`) && (report.unit ?? null) === (it.unit ?? null);
    return { run: id, ...it, reports: (run.steps ?? []).filter(isOwn) };
  });
}

/** The runs below that belong to no step. */
export const looseChildren = (run, steps) => {
  const known = new Set(steps.map((it) => it.step));
  return childrenOf(run).filter((it) => !known.has(it.step));
};

function Child({ child }) {
  const status = child.ended === undefined || child.ended === null ? child.status ?? 'running' : (child.success ?? child.ended?.success ?? child.ended) === false ? 'failed' : 'completed';
  return html`<li class="unit"><${Status} of=${status} /> <a href=${to('runs', child.run)}>${line(child.run, 60)}</a> <span class="dim">${line(child.workflow ?? '', 40)}${child.unit ? `, ${line(child.unit, 40)}` : ''}</span>
    ${child.reports.length ? html`<ul class="units">${child.reports.map((it) => html`<li key=${it.step} class="unit"><${Status} of=${it.status} /> ${line(it.step.split(':').slice(1).join(':'), 60)} ${it.message ? html`<span class="dim">${line(it.message, 120)}</span>` : null}</li>`)}</ul>` : null}</li>`;
}

/** Shows the steps. */
export function Steps({ run, machine, current, onStep }) {
  const now = useNow();
  const steps = stepsOf(run, machine);
  const loose = looseChildren(run, steps);
  return html`<ol class="steps" aria-label="Steps">${steps.map((it) => html`<li key=${it.step} class=${`step ${it.status} ${current === it.step ? 'chosen' : ''}`} data-step=${it.step} style=${{ paddingLeft: `${it.depth * 16}px` }}>
    <button type="button" class="plain" onClick=${() => onStep?.(it.step)}>
      <${Status} of=${it.status} /><span class="name">${line(it.title ?? it.step, 60)}</span>
      ${it.count > 1 ? html`<span class="count" title="entered so many times">${it.count}×</span>` : null}
      ${it.calls ? html`<span class="dim">${it.calls} calls</span>` : null}
      <span class="grow"></span>
      ${it.since ? html`<span class="dim">${it.left ? '' : duration(Math.max(now, Date.now()) - it.since) + ' · '}<${Time} at=${it.since} /></span>` : null}</button>
    ${it.message ? html`<p class="message">${shown(it.message)}</p>` : null}
    ${it.units.length || it.children.length ? html`<ul class="units">${it.units.map((unit) => html`<li key=${unit.unit} class="unit" data-unit=${unit.unit}><${Status} of=${unit.status} /> ${line(unit.unit, 60)} ${unit.message ? html`<span class="dim">${line(unit.message, 120)}</span>` : null}</li>`)}
      ${it.children.map((child) => html`<${Child} key=${child.run} child=${child} />`)}</ul>` : null}</li>`)}
    ${loose.length ? html`<li class="step"><span class="dim">Runs below</span><ul class="units">${loose.map((child) => html`<${Child} key=${child.run} child=${child} />`)}</ul></li>` : null}</ol>`;
}
