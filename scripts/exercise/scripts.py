"""What each program is asked to do. $W is its directory in the place that is tried, $E one elsewhere, $TREE a tree
elsewhere, and $W/../found a tree that was in the place before (on a volume: dataless)."""

import glob

# Some thousand files of all sizes; what a machine does not have is left out.
TREE = ["/usr/include/linux", "/usr/share/doc/git", *glob.glob("/usr/share/perl/5*/unicore")[:1]]


class Script:
    def __init__(self, needs, text, limit=120, by_name=False):
        """`limit`: seconds. `by_name`: not run unless it is named."""
        self.needs, self.text, self.limit, self.by_name = needs.split(), text, limit, by_name


SCRIPTS = {
    "cp": Script("cp diff", """
        cp -a "$TREE" copy; diff -r --no-dereference "$TREE" copy
        cp -a ../found again; diff -r --no-dereference copy again
        cp -a again "$E/out"; diff -r --no-dereference "$TREE" "$E/out"
        [ "$(stat -c %h 'again/two names')" = 2 ]
        cp --sparse=always again/sparse sparse; cmp sparse again/sparse
        rm -rf copy again"""),
    "found": Script("sha256sum find", """
        cd ../found; find . -type f -print0 | sort -z | xargs -0 sha256sum > "$E/sums"
        cd "$TREE"; sha256sum --quiet -c "$E/sums" """),
    "tar": Script("tar", """
        tar -C "$TREE" -cf all.tar .; mkdir out; tar -C out -xpf all.tar; tar -C out --compare -f all.tar
        tar -cf - -C ../found . | tar -C "$TREE" --compare -f -"""),
    "rsync": Script("rsync diff", """
        rsync -aH "$TREE/" copy; rsync -aH --delete copy/ "$E/back"; diff -r --no-dereference "$TREE" "$E/back"
        find copy -type f | sed -n 1,200p | while IFS= read -r file; do echo more >> "$file"; done
        rm -rf copy/linux; echo new > copy/new
        rsync -aHc --delete copy/ "$E/back"; diff -r --no-dereference copy "$E/back"
        rsync -aHc --delete --inplace --no-whole-file "$TREE/" copy; diff -r --no-dereference "$TREE" copy
        [ -z "$(rsync -aHcni --delete "$TREE/" copy)" ]"""),
    "git": Script("git", """
        git init -q repository; cd repository; cp -a "$TREE/." .; rmdir empty; git add -A; git commit -qm first
        for turn in 1 2 3 4 5 6 7 8; do
          find linux -name "*$turn*.h" | sed -n 1,20p | xargs -r sed -i "1i // $turn"
          git mv sparse "sparse$turn" && git mv "sparse$turn" sparse; git commit -qam "turn $turn"
        done
        git checkout -qb other HEAD~4; echo other > other; git add other; git commit -qm other
        git merge -q -m merged master 2>/dev/null || git merge -q -m merged main
        git gc -q --prune=now; git repack -qadf; git fsck --full --strict 2>&1 | (! grep -v '^dangling')
        [ -z "$(git status --porcelain)" ]; git clone -q . ../clone; diff -r -x .git --no-dereference . ../clone
        git clone -q "file://$PWD" "$E/clone"; diff -r -x .git --no-dereference . "$E/clone" """),
    "sqlite": Script("python3", """
        export CRASH_DIR=$PWD CRASH_MARK=$E/marks CRASH_MARKS=$E/marks; touch "$E/marks"
        for turn in 1 2 3 4 5 6 7 8; do
          timeout -s KILL 0.$((turn + 1)) python3 "$HERE/../crash/examples/sqlite.py" work || true
          python3 "$HERE/../crash/examples/sqlite.py" check
        done
        [ "$(wc -l < "$E/marks")" -gt 20 ]"""),
    "files": Script("python3", """
        export CRASH_DIR=$PWD CRASH_MARK=$E/marks CRASH_MARKS=$E/marks CRASH_MEMORY=$E/memory; touch "$E/marks"
        mkdir "$E/memory"
        for turn in 1 2 3 4 5 6 7 8; do
          timeout -s KILL 0.$((turn + 1)) python3 "$HERE/../crash/examples/files.py" work || true
          python3 "$HERE/../crash/examples/files.py" check
        done"""),
    "borg": Script("borg", """
        borg init -e none repository; borg create repository::first "$TREE"; borg create repository::second ../found
        borg check --verify-data repository; mkdir "$E/out"; cd "$E/out"; borg extract "$W/repository::first"
        diff -r --no-dereference "$TREE" ".$TREE"; cd "$W"; borg delete repository::first; borg compact repository
        borg check repository"""),
    "restic": Script("restic", """
        export RESTIC_CACHE_DIR=$E/cache
        restic init -q -r repository; restic backup -q -r repository "$TREE"
        restic backup -q -r repository "$W/../found"; restic check -q --read-data -r repository
        restic restore -q -r repository --target "$E/out" --path "$TREE" latest
        diff -r --no-dereference "$TREE" "$E/out$TREE"; restic forget -q --keep-last 1 --prune -r repository
        restic check -q -r repository""", 180),
    "vim": Script("vim", """
        cp -p "$TREE/linux/fuse.h" f; chmod 640 f
        vim -u NONE -N -es -c 'set backup writebackup' -c '%s/fuse/FUSE/g' -c 'wq' f
        [ "$(stat -c %a f)" = 640 ]; sed 's/fuse/FUSE/g' "$TREE/linux/fuse.h" | cmp - f
        vim -u NONE -N -es -c 'set backupcopy=yes' -c 'normal ggdd' -c 'wq' f; ! ls -A | grep -q swp"""),
    "editors": Script("sed ed patch", """
        cp "$TREE/linux/fuse.h" f; sed -i 's/fuse/FUSE/g' f; sed 's/fuse/FUSE/g' "$TREE/linux/fuse.h" | cmp - f
        printf '1d\\nw\\nq\\n' | ed -s f; diff -u "$TREE/linux/fuse.h" f > p || true; cp "$TREE/linux/fuse.h" g
        patch -s g p; cmp f g; sort -o f f; sort -c f"""),
    "build": Script("cc make", """
        cp "$HERE"/*.c "$HERE"/*.h .
        printf 'content: content.o operations.o files.o model.o\\n' > Makefile
        make -s -j4 CFLAGS='-O2 -std=gnu11' > log 2>&1; make -q content; mkdir here
        ./content run here --ops 3000 --seed 1; touch files.c; ! make -q content
        make -s CFLAGS='-O2 -std=gnu11' >> log"""),
    # Long, so only by name: this package, with its build directory on the volume, built, changed, built again and run.
    "swift": Script("swift git", """
        # Packages that it needs are in the user's cache, perhaps nowhere else.
        export HOME="$(getent passwd "$(id -u)" | cut -d: -f6)"; git clone -q "$HERE/../.." package; cd package
        swift build --product dataless > "$E/log" 2>&1 || { tail -n 20 "$E/log"; exit 1; }
        .build/debug/dataless --version; mkdir "$E/source" "$E/volume"; echo content > "$E/source/file"
        .build/debug/dataless mount "$E/source" "$E/volume" --cache-dir "$E/cache" --log "$E/log.jsonl"
        cat "$E/volume/file"; .build/debug/dataless unmount "$E/volume"
        swift build --product dataless 2>&1 | tail -n 1; [ -z "$(git status --porcelain)" ]""", 3000, by_name=True),
    "dpkg": Script("dpkg-deb apt-get", """
        apt-get -qq download hello 2>/dev/null || dpkg-deb --version > /dev/null
        mkdir -p p/DEBIAN; cp -a "$TREE/linux" p/
        printf '%s\\n' 'Package: t' 'Version: 1' 'Architecture: all' 'Maintainer: t' 'Description: t' > p/DEBIAN/control
        dpkg-deb -Zgzip -b p t.deb > /dev/null; for package in *.deb; do dpkg-deb -x "$package" "x-$package"; done
        diff -r "$TREE/linux" x-t.deb/linux; mkdir -p "root/var/lib/dpkg"; touch root/var/lib/dpkg/status
        mkdir root/var/lib/dpkg/info root/var/lib/dpkg/updates
        [ "$(id -u)" != 0 ] || dpkg --root="$PWD/root" --force-not-root -i t.deb > log 2>&1
        [ "$(id -u)" != 0 ] || diff -r "$TREE/linux" root/linux"""),
    "fio": Script("fio", """
        for engine in psync mmap libaio; do
          fio --name=v --directory="$PWD" --rw=randrw --bsrange=4k-64k --size=24m --verify=crc32c --ioengine=$engine \\
            --iodepth=8 --fsync=64 --output="$E/log" --verify_fatal=1 --runtime=20; rm -f v.*
        done
        fio --name=d --directory="$PWD" --rw=randwrite --bs=4k --size=16m --direct=1 --verify=md5 --ioengine=libaio \\
          --iodepth=8 --output="$E/log" --verify_fatal=1""", 180),
    "stress-ng": Script("stress-ng", """
        status=0; stress-ng --class filesystem --seq 1 --timeout 1 --exclude binderfs --temp-path "$PWD" --verify \\
          --hdd-bytes 16m --iomix-bytes 16m --fallocate-bytes 16m --seek-size 16m --readahead-bytes 16m \\
          --sync-file-bytes 16m --fiemap-bytes 16m --revio-bytes 16m --log-file "$E/log" -q || status=$?
        # 3 and 4: this machine or this file system does not have what a stressor needs.
        case $status in 0 | 3 | 4) ;; *) exit "$status" ;; esac; ! grep -E ': fail:|FAILED' "$E/log" """, 400),
    "remove": Script("find rm", """
        for directory in $(seq 40); do mkdir "d$directory"; (cd "d$directory"; touch $(seq 100)); done
        [ "$(find . -type f | wc -l)" = 4000 ]; find d1 d2 d3 -delete; rm -rf d[4-9]; rm -r d*; [ -z "$(ls -A)" ]"""),
    "move": Script("mv diff", """
        cp -a "$TREE" one; mv one two; mkdir deep; mv two deep/three; mv deep/three "$E/out"
        diff -r --no-dereference "$TREE" "$E/out"; mv "$E/out" back; diff -r --no-dereference "$TREE" back
        mv back/linux/fuse.h .; mv -n fuse.h back/sparse; [ -e fuse.h ]; mv -f fuse.h back/sparse; [ ! -e fuse.h ]"""),
}
