# shellcheck shell=sh
# Tests on volumes of dataless files, in POSIX sh, with TAP output. To be sourced:
#
#   . dataless-testlib.sh
#   it "makes thumbnails of photos, and reads nothing else"
#   with_volume ./fixtures --latency 20ms --stacks first -- ./thumbnails.py {}
#   expect_files photos/a.jpg photos/b.jpg
#   done_testing
#
# DATALESS        the executable; else `dataless` on PATH
# DATALESS_LIMIT  seconds that a program may take; else 60
# DATALESS_LOGS   a folder that nobody else can write to, for logs of volumes of which something was not as expected
#
# Set by a mount: VOLUME, the mountpoint, and VOLUME_LOG, the log, which is there until the next mount or the end.
# Volumes end with the shell, also if it is killed: a subshell looks after it. What begins with _dt_ is private.
# docs/TESTLIBS.md has all of it.

_dt_number=0
_dt_failed=0
_dt_words=
_dt_done=no
_dt_volumes=0
_dt_folder=
_dt_keeper=
VOLUME=
VOLUME_LOG=

_dt_executable() { command -v "${DATALESS:-dataless}" 2>/dev/null; }

_dataless() {
  [ -n "$(_dt_executable)" ] || {
    echo "dataless-testlib: there is no executable '${DATALESS:-dataless}': install it, or set DATALESS." >&2
    return 127
  }
  "$(_dt_executable)" "$@" </dev/null
}

# TAP

# it WORDS: what the next expectation is called.
it() { _dt_words=$*; }

_dt_tap() {
  _dt_number=$((_dt_number + 1))
  case $1 in
    0) echo "ok $_dt_number - ${_dt_words:-$2}" ;;
    *)
      echo "not ok $_dt_number - ${_dt_words:-$2}"
      _dt_failed=$((_dt_failed + 1))
      ;;
  esac
  _dt_words=
  return "$1"
}

# Standard input, as a comment on the test before.
_dt_comment() { sed 's/^/# /'; }

