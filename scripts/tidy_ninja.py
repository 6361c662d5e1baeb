#!/usr/bin/env python3
"""Writes build/tidy/lint.ninja from build/tidy/compile_commands.json: one clang-tidy run for each file that is compiled.

Sources come several at a time, as they are compiled (cmake/tenure.cmake). Tests are left out: they are more than half of
the sources; for them the compilers' warnings do. So are the sources that are compiled once more with planted bugs.

clang-tidy compiles what it checks, so the flags of the tidy preset (-Wthread-safety -Werror) apply to it as to
a compiler. Nothing is compiled twice, and ninja runs it again only where a source, a header it includes, or .clang-tidy
changed.
"""

import json
import pathlib
import shlex

BUILD = pathlib.Path("build/tidy")

RULE = """\
builddir = build/tidy
rule tidy
  command = clang-tidy-19 --quiet -p build/tidy $in 2>$out.err && $
      $list_headers -MM -MF $out.d -MT $out $in && touch $out
  depfile = $out.d
  deps = gcc
  description = tidy $in
"""


def main():
    root = pathlib.Path.cwd()
    commands = {}  # a source of two targets is checked once
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["file"])
        is_batch = path.suffix == ".cxx"
        text = path.read_text() if is_batch else ""
        is_test = path.name.endswith("_test.cc") or "_test.cc" in text or "/tests/fuzz/" in f"{path}{text}"
        if path.is_relative_to(root) and not is_test and not (is_batch and "tenure-sim-planted" in str(path)):
            commands[path.relative_to(root)] = shlex.split(entry["command"])

    lines = [RULE]
    for path, command in sorted(commands.items()):
        del command[command.index("-o"):]  # the command ends with -o <object> -c <source>
        lines.append(f"build {BUILD}/ok/{path}: tidy {path} | .clang-tidy")
        lines.append(f"  list_headers = {shlex.join(command)}")
    (BUILD / "lint.ninja").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
