// Drives VS Code in Chromium: what somebody sees who opens a document with a machine.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';

const { CHROMIUM, STATEMARK, PROJECT, PICTURE, PLAYWRIGHT } = process.env;
const { chromium } = await import(PLAYWRIGHT);
const address = process.argv[2];
const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking'];
const browser = await chromium.launch({ executablePath: CHROMIUM, args });
const page = await browser.newPage({ viewport: { width: 1500, height: 900 } });
page.setDefaultTimeout(60_000);
const refused = [];
page.on('console', (message) => {
  if (/Refused|violates/.test(message.text()) && /statemark/i.test(message.text())) {
    refused.push(message.text());
  }
});

try {
  await connect();
  await page.waitForSelector('.monaco-workbench .explorer-folders-view');

  await open('door.md');
  await page.waitForSelector('.squiggly-error');
  await run('View: Focus Problems');
  await page.waitForSelector('.markers-panel >> text=SM105');
  console.log('findings: the list of problems has SM105');

  // The fix of the finding, by the keyboard.
  await run('Go to Next Problem (Error, Warning, Info)');
  await page.keyboard.press('Escape');
  await run('Quick Fix...');
  await page.waitForSelector('.action-widget >> text=/-->/');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => !document.querySelector('.squiggly-error'));
  console.log('fixes: the arrow is mended');
  await page.waitForSelector('.codelens-decoration >> text=Preview');

  await page.click('.codelens-decoration >> text=Preview');
  let drawing = await drawn((svg) => svg.includes('id="state-shut"'));
  assert.ok(drawing.includes('state-open'));
  console.log('preview: the machine is drawn');

  await page.click('.monaco-editor .view-line:has-text("remove")');
  await page.keyboard.press('End');
  await page.keyboard.type('\nopen --> ajar : wind');
  await page.keyboard.press('Escape');
  drawing = await drawn((svg) => svg.includes('id="state-ajar"'));
  console.log('preview: it follows the text');
  await picture('text');

  await run('Statemark: Preview Run…');
  drawing = await drawn((svg) => svg.includes('state-unlocked'));
  const standing = lit(drawing);
  assert.match(standing, /unlocked/, standing);
  execFileSync(STATEMARK, ['send', 'at-the-gate', 'push'], { cwd: PROJECT });
  drawing = await drawn((svg) => /\blocked/.test(lit(svg)) && !/unlocked/.test(lit(svg)));
  console.log('preview: a run is lit up where it stands, and followed');
  await picture('run');

  assert.deepEqual(refused, []);
  console.log('all is well');
} catch (error) {
  await picture('failed');
  throw error;
} finally {
  await browser.close();
}

/** Waits until the server listens. */
async function connect() {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await page.goto(address, { waitUntil: 'domcontentloaded' });
    } catch (error) {
      if (attempt === 60) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  }
}

async function open(name) {
  await page.keyboard.press('Control+P');
  await page.waitForSelector('.quick-input-widget input');
  await page.keyboard.type(name);
  await page.waitForSelector(`.quick-input-list >> text=${name}`);
  await page.keyboard.press('Enter');
  await page.waitForSelector(`.tab >> text=${name}`);
}

async function run(command) {
  await page.keyboard.press('F1');
  await page.waitForSelector('.quick-input-widget input');
  await page.keyboard.type(command);
  await page.waitForTimeout(500);
  await page.keyboard.press('Enter');
}

/** Waits for a drawing in the preview, and returns its SVG. */
async function drawn(is) {
  const end = Date.now() + 60_000;
  for (;;) {
    for (const frame of page.frames()) {
      const image = await frame.$('img[src^="data:image/svg+xml"]').catch(() => null);
      const source = image && (await image.getAttribute('src').catch(() => null));
      if (source) {
        const svg = Buffer.from(source.split(',')[1], 'base64').toString('utf8');
        const wide = await image.evaluate((it) => it.complete && it.naturalWidth);
        if (is(svg) && wide > 0) return svg;
      }
    }
    if (Date.now() > end) throw new Error('the drawing doesn\'t come');
    await page.waitForTimeout(250);
  }
}

/** Returns the states that a drawing lights up. */
function lit(svg) {
  const groups = [...svg.matchAll(/<g[^>]*id="state-([^"]*)"[^>]*class="([^"]*)"|<g[^>]*class="([^"]*)"[^>]*id="state-([^"]*)"/g)];
  return groups
    .filter(([, , one, other]) => /\bactive\b/.test(one ?? other))
    .map(([, one, , , other]) => one ?? other)
    .join(' ');
}

async function picture(name) {
  if (PICTURE) {
    await page.screenshot({ path: PICTURE.replace(/(\.png)?$/, `-${name}.png`) });
  }
}
