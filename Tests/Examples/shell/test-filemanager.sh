#!/bin/sh
# A file manager shows photos: it may read them, and nothing else, and its window must not wait for any.
here=$(cd "$(dirname "$0")" && pwd)
example=$here/../filemanager
manager=${FILE_MANAGER:-$example/mended.py}
# shellcheck source=Sources/Shell/dataless-testlib.sh
. "$here/../../../Sources/Shell/dataless-testlib.sh"

with_volume "$example/fixtures" --scenario "$example/expected.yaml" -- "$manager" {}
it "reads photos alone"
expect_files photos/a.jpg photos/b.jpg
it "does not wait for them in its main thread"
expect --expect "$example/expected.yaml"

nobody_in_the_main_thread() { ! volume_stacks | grep 'main thread'; }
on_their_way() {
  start_program "$manager" {}
  it "wants a photo"
  expect_blocked photos 1
  it "shows names while photos are on their way"
  expect_ok nobody_in_the_main_thread
  gate_release photos
}
with_volume "$example/fixtures" --scenario "$example/held.yaml" -- on_their_way

without_network() {
  run_program find {} # somebody has been here before: the names are known
  volume_offline
  run_program "$manager" {}
  it "shows names without a network"
  expect_ok test "$(program_output | cut -d' ' -f1 | grep -c '^[abn][.o]')" -eq 3
}
with_volume "$example/fixtures" -- without_network

done_testing
