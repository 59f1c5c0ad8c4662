# A project with examples/paper, a server over it that listens, and the binary itself. Sourced by the scripts beside it, after
# node.sh; sets `root`, `work`, `statemark`, `url` and `fail`, and goes into the project. Nothing of whoever runs it is read or
# changed, and nothing is left.
# With the example the dependencies have the features that tests give them, so that nothing is built twice.
cargo build --workspace --bin statemark --example conformance
root=$PWD
statemark=$target/debug/statemark
work=$(mktemp -d "$home/clients.XXXXXX")
mkdir -p "$work/home" "$work/project/.statemark" "$work/project/codex"
trap 'kill ${server:-} 2>/dev/null || true; rm -rf "$work"' EXIT
export HOME=$work/home XDG_CONFIG_HOME=$work/home/.config
# Codex' app-server starts servers in its own folder: in the project, they find the project's store, and make none around it.
export CODEX_HOME=$work/project/codex
unset STATEMARK_STORE STATEMARK_TOKEN
cp examples/paper/paper.md "$work/project"
cd "$work/project"
"$statemark" serve --http 127.0.0.1:0 2>"$work/listening" &
server=$!
url=$(line_of "$work/listening")
url=${url#*listening at }
url=${url%% *}

fail() {
    echo "$*" >&2
    exit 1
}
