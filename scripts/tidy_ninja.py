#!/usr/bin/env python3
"""Writes build/tidy/lint.ninja from build/tidy/compile_commands.json: clang-tidy runs over every source but tests.

Tests are more than half of the sources; for them the compilers' warnings do. Sources that are compiled once more with
planted bugs are checked without them.

Most of a run goes into the headers that a source includes, so the sources of a folder with the same flags are checked
together, as one file that includes them: a name in an unnamed namespace is used once in a folder. One of them may have
a main; another that has one stands alone. The longest run begins first.

clang-tidy compiles what it checks, so the flags of the tidy preset (-Wthread-safety -Werror) apply to it as to
a compiler. Nothing is compiled twice, and ninja runs it again only where a source, a header it includes, or .clang-tidy
changed.
"""

import collections
import json
import pathlib
import re
import shlex

BUILD = pathlib.Path("build/tidy")

RULE = """\
builddir = build/tidy
rule tidy
  command = clang-tidy-19 --quiet $in -- $flags 2>$out.err && $
      clang++-19 $flags -MM -MF $out.d -MT $out $in && touch $out
  depfile = $out.d
  deps = gcc
  description = tidy $in
"""


def is_checked(path):
    return path.suffix == ".cc" and not path.name.endswith("_test.cc") and "fuzz" not in path.parts


def flags_of(command):
    words = shlex.split(command)
    del words[words.index("-o"):]  # the command ends with -o <object> -c <source>
    return tuple(words[1:])


def has_main(path):
    return re.search(r"^int main\(", path.read_text(), re.MULTILINE) is not None


def write_batch(number, folder, sources):
    """A file that includes the sources; itself, if it is one only."""
    if len(sources) == 1:
        return sources[0]
    path = BUILD / "batches" / folder / f"{number}.cc"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f'#include "{source.resolve()}"\n' for source in sources)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
    return path


def main():
    root = pathlib.Path.cwd()
    flags = {}  # of a source that two targets have: those without planted bugs
    entries = json.loads((BUILD / "compile_commands.json").read_text())
    for entry in sorted(entries, key=lambda one: "-DTENURE_PLANTED" in one["command"]):
        path = pathlib.Path(entry["file"])
        if path.is_relative_to(root / "build") or not is_checked(path):
            continue
        flags.setdefault(path.relative_to(root), flags_of(entry["command"]))

    together = collections.defaultdict(list)
    mains = set()  # folders and flags that have one
    for path, its_flags in sorted(flags.items()):
        batch = (path.parent, its_flags)
        is_alone = has_main(path) and batch in mains
        if has_main(path):
            mains.add(batch)
        together[batch, path if is_alone else None].append(path)

    runs = []
    numbers = collections.Counter()  # of a folder's batches
    for ((folder, its_flags), _), sources in together.items():
        numbers[folder] += 1
        runs.append((len(sources), write_batch(numbers[folder], folder, sources), its_flags))
    runs.sort(key=lambda run: run[0], reverse=True)

    lines = [RULE]
    for _, path, its_flags in runs:
        lines.append(f"build {BUILD}/ok/{path}: tidy {path} | .clang-tidy")
        lines.append(f"  flags = {shlex.join(its_flags)}")
    (BUILD / "lint.ninja").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
