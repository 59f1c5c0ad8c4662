#!/bin/sh
# Instructions per event under callgrind, for each machine and engine; see engines.rs. Needs valgrind.
set -eu
cd "$(dirname "$0")/../.."
program=$(cargo bench -p statemark-tests --bench engines --no-run 2>&1 | sed -n 's/.*Executable .*(\(.*\))/\1/p')
[ -n "$program" ] || { echo "the benchmark doesn't compile: cargo bench -p statemark-tests --bench engines" >&2; exit 1; }
"$program" all

# Instructions of one run: machine, engine, rounds of 4,096 events.
instructions() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$@" 2>&1 |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

# Instructions per event, in hundredths.
per_event() {
    few=$(instructions "$1" "$2" 10)
    many=$(instructions "$1" "$2" 60)
    echo $(((many - few) * 100 / (50 * 4096)))
}

printf '| %-8s | %-9s | %9s | %7s |\n' machine engine per_event by_hand
printf '|----------|-----------|-----------|---------|\n'
for machine in flat guarded deep regions; do
    loop=$(per_event $machine loop)
    hand=$(($(per_event $machine by_hand) - loop))
    for engine in by_hand generated table; do
        cost=$(($(per_event $machine $engine) - loop))
        ratio=$((cost * 100 / hand))
        printf '| %-8s | %-9s | %6d.%02d | %4d.%02d |\n' $machine $engine \
            $((cost / 100)) $((cost % 100)) $((ratio / 100)) $((ratio % 100))
    done
done

# A step that reads two fields and assigns one, in contexts of 50 and of 5,000 fields: the same cost.
for machine in fields_50 fields_5000; do
    cost=$(per_event $machine table)
    printf '| %-11s | table | %6d.%02d |\n' $machine $((cost / 100)) $((cost % 100))
done

# A step of one region among others: those cost next to nothing.
for machine in wide_2 wide_16 wide_128; do
    cost=$(per_event $machine table)
    printf '| %-11s | table | %6d.%02d |\n' $machine $((cost / 100)) $((cost % 100))
done
