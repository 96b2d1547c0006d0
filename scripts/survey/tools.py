"""The tools as data: which package has them, and what is tried. $T is the tree, $O an empty directory to write to,
$R one to restore into. A command is a line of sh.

walk      looks at names and metadata only, as far as the tool can be told to
part      uses a part of the tree
whole     uses all that the tool is made for
restore   brings back into $R what `whole` saved, so that it can be compared with the tree
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Tool:
    name: str
    package: str
    needs: str = ""         # the program that must be there; default: the first word of the name
    walk: str = ""
    part: str = ""
    whole: str = ""
    restore: str = ""
    limit: int = 30         # seconds
    differs: str = ""       # why it reads less on a volume than on a bare tree, where it does

    @property
    def program(self):
        return self.needs or self.name.split(" ")[0]


def each(name, package, command, part="", files="", **more):
    """A tool that takes files: one of them, and all that are named so (find's conditions; default: all)."""
    return Tool(name, package, part=command.replace("@", part or '"$T/docs/guide.txt"'),
                whole=f'find "$T" -type f {files} -exec {command.replace("@", "{}")} +', **more)


def one_by_one(name, package, command, part, files, **more):
    return Tool(name, package, part=command.replace("@", part),
                whole=f'find "$T" -type f {files} -exec {command.replace("@", "{}")} \\;', **more)


VIDEO = "\\( -name '*.mp4' -o -name '*.mkv' -o -name '*.wav' \\)"
PICTURES = "\\( -name '*.jpg' -o -name '*.png' \\)"
C, PYTHON, SHELL = "-path '*/src/c/*.[ch]'", "-name '*.py'", "-name '*.sh'"
ZEROS = "it takes a file of 0 blocks for nothing but a hole, and does not read it"

WALKERS = (
    Tool("ls", "coreutils", walk='ls -lR "$T"', part='ls -l "$T/docs"'),
    Tool("find", "findutils", walk='find "$T" -ls', part='find "$T/docs" -size +4k', whole='find "$T" -type f -size +1k -newermt 2000-01-01'),
    Tool("du", "coreutils", walk='du -a "$T"', part='du -sh --apparent-size "$T/docs"'),
    Tool("stat", "coreutils", walk='find "$T" -exec stat {} +', part='stat "$T/docs/guide.txt"'),
    Tool("tree", "tree", walk='tree -s "$T"', part='tree "$T/docs"'),
    Tool("fd", "fd-find", needs="fdfind", walk='fdfind . "$T"', part='fdfind -e bin . "$T/docs"', whole='fdfind -HI -x stat -c %s . "$T"'),
    Tool("exa", "exa", walk='exa -lR "$T"', part='exa -l --git "$T/repo"'),
    Tool("ncdu", "ncdu", walk='ncdu -0 -o "$O/list" "$T"', part='ncdu -0 -o "$O/list" "$T/docs"'),
    Tool("updatedb", "plocate", needs="updatedb.plocate", walk='updatedb.plocate -l no --prunefs "" --prunepaths "" -U "$T" -o "$O/db"'),
    Tool("getfattr", "attr", walk='getfattr -R -d -m - "$T"', part='getfattr -d "$T/docs/guide.txt"'),
    Tool("getfacl", "acl", walk='getfacl -R "$T"', part='getfacl "$T/docs"'),
    Tool("lsattr", "e2fsprogs", walk='lsattr -R "$T"', part='lsattr "$T/docs"'),
    Tool("filefrag", "e2fsprogs", walk='find "$T" -type f -exec filefrag {} +', part='filefrag "$T/docs/large.bin"'),
    Tool("bash", "bash", walk="bash -O globstar -c 'printf \"%s\\n\" \"$T\"/**'", part="bash -c 'while read -r line; do :; done < \"$T/docs/guide.txt\"'",
         whole="bash -O globstar -c 'for f in \"$T\"/**; do [ -f \"$f\" ] && head -c 16 < \"$f\"; done'"),
    Tool("inotifywait", "inotify-tools", walk='inotifywait -q -r -t 1 "$T"; [ $? = 2 ]', part='inotifywait -q -t 1 "$T/docs"; [ $? = 2 ]'),
)

READERS = (
    each("cat", "coreutils", "cat @"),
    each("head", "coreutils", "head -c 100 @"),
    each("tail", "coreutils", "tail -n 1 @"),
    each("wc", "coreutils", "wc @", walk='find "$T" -type f -exec wc -c {} +'),
    one_by_one("dd", "coreutils", "dd if=@ of=/dev/null bs=64k status=none", '"$T/docs/large.bin"', "-name '*.bin'"),
    each("sha256sum", "coreutils", "sha256sum @"),
    each("md5sum", "coreutils", "md5sum @"),
    each("b3sum", "b3sum", "b3sum @"),
    each("cksum", "coreutils", "cksum @"),
    each("cksfv", "cksfv", "cksfv @"),
    Tool("hashdeep", "hashdeep", part='hashdeep -r "$T/docs"', whole='hashdeep -r "$T"'),
    each("openssl", "openssl", "openssl dgst @"),
    each("gpg", "gpg", "gpg --batch --print-md SHA256 @"),
    each("sort", "coreutils", "sort -o /dev/null @"),
    each("sed", "sed", "sed -n s/needle/x/p @"),
    each("awk", "mawk", "awk 'END{print NR}' @"),
    each("strings", "binutils", "strings -n 8 @"),
    one_by_one("od", "bsdextrautils", "od -N 64 @", '"$T/docs/guide.txt"', ""),
    one_by_one("xxd", "xxd", "xxd -l 64 @", '"$T/docs/guide.txt"', ""),
    one_by_one("hexyl", "hexyl", "hexyl -n 64 @", '"$T/docs/guide.txt"', "-name '*.dat'"),
    each("bat", "bat", "batcat --paging=never --style=plain @", needs="batcat"),
    each("pv", "pv", "pv -q @"),
    each("file", "file", "file @"),
    Tool("diff", "diffutils", part='diff -q "$T/docs/same/a.bin" "$T/docs/same/b.bin"', whole='diff -rq "$T/docs/same" "$T/docs/pages"; diff -q "$T/docs/guide.txt" "$T/README"'),
    Tool("cmp", "diffutils", part='cmp "$T/docs/same/a.bin" "$T/docs/half.bin"', whole='cmp "$T/docs/same/a.bin" "$T/docs/same/d.bin"'),
    Tool("vim", "vim", part='vim -u NONE -i NONE -n -R -es -c q "$T/docs/guide.txt"', whole='find "$T/src" -type f -exec vim -u NONE -i NONE -n -R -es -c "bufdo 1" -c qa {} +'),
)

SEARCHERS = (
    Tool("grep", "grep", part='grep -rl needle "$T/src"', whole='grep -rl needle "$T"'),
    Tool("rg", "ripgrep", walk='rg --files "$T"', part='rg -l needle "$T/src"', whole='rg -l needle "$T"'),
    Tool("ag", "silversearcher-ag", walk='ag -g . "$T"', part='ag -l needle "$T/src"', whole='ag -l needle "$T"'),
    Tool("ack", "ack", walk='ack -f "$T"', part='ack -l needle "$T/src"', whole='ack -l needle "$T"'),
    Tool("ugrep", "ugrep", part='ugrep -rl needle "$T/src"', whole='ugrep -rl needle "$T"'),
    Tool("zgrep", "gzip", part='zgrep -l water "$T/archives/log.gz"', whole='zgrep -l water "$T"/archives/* "$T"/docs/*.*'),
    Tool("jdupes", "jdupes", part='jdupes -r "$T/docs/same"', whole='jdupes -r "$T"'),
    Tool("fdupes", "fdupes", part='fdupes -r "$T/docs/same"', whole='fdupes -r "$T"'),
    Tool("rdfind", "rdfind", part='rdfind -dryrun true -makeresultsfile false "$T/docs/same"', whole='rdfind -dryrun true -makeresultsfile false "$T"'),
    Tool("rmlint", "rmlint", part='cd "$O" && rmlint -o summary "$T/docs/same"', whole='cd "$O" && rmlint -o summary "$T"'),
    Tool("duff", "duff", part='duff -r "$T/docs/same"', whole='duff -r "$T"'),
    Tool("hardlink", "util-linux", part='hardlink -n "$T/docs/same"', whole='hardlink -n "$T"'),
    Tool("clamscan", "clamav", part='echo needle:0:*:6e6565646c65 > "$O/own.ndb"; clamscan -d "$O/own.ndb" "$T/docs/guide.txt"', whole='echo needle:0:*:6e6565646c65 > "$O/own.ndb"; clamscan -ri -d "$O/own.ndb" "$T"', limit=90),
)

COPIERS = (
    Tool("cp", "coreutils", part='cp -a "$T/docs" "$O/"', whole='cp -a "$T" "$O/copy"', restore='cp -a "$O/copy/." "$R"'),
    Tool("mv", "coreutils", part='mv "$T/docs/guide.txt" "$O/"', whole='mv "$T"/docs "$O/"'),
    Tool("tar", "tar", walk='tar -cf /dev/null -C "$T" .', part='tar -cf "$O/a.tar" -C "$T" docs', whole='tar -cf "$O/a.tar" -C "$T" .', restore='tar -xf "$O/a.tar" -C "$R"'),
    Tool("tar -S", "tar", part='tar -cSf "$O/a.tar" -C "$T" docs', whole='tar -cSf "$O/a.tar" -C "$T" .', restore='tar -xf "$O/a.tar" -C "$R"', differs=ZEROS),
    Tool("bsdtar", "libarchive-tools", part='bsdtar -cf "$O/a.tar" -C "$T" docs', whole='bsdtar -cf "$O/a.tar" -C "$T" .', restore='bsdtar -xf "$O/a.tar" -C "$R"'),
    Tool("cpio", "cpio", part='cd "$T" && find docs | cpio -o > "$O/a.cpio"', whole='cd "$T" && find . | cpio -o > "$O/a.cpio"', restore='cd "$R" && cpio -idm < "$O/a.cpio"'),
    Tool("zip", "zip", part='cd "$T" && zip -qr "$O/a.zip" docs', whole='cd "$T" && zip -qry "$O/a.zip" .', restore='unzip -q "$O/a.zip" -d "$R"'),
    Tool("7z", "7zip", needs="7zz", part='7zz a -bd "$O/a.7z" "$T/docs"', whole='7zz a -bd "$O/a.7z" "$T/."', restore='7zz x -bd -o"$R" "$O/a.7z"'),
    Tool("dar", "dar", part='dar -Q -c "$O/a" -R "$T" -g docs', whole='dar -Q -c "$O/a" -R "$T"', restore='dar -Q -x "$O/a" -R "$R"'),
    Tool("zpaq", "zpaq", part='zpaq add "$O/a.zpaq" "$T/docs" -method 1', whole='cd "$T" && zpaq add "$O/a.zpaq" . -method 1', restore='cd "$R" && zpaq extract "$O/a.zpaq"'),
    Tool("mksquashfs", "squashfs-tools", part='mksquashfs "$T/docs" "$O/a.sq" -no-progress', whole='mksquashfs "$T" "$O/a.sq" -no-progress', restore='unsquashfs -n -f -d "$R" "$O/a.sq"'),
    Tool("genisoimage", "genisoimage", part='genisoimage -quiet -R -o "$O/a.iso" "$T/docs"', whole='genisoimage -quiet -R -o "$O/a.iso" "$T"', restore='bsdtar -xf "$O/a.iso" -C "$R"'),
    Tool("xorriso", "xorriso", part='xorriso -as mkisofs -quiet -o "$O/a.iso" "$T/docs"', whole='xorriso -as mkisofs -quiet -R -o "$O/a.iso" "$T"', restore='bsdtar -xf "$O/a.iso" -C "$R"'),
    Tool("gzip", "gzip", part='gzip -c "$T/docs/guide.txt" > "$O/a.gz"', whole='gzip -rc "$T" > "$O/a.gz"'),
    each("xz", "xz-utils", "xz -0 -k -c @"), each("zstd", "zstd", "zstd -q -c @"), each("bzip2", "bzip2", "bzip2 -c @"),
    Tool("par2", "par2", part='par2 create -q -q -n1 -r5 -B "$T" "$O/a.par2" "$T/docs/guide.txt"', whole='par2 create -q -q -n1 -r5 -R -B "$T" "$O/a.par2" "$T/docs"'),
)

BACKUPS = (
    Tool("rsync", "rsync", walk='rsync -an "$T/" "$O/copy"', part='rsync -a "$T/docs" "$O/"', whole='rsync -a "$T/" "$O/copy"', restore='cp -a "$O/copy/." "$R"'),
    Tool("rsync -c", "rsync", part='rsync -anc "$T/docs" "$O/"', whole='rsync -anc "$T/" "$O/copy"; cp -a "$T/." "$O/copy"; rsync -anc "$T/" "$O/copy"'),
    Tool("rclone", "rclone", walk='rclone size "$T"', part='rclone copy "$T/docs" "$O/docs"', whole='rclone sync --links "$T" "$O/copy"', restore='cp -a "$O/copy/." "$R"', limit=60),
    Tool("borg", "borgbackup", part='borg init -e none "$O/b" && borg create "$O/b::a" "$T/docs"', whole='borg init -e none "$O/b" && cd "$T" && borg create "$O/b::a" .', restore='cd "$R" && borg extract "$O/b::a"', limit=60),
    Tool("restic", "restic", walk='restic -q init -r "$O/b" && restic -q -r "$O/b" backup --dry-run "$T/deep"', part='restic -q init -r "$O/b" && restic -q -r "$O/b" backup "$T/docs"', whole='restic -q init -r "$O/b" && cd "$T" && restic -q -r "$O/b" backup .', restore='restic -q -r "$O/b" restore latest -t "$R"', limit=60),
    Tool("duplicity", "duplicity", walk='duplicity full --dry-run --no-encryption "$T" "file://$O/b"', part='duplicity full --no-encryption "$T/docs" "file://$O/b"', whole='duplicity full --no-encryption "$T" "file://$O/b"', restore='duplicity restore --no-encryption "file://$O/b" "$R/all" && mv "$R"/all/* "$R"/', limit=90),
    Tool("bup", "bup", walk='bup -d "$O/b" init && bup -d "$O/b" index "$T"', part='bup -d "$O/b" init && bup -d "$O/b" index "$T/docs" && bup -d "$O/b" save -n a --strip "$T/docs"', whole='bup -d "$O/b" init && bup -d "$O/b" index "$T" && bup -d "$O/b" save -n a --strip "$T"', restore='bup -d "$O/b" restore -C "$R" /a/latest/.', limit=60),
    Tool("rdiff-backup", "rdiff-backup", part='rdiff-backup "$T/docs" "$O/b"', whole='rdiff-backup "$T" "$O/b"', restore='cp -a "$O/b/." "$R" && rm -rf "$R/rdiff-backup-data"', limit=60),
    Tool("unison", "unison", part='unison -batch -ui text "$T/docs" "$O/b"', whole='unison -batch -ui text "$T" "$O/b"', restore='cp -a "$O/b/." "$R"', limit=60),
)

ARCHIVES = (
    one_by_one("tar -t", "tar", "tar -tf @", '"$T/archives/files.tar"', "-name '*.tar*'"),
    one_by_one("unzip -l", "unzip", "unzip -l @", '"$T/archives/files.zip"', "-name '*.zip'"),
    one_by_one("unzip -p", "unzip", "unzip -p @", '"$T/archives/files.zip" member0.txt', "-name '*.zip'"),
    one_by_one("7z l", "7zip", "7zz l -bd @", '"$T/archives/files.zip"', "-path '*/archives/*'", needs="7zz"),
    Tool("sqlite3", "sqlite3", walk='sqlite3 "file:$T/data/app.sqlite?mode=ro" .tables', part='sqlite3 "file:$T/data/app.sqlite?mode=ro" "select name from item where id = 7"', whole='sqlite3 "file:$T/data/app.sqlite?mode=ro" "select count(*) from item where name like \'%9\'"'),
)

SOURCES = (
    Tool("git status", "git", part='git -C "$T/repo" status --short module01.txt', whole='git -C "$T/repo" status --short'),
    Tool("git diff", "git", part='git -C "$T/repo" diff -- module01.txt', whole='git -C "$T/repo" diff HEAD'),
    Tool("git grep", "git", part='git -C "$T/repo" grep -c water module01.txt', whole='git -C "$T/repo" grep -c water'),
    Tool("git log", "git", walk='git -C "$T/repo" log --oneline', part='git -C "$T/repo" log -p module01.txt', whole='git -C "$T/repo" fsck'),
    Tool("git clone", "git", part='git clone -q "$T/repo" "$O/r"', whole='git clone -q --no-local "$T/repo" "$O/r"'),
    Tool("make", "make", walk='make -n -C "$T/src/c" OUT="$O"', part='make -q -C "$T/src/c" OUT="$O"; [ $? = 1 ]', whole='make -C "$T/src/c" OUT="$O"'),
    Tool("cmake", "cmake", part='cmake -S "$T/src/c" -B "$O"', whole='cmake -S "$T/src/c" -B "$O" && cmake --build "$O"', limit=60),
    Tool("gcc", "gcc", part='gcc -fsyntax-only "$T/src/c/util.c"', whole='gcc -c -I "$T/src/c" -o "$O/u.o" "$T/src/c/util.c" && gcc -M "$T"/src/c/*.c'),
    Tool("clang", "clang", part='clang -fsyntax-only "$T/src/c/util.c"', whole='clang -fsyntax-only "$T"/src/c/*.c'),
    Tool("ctags", "universal-ctags", needs="ctags-universal", part='ctags-universal -R -f "$O/tags" "$T/src/c"', whole='ctags-universal -R -f "$O/tags" "$T"'),
    Tool("cscope", "cscope", part='cscope -b -f "$O/c.out" "$T/src/c/util.c"', whole='cscope -b -R -s "$T" -f "$O/c.out"'),
    Tool("cloc", "cloc", part='cloc --quiet "$T/src/c"', whole='cloc --quiet "$T"', limit=60),
    Tool("shellcheck", "shellcheck", part='shellcheck "$T/src/sh/deploy.sh"', whole='shellcheck "$T"/src/sh/*'),
    Tool("python3", "python3", walk='python3 -c "import os,sys; print(sum(len(f) for _, _, f in os.walk(sys.argv[1])))" "$T"', part='python3 "$T/src/python/walk.py"', whole='python3 -c "import pathlib,sys; print(sum(len(p.read_bytes()) for p in sorted(pathlib.Path(sys.argv[1]).rglob(\'*\')) if p.is_file()))" "$T"'),
    Tool("python3 -m compileall", "python3", needs="python3", part='PYTHONPYCACHEPREFIX="$O" python3 -m compileall -q "$T/src/python/walk.py"', whole='PYTHONPYCACHEPREFIX="$O" python3 -m compileall -q "$T"'),
    Tool("node", "nodejs", walk='node -e "console.log(fs.readdirSync(process.argv[1],{recursive:true}).length)" "$T"', part='cd "$T/src/js" && node server.js', whole='node -e "fs.cpSync(process.argv[1],process.argv[2],{recursive:true,verbatimSymlinks:true})" "$T" "$O/copy"', restore='cp -a "$O/copy/." "$R"'),
    Tool("perl", "perl", walk='perl -MFile::Find -e "find(sub{print},shift)" "$T"', part='perl -ne "print if /needle/" "$T/docs/guide.txt"', whole='find "$T" -type f -exec perl -0777 -ne "print length" {} +'),
    Tool("ruby", "ruby", walk='ruby -e "puts Dir.glob(ARGV[0]+%q(/**/*)).size" "$T"', part='ruby -e "puts File.read(ARGV[0]).size" "$T/docs/guide.txt"', whole='ruby -e "Dir.glob(ARGV[0]+%q(/**/*)).sort.each{|f| puts File.binread(f).size if File.file?(f)}" "$T"'),
    Tool("php", "php-cli", part="php -r 'echo strlen(file_get_contents($argv[1]));' \"$T/docs/guide.txt\"", whole="php -r 'foreach(new RecursiveIteratorIterator(new RecursiveDirectoryIterator($argv[1],4096)) as $f) if(is_file($f)) echo md5_file($f),\"\\n\";' \"$T\""),
    one_by_one("jq", "jq", "jq .name @", '"$T/data/config.json"', "-name '*.json'"),
    one_by_one("xmllint", "libxml2-utils", "xmllint --noout @", '"$T/data/table.xml"', "-name '*.xml'"),
)

MEDIA = (
    one_by_one("ffprobe", "ffmpeg", "ffprobe -v error -show_format @", '"$T/media/front.mp4"', VIDEO),
    one_by_one("ffmpeg", "ffmpeg", 'ffmpeg -v error -nostdin -y -i @ -f null -', '"$T/media/front.mp4"', VIDEO),
    one_by_one("ffmpeg thumbnail", "ffmpeg", 'ffmpeg -v error -nostdin -y -i @ -frames:v 1 -f null -', '"$T/media/back.mp4"', VIDEO.replace("wav", "avi")),
    one_by_one("mediainfo", "mediainfo", "mediainfo @", '"$T/media/front.mp4"', VIDEO),
    Tool("exiftool", "libimage-exiftool-perl", part='exiftool -q "$T/media/photo.jpg"', whole='exiftool -q -r "$T"'),
    each("exiv2", "exiv2", "exiv2 -q pr @", '"$T/media/photo.jpg"', PICTURES),
    each("identify", "imagemagick", "identify -ping @", '"$T/media/photo.jpg"', PICTURES),
    one_by_one("convert", "imagemagick", "convert @ -resize 16x16 null:", '"$T/media/photo.jpg"', PICTURES),
    one_by_one("mkvinfo", "mkvtoolnix", "mkvinfo @", '"$T/media/clip.mkv"', "-name '*.mkv'"),
    each("soxi", "sox", "soxi @", '"$T/media/tone.wav"', "-name '*.wav'"),
    each("jpeginfo", "jpeginfo", "jpeginfo -c @", '"$T/media/photo.jpg"', "-name '*.jpg'"),
    one_by_one("pdfinfo", "poppler-utils", "pdfinfo @", '"$T/data/report.pdf"', "-name '*.pdf'"),
    one_by_one("pdftotext", "poppler-utils", "pdftotext @ -", '"$T/data/report.pdf"', "-name '*.pdf'"),
    Tool("gio", "libglib2.0-bin", walk='gio tree -h "$T"', part='gio info "$T/docs/guide.txt"', whole='find "$T" -type f -exec gio info {} +'),
)

TOOLS = {tool.name: tool for group in (WALKERS, READERS, SEARCHERS, COPIERS, BACKUPS, ARCHIVES, SOURCES, MEDIA)
         for tool in group}
