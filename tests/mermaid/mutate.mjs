// Diagrams for the fuzzer: others' diagrams, a little broken, and some made up from the grammar.
//
// Everything follows from a seed, so that a find can be made again.

/** A source of chance: `next()` gives a number from 0 up to 1. Mulberry32. */
export function chance(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), bits | 61)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (count) => Math.floor(next() * count);
  const one = (list) => list[below(list.length)];
  return { next, below, one, maybe: (share) => next() < share };
}

const IDS = ['a', 'b', 'B', 'work', 'Work1', 'x_y', '[*]', '[*]', '[H]', 'a[H*]', 'ü', '起動', '🙂', "it's", 'a.b', 'root', 'end', 'as',
  'state', 'State', 'note', 'class', 'classDef', 'style', 'scale', 'click', 'href', 'default', 'direction', 'fork', 'join', 'choice',
  'hide', 'left', 'stateDiagram', 'stateDiagram-v2', 'accTitle', 'accDescr', 'nl', '__proto__', 'constructor', 'root_start', 'b_end',
  'LR', 'TB', 'a#35;b', 'a#b', 'a;', 'a&b', 'a<b', 'a}', '}', 'a"b"', '"q"', '$', 'divider-id-1', 'end note', 'my-state', 'a%%b', '1'];
const TEXTS = ['go', 'two words', 'e [g > 1] / act()', 'a: b', 'a:: b', 'x;', 'x; y', '#quot;q#quot;', '#35;', 'a<br>b', 'a <b', 'x --> y',
  '{x}', '}', '"q"', '%% c', '# c', 'direction LR', 'redirection TB', '<<choice>>', ':', ': x', 'x:', 'http://a/b', '12:30', '', ' ',
  'état', '\u00a0', 'a\\nb', 'style:#f00;', 'end note', 'note', 'as'];
const SIGNS = ['-->', '--', '---', '->', '-', ':', '::', ':::', ';', '{', '}', '"', '%%', '%%{', '}%%', '#', '#quot;', '#9;', '<<choice>>',
  '<<fork>>', '[[join]]', '<<end>>', 'as', 'as ', 'state', 'state ', 'note', 'note ', 'left of', 'right of', 'end note', 'direction LR',
  'direction  bt', 'direction', 'class', 'class ', 'classDef ', 'style ', 'scale ', 'click', 'href', 'default', 'accTitle:', 'accDescr:',
  'accDescr {', 'hide empty description', 'stateDiagram ', 'stateDiagram-v2', '---\n', '\n', '\n\n', ' \n', '  ', '\t', ',', '\\n', '<br/>'];
const CHARACTERS = ['\u00a0', '\u200b', '\u200d', '\ufeff', '\u2028', '\u2029', '\u3000', '\u0085', '\u0001', '\u0002', '\u0301', 'é', 'ß', 'İ',
  'ſ', 'K', '中', '🙂', '👩‍💻', '\v', '\f', '\r', '\r\n', ';', ':', '-', '>', '{', '}', '"', "'", '%', '#', '&', '<', '*', '[', ']', '/', '\\',
  '`', '|', '=', ',', '.', '(', ')', '0', '_', 'x', ' ', '\n', '\t', '—', '→'];
const STYLES = ['fill:#f00', 'fill:#f00,color:white;', 'fill:red;', '', 'a b'];

const id = (dice) => (dice.maybe(0.75) ? dice.one(IDS.slice(0, 16)) : dice.one(IDS));
const label = (dice) => (dice.maybe(0.4) ? `${dice.one([' : ', ': ', ':', ' :', '  :  '])}${dice.one(TEXTS)}` : '');

/** A statement, sometimes with a body. */
function statement(dice, depth) {
  const a = id(dice);
  switch (dice.below(22)) {
    case 0: case 1: case 2: case 3: case 4: case 5:
      return `${a}${dice.maybe(0.05) ? ':::c' : ''} --> ${id(dice)}${label(dice)}`;
    case 6: return `${a} : ${dice.one(TEXTS)}`;
    case 7: return a;
    case 8: return `state ${a}${label(dice)}`;
    case 9: return `state "${dice.one(TEXTS)}" as ${a}`;
    case 10: return `state ${a} ${dice.one(['<<choice>>', '<<fork>>', '<<join>>', '[[fork]]', '<<end>>'])}`;
    case 11: case 12: case 13: case 14: {
      if (depth > 3) return a;
      const head = dice.maybe(0.2) ? `state "${dice.one(TEXTS)}" as ${a}` : `state ${a}${dice.maybe(0.05) ? label(dice) : ''}`;
      return `${head}${dice.maybe(0.1) ? '\n' : ' '}{\n${body(dice, depth + 1)}\n}`;
    }
    case 15: return depth > 0 ? '--' : a;
    case 16: return `note ${dice.one(['left of', 'right of', 'right  of', 'over'])} ${a}${dice.one([' : ', ': ', ':', '  : ', '\n'])}${dice.one(TEXTS)}${dice.maybe(0.4) ? '\nend note' : ''}`;
    case 17: return dice.one([`note "${dice.one(TEXTS)}" as ${a}`, `direction ${dice.one(['LR', 'RL', 'TB', 'BT', 'TD', 'lr'])}`]);
    case 18: return `classDef ${dice.one(['c', 'default', 'my-c', 'c,d'])} ${dice.one(STYLES)}`;
    case 19: return dice.one([`class ${a} c`, `class ${a},b c`, `style ${a} ${dice.one(STYLES)}`]);
    case 20: return dice.one([`click ${a} "u" "t"`, `click ${a} href "u"`, `click ${a} "u"`, 'scale 350 width', 'scale 1', 'hide empty description']);
    default: return dice.one([`accTitle: ${dice.one(TEXTS)}`, `accDescr: ${dice.one(TEXTS)}`, `accDescr { ${dice.one(TEXTS)}\n}`, `%% ${a}`, `# ${a}`, '%%{init: {"theme": "dark"}}%%']);
  }
}

