/**
 * Small parts that every page is made of: texts as they are, times, states, lists of any length, dialogs.
 *
 * What others wrote goes through `shown` (or a part that does it): markup is text for Preact, and `shown` makes control
 * characters, direction marks and invisible characters visible, as the command line does.
 */

import { h, render, Fragment } from './vendor/preact.js';
import { useState, useEffect, useRef, useMemo, useCallback, useLayoutEffect } from './vendor/hooks.js';
import htm from './vendor/htm.js';

export const html = htm.bind(h);
export { h, render, Fragment, useState, useEffect, useRef, useMemo, useCallback, useLayoutEffect };

// The same characters as `runtime/text/src/visible.rs`.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb]|[\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;

/** Returns a text in which hidden characters but line breaks and tabs stand as `\u{…}`. */
export const shown = (text) => String(text ?? '').replace(/\r\n/g, '\n')
  .replace(HIDDEN, (it) => `\\u{${it.codePointAt(0).toString(16)}}`);

/** Returns one line of a text: line breaks stand as `⏎`. */
export const line = (text, most = 240) => {
  const whole = shown(String(text ?? '').slice(0, most * 2)).replace(/\n/g, '⏎').replace(/\t/g, ' ');
  return whole.length > most ? `${whole.slice(0, most)}…` : whole;
};

/** Makes an address of a page. */
export const to = (...parts) => `#/${parts.filter((it) => it !== undefined && it !== '').map(encodeURIComponent).join('/')}`;

/** Returns JSON as a person reads it. */
export const pretty = (value) => shown(JSON.stringify(value, null, 2) ?? '');

