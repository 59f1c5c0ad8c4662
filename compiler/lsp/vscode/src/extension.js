// The client of `statemark lsp` in VS Code, with a preview of drawings. What it shows, the program says.
'use strict';

const vscode = require('vscode');
const { LanguageClient, TransportKind } = require('vscode-languageclient/node');
const { Preview } = require('./preview');
const { program } = require('./program');

/** The documents that may hold a machine. */
const SELECTOR = [
  { language: 'markdown' },
  { language: 'mermaid' },
  { pattern: '**/*.workflow.json' },
  { pattern: '**/*.{mmd,mermaid,scxml}' },
];

let client;

/** Starts the language server, and adds the commands. */
async function activate(context) {
  client = makeClient();
  const preview = new Preview(() => client);
  context.subscriptions.push(
    preview,
    vscode.commands.registerCommand('statemark.preview', (uri, machine) =>
      withDocument(uri, (document) => preview.showMachine(document, machine)),
    ),
    vscode.commands.registerCommand('statemark.previewRun', () => preview.showRun()),
    vscode.commands.registerCommand('statemark.simulate', (uri, machine) =>
      withDocument(uri, (document) => simulate(document, machine)),
    ),
    vscode.commands.registerCommand('statemark.serve', serve),
    vscode.commands.registerCommand('statemark.restart', restart),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('statemark.server')) {
        restart();
      }
    }),
  );
  await start();
}

/** Ends the language server. */
async function deactivate() {
  await client?.dispose();
}

function makeClient() {
  const run = { command: program(), args: ['lsp'], transport: TransportKind.stdio };
  return new LanguageClient('statemark', 'Statemark', { run, debug: run }, {
    documentSelector: SELECTOR,
    initializationOptions: { commands: ['statemark.preview', 'statemark.simulate'] },
  });
}

async function start() {
  try {
    await client.start();
  } catch (error) {
    const settings = 'Open Settings';
    const message = `Statemark: \`${program()} lsp\` can't be started: ${error.message ?? error}`;
    const choice = await vscode.window.showErrorMessage(message, settings);
    if (choice === settings) {
      vscode.commands.executeCommand('workbench.action.openSettings', 'statemark.server.path');
    }
  }
}

async function restart() {
  await client.dispose();
  client = makeClient();
  await start();
}

/** Calls a function with the document of an address, or that of the editor. */
async function withDocument(uri, use) {
  const document = uri
    ? await vscode.workspace.openTextDocument(vscode.Uri.parse(String(uri)))
    : vscode.window.activeTextEditor?.document;
  if (!document) {
    vscode.window.showInformationMessage('Statemark: open a document with a state machine first.');
    return;
  }
  await use(document);
}

async function simulate(document, machine) {
  if (document.isUntitled || document.isDirty) {
    vscode.window.showInformationMessage('Statemark: save the document first; files are simulated.');
    return;
  }
  const args = ['simulate', document.uri.fsPath];
  if (machine) {
    args.push('--machine', machine);
  }
  openTerminal(`simulate ${machine ?? ''}`, args, document.uri);
}

function serve() {
  openTerminal('serve', ['serve', '--http', '127.0.0.1:0']);
}

/** Opens a terminal in which the program itself runs: no shell reads its arguments. */
function openTerminal(name, args, uri) {
  if (!vscode.workspace.isTrusted) {
    vscode.window.showWarningMessage('Statemark: this folder isn\'t trusted, so nothing of it is run.');
    return;
  }
  const folder = uri ? vscode.workspace.getWorkspaceFolder(uri) : vscode.workspace.workspaceFolders?.[0];
  const terminal = vscode.window.createTerminal({
    name: `statemark ${name}`,
    shellPath: program(),
    shellArgs: args,
    cwd: folder?.uri,
  });
  terminal.show();
}

module.exports = { activate, deactivate };