# The names are known beforehand: in a folder that others can write to, there could be links and pipes. What is there
# already is replaced, not opened; the folder is entered before it is looked at.
_dt_keep_log() {
  [ -n "${DATALESS_LOGS-}" ] && [ -f "$VOLUME_LOG" ] || return 0
  _dt_logs=$DATALESS_LOGS
  while [ "${_dt_logs%/}" != "$_dt_logs" ] && [ "$_dt_logs" != / ]; do _dt_logs=${_dt_logs%/}; done
  case $_dt_logs in /*) ;; *) _dt_logs=./$_dt_logs ;; esac
  if (
    umask 077
    mkdir -p "$_dt_logs"
    [ ! -L "$_dt_logs" ] && CDPATH='' cd -P "$_dt_logs" &&
      [ -n "$(find . -prune -type d -user "$(id -u)" ! -perm -020 ! -perm -002)" ] || exit 1
    _dt_new=$(mktemp ./.test.XXXXXX) || exit 1
    cat >"$_dt_new" && mv -f -T "$_dt_new" "test-$_dt_number.jsonl" && exit
    rm -f "$_dt_new"
    exit 1
  ) <"$VOLUME_LOG" >/dev/null; then
    echo "# log: $DATALESS_LOGS/test-$_dt_number.jsonl"
  else
    echo "# log not kept: $DATALESS_LOGS is no folder of this user that nobody else can write to, or has no room"
  fi
}

# expect_ok COMMAND...: that a command succeeds.
expect_ok() {
  _dt_status=0
  "$@" || _dt_status=$?
  _dt_tap "$((_dt_status != 0))" "$*" || echo "# exit status $_dt_status"
}

# done_testing: prints the plan and ends the shell: status 1 if something was not as expected.
done_testing() {
  _dt_done=yes
  echo "1..$_dt_number"
  [ "$_dt_failed" -eq 0 ]
  exit
}

# Where volumes lie

# A process's state and when it has started, in clock ticks since boot, in _dt_state and _dt_begin; fails when there is
# none. comm may have spaces, brackets and line ends.
_dt_look() {
  _dt_stat=
  { while read -r _dt_line; do _dt_stat="$_dt_stat $_dt_line"; done <"/proc/$1/stat"; } 2>/dev/null || return 1
  # shellcheck disable=SC2086 # the words are wanted
  set -- ${_dt_stat##*) }
  _dt_state=$1
  _dt_begin=${20-}
  [ -n "$_dt_begin" ]
}

# When a process that has not ended has started.
_dt_started() {
  _dt_look "$1" || return 1
  case $_dt_state in Z | X) return 1 ;; esac
  echo "$_dt_begin"
}

# Where numbers of processes mean what they mean here: boot and pid namespace. Fails when that cannot be known.
_dt_here() {
  _dt_boot=
  { read -r _dt_boot </proc/sys/kernel/random/boot_id; } 2>/dev/null
  _dt_space=$(readlink /proc/self/ns/pid 2>/dev/null)
  [ -n "$_dt_boot" ] && [ -n "$_dt_space" ] && echo "$_dt_boot $_dt_space"
}

# Whether the mountpoint in a volume's folder is there, by the folder's names: a look at it could be held at a gate.
# shellcheck disable=SC2010 # a glob would look at what it finds
_dt_is_there() { ls "$1" 2>/dev/null | grep -qx mnt; }

# Removes a folder, and nothing that is mounted in it, where rm(1) can tell.
_dt_remove() {
  if rm -f --one-file-system 2>/dev/null; then rm -rf --one-file-system "$1"; else rm -rf "$1"; fi
}

# Ends what is in a shell's folder, and removes it. rmdir(2) of what is mounted on fails without asking the volume.
_dt_clean() {
  _dt_rounds=0
  while [ "$_dt_rounds" -lt 300 ]; do
    _dt_left=no
    for _dt_volume in "$1"/v*; do
      [ -d "$_dt_volume" ] || continue
      _dt_end_programs "$_dt_volume"
      rmdir "$_dt_volume/mnt" 2>/dev/null
      if _dt_is_there "$_dt_volume"; then
        _dataless unmount "$_dt_volume/mnt" >/dev/null 2>&1
        rmdir "$_dt_volume/mnt" 2>/dev/null
      fi
      if _dt_is_there "$_dt_volume"; then _dt_left=yes; else _dt_remove "$_dt_volume"; fi
    done
    # A mount that was killed may still write into the folder, until its daemon has noticed.
    [ "$_dt_left" = yes ] || _dt_remove "$1"
    [ -e "$1" ] || return 0
    _dt_rounds=$((_dt_rounds + 1))
    sleep 0.1
  done
  return 1
}

# Ends the programs of a volume. A mark's name is their process group; in it is where and when its first process has
# started: numbers begin anew, for instance when a container is started again, and are somebody else's then.
_dt_end_programs() {
  for _dt_mark in "$1"/programs/*; do
    [ -f "$_dt_mark" ] || continue
    if _dt_is_ours "$1" "${_dt_mark##*/}"; then kill -s KILL -- "-${_dt_mark##*/}" 2>/dev/null || :; fi
    rm -f "$_dt_mark"
  done
}

# _dt_is_ours FOLDER GROUP: whether the process group is the one that the mark in a volume's folder means.
_dt_is_ours() {
  case $2 in *[!0-9]* | 0* | 1) return 1 ;; esac
  _dt_place=$(_dt_here) || return 1
  { read -r _dt_marked <"$1/programs/$2"; } 2>/dev/null || return 1
  if _dt_look "$2"; then
    [ "$_dt_marked" = "$_dt_place $_dt_begin" ]
    return
  fi
  # Its first process is gone. What that has started has the mountpoint in its environment.
  case $_dt_marked in "$_dt_place "*) ;; *) return 1 ;; esac
  _dt_within=${1%/*}
  # shellcheck disable=SC2013 # these are words
  for _dt_entry in $(grep -lsE "\\) [A-Z] [0-9]+ $2 " /proc/[0-9]*/stat); do
    timeout -s KILL 2 cat "${_dt_entry%/stat}/environ" 2>/dev/null | tr '\0' '\n' |
      grep -q "^DATALESS_MOUNT=.*/${_dt_within##*/}/${1##*/}/mnt\$" && return
  done
  return 1
}

# Whether flock(1) is there.
_dt_can_lock() { command -v flock >/dev/null 2>&1; }

# Whether no mount is being made in a folder whose shell has ended.
_dt_is_settled() { [ ! -e "$1/mounting" ] || flock -n "$1/mounting" true; }

