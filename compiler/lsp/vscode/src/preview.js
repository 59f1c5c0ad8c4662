// A drawing beside the text: of the machine as it is typed, or of a run as it goes on.
'use strict';

const vscode = require('vscode');
const { ask } = require('./program');

/** Time between a key and its drawing. Unit: milliseconds. Why: short of what a reader waits for, longer than a key is held. */
const DELAY = 150;

/** Time between two looks at a run. Unit: milliseconds. */
const INTERVAL = 1_500;

/** The panel with a drawing; there is one. */
class Preview {
  /** `client` returns the language client of now. */
  constructor(client) {
    this.client = client;
    this.panel = undefined;
    /** What is drawn: `{ document, machine }` or `{ run }`. */
    this.subject = undefined;
    this.svg = '';
    this.timer = undefined;
    this.subscriptions = [
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (this.subject?.document === document) {
          this.drawSoon(DELAY);
        }
      }),
      vscode.window.onDidChangeActiveColorTheme(() => this.draw()),
    ];
  }

  /** Shows a machine of a document; without an id its first. */
  async showMachine(document, machine) {
    await this.show({ document, machine });
  }

  /** Asks which run of the folder is to be shown, and shows it. */
  async showRun() {
    let runs;
    try {
      // A run is a line.
      const lines = (await ask(['runs', '--json'])).split('\n');
      runs = lines.filter((line) => line !== '').map((line) => JSON.parse(line));
    } catch (error) {
      vscode.window.showErrorMessage(`Statemark: ${error.message}`);
      return;
    }
    if (runs.length === 0) {
      vscode.window.showInformationMessage('Statemark: this folder has no run yet.');
      return;
    }
    const items = runs.map((run) => ({
      label: run.run,
      description: [run.summary?.workflow, run.summary?.status].filter(Boolean).join(' · '),
      run: run.run,
    }));
    const chosen = items.length === 1
      ? items[0]
      : await vscode.window.showQuickPick(items, { placeHolder: 'The run to show' });
    if (chosen) {
      await this.show({ run: chosen.run });
    }
  }

  async show(subject) {
    this.subject = subject;
    this.svg = '';
    if (!this.panel) {
      this.panel = vscode.window.createWebviewPanel(
        'statemark.preview',
        'Statemark',
        { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
        // Nothing in it runs, and nothing is loaded.
        { enableScripts: false, localResourceRoots: [] },
      );
      this.panel.onDidDispose(() => {
        clearTimeout(this.timer);
        this.panel = undefined;
        this.subject = undefined;
      });
      this.panel.onDidChangeViewState(() => this.draw());
    }
    await this.draw();
  }

  drawSoon(delay) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.draw(), delay);
  }

  async draw() {
    clearTimeout(this.timer);
    const { panel, subject } = this;
    if (!panel?.visible || !subject) {
      return;
    }
    let remark = '';
    try {
      const drawing = subject.run ? await drawRun(subject.run) : await this.drawMachine(subject);
      if (subject !== this.subject || panel !== this.panel) {
        return;
      }
      panel.title = drawing?.title ?? panel.title;
      if (drawing) {
        this.svg = drawing.svg;
      } else {
        remark = this.svg
          ? 'The text has an error: this is the machine before it.'
          : 'No machine without an error is here.';
      }
    } catch (error) {
      remark = error.message;
    }
    const html = page(this.svg, remark);
    if (panel === this.panel && panel.webview.html !== html) {
      panel.webview.html = html;
    }
    if (subject.run && subject === this.subject) {
      this.drawSoon(INTERVAL);
    }
  }

  async drawMachine({ document, machine }) {
    const drawing = await this.client().sendRequest('statemark/drawing', {
      textDocument: { uri: document.uri.toString() },
      machine,
      theme: theme(),
    });
    return drawing && { title: drawing.machine, svg: drawing.svg };
  }

  dispose() {
    clearTimeout(this.timer);
    this.panel?.dispose();
    this.subscriptions.forEach((it) => it.dispose());
  }
}

async function drawRun(run) {
  return { title: `run ${run}`, svg: await ask(['graph', '--run', run, '--format', 'svg', '--theme', theme()]) };
}

function theme() {
  const { kind } = vscode.window.activeColorTheme;
  const dark = [vscode.ColorThemeKind.Dark, vscode.ColorThemeKind.HighContrast];
  return dark.includes(kind) ? 'dark' : 'light';
}

/** Returns a page with a drawing. It is an image, so that nothing in it is of the page. */
function page(svg, remark) {
  const image = Buffer.from(svg).toString('base64');
  const picture = svg && `<img alt="the drawing of the machine" src="data:image/svg+xml;base64,${image}">`;
  const note = remark && `<p>${escape(remark)}</p>`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'sha256-${STYLE_HASH}'">
<title>Statemark</title>
<style>${STYLE}</style>
</head>
<body>${note}${picture}</body>
</html>`;
}

const STYLE = 'body { padding: 1rem; } img { max-width: 100%; }';
const STYLE_HASH = require('node:crypto').createHash('sha256').update(STYLE).digest('base64');

function escape(text) {
  const signs = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replace(/[&<>"]/g, (sign) => signs[sign]);
}

module.exports = { Preview };
