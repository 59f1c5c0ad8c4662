/**
 * Forms made from JSON Schemas: for an event's data, a run's input, an answer.
 *
 * What a schema says simply becomes fields; what it says otherwise is written as JSON. The server checks everything: a form
 * only spares typing.
 */

import { getWorkflow, path, post } from './api.js';
import { number, parse } from './exact.js';
import { html, useEffect, useMemo, useState, Act, Problem, Loading, shown } from './parts.js';

/** Returns the type of a field, or `json` for what no field can say. */
function kindOf(schema) {
  if (schema === true || schema === undefined || schema === null) return 'json';
  if (Array.isArray(schema.enum) && schema.enum.every((it) => typeof it !== 'object')) return 'choice';
  const types = [schema.type].flat().filter((it) => it && it !== 'null');
  if (types.length !== 1) return 'json';
  return { string: 'text', integer: 'integer', number: 'number', boolean: 'yes' }[types[0]] ?? 'json';
}

const isNullable = (schema) => [schema?.type].flat().includes('null');

/** Returns the text that a field begins with. */
function textOf(kind, value) {
  if (value === undefined || value === null) return '';
  if (kind === 'json') return JSON.stringify(value, null, 2);
  return String(value);
}

/** Returns the value that a field's text means; undefined if it is left out. */
function valueOf(kind, text, schema) {
  if (text === '') return undefined;
  if (kind === 'integer' || kind === 'number') {
    const read = number(text);
    if (read === undefined || (kind === 'integer' && !Number.isInteger(Number(text)))) throw new Error(`\`${text}\` is no ${kind}`);
    return read;
  }
  if (kind === 'yes') return text === 'true';
  if (kind === 'choice') return schema.enum.find((it) => String(it) === text);
  if (kind === 'json') return parse(text);
  return text;
}

/** A field of a form. */
function Field({ name, schema, required, text, onText, id }) {
  const kind = kindOf(schema);
  const title = shown(schema?.title ?? name);
  const help = schema?.description ? html`<span class="dim" id=${`${id}-help`}>${shown(schema.description)}</span>` : null;
  const common = { id, required, value: text, onInput: (it) => onText(it.target.value), 'aria-describedby': help ? `${id}-help` : undefined };
  let input;
  if (kind === 'choice' || kind === 'yes') {
    const choices = kind === 'yes' ? ['true', 'false'] : schema.enum.map(String);
    input = html`<select ...${common}><option value="">${required ? 'choose' : 'leave out'}</option>${choices.map((it) => html`<option key=${it} value=${it}>${shown(it)}</option>`)}</select>`;
  } else if (kind === 'integer' || kind === 'number') {
    input = html`<input type="number" step=${kind === 'integer' ? 1 : 'any'} min=${schema.minimum} max=${schema.maximum} ...${common} />`;
  } else if (kind === 'json') {
    input = html`<textarea rows="3" class="code" spellcheck="false" placeholder="JSON" ...${common}></textarea>`;
  } else {
    input = (schema.maxLength ?? 1000) > 200
      ? html`<textarea rows="1" ...${common}></textarea>`
      : html`<input type="text" maxlength=${schema.maxLength} ...${common} />`;
  }
  const limits = [kind === 'json' ? 'JSON' : kind === 'yes' ? 'yes or no' : kind, schema?.minimum !== undefined ? `≥ ${schema.minimum}` : '', schema?.maximum !== undefined ? `≤ ${schema.maximum}` : '', isNullable(schema) ? 'or null' : ''];
  return html`<div class="field"><label for=${id}>${title}${required ? html`<span aria-hidden="true"> *</span>` : null} <span class="dim">${limits.filter(Boolean).join(' ')}</span></label>${input}${help}</div>`;
}

/**
 * Keeps the data of a form that a schema describes.
 * @returns {{view: any, read: () => any}} what to show, and a function that gives the data or throws
 */
export function useForm(schema, initial, name = 'data') {
  const properties = schema?.properties ?? {};
  const names = Object.keys(properties);
  const isObject = names.length > 0;
  const [texts, setTexts] = useState({});
  const [raw, setRaw] = useState(null);
  const begin = () => Object.fromEntries(names.map((it) => [it, textOf(kindOf(properties[it]), initial?.[it])]));
  useEffect(() => { setTexts(begin()); setRaw(null); }, [schema, JSON.stringify(initial ?? null)]);
  const required = new Set(schema?.required ?? []);
  const fields = () => {
    const data = {};
    for (const it of names) {
      try {
        const value = valueOf(kindOf(properties[it]), texts[it] ?? '', properties[it]);
        if (value !== undefined) data[it] = value;
      } catch (error) { throw new Error(`${it}: ${error.message}`); }
    }
    return data;
  };
  const read = () => {
    if (isObject && raw === null) return fields();
    const text = (raw ?? '').trim();
    if (text === '') return undefined;
    try { return parse(text); } catch (error) { throw new Error(`${name}: ${error.message}`); }
  };
  const toRaw = () => { try { setRaw(JSON.stringify(fields(), null, 2)); } catch { setRaw('{}'); } };
  const view = isObject && raw === null
    ? html`<div class="form">${names.map((it) => html`<${Field} key=${it} id=${`${name}-${it}`} name=${it} schema=${properties[it]} required=${required.has(it)} text=${texts[it] ?? ''}
        onText=${(text) => setTexts((all) => ({ ...all, [it]: text }))} />`)}
      <button type="button" class="link" onClick=${toRaw}>write it as JSON</button></div>`
    : html`<div class="form"><div class="field"><label for=${`${name}-json`}>${name === 'data' ? 'Data' : name === 'input' ? 'Input' : 'Answer'} <span class="dim">JSON${schema ? '' : '; may be left out'}</span></label>
      <textarea id=${`${name}-json`} class="code" rows="4" spellcheck="false" value=${raw ?? ''} onInput=${(it) => setRaw(it.target.value)}></textarea></div>
      ${isObject ? html`<button type="button" class="link" onClick=${() => setRaw(null)}>use the fields</button>` : null}</div>`;
  return { view, read };
}

