// The question to Mermaid: is this a state diagram, and what is drawn of it?
//
// An answer has the shape that `mermaid_layout` prints, without the file. As a child process it answers each
// message, a list of texts, with the list of answers.
import { JSDOM } from 'jsdom';

const { window } = new JSDOM('<!doctype html><body></body>');
globalThis.window ??= window;
const needed = ['document', 'Node', 'NodeFilter', 'Element', 'HTMLElement', 'HTMLFormElement', 'HTMLTemplateElement',
  'DocumentFragment', 'NamedNodeMap', 'DOMParser'];
for (const name of needed) globalThis[name] ??= window[name];
// It logs what it reads at every level.
for (const level of ['debug', 'info', 'log', 'warn', 'error']) console[level] = () => {};
const { default: mermaid } = await import('mermaid');
mermaid.initialize({ startOnLoad: false, suppressErrorRendering: true, logLevel: 'fatal' });

/** What Mermaid makes of a text. */
export async function ask(text) {
  try {
    await mermaid.parse(text);
    const diagram = await mermaid.mermaidAPI.getDiagramFromText(text);
    if (!diagram.type.startsWith('stateDiagram') && diagram.type !== 'state') return { ok: false, error: `a ${diagram.type}` };
    return { ok: true, ...drawn(diagram.db.getData()) };
  } catch (error) {
    return { ok: false, error: String(error?.message ?? error) };
  }
}

function drawn({ nodes, edges, direction }) {
  const isNote = new Set(nodes.filter((node) => node.shape === 'note' || node.shape === 'noteGroup').map((node) => node.id));
  const regions = new Map();
  // Some ids of regions are random; they are numbered instead.
  const named = (id) => {
    const end = /^([^]*)_(start|end)$/.exec(id);
    if (end) return `${end[1] === 'root' ? '' : named(end[1])}/${end[2]}`;
    if (!/^(divider-id-|id-[a-z0-9]{6,}-)/.test(id)) return id;
    if (!regions.has(id)) regions.set(id, `#${regions.size + 1}`);
    return regions.get(id);
  };
  const parentOf = (node) => (node.parentId == null || isNote.has(node.parentId) ? null : named(node.parentId));
  const states = nodes.filter((node) => !isNote.has(node.id)).map((node) =>
    ({ id: named(node.id), shape: node.shape, parent: parentOf(node), label: [node.label].flat().join('\n') }));
  const transitions = edges.filter((edge) => !isNote.has(edge.start) && !isNote.has(edge.end)).map((edge) =>
    ({ from: named(edge.start), to: named(edge.end), label: edge.label ?? '' }));
  return { direction, states, transitions };
}

if (process.send) {
  process.on('message', async (texts) => {
    const answers = [];
    for (const text of texts) answers.push(await ask(text));
    process.send(answers);
  });
}
