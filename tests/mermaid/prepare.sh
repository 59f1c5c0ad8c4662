# Puts Mermaid, and the scripts that ask it, into the target folder. Sourced by the scripts beside it; sets `target`, `home`.
target=${CARGO_TARGET_DIR:-target}
home=$target/mermaid
mkdir -p "$home"
home=$(cd "$home" && pwd)
cp tests/mermaid/*.mjs tests/mermaid/package.json "$home"
# What was installed last, all of it: neither an install that broke off nor another version will do.
if ! cmp -s "$home/package.json" "$home/node_modules/.installed.json"; then
  (cd "$home" && npm install --no-audit --no-fund --silent && cp package.json node_modules/.installed.json)
fi
