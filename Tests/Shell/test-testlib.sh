#!/bin/sh
# The shell test library, tested with itself: what is inside of `inner` is a test of its own, whose output is looked at.
here=$(cd "$(dirname "$0")" && pwd)
library=$here/../../Sources/Shell/dataless-testlib.sh
# shellcheck source=../../Sources/Shell/dataless-testlib.sh
. "$library"

scratch=$(mktemp -d) || exit 1
files=$scratch/files
mkdir -p "$files/deep"
echo one >"$files/a.txt"
echo two >"$files/b.txt"
echo three >"$files/deep/it's c.txt"
cat >"$scratch/held.yaml" <<'YAML'
rules: [{match: {path: "*.txt", kind: file}, gate: g}]
YAML

# inner CODE: the output and status of a test with this code, in said and status.
inner() {
  status=0
  # shellcheck disable=SC2086 # a command with its option
  said=$(${TEST_SHELL:-sh} -c ". '$library'
    cd '$scratch'
    $1" 2>&1) || status=$?
}
# has WORDS...: that each of them was said.
has() {
  for words; do
    case $said in *"$words"*) ;; *)
      echo "# '$words' is not in:"
      echo "$said" | sed 's/^/#   /'
      return 1
      ;;
    esac
  done
}
# Whether nothing of an inner test is left: but the folder of this one.
clean() {
  rounds=0
  while [ "$(find "$TMPDIR/dataless-sh-$(id -u)" -mindepth 1 -maxdepth 1 | wc -l)" -gt "${1:-0}" ]; do
    rounds=$((rounds + 1))
    [ "$rounds" -lt 200 ] || return 1
    sleep 0.1
  done
  ! grep -q " $TMPDIR/" /proc/self/mountinfo
}

inner 'with_volume files -- cat {}/a.txt "{}/deep/it'"'"'s c.txt"
  it "reads two"
  expect_files a.txt "deep/it'"'"'s c.txt"
  expect --max-files 2
  done_testing'
it "what holds is ok"
expect_ok has "ok 1 - reads two" "ok 2 - --max-files 2" "1..2"
it "its status is 0"
expect_ok test "$status" -eq 0

inner 'with_volume files --latency 20ms --stacks first -- cat {}/a.txt {}/b.txt
  expect_files a.txt
  expect --forbid "b*"
  done_testing'
it "what is materialized, too, is told with who and how"
expect_ok has "not ok 1 - files: a.txt" "b.txt by cat" "main thread read" "not ok 2 - --forbid b*" "VIOLATED" "1..2"
it "the status is 1 then"
expect_ok test "$status" -eq 1

inner 'body() {
    start_program cat {}/a.txt
    expect_blocked g 1
    gate_release g
    wait_program || echo "# status $?"
    it "the content comes"
    expect_ok test "$(program_output)" = one
    expect_blocked g 1 100ms
  }
  with_volume files --scenario held.yaml -- body
  done_testing'
it "a gate holds a program, and says when nobody came"
expect_ok has "ok 1 - 1 callers blocked at gate g" "ok 2 - the content comes" "not ok 3" "# g: closed"

inner 'DATALESS_LIMIT=1
  with_volume files --scenario held.yaml -- cat {}/a.txt
  it "is ended"
  expect_ok test $? -eq 124
  done_testing'
it "a program that does not end is ended, and who waits is told"
expect_ok has "did not end within 1 s" "a.txt" "cat[" "ok 1 - is ended"

inner 'body() {
    run_program cat {}/a.txt
    volume_evict a.txt
    run_program cat {}/a.txt
    expect_ok test "$(volume_log --type materialization.finished --path a.txt | grep -c read)" -eq 2
    volume_offline
    run_program cat {}/b.txt
    expect_ok test $? -eq 1
    volume_online
    volume_set latency=1ms
    expect_ok run_program cat {}/b.txt
  }
  with_volume files -- body
  done_testing'
it "evict, log, offline, online and set"
expect_ok test "$status" -eq 0 || echo "$said" | sed 's/^/# /'

inner 'with_volume nowhere -- true
  it "says 1"
  expect_ok test $? -eq 1
  with_volume files -- false
  it "says 1, too"
  expect_ok test $? -eq 1
  done_testing'
it "what cannot be mounted says why, and a command's status is handed on"
expect_ok has "nowhere" "ok 1" "ok 2"

inner 'with_volume files -- true
  exit 0'
it "a test that ends early is not green"
expect_ok has "Bail out!"
it "its status is 1"
expect_ok test "$status" -eq 1

