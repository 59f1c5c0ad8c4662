# Gets Claude Code, Codex, Gemini CLI and OpenCode, and a folder in which they work offline against a scripted model. Sourced by the
# scripts beside it, after `node.sh`, from the root of the project; sets `claude`, `codex`, `gemini`, `opencode`, `root`, `work`.
fetch @anthropic-ai/claude-code claude-code 2.1.329
fetch @openai/codex codex 0.169.0
fetch @google/gemini-cli gemini-cli 0.61.0
fetch opencode-ai opencode 1.18.33
claude=$home/claude-code-2.1.329/node_modules/.bin/claude
codex=$home/codex-0.169.0/node_modules/.bin/codex
gemini=$home/gemini-cli-0.61.0/node_modules/.bin/gemini
opencode=$home/opencode-1.18.33/node_modules/.bin/opencode
cargo build --workspace --bin statemark --example conformance
root=$PWD
work=$(mktemp -d "$home/offline.XXXXXX")
trap 'kill ${model:-} 2>/dev/null || true; rm -rf "$work"' EXIT
mkdir -p "$work/home/.codex" "$work/home/.gemini" "$work/bin"
ln -s "$target/debug/statemark" "$work/bin/statemark"
export HOME=$work/home XDG_CONFIG_HOME=$work/home/.config CODEX_HOME=$work/home/.codex PATH=$work/bin:$PATH
export ANTHROPIC_API_KEY=none CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1
export OPENCODE_DISABLE_MODELS_FETCH=1 OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_LSP_DOWNLOAD=1
# A key alone isn't enough: with an address of its own it would go by another way to a model, which wants to be chosen.
export GEMINI_API_KEY=none GEMINI_CLI_NO_RELAUNCH=true TERM=xterm-256color
cat >"$HOME/.gemini/settings.json" <<'CONFIG'
{
  "security": { "auth": { "selectedType": "gemini-api-key" } },
  "privacy": { "usageStatisticsEnabled": false },
  "general": { "enableAutoUpdate": false }
}
CONFIG
unset STATEMARK_STORE STATEMARK_TOKEN STATEMARK_RUN

fail() {
    echo "$*" >&2
    exit 1
}

# Starts a model that makes the calls of a script; what tools have answered comes into `$work/log`. Sets `address`.
begin_model() {
    rm -f "$work/log" "$work/address"
    touch "$work/log"
    printf '%s\n' "$1" >"$work/script"
    "$node" "$root/tests/server/model.mjs" "$work/script" "$work/log" >"$work/address" &
    model=$!
    address=$(line_of "$work/address")
}

# Says to OpenCode, in the user's own configuration, where the model is; its tools go through no permissions but the hook's.
model_of_opencode() {
    mkdir -p "$XDG_CONFIG_HOME/opencode"
    cat >"$XDG_CONFIG_HOME/opencode/opencode.json" <<CONFIG
{
  "model": "scripted/scripted",
  "small_model": "scripted/scripted",
  "provider": {
    "scripted": {
      "npm": "@ai-sdk/anthropic",
      "options": { "baseURL": "$address/v1", "apiKey": "none" },
      "models": { "scripted": {} }
    }
  }
}
CONFIG
}
