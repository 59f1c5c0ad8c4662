/**
 * JSON without a loss: numbers that this language would round stay as they were written.
 *
 * A person decides by what a page shows, and `9007199254740993` isn't `9007199254740992`. Journal, guards and effects have
 * numbers exactly.
 */

/** The key of a number that is kept as it was written: nobody else knows it. */
const KEY = `exact:${crypto.getRandomValues(new Uint32Array(4)).join('-')}`;

/** A text of JSON, or a number. */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/** A number as it was written. */
class Exact {
  constructor(source) { this.source = source; }

  /** JSON has it as it was written. Where a browser can't do that, it is a text. */
  toJSON() { return canWrite ? JSON.rawJSON(this.source) : this.source; }

  toString() { return this.source; }
}

const canWrite = typeof JSON.rawJSON === 'function';

/** Returns a number's digits and its power of ten: two texts have the same if they are one number. */
function digits(text) {
  const [, sign, whole, part = '', power = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  if (whole === undefined) return text;
  const all = (whole + part).replace(/^0+/, '');
  const short = all.replace(/0+$/, '');
  return `${sign}${short}e${short ? BigInt(power) - BigInt(part.length) + BigInt(all.length - short.length) : 0}`;
}

/** Reports whether a number is another one once this language has read it. */
const isRounded = (text) => (text.length > 15 || /^-0|[eE]/.test(text)) && digits(text) !== digits(String(Number(text)));

/** Reads JSON. A number that would be rounded is an object that says it exactly, and writes itself so. */
export function parse(text) {
  let found = false;
  const marked = text.replace(TOKEN, (token) => {
    if (token[0] === '"' || !isRounded(token)) return token;
    found = true;
    return `{"${KEY}":"${token}"}`;
  });
  if (!found) return JSON.parse(text);
  return JSON.parse(marked, (_, value) => (value !== null && typeof value === 'object' && Object.hasOwn(value, KEY) ? new Exact(value[KEY]) : value));
}

/** Returns the number that a text means, exactly; none if it is no number. */
export function number(text) {
  const value = Number(text);
  if (!Number.isFinite(value)) return undefined;
  return isRounded(text.trim()) ? parse(text.trim()) : value;
}

/** Writes JSON to be sent. @throws if a number would become another one */
export function write(value) {
  return JSON.stringify(value, function check(key, item) {
    // By now a number that is kept has become what stands for it.
    if (this[key] instanceof Exact && !canWrite) throw new Error(`this browser can’t send the number ${this[key]} exactly`);
    return item;
  });
}
