#!/bin/sh
# Ends the volumes of a test process that has died, and removes what it left.
#
#   keeper.sh FOLDER EXECUTABLE    reads standard input to its end, which comes when the test process ends, however, and
#                                  the mounts that it had begun
#
# FOLDER has a folder v* for each volume: mnt is its mountpoint, programs/* are named by the process groups of programs
# that the test had started. In such a mark is the boot, the pid namespace, and when the group's first process has started
# (clock ticks since boot): numbers begin anew, for instance when a container is started again, and are somebody else's
# then. No path at or below a mountpoint is looked at: a volume that holds its callers would hold
# us, too. rmdir(2) of a directory that is mounted on fails without asking the volume, and after it has succeeded a
# mount that is just being made fails, so there is no moment in which a volume could slip through.
trap '' HUP INT TERM QUIT PIPE
folder=$1
executable=$2
# Whether the mountpoint is there: by the names in the folder around it.
# shellcheck disable=SC2010 # a glob would look at what it finds
is_there() { ls "$1" 2>/dev/null | grep -qx mnt; }

# ours VOLUME GROUP: whether the process group is the one that the mark means.
ours() {
  case $2 in *[!0-9]* | 0* | 1) return 1 ;; esac
  read -r marked <"$1/programs/$2" || return 1
  place=$(cat /proc/sys/kernel/random/boot_id) && place="$place $(readlink /proc/self/ns/pid)" || return 1
  case $marked in "$place "*) ;; *) return 1 ;; esac
  # comm may have spaces, brackets and line ends. Fields 3 and 22 are state and start.
  if stat=$(cat "/proc/$2/stat"); then
    # shellcheck disable=SC2086 # the words are wanted
    set -- ${stat##*) }
    [ "$marked" = "$place ${20}" ]
    return
  fi
  # Its first process is gone. What that has started has the mountpoint in its environment.
  within=${1%/*}
  # shellcheck disable=SC2013 # these are words
  for entry in $(grep -lsE "\\) [A-Z] [0-9]+ $2 " /proc/[0-9]*/stat); do
    timeout -s KILL 2 cat "${entry%/stat}/environ" | tr '\0' '\n' |
      grep -q "^DATALESS_MOUNT=.*/${within##*/}/${1##*/}/mnt\$" && return
  done
  return 1
}

cat >/dev/null 2>&1
cd / || exit 1

rounds=0
while [ "$rounds" -lt 300 ]; do
  left=no
  for volume in "$folder"/v*; do
    [ -d "$volume" ] || continue
    for mark in "$volume"/programs/*; do
      [ -f "$mark" ] || continue
      ours "$volume" "${mark##*/}" 2>/dev/null && kill -s KILL -- "-${mark##*/}" 2>/dev/null
      rm -f "$mark"
    done
    rmdir "$volume/mnt" 2>/dev/null
    if is_there "$volume"; then
      "$executable" unmount "$volume/mnt" >/dev/null 2>&1
      rmdir "$volume/mnt" 2>/dev/null
    fi
    if is_there "$volume"; then left=yes; else rm -rf "$volume"; fi
  done
  # A mount that was killed may still write into the folder, until its daemon has noticed.
  [ "$left" = yes ] || rm -rf "$folder"
  [ -e "$folder" ] || break
  rounds=$((rounds + 1))
  sleep 0.1
done
