#!/usr/bin/env bash
# Makes the package of npm for a system, with a program that was built for it, and the package that everybody names.
#
#     pack.sh PROGRAM SYSTEM FOLDER      pack.sh target/release/statemark linux-x64 out
set -euo pipefail
program=$1 system=$2 mkdir_to=$3
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$mkdir_to"
out=$(cd "$mkdir_to" && pwd)
version=$(sed -n 's/^ *"version": "\(.*\)",$/\1/p' "$here/statemark/package.json")
file=statemark
[[ $system != win32-* ]] || file=statemark.exe

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/package"
install -m 755 "$program" "$work/package/$file"
cat > "$work/package/package.json" <<END
{
  "name": "@statemark/$system",
  "version": "$version",
  "description": "The program of the package statemark, for $system.",
  "license": "MIT OR Apache-2.0",
  "repository": "github:statemark/statemark",
  "preferUnplugged": true,
  "os": ["${system%-*}"],
  "cpu": ["${system#*-}"],
  "files": ["$file"]
}
END
(cd "$out" && npm pack --silent "$work/package" && npm pack --silent "$here/statemark")