/** Returns how long something takes or took. */
export function duration(milliseconds) {
  const s = Math.max(0, milliseconds) / 1000;
  if (s < 1) return `${Math.round(milliseconds)} ms`;
  if (s < 60) return `${s.toFixed(s < 10 ? 1 : 0)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${Math.floor(s % 60)} s`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

function ago(time, now) {
  const s = (now - time) / 1000;
  if (s < -5) return `in ${duration(-s * 1000)}`;
  if (s < 5) return 'now';
  if (s < 60) return `${Math.floor(s)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 86400) return `${Math.floor(s / 3600)} h`;
  return `${Math.floor(s / 86400)} d`;
}

const clocks = new Set();
let ticking;

/** Returns the time, a new one every ten seconds. One timer serves all. */
export function useNow() {
  const [now, set] = useState(Date.now());
  useEffect(() => {
    clocks.add(set);
    ticking ??= setInterval(() => clocks.forEach((it) => it(Date.now())), 10_000);
    return () => clocks.delete(set);
  }, []);
  return now;
}

/** A time: how long ago, and exactly when somebody points at it. */
export function Time({ at }) {
  const now = useNow();
  if (!at) return null;
  const date = new Date(at);
  return html`<time dateTime=${date.toISOString()} title=${date.toLocaleString()}>${ago(at, Math.max(now, Date.now()))}</time>`;
}

/** Returns the time of day of a record. */
export const clock = (at) => {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? '' : date.toTimeString().slice(0, 8);
};

const MARKS = {
  running: '▶', waiting: '◆', paused: '‖', completed: '✓', failed: '✕', cancelled: '⊘',
  not_started: '○', skipped: '–', active: '▶', visited: '✓', holds: '✓', fails: '✕', unknown: '?',
};

/** A status: mark and word, so that colour says nothing alone. */
export const Status = ({ of, short }) => html`<span class=${`status ${of}`}><span aria-hidden="true">${MARKS[of] ?? '•'}</span>${short ? html`<span class="away">${of}</span>` : ` ${String(of ?? '').replace(/_/g, ' ')}`}</span>`;

/** A block of text that somebody wrote, whole. */
export const Text = ({ of, code }) => html`<pre class=${code ? 'text code' : 'text'} tabindex="0">${shown(of)}</pre>`;

/** A value of JSON: short ones in the line, others as a block that opens. */
export function Value({ of, name }) {
  if (of === null || of === undefined || typeof of !== 'object') {
    const text = typeof of === 'string' ? of : JSON.stringify(of);
    if (text === undefined) return null;
    return text.length > 300 || text.includes('\n')
      ? html`<details class="value"><summary>${name ?? 'text'}, ${text.length} characters: <code>${line(text, 80)}</code></summary><${Text} of=${text} /></details>`
      : html`<code class="value">${shown(text)}</code>`;
  }
  const text = JSON.stringify(of);
  if (text.length <= 120) return html`<code class="value">${shown(text)}</code>`;
  return html`<details class="value"><summary><code>${line(text, 80)}</code></summary><${Text} code of=${JSON.stringify(of, null, 2)} /></details>`;
}

/** Reports whether a value is a part of the page: no value of JSON lacks a constructor. */
const isNode = (value) => typeof value === 'object' && value.constructor === undefined;

/** Fields with their values. */
export const Fields = ({ of, labels = {} }) => html`<dl class="fields">${Object.entries(of)
  .filter(([, value]) => value !== undefined && value !== null)
  .map(([name, value]) => html`<div key=${name}><dt>${shown(labels[name] ?? name)}</dt><dd>${isNode(value) ? value : html`<${Value} of=${value} name=${name} />`}</dd></div>`)}</dl>`;

/** What went wrong, in the server's words. */
export function Problem({ error, onRetry }) {
  if (!error) return null;
  return html`<div class="problem" role="alert"><p>${shown(error.message)}</p>
    ${error.code === 'needs_person' || error.code === 'not_a_person' || error.code === 'unauthorized'
      ? html`<p class="dim">A token says who you are: give one with the button at the top right. <code>statemark token create NAME --role person</code> makes one.</p>` : null}
    ${onRetry ? html`<button onClick=${onRetry}>Try again</button>` : null}</div>`;
}

/** Says that something is being read, but only if that takes a while. */
export const Loading = ({ what = '' }) => html`<p class="loading" role="status">reading ${what}…</p>`;

/** Reads something, and again whenever a dependency changes; what was read before stays until then. */
export function useRead(read, dependencies) {
  const [state, set] = useState({ value: undefined, error: null, loading: true });
  const [turn, again] = useState(0);
  useEffect(() => {
    let left = false;
    const abort = new AbortController();
    set((it) => ({ ...it, loading: true }));
    read(abort.signal).then(
      (value) => { if (!left) set({ value, error: null, loading: false }); },
      (error) => { if (!left && error?.name !== 'AbortError') set((it) => ({ value: it.value, error, loading: false })); },
    );
    return () => { left = true; abort.abort(); };
  }, [...dependencies, turn]);
  return { ...state, again: useCallback(() => again((it) => it + 1), []) };
}

/**
 * Keeps a list at its place while somebody looks at it: what comes goes to its end, and what is gone stays, as `over`.
 *
 * Why: others decide what is in the list and when, and somebody's pointer is on its way to what is shown.
 * @param {any[]|undefined} items what there is now; undefined as long as nobody knows
 * @param {string} id the field that names an item
 * @returns {{rows: {id: string, it: any, over: boolean}[], putAway: () => void}} `putAway` lets go of those that are over
 */
export function useKept(items, id) {
  const kept = useRef(new Map());
  const [, turn] = useState(0);
  for (const it of items ?? []) kept.current.set(it[id], it);
  const open = items && new Set(items.map((it) => it[id]));
  const rows = [...kept.current].map(([name, it]) => ({ id: name, it, over: open !== undefined && !open.has(name) }));
  const putAway = () => {
    for (const row of rows) if (row.over) kept.current.delete(row.id);
    turn((it) => it + 1);
  };
  return { rows, putAway };
}

/** Unit: milliseconds. Why: a press that was meant for what stood there before comes sooner. */
const SETTLED = 600;

/**
 * Tells whether a part of the page has stood at its place for a moment, so that whoever presses it has seen it there.
 * @param {{current: Element|null}} box
 * @returns {[boolean, () => boolean]} whether it has, and a function that looks now
 */
export function useSettled(box) {
  const [settled, set] = useState(false);
  const stand = useRef({ place: '', since: 0 });
  const look = () => {
    const at = box.current?.getBoundingClientRect();
    const place = at ? `${Math.round(at.left + scrollX)} ${Math.round(at.top + scrollY)}` : '';
    if (place !== stand.current.place) stand.current = { place, since: performance.now() };
    const stands = place !== '' && performance.now() - stand.current.since >= SETTLED;
    set(stands);
    return stands;
  };
  useLayoutEffect(() => {
    look();
    const timer = setInterval(look, 100);
    return () => clearInterval(timer);
  }, []);
  return [settled, look];
}

/** Calls a function at most every so many milliseconds, the last time with the last arguments. */
export function throttled(call, milliseconds) {
  let timer = null;
  let last = 0;
  const run = () => { timer = null; last = Date.now(); call(); };
  const go = () => {
    if (timer !== null) return;
    timer = setTimeout(run, Math.max(0, last + milliseconds - Date.now()));
  };
  go.cancel = () => clearTimeout(timer);
  return go;
}

/**
 * A list of any length, of which only the rows in view exist. Arrow keys, j and k move; Enter opens.
 * @param {{count: number, height: number, row: (index: number) => any, onOpen?: (index: number) => void,
 *   onRange?: (first: number, last: number) => void, turn?: any, label: string, isRow?: (index: number) => boolean, stick?: boolean}} props
 *   `onRange` is told again whenever `turn` is another one
 */
export function List({ count, height, row, onOpen, onRange, label, isRow, stick, at, turn, id = 'list' }) {
  const box = useRef(null);
  const [view, setView] = useState({ top: 0, size: 600 });
  const [current, setCurrent] = useState(at ?? -1);
  const sticks = useRef(stick);
  useLayoutEffect(() => {
    const element = box.current;
    const look = () => {
      setView({ top: element.scrollTop, size: element.clientHeight || 600 });
      if (stick) sticks.current = element.scrollTop + element.clientHeight >= element.scrollHeight - height * 2;
    };
    look();
    element.addEventListener('scroll', look, { passive: true });
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => { element.removeEventListener('scroll', look); observer.disconnect(); };
  }, []);
  useLayoutEffect(() => {
    if (stick && sticks.current) box.current.scrollTop = count * height;
  }, [count]);
  const first = Math.max(0, Math.floor(view.top / height) - 8);
  const last = Math.min(count, Math.ceil((view.top + view.size) / height) + 8);
  useEffect(() => { onRange?.(first, last); }, [first, last, count, turn]);
  const move = (by) => {
    let to = current;
    do { to += by; } while (to >= 0 && to < count && isRow && !isRow(to));
    if (to < 0 || to >= count) return;
    setCurrent(to);
    const element = box.current;
    if (to * height < element.scrollTop) element.scrollTop = to * height;
    else if ((to + 1) * height > element.scrollTop + element.clientHeight) element.scrollTop = (to + 1) * height - element.clientHeight;
  };
  const page = Math.max(1, Math.floor(view.size / height) - 1);
  const moves = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: page, PageUp: -page };
  const keys = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in moves) { event.preventDefault(); move(moves[event.key]); }
    else if (event.key === 'Enter' && current >= 0 && onOpen && event.target === box.current) { event.preventDefault(); onOpen(current); }
  };
  const rows = [];
  for (let index = first; index < last; index += 1) {
    rows.push(html`<div key=${index} id=${`${id}-${index}`} role="row" aria-rowindex=${index + 1} aria-selected=${index === current ? 'true' : 'false'} class=${index === current ? 'slot current' : 'slot'}
      style=${{ height: `${height}px`, transform: `translateY(${index * height}px)` }}
      onClick=${onOpen ? () => { setCurrent(index); onOpen(index); } : undefined}><div class="cell" role="gridcell">${row(index)}</div></div>`);
  }
  return html`<div class="list" ref=${box} tabindex="0" role="grid" aria-rowcount=${count} aria-label=${label} onKeyDown=${keys}
    aria-activedescendant=${current >= first && current < last ? `${id}-${current}` : undefined}>
    <div class="whole" role="rowgroup" style=${{ height: `${count * height}px` }}>${rows}</div></div>`;
}

/** A dialog over the page. Escape closes it. */
export function Dialog({ title, onClose, children, wide }) {
  const box = useRef(null);
  useEffect(() => {
    const element = box.current;
    const before = document.activeElement;
    element.showModal();
    return () => { element.close(); before?.focus?.(); };
  }, []);
  return html`<dialog ref=${box} class=${wide ? 'wide' : ''} aria-label=${title} onCancel=${(event) => { event.preventDefault(); onClose(); }}
    onClick=${(event) => { if (event.target === box.current) onClose(); }}>
    <div class="dialog"><header><h2>${title}</h2><button class="plain" aria-label="Close" onClick=${onClose}>✕</button></header>${children}</div></dialog>`;
}

/** Tabs whose panel the page shows below. The arrow keys move. */
export function Tabs({ tabs, current, onSelect, label }) {
  const keys = (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const at = tabs.findIndex(([name]) => name === current);
    const [next] = tabs[(at + by + tabs.length) % tabs.length];
    onSelect(next);
    requestAnimationFrame(() => document.getElementById(`tab-${next}`)?.focus());
  };
  return html`<div class="tabs" role="tablist" aria-label=${label} onKeyDown=${keys}>${tabs.map(([name, title, count]) => html`
    <button key=${name} role="tab" id=${`tab-${name}`} aria-selected=${name === current ? 'true' : 'false'} aria-controls="panel" tabindex=${name === current ? 0 : -1}
      onClick=${() => onSelect(name)}>${title}${count ? html` <span class="count">${count}</span>` : null}</button>`)}</div>`;
}

/** A button that does something that takes a while; it can't be pressed twice. */
export function Act({ onAct, children, kind = '', disabled, title }) {
  const [busy, set] = useState(false);
  const press = async () => {
    set(true);
    try { await onAct(); } finally { set(false); }
  };
  return html`<button type="button" class=${kind} disabled=${busy || disabled} title=${title} onClick=${press}>${children}</button>`;
}
