// The program `statemark`: where it is, and what it says.
'use strict';

const { execFile } = require('node:child_process');
const { existsSync } = require('node:fs');
const path = require('node:path');
const vscode = require('vscode');

/** Longest output that is read. Unit: bytes. Why: a drawing of the largest machine has less. */
const MAX_OUTPUT = 32 << 20;

/** Longest wait for an answer. Unit: milliseconds. */
const PATIENCE = 20_000;

/** Returns the program's path: that of the settings, else where PATH leads. */
function program() {
  const named = vscode.workspace.getConfiguration('statemark').get('server.path') || 'statemark';
  return /[/\\]/.test(named) ? named : find(named);
}

/**
 * Finds a program in the folders of PATH.
 *
 * Left to itself, Windows looks in the current folder first: that is the one that was opened, and may be anybody's.
 */
function find(name) {
  const file = process.platform === 'win32' && !path.extname(name) ? `${name}.exe` : name;
  const folders = (process.env.PATH ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  const files = folders.map((folder) => path.join(folder, file));
  // One that isn't there is named all the same, by a whole path.
  return files.find((it) => existsSync(it)) ?? files[0] ?? name;
}

/** Runs the program in the first folder, and returns what it prints. */
function ask(args) {
  const cwd = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  return new Promise((resolve, reject) => {
    execFile(program(), args, { cwd, maxBuffer: MAX_OUTPUT, timeout: PATIENCE }, (error, out, remarks) => {
      if (error) {
        reject(new Error(remarks.trim() || error.message));
      } else {
        resolve(out);
      }
    });
  });
}

module.exports = { ask, program };