function body(dice, depth) {
  const lines = Array.from({ length: 1 + dice.below(5) }, () => '  '.repeat(depth) + statement(dice, depth));
  return lines.join('\n');
}

/** Ways to break a diagram. Each takes its lines and gives a text. */
const WAYS = [
  (lines, dice) => swap(lines, dice.below(lines.length), dice.below(lines.length)),
  (lines, dice) => lines.toSpliced(dice.below(lines.length), 1).join('\n'),
  (lines, dice) => lines.toSpliced(dice.below(lines.length), 0, dice.one(lines)).join('\n'),
  (lines, dice) => lines.toSpliced(1 + dice.below(lines.length), 0, statement(dice, 2)).join('\n'),
  (lines, dice) => lines.toSpliced(1 + dice.below(lines.length), 0, statement(dice, 0)).join('\n'),
  (lines, dice) => inserted(lines.join('\n'), dice, dice.one(CHARACTERS)),
  (lines, dice) => inserted(lines.join('\n'), dice, dice.one(CHARACTERS)),
  (lines, dice) => inserted(lines.join('\n'), dice, dice.one(SIGNS)),
  (lines, dice) => retoken(lines.join('\n'), dice, () => dice.one(SIGNS)),
  (lines, dice) => retoken(lines.join('\n'), dice, () => dice.one(IDS)),
  (lines, dice) => retoken(lines.join('\n'), dice, () => ''),
  (lines, dice) => retoken(lines.join('\n'), dice, (token) => token + dice.one(CHARACTERS)),
  (lines, dice) => renamed(lines.join('\n'), dice),
  (lines, dice) => atLine(lines, dice, (line) => `${line}${dice.one([' ', ';', ' %% c', ' # c', '\t', ':', ' : x', '{', '}', ' {'])}`),
  (lines, dice) => atLine(lines, dice, (line) => line.replace(' ', '\n')),
  (lines, dice) => { const at = dice.below(lines.length); return lines.slice(0, at + 1).join('\n') + dice.one(['', ' ']) + lines.slice(at + 1).join('\n'); },
  (lines, dice) => { const from = 1 + dice.below(lines.length); const to = from + dice.below(lines.length - from + 1); return [...lines.slice(0, from), `state ${id(dice)} {`, ...lines.slice(from, to), '}', ...lines.slice(to)].join('\n'); },
  (lines, dice) => lines.join(dice.one(['\r\n', '\r', '\n', ' \n', '\n\n'])),
  (lines, dice) => { const text = lines.join('\n'); const at = dice.below(text.length); return text.slice(0, at) + text.slice(at + 1 + dice.below(3)); },
  (lines, dice) => `${dice.one(['---\ntitle: t\n---\n', '---\n---\n', '\n---\nx: 1\n---\n', '%% c\n', '%%{init: {}}%%\n', ' \n', '\ufeff', '# c\n'])}${lines.join('\n')}`,
];

function swap(lines, a, b) {
  const swapped = [...lines];
  [swapped[a], swapped[b]] = [swapped[b], swapped[a]];
  return swapped.join('\n');
}

function inserted(text, dice, piece) {
  const at = dice.below(text.length + 1);
  return text.slice(0, at) + piece + text.slice(at);
}

function retoken(text, dice, other) {
  const tokens = text.split(/(\s+|-->|:::|--|[:;{}"])/);
  const at = dice.below(tokens.length);
  tokens[at] = other(tokens[at]);
  return tokens.join('');
}

function renamed(text, dice) {
  const names = text.match(/[\p{L}_]\w*/gu) ?? ['a'];
  const name = dice.one(names);
  return text.replaceAll(name, dice.one(IDS));
}

function atLine(lines, dice, change) {
  const at = dice.below(lines.length);
  return lines.with(at, change(lines[at])).join('\n');
}

/** The diagram of that number. */
export function diagram(seeds, seed, number) {
  const dice = chance(Math.imul(seed, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca6b));
  let text = dice.maybe(0.3) || seeds.length === 0 ? `stateDiagram-v2\n${body(dice, 0)}` : dice.one(seeds);
  for (let count = dice.below(5); count > 0; count -= 1) text = dice.one(WAYS)(text.split('\n'), dice);
  // A place between the halves of a character is none.
  return text.toWellFormed();
}
