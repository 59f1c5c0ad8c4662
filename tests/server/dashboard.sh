#!/usr/bin/env bash
# The dashboard in a browser: every page, live, with the server killed in the middle; 1,000 runs; 100,000 records; narrow, dark,
# by keyboard alone; axe-core's rules; hostile texts; decisions, signed ones too; what other pages may not.
# Needs Chromium (`apt-get install chromium`, or CHROMIUM=/path/to/it), openssh-client and python3. Fetches playwright-core and
# axe-core into the target folder the first time; `dashboard.sh fetch` does only that. `dashboard.sh pictures` also writes the
# pictures of the book and the README. Words behind that name checks, such as `dashboard.sh inbox narrow`: only those run.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/server/node.sh

fetch playwright-core playwright-core 1.65.1
fetch axe-core axe-core 4.14.1
if [ "${1:-}" = fetch ]; then
    exit
fi
pictures=
if [ "${1:-}" = pictures ]; then
    pictures=$PWD/compiler/docs/src/images
    mkdir -p "$pictures"
    shift
fi
chromium=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
if [ -z "$chromium" ]; then
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
        echo "no Chromium: install one, or say where it is with CHROMIUM" >&2
        exit 1
    fi
    apt-get update -qq
    apt-get install -y -qq chromium
    chromium=$(command -v chromium)
fi
[ -n "${SKIP_BUILD:-}" ] || cargo build --workspace --bin statemark --example conformance
root=$PWD
statemark=$target/debug/statemark
# The store with the long run is made once.
long=$target/tmp/long-100000
if [ -z "$*" ] || [[ " $* " == *" long "* ]]; then
    if [ ! -e "$long/runs.db" ]; then
        cargo test --workspace --test cli long::a_long_run_is_read_at_once -- --ignored --exact --quiet >/dev/null || true
    fi
fi
work=$(mktemp -d "$home/dashboard.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/home" "$work/project/.statemark"
export HOME=$work/home XDG_CONFIG_HOME=$work/home/.config
unset STATEMARK_STORE STATEMARK_TOKEN
cp examples/paper/paper.md tests/server/dashboard/*.md skills/workflows/deploy.md "$work/project"
cd "$work/project"
NODE_PATH= PLAYWRIGHT=$home/playwright-core-1.65.1/node_modules/playwright-core/index.mjs \
    AXE=$home/axe-core-4.14.1/node_modules/axe-core/axe.min.js \
    CHROMIUM=$chromium STATEMARK=$statemark LONG=$long PICTURES=$pictures \
    "$node" "$root/tests/server/dashboard/check.mjs" "$@"
