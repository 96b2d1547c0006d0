"""Verdicts on tools that met a file which could not be had."""

from .report import NOTE, RIGHT, WRONG

# What tools say instead of an errno's name.
WORDS = {
    "EDEADLK": ("Resource deadlock", "EDEADLK", "deadlock"), "ETIMEDOUT": ("timed out", "ETIMEDOUT"),
    "EIO": ("Input/output error", "EIO", "input/output error"), "EPERM": ("not permitted", "EPERM"),
    "ESTALE": ("Stale file", "ESTALE", "stale"), "EINTR": ("Interrupted", "EINTR", "interrupted"),
    "ENOSPC": ("No space left", "ENOSPC", "no space left"),
}


def copy_with_victims(outcome, damage, victims):
    """(verdict, text) on a copy during which the victims could not be read and everything else could.

    Right is: an exit status that says so, the victims named, all others byte-exact, nothing in the victims' place.
    """
    others = [name for name in damage.missing + damage.wrong if name not in victims]
    names = {name.rsplit("/", 1)[-1] for name in victims}
    named = any(name in outcome.text for name in names)
    stand_ins = {name: damage.stand_in(name) for name in victims if damage.stand_in(name)}
    absent = [name for name in victims if name in damage.missing]
    what = []
    if stand_ins:
        what.append(f"leaves {next(iter(stand_ins.values()))} in its place")
    if others:
        what.append(f"{len(others)} other files are lost with it")
    if not named and (absent or stand_ins):
        what.append("does not name it")
    ending = outcome.how()
    if outcome.timed_out:
        return WRONG, "; ".join([ending, *what])
    if outcome.signal:
        return WRONG, "; ".join([f"dies of {outcome.signal}", *what])
    if not absent and not stand_ins and not others:
        return RIGHT, f"{ending}, all byte-exact"
    if outcome.returncode == 0:
        lost = "" if what else "the file is missing without a word" if not named else "the file is missing"
        return WRONG, "; ".join(part for part in [f"{ending} all the same", lost, *what] if part)
    if others and (stand_ins or not named):
        return WRONG, "; ".join([ending, *what])
    if others:
        return NOTE, f"{ending}, names it, and stops: {len(others)} other files are not there"
    if what:
        return NOTE, "; ".join([ending, *what])
    return RIGHT, f"{ending}, names it, all others byte-exact"


def times(count, what):
    """A number and its noun."""
    if count == 1:
        return f"1 {what}"
    return f"{count:,} {what[:-1] + 'ies' if what.endswith('y') else what + 's'}"
