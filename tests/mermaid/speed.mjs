// How fast Mermaid's grammar and Statemark's parser read the same diagrams. See README.md.
//
//   node speed.mjs BENCH [--scratch DIR]
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const [bench, , scratch = 'speed'] = process.argv.slice(2);
/** Sizes: transitions. */
const SIZES = [100, 1000, 10000];
/** What Statemark promises: so many times Mermaid's speed, and at most so much more time a byte for ten times the text. */
const LEAST_RATIO = 10;
const MOST_GROWTH = 1.5;

/** States in a row. */
function flat(size) {
  const lines = Array.from({ length: size }, (_, n) => `    step_${n} --> step_${n + 1} : event_${n % 17} [guard_${n % 5}] / act_${n % 7}()`);
  return ['stateDiagram-v2', '    [*] --> step_0', ...lines, ''].join('\n');
}

/** Composites of composites, ten transitions in each of the innermost. */
function nested(size) {
  const lines = ['stateDiagram-v2', '[*] --> outer_0'];
  for (let done = 0; done < size; done += 100) {
    const outer = done / 100;
    lines.push(`state outer_${outer} {`, `    [*] --> inner_${outer}_0`);
    for (let inner = 0; inner < 10; inner += 1) {
      lines.push(`    state "Part ${inner}" as inner_${outer}_${inner} {`);
      for (let n = 0; n < 10; n += 1) lines.push(`        s_${outer}_${inner}_${n} --> s_${outer}_${inner}_${n + 1} : event_${n}`);
      lines.push('    }');
    }
    lines.push('}');
  }
  return [...lines, ''].join('\n');
}

/** Mermaid's parser as jison made it. What stands behind it in Mermaid, its database, is a stub here. */
async function grammar() {
  const chunks = path.join(import.meta.dirname, 'node_modules/mermaid/dist/chunks/mermaid.core');
  const file = fs.readdirSync(chunks).find((name) => /^stateDiagram-v2-.*\.mjs$/.test(name));
  const { diagram } = await import(path.join(chunks, file));
  const parser = diagram.parser.parser ?? diagram.parser;
  const nothing = () => {};
  parser.yy = { setRootDoc: nothing, setDirection: nothing, setAccTitle: nothing, setAccDescription: nothing,
    getDividerId: () => 'divider', trimColon: (text) => (text.startsWith(':') ? text.slice(1).trim() : text.trim()) };
  return (text) => parser.parse(`${text}\n`);
}

/** The median time of a call, in seconds, after some that don't count. */
function median(call) {
  const times = [];
  const end = performance.now() + 3000;
  for (let round = 0; round < 5 || (performance.now() < end && round < 200); round += 1) {
    const start = performance.now();
    call();
    if (round > 1) times.push((performance.now() - start) / 1000);
  }
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)];
}

const parse = await grammar();
fs.mkdirSync(scratch, { recursive: true });
const cases = SIZES.flatMap((size) => [['flat', size, flat(size)], ['nested', size, nested(size)]]);
const files = cases.map(([shape, size, text]) => {
  const file = path.join(scratch, `${shape}-${size}.mmd`);
  fs.writeFileSync(file, text);
  return file;
});
const ours = execFileSync(bench, files, { encoding: 'utf8' }).trim().split('\n').map(Number);
const cost = new Map();
let failed = false;
process.stdout.write('| diagram      |   bytes | Mermaid MB/s | Statemark MB/s | ratio |\n|--------------|---------|--------------|----------------|-------|\n');
for (const [number, [shape, size, text]] of cases.entries()) {
  const bytes = Buffer.byteLength(text);
  const theirs = median(() => parse(text));
  const ratio = theirs / ours[number];
  const rate = (seconds) => (bytes / seconds / 1e6).toFixed(1);
  process.stdout.write(`| ${`${shape} ${size}`.padEnd(12)} | ${String(bytes).padStart(7)} | ${rate(theirs).padStart(12)} | ${rate(ours[number]).padStart(14)} | ${ratio.toFixed(0).padStart(5)} |\n`);
  const before = cost.get(shape);
  if (ratio < LEAST_RATIO) failed = true;
  if (before && size > SIZES[1] && ours[number] / bytes > before * MOST_GROWTH) failed = true;
  cost.set(shape, ours[number] / bytes);
}
if (failed) process.stdout.write(`below the bar: ${LEAST_RATIO} times Mermaid's speed, and time that grows with the text\n`);
process.exitCode = failed ? 1 : 0;
