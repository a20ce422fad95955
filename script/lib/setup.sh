# shellcheck shell=sh
# Sourced, with $root set to the repository: what script/bootstrap, ./quicksilver and script/test set up.
#
# Each thing has a question (qs_X_ok: cheap, only stamps and the file system are asked) and an action. Actions run under
# one lock, so that two commands at once do not trample each other, and their output goes to a log.

# shellcheck disable=SC2154  # root is the caller's
qs_tc=$root/tools/toolchain
qs_cache=$root/.cache
qs_log=$qs_cache/setup.log
qs_node=$qs_tc/node_modules/.bin/node
qs_said=
qs_hint=
TURBO_TELEMETRY_DISABLED=1 TURBO_NO_UPDATE_NOTIFIER=1
export TURBO_TELEMETRY_DISABLED TURBO_NO_UPDATE_NOTIFIER

qs_die() {
  printf 'quicksilver: %s\n' "$*" >&2
  exit 1
}

qs_have() { command -v "$1" >/dev/null 2>&1; }
qs_root_with_apt() { [ "$(id -u)" = 0 ] && qs_have apt-get; }

# --- questions -------------------------------------------------------------------------------------------------------

qs_toolchain_ok() {
  [ -x "$qs_node" ] && [ -x "$qs_tc/node_modules/.bin/pnpm" ] &&
    cmp -s "$qs_tc/package-lock.json" "$qs_tc/node_modules/.stamp"
}

# What decides the content of node_modules. One pipe, so that asking costs a few milliseconds.
qs_install_sum() {
  cat "$root/pnpm-lock.yaml" "$root/pnpm-workspace.yaml" "$root/package.json" \
    "$root"/apps/*/package.json "$root"/packages/*/package.json "$root"/e2e/package.json "$root"/benchmarks/package.json |
    cksum
}

qs_install_ok() {
  [ -f "$root/node_modules/.stamp" ] || return 1
  read -r qs_stamp <"$root/node_modules/.stamp" || return 1
  [ "$qs_stamp" = "$(qs_install_sum)" ]
}

