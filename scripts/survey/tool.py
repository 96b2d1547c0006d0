"""What is known of a tool: which package has it, and what is tried. $T is the tree, $O an empty directory to write to,
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
    differs: str = ""       # why it reads less on a volume than on a bare tree, or ends otherwise, where it does

    @property
    def program(self):
        return self.needs or self.name.split(" ")[0]


def each(name, package, command, part="", files="", **more):
    """A tool that takes files: one of them, and all that are named so (find's conditions; default: all)."""
    return Tool(name, package, part=command.replace("@", part or '"$T/docs/guide.txt"'),
                whole=f'find "$T" -type f {files} -exec {command.replace("@", "{}")} +', **more)


def one_by_one(name, package, command, part, files, **more):
    """A tool that takes one file; xargs ends with status 123 if the tool failed with any of them."""
    return Tool(name, package, part=command.replace("@", part),
                whole=f'find "$T" -type f {files} -print0 | xargs -0 -I{{}} {command.replace("@", "{}")}', **more)
