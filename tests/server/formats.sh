#!/usr/bin/env bash
# What others' validators say of the reports of `statemark lint`: Microsoft's of SARIF, and that of RDFormat.
# Each has to refuse a broken report, too. Fetches both from npm into the target folder; on demand, not part of tests/run:
# run it when you touch `compiler/src/diag/render`. Needs python3 with pip.
#
# The suite holds every report to `tests/schemas`, and JUnit's to the elements of the schema of Jenkins' xUnit plugin.
# For GitLab's report and JUnit's no validator is in a registry.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/server/node.sh

fetch @umbrelladocs/rdformat-validator rdformat-validator 1.0.1
fetch @microsoft/sarif-multitool sarif-multitool 5.7.0
cargo build --workspace --bin statemark
root=$PWD
program=$target/debug/statemark
work=$(mktemp -d "$home/formats.XXXXXX")
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1

fail() {
    echo "$*" >&2
    exit 1
}

# Every finding that there is, and a file with all that makes columns hard.
mkdir "$work/specs"
cp -r tests/corpus "$work/specs"
printf '\xef\xbb\xbf- a list\r\n\r\n  ## STATE-MACHINE\r\n\r\n## STATE-MACHINE\r\n\r\n> ```mermaid\r\n> stateDiagram-v2\r\n>\t[*] --> 日本語\r\n>\t日本語 --> é𝄞 : x y\r\n> ```\r\n' > "$work/specs/tür 𝄞.md"
cd "$work/specs"
git init --quiet .
for format in sarif rdjson; do
    "$program" lint --hints --exit-zero --output-format "$format" --output-file "$work/report.$format" . 2> /dev/null
done

echo "== SARIF"
# What the validator finds is in a report of its own; of one that it can't read it makes none.
sarif() {
    rm -f "$work/validated.sarif"
    "$home/sarif-multitool-5.7.0/node_modules/.bin/sarif-multitool" validate "$1" --output "$work/validated.sarif" --log ForceOverwrite > "$work/said" 2>&1 || return 1
    python3 -c 'import json, sys
found = [it for it in json.load(open(sys.argv[1]))["runs"][0]["results"] if it.get("level", "warning") in ("error", "warning")]
[print(it["ruleId"], it["message"]) for it in found[:10]]
sys.exit(bool(found))' "$work/validated.sarif"
}
sarif "$work/report.sarif" || { cat "$work/said"; fail "the report isn't right"; }
sed 's/"startLine": [0-9]*/"startLine": -1/; s/"startLine":[0-9]*/"startLine":-1/' "$work/report.sarif" > "$work/broken.sarif"
! sarif "$work/broken.sarif" > /dev/null || fail "the validator accepts a broken report"

echo "== RDFormat"
rdformat() { "$home/rdformat-validator-1.0.1/node_modules/.bin/rdformat-validator" "$1" > "$work/said" 2>&1; }
rdformat "$work/report.rdjson" || { cat "$work/said"; fail "the report isn't right"; }
sed 's/"diagnostics"/"findings"/' "$work/report.rdjson" > "$work/broken.rdjson"
! rdformat "$work/broken.rdjson" || fail "the validator accepts a broken report"
cd "$root"
echo "all reports are right"
