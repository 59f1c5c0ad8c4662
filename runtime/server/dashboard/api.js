/**
 * The server's API: requests, pages of long answers, and the token of whoever looks.
 *
 * The token is asked for in the page, kept in this tab's session storage and sent in `Authorization`: it stands in no address,
 * no cookie and no other tab, and a page of another origin can neither read it nor have the browser send it.
 */

import { parse, write } from './exact.js';

const TOKEN = 'statemark.token';

/** An answer that says no: `code` and `message` are the server's. */
export class Refusal extends Error {
  /** @param {number} status @param {{code?: string, message?: string, details?: any, fix?: any}} error */
  constructor(status, error) {
    super(error.message ?? `the server answers with ${status}`);
    this.status = status;
    this.code = error.code ?? 'failed';
    this.details = error.details;
    this.fix = error.fix;
  }
}

/** The server can't be reached. */
export class Unreachable extends Error {
  constructor() {
    super('the server can’t be reached');
    this.code = 'unreachable';
  }
}

/** @returns {string} the token, or an empty text */
export const token = () => {
  try { return sessionStorage.getItem(TOKEN) ?? ''; } catch { return held; }
};

/** Holds the token where the browser keeps nothing. */
let held = '';

/** @param {string} text the token; an empty text forgets it */
export function setToken(text) {
  held = text;
  try {
    if (text) sessionStorage.setItem(TOKEN, text); else sessionStorage.removeItem(TOKEN);
  } catch { /* It is held in memory. */ }
}

/** @returns {Record<string, string>} */
export const authorization = () => (token() ? { Authorization: `Bearer ${token()}` } : {});

/** Makes a path below `/api` of parts that others have named. */
export const path = (...parts) => '/' + parts.map(encodeURIComponent).join('/');

function address(where, query = {}) {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const text = new URLSearchParams(pairs.map(([name, value]) => [name, Array.isArray(value) ? value.join(',') : String(value)]));
  return `/api${where}${pairs.length ? `?${text}` : ''}`;
}

async function send(url, options) {
  let response;
  try {
    response = await fetch(url, { ...options, cache: 'no-store', redirect: 'error', credentials: 'omit' });
  } catch (error) {
    if (error?.name === 'AbortError') throw error;
    throw new Unreachable();
  }
  return response;
}

async function answer(response) {
  let body;
  try { body = parse(await response.text()); } catch { throw new Refusal(response.status, {}); }
  if (!body.ok) throw new Refusal(response.status, body.error ?? {});
  return body.data;
}

/** Asks for something. @returns {Promise<any>} the `data` of the answer */
export async function get(where, query, signal) {
  return answer(await send(address(where, query), { headers: authorization(), signal }));
}

/** Orders something. @returns {Promise<any>} the `data` of the answer */
export async function post(where, body) {
  const headers = { ...authorization(), 'Content-Type': 'application/json' };
  return answer(await send(address(where), { method: 'POST', headers, body: write(body) }));
}

/** Asks for a text, such as a drawing. */
export async function getText(where, query, signal) {
  const response = await send(address(where, query), { headers: authorization(), signal });
  if (response.ok) return response.text();
  return answer(response);
}

/** @returns {boolean} whether an item is a piece of one that is larger than an answer */
const isPiece = (item) => item !== null && typeof item === 'object' && typeof item.json === 'string'
  && typeof item.from === 'number' && typeof item.bytes === 'number';

/**
 * Joins the items of a list or an object that came in pages. An item that is larger than an answer came in pieces of its JSON.
 * @param {any[]} pages
 */
export function join(pages) {
  const out = Array.isArray(pages[0]) ? [] : {};
  let pieces = '';
  for (const page of pages) {
    for (const [key, item] of Object.entries(page)) {
      let whole = item;
      if (isPiece(item)) {
        pieces = item.from === 0 ? item.json : pieces + item.json;
        if (item.from + new TextEncoder().encode(item.json).length < item.bytes) continue;
        whole = parse(pieces);
        pieces = '';
      }
      // A key may be `__proto__`.
      if (Array.isArray(out)) out.push(whole); else Object.defineProperty(out, key, { value: whole, configurable: true, enumerable: true, writable: true });
    }
  }
  return out;
}

/**
 * Asks for all pages of a list. What a person decides on is never cut, so there is no limit but `most`.
 * @param {string} part the field that has the items
 */
export async function all(where, query, part, most = Infinity) {
  const pages = [];
  let cursor;
  let count = 0;
  do {
    const data = await get(where, { ...query, cursor });
    pages.push(data[part] ?? []);
    count += pages.at(-1).length ?? 0;
    cursor = data.cursor;
  } while (cursor && count < most);
  return join(pages);
}

/** Asks for a run with all that `include` names, whole. */
export async function getRun(id, include, signal) {
  const data = await get(path('runs', id), { include }, signal);
  const parts = new Map();
  let open = [...(data.cursors ?? []), ...(data.next?.cursors ?? [])];
  while (open.length) {
    const [cursor, ...rest] = open;
    const part = cursor.split(':')[0];
    const next = await get(path('runs', id), { cursor }, signal);
    if (!parts.has(part)) parts.set(part, [data[part] ?? data.next?.[part] ?? []]);
    parts.get(part).push(next[part] ?? []);
    open = [...rest, ...(next.cursors ?? [])];
  }
  for (const [part, pages] of parts) {
    if (data[part] !== undefined) data[part] = join(pages); else data.next[part] = join(pages);
  }
  return data;
}

/** Kinds of records that the server has said it doesn't know: it is older than this page. */
const unknownKinds = new Set();

/** Asks for records of some kinds, those aside that the server doesn't know. */
export async function getEvents(id, query) {
  const kinds = query.kinds?.filter((it) => !unknownKinds.has(it));
  try {
    return await get(path('runs', id, 'events'), { ...query, kinds });
  } catch (error) {
    const unknown = error.code === 'invalid_arguments' && /there is no kind `([^`]+)`/.exec(error.message)?.[1];
    if (!unknown || unknownKinds.has(unknown)) throw error;
    unknownKinds.add(unknown);
    return getEvents(id, query);
  }
}

/** Asks for a workflow's description, whole. */
export async function getWorkflow(id) {
  const data = await get(path('workflows', id));
  const parts = new Map();
  let cursor = data.cursor;
  while (cursor) {
    const next = await get(path('workflows', id), { cursor });
    for (const part of ['states', 'transitions', 'events', 'artifacts', 'context', 'context_schema', 'inputs', 'proofs']) {
      if (next[part] === undefined) continue;
      if (!parts.has(part)) parts.set(part, data[part] === undefined ? [] : [data[part]]);
      parts.get(part).push(next[part]);
    }
    cursor = next.cursor;
  }
  for (const [part, pages] of parts) data[part] = join(pages);
  return data;
}

/** Asks for a workflow's text, whole. @param {'mermaid'|'markdown'} format */
export async function getSource(id, format) {
  let text = '';
  let cursor;
  do {
    const data = await get(path('workflows', id), { format, cursor });
    text += data.text ?? '';
    cursor = data.cursor;
  } while (cursor);
  return text;
}

/** Asks for a revision's content, whole. */
export async function getContent(run, name, revision) {
  let offset;
  let first;
  let text = '';
  do {
    const data = await get(path('runs', run, 'artifacts'), { name, revision, offset });
    first ??= data;
    text += data.content ?? '';
    offset = data.next_offset;
  } while (offset);
  return { ...first, content: first.content === undefined ? undefined : text };
}
