#!/bin/sh
# Whom marks of programs name: nobody else, when numbers begin anew after a restart. Run by test-testlib.sh as process 1
# of a pid namespace, because -1 is everybody. Prints what is wrong, and then that all was tried.
#
#   marks.sh DIRECTORY CLEANER...     the command that ends what is in a folder, which is its last argument
cd "$1" || exit 1
shift
folder=$PWD/of-a-test
here="$(cat /proc/sys/kernel/random/boot_id) $(readlink /proc/self/ns/pid)"
started() { sed 's/.*) //' "/proc/$1/stat" | cut -d ' ' -f 20; }
lives() { [ -d "/proc/$1" ] && [ "$(sed 's/.*) //; s/ .*//' "/proc/$1/stat")" != Z ]; }
ends() {
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    lives "$1" || return 0
    sleep 0.1
  done
  echo "$2 lives"
}
# begin CODE: in a group of its own, with a child, whose number is in left.
begin() {
  rm -f left
  DATALESS_MOUNT=$mount setsid sh -c "sleep 1000 & echo \$! >new; mv new left; $1" &
  begun=$!
  until [ -s left ]; do sleep 0.02; done
}
# clean NAME TEXT COMMAND...: with such a mark.
clean() {
  mkdir -p "$folder/v1/programs"
  printf '%s\n' "$2" >"$folder/v1/programs/$1"
  shift 2
  "$@" "$folder" </dev/null
  [ ! -d "$folder" ] || echo "$folder is left"
}

mount=/elsewhere
begin 'wait'
other=$begun
start=$(started "$other")
# A name with blanks and brackets, which /proc/PID/stat has as it is.
cp "$(command -v sleep)" "./a) S 1 (b"
setsid "./a) S 1 (b" 1000 &
odd=$!
sleep 0.2
for mark in "$other:" "$other:another-boot ${here#* } $start" "$other:${here% *} pid:[1] $start" "$other:$here $((start - 1))" \
  "$other:$here" "$odd:$here 1" "1:$here $(started 1)" "1:" "0:$here 0" "0:" "0$other:$here $start" "-$other:$here $start" "x:$here 1"; do
  clean "${mark%%:*}" "${mark#*:}" "$@"
  lives "$other" && lives "$odd" || echo "killed by $mark"
done
clean "$odd" "$here $(started "$odd")" "$@"
ends "$odd" "one with an odd name"
clean "$other" "$here $start" "$@"
ends "$other" "the one that is marked"
ends "$(cat left)" "what it has started"

# A leader that has ended says nothing; its group has the volume in its environment.
begin ''
wait "$begun"
clean "$begun" "$here 1" "$@"
lives "$(cat left)" || echo "killed what another one had started that has ended"
kill -s KILL "$(cat left)"
mount=$folder/v1/mnt
begin ''
wait "$begun"
clean "$begun" "$here 1" "$@"
ends "$(cat left)" "what an ended leader has started"
echo "all was tried"
