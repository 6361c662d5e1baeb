"""Does what a page says, block by block in its order, and compares what is answered with what it shows.

    sh        every line succeeds; `make ...` are known to be targets, and are done already: they built this
    console   a command behind "$ ", and under it what it prints
    cpp       a program, in the file that the line before it names; or a part of one, which becomes a main(), and prints
              what stands behind `// prints: `

A block of another kind fails. Ids and instants of the page stand for those found, ports for those of the server.
"""

import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WILD = re.compile(r"\b[0-9a-f]{16}\b|\b\d{13}\b")  # half a token, an instant
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ADDRESS = '"127.0.0.1:8368"'


def run(*command, **options):
    """What it prints; fails with that if its status is not 0."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **options)
    assert done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stdout}"
    return done.stdout


def blocks_of(name):
    """Of the page: the line before each block, its kind, and its text."""
    text = (ROOT / name).read_text()
    blocks = [(text[:block.start()].rstrip().rpartition("\n")[2], block[1], block[2]) for block in BLOCK.finditer(text)]
    assert len(blocks) * 2 == len(re.findall(r"^\s*```", text, re.MULTILINE)), f"{name}: a block that is not read"
    return blocks


def is_part(kind, block):
    return kind == "cpp" and "int main(" not in block


def compile_parts(name, compiler, flags, program):
    """All parts of programs that the page shows, as one program: it runs that whose number it is given."""
    includes, functions, calls = {"#include <cstdlib>\n#include <string>"}, "", ""
    for number, (_, kind, block) in enumerate(blocks_of(name)):
        if is_part(kind, block):
            includes.update(re.findall(r"^#include .*$", block, re.MULTILINE))
            body = re.sub(r"^#include .*$", "", block, flags=re.MULTILINE).replace(ADDRESS, 'std::getenv("ADDRESS")')
            functions += f"void part_{number}() {{{body}}}\n"
            calls += f"  if (number == \"{number}\") part_{number}();\n"
    source = pathlib.Path(f"{program}.cc")
    source.write_text("\n".join(sorted(includes)) + "\n" + functions +
                      "int main(int, char** words) {\n  const std::string number = words[1];\n" + calls + "}\n")
    run(compiler, "-std=c++20", "-O0", "-Wall", "-Wextra", source, *flags, "-o", program)


class Page:
    """A page that is followed in a folder of its own."""

    def __init__(self, test, name, folder, environment, server=None, parts=None):
        self.test, self.name, self.folder, self.server, self.parts = test, name, pathlib.Path(folder), server, parts
        self.environment = environment
        self.meaning = {}  # of ids and instants of the page
        self.exports = ""
        self.done = []  # known commands that were met

    def follow(self):
        """How many blocks there were."""
        blocks = blocks_of(self.name)
        for number, (before, kind, block) in enumerate(blocks):
            if kind == "sh":
                self.do_commands(block)
            elif kind == "console":
                self.type_and_compare(block)
            elif is_part(kind, block):
                self.run_part(number, block)
            elif kind == "cpp":
                file, = re.findall(r"`(\w+\.cc)`", before)
                (self.folder / file).write_text(self.with_ports(block))
            else:
                self.test.fail(f"{self.name}: nobody knows how to do a block of the kind '{kind}':\n{block}")
        return len(blocks)

    def with_ports(self, text):
        return text.replace("8368", str(self.server.port)).replace("8369", str(self.server.http_port)) \
            if self.server else text

    def in_shell(self, command, **more):
        return run("bash", "-c", self.exports + self.with_ports(command), cwd=self.folder,
                   env={**self.environment, **more})

    def do_commands(self, block):
        for line in block.splitlines():
            command = re.sub(r"\s+#.*", "", line).strip()
            target = re.fullmatch(r"make (\w+)", command)
            if target:
                self.test.assertRegex((ROOT / "Makefile").read_text(), rf"(?m)^{target[1]}:.* ## ", command)
                self.done.append(command)
            elif command.startswith("cmake --install build/release "):
                self.done.append(command)
            elif command.startswith("export "):
                self.exports += command + "\n"
            else:
                self.in_shell(command)

    def type_and_compare(self, block):
        found = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
        self.test.assertEqual(block, "".join(f"$ {command}\n{answer}" for command, answer in found))
        for command, answer in found:
            typed = WILD.sub(lambda id: self.meaning.get(id[0], id[0]), command)
            self.compare(command, answer, self.in_shell(typed))

    def run_part(self, number, block):
        said = self.in_shell(f"{self.parts} {number}", ADDRESS=f"127.0.0.1:{self.server.port}")
        self.compare(block, "\n".join(re.findall(r"// prints: (.*)$", block, re.MULTILINE)), said)

    def compare(self, what, shown, said):
        self.test.assertEqual(what + "\n" + WILD.sub("*", shown).rstrip(), what + "\n" + WILD.sub("*", said).rstrip())
        self.meaning.update(zip(WILD.findall(shown), WILD.findall(said)))
