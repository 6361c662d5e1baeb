#!/usr/bin/env python3
"""branch_coverage.py PATH... -- EXPORT...: fails if a branch of the folders or files was never taken.

An export is what `llvm-cov export -format=text` tells of one program. A file FOLDER/NAME.cc has its NAME.h with it.

A branch is one side (true or false) of one condition. It counts as taken if any instantiation of a template, and any
program, took it. A condition that comes from a macro belongs to the place where the macro is used. Conditions inside
TENURE_CHECK(...) and TENURE_ASSERT(...) are always-on checks: their failing side ends the process, so they are
listed apart and do not fail the run. So is what a switch does with a value that none of its cases names, if behind it
stands nothing but TENURE_CHECK(false, ...). Constant conditions are not branches (llvm-cov leaves them out).
"""

import collections
import json
import os
import re
import sys

CHECK_MACRO = re.compile(r"\bTENURE_(CHECK|ASSERT)\w*\s*\(")
SWITCH = re.compile(r"\bswitch\s*\(")
CHECK_FALSE = re.compile(r"\s*TENURE_CHECK\(false\b")
EXPANSION, BRANCH = 1, 4  # kinds of region in llvm-cov's export


def check_ranges(path):
    """The (line, column) ranges of the file that are uses of a check macro, as written, and the values of switches
    whose cases are all there are (llvm-cov has the way past all cases at the value's place)."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    # Strings and comments must not disturb the counting of parentheses.
    text = re.sub(r'"(\\.|[^"\\\n])*"|\'(\\.|[^\'\\\n])\'|//[^\n]*', lambda m: "_" * len(m[0]), text)
    line_starts = [0] + [m.end() for m in re.finditer("\n", text)]

    def position(offset):
        line = next(i for i in range(len(line_starts), 0, -1) if line_starts[i - 1] <= offset)
        return line, offset - line_starts[line - 1] + 1

    def behind(end, brackets):
        """Where the bracket closes that was opened before `end`."""
        depth = 1
        while depth > 0 and end < len(text):
            depth += {brackets[0]: 1, brackets[1]: -1}.get(text[end], 0)
            end += 1
        return end

    ranges = []
    for use in CHECK_MACRO.finditer(text):
        ranges.append((position(use.start()), position(behind(use.end(), "()"))))
    for switch in SWITCH.finditer(text):
        value_end = behind(switch.end(), "()")
        end = behind(text.index("{", value_end) + 1, "{}")
        if CHECK_FALSE.match(text, end):
            ranges.append((position(switch.start()), position(value_end)))
    return ranges


def branches(function):
    """Yields (place, key, true count, false count) for each condition of one instantiation of a function."""
    files = function["filenames"]
    used_at = {}  # id of a macro expansion's virtual file -> (id of the file it is used in, line, column)
    for line, column, _, _, _, file, expanded, kind in function["regions"]:
        if kind == EXPANSION:
            used_at[expanded] = (file, line, column)
    seen = collections.Counter()
    for line, column, _, _, taken, not_taken, file, _, kind in function["branches"]:
        if kind != BRANCH:
            continue
        spelled = (files[file], line, column)
        while file in used_at:
            file, line, column = used_at[file]
        place = (files[file], line, column)
        # Conditions of one macro argument all stand at the argument's place in the macro: number them.
        seen[place, spelled] += 1
        yield place, (place, spelled, seen[place, spelled]), taken, not_taken


def functions(exports):
    for export in exports:
        with open(export, encoding="utf-8") as file:
            yield from json.load(file)["data"][0]["functions"]


def measured(paths):
    """Whether a source is one of those that are measured."""
    folders = [os.path.realpath(path) + os.sep for path in paths if os.path.isdir(path)]
    files = {os.path.splitext(os.path.realpath(path))[0] for path in paths if os.path.isfile(path)}
    missing = [path for path in paths if not os.path.exists(path)]
    assert not missing, f"not there: {missing}"

    def is_measured(path):
        if path.endswith(("_test.cc", "/testing.h", "_testing.h")):
            return False
        return os.path.splitext(path)[0] in files or any(path.startswith(folder) for folder in folders)

    return is_measured


def main():
    words = sys.argv[1:]
    paths, exports = words[:words.index("--")], words[words.index("--") + 1:]
    is_ours = measured(paths)

    counts = collections.defaultdict(lambda: [0, 0])
    runs = collections.Counter()  # by the place of a function
    for function in functions(exports):
        first = function["regions"][0]
        if is_ours(function["filenames"][0]):
            runs[function["filenames"][0], first[0]] += function["count"]
        for place, key, taken, not_taken in branches(function):
            if is_ours(place[0]):
                counts[key][0] += taken
                counts[key][1] += not_taken

    ranges = {path: check_ranges(path) for path in {key[0][0] for key in counts}}
    missed, checks, total = [], {}, 0
    for key in sorted(counts):
        path, line, column = key[0]
        taken, not_taken = counts[key]
        if any(start <= (line, column) < end for start, end in ranges[path]):
            # All conditions of one check are one line of the list; the first is met every time.
            checks.setdefault(f"{os.path.relpath(path)}:{line}", taken + not_taken)
            continue
        total += 2
        for side, count in (("true", taken), ("false", not_taken)):
            if count == 0:
                missed.append(f"{os.path.relpath(path)}:{line}:{column}: never {side}")

    print(f"\nalways-on checks, not counted: {len(checks)}")
    print("".join(f"  {place}: met {count} times\n" for place, count in checks.items()), end="")
    idle = [f"{os.path.relpath(path)}:{line}" for (path, line), count in sorted(runs.items()) if count == 0]
    name = " ".join(paths)
    print(f"functions of {name}: {len(runs) - len(idle)} of {len(runs)} called")
    print("".join(f"  {place}: never called\n" for place in idle), end="")
    print(f"branches of {name}: {total - len(missed)} of {total} taken")
    print("".join(f"  {line}\n" for line in missed), end="")
    if total == 0:
        print("no branches found: is the folder right?")
    return 1 if missed or total == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
