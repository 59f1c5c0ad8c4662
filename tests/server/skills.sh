#!/usr/bin/env bash
# What others' validators say of `skills/`: Claude Code's of the plugin, the reference validator of agent skills, and agnix.
# Claude Code installs the plugin, too, and connects with its server.
# Fetches Claude Code (250 MB), skills-ref from PyPI and agnix from crates.io (which takes minutes to build) into the target
# folder; on demand, not part of tests/run. Needs python3 with pip.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/server/node.sh

fetch @anthropic-ai/claude-code claude-code 2.1.329
claude=$home/claude-code-2.1.329/node_modules/.bin/claude

skills_ref=$home/skills-ref-0.1.1
if [ ! -e "$skills_ref/.whole" ]; then
    rm -rf "$skills_ref"
    python3 -m pip install --quiet --target "$skills_ref" "skills-ref==0.1.1"
    touch "$skills_ref/.whole"
fi

agnix=$home/agnix-0.60.3
if [ ! -x "$agnix/bin/agnix" ]; then
    # Unoptimized, which is fast enough for a few files.
    cargo install --quiet --debug --locked --root "$agnix" --version 0.60.3 agnix-cli
fi

# With the example the dependencies have the features that tests give them, so that nothing is built twice.
cargo build --workspace --bin statemark --example conformance

# Nothing of whoever runs this is read or changed.
root=$PWD
work=$(mktemp -d "$home/skills.XXXXXX")
trap 'rm -rf "$work"' EXIT
export HOME=$work XDG_CONFIG_HOME=$work/.config CLAUDE_CONFIG_DIR=$work/.claude
unset STATEMARK_STORE STATEMARK_TOKEN STATEMARK_RUN
mkdir -p "$work/project/.statemark"

fail() {
    echo "$*" >&2
    exit 1
}

echo "== claude plugin validate"
"$claude" plugin validate --strict .
# A submission needs a README; the icon that it would like is a warning.
"$claude" plugin validate --profile directory skills

echo "== claude plugin install"
"$claude" plugin marketplace add "$root"
"$claude" plugin install statemark@statemark
details=$("$claude" plugin details statemark)
for skill in skills/*/SKILL.md; do
    skill=$(basename "$(dirname "$skill")")
    grep -qE "^ +Skills .*\b$skill\b" <<<"$details" || fail "the plugin lacks the skill $skill:
$details"
done
for agent in skills/agents/*.md; do
    grep -qE "^ +Agents .*\b$(basename "$agent" .md)\b" <<<"$details" || fail "the plugin lacks $agent:
$details"
done
grep -E '^ +(Skills|Agents|Hooks|MCP servers) ' <<<"$details"
listed=$(cd "$work/project" && PATH=$target/debug:$PATH "$claude" mcp list 2>&1)
grep -E '^plugin:statemark:statemark: .*Connected' <<<"$listed" || fail "Claude Code isn't connected with the plugin's server:
$listed"

echo "== agentskills validate"
for skill in skills/*/SKILL.md; do
    PYTHONPATH=$skills_ref python3 -c 'from skills_ref.cli import main; main()' validate "$(dirname "$skill")"
done

echo "== agnix"
"$agnix/bin/agnix" --strict skills