# Cleans a folder if nobody has it any more: its keeper's lock is free, and that of a mount that was begun, which makes
# what it misses in the folder. Numbers of processes say nothing of another container with the same TMPDIR; only without
# a lock they decide, in the same boot and pid namespace.
_dt_clean_dead() {
  # Empty: of a shell that was killed, or that begins at this moment and then takes another one.
  rmdir "$1" 2>/dev/null && return
  if [ -e "$1/lock" ] && _dt_can_lock; then
    { flock -n 9 && _dt_is_settled "$1" && _dt_clean "$1"; } 2>/dev/null 9<"$1/lock"
    return
  fi
  { read -r _dt_owner <"$1/owner"; } 2>/dev/null || return
  [ "$_dt_owner" = "$(_dt_here)" ] || return
  _dt_name=${1##*/}
  _dt_start=${_dt_name#*-}
  [ "$(_dt_started "${_dt_name%%-*}")" = "${_dt_start%%-*}" ] || _dt_clean "$1"
}

# Makes a folder, and starts the subshell that looks after it and has its lock.
_dt_begin_folder() {
  _dt_folder=$(mktemp -d "$_dt_parent/$$-$(_dt_started $$)-XXXXXX") || return
  if _dt_can_lock; then
    { flock -n 9 && [ -d "$_dt_folder" ] && _dt_keep; } 2>/dev/null 9>"$_dt_folder/lock" || _dt_folder=
  else
    _dt_here >"$_dt_folder/owner"
    _dt_keep
  fi
  [ -n "$_dt_folder" ]
}

_dt_keep() {
  (
    trap '' HUP INT TERM QUIT PIPE
    trap - EXIT
    set +e
    _dt_start=$(_dt_started $$)
    # What it waits in does not keep the lock when it is killed.
    while [ "$(_dt_started $$)" = "$_dt_start" ] && [ -d "$_dt_folder" ]; do sleep 0.2 9>&-; done
    { _dt_can_lock && flock -w 60 8; } 8>"$_dt_folder/mounting"
    _dt_clean "$_dt_folder"
  ) </dev/null >/dev/null 2>&1 &
  _dt_keeper=$!
}

# The folder of this shell, and the subshell that cleans up when it has died; before that, what dead ones have left.
_dt_prepare() {
  [ -z "$_dt_folder" ] || return 0
  _dt_parent=${TMPDIR:-/tmp}/dataless-sh-$(id -u)
  mkdir -m 0700 "$_dt_parent" 2>/dev/null
  if [ -z "$(find "$_dt_parent" -prune -type d -user "$(id -u)" -perm 700)" ]; then
    echo "dataless-testlib: $_dt_parent is not a folder of this user alone. Remove it, or set TMPDIR." >&2
    return 1
  fi
  for _dt_old in "$_dt_parent"/*-*-*; do
    [ -d "$_dt_old" ] && _dt_clean_dead "$_dt_old"
  done
  # Whoever cleans up may take away a folder that is not locked yet: then another one.
  _dt_rounds=0
  until _dt_begin_folder; do
    _dt_rounds=$((_dt_rounds + 1))
    [ "$_dt_rounds" -lt 20 ] && continue
    echo "dataless-testlib: no folder can be made and locked in $_dt_parent. Set TMPDIR to a local disk with room." >&2
    return 1
  done
  trap _dt_exit EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
}

_dt_exit() {
  _dt_status=$?
  trap - EXIT
  if [ -z "$_dt_folder" ] || _dt_clean "$_dt_folder"; then
    [ -z "$_dt_keeper" ] || wait "$_dt_keeper"
  else
    # The keeper waits for our end, and tries once more.
    echo "dataless-testlib: a volume could not be unmounted and is left in $_dt_folder: dataless unmount says why." >&2
  fi
  if [ "$_dt_done" = no ]; then
    echo "Bail out! the test ended before done_testing"
    [ "$_dt_status" -ne 0 ] || _dt_status=1
  fi
  exit "$_dt_status"
}

# Volumes

# Where there is flock(1), the keeper of a shell that is killed meanwhile waits for the mount.
_dt_mount() {
  if _dt_can_lock; then
    { flock 8 && _dataless mount "$@"; } 8>"$_dt_folder/mounting"
  else
    _dataless mount "$@"
  fi
}

# mount_volume SOURCE [OPTIONS of dataless mount...]: sets VOLUME and VOLUME_LOG.
mount_volume() {
  _dt_prepare || return
  [ -z "$VOLUME" ] || { echo "dataless-testlib: there is a volume: unmount_volume first." >&2; return 1; }
  for _dt_old in "$_dt_folder"/v*; do
    [ -d "$_dt_old" ] || continue
    # Of one that could not be unmounted, nothing is removed: this would be what is on it.
    rmdir "$_dt_old/mnt" 2>/dev/null || :
    _dt_is_there "$_dt_old" || _dt_remove "$_dt_old"
  done
  _dt_volumes=$((_dt_volumes + 1))
  _dt_home=$_dt_folder/v$_dt_volumes
  mkdir "$_dt_home" "$_dt_home/mnt" "$_dt_home/programs" || return
  VOLUME_LOG=$_dt_home/log.jsonl
  _dt_source=$1
  shift
  if _dt_mount "$_dt_source" "$_dt_home/mnt" --log "$VOLUME_LOG" --cache-dir "$_dt_home/cache" "$@" >/dev/null
  then
    VOLUME=$_dt_home/mnt
  else
    _dt_status=$?
    rmdir "$_dt_home/mnt"
    return "$_dt_status"
  fi
}

# unmount_volume: ends programs and the volume; its log stays until the next mount. A volume that cannot be unmounted
# stays VOLUME.
unmount_volume() {
  [ -n "$VOLUME" ] || return 0
  _dt_end_programs "$_dt_home"
  _dataless unmount "$VOLUME" >/dev/null
  _dt_status=$?
  if rmdir "$VOLUME"; then VOLUME=; else _dt_status=1; fi
  return "$_dt_status"
}

# As unmount_volume, for an expectation with these words: without a log that is complete it does not hold.
_dt_ended() {
  unmount_volume && return
  _dt_tap 1 "$1"
  echo "# the volume could not be unmounted, or its daemon had to be killed"
  return 1
}

# with_volume SOURCE [OPTIONS...] -- COMMAND...: runs a program, or calls a function, on a volume, and unmounts.
# Its status is that of the command.
with_volume() {
  _dt_options=
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    _dt_options="$_dt_options $(_dt_quoted "$1")"
    shift
  done
  if [ -z "$_dt_options" ] || [ $# -lt 2 ]; then
    echo "dataless-testlib: with_volume SOURCE [OPTIONS...] -- COMMAND..." >&2
    return 2
  fi
  shift
  eval "mount_volume $_dt_options" || return
  _dt_result=0
  # A function, and what is built in, have no path.
  case $1$(command -v "$1") in
    */*) run_program "$@" || _dt_result=$? ;;
    *)
      # Programs that are part of busybox have none, either.
      case $(LC_ALL=C type "$1" 2>/dev/null) in
        *function* | *builtin*) "$@" || _dt_result=$? ;;
        *) run_program "$@" || _dt_result=$? ;;
      esac
      ;;
  esac
  unmount_volume || return
  return "$_dt_result"
}