it "nothing is left of them"
expect_ok clean

killed='mount_volume files --scenario held.yaml
  start_program cat {}/a.txt
  gate_wait g 1
  kill -s KILL $$'
inner "$killed"
it "nothing is left of a test that is killed"
expect_ok clean

# The one that looks after it is killed, too: the next test cleans up.
inner "kill_keeper() { kill -s KILL \$_dt_keeper; }
  mount_volume files --scenario held.yaml
  kill_keeper
  kill -s KILL \$\$"
it "what is left of a test whose keeper is killed, too, is there"
expect_ok test "$(find "$TMPDIR/dataless-sh-$(id -u)" -mindepth 1 -maxdepth 1 | wc -l)" -eq 1
inner 'with_volume files -- true
  done_testing'
it "until the next one begins"
expect_ok clean

# A mount that was begun goes on when shell and keeper are killed, and makes what it misses in the folder.
if command -v flock >/dev/null 2>&1; then
  cat >"$scratch/slow" <<EOF
#!/bin/sh
[ "\$1" != mount ] || { kill -s KILL \$_dt_keeper \$OWNER; while [ ! -e '$scratch/go' ]; do sleep 0.1; done; }
exec '$DATALESS' "\$@"
EOF
  chmod +x "$scratch/slow"
  inner 'exec >/dev/null 2>&1
    DATALESS=$PWD/slow
    _dt_prepare
    OWNER=$$
    export _dt_keeper OWNER
    mount_volume files'
  inner 'with_volume files -- true
    done_testing'
  it "what a mount is being made in stays when its shell and keeper are killed"
  expect_ok test -d "$TMPDIR/dataless-sh-$(id -u)"/*/v1/mnt
  : >"$scratch/go"
  flock "$TMPDIR/dataless-sh-$(id -u)"/*/mounting true
  inner 'with_volume files -- true
    done_testing'
  it "until it has ended"
  expect_ok clean
fi

# An executable that cannot unmount as long as there is a file `full`, as when the disk of the state is full.
cat >"$scratch/full-disk" <<EOF
#!/bin/sh
[ "\$1" != unmount ] || [ ! -e '$scratch/full' ] || exit 1
exec '$DATALESS' "\$@"
EOF
chmod +x "$scratch/full-disk"
: >"$scratch/full"
inner 'DATALESS=$PWD/full-disk
  mount_volume files --scratch
  kept=$VOLUME
  echo changed >"$kept/new"
  expect_ok unmount_volume
  it "the volume is still known"
  expect_ok test "$VOLUME" = "$kept"
  it "another one is refused"
  expect_ok mount_volume files
  expect --max-files 0
  VOLUME=
  mount_volume files
  it "and what is on it is there"
  expect_ok grep -q changed "$kept/new"
  rm full
  unmount_volume
  done_testing'
it "a volume that cannot be unmounted stays, with all that is on it"
expect_ok has "not ok 1" "ok 2 - the volume is still known" "not ok 3" "unmount_volume first" "not ok 4 - --max-files 0" \
  "could not be unmounted" "ok 5 - and what is on it" "1..5" || echo "$said" | sed 's/^/# /'
it "until it can be"
expect_ok clean

: >"$scratch/full"
inner 'DATALESS=$PWD/full-disk
  sleep() { :; }
  mount_volume files --scratch
  done_testing'
it "a test whose volume cannot be unmounted ends, and says what is left"
expect_ok has "could not be unmounted" "is left in $TMPDIR/dataless-sh-"
rm "$scratch/full"
inner 'with_volume files -- true
  done_testing'
it "which goes with the next one"
expect_ok clean

if unshare --map-root-user --mount --pid --fork --mount-proc true 2>/dev/null; then
  for cleaner in "sh $here/../../Sources/Python/dataless/keeper.sh" "${TEST_SHELL:-sh} $here/clean.sh"; do
    mkdir "$scratch/marks"
    # shellcheck disable=SC2086 # a command with its arguments
    said=$(unshare --map-root-user --mount --pid --fork --mount-proc setsid "$here/marks.sh" "$scratch/marks" $cleaner 2>&1)
    it "$cleaner: marks of programs name nobody else"
    expect_ok test "$said" = "all was tried" || echo "$said" | sed 's/^/# /'
    rm -rf "$scratch/marks"
  done
else
  echo "# marks of programs: there is no pid namespace to try them in"
fi

