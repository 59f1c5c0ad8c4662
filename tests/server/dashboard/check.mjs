/**
 * The checks of `dashboard.sh`: each is a function that drives a browser as somebody would, and fails with a sentence.
 */

import { execFileSync, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { strict as assert } from 'node:assert';

const { PLAYWRIGHT, AXE, CHROMIUM, STATEMARK, LONG, PICTURES } = process.env;
const { chromium } = await import(PLAYWRIGHT);
const axe = readFileSync(AXE, 'utf8');

const secret = () => `smk_${randomBytes(32).toString('hex')}`;
const ann = secret();

/** Runs a command of Statemark as ann. */
const statemark = (...words) => by(ann, ...words);

/** Runs a command of Statemark with a token. */
function by(holder, ...words) {
  const env = { ...process.env, STATEMARK_TOKEN: holder };
  return execFileSync(STATEMARK, words, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** A server that can be killed and started again at the same port. */
class Server {
  constructor(folder = '.') { this.folder = folder; this.port = 0; }

  async start() {
    const process_ = spawn(STATEMARK, ['serve', '--http', `127.0.0.1:${this.port}`], { cwd: this.folder, stdio: ['ignore', 'ignore', 'pipe'] });
    this.process = process_;
    this.ended = new Promise((resolve) => { process_.on('exit', resolve); });
    let log = '';
    const port = new Promise((resolve, reject) => {
      process_.stderr.on('data', (text) => { log += text; const found = /listening at http:\/\/127\.0\.0\.1:(\d+)/.exec(log); if (found) resolve(Number(found[1])); });
      process_.on('exit', () => reject(new Error(`the server has ended: ${log}`)));
    });
    this.port = await port;
    this.base = `http://127.0.0.1:${this.port}`;
    return this;
  }

  async kill() { this.process.kill('SIGKILL'); await this.ended; }

  async api(method, path, body, token = bot) {
    const response = await fetch(`${this.base}/api${path}`, {
      method, headers: { ...(token ? { Authorization: `Bearer ${token}` } : {}), 'Content-Type': 'application/json' }, body: body && JSON.stringify(body),
    });
    return response.json();
  }
}

/** Calls a tool by MCP. */
async function tool(name, args) {
  const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {}, 'io.modelcontextprotocol/clientInfo': { name: 'check', version: '1' } };
  const response = await fetch(`${server.base}/mcp`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${bot}`, 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': name },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args, _meta: meta } }),
  });
  const text = await response.text();
  const answer = JSON.parse(/^data: (\{.*)$/m.exec(text)?.[1] ?? text);
  assert.equal(answer.result?.structuredContent?.ok, true, text.slice(0, 500));
  return answer.result.structuredContent.data;
}

writeFileSync('ann.sha256', createHash('sha256').update(ann).digest('hex'));
statemark('store', 'init', '--person', 'ann', '--token-hash', 'ann.sha256');
execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', 'key']);
statemark('signer', 'add', 'ann', 'key.pub');
statemark('accept', '--accept-all');
const token = (name, ...words) => statemark('token', 'create', name, ...words).trim().split('\n')[0];
const bot = token('bot', '--role', 'agent', '--many-runs');
const eve = token('eve', '--role', 'observer');
const server = await new Server().start();
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'] });

/** A page that must say nothing is wrong, and ask nobody but its server. */
async function open(where, { as = ann, size = { width: 1280, height: 860 }, dark = false, base = server.base, tolerant = false } = {}) {
  const context = await browser.newContext({ viewport: size, colorScheme: dark ? 'dark' : 'light' });
  if (as) await context.addInitScript((it) => sessionStorage.setItem('statemark.token', it), as);
  const page = await context.newPage();
  page.problems = [];
  page.on('pageerror', (error) => page.problems.push(`error: ${error.message}`));
  page.on('console', (message) => { if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) page.problems.push(`console: ${message.text()}`); });
  page.on('request', (request) => { if (!request.url().startsWith(base) && !request.url().startsWith('data:')) page.problems.push(`a request to ${request.url()}`); });
  page.on('dialog', (dialog) => { page.problems.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  await page.goto(`${base}/${where}`);
  await page.locator('.connection.live').waitFor({ timeout: 20_000 });
  page.done = async () => { if (!tolerant) assert.deepEqual(page.problems, [], where); await context.close(); };
  return page;
}

const see = (page, text, options = {}) => page.getByText(text, options).first().waitFor({ timeout: 10_000 });

/** The rules of axe-core. */
async function accessible(page, where) {
  // The policy lets no script in but the server's: the checker comes in by the debugger.
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ['violations'] }));
  assert.deepEqual(violations.map((it) => `${it.id}: ${it.nodes.map((node) => node.html.slice(0, 120)).slice(0, 3).join(' | ')}`), [], where);
}

const start = async (workflow, id, more = {}) => {
  const begun = await server.api('POST', '/runs', { workflow, run_id: id, ...more });
  assert.equal(begun.ok, true, JSON.stringify(begun));
  return id;
};
const send = (id, event, data) => server.api('POST', `/runs/${id}/events`, { event, ...(data ? { data } : {}) });

/** A run that has something on every tab. */
async function full(id) {
  await start('release', id, { title: 'Release 1.4.0', input: { version: '1.4.0' } });
  const as = { env: { ...process.env, STATEMARK_TOKEN: bot }, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] };
  const put = (text, ...words) => {
    writeFileSync('notes.md', text);
    try { execFileSync(STATEMARK, ['artifacts', 'put', id, 'notes', 'notes.md', ...words], as); } catch { /* Its contract says no: a draft. */ }
  };
  put('# Notes\n\n## Changes\n\n- Faster.\n\n## Risk\n\nTBD\n');
  put('# Notes\n\n## Changes\n\n- Faster by half.\n- Smaller.\n\n## Risk\n\nNone that tests saw.\n', '--final');
  await send(id, 'publish');
  await send(id, 'written', { words: 120 });
  execFileSync(STATEMARK, ['emit', '--workflow', 'release', '--type', 'status_change', '--run-id', id, '--step', 'compiling', '--unit', 'linux', '--data', '{"status": "running", "message": "half of it"}'], as);
  return id;
}

const ROADS = (id) => [
  '#/runs', '#/inbox', '#/workflows', '#/workflows/release', '#/workflows/release/proofs', '#/workflows/release/findings', '#/workflows/release/grants',
  '#/workflows/release/artifacts', '#/workflows/release/spec', '#/workflows/release/diagram',
  ...['now', 'journal', 'attempts', 'artifacts', 'history', 'context'].map((tab) => `#/runs/${id}/${tab}`),
];

const checks = {
  /** Every page, in each look, without a finding of axe-core, without scrolling sideways. */
  async pages() {
    const id = await full('pages');
    await send(id, 'compiled');
    await send(id, 'built');
    await send(id, 'publish');
    for (const look of [{}, { dark: true }, { size: { width: 390, height: 800 } }]) {
      const page = await open('#/runs', look);
      for (const road of ROADS(id)) {
        await page.goto(`${server.base}/${road}`);
        await page.locator('main h1').first().waitFor();
        await page.waitForFunction(() => !document.querySelector('.loading'));
        await page.waitForTimeout(150);
        assert.deepEqual(await page.locator('.problem').allTextContents(), [], road);
        await accessible(page, `${road} ${JSON.stringify(look)}`);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, `${road} is ${wide} px too wide at ${JSON.stringify(look)}`);
      }
      await page.done();
    }
  },

  /** What changes is there by itself, also after the server was killed and another one started. */
  async live() {
    const list = await open('#/runs');
    await start('paper', 'live-1', { title: 'A live paper' });
    await see(list, 'A live paper');
    const page = await open('#/runs/live-1');
    await page.locator('[data-step=draft].running').waitFor();
    await page.locator('[data-step=review].not_started').waitFor();
    await send('live-1', 'submit', { words: 120 });
    await page.locator('[data-step=review].running').waitFor();
    await server.kill();
    await page.locator('.connection.lost').waitFor();
    // Somebody goes on at a terminal meanwhile.
    statemark('start', 'paper', '--run-id', 'live-2', '--title', 'Begun while nobody served');
    statemark('send', 'live-1', 'accept');
    await server.start();
    await page.locator('.connection.live').waitFor({ timeout: 15_000 });
    await page.locator('[data-step=review].waiting').waitFor({ timeout: 10_000 });
    await page.locator('article.request').waitFor();
    await see(list, 'Begun while nobody served');
    await page.getByRole('tab', { name: 'Journal' }).click();
    await see(page, 'request.opened');
    await page.done();
    await list.done();
  },

  /** Thousands of runs: only the rows in view exist, and each can be reached. */
  async thousand() {
    await Promise.all(Array.from({ length: 10 }, async (_, part) => {
      for (let n = 0; n < 100; n += 1) await start('paper', `many-${part}-${n}`, { title: `Paper ${part * 100 + n}` });
    }));
    const began = Date.now();
    const page = await open('#/runs');
    await page.locator('.run').first().waitFor();
    const first = Date.now() - began;
    assert.ok(first < 3000, `the first rows took ${first} ms`);
    const rows = await page.locator('.slot').count();
    assert.ok(rows < 80, `${rows} rows exist`);
    await page.getByRole('searchbox').fill('paper 777');
    await see(page, 'Paper 777');
    await page.getByRole('searchbox').fill('');
    await page.locator('.list').focus();
    const times = [];
    for (let turn = 0; turn < 60; turn += 1) {
      const before = Date.now();
      await page.evaluate(() => { const box = document.querySelector('.list'); box.scrollTop = box.scrollHeight; });
      await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); }));
      times.push(Date.now() - before);
      if (!(await page.locator('.more').count())) break;
      await page.waitForTimeout(60);
    }
    times.sort((a, b) => a - b);
    console.log(`   1,000 runs: first rows after ${first} ms, ${rows} rows exist, scrolling to the end in steps of ${times[times.length >> 1]} ms`);
    assert.equal(await page.locator('.more').count(), 0, 'the end was reached');
    await page.done();
  },

  /** A journal of 100,000 records. */
  async long() {
    if (!existsSync(`${LONG}/runs.db`)) { console.log('   skipped: there is no long run'); return; }
    const other = await new Server(LONG).start();
    try {
      const began = Date.now();
      const page = await open('#/runs/long/journal', { as: null, base: other.base, size: { width: 1280, height: 860 } });
      await page.locator('.entry .kind').first().waitFor({ timeout: 20_000 });
      const first = Date.now() - began;
      const count = await page.locator('[role=tabpanel] .chips .count').first().textContent();
      assert.ok(Number(count) >= 100_000, count);
      for (const part of [0.5, 0.1, 1]) {
        await page.evaluate((it) => { const box = document.querySelector('.journal .list'); box.scrollTop = box.scrollHeight * it; }, part);
        await page.waitForFunction(() => { const rows = [...document.querySelectorAll('.journal .slot')]; return rows.length > 5 && rows.slice(10, 20).every((row) => row.querySelector('.kind')); }, null, { timeout: 20_000 });
      }
      const rows = await page.locator('.slot').count();
      assert.ok(rows < 100, `${rows} rows exist`);
      console.log(`   ${count} records: first rows after ${first} ms, ${rows} rows exist`);
      await page.locator('.journal .slot').nth(5).click();
      await page.locator('.record').waitFor();
      await page.getByRole('tab', { name: 'Attempts' }).click();
      await page.locator('.transcript li').first().waitFor({ timeout: 20_000 });
      await page.done();
    } finally { await other.kill(); }
  },

  /** All of it by keyboard. */
  async keyboard() {
    await start('paper', 'keys-1', { title: 'By keys' });
    await send('keys-1', 'submit', { words: 300 });
    await send('keys-1', 'accept');
    const page = await open('#/workflows');
    const press = async (...keys) => { for (const key of keys) await page.keyboard.press(key); };
    await press('g', 'r');
    await page.locator('main h1', { hasText: 'Runs' }).waitFor();
    await press('/');
    await page.keyboard.type('by keys');
    await page.locator('.run').first().waitFor();
    for (let n = 0; n < 6 && !(await page.evaluate(() => document.activeElement.classList.contains('list'))); n += 1) await press('Tab');
    await press('j', 'Enter');
    await page.locator('h1', { hasText: 'By keys' }).waitFor();
    await page.getByRole('tab', { name: 'Now' }).focus();
    await press('ArrowRight');
    await page.locator('#tab-journal[aria-selected=true]').waitFor();
    await press('g', 'i');
    await page.locator('main h1', { hasText: 'Inbox' }).waitFor();
    const open_ = await server.api('GET', '/runs/keys-1/requests');
    await page.goto(`${server.base}/#/inbox/${encodeURIComponent(open_.data.requests[0].request_id)}`);
    await page.locator('article.request').waitFor();
    await page.locator('article.request button:enabled', { hasText: 'Approve' }).waitFor();
    for (let n = 0; n < 60 && !(await page.evaluate(() => document.activeElement.textContent === 'Approve')); n += 1) await press('Tab');
    await press('Enter');
    await see(page, /approved by ann|is decided/);
    assert.equal((await server.api('GET', '/runs/keys-1')).data.next.configuration[0], 'published');
    await press('?');
    await page.locator('dialog').waitFor();
    await press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    await page.done();
  },

  /** Texts that would be something else are texts. */
  async hostile() {
    const prompt = '<img src=x onerror=alert(1)><script>alert(2)</script> javascript:alert(3) \u001b[2J\u202edenied\u2066 \u0000end &amp; ${1}';
    await start('paper', 'hostile', { title: '<b>bold</b><style>*{display:none}</style>' });
    await tool('request_human', { run_id: 'hostile', prompt, kind: 'text', context: { '<script>': `${'<p onclick=alert(4)>'.repeat(50_000)}end of it` } });
    const page = await open('#/inbox');
    await page.locator('.picker a', { hasText: '<img src=x' }).click();
    // It comes in pieces, and this is a build that nobody optimized.
    const text = await page.locator('article.request .prompt').textContent({ timeout: 120_000 });
    assert.ok(text.includes('<img src=x onerror=alert(1)><script>alert(2)</script>'), text);
    for (const visible of ['\\u{1b}[2J', '\\u{202e}denied', '\\u{2066}', '\\u{0}end', '&amp; ${1}']) assert.ok(text.includes(visible), `${visible} in ${text}`);
    const details = await page.locator('article.request pre').first().textContent();
    assert.ok(details.length > 1_000_000 && details.includes('end of it'), `${details.length} characters`);
    assert.equal(await page.locator('main img, main script, main style, main [onclick]').count(), 0);
    await page.goto(`${server.base}/#/runs/hostile/journal`);
    await see(page, 'request.opened');
    await page.locator('.entry', { hasText: 'request.opened' }).first().click();
    await page.locator('.record pre').first().waitFor();
    await page.goto(`${server.base}/#/runs`);
    await see(page, '<b>bold</b>');
    await page.done();
  },

  /** A person sees what is decided on: numbers as they are, and values that look like parts of the page. */
  async exact() {
    const part = { type: 'div', props: {} };
    await start('release', 'exact', {});
    await send('exact', 'written', { words: 5 });
    await send('exact', 'built');
    const data = `{"card": 9007199254740993, "account": 12345678901234567890, "zero": -0.0, "half": 0.5, "part": ${JSON.stringify(part)}, "__proto__": {"a": 1}, "constructor": 7}`;
    try { by(bot, 'send', 'exact', 'publish', '--data', data); } catch (error) { assert.match(String(error.stderr), /waiting for approval/); }
    const asked = (await server.api('GET', '/runs/exact/requests')).data.requests[0].request_id;
    const page = await open(`#/inbox/${encodeURIComponent(asked)}`);
    await see(page, '9007199254740993');
    const rows = await page.locator('article.request table tbody tr').allTextContents();
    const row = (name) => rows.find((it) => it.startsWith(name)) ?? '';
    for (const [name, value] of [['account', '12345678901234567890'], ['zero', '-0.0'], ['half', '0.5'], ['part', '"props"'], ['__proto__', '"a"'], ['constructor', '7']]) {
      assert.ok(row(name).includes(value), `${name}: ${rows.join('; ')}`);
      assert.ok(row(name).includes('not in the context'), `${name}: ${row(name)}`);
    }
    await page.getByRole('button', { name: 'Approve' }).click();
    await see(page, /approved by ann|is decided/);
    await page.goto(`${server.base}/#/runs/exact/journal`);
    await page.locator('.entry', { hasText: 'request.opened' }).first().click();
    await page.locator('.record pre', { hasText: '9007199254740993' }).first().waitFor();
    await page.done();
  },

  /** Who decides, and how. */
  async inbox() {
    await start('release', 'decide');
    await send('decide', 'written', { words: 5 });
    await send('decide', 'built');
    await send('decide', 'publish');
    const asked = (await server.api('GET', '/runs/decide/requests')).data.requests[0].request_id;
    const road = `#/inbox/${encodeURIComponent(asked)}`;
    for (const [as, word] of [[bot, 'Only a person decides'], [eve, 'an observer']]) {
      const page = await open(road, { as });
      await see(page, word);
      await page.getByRole('button', { name: 'Approve' }).click();
      await page.locator('.problem').first().waitFor();
      await page.done();
    }
    assert.equal((await server.api('GET', '/runs/decide')).data.next.configuration[0], 'review');
    const page = await open(road);
    await see(page, 'It leads from');
    await page.getByLabel(/Comment/).fill('ship it');
    await page.getByRole('button', { name: 'Approve' }).click();
    await see(page, /approved by ann|is decided/);
    assert.equal((await server.api('GET', '/runs/decide')).data.next.status, 'completed');
    // The other kinds.
    await start('paper', 'kinds');
    by(bot, 'ask', 'kinds', 'Which colour?', '--kind', 'select', '--choice', 'red', '--choice', 'blue');
    by(bot, 'ask', 'kinds', 'How many?', '--kind', 'json', '--schema', '{"type":"object","properties":{"rounds":{"type":"integer"}},"required":["rounds"]}');
    await page.goto(`${server.base}/#/runs/kinds`);
    await page.locator('article', { hasText: 'Which colour?' }).getByLabel('blue').check();
    await page.locator('article', { hasText: 'Which colour?' }).getByRole('button', { name: 'Answer' }).click();
    await page.locator('article.request', { hasText: 'Which colour?' }).getByText('is answered by ann').waitFor();
    await page.locator('article', { hasText: 'How many?' }).getByLabel(/rounds/).fill('3');
    await page.locator('article', { hasText: 'How many?' }).getByRole('button', { name: 'Answer' }).click();
    await page.locator('article.request', { hasText: 'How many?' }).getByText('is answered by ann').waitFor();
    const records = (await server.api('GET', '/runs/kinds/events?kinds=request.resolved')).data.records;
    assert.deepEqual(records.map((it) => it.body.value), ['blue', { rounds: 3 }]);
    await page.done();
  },

  /** What is shown stays: agents open and withdraw requests, and no other one comes under the pointer. */
  async swapped() {
    const ask = async (id, prompt) => {
      by(bot, 'ask', id, prompt, '--kind', 'confirm');
      return (await server.api('GET', `/runs/${id}/requests`)).data.requests.at(-1).request_id;
    };
    const box = (page, id) => page.locator(`[id="request-${id}"] .row`).boundingBox();
    const middle = async (page, id) => {
      const it = await page.locator(`[id="request-${id}"] .row button`).first().boundingBox();
      return [it.x + it.width / 2, it.y + it.height / 2];
    };
    /** What is at a point: the request, and whether a button is there. */
    const under = (page, point) => page.evaluate(([x, y]) => {
      const it = document.elementFromPoint(x, y);
      return [it?.closest('article')?.id, Boolean(it?.closest('button'))];
    }, point);

    // The inbox shows the first of all, and by its name.
    await start('paper', '0-m');
    const shown = await ask('0-m', 'Harmless?');
    const page = await open('#/inbox');
    await page.locator('article.request button:enabled', { hasText: 'Yes' }).waitFor();
    assert.ok(decodeURIComponent(page.url()).endsWith(`#/inbox/${shown}`), page.url());
    const yes = await middle(page, shown);
    await start('paper', '0-a');
    await ask('0-a', 'Harmful?');
    await page.locator('.picker a', { hasText: 'Harmful?' }).waitFor();
    assert.deepEqual(await under(page, yes), [`request-${shown}`, true]);
    assert.match(await page.locator('.picker a').last().textContent(), /Harmful/);
    by(bot, 'withdraw', shown);
    await page.locator('.verdict', { hasText: `${shown} is withdrawn by bot (agent)` }).waitFor();
    assert.deepEqual(await under(page, yes), [`request-${shown}`, false]);
    assert.equal(await page.locator('article.request').count(), 1);
    await page.getByRole('button', { name: 'put away' }).click();
    await page.locator('.picker a', { hasText: 'Harmless?' }).waitFor({ state: 'detached' });

    // A run's page.
    await start('paper', 'swap');
    const [one, two] = [await ask('swap', 'One?'), await ask('swap', 'Two: delete it all?')];
    await page.goto(`${server.base}/#/runs/swap`);
    await page.locator(`[id="request-${two}"] button:enabled`).first().waitFor();
    const place = await middle(page, one);
    const before = await box(page, two);
    by(bot, 'withdraw', one);
    await page.locator(`[id="request-${one}"] .verdict`).waitFor();
    assert.deepEqual(await under(page, place), [`request-${one}`, false]);
    assert.deepEqual(await box(page, two), before);
    // One that comes can't be pressed at once, and stands below.
    await page.evaluate(() => {
      let pressed = 0;
      const timer = setInterval(() => {
        const came = [...document.querySelectorAll('article.request')].find((it) => it.textContent.includes('Three?'));
        const button = [...came?.querySelectorAll('button') ?? []].find((it) => it.textContent === 'Yes');
        if (!button) return;
        button.click();
        pressed += 1;
        if (pressed > 20) clearInterval(timer);
      }, 10);
    });
    const three = await ask('swap', 'Three?');
    await page.locator(`[id="request-${three}"] button:enabled`).first().waitFor();
    assert.ok((await server.api('GET', '/runs/swap/requests')).data.requests.some((it) => it.request_id === three), 'it was pressed at once');
    assert.deepEqual(await box(page, two), before);
    const third = await box(page, three);
    assert.ok(third.y > before.y);
    // One's own decision moves nothing either.
    await page.locator(`[id="request-${two}"]`).getByRole('button', { name: 'No' }).click();
    await page.locator(`[id="request-${two}"] .verdict`, { hasText: 'is denied by ann' }).waitFor();
    assert.deepEqual(await box(page, three), third);
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/swapped-run.png` });
    await page.getByRole('button', { name: 'put away' }).click();
    await page.locator(`[id="request-${one}"]`).waitFor({ state: 'detached' });
    await page.locator(`[id="request-${three}"]`).waitFor();
    await page.done();
  },

  /** What an approval leads to is said by the run's own table, whatever the workflow's file has become. */
  async pinned() {
    const spec = (target) => JSON.stringify({
      id: 'pinned', initial: 'asked', states: {
        asked: { on: { go: { target, requires_approval: true, approval_message: 'May I go on?' } } }, [target]: { on: { end: 'over' } }, over: { type: 'final' },
      },
    });
    const known = async (target) => {
      writeFileSync('pinned.workflow.json', spec(target));
      for (let n = 0; n < 100; n += 1) {
        const { data } = await server.api('GET', '/workflows/pinned');
        if (data?.transitions?.some((it) => it.to.includes(target))) return;
        await new Promise((resolve) => { setTimeout(resolve, 100); });
      }
      assert.fail(`the server doesn't see ${target}`);
    };
    await known('charged');
    await start('pinned', 'pinned');
    await send('pinned', 'go', { amount: 1 });
    await known('only_a_preview');
    const asked = (await server.api('GET', '/runs/pinned/requests')).data.requests[0].request_id;
    const page = await open(`#/inbox/${encodeURIComponent(asked)}`);
    for (const road of [null, '#/runs/pinned']) {
      if (road) await page.goto(`${server.base}/${road}`);
      await see(page, /It leads from asked to charged/);
      await page.locator('.drawn .target', { hasText: 'charged' }).waitFor();
      assert.ok(!(await page.locator('main').textContent()).includes('only_a_preview'));
      assert.equal(await page.locator('.drawn text', { hasText: 'only_a_preview' }).count(), 0);
      if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/pinned${road ? '-run' : ''}.png` });
    }
    await page.locator('[data-step=charged]').waitFor();
    await page.done();
  },

  /** A signed decision: the page shows what is signed, and goes on by itself. */
  async signed() {
    await start('pay', 'signed');
    await send('signed', 'accept');
    const asked = (await server.api('GET', '/runs/signed/requests')).data.requests[0].request_id;
    const page = await open(`#/inbox/${encodeURIComponent(asked)}`);
    await see(page, 'to be signed');
    await page.getByRole('button', { name: 'Approve' }).click();
    await see(page, '--sign-with');
    await page.locator('pre', { hasText: 'verdict approved' }).waitFor();
    statemark('approve', asked, '--sign-with', 'key');
    await see(page, /is approved by ann/);
    // And by hand: the text of the page, signed elsewhere.
    await start('pay', 'signed-2');
    await send('signed-2', 'accept');
    const second = (await server.api('GET', '/runs/signed-2/requests')).data.requests[0].request_id;
    await page.goto(`${server.base}/#/inbox/${encodeURIComponent(second)}`);
    await page.getByRole('button', { name: 'Approve' }).click();
    writeFileSync('decision', await page.locator('pre', { hasText: 'verdict approved' }).textContent());
    execFileSync('ssh-keygen', ['-q', '-Y', 'sign', '-n', 'statemark', '-f', 'key', 'decision']);
    await page.getByLabel('Signature').fill(readFileSync('decision.sig', 'utf8'));
    await page.getByRole('button', { name: 'Hand it in' }).click();
    await see(page, /approved by ann|is decided/);
    assert.equal((await server.api('GET', '/runs/signed-2')).data.next.status, 'completed');
    await page.done();
  },

  /** Forms made from schemas: starting a run, sending an event; the journal, artifacts with differences and findings. */
  async forms() {
    const page = await open('#/workflows/release');
    await page.getByRole('button', { name: 'Start a run' }).click();
    await page.getByLabel(/^Id/).fill('formed');
    await page.getByLabel(/^version/).fill('2.0.0');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.locator('h1', { hasText: 'formed' }).waitFor();
    assert.equal((await server.api('GET', '/runs/formed?include=context')).data.context.version, '2.0.0');
    await page.getByText('Send an event').click();
    await page.getByLabel('Event', { exact: true }).selectOption('written');
    await page.getByLabel(/^words/).fill('7');
    await page.getByRole('button', { name: 'Send written' }).click();
    await see(page, /taken: writing → compiling/);
    await page.locator('[data-step="compiling"].running').waitFor();
    await full('handed');
    await page.goto(`${server.base}/#/runs/handed/artifacts`);
    await see(page, 'Faster by half.');
    await page.getByLabel('compared with').selectOption('1');
    await page.locator('.line.removed', { hasText: 'TBD' }).waitFor();
    await page.locator('.line.added', { hasText: 'Smaller.' }).waitFor();
    await page.getByLabel('compared with').selectOption('');
    await page.getByLabel('revision', { exact: true }).selectOption('1');
    await page.locator('.finding').first().waitFor();
    await page.goto(`${server.base}/#/runs/handed`);
    await page.locator('[data-unit=linux]', { hasText: 'half of it' }).waitFor();
    await page.goto(`${server.base}/#/runs/handed/journal`);
    await page.getByRole('button', { name: 'Results' }).click();
    await see(page, /notes 1, draft, its contract fails/);
    await page.done();
  },

  /** Forks and rewinds, each with its dry run. */
  async travel() {
    await start('paper', 'past');
    await send('past', 'submit', { words: 150 });
    const page = await open('#/runs/past/history');
    await page.getByRole('button', { name: 'Fork…' }).click();
    await page.getByLabel('Last record that counts in both').fill('1');
    const act = page.getByRole('dialog').getByRole('button', { name: 'Fork', exact: true });
    assert.ok(await act.isDisabled(), 'not before the dry run');
    await page.getByRole('button', { name: 'Dry run' }).click();
    await see(page, 'What would become of it');
    await act.click();
    await page.waitForURL((url) => !url.hash.includes('/past/'));
    await page.getByRole('tab', { name: 'History' }).click();
    await see(page, /begins with the journal of/);
    await page.goto(`${server.base}/#/runs/past/history`);
    await page.getByRole('button', { name: 'Rewind…' }).click();
    await page.getByLabel('Last record that still counts').fill('1');
    await page.getByRole('button', { name: 'Dry run' }).click();
    await see(page, 'What would become of it');
    await page.getByRole('dialog').getByRole('button', { name: 'Rewind', exact: true }).click();
    await page.locator('dialog').waitFor({ state: 'detached' });
    await page.locator('.undone').first().waitFor();
    assert.equal((await server.api('GET', '/runs/past')).data.next.configuration[0], 'draft');
    await page.done();
  },

  /** Tokens: asked for in the page, kept in the tab; other pages get nothing. */
  async others() {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${server.base}/`);
    await page.getByRole('button', { name: 'Give a token' }).click();
    await page.getByLabel('Token').fill('smk_wrong');
    await page.getByRole('button', { name: 'Use it' }).click();
    await page.locator('dialog .problem').waitFor();
    await page.getByLabel('Token').fill(ann);
    await page.getByRole('button', { name: 'Use it' }).click();
    await page.locator('.connection.live').waitFor();
    assert.ok(!page.url().includes(ann));
    assert.deepEqual(await context.cookies(), []);
    // Another tab of the same browser knows nothing.
    const second = await context.newPage();
    await second.goto(`${server.base}/`);
    await second.getByRole('button', { name: 'Give a token' }).waitFor();
    // A page of another origin can neither show it in a frame nor call it.
    const evil = createServer((_, response) => { response.setHeader('Content-Type', 'text/html'); response.end(`<iframe src="${server.base}/"></iframe>`); });
    await new Promise((resolve) => { evil.listen(0, '127.0.0.1', resolve); });
    const thief = await context.newPage();
    await thief.goto(`http://127.0.0.1:${evil.address().port}/`);
    await thief.waitForTimeout(500);
    const framed = thief.frames()[1];
    const inside = await framed?.evaluate(() => document.body?.textContent ?? '').catch(() => '');
    assert.ok(!/Statemark|Runs/.test(inside ?? ''), `the frame shows ${inside}`);
    const stolen = await thief.evaluate(async ([base, token]) => {
      try { const answer = await fetch(`${base}/api/runs`, { headers: { Authorization: `Bearer ${token}` } }); return answer.status; } catch { return 'refused'; }
    }, [server.base, ann]);
    assert.equal(stolen, 'refused');
    evil.close();
    await context.close();
  },

  /** What fifty clients of the stream cost a busy server: the difference to the same work without them. */
  async load() {
    const ticks = () => { const parts = readFileSync(`/proc/${server.process.pid}/stat`, 'utf8').split(') ')[1].split(' '); return Number(parts[11]) + Number(parts[12]); };
    for (let n = 0; n < 10; n += 1) await start('paper', `busy-${n}`);
    const SECONDS = 10;
    const work = async () => {
      const before = ticks();
      const began = Date.now();
      let count = 0;
      // Forty records a second, of ten runs.
      while (Date.now() - began < SECONDS * 1000) {
        await send(`busy-${count % 10}`, 'submit', { words: 1 });
        count += 1;
        await new Promise((resolve) => { setTimeout(resolve, Math.max(0, began + count * 25 - Date.now())); });
      }
      return { cpu: (ticks() - before) / SECONDS, count };
    };
    const alone = await work();
    const abort = new AbortController();
    let told = 0;
    const readers = await Promise.all(Array.from({ length: 50 }, async () => {
      const response = await fetch(`${server.base}/api/stream`, { headers: { Authorization: `Bearer ${eve}` }, signal: abort.signal });
      (async () => { try { for await (const part of response.body) told += String(Buffer.from(part)).split('event: run').length - 1; } catch { /* It was given up. */ } })();
      return response;
    }));
    const watched = await work();
    abort.abort();
    assert.equal(readers.length, 50);
    console.log(`   ${alone.count} records in ${SECONDS} s: ${alone.cpu.toFixed(1)} % of a core; with 50 clients, who were told ${told} changes: ${watched.cpu.toFixed(1)} %`);
    assert.ok(told >= 50 * watched.count * 0.5, `only ${told} changes were told`);
    assert.ok(watched.cpu - alone.cpu < 10, `50 clients cost ${(watched.cpu - alone.cpu).toFixed(1)} % of a core`);
  },

  /** The pictures of the book and the README. */
  async pictures() {
    if (!PICTURES) return;
    const shot = async (road, name, options, act) => {
      const page = await open(road, options);
      await page.waitForFunction(() => !document.querySelector('.loading'));
      await act?.(page);
      await page.waitForTimeout(500);
      await page.screenshot({ path: `${PICTURES}/${name}.png` });
      await page.done();
    };
    const id = await full('release-7');
    await send(id, 'compiled');
    await send(id, 'built');
    await send(id, 'publish');
    const size = { width: 1280, height: 800 };
    await shot(`#/runs/${id}`, 'dashboard-run', { size });
    await shot('#/runs', 'dashboard-runs', { size, dark: true });
    const asked = (await server.api('GET', `/runs/${id}/requests`)).data.requests[0].request_id;
    await shot(`#/inbox/${encodeURIComponent(asked)}`, 'dashboard-inbox', { size });
  },
};

const wanted = process.argv.slice(2);
let failed = 0;
for (const [name, check] of Object.entries(checks)) {
  if (wanted.length && !wanted.includes(name) && !(name === 'pictures' && PICTURES)) continue;
  const began = Date.now();
  try {
    await check();
    console.log(`ok ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed += 1;
    for (const page of browser.contexts().flatMap((it) => it.pages())) {
      const said = await page.locator('.problem').allTextContents().catch(() => []);
      console.log(`   ${page.url()}: ${[...said, ...(page.problems ?? [])].join(' | ').slice(0, 600)}`);
      if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/${name}.png` }).catch(() => {});
      await page.context().close();
    }
    console.log(`FAILED ${name}: ${error.message}\n${error.stack?.split('\n').filter((it) => it.includes('check.mjs')).slice(0, 3).join('\n')}`);
  }
}
await browser.close();
await server.kill();
process.exit(failed ? 1 : 0);