# One word, as the shell reads it.
_dt_quoted() { printf '%s\n' "$1" | sed "s/'/'\\\\''/g; 1s/^/'/; \$s/\$/'/"; }

# Programs

# start_program COMMAND...: starts a program; {} in its words is the mountpoint. PROGRAM is its number. It ends with the
# volume at the latest.
start_program() {
  for _dt_word; do
    shift
    _dt_text=
    while :; do
      case $_dt_word in
        *'{}'*)
          _dt_text=$_dt_text${_dt_word%%'{}'*}$VOLUME
          _dt_word=${_dt_word#*'{}'}
          ;;
        *) break ;;
      esac
    done
    set -- "$@" "$_dt_text$_dt_word"
  done
  DATALESS_MOUNT=$VOLUME setsid "$@" </dev/null >"$_dt_home/output" 2>&1 &
  PROGRAM=$!
  # Also of one that has ended already: it may have started others.
  _dt_look "$PROGRAM" || _dt_begin=0
  echo "$(_dt_here) $_dt_begin" >"$_dt_home/programs/$PROGRAM"
}

# wait_program [PROGRAM]: waits for its end; its status, or 124 when that takes longer than DATALESS_LIMIT: then it says
# who waits for the volume and where, and the program is ended.
# shellcheck disable=SC2120 # callers may name it
wait_program() {
  _dt_waited=${1:-$PROGRAM}
  _dt_until=$(($(date +%s) + ${DATALESS_LIMIT:-60}))
  while _dt_started "$_dt_waited" >/dev/null; do
    if [ "$(date +%s)" -ge "$_dt_until" ]; then
      echo "# program $_dt_waited did not end within ${DATALESS_LIMIT:-60} s. Who waits:"
      volume_stacks | _dt_comment
      kill -s KILL -- "-$_dt_waited"
      wait "$_dt_waited"
      rm -f "$_dt_home/programs/$_dt_waited"
      return 124
    fi
    sleep 0.02
  done
  wait "$_dt_waited"
}

