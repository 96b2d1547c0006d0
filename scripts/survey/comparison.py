"""What the survey says beside what strace says, and what explains a difference."""

import names


def compare(case, reads, looked, contents, reason):
    """Two lists of lines: differences that are explained, and those that are not.

    `reads`: relative paths by `read`, `mapped`, `listed`; `looked`: directories in which names were looked up.
    """
    explained, open_ones = [], []
    files = names.unpack(case["file_names"], contents.files)
    folders = names.unpack(case["directory_names"], contents.directories)
    read = {contents.one_name(path) for path in reads["read"]} & contents.files
    mapped = {contents.one_name(path) for path in reads["mapped"]} & contents.files

    def say(paths, text, why):
        if paths:
            line = f"{text}: {', '.join(sorted(paths)[:4])}{f' and {len(paths) - 4} more' if len(paths) > 4 else ''}"
            (explained if why else open_ones).append(line + (f" ({why})" if why else ""))

    say(files - read - mapped, "materialized, but not read on the bare tree", None)
    say(read - files, "read on the bare tree, but not materialized", reason)
    say(mapped - read - files, "mapped, but not materialized", "a mapping is no read until it is touched")
    say(folders - reads["listed"] - looked, "listed by the volume, but not looked into on the bare tree", None)
    say((reads["listed"] | looked) & contents.directories - folders, "looked into on the bare tree, but not listed",
        None)
    return explained, open_ones
