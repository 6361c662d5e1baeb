#!/usr/bin/env python3
"""Installs Tenure into a temporary folder, looks at what is there, and uses it as the pages say.

Compiled are a project that finds it with find_package, the same with pkg-config, and the program of
docs/getting-started.md; what that page shows is typed into a shell, and must answer what it shows.
"""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CXX = os.environ["CXX"]
STRICT = ["-std=c++20", "-Wall", "-Wextra", "-Wconversion", "-Werror"]

scratch = pathlib.Path(tempfile.mkdtemp(prefix="tenure-install-"))
unittest.addModuleCleanup(shutil.rmtree, scratch)
prefix = scratch / "prefix"
os.environ["TENURED"] = str(prefix / "bin" / "tenured")
sys.path.insert(0, str(ROOT / "tests" / "e2e"))
from tenured import Tenured  # noqa: it asks for TENURED when it is imported

VERSION = re.search(r'kVersion = "(.*?)"', (ROOT / "include/tenure/version.h").read_text())[1]
ABI = VERSION.rsplit(".", 1)[0]


def run(*command, **options):
    """What it prints; fails with that if its status is not 0."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **options)
    assert done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stdout}"
    return done.stdout


def as_installed():
    """The environment of a shell that knows where Tenure is."""
    return {**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig"), "LD_LIBRARY_PATH": str(prefix / "lib"),
            "PATH": f"{prefix / 'bin'}:{os.environ['PATH']}", "FAKETTY": "1"}  # redis-cli answers as on a terminal


def setUpModule():
    run(os.environ["CMAKE"], "--install", os.environ["BUILD"], "--prefix", prefix)


def headers():
    return sorted((prefix / "include/tenure").iterdir())


def needed_by(path):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-dW", path))


class Installed(unittest.TestCase):
    """What lies where."""

    def test_everything_is_there(self):
        found = {path.relative_to(prefix).as_posix() for path in prefix.rglob("*") if not path.is_dir()}
        shared = {f"lib/libtenure.so{end}" for end in ("", f".{ABI}", f".{VERSION}")}
        package = {"lib/cmake/tenure/tenure-config.cmake", "lib/cmake/tenure/tenure-config-version.cmake",
                   "lib/pkgconfig/tenure.pc"}
        public = {path.relative_to(ROOT).as_posix() for path in (ROOT / "include").rglob("*.h")}
        pages = {f"share/doc/tenure/{name}" for name in
                 ("README.md", "LICENSE", "THIRD-PARTY-NOTICES.md", "docs/getting-started.md", "docs/embedding.md",
                  "docs/decisions/17-one-shared-library.md", "examples/embedded_service.cc", "examples/order_lock.cc")}
        self.assertLessEqual({"bin/tenured", "bin/tenure"} | shared | package | public | pages, found)
        others = [name for name in found - shared - package - public - pages
                  if not name.startswith(("bin/", "share/doc/tenure/", "lib/cmake/tenure/tenure-targets"))]
        self.assertEqual([], others)

    def test_links_of_pages_lead_somewhere(self):
        for page in (prefix / "share/doc/tenure").rglob("*.md"):
            for link in re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", page.read_text()):
                self.assertTrue((page.parent / link).exists(), f"{page.relative_to(prefix)}: no {link}")

    def test_all_say_the_same_version(self):
        for program in (prefix / "bin").iterdir():
            self.assertEqual(f"{program.name} {VERSION}\n", run(program, "--version"))
        self.assertEqual(VERSION + "\n", run("pkg-config", "--modversion", "tenure", env=as_installed()))
        self.assertIn(f'PACKAGE_VERSION "{VERSION}"',
                      (prefix / "lib/cmake/tenure/tenure-config-version.cmake").read_text())

    def test_no_file_names_where_it_was_built(self):
        for path in (prefix / "lib/cmake").rglob("*.cmake"):
            self.assertNotIn(str(ROOT), path.read_text(), path)
        self.assertNotIn(str(ROOT), (prefix / "lib/pkgconfig/tenure.pc").read_text())
        for path in [prefix / "lib/libtenure.so", *(prefix / "bin").iterdir()]:
            self.assertNotRegex(run("readelf", "-dW", path), r"\((RPATH|RUNPATH)\)", path)

    def test_notices_name_every_library(self):
        notices = (prefix / "share/doc/tenure/THIRD-PARTY-NOTICES.md").read_text()
        known = [re.escape(name).replace(r"\*", ".*") for name in re.findall(r"`((?:lib|ld-)[^`/]+)`", notices)]
        for path in [prefix / "lib/libtenure.so", *(prefix / "bin").iterdir()]:
            for library in needed_by(path):
                self.assertTrue(any(re.match(name + r"[-.]", library) for name in known),
                                f"{path.name} needs {library}, of which THIRD-PARTY-NOTICES.md does not tell")


class Library(unittest.TestCase):
    """libtenure.so, from outside."""

    def test_its_name_changes_with_its_interface(self):
        path = prefix / "lib/libtenure.so"
        self.assertRegex(run("readelf", "-dW", path), rf"\(SONAME\).*\[libtenure\.so\.{re.escape(ABI)}\]")
        self.assertEqual(prefix / f"lib/libtenure.so.{VERSION}", path.resolve())

    def test_exports_what_headers_declare_and_nothing_else(self):
        text = "\n".join(path.read_text() for path in headers())
        classes = set(re.findall(r"^class TENURE_API (\w+)", text, re.MULTILINE))
        functions = set(re.findall(r"^TENURE_API .*?(\w+)\(", text, re.MULTILINE))
        self.assertIn("Authority", classes)
        exported = set()
        for line in run("nm", "-DC", "--defined-only", prefix / "lib/libtenure.so").splitlines():
            _, kind, symbol = line.split(" ", 2)
            if kind == "A":  # the interface's version
                continue
            name = re.match(r"(?:(?:vtable|typeinfo(?: name)?) for )?tenure::(\w+)", symbol)
            self.assertTrue(name and name[1] in classes | functions, f"not public, but exported: {symbol}")
            exported.add(name[1])
        self.assertEqual(set(), functions - exported)
        # What is all inline need not be there.
        inline = {"Outcome", "MetricsRegistry", "FinalFailure"}
        self.assertEqual(set(), classes - exported - inline)


class Headers(unittest.TestCase):
    """The public ones, each on its own."""

    def test_each_compiles_alone(self):
        def compile_alone(path):
            run(CXX, *STRICT, "-fsyntax-only", f"-I{prefix / 'include'}", "-x", "c++", "-", "-Wno-unused",
                input=f"#include <tenure/{path.name}>\n")

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(compile_alone, headers()))

    def test_include_the_standard_library_only(self):
        for path in headers():
            for name in re.findall(r'^\s*#\s*include\s*([<"].*[>"])', path.read_text(), re.MULTILINE):
                self.assertRegex(name, r"^<(tenure/\w+\.h|[a-z_]+)>$", path.name)


class Consumer(unittest.TestCase):
    """A project of somebody else."""

    def use(self, program, env=None):
        with tempfile.TemporaryDirectory(dir=scratch) as folder, Tenured() as server:
            said = run(program, folder, f"127.0.0.1:{server.port}", env=env)
        self.assertEqual(f"consumer: all of libtenure {VERSION} works\n", said)

    def test_finds_the_package(self):
        build = scratch / "consumer"
        run(os.environ["CMAKE"], "-G", "Ninja", "-S", HERE / "consumer", "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}",
            f"-DCMAKE_CXX_COMPILER={CXX}")
        run(os.environ["CMAKE"], "--build", build)
        self.use(build / "consumer")

    def test_asks_pkg_config(self):
        flags = run("pkg-config", "--cflags", "--libs", "tenure", env=as_installed()).split()
        program = scratch / "by-pkg-config"
        run(CXX, *STRICT, HERE / "consumer/consumer.cc", *flags, "-o", program)
        self.use(program, as_installed())


class Pages(unittest.TestCase):
    """What the pages say is done."""

    maxDiff = None

    def test_getting_started(self):
        with tempfile.TemporaryDirectory(dir=scratch) as folder, Tenured() as server:
            page = (ROOT / "docs/getting-started.md").read_text()
            page = page.replace("8368", str(server.port)).replace("8369", str(server.http_port))
            program = re.search(r"```cpp\n(.*?)```", page, re.DOTALL)[1]
            (pathlib.Path(folder) / "hello.cc").write_text(program)
            blocks = re.findall(r"```console\n(.*?)```", page, re.DOTALL)
            self.assertGreater(len(blocks), 3)
            Transcript(self, folder).follow("".join(blocks))

    def test_embedding(self):
        page = (ROOT / "docs/embedding.md").read_text()
        block, = re.findall(r"```console\n(.*?)```", page, re.DOTALL)
        with tempfile.TemporaryDirectory(dir=scratch) as folder:
            shutil.copytree(prefix / "share/doc/tenure/examples", folder, dirs_exist_ok=True)
            Transcript(self, folder).follow(block)
        block, = re.findall(r"```cmake\n(.*?)```", page, re.DOTALL)
        self.assertIn(block, (HERE / "consumer/CMakeLists.txt").read_text())


class Transcript:
    """Types what stands after "$ " and compares the answers. Ids and instants of the page stand for those found."""

    WILD = re.compile(r"\b[0-9a-f]{16}\b|\b\d{13}\b")

    def __init__(self, test, folder):
        self.test, self.folder, self.meaning = test, folder, {}

    def follow(self, text):
        for command, answer in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
            typed = self.WILD.sub(lambda id: self.meaning.get(id[0], id[0]), command)
            said = run("bash", "-c", typed, cwd=self.folder, env=as_installed())
            self.compare(command, answer, said)

    def compare(self, command, answer, said):
        ids, found = self.WILD.findall(answer), self.WILD.findall(said)
        self.test.assertEqual(command + "\n" + self.WILD.sub("*", answer).rstrip(),
                              command + "\n" + self.WILD.sub("*", said).rstrip())
        self.meaning.update(zip(ids, found))


if __name__ == "__main__":
    unittest.main(verbosity=2)
