# What the scripts of this project have to do.
expect() {
    [ "$1" = "$2" ] || { echo "$3: expected $2, got $1"; exit 1; }
}
expect "$(printf '1\n2\n3\n' | sh total.sh)" 6 "three prices"
expect "$(printf '1\n2\n3' | sh total.sh)" 6 "a last line without an end"
expect "$(printf '1\n\n3\n' | sh total.sh)" 4 "an empty line"
echo "all is well"
