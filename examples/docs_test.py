#!/usr/bin/env python3
"""Every C++ block of the guides stands, line by line, in one of the examples.

That of getting-started.md is a program, which tests/install compiles.
"""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
GUIDES = ["locks.md", "workers.md", "ordered-processing.md", "embedding.md"]


def lines_of(text):
    return [line.strip() for line in text.splitlines() if line.strip()]


def stands_in(block, source):
    return any(source[i:i + len(block)] == block for i in range(len(source) - len(block) + 1))


def main():
    sources = [lines_of(path.read_text(encoding="utf-8")) for path in sorted([*HERE.rglob("*.cc"), *HERE.rglob("*.h")])]
    blocks = bad = 0
    for guide in GUIDES:
        text = (HERE.parent / "docs" / guide).read_text(encoding="utf-8")
        for block in re.findall(r"```cpp\n(.*?)```", text, re.DOTALL):
            blocks += 1
            if not any(stands_in(lines_of(block), source) for source in sources):
                print(f"docs/{guide}: in no example:\n{block}")
                bad += 1
    print(f"docs: {blocks} blocks, {bad} not in the examples")
    return 1 if bad or blocks == 0 else 0


sys.exit(main())
