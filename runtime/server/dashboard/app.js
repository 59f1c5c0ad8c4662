/**
 * The dashboard: which page is shown, who looks, what changes.
 *
 * One stream of all runs lives as long as the page; the pages hear of changes through `onRun`. Addresses are fragments
 * (`#/runs/ID/journal`), which no server is told.
 */

import { all, get, token, setToken } from './api.js';
import { follow } from './live.js';
import { html, render, useEffect, useRef, useState, Dialog, Problem, shown, throttled, to } from './parts.js';
import { RunsPage } from './runs.js';
import { RunPage } from './run.js';
import { InboxPage } from './inbox.js';
import { WorkflowsPage, WorkflowPage } from './workflows.js';

/** Returns the parts of the address. */
function where() {
  const [road, query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const parts = road.split('/').filter(Boolean).map((it) => { try { return decodeURIComponent(it); } catch { return it; } });
  return { parts: parts.length ? parts : ['runs'], query: new URLSearchParams(query) };
}

const KEYS = [
  ['g r', 'runs'], ['g i', 'inbox'], ['g w', 'workflows'], ['/', 'search'], ['j k ↓ ↑', 'move in a list'],
  ['Enter', 'open'], ['← →', 'between tabs'], ['Esc', 'close'], ['?', 'these keys'],
];

/** Asks for a token. */
function TokenDialog({ me, problem, onClose, onDone }) {
  const [text, set] = useState('');
  const [error, setError] = useState(problem ?? null);
  const submit = async (event) => {
    event.preventDefault();
    const before = token();
    setToken(text.trim());
    try {
      await get('/me');
      onDone();
    } catch (refused) {
      setToken(before);
      setError(refused);
    }
  };
  return html`<${Dialog} title="Who are you?" onClose=${onClose}>
    <form onSubmit=${submit}>
      ${me ? html`<p>The server takes you for <strong>${shown(me.name ?? `an ${me.role}`)}</strong> (${me.role}${me.has_token ? '' : ', without a token'}).</p>` : null}
      <p class="dim">An observer's token reads, an agent's drives runs, a person's decides. It stays in this tab, and goes with it.</p>
      <label>Token<input type="password" autocomplete="off" spellcheck="false" value=${text} onInput=${(it) => set(it.target.value)} required autofocus /></label>
      ${error ? html`<p class="problem" role="alert">${shown(error.message)}</p>` : null}
      <p class="row"><button class="main">Use it</button>
      ${token() ? html`<button type="button" onClick=${() => { setToken(''); onDone(); }}>Forget the present one</button>` : null}</p>
    </form><//>`;
}

function App() {
  const [road, setRoad] = useState(where());
  const [me, setMe] = useState(null);
  const [denied, setDenied] = useState(null);
  const [asking, setAsking] = useState(false);
  const [helping, setHelping] = useState(false);
  const [state, setState] = useState('connecting');
  const [turn, setTurn] = useState(0);
  const [open, setOpen] = useState(0);
  const listeners = useRef(new Set());
  const bus = useRef({
    /** Hears of each run that changes, and of `null` when anything may have. */
    onRun(call) { listeners.current.add(call); return () => listeners.current.delete(call); },
  });

  useEffect(() => {
    const go = () => { setRoad(where()); scrollTo(0, 0); };
    addEventListener('hashchange', go);
    return () => removeEventListener('hashchange', go);
  }, []);

  // Who looks, and what changes: again with each other token.
  useEffect(() => {
    let left = false;
    let leave = () => {};
    let retry;
    const begin = () => get('/me').then((it) => {
      if (left) return;
      setMe(it);
      setDenied(null);
      leave = follow(it.run_id ? { run_id: it.run_id } : {}, (event, data) => {
        const told = event === 'run' || event === 'record' ? data : null;
        listeners.current.forEach((call) => call(told, event));
      }, (now, error) => {
        setState(now);
        // A server that was started again may have changed while nobody listened: the stream says what did.
        if (now === 'refused') setDenied(error);
      });
    }, (error) => {
      if (left) return;
      if (error.code === 'unreachable') { setState('lost'); retry = setTimeout(begin, 1000); return; }
      setMe(null);
      setDenied(error);
      setState('refused');
    });
    begin();
    return () => { left = true; clearTimeout(retry); leave(); };
  }, [turn]);

  // How many requests are open: again when a run changes.
  useEffect(() => {
    if (!me) return undefined;
    const count = throttled(() => all('/requests', { brief: true }, 'requests', 1000).then((it) => setOpen(it.length), () => {}), 1500);
    count();
    const leave = bus.current.onRun(() => count());
    return () => { leave(); count.cancel(); };
  }, [me]);

  useEffect(() => {
    let before = '';
    let timer;
    const keys = (event) => {
      const at = event.target;
      if (event.ctrlKey || event.metaKey || event.altKey || at.closest?.('input, textarea, select, dialog')) return;
      if (before === 'g' && 'riw'.includes(event.key)) {
        location.hash = to({ r: 'runs', i: 'inbox', w: 'workflows' }[event.key]);
      } else if (event.key === '/') {
        const field = document.querySelector('input[type=search]');
        if (field) { event.preventDefault(); field.focus(); field.select(); }
      } else if (event.key === '?') setHelping(true);
      before = event.key;
      clearTimeout(timer);
      timer = setTimeout(() => { before = ''; }, 1000);
    };
    addEventListener('keydown', keys);
    return () => removeEventListener('keydown', keys);
  }, []);

  const { parts, query } = road;
  const context = { me, bus: bus.current };
  let page;
  if (denied && !me) page = html`<main id="main" tabindex="-1"><${Problem} error=${denied} /><p><button class="main" onClick=${() => setAsking(true)}>Give a token</button></p></main>`;
  else if (!me) page = html`<main id="main" tabindex="-1"><p class="loading" role="status">${state === 'lost' ? 'the server can’t be reached; trying again…' : 'connecting…'}</p></main>`;
  else if (parts[0] === 'runs' && parts[1]) page = html`<${RunPage} key=${`${parts[1]} ${turn}`} id=${parts[1]} tab=${parts[2] ?? 'now'} rest=${parts.slice(3)} query=${query} ...${context} />`;
  else if (parts[0] === 'runs') page = html`<${RunsPage} key=${turn} query=${query} ...${context} />`;
  else if (parts[0] === 'inbox') page = html`<${InboxPage} key=${turn} request=${parts[1]} ...${context} />`;
  else if (parts[0] === 'workflows' && parts[1]) page = html`<${WorkflowPage} key=${`${parts[1]} ${turn}`} id=${parts[1]} tab=${parts[2] ?? 'machine'} ...${context} />`;
  else if (parts[0] === 'workflows') page = html`<${WorkflowsPage} key=${turn} ...${context} />`;
  else page = html`<main id="main" tabindex="-1"><p class="empty">There is no such page.</p></main>`;

  const titles = { runs: parts[1] ?? 'Runs', inbox: 'Inbox', workflows: parts[1] ?? 'Workflows' };
  useEffect(() => { document.title = `${open ? `(${open}) ` : ''}${titles[parts[0]] ?? 'Statemark'} · Statemark`; }, [road, open]);

  const words = { live: 'live', lost: 'not connected; trying again', connecting: 'connecting', refused: 'no access' };
  return html`
    <a class="skip" href="#main" onClick=${(event) => { event.preventDefault(); document.querySelector('main')?.focus(); }}>To the content</a>
    <header class="top">
      <a class="brand" href=${to('runs')}><img src="/dashboard/icon.svg" alt="" width="20" height="20" /> Statemark</a>
      <nav aria-label="Pages">${[['runs', 'Runs'], ['inbox', 'Inbox'], ['workflows', 'Workflows']].map(([name, title]) => html`
        <a key=${name} href=${to(name)} aria-current=${parts[0] === name ? 'page' : undefined}>${title}${name === 'inbox' && open ? html` <span class="count warn" title="open requests">${open}</span>` : null}</a>`)}</nav>
      <span class="grow"></span>
      <span class=${`connection ${state}`} role="status"><span class="dot" aria-hidden="true"></span><span class="word">${words[state] ?? state}</span></span>
      <button class="plain who" onClick=${() => setAsking(true)} title="Who you are to the server">${me ? shown(me.name ?? me.role) : 'token'}${me ? html` <span class="dim">${me.has_token ? me.role : 'no token'}</span>` : null}</button>
    </header>
    ${page}
    ${asking ? html`<${TokenDialog} me=${me} problem=${me ? null : denied} onClose=${() => setAsking(false)} onDone=${() => { setAsking(false); setMe(null); setDenied(null); setState('connecting'); setTurn((it) => it + 1); }} />` : null}
    ${helping ? html`<${Dialog} title="Keys" onClose=${() => setHelping(false)}><dl class="fields keys">${KEYS.map(([key, what]) => html`<div key=${key}><dt>${key.split(' ').map((it) => html`<kbd>${it}</kbd> `)}</dt><dd>${what}</dd></div>`)}</dl><//>` : null}`;
}

render(html`<${App} />`, document.getElementById('app'));
