#!/usr/bin/env python3
"""Installs Tenure into a temporary folder, looks at what is there, and uses it as the pages say.

Compiled are a project that finds it with find_package, the same with pkg-config, and the program of
docs/getting-started.md; what that page and the README show is typed into a shell, and must answer what they show.
"""

import concurrent.futures
import gzip
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
prefix = scratch / "tenure"  # ~/tenure, where ~ is the scratch folder
os.environ["TENURED"] = str(prefix / "bin" / "tenured")
sys.path.insert(0, str(ROOT / "tests" / "e2e"))
from tenured import Tenured  # noqa: it asks for TENURED when it is imported
from pages import Page, blocks_of, compile_parts, run  # noqa: beside this file

VERSION = re.search(r'kVersion = "(.*?)"', (ROOT / "include/tenure/version.h").read_text())[1]
ABI = VERSION.rsplit(".", 1)[0]
MANUAL = {"share/man/man1/tenure.1.gz", "share/man/man8/tenured.8.gz",
          "share/bash-completion/completions/tenure", "share/zsh/vendor-completions/_tenure",
          "share/fish/vendor_completions.d/tenure.fish"}


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
        self.assertLessEqual({"bin/tenured", "bin/tenure"} | shared | package | public | pages | MANUAL, found)
        others = [name for name in found - shared - package - public - pages - MANUAL
                  if not name.startswith(("bin/", "share/doc/tenure/", "lib/cmake/tenure/tenure-targets"))]
        self.assertEqual([], others)

    def test_links_of_pages_lead_somewhere(self):
        for page in (prefix / "share/doc/tenure").rglob("*.md"):
            prose = re.sub(r"(?ms)^```.*?^```$", "", page.read_text())
            for link in re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", prose):
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

    def test_pages_of_the_manual_have_every_option_and_can_be_read(self):
        for page in ("man1/tenure.1.gz", "man8/tenured.8.gz"):
            text = gzip.decompress((prefix / "share/man" / page).read_bytes()).decode()
            program = prefix / "bin" / pathlib.Path(page).name.split(".")[0]
            self.assertEqual([], re.findall(r"^\.(?!TH|SH|SS|TP|PP|RS|RE|nf|fi|br|BR).*", text, re.MULTILINE))
            for option in re.findall(r"^  (--[\w-]+)", run(program, "--help"), re.MULTILINE):
                self.assertIn(option.replace("-", "\\-"), text)
        for command in ("submit", "lock", "journal dump", "user add"):
            self.assertIn(f".SS tenure {command} ", gzip.decompress(
                (prefix / "share/man/man1/tenure.1.gz").read_bytes()).decode())

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
            name = re.match(r"(?:(?:vtable|typeinfo(?: name)?) for )?tenure::(?:hazelcast::)?(\w+)", symbol)
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

    def at_home(self):
        """The environment of somebody who has installed it into ~/tenure; redis-cli answers as on a terminal."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("TENURE", "XDG_"))}
        return {**kept, "HOME": str(scratch), "FAKETTY": "1", "LC_ALL": "C.UTF-8"}

    def follow(self, name, folder, server=None, parts=None, **more):
        page = Page(self, name, folder, {**self.at_home(), **more}, server, parts)
        return page.follow(), page.done

    def test_readme(self):
        parts = scratch / "parts"
        compile_parts("README.md", CXX, run("pkg-config", "--cflags", "--libs", "tenure", env=as_installed()).split(),
                      parts)
        with tempfile.TemporaryDirectory(dir=scratch) as folder, Tenured() as server:
            (pathlib.Path(folder) / "build").mkdir()
            (pathlib.Path(folder) / "build/release").symlink_to(prefix)  # where programs lie in bin/, too
            blocks, done = self.follow("README.md", folder, server, parts, LD_LIBRARY_PATH=str(prefix / "lib"),
                                       TENURE_SERVER=f"127.0.0.1:{server.port}")
        self.assertEqual(["make run", "make test"], done)
        self.assertGreater(blocks, 6)

    def test_getting_started(self):
        with tempfile.TemporaryDirectory(dir=scratch) as folder, Tenured() as server:
            blocks, done = self.follow("docs/getting-started.md", folder, server)
        self.assertEqual(["make run", "make build", "cmake --install build/release --prefix ~/tenure"], done)
        self.assertGreater(blocks, 6)

    def test_embedding(self):
        shown = {kind: block for _, kind, block in blocks_of("docs/embedding.md")}
        with tempfile.TemporaryDirectory(dir=scratch) as folder:
            shutil.copytree(prefix / "share/doc/tenure/examples", folder, dirs_exist_ok=True)
            Page(self, "docs/embedding.md", folder, as_installed()).type_and_compare(
                shown["console"])
        self.assertIn(shown["cmake"], (HERE / "consumer/CMakeLists.txt").read_text())
        self.assertLessEqual(set(shown), {"console", "cmake", "cpp"})  # examples/docs_test.py has the last


if __name__ == "__main__":
    unittest.main(verbosity=2)
