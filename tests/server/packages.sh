#!/usr/bin/env bash
# Makes the packages of the program, installs each where nothing else is, and uses it as people do: the wheel, those of npm,
# the hooks of pre-commit against a repository of this folder, and the steps of the Action.
# Fetches maturin and pre-commit from PyPI into the target folder; on demand, not part of tests/run. Needs python3 with
# venv, node with npm, and git. What can't be fetched is left out aloud.
#
# The program that is packed is the one that tests use, unless STATEMARK_PACKED names another: what is tried here is the
# packing. A wheel of maturin's own build takes minutes, and is made where STATEMARK_WHEEL=build.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
packaging=$root/compiler/cli/packaging
target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target/packages"
home=$(cd "$target/packages" && pwd)
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)

fail() {
    echo "$*" >&2
    exit 1
}

for file in "$packaging/npm/statemark/package.json" pyproject.toml "$packaging/action/action.yml"; do
    grep -q "$version" "$file" || fail "$file isn't of version $version"
done

program=${STATEMARK_PACKED:-}
if [ -z "$program" ]; then
    cargo build --workspace --bin statemark
    program=$target/debug/statemark
fi

work=$(mktemp -d "$home/work.XXXXXX")
# What only debuggers read makes it ten times as large.
if [ -z "${STATEMARK_PACKED:-}" ] && strip -o "$work/stripped" "$program" 2> /dev/null; then
    program=$work/stripped
fi
trap 'rm -rf "$work"' EXIT
export HOME=$work XDG_CONFIG_HOME=$work/.config XDG_CACHE_HOME=$work/.cache
export PRE_COMMIT_HOME=$work/.pre-commit GIT_CONFIG_GLOBAL=$work/.gitconfig
git config --global user.name somebody
git config --global user.email somebody@example.org
git config --global init.defaultBranch main
unset STATEMARK_STORE STATEMARK_TOKEN STATEMARK_RUN STATEMARK_OUTPUT_FORMAT

good='## STATE-MACHINE

```mermaid
stateDiagram-v2
    [*] --> open
    open --> [*] : shut
```
'
bad=${good/'[*] : shut'/'b : shut'}

# Lints a good and a bad spec by a program.
try() {
    local folder
    folder=$(mktemp -d "$work/try.XXXXXX")
    printf '%s' "$good" > "$folder/good.md"
    printf '%s' "$bad" > "$folder/bad.md"
    [ "$("$1" --version)" = "statemark $version" ] || fail "$1 is of another version"
    "$1" lint "$folder/good.md" || fail "$1 finds something in a good spec"
    local code=0
    "$1" lint "$folder/bad.md" > "$folder/found" || code=$?
    [ "$code" = 1 ] || fail "$1 ended with $code"
    grep -q SM305 "$folder/found" || fail "$1 didn't find SM305"
    code=0
    "$1" lint --no-such-flag 2> /dev/null || code=$?
    [ "$code" = 2 ] || fail "$1 ended with $code for a wrong flag"
}

echo "== npm"
system=$(node -p '`${process.platform}-${process.arch}`')
"$packaging/npm/pack.sh" "$program" "$system" "$work/npm"
mkdir "$work/project"
(
    cd "$work/project"
    echo '{"private": true}' > package.json
    # The other systems' packages aren't anywhere; they are optional.
    npm install --offline --no-audit --no-fund --silent "$work/npm/statemark-$system-$version.tgz" "$work/npm/statemark-$version.tgz"
)
try "$work/project/node_modules/.bin/statemark"
rm -r "$work/project/node_modules/@statemark"
code=0
"$work/project/node_modules/.bin/statemark" --version 2> "$work/said" || code=$?
[ "$code" = 2 ] || fail "without its package the program ended with $code"
grep -q "no package @statemark/$system" "$work/said" || fail "it doesn't say what is missing"

tools=$home/tools-1
if [ ! -e "$tools/.whole" ]; then
    rm -rf "$tools"
    python3 -m venv "$tools"
    if "$tools/bin/pip" install --quiet --disable-pip-version-check maturin==1.16.0 pre-commit==4.7.0 setuptools wheel pyyaml; then
        touch "$tools/.whole"
    else
        echo "LEFT OUT: the wheel, pre-commit and the Action, whose tools couldn't be fetched (see above)"
        exit 0
    fi
fi

echo "== wheel"
mkdir "$work/wheels"
if [ "${STATEMARK_WHEEL:-}" = build ]; then
    (cd "$packaging" && "$tools/bin/maturin" build --quiet --release --out "$work/wheels")