# run_program COMMAND...: both.
run_program() {
  start_program "$@"
  wait_program "$PROGRAM"
}

# program_output: what the last program has written, to standard output and error.
program_output() { cat "$_dt_home/output"; }

# Verbs

volume_scenario() { _dataless scenario apply "$VOLUME" "$1" >/dev/null; }
volume_set() { _dataless set "$VOLUME" "$@" >/dev/null; }
volume_offline() { _dataless offline "$VOLUME" >/dev/null; }
volume_online() { _dataless online "$VOLUME" >/dev/null; }
volume_stacks() { _dataless stack "$VOLUME"; }

# volume_evict [PATHS below the volume...]: makes files dataless again; without a path all.
volume_evict() {
  [ $# -gt 0 ] || set -- .
  for _dt_word; do
    _dataless evict "$VOLUME/$_dt_word" >/dev/null || return
  done
}

# volume_log [OPTIONS of dataless log...]: of the volume, or of the one that was unmounted last.
volume_log() { _dataless log "${VOLUME:-$VOLUME_LOG}" "$@"; }

# gate_wait GATE CALLERS [TIME]: waits until so many callers are blocked there, for 10s or so long.
gate_wait() { _dataless gate wait "$VOLUME" "$1" --callers "$2" --timeout "${3:-10s}" >/dev/null; }

# gate_release GATE [OPTIONS of dataless gate release...]
gate_release() {
  _dt_gate=$1
  shift
  _dataless gate release "$VOLUME" "$_dt_gate" "$@" >/dev/null
}

# Expectations

# expect OPTIONS of dataless check-log...: such as --max-files 2 --forbid 'secret/**'. Of what the last volume has seen;
# it is unmounted first, because only a log that is complete tells what did not happen.
expect() {
  _dt_ended "$*" || return
  _dt_status=0
  _dt_told=$(unset GITHUB_ACTIONS && _dataless check-log "$VOLUME_LOG" "$@" 2>&1) || _dt_status=$?
  if ! _dt_tap "$((_dt_status != 0))" "$*"; then
    printf '%s\n' "$_dt_told" | _dt_comment
    _dt_keep_log
    return 1
  fi
}

# expect_files [PATHS...]: that content of exactly these files became local for programs. Names are as in a baseline
# (docs/EXPECTATIONS.md): of those of temporary files only the kind is compared.
expect_files() {
  _dt_ended "files: $*" || return
  _dt_wanted=$_dt_home/wanted
  _dt_found=$_dt_home/found
  if ! _dt_told=$(
    unset GITHUB_ACTIONS && _dataless check-log "$VOLUME_LOG" --baseline "$_dt_found" --update-baseline 2>&1
  ); then
    _dt_tap 1 "files: $*"
    printf '%s\n' "$_dt_told" | _dt_comment
    return 1
  fi
  # What may be there: the folders that were listed, and these files.
  {
    grep -v '^file ' "$_dt_found"
    for _dt_word; do printf 'file %s\n' "$_dt_word"; done | LC_ALL=C sort -u
  } >"$_dt_wanted"
  _dt_status=0
  # Held when nothing else was materialized; and nothing may be left of them that was not.
  _dataless check-log "$VOLUME_LOG" --baseline "$_dt_wanted" --json 2>/dev/null |
    grep -q '"new_count":0,.*"untouched_count":0,' || _dt_status=1
  if ! _dt_tap "$_dt_status" "files: $*"; then
    # Who, and where in the program.
    (unset GITHUB_ACTIONS && _dataless check-log "$VOLUME_LOG" --baseline "$_dt_wanted" 2>&1) | _dt_comment
    _dt_keep_log
    return 1
  fi
}

# expect_blocked GATE CALLERS [TIME]: that so many callers come to a gate and are blocked there.
expect_blocked() {
  _dt_status=0
  _dt_told=$(gate_wait "$@" 2>&1) || _dt_status=1
  if ! _dt_tap "$_dt_status" "$2 callers blocked at gate $1"; then
    { printf '%s\n' "$_dt_told" && _dataless gate list "$VOLUME"; } 2>&1 | _dt_comment
    return 1
  fi
}
