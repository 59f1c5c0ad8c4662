/**
 * The drawing of a machine: the server's SVG, with the place of a run shown on it.
 *
 * The SVG is parsed as such, and only elements and attributes of a drawing are taken over into the page: no script, no link
 * elsewhere, no foreign content, whatever it is that was named in a spec. Where the server has no drawing, the states are listed.
 */

import { getText, path } from './api.js';
import { html, useEffect, useRef, useState, line, Status } from './parts.js';

const ELEMENTS = new Set(['svg', 'g', 'path', 'rect', 'circle', 'ellipse', 'line', 'polyline', 'polygon', 'text', 'tspan', 'title', 'desc', 'defs', 'marker', 'clipPath', 'use']);

const ATTRIBUTES = /^(id|class|d|x|y|x1|x2|y1|y2|cx|cy|r|rx|ry|dx|dy|width|height|points|viewBox|transform|fill|fill-opacity|fill-rule|stroke|stroke-[a-z]+|opacity|text-anchor|dominant-baseline|font-[a-z]+|text-decoration|marker-[a-z]+|markerWidth|markerHeight|markerUnits|refX|refY|orient|preserveAspectRatio|clip-path|clip-rule|role|aria-[a-z]+|data-[a-z-]+|xml:space|textLength|lengthAdjust)$/;

/** Copies what a drawing may have. Returns null for anything else. */
function copy(node, depth = 0) {
  if (node.nodeType === Node.TEXT_NODE) return document.createTextNode(node.data);
  if (node.nodeType !== Node.ELEMENT_NODE || !ELEMENTS.has(node.localName) || depth > 60) return null;
  const out = document.createElementNS('http://www.w3.org/2000/svg', node.localName);
  for (const { name, value } of node.attributes) {
    if (node.localName === 'use' && (name === 'href' || name === 'xlink:href') && value.startsWith('#')) out.setAttribute('href', value);
    // A reference may only lead to a part of the drawing itself.
    if (!ATTRIBUTES.test(name) || (/url\s*\(/i.test(value) && !/^url\(#[\w.:-]+\)$/.test(value.trim()))) continue;
    out.setAttribute(name, value);
  }
  for (const child of node.childNodes) {
    const taken = copy(child, depth + 1);
    if (taken) out.appendChild(taken);
  }
  return out;
}

/** Parses a drawing. Returns null if it is none. */
export function parseDrawing(text) {
  const parsed = new DOMParser().parseFromString(text, 'image/svg+xml');
  const root = parsed.documentElement;
  return root?.localName === 'svg' && !parsed.querySelector('parsererror') ? copy(root) : null;
}

/**
 * Returns states with those around them.
 * @param {string[]} active @param {{state: string, in?: string}[]} states
 */
export function withParents(active = [], states = []) {
  const parents = new Map(states.map((it) => [it.state, it.in]));
  const out = new Set();
  for (const leaf of active) {
    for (let at = leaf; at && !out.has(at); at = parents.get(at)) out.add(at);
  }
  return out;
}

/** Marks on a drawing where a run is, was, and would go. */
function mark(svg, { active, states, visits = {}, pending }) {
  const isActive = withParents(active, states);
  svg.querySelectorAll('[data-state]').forEach((group) => {
    const state = group.getAttribute('data-state');
    const visit = visits[state];
    group.classList.toggle('active', isActive.has(state));
    group.classList.toggle('visited', Boolean(visit) && !isActive.has(state));
    group.classList.toggle('target', Boolean(pending?.to?.includes(state)));
  });
  svg.querySelectorAll('[data-transition]').forEach((group) => {
    const number = group.getAttribute('data-transition');
    group.classList.toggle('pending', Boolean(pending?.transitions?.map(String).includes(number)));
  });
}

/**
 * A drawing of a workflow, or of a run if `run` is given: then read again whenever `seq` grows.
 * @param {{workflow?: string, run?: string, seq?: number, states?: any[], active?: string[], visits?: any, pending?: any, onState?: (state: string) => void}} props
 */
export function Drawing({ workflow, run, seq, states, active, visits, pending, onState }) {
  const box = useRef(null);
  const svg = useRef(null);
  const [failed, setFailed] = useState(null);
  const [large, setLarge] = useState(false);
  const where = run ? path('runs', run, 'graph.svg') : path('workflows', workflow, 'graph.svg');
  useEffect(() => {
    let left = false;
    const abort = new AbortController();
    getText(where, undefined, abort.signal).then((text) => {
      if (left) return;
      const drawing = parseDrawing(text);
      if (!drawing) { setFailed('the drawing can’t be read'); return; }
      const name = `The machine ${workflow ?? run}${active?.length ? `; it is in ${active.join(', ')}` : ''}`;
      drawing.setAttribute('role', 'img');
      drawing.setAttribute('aria-label', name);
      drawing.classList.add('drawing');
      const [, , width, height] = (drawing.getAttribute('viewBox') ?? '').split(/[\s,]+/).map(Number);
      if (width) {
        drawing.style.maxWidth = `${width}px`;
        drawing.removeAttribute('width');
        drawing.removeAttribute('height');
        setLarge(width > 900 || height > 700);
      }
      svg.current = drawing;
      mark(drawing, { active, states, visits, pending });
      box.current?.replaceChildren(drawing);
      setFailed(null);
    }, (error) => { if (!left && error?.name !== 'AbortError') setFailed(error.message); });
    return () => { left = true; abort.abort(); };
  }, [where, run ? seq : 0]);
  useEffect(() => { if (svg.current) mark(svg.current, { active, states, visits, pending }); }, [active, states, visits, pending]);
  const press = (event) => {
    const state = event.target.closest?.('[data-state]')?.getAttribute('data-state');
    if (state) onState?.(state);
  };
  if (failed !== null) return html`<${StateList} states=${states} active=${active} visits=${visits} pending=${pending} />`;
  return html`<div class=${large ? 'canvas large' : 'canvas'} ref=${box} tabindex="0" aria-label="Drawing" role="group" onClick=${press}></div>`;
}

/** Returns what open requests lead to: transitions by number, and their targets. */
export function pendingOf(requests, workflow) {
  const transitions = requests.flatMap((it) => it.event?.takes ?? it.event?.transitions ?? []);
  return { transitions, to: transitions.flatMap((it) => workflow?.transitions?.[it]?.to ?? []) };
}

/** The states as a list, where there is no drawing. */
function StateList({ states = [], active = [], visits = {}, pending }) {
  const isActive = withParents(active, states);
  return html`<ul class="states-list">${states.map((it) => html`<li key=${it.state} class=${isActive.has(it.state) ? 'active' : visits[it.state] ? 'visited' : ''}>
    <${Status} short of=${isActive.has(it.state) ? 'active' : visits[it.state] ? 'visited' : 'not_started'} /> ${line(it.title ?? it.state, 60)}
    ${visits[it.state]?.count > 1 ? html` <span class="count">${visits[it.state].count}×</span>` : null}
    ${pending?.to?.includes(it.state) ? html` <span class="tag">leads here</span>` : null}</li>`)}</ul>`;
}
