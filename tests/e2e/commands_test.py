"""Every command of the protocol typed into redis-cli, and its reply compared: see commands.txt."""

import pathlib
import re
import subprocess
import sys

from tenured import Tenured

SCRIPT = pathlib.Path(__file__).with_name("commands.txt")


def read_script():
    """(line number, command, expected lines) of each exchange."""
    exchanges = []
    for number, line in enumerate(SCRIPT.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("> "):
            exchanges.append((number, line[2:], []))
        elif exchanges and (not line.startswith("#") or line == "# Journal"):
            exchanges[-1][2].append(line)
    return exchanges


def pattern_of(expected, known):
    """A regular expression for the expected text, with groups for what is taken from it."""
    pattern, taken = "", []
    for part in re.split(r"(<[a-z]*>)", expected):
        if not re.fullmatch(r"<[a-z]*>", part):
            pattern += re.escape(part)
        elif part == "<>":
            pattern += ".*"
        elif part in known:
            pattern += re.escape(known[part])
        else:
            pattern += "(.+)"
            taken.append(part)
    return pattern, taken


def main():
    with Tenured() as server:
        cli = subprocess.Popen(["redis-cli", "-h", "127.0.0.1", "-p", str(server.port)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
        known, seen, failures = {}, set(), []
        for number, command, expected in read_script():
            for name, value in known.items():
                command = command.replace(name, value)
            seen.add(command.split()[0].upper())
            # What is printed ends where the answer to an ECHO of our own begins.
            mark = f"-- {number} --"
            cli.stdin.write(f'{command}\nECHO "{mark}"\n')
            cli.stdin.flush()
            found = []
            while True:
                line = cli.stdout.readline()
                if not line or line.rstrip("\n") == mark:
                    break
                found.append(line.rstrip("\n"))
            found, expected = [[line for line in lines if line] for lines in (found, expected)]
            problem = compare(found, expected, known)
            if problem:
                failures.append(f"{SCRIPT.name}:{number}: {command}\n  {problem}\n  found: {found}")
        cli.communicate(timeout=60)
        with server.connect() as client:
            # redis-cli keeps it to itself when it is typed.
            if client.ask("QUIT") != "OK" or not client.is_closed_by_server():
                failures.append("QUIT: expected OK and the end of the connection")
        with server.connect() as client:
            names = {row[0].upper() for row in client.ask("COMMAND")}
    failures += [f"never typed: {name}" for name in sorted(names - seen - {"SHUTDOWN", "QUIT"})]
    if failures:
        sys.exit("\n".join(failures))
    print(f"redis-cli: {len(read_script())} commands typed, every answer as expected")


def compare(found, expected, known):
    if len(found) != len(expected):
        return f"expected {len(expected)} lines, found {len(found)}"
    for line, wanted in zip(found, expected):
        pattern, taken = pattern_of(wanted, known)
        match = re.fullmatch(pattern, line)
        if not match:
            return f"expected {wanted!r}, found {line!r}"
        known.update(zip(taken, match.groups()))
    return None


if __name__ == "__main__":
    main()