else
    # The same layout as maturin's for a program, of the one that is there.
    "$tools/bin/python" - "$program" "$version" "$work/wheels" <<'END'
import base64, hashlib, os, sys, zipfile
program, version, out = sys.argv[1:]
import sysconfig
tag = "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")
info = f"statemark-{version}.dist-info"
files = {
    f"statemark-{version}.data/scripts/statemark": open(program, "rb").read(),
    f"{info}/METADATA": f"Metadata-Version: 2.1\nName: statemark\nVersion: {version}\n".encode(),
    f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: packages.sh\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(),
}
def line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"
record = "".join(line(*it) for it in files.items()) + f"{info}/RECORD,,\n"
files[f"{info}/RECORD"] = record.encode()
with zipfile.ZipFile(os.path.join(out, f"statemark-{version}-{tag}.whl"), "w", zipfile.ZIP_STORED) as wheel:
    for name, data in files.items():
        entry = zipfile.ZipInfo(name)
        entry.external_attr = (0o100755 if "scripts" in name else 0o100644) << 16
        wheel.writestr(entry, data)
END
    echo "LEFT OUT: maturin's own build, which STATEMARK_WHEEL=build makes"
fi
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check --no-index --find-links "$work/wheels" "statemark==$version"
try "$work/venv/bin/statemark"

echo "== pre-commit"
# The hooks' repository as it is published, with what isn't committed yet.
git init --quiet "$work/hooks"
cp .pre-commit-hooks.yaml pyproject.toml "$work/hooks"
(cd "$work/hooks" && git add . && git commit --quiet --message hooks)
"$tools/bin/pip" download --quiet --disable-pip-version-check --dest "$work/wheels" setuptools
repository=$work/repository
git init --quiet "$repository"
cat > "$repository/.pre-commit-config.yaml" <<END
repos:
  - repo: $work/hooks
    rev: $(git -C "$work/hooks" rev-parse HEAD)
    hooks:
      - id: statemark
      - id: statemark-fmt
END
(
    cd "$repository"
    export PIP_NO_INDEX=1 PIP_FIND_LINKS=$work/wheels
    printf '%s' "$good" > good.md
    printf '# Nothing\n' > README.md
    printf 'old.md\n' > .statemarkignore
    printf '%s' "$bad" > old.md
    git add .
    "$tools/bin/pre-commit" run --all-files || fail "the hooks fail for a good spec"
    printf '%s' "$bad" > bad.md
    git add .
    code=0
    "$tools/bin/pre-commit" run --all-files > "$work/said" || code=$?
    [ "$code" = 1 ] && grep -q "bad.md:6" "$work/said" || { cat "$work/said"; fail "the hook doesn't find a bad spec"; }
    ! grep -q "old.md" "$work/said" || fail "the hook checks what is ignored"
)

echo "== Action"
# Its steps, as a runner would carry them out; handing the findings over takes GitHub.
(
    cd "$repository"
    rm old.md .statemarkignore
    export RUNNER_TEMP=$work/runner GITHUB_OUTPUT=$work/output GITHUB_PATH=$work/path GITHUB_STEP_SUMMARY=$work/summary
    export PIP_NO_INDEX=1 PIP_FIND_LINKS=$work/wheels VERSION=$version LINT_PATHS="good.md bad.md" LINT_ARGS="--fail-on error"
    mkdir "$RUNNER_TEMP"
    step() {
        "$tools/bin/python" - "$packaging/action/action.yml" "$1" <<'END'
import sys, yaml
steps = yaml.safe_load(open(sys.argv[1]))["runs"]["steps"]
print(next(it["run"] for it in steps if it["name"] == sys.argv[2]))
END
    }
    # As GitHub runs `shell: bash`.
    run() { bash --noprofile --norc -eo pipefail <(step "$1"); }
    run Install
    PATH=$(cat "$GITHUB_PATH"):$PATH
    run Lint > "$work/said" || fail "warnings fail a step that fails on errors"
    grep -q "^::warning .*file=bad.md" "$work/said" || fail "there are no annotations"
    sarif=$(sed -n 's/^sarif=//p' "$GITHUB_OUTPUT")
    "$tools/bin/python" -c 'import json,sys; run=json.load(open(sys.argv[1]))["runs"][0]; assert [it["ruleId"] for it in run["results"]] == ["SM305"], run' "$sarif"
    grep -q "bad.md:6" "$GITHUB_STEP_SUMMARY" || fail "the summary has no findings"
    LINT_ARGS=
    ! run Lint > /dev/null || fail "a step with findings succeeds"
)
echo "all packages work"
