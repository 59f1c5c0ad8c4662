#!/bin/sh
# Instructions of whole processes of `statemark` under callgrind: how `lint` and `show` grow. Needs valgrind.
# Usage: tests/benches/lint.sh [PROGRAM], by default the release build of this checkout.
set -eu
cd "$(dirname "$0")/../.."
program=${1:-}
if [ -z "$program" ]; then
    cargo build --release --bin statemark
    program=target/release/statemark
fi
program=$(realpath "$program")
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
XDG_CACHE_HOME=$folder/cache
export XDG_CACHE_HOME

# A document around a diagram, which is standard input, and a definition.
document() {
    printf '# Measured\n\n## STATE-MACHINE\n\n```mermaid\nstateDiagram-v2\n'
    cat
    printf '```\n'
    [ -z "${1:-}" ] || printf '\n```json definition\n%s\n```\n' "$1"
}

# Documents as people keep them: one diagram of 5 to 14 states each, with prose, about 1.7 KB.
small() {
    awk -v count="$1" 'BEGIN {
        split("draft review approved rejected queued running paused failed archived shipped paid packed returned closed", states)
        split("submit accept reject start stop pause resume retry finish ship pay pack refund lock", events)
        prose = "This document says how the thing is handled, by whom, and in what order; people read it before they change it."
        for (n = 0; n < count; n++) {
            file = sprintf("files/process_%05d.md", n)
            text = "# Process " n "\n\n## STATE-MACHINE\n\n```mermaid\nstateDiagram-v2\n"
            last = 5 + n % 10
            # Names of another kind in each file: rotated, so that no two neighbors are alike.
            text = text "    [*] --> " states[n % 14 + 1] "\n"
            for (i = 1; i <= last; i++) {
                state = states[(n + i - 1) % 14 + 1]
                following = i == last ? "[*]" : states[(n + i) % 14 + 1]
                text = text "    " state " --> " following " : " events[(n * 3 + i) % 14 + 1] "\n"
                if (i > 1)
                    text = text "    " state " --> " states[(n + i - 2) % 14 + 1] " : " \
                        events[(n * 3 + i + 5) % 14 + 1] " [is_ready] / note_it()\n"
            }
            text = text "```\n"
            while (length(text) < 1650) text = text "\n" prose "\n"
            printf "%s", text > file
            close(file)
        }
    }'
}

mkdir files
small 1000
for count in 1000 10000; do
    fields=$(awk -v count="$count" 'BEGIN {
        for (i = 0; i < count; i++) printf "%s\"field_%d\": %d", i ? ", " : "", i, i
    }')
    printf '[*] --> a\na --> b : go [field_0 > 1]\nb --> [*] : end\n' |
        document "{ \"context\": { $fields } }" >"fields_$count.md"
done
awk 'BEGIN {
    print "[*] --> a"
    for (i = 0; i < 2000; i++) printf "a --> b%d : go [n == %d]\n", i % 7, i
    for (i = 0; i < 7; i++) printf "b%d --> [*] : end\n", i
}' | document '{ "context": { "n": 0 } }' >guards_2000.md
awk 'BEGIN {
    print "[*] --> s0"
    for (i = 0; i < 10000; i++) printf "s%d --> s%d : next\ns%d --> s%d : back\n", i, (i + 1) % 10000, i, (i + 9999) % 10000
    print "s0 --> [*] : end"
}' | document >transitions_20000.md

# A row of the table: what is done, and the arguments.
row() {
    name=$1
    shift
    cost=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$@" 2>&1 >/dev/null |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p')
    printf '| %-36s | %9d.%02d |\n' "$name" $((cost / 1000000)) $((cost / 10000 % 100))
}

printf '| %-36s | %12s |\n' 'whole process' 'million'
printf '|%s|%s|\n' -------------------------------------- --------------
row 'its version' --version
row 'lint: a file' lint --no-cache files/process_00003.md
row 'lint: 1,000 files' lint --no-cache files
row 'lint: 1,000 files, for the first time' lint files
row 'lint: 1,000 files, again' lint files
row 'lint: a context of 1,000 fields' lint --no-cache fields_1000.md
row 'lint: a context of 10,000 fields' lint --no-cache fields_10000.md
row 'lint: 2,000 guards of one event' lint --no-cache guards_2000.md
row 'show: 20,000 transitions' show transitions_20000.md
row 'build: Rust of 20,000 transitions' build transitions_20000.md --emit rust -o out