# Built, and no source (nor a folder of sources, which a removal touches) is newer than the last build's start.
qs_build_ok() {
  [ -f "$qs_cache/build.stamp" ] || return 1
  for qs_dir in "$root"/packages/* "$root"/apps/*; do
    [ ! -f "$qs_dir/package.json" ] || [ -f "$qs_dir/dist/index.js" ] || return 1
  done
  [ -z "$(find "$root"/packages/*/src "$root"/apps/*/src "$root"/packages/*/package.json "$root"/apps/*/package.json \
    "$root"/packages/*/tsconfig.json "$root"/apps/*/tsconfig.json "$root/tsconfig.base.json" "$root/turbo.json" \
    "$root/pnpm-lock.yaml" -newer "$qs_cache/build.stamp" -print 2>/dev/null | head -n 1)" ]
}

qs_redis_ok() { qs_have redis-server; }
qs_cc_ok() { qs_have cc || qs_have gcc; }
qs_newest_hg_ok() { [ -x "$qs_cache/hg/bin/hg" ] && "$qs_cache/hg/bin/hg" version -q >/dev/null 2>&1; }
qs_system_hg_ok() { qs_have hg; }

# --- one lock, one log, one progress line ----------------------------------------------------------------------------

# Runs the named function holding the set-up lock; a second command waits here and then finds everything done.
qs_locked() {
  mkdir -p "$qs_cache" 2>/dev/null && (: >>"$qs_log") 2>/dev/null ||
    qs_die "cannot write $qs_cache: setting up needs a checkout that you may write to"
  exec 9>"$qs_cache/setup.lock"
  if qs_have flock && ! flock -n 9; then
    printf 'waiting for another set-up of %s ...\n' "$root" >&2
    flock 9
  fi
  "$@"
  exec 9>&-
  [ -z "$qs_said" ] || printf 'ready\n' >&2
  qs_said=
}

# qs_step NAME COMMAND...: shows NAME, keeps the output in the log, shows its tail when the command fails.
qs_step() {
  qs_name=$1
  shift
  if [ -z "$qs_said" ]; then
    [ -f "$qs_cache/build.stamp" ] && qs_when= || qs_when=' (first run)'
    printf 'setting up%s: ' "$qs_when" >&2
    qs_said=1
    : >"$qs_log"
  fi
  printf '%s ... ' "$qs_name" >&2
  printf '== %s\n' "$qs_name" >>"$qs_log"
  qs_hint=
  # 9>&-: nothing that is started here may hold the lock after us.
  if ! "$@" >>"$qs_log" 2>&1 </dev/null 9>&-; then
    printf 'failed\n' >&2
    tail -n 15 "$qs_log" | sed 's/^/  | /' >&2
    qs_die "${qs_hint:-setting up stopped at \"$qs_name\"} (whole log: $qs_log)"
  fi
}

# --- actions ---------------------------------------------------------------------------------------------------------

qs_arch() {
  [ "$(uname -s)" = Linux ] || qs_die "$(uname -s) is not supported: Quicksilver runs on Linux (x64, arm64)"
  case $(uname -m) in
    x86_64 | amd64) qs_arch=x64 ;;
    aarch64 | arm64) qs_arch=arm64 ;;
    *) qs_die "unsupported processor $(uname -m): the toolchain exists for x64 and arm64" ;;
  esac
}

qs_do_toolchain() {
  qs_hint='npm could not fetch the toolchain: check the network and "npm config get registry", then run this again'
  (cd "$qs_tc" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) || return 1
  # The packages are optional ones, one per processor: npm calls it a success when none could be had.
  [ -x "$qs_tc/node_modules/node-linux-$qs_arch/bin/node" ] && [ -x "$qs_tc/node_modules/@pnpm/exe.linux-$qs_arch/pnpm" ] ||
    return 1
  qs_hint='the Node that was fetched does not run here: it needs glibc 2.28 or newer'
  "$qs_node" -e 0 || return 1
  ln -sf "../@pnpm/exe.linux-$qs_arch/pnpm" "$qs_tc/node_modules/.bin/pnpm" &&
    cp "$qs_tc/package-lock.json" "$qs_tc/node_modules/.stamp"
}

qs_do_install() {
  qs_hint='pnpm could not install the dependencies: check the network, then run this again'
  qs_sum=$(qs_install_sum)
  (cd "$root" && CI=true pnpm install --frozen-lockfile --reporter=append-only) || return 1
  printf '%s\n' "$qs_sum" >"$root/node_modules/.stamp"
}

qs_do_build() {
  qs_hint='the build failed: the lines above say where'
  # The stamp is as old as the start: a source saved while the build runs counts as newer.
  : >"$qs_cache/build.stamp.new"
  (cd "$root" && node_modules/.bin/turbo run build --output-logs=errors-only) || return 1
  mv "$qs_cache/build.stamp.new" "$qs_cache/build.stamp"
}

qs_apt() {
  DEBIAN_FRONTEND=noninteractive
  export DEBIAN_FRONTEND
  # Lists may be absent (fresh container) or old: asked for only when the install fails without.
  apt-get install -y --no-install-recommends "$@" || { apt-get update && apt-get install -y --no-install-recommends "$@"; }
}

qs_do_redis() {
  qs_hint='redis-server could not be installed: install it (apt-get install redis-server) or set REDIS_URL'
  qs_apt redis-server || return 1
  # Quicksilver starts a Redis of its own; the package's system service, started only because of us, is not needed.
  if [ -d /run/systemd/system ]; then systemctl disable --now redis-server || :; fi
  qs_redis_ok
}

qs_do_cc() {
  qs_hint='no C compiler could be installed: apt-get install gcc libc6-dev'
  qs_apt gcc libc6-dev
}

qs_do_system_hg() { qs_apt mercurial || :; }

# The newest Mercurial that PyPI has, apart from the system's. Not having it is no failure where Debian's is there.
qs_do_newest_hg() {
  rm -rf "$qs_cache/hg"
  if ! python3 -m venv "$qs_cache/hg"; then
    qs_root_with_apt && qs_apt python3-venv && python3 -m venv "$qs_cache/hg" || return 0
  fi
  "$qs_cache/hg/bin/pip" install --disable-pip-version-check --timeout 20 --retries 1 -q mercurial ||
    { qs_root_with_apt && qs_apt gcc libc6-dev python3-dev &&
      "$qs_cache/hg/bin/pip" install --disable-pip-version-check --timeout 20 --retries 1 -q mercurial; }
  if ! qs_newest_hg_ok; then
    rm -rf "$qs_cache/hg"
    : >"$qs_cache/no-newest-hg" # not asked for again today
  fi
}

# --- what commands ask for -------------------------------------------------------------------------------------------

qs_bootstrap_ok() { qs_toolchain_ok && qs_install_ok; }

qs_bootstrap() {
  qs_arch
  if ! qs_toolchain_ok; then
    qs_have npm || qs_die 'npm is missing: install Node.js 20 or newer with npm (Debian: apt-get install nodejs npm)'
    qs_step toolchain qs_do_toolchain
  fi
  PATH=$qs_tc/node_modules/.bin:$PATH
  export PATH
  qs_install_ok || qs_step dependencies qs_do_install
}

qs_build() {
  qs_bootstrap
  qs_build_ok || qs_step build qs_do_build
}

qs_redis() {
  qs_redis_ok && return 0
  qs_root_with_apt || qs_die 'redis-server is missing: install it (Debian: apt-get install redis-server) or set REDIS_URL'
  qs_step redis-server qs_do_redis
}

qs_test_tools() {
  qs_redis
  if ! qs_cc_ok; then
    qs_root_with_apt || qs_die 'a C compiler is missing, fault-injection tests need it: apt-get install gcc libc6-dev'
    qs_step 'C compiler' qs_do_cc
  fi
  if ! qs_system_hg_ok && qs_root_with_apt; then qs_step "Debian's hg" qs_do_system_hg; fi
  if ! qs_newest_hg_ok && qs_have python3 && [ -z "$(find "$qs_cache/no-newest-hg" -mmin -1440 2>/dev/null)" ]; then
    qs_step 'newest hg' qs_do_newest_hg
  fi
  qs_newest_hg_ok || qs_system_hg_ok ||
    qs_die 'no hg to test against: apt-get install mercurial (or python3-venv, and PyPI in reach)'
}
