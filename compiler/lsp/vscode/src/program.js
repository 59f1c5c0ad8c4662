// The program `statemark`: where it is, and what it says.
'use strict';

const { execFile } = require('node:child_process');
const vscode = require('vscode');

/** Longest output that is read. Unit: bytes. Why: a drawing of the largest machine has less. */
const MAX_OUTPUT = 32 << 20;

/** Longest wait for an answer. Unit: milliseconds. */
const PATIENCE = 20_000;

/** Returns the program's path: that of the settings, else its name, which PATH leads to. */
function program() {
  return vscode.workspace.getConfiguration('statemark').get('server.path') || 'statemark';
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