# Two containers with one user and one TMPDIR: neither cleans up what the other one uses.
cat >"$scratch/neighbour" <<'EOF'
. "$LIBRARY"
$HIDDEN
mount_volume files
: >begun
until [ -e seen ]; do sleep 0.05; done
it "the volume is there"
expect_ok grep -q one "$VOLUME/a.txt"
it "and the mountpoint"
expect_ok _dt_is_there "$_dt_home"
done_testing
EOF
if unshare --mount --pid --fork --mount-proc true 2>/dev/null; then
  # Without flock(1), the pid namespace decides.
  for hidden in '' '_dt_can_lock() { false; }'; do
    rm -f "$scratch/begun" "$scratch/seen"
    sed "s/^\$HIDDEN/$hidden/" "$scratch/neighbour" >"$scratch/neighbour.sh"
    # shellcheck disable=SC2086 # a command with its option
    (cd "$scratch" && LIBRARY=$library exec unshare --mount --pid --fork --mount-proc ${TEST_SHELL:-sh} ./neighbour.sh) \
      >"$scratch/said" 2>&1 &
    until [ -e "$scratch/begun" ]; do sleep 0.05; done
    status=0
    # shellcheck disable=SC2086,SC2016 # a command with its option; the volume of the inner one
    unshare --mount --pid --fork --mount-proc ${TEST_SHELL:-sh} -c ". '$library'
      $hidden
      cd '$scratch'
      with_volume files -- cat {}/b.txt
      expect_files b.txt
      done_testing" >"$scratch/other" 2>&1 || status=$?
    it "a test in another container is green"
    expect_ok test "$status" -eq 0 || sed 's/^/# /' "$scratch/other"
    : >"$scratch/seen"
    status=0
    wait $! || status=$?
    it "and leaves the volume of this one alone"
    expect_ok test "$status" -eq 0 || sed 's/^/# /' "$scratch/said"
    it "nothing is left of both"
    expect_ok clean
  done
else
  echo "# two containers: there are no namespaces to try them in"
fi

it "a folder that was just made is no obstacle"
mkdir -p "$TMPDIR/dataless-sh-$(id -u)/1-1-abcdef"
inner 'with_volume files -- true
  done_testing'
expect_ok clean

# Where logs are kept: a folder that others write to may have anything in it.
ln -s "$scratch/victim" "$scratch/link"
echo precious >"$scratch/victim"
mkdir -m 777 "$scratch/open"
ln -s "$scratch/victim" "$scratch/open/test-1.jsonl"
mkdir "$scratch/own"
mkfifo "$scratch/own/test-1.jsonl"
ln -s "$scratch/victim" "$scratch/own/test-2.jsonl"
mkdir "$scratch/real" && ln -s real "$scratch/linked"
inner 'logs() { DATALESS_LOGS=$1 expect --max-files 0; }
  with_volume files -- cat {}/a.txt
  logs own
  logs own
  echo
  with_volume files -- cat {}/a.txt
  logs new/deep
  done_testing'
it "logs replace what is there, and wait for nothing"
expect_ok has "log: own/test-1.jsonl" "log: own/test-2.jsonl" "log: new/deep/test-3.jsonl"
it "they are logs"
expect_ok grep -q materialization.finished "$scratch/own/test-1.jsonl" "$scratch/own/test-2.jsonl" "$scratch/new/deep/test-3.jsonl"
it "in a folder of this user alone"
expect_ok test "$(find "$scratch/new/deep" -prune -perm 700)"
it "and nothing else is"
expect_ok test "$(find "$scratch/own" "$scratch/new/deep" -mindepth 1 | wc -l)" -eq 3
inner 'with_volume files -- cat {}/a.txt
  DATALESS_LOGS=open expect --max-files 0
  DATALESS_LOGS=linked expect --max-files 0
  DATALESS_LOGS=link expect --max-files 0
  done_testing'
it "a folder that others can write to, or a link, is refused"
expect_ok has "not kept: open is" "not kept: linked is" "not kept: link is" "1..3"
it "what a neighbour has put there is not written to"
expect_ok grep -qx precious "$scratch/victim"
it "nor is a folder behind a link"
expect_ok test -z "$(ls "$scratch/real")"

inner 'set -e
  mount_volume files
  run_program cat {}/a.txt
  unmount_volume
  mount_volume files --scenario held.yaml
  start_program cat {}/a.txt
  gate_wait g 1
  echo both
  kill -s KILL $$'
it "set -e ends no test of which nothing has failed"
expect_ok has both
it "nor what cleans up"
expect_ok clean

rm -rf "$scratch"
done_testing
