#!/bin/sh
# clean.sh FOLDER: what the shell test library does with the folder of a test that has died.
# shellcheck source=../../Sources/Shell/dataless-testlib.sh
. "$(dirname "$0")/../../Sources/Shell/dataless-testlib.sh"
_dt_clean "$1"
