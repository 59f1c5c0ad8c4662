//! Options by which a program runs another one, or writes or reads what it shouldn't.
//!
//! Only who names them means them. A program that isn't here has no such option as far as is known: it is granted with all
//! its options.
//!
//! Deliberately not here: what a program writes by its operands (`cp`, `tee`), as its usual work (`gcc -o`), or by a language
//! of its own (`awk`, `sed 'w x'`, `sqlite3 '.shell x'`).

use crate::glob::matches_name;

/// The place of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Anywhere after the program.
    Anywhere,
    /// Before the first word that is no option: it is the program's own, and not a subcommand's.
    Before,
    /// The subcommand itself.
    Subcommand,
    /// The subcommand itself, if it is none of these words, which are all that is known to be harmless.
    ///
    /// For a program that takes a subcommand by many names, and shortened.
    NoneOf,
    /// The subcommand itself, if none of these options follows.
    Unless(&'static str),
    /// The subcommand itself, if none of these words follows at once.
    ///
    /// Further on, one could be the value of another.
    UnlessNext(&'static str),
    /// After this word, which is a subcommand.
    After(&'static str),
    /// The first word without a `-`, of which each letter is an option.
    Letters,
}

impl Place {
    /// Reports whether it is where it is by the place of the subcommand.
    pub(super) const fn is_by_subcommand(self) -> bool {
        matches!(
            self,
            Self::Before | Self::Subcommand | Self::NoneOf | Self::Unless(_) | Self::UnlessNext(_)
        )
    }
}

/// Programs, the place of some options, and these, both with blanks between them.
///
/// An option is compared as the programs do:
///
/// - `--name`: also with a value after `=`, and shortened;
/// - `-x`: also among other letters, as in `-vx`, and with a value right after it;
/// - `-name`: with one `-` or two, and with a value after `=`;
/// - `=word`: this word alone;
/// - `VAR=`: each word that sets a variable;
/// - with a `*`: a glob over the whole word.
pub(super) const ESCAPES: &[(&str, Place, &str)] = &[
    (
        "ack ag bat batcat delta",
        Place::Anywhere,
        "--pager --ackrc",
    ),
    (
        "ar gcc-ar gcc-nm gcc-ranlib ld ld.bfd ld.gold ld.lld lld mold nm objcopy objdump ranlib strip",
        Place::Anywhere,
        "--plugin -plugin -load-plugin @*",
    ),
    (
        "bazel bazelisk",
        Place::Anywhere,
        "--run_under --bazelrc --override_repository --output_base --output_user_root --script_path --server_javabase \
         --shell_executable --workspace_status_command --host_jvm_args",
    ),
    ("mold", Place::Anywhere, "-run"),
    ("bundle", Place::Anywhere, "--gemfile"),
    // Shortened, too.
    ("bundle", Place::Subcommand, "e ex exe exec co* pl* open"),
    (
        "c++ cc clang clang++ cpp g++ gcc gfortran",
        Place::Anywhere,
        "-wrapper -specs -B* -prefix -fplugin -fpass-plugin -fuse-ld -ld-path -load -plugin -config -config-user-dir \
         -config-system-dir -gcc-toolchain -gcc-install-dir -ccc-* @* -W?,*@* -W?,*plugin* -Wl,*-pl* -Wl,*load*",
    ),
    (
        "cargo",
        Place::Anywhere,
        "--config --artifact-dir --lockfile-path --logfile --manifest-path --out-dir --root --target-dir -C -Z +*/* \
         linker=* -*linker=* linker?plugin?lto=* -*linker?plugin?lto=* link?arg=* link?args=* -*link?arg*",
    ),
    (
        "cmake",
        Place::Anywhere,
        "-C* =-E -P* --toolchain --graphviz --trace-redirect --profiling-output -D*COMPILER* CMAKE_*COMPILER* -D*_PROGRAM* \
         CMAKE_*_PROGRAM* -D*LINKER* CMAKE_*LINKER* -D*TOOLCHAIN* CMAKE_*TOOLCHAIN* -D*INCLUDE* CMAKE_*INCLUDE* \
         -D*MODULE_PATH* CMAKE_*MODULE_PATH*",
    ),
    (
        "cpio",
        Place::Anywhere,
        "--rsh-command -D --directory -F --file -O",
    ),
    (
        "curl",
        Place::Anywhere,
        "--config -K --output -o --output-dir -O --remote-name --remote-name-all -J --remote-header-name --upload-file -T \
         --stderr -D --dump-header -c --cookie-jar --trace --trace-ascii --libcurl --etag-save --hsts --alt-svc \
         --ssl-sessions -w --write-out --engine --expand-*",
    ),
    ("dd", Place::Anywhere, "of=*"),
    ("diff3", Place::Anywhere, "--diff-program"),
    ("sdiff", Place::Anywhere, "--diff-program -o --output"),
    ("fd fdfind", Place::Anywhere, "--exec -x --exec-batch -X"),
    (
        "git",
        Place::Before,
        "-c -C --bare --config-env --exec-path --git-dir --work-tree --paginate -p",
    ),
    (
        "git",
        Place::Anywhere,
        "--exec --export-marks --ext-diff --extcmd --open-files-in-pager --output --output-directory --receive-pack \
         --upload-pack",
    ),
    // Each runs what it is told, or what comes over its input or a connection.
    (
        "git",
        Place::Subcommand,
        "archimport credential credential-* cvsexportcommit cvsimport cvsserver daemon difftool fast-import \
         for-each-repo hook http-backend imap-send merge-index merge-one-file mergetool p4 receive-pack remote-ext remote-fd remote-* send-pack shell \
         svn upload-archive upload-pack *--*",
    ),
    ("git", Place::After("am"), "--directory"),
    ("git", Place::After("apply"), "--unsafe-paths --directory"),
    ("git", Place::After("archive"), "-o"),
    ("git", Place::After("bisect"), "run view visualize"),
    ("git", Place::After("bugreport"), "-o"),
    ("git", Place::After("bundle"), "create"),
    ("git", Place::After("checkout-index"), "--prefix"),
    ("git", Place::After("cherry-pick"), "--strategy"),
    (
        "git",
        Place::After("clone"),
        "-c --config -u --template --separate-git-dir",
    ),
    ("git", Place::After("diagnose"), "-o"),
    ("git", Place::After("difftool"), "-x -t --tool -g --gui"),
    ("git", Place::After("filter-branch"), "-*"),
    ("git", Place::After("format-patch"), "-o"),
    ("git", Place::After("grep"), "-O"),
    ("git", Place::After("index-pack"), "-o"),
    ("git", Place::After("init"), "--template --separate-git-dir"),
    ("git", Place::After("instaweb"), "-d --httpd -b --browser"),
    ("git", Place::After("interpret-trailers"), "--in-place"),
    ("git", Place::After("maintenance"), "=start =register"),
    ("git", Place::After("gc"), "--expire-to"),
    ("git", Place::After("mailsplit"), "-o"),
    ("git", Place::After("merge"), "-s --strategy"),
    ("git", Place::After("mergetool"), "-t --tool -g --gui"),
    ("git", Place::After("pull"), "-s --strategy"),
    ("git", Place::After("read-tree"), "--index-output"),
    ("git", Place::After("rebase"), "-x -s --strategy"),
    ("git", Place::After("repack"), "--expire-to --filter-to"),
    ("git", Place::After("revert"), "--strategy"),
    (
        "git",
        Place::After("send-email"),
        "--sendmail-cmd --to-cmd --cc-cmd --header-cmd --smtp-server",
    ),
    ("git", Place::After("submodule"), "foreach"),
    (
        "git",
        Place::UnlessNext("--get --get-all --get-regexp --list -l get list"),
        "config",
    ),
    (
        "go",
        Place::Anywhere,
        "-exec -toolexec -vettool -ldflags -gccgoflags -compiler -modfile -overlay -pkgdir =-C -C=* =--C --C=* =-o =--o -o=* --o=* -outputdir -coverprofile \
         -cpuprofile -memprofile -blockprofile -mutexprofile -trace -*test.*profile* -*test.*dir* -*test.*file* -*test.trace* \
         -debug-actiongraph -debug-trace -debug-runtime-trace",
    ),
    (
        "go",
        Place::After("env"),
        "=-w =-u =--w =--u -w=* --w=* -u=* --u=*",
    ),
    (
        "gpg gpg2",
        Place::Anywhere,
        "-o --output --options --homedir --agent-program --dirmngr-program --exec-path --keyserver-options --log-file \
         --logger-file --photo-viewer --pinentry-mode --status-file",
    ),
    (
        "gradle gradlew",
        Place::Anywhere,
        "-I --init-script -b --build-file -c --settings-file -p --project-dir --include-build -g --gradle-user-home \
         -D*java.home* -D*jvmargs*",
    ),
    ("hash", Place::Anywhere, "-p"),
    (
        "helm",
        Place::Anywhere,
        "--post-renderer --post-renderer-args --output-dir --kubeconfig",
    ),
    ("helm", Place::Subcommand, "plugin"),
    (
        "hg",
        Place::Anywhere,
        "--config --config-file --cwd -R --repository --debugger --pager -o --output -e --ssh --remotecmd --tool",
    ),
    // Shortened, too.
    ("hg", Place::Subcommand, "bis* extd*"),
    ("hg", Place::After("merge"), "-t"),
    ("hg", Place::After("resolve"), "-t"),
    ("install ginstall", Place::Anywhere, "--strip-program"),
    (
        "just",
        Place::Anywhere,
        "-f --justfile -d --working-directory --shell --shell-arg --set -c --command --chooser -E --dotenv-path \
         --dotenv-filename VAR=",
    ),
    (
        "kubectl",
        Place::Anywhere,
        "--kubeconfig --cache-dir --output-directory --profile-output --log-file --log-dir",
    ),
    (
        "kubectl",
        Place::After("config"),
        "set set-cluster set-credentials",
    ),
    (
        "less",
        Place::Anywhere,
        "-o -O --log-file --LOG-FILE -k --lesskey-file --lesskey-src --lesskey-content +*",
    ),
    (
        "gmake make",
        Place::Anywhere,
        "--eval -E -C --directory -f --file --makefile --temp-stdin -I --include-dir VAR=",
    ),
    (
        "man",
        Place::Anywhere,
        "-P --pager -H --html -C --config-file",
    ),
    ("ninja", Place::Anywhere, "-C -f -t"),
    // They run what they are told, whatever it is.
    (
        "bunx caffeinate cgexec dbus-run-session faketime fakeroot gdb hyperfine linux32 linux64 lldb nodemon npx numactl \
         perf pipx pnpx proot proxychains proxychains4 sg ssh-agent sshpass systemd-inhibit torsocks unbuffer uvx \
         valgrind watchexec xvfb-run",
        Place::Subcommand,
        "*",
    ),
    // What they run may be the value of an option: `npx --call=x`.
    (
        "bunx gdb hyperfine lldb nodemon npx pipx pnpx uvx watchexec",
        Place::Before,
        "-*",
    ),
    // Its options may have one `-`, too, and be shortened.
    (
        "npm pnpm yarn",
        Place::Anywhere,
        "--script-shell -*shell* -scr* --node-options -node-o* --globalconfig --userconfig -*config=* -globalc* -userc* \
         --prefix -prefix -C --dir --cwd --browser -browser --editor -editor --viewer -viewer --git -git --cache -cache \
         --init-module -init-m* --onload-script -onload*",
    ),
    // What is left out runs what it is told, or writes it into a configuration: `exec`, `init`, `config`, `pkg`.
    (
        "npm",
        Place::NoneOf,
        "access add adduser audit author bin bugs cit ci clean-install ddp dedupe deprecate diff dist-tag dist-tags docs doctor \
         find find-dupes fund get help home i in info ins inst insta instal install install-ci-test install-test isnt isnta \
         isntal isntall it la link list ll ln login logout ls org outdated owner pack ping prefix profile prune publish query r \
         rb rebuild remove repo restart rm root rum run run-script s sbom se search show star stars start stop t team test tst \
         token un undeprecate uninstall unlink unpublish unstar up update upgrade urn v verison version view whoami why explain",
    ),
    (
        "pnpm",
        Place::Subcommand,
        "c config create dlx env exec init node self-update server set",
    ),
    (
        "yarn",
        Place::Subcommand,
        "config create dlx exec init node plugin policies set",
    ),
    // In each workspace.
    (
        "yarn",
        Place::After("workspace"),
        "config create dlx exec node",
    ),
    (
        "yarn",
        Place::After("foreach"),
        "config create dlx exec node",
    ),
    (
        "openssl",
        Place::Anywhere,
        "-engine -provider -provider-path -config -out -writerand -keyout -keylogfile -outdir -sess_out -CAserial \
         -CAcreateserial",
    ),
    ("openssl", Place::Subcommand, "engine"),
    (
        "pandoc",
        Place::Anywhere,
        "--filter -F --lua-filter -L -o --output --pdf-engine --defaults -d --extract-media --log --data-dir *.lua*",
    ),
    (
        "patch",
        Place::Anywhere,
        "-o --output -r --reject-file -d --directory -e --ed -B --prefix",
    ),
    ("poetry", Place::Anywhere, "-C --directory -P --project"),
    ("poetry", Place::Subcommand, "config run self shell"),
    (
        "uv",
        Place::Anywhere,
        "--config-file --directory --project --python -p",
    ),
    ("uv", Place::Subcommand, "run tool"),
    ("rg", Place::Anywhere, "--pre --hostname-bin"),
    (
        "rsync",
        Place::Anywhere,
        "-e --rsh --rsync-path -M --remote-option --log-file --write-batch --only-write-batch --read-batch --temp-dir -T \
         --backup-dir --partial-dir --daemon --config",
    ),
    (
        "rustc",
        Place::Anywhere,
        "linker=* -*linker=* linker?plugin?lto=* -*linker?plugin?lto=* link?arg* -*link?arg* -*codegen?backend* --sysroot \
         --extern -Z +*/* @*",
    ),
    (
        "rustdoc",
        Place::Anywhere,
        "--runtool --test-runtool --test-builder --test-builder-wrapper --extern -o --output --out-dir -Z linker=* \
         -*linker=* linker?plugin?lto=* -*linker?plugin?lto=* link?arg* -*link?arg* --sysroot +*/* @*",
    ),
    ("scp sftp", Place::Anywhere, "-S -o -F -D -b -s -J"),
    ("ssh-keygen ssh-add", Place::Anywhere, "-D -w -s -S"),
    ("gsed sed", Place::Anywhere, "-i --in-place -f --file"),
    ("gshuf shuf", Place::Anywhere, "-o --output"),
    (
        "gsort sort",
        Place::Anywhere,
        "--compress-program -o --output --files0-from",
    ),
    ("gsplit split", Place::Anywhere, "--filter"),
    // Ours. What a person alone may do is refused elsewhere.
    (
        "statemark",
        Place::Anywhere,
        "-o --output --output-file --write --fix --unsafe-fixes --store",
    ),
    ("statemark", Place::Subcommand, "hook man mcp new"),
    ("statemark", Place::Unless("--check --diff"), "build fmt"),
    (
        "statemark",
        Place::After("store"),
        "anchor backup export import init",
    ),
    (
        "svn",
        Place::Anywhere,
        "--diff-cmd --diff3-cmd --editor-cmd --config-option --config-dir",
    ),
    (
        "bsdtar gtar star tar",
        Place::Anywhere,
        "--checkpoint-action -I --use-compress-program --to-command -F --info-script --new-volume-script --rsh-command \
         --rmt-command --index-file -g --listed-incremental -T --files-from --volno-file",
    ),
    ("bsdtar gtar star tar", Place::Letters, "I F g T"),
    ("tree", Place::Anywhere, "-o"),
    (
        "wget",
        Place::Anywhere,
        "--config -O --output-document --use-askpass -o --output-file -a --append-output -e --execute -P \
         --directory-prefix --save-cookies --warc-file --rejected-log --hsts-file",
    ),
    ("xmllint", Place::Anywhere, "-o -output -shell"),
    ("yq", Place::Anywhere, "-i --inplace -s --split-exp"),
    (
        "zip",
        Place::Anywhere,
        "-*TT* --unzip-command -O --output-file -b --temp-path -lf -logfile-path",
    ),
];

/// Programs, and their options before a subcommand that take their value as the next word.
pub(super) const VALUED: &[(&str, &str)] = &[
    (
        "git",
        "-c -C --git-dir --work-tree --namespace --config-env --super-prefix --attr-source",
    ),
    ("statemark", "--color --log --log-format --store"),
    ("cargo", "-C -Z --config --color"),
    ("go", "-C"),
    ("npm", "--prefix -C --loglevel -w --workspace"),
    ("pnpm", "--dir -C --filter -F"),
    ("yarn", "--cwd"),
];

/// Programs, and their options before a subcommand that take no value.
///
/// After another one the next word may be its value, and the subcommand the one after that.
pub(super) const FLAGS: &[(&str, &str)] = &[
    (
        "git",
        "-p --paginate -P --no-pager --bare --no-replace-objects --no-lazy-fetch --no-optional-locks --no-advice \
         --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --html-path --man-path --info-path \
         --exec-path --version --help -v -h",
    ),
    (
        "npm",
        "-s --silent -q --quiet -d -dd -ddd --verbose -g --global --json -l --long --offline --prefer-offline -y --yes -f \
         --force --no-audit --no-fund --no-save --no-color --no-progress --no-update-notifier --ignore-scripts --if-present \
         -ws --workspaces --production --dry-run",
    ),
];

/// Reports whether a program is one of some names, in whatever version (`gcc-14`).
pub(super) fn is_named(program: &str, names: &str) -> bool {
    names.split_whitespace().any(|name| {
        program.strip_prefix(name).is_some_and(|rest| {
            let mut rest = rest.bytes();
            rest.all(|it| it.is_ascii_digit() || matches!(it, b'-' | b'.'))
        })
    })
}

/// Reports whether a word with this beginning may be an option of [`ESCAPES`], however it goes on.
///
/// What a shell makes of a word with a glob has its beginning, and may be anything from there on.
pub(super) fn may_be_option(beginning: &str, option: &str) -> bool {
    let may_become = |text: &str| text.starts_with(beginning);
    if let Some(whole) = option.strip_prefix('=') {
        return may_become(whole);
    }
    if option == "VAR=" {
        return !beginning.starts_with('-');
    }
    if option.contains(['*', '?']) {
        let kept = option.split(['*', '?']).next().unwrap_or_default();
        return may_become(kept) || beginning.starts_with(kept);
    }
    // A name may be shortened, so that any beginning of it counts; a `=` ends it.
    let names = |name: &str, given: &str, is_whole: bool| match given.split_once('=') {
        Some((given, _)) if is_whole => given == name,
        Some((given, _)) => !given.is_empty() && name.starts_with(given),
        None => name.starts_with(given),
    };
    if let Some(name) = option.strip_prefix("--") {
        let given = beginning.strip_prefix("--");
        return may_become("--") || given.is_some_and(|given| names(name, given, false));
    }
    match option.strip_prefix('-') {
        Some(letter) if letter.chars().count() == 1 => {
            may_become("-") || beginning.starts_with('-') && !beginning.starts_with("--")
        }
        Some(name) => {
            let given = beginning.strip_prefix("--");
            let given = given.or_else(|| beginning.strip_prefix('-'));
            may_become("--") || given.is_some_and(|given| names(name, given, true))
        }
        None => may_become(option),
    }
}

/// Reports whether a word is an option of [`ESCAPES`].
///
/// Source: `getopt_long(3)`, and the programs' manuals.
pub(super) fn is_option(word: &str, option: &str) -> bool {
    if let Some(whole) = option.strip_prefix('=') {
        return word == whole;
    }
    if option.contains(['*', '?']) {
        return matches_name(option, word);
    }
    if option == "VAR=" {
        return !word.starts_with('-') && word.contains('=');
    }
    let name_of = |text: &str| text.split('=').next().unwrap_or_default().to_owned();
    if let Some(name) = option.strip_prefix("--") {
        let given = word.strip_prefix("--").map(name_of);
        return given.is_some_and(|given| !given.is_empty() && name.starts_with(&given));
    }
    match option.strip_prefix('-') {
        // Among other letters, too: `-xf`.
        Some(letter) if letter.chars().count() == 1 => {
            word.starts_with('-') && !word.starts_with("--") && word.contains(letter)
        }
        Some(name) => {
            let given = word.strip_prefix("--").or_else(|| word.strip_prefix('-'));
            given.is_some_and(|given| name_of(given) == name)
        }
        None => word == option,
    }
}
