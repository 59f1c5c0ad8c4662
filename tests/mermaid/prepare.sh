# Puts Mermaid, and the scripts that ask it, into the target folder. Sourced by the scripts beside it; sets `target`, `home`.
target=${CARGO_TARGET_DIR:-target}
home=$target/mermaid
mkdir -p "$home"
home=$(cd "$home" && pwd)
cp tests/mermaid/*.mjs tests/mermaid/package.json "$home"
[ -d "$home/node_modules/mermaid" ] || (cd "$home" && npm install --no-audit --no-fund --silent)