/** Sends an event to a run: a form from the event's schema. */
export function EventForm({ run, legal, machine, onSent }) {
  const names = [...new Set(legal.map((it) => it.event))];
  const [event, setEvent] = useState(names[0] ?? '');
  const [error, setError] = useState(null);
  const [sent, setSent] = useState(null);
  const chosen = names.includes(event) ? event : names[0] ?? '';
  const schema = machine?.events?.[chosen]?.data;
  const { view, read } = useForm(schema, undefined);
  if (!names.length) return html`<p class="dim">No event can be sent here.</p>`;
  const rows = legal.filter((it) => it.event === chosen);
  const send = async () => {
    setError(null);
    setSent(null);
    try {
      const data = read();
      const answer = await post(path('runs', run, 'events'), { event: chosen, ...(data === undefined ? {} : { data }) });
      setSent(answer);
      onSent?.(answer);
    } catch (problem) { setError(problem); }
  };
  return html`<form class="send" onSubmit=${(it) => it.preventDefault()}>
    <div class="field"><label for="event">Event</label><select id="event" value=${chosen} onChange=${(it) => { setEvent(it.target.value); setSent(null); setError(null); }}>
      ${names.map((it) => html`<option key=${it} value=${it}>${shown(it)}${legal.some((row) => row.event === it && row.enabled) ? '' : ' (not now)'}</option>`)}</select>
    <span class="dim">${rows.map((it) => `${it.from} → ${(it.to ?? []).join(', ') || 'stays'}${it.requires_approval ? ', asks a person' : ''}`).join('; ')}</span></div>
    ${view}
    <${Act} kind="main" onAct=${send}>Send ${shown(chosen)}<//>
    <${Problem} error=${error} />
    ${sent ? html`<p class="done" role="status">${sent.taken ? `taken: ${(sent.from ?? []).join(', ')} → ${(sent.to ?? []).join(', ')}` : sent.asked ? `request ${sent.asked} asks a person first` : 'written, and nothing moved'}</p>` : null}
  </form>`;
}

/** Starts a run: a form from the workflow's context. */
export function StartForm({ workflows, first, onStarted }) {
  const [id, setId] = useState(first || workflows[0]?.id || '');
  const [workflow, setWorkflow] = useState(null);
  const [title, setTitle] = useState('');
  const [name, setName] = useState('');
  const [error, setError] = useState(null);
  useEffect(() => {
    let left = false;
    setWorkflow(null);
    if (id) getWorkflow(id).then((it) => { if (!left) setWorkflow(it); }, (it) => { if (!left) setError(it); });
    return () => { left = true; };
  }, [id]);
  const schema = useMemo(() => inputSchema(workflow), [workflow]);
  const { view, read } = useForm(schema, undefined, 'input');
  const start = async () => {
    setError(null);
    try {
      const input = read();
      const data = await post('/runs', {
        workflow: id,
        ...(title ? { title } : {}), ...(name ? { run_id: name } : {}),
        ...(input && Object.keys(input).length ? { input } : {}),
      });
      onStarted(data.run_id);
    } catch (problem) { setError(problem); }
  };
  if (!workflows.length) return html`<p class="dim">The server has no workflows.</p>`;
  return html`<form onSubmit=${(it) => it.preventDefault()}>
    <div class="field"><label for="start-workflow">Workflow</label><select id="start-workflow" value=${id} onChange=${(it) => setId(it.target.value)}>${workflows.map((it) => html`<option key=${it.id} value=${it.id}>${shown(it.title ?? it.id)}</option>`)}</select></div>
    ${workflow ? html`<p class="dim">${shown(workflow.description ?? '')}</p>` : error ? null : html`<${Loading} what="the workflow" />`}
    <div class="field"><label for="start-title">Title <span class="dim">for people</span></label><input id="start-title" value=${title} onInput=${(it) => setTitle(it.target.value)} /></div>
    <div class="field"><label for="start-id">Id <span class="dim">else it gets one that nobody can guess</span></label><input id="start-id" value=${name} onInput=${(it) => setName(it.target.value)} /></div>
    ${workflow ? html`<h3>Input</h3>${view}` : null}
    <${Problem} error=${error} />
    <p class="row"><${Act} kind="main" disabled=${!workflow} onAct=${start}>Start<//></p></form>`;
}

/** Makes the schema of a start's input: the fields of the context, or those that the definition lists. */
function inputSchema(workflow) {
  if (!workflow) return undefined;
  const known = workflow.context_schema?.properties ?? {};
  const names = workflow.inputs ?? [...new Set([...Object.keys(workflow.context ?? {}), ...Object.keys(known)])];
  const guess = (value) => ({ string: { type: 'string' }, number: { type: 'number' }, boolean: { type: 'boolean' } })[typeof value] ?? {};
  const properties = Object.fromEntries([names].flat().filter((it) => typeof it === 'string').map((it) => {
    const initial = workflow.context?.[it];
    const schema = known[it] ?? guess(initial);
    const rest = initial === null || initial === undefined ? '' : `begins as ${JSON.stringify(initial)}`;
    return [it, { ...schema, description: [schema.description, rest].filter(Boolean).join('; ') || undefined }];
  }));
  return { properties };
}
