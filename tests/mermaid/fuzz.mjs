// Differences between Mermaid and Statemark, hunted with broken diagrams. See README.md.
//
//   node fuzz.mjs MERMAID_LAYOUT [--count N] [--seed N] [--scratch DIR] FILE|DIR …
import { execFileSync, fork } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { explained } from './explained.mjs';
import { diagram } from './mutate.mjs';

/** Diagrams asked about at once. */
const BATCH = 400;
/** Differences that are shown. */
const MOST = 20;

const [layout, ...rest] = process.argv.slice(2);
const options = { count: 20000, seed: 1, scratch: 'scratch' };
const places = [];
while (rest.length > 0) {
  const word = rest.shift();
  if (word.startsWith('--')) options[word.slice(2)] = word === '--scratch' ? rest.shift() : Number(rest.shift());
  else places.push(word);
}

const workers = [0, 1].map(() => fork(path.join(import.meta.dirname, 'ask.mjs')));
fs.rmSync(options.scratch, { recursive: true, force: true });
fs.mkdirSync(options.scratch, { recursive: true });

/** The diagrams in some files and folders: `.mmd` files, and the fences of documents. */
function seedsOf(place) {
  if (fs.statSync(place).isDirectory()) return fs.readdirSync(place).sort().flatMap((name) => seedsOf(path.join(place, name)));
  if (place.endsWith('.mmd')) return [fs.readFileSync(place, 'utf8')];
  if (!place.endsWith('.md')) return [];
  const fences = fs.readFileSync(place, 'utf8').matchAll(/^(`{3,}|~{3,})mermaid\n(stateDiagram[^]*?)^\1/gm);
  return [...fences].map((fence) => fence[2]);
}

function askMermaid(worker, texts) {
  return new Promise((resolve) => {
    worker.once('message', resolve);
    worker.send(texts);
  });
}

function askStatemark(texts) {
  const files = texts.map((text, number) => {
    const file = path.join(options.scratch, `${String(number).padStart(5, '0')}.mmd`);
    fs.writeFileSync(file, text);
    return file;
  });
  const said = execFileSync(layout, files, { encoding: 'utf8', maxBuffer: 2 ** 30 });
  // U+2028 ends a line only for those who look for it.
  return said.trimEnd().split('\n').map((line) => JSON.parse(line));
}

async function both(texts) {
  const half = Math.ceil(texts.length / 2);
  const asked = [askMermaid(workers[0], texts.slice(0, half)), askMermaid(workers[1], texts.slice(half))];
  const ours = askStatemark(texts);
  const theirs = (await Promise.all(asked)).flat();
  return texts.map((text, number) => ({ text, ours: ours[number], theirs: theirs[number] }));
}

/** The text of an answer as far as it counts: the last region of a body has a random name, which can show in a label. */
function model({ direction, states, transitions }) {
  const shown = (label) => label.replace(/\bid-[a-z0-9]{6,}-\d+/g, 'region').trim();
  return JSON.stringify({
    direction,
    states: states.map((state) => ({ ...state, label: shown(state.label) })),
    transitions: transitions.map((transition) => ({ ...transition, label: shown(transition.label) })),
  });
}

/** What differs in two answers, in a word; `null` where nothing does. */
function difference({ ours, theirs }) {
  if (ours.ok !== theirs.ok) return ours.ok ? 'only Mermaid refuses' : 'only Statemark refuses';
  if (!ours.ok || model(ours) === model(theirs)) return null;
  return 'another model';
}

/** A small text with the same difference, unexplained as well. */
async function minimized(text, kind) {
  const same = async (candidate) => {
    const [answer] = await both([candidate]);
    return difference(answer) === kind && !explained(answer, kind);
  };
  for (const separator of ['\n', /(?<=\s)|(?=\s)/, '']) {
    const glue = separator === '\n' ? '\n' : '';
    let parts = text.split(separator);
    for (let size = Math.ceil(parts.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
      for (let at = 0; at < parts.length;) {
        const fewer = [...parts.slice(0, at), ...parts.slice(at + size)];
        if (fewer.join(glue).isWellFormed() && await same(fewer.join(glue))) parts = fewer;
        else at += size;
      }
    }
    text = parts.join(glue);
  }
  return text;
}

const seeds = places.flatMap(seedsOf);
const found = new Map();
const counts = { accepted: 0, refused: 0 };
const reasons = new Map();
for (let from = 0; from < options.count && found.size < MOST; from += BATCH) {
  const numbers = Array.from({ length: Math.min(BATCH, options.count - from) }, (_, offset) => from + offset);
  const answers = await both(numbers.map((number) => diagram(seeds, options.seed, number)));
  for (const [offset, answer] of answers.entries()) {
    counts[answer.theirs.ok ? 'accepted' : 'refused'] += 1;
    const kind = difference(answer);
    if (kind === null) continue;
    const reason = explained(answer, kind);
    if (reason) {
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      continue;
    }
    if (found.size >= MOST) break;
    const small = await minimized(answer.text, kind);
    if (found.has(small)) continue;
    const [again] = await both([small]);
    found.set(small, kind);
    process.stdout.write(`\n${kind} (diagram ${from + offset}):\n${JSON.stringify(small)}\n`);
    process.stdout.write(`  Mermaid:   ${(again.theirs.ok ? model(again.theirs) : again.theirs.error).slice(0, 600)}\n`);
    process.stdout.write(`  Statemark: ${(again.ours.ok ? model(again.ours) : again.ours.error).slice(0, 600)}\n`);
  }
}
const sum = `${counts.accepted + counts.refused} diagrams from ${seeds.length} seeds: Mermaid accepts ${counts.accepted}, refuses ${counts.refused}`;
process.stdout.write(`\n${sum}; unexplained differences: ${found.size}\n`);
for (const [reason, count] of [...reasons].sort()) process.stdout.write(`  ${count} × ${reason}\n`);
for (const worker of workers) worker.disconnect();
process.exitCode = found.size > 0 ? 1 : 0;
