/**
 * Differences of two texts, line by line (Myers, "An O(ND) Difference Algorithm and Its Variations", 1986).
 */

import { html, shown, List, useMemo } from './parts.js';

/** Most differing lines that are looked for; beyond, everything between the common ends counts as changed. */
const MAX_EDITS = 2000;

/**
 * Compares two lists of lines.
 * @returns {{kind: ' '|'-'|'+', text: string, old?: number, new?: number}[]}
 */
export function diff(before, after) {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const out = [];
  let [old, now] = [0, 0];
  const push = (kind, text) => {
    const row = { kind, text };
    if (kind !== '+') row.old = (old += 1);
    if (kind !== '-') row.new = (now += 1);
    out.push(row);
  };
  before.slice(0, start).forEach((text) => push(' ', text));
  edits(before.slice(start, before.length - end), after.slice(start, after.length - end)).forEach(([kind, text]) => push(kind, text));
  before.slice(before.length - end).forEach((text) => push(' ', text));
  return out;
}

function edits(a, b) {
  const most = Math.min(a.length + b.length, MAX_EDITS);
  const trace = [];
  const reach = new Map([[1, 0]]);
  for (let d = 0; d <= most; d += 1) {
    trace.push(new Map(reach));
    for (let k = -d; k <= d; k += 2) {
      const isDown = k === -d || (k !== d && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
      let x = isDown ? reach.get(k + 1) ?? 0 : (reach.get(k - 1) ?? 0) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      reach.set(k, x);
      if (x >= a.length && x - k >= b.length) return walk(a, b, trace, d);
    }
    if (trace.length * d > 4_000_000) break;
  }
  return [...a.map((text) => ['-', text]), ...b.map((text) => ['+', text])];
}

function walk(a, b, trace, depth) {
  const out = [];
  let [x, y] = [a.length, b.length];
  for (let d = depth; d > 0; d -= 1) {
    const reach = trace[d];
    const k = x - y;
    const isDown = k === -d || (k !== d && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
    const from = isDown ? k + 1 : k - 1;
    const fromX = reach.get(from) ?? 0;
    while (x > fromX + (isDown ? 0 : 1) && y > fromX - from + (isDown ? 1 : 0)) { x -= 1; y -= 1; out.push([' ', a[x]]); }
    if (isDown) { y -= 1; out.push(['+', b[y]]); } else { x -= 1; out.push(['-', a[x]]); }
  }
  while (x > 0 && y > 0) { x -= 1; y -= 1; out.push([' ', a[x]]); }
  return out.reverse();
}

/** Shows the difference of two texts. */
export function Diff({ before, after }) {
  const rows = useMemo(() => diff(before.split('\n'), after.split('\n')), [before, after]);
  const [more, less] = [rows.filter((it) => it.kind === '+').length, rows.filter((it) => it.kind === '-').length];
  return html`<p class="dim">${more} added, ${less} removed</p><div class="lines diff"><${List} id="diff" label="Differences" count=${rows.length} height=${20} row=${(index) => {
    const row = rows[index];
    return html`<div class=${`line ${{ '+': 'added', '-': 'removed' }[row.kind] ?? ''}`}><span class="number">${row.old ?? ''}</span><span class="number">${row.new ?? ''}</span><span class="sign">${row.kind}</span><code>${shown(row.text)}</code></div>`;
  }} /></div>`;
}
