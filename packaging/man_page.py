#!/usr/bin/env python3
"""Makes a program's page of the manual of what its --help says, so that there is one source.

    man_page.py PROGRAM SECTION PAGE      PAGE is written gzipped, as Debian wants it

Commands of the program have a part each; options that all of them share are explained once.
"""

import datetime
import gzip
import os
import pathlib
import re
import subprocess
import sys


class Help:
    """What --help printed: about, usage, groups of entries by their titles, and the footer's lines."""

    def __init__(self, text):
        lines = text.splitlines()
        self.about, self.usage = lines[0], lines[1].removeprefix("Usage: ")
        self.groups, self.footer = {}, []
        for number, line in enumerate(lines[2:], 2):
            if not line.strip():
                continue
            if line.startswith(" "):
                self.add(self.groups[title], line)
            elif line.endswith(":") and lines[number + 1].startswith("  ") and not line.startswith("Example"):
                title = line[:-1]
                self.groups[title] = []
            else:
                self.footer = lines[number:]
                break

    @staticmethod
    def add(entries, line):
        """A name and its meaning in one line, or the meaning in the next."""
        if line.startswith(" " * 20):
            entries[-1][1] = line.strip()
        else:
            name, _, meaning = line.strip().partition("  ")
            entries.append([name, meaning.strip()])


def ask(program, *path):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TENURE")}
    done = subprocess.run([program, *path, "--help"], capture_output=True, text=True, check=True, env=environment)
    return Help(done.stdout)


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga").replace("~", "\\(ti")
    return "\\&" + text if text.startswith((".", "'")) else text


def write_entries(page, entries):
    for name, meaning in entries:
        environment = re.search(r" \(Env:(\w+)\)", name)
        page += [".TP", "\\fB" + escape(re.sub(r" \(Env:\w+\)", "", name)) + "\\fR", escape(meaning)]
        if environment:
            page += [".br", f"Variable: {environment[1]}"]


def write_footer(page, lines):
    """Titles begin what is shown as it stands; other lines are prose."""
    shown = False
    for line in lines:
        indented = line.startswith("  ")
        if indented != shown:
            page.append(".PP\n.nf\n.RS" if indented else ".RE\n.fi\n.PP")
            shown = indented
        page.append(escape(line[2:] if indented else line))
        if re.fullmatch(r"\S.*:", line):
            page[-1] = ".PP\n" + page[-1]
    if shown:
        page.append(".RE\n.fi")


def write_command(page, program, path, common):
    """The part of one command, and those of its own commands."""
    found = ask(program, *path)
    page += [f".SS {escape(found.usage)}", escape(found.about) + ("" if found.about[-1] in ".?!" else ".")]
    for title, entries in found.groups.items():
        if title == "Subcommands":
            continue
        write_entries(page, [entry for entry in entries if entry not in common])
    write_footer(page, found.footer)
    for name, _ in found.groups.get("Subcommands", []):
        write_command(page, program, [*path, name], common)


def build_date():
    """Given from outside, a build that is done again makes the same page."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    moment = datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc) if seconds else datetime.datetime.now()
    return moment.date().isoformat()


def make_page(program, section):
    name = pathlib.Path(program).name
    root = ask(program)
    about = root.about.removeprefix(f"{name}: ")
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    page = [f'.TH {name.upper()} {section} "{build_date()}" "{version}" "Tenure"',
            ".SH NAME", f"{name} \\- {escape(about)}", ".SH SYNOPSIS", escape(root.usage)]
    commands = root.groups.pop("Subcommands", [])
    for title, entries in root.groups.items():
        page.append(f".SH {escape(title.upper())}")
        write_entries(page, entries)
    if commands:
        common = [entry for entries in root.groups.values() for entry in entries]
        page += [".SH COMMANDS"]
        for command, _ in commands:
            write_command(page, program, [command], common)
    page.append(".SH NOTES")
    write_footer(page, root.footer)
    other = {"tenure": ("tenured", 8), "tenured": ("tenure", 1)}[name]
    page += [".SH SEE ALSO", f".BR {other[0]} ({other[1]}),", "the pages in /usr/share/doc/tenure/docs"]
    return "\n".join(page) + "\n"


def main():
    program, section, path = sys.argv[1:]
    pathlib.Path(path).write_bytes(gzip.compress(make_page(program, section).encode(), 9, mtime=0))


if __name__ == "__main__":
    main()
