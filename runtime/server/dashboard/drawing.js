/**
 * The drawing of a machine: the server's SVG, with the place of a run shown on it.
 *
 * The SVG is parsed as such, and only elements and attributes of a drawing are taken over into the page: no script, no link
 * elsewhere, no foreign content, whatever it is that was named in a spec. Its styles are a sheet of a shadow root of its own: they
 * reach nothing else. Where the server has no drawing, the states are listed.
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

/**
 * Parses a drawing. Returns null if it is none.
 * @returns {{svg: SVGElement, sheet: CSSStyleSheet}|null}
 */
export function parseDrawing(text) {
  // The page's policy would refuse a style element even in a document that is only parsed.
  const styles = [];
  const bare = text.replace(/<style[^>]*>([\s\S]*?)<\/style>/g, (_, it) => { styles.push(it.replace(/<!\[CDATA\[|\]\]>/g, '')); return ''; });
  const parsed = new DOMParser().parseFromString(bare, 'image/svg+xml');
  const root = parsed.documentElement;
  if (root?.localName !== 'svg' || parsed.querySelector('parsererror')) return null;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styles.join('\n'));
  return { svg: copy(root), sheet };
}

/** What the page adds to a drawing: its size, and where a request leads. */
const OWN = new CSSStyleSheet();
OWN.replaceSync(`
  svg { display: block; width: 100%; height: auto; margin: 0 auto; }
  :host(.whole) svg { max-height: 60vh; }
  .page { fill: none !important; }
  [data-state] { cursor: pointer; }
  .pending > .line, .target > .box { stroke: var(--sm-active-line, #2450b8) !important; stroke-width: 2.4 !important; stroke-dasharray: 7 4 !important; }
`);

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
    // The way to a choice is several transitions'.
    const numbers = group.getAttribute('data-transition').split(' ');
    const isPending = pending?.transitions?.map(String).some((it) => numbers.includes(it));
    group.classList.toggle('pending', Boolean(isPending));
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
  // The drawing may come after what is marked on it, or before.
  const marks = useRef(null);
  marks.current = { active, states, visits, pending };
  const where = run ? path('runs', run, 'graph.svg') : path('workflows', workflow, 'graph.svg');
  useEffect(() => {
    let left = false;
    const abort = new AbortController();
    getText(where, undefined, abort.signal).then((text) => {
      if (left) return;
      const found = parseDrawing(text);
      if (!found) { setFailed('the drawing can’t be read'); return; }
      const { svg: drawing, sheet } = found;
      const name = `The machine ${workflow ?? run}${active?.length ? `; it is in ${active.join(', ')}` : ''}`;
      drawing.setAttribute('role', 'img');
      drawing.removeAttribute('aria-labelledby');
      drawing.setAttribute('aria-label', name);
      const [, , width, height] = (drawing.getAttribute('viewBox') ?? '').split(/[\s,]+/).map(Number);
      if (width) {
        drawing.style.maxWidth = `${width}px`;
        drawing.removeAttribute('width');
        drawing.removeAttribute('height');
        setLarge(width > 900 || height > 700);
      }
      svg.current = drawing;
      mark(drawing, marks.current);
      const host = box.current;
      if (host) {
        const shadow = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
        shadow.adoptedStyleSheets = [sheet, OWN];
        shadow.replaceChildren(drawing);
      }
      setFailed(null);
    }, (error) => { if (!left && error?.name !== 'AbortError') setFailed(error.message); });
    return () => { left = true; abort.abort(); };
  }, [where, run ? seq : 0]);
  useEffect(() => { if (svg.current) mark(svg.current, marks.current); }, [active, states, visits, pending]);
  const press = (event) => {
    const state = event.composedPath()[0]?.closest?.('[data-state]')?.getAttribute('data-state');
    if (state) onState?.(state);
  };
  if (failed !== null) return html`<${StateList} states=${states} active=${active} visits=${visits} pending=${pending} />`;
  return html`<div class=${large ? 'canvas large' : 'canvas'} tabindex="0" aria-label="Drawing" role="group"><div class=${large ? 'drawn' : 'drawn whole'} ref=${box} onClick=${press}></div></div>`;
}

/** Returns what open requests lead to: transitions by their numbers in the run's own table, and their targets. */
export const pendingOf = (requests) => ({
  transitions: requests.flatMap((it) => it.event?.takes ?? it.event?.transitions ?? []),
  to: requests.flatMap((it) => it.leads ?? []).flatMap((it) => it.to),
});

/** The states as a list, where there is no drawing. */
function StateList({ states = [], active = [], visits = {}, pending }) {
  const isActive = withParents(active, states);
  return html`<ul class="states-list">${states.map((it) => html`<li key=${it.state} class=${isActive.has(it.state) ? 'active' : visits[it.state] ? 'visited' : ''}>
    <${Status} short of=${isActive.has(it.state) ? 'active' : visits[it.state] ? 'visited' : 'not_started'} /> ${line(it.title ?? it.state, 60)}
    ${visits[it.state]?.count > 1 ? html` <span class="count">${visits[it.state].count}×</span>` : null}
    ${pending?.to?.includes(it.state) ? html` <span class="tag">leads here</span>` : null}</li>`)}</ul>`;
}
