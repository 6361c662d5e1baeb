#!/usr/bin/env python3
"""Checks the layers between folders, the bans (clocks, threads, randomness, I/O) and a few house rules.

With --self-test it checks itself instead: each rule must catch its bad examples and leave the good ones alone.
"""

import pathlib
import re
import sys

# Folder under src/ -> the folders it may include from; itself and <tenure/...> always.
MAY_USE = {
    "base": [],
    "core": ["base"],
    "journal": ["base"],
    "authority": ["base", "core", "journal"],
    "users": ["base"],
    "tls": ["base"],
    "wire": ["base", "core", "authority", "users"],
    "etcd": ["base", "core", "journal", "authority"],
    "hazelcast": ["base", "core", "journal", "authority", "tls"],
    "client": ["base", "core", "authority", "wire", "tls", "hazelcast"],
    "server": ["base", "core", "journal", "authority", "users", "wire", "tls", "etcd", "hazelcast"],
    "cli": ["base", "core", "journal", "authority", "users", "wire", "etcd", "hazelcast", "client", "server"],
}
EVERYWHERE = list(MAY_USE)
LIBRARIES = ["core", "journal", "authority", "users", "wire"]

# The one that opens files; and a folder for tests.
FILES = ["base/files.cc", "base/temporary_folder.h"]
# Rule, what it forbids, the folders under src/ where it is forbidden, the files excepted. Tests are exempt.
BANS = [
    ("clock", r"\b(system|steady|high_resolution|utc|tai|gps|file)_clock\b", EVERYWHERE, ["base/clock.cc"]),
    ("clock", r"\b(clock_gettime|gettimeofday|timespec_get|localtime|gmtime)(_r)?\b", EVERYWHERE, ["base/clock.cc"]),
    ("clock", r"\bstd::(clock|time)\s*\(|\btime\s*\(\s*(nullptr|NULL|0|&)", EVERYWHERE, ["base/clock.cc"]),
    ("clock", r'#include\s*(<(ctime|time\.h|sys/time\.h)>|"base/clock\.h")', ["core"], []),
    ("randomness", r"\b(random_device|mt19937|minstd_rand|default_random_engine|BitGen)", EVERYWHERE,
     ["base/entropy.cc"]),
    ("randomness", r"\b(getrandom|getentropy|arc4random\w*|s?rand|[dlm]rand48)\s*\(", EVERYWHERE,
     ["base/entropy.cc"]),
    ("randomness", r"#include\s*<(random|sys/random\.h)>|\bSystemEntropy\b", ["core"], []),
    ("files", r"\b(fopen|freopen|tmpfile|opendir|[io]?fstream|filesystem)\b", EVERYWHERE, FILES),
    ("files", r"(?<!\w)::(open|openat|creat|mmap|rename|unlink|fsync|fdatasync)\s*\(", EVERYWHERE, FILES),
    ("files", r"#include\s*<(fcntl\.h|dirent\.h|sys/(stat|mman|file)\.h|fstream|filesystem)>", EVERYWHERE,
     FILES),
    ("files", r'(?<![\w.>])open\s*\(|#include\s*("base/files\.h"|<unistd\.h>)', ["core"], []),
    ("threads", r"\bstd::(j?thread|this_thread|\w*mutex|condition_variable|atomic|future|promise|async|latch|barrier|"
     r"stop_\w+|\w+_semaphore|call_once|once_flag|lock_guard|unique_lock|scoped_lock)", ["core"], []),
    ("threads", r"\b(pthread_\w+|thread_local|volatile|Mutex|MutexLock)\b", ["core"], []),
    ("threads", r'#include\s*(<(thread|mutex|shared_mutex|atomic|condition_variable|future|latch|barrier|semaphore|'
     r'stop_token|pthread\.h)>|"base/mutex\.h")', ["core"], []),
    ("printing", r"\bstd::(cout|cerr|clog|cin)\b|\bfmt::print", LIBRARIES, []),
    ("printing", r"\b(v?f?printf|f?puts|fput[cs]|fwrite|putchar|perror)\s*\(", LIBRARIES, []),
    ("printing", r"#include\s*<(iostream|cstdio|stdio\.h)>", LIBRARIES, []),
    ("sockets", r"(?<![\w.>])(socket|accept4?|connect|recv|recvmsg|sendmsg|epoll_\w+)\s*\(", ["core"], []),
    ("sockets", r"#include\s*<(sys/(socket|un|epoll)\.h|netinet/|arpa/|netdb\.h|boost/(asio|beast))",
     ["base"] + LIBRARIES, []),
]

LINES_MAX = 800
CPP = (".h", ".cc")
SCRIPTS = (".cmake", ".py", ".sh", ".txt", ".json")
LEFT_ALONE = {".git", "build", "tenure-data", "node_modules"}
UNFINISHED = re.compile(r"\b(" + "TO" + "DO|FIX" + "ME|XX" + r"X)\b")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
# A class or function that libtenure.so would keep to itself.
UNMARKED = re.compile(r"class (?!TENURE_API)(\w+)(?: :| \{)|(?!TENURE_API|inline|constexpr)[a-zA-Z].* (\w+)\(.*\);$")
STANDARD_HEADER = re.compile(r"^[a-z_0-9]+$")

# Comments, raw strings, strings and characters; a quote between digits (1'000) starts no character.
NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|'
    r"(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'",
    re.DOTALL)


def code_of(text):
    """The text without comments and literals, line by line as before. Included file names stay."""

    def blank(match):
        line = text[text.rfind("\n", 0, match.start()) + 1:match.start()]
        if match[0].startswith('"') and re.match(r"\s*#\s*include\s*$", line):
            return match[0]
        return "\n" * match[0].count("\n") or " "

    return NOT_CODE.sub(blank, text)


def check_layers(path, code):
    folder = path.split("/")[1]
    if folder not in MAY_USE:
        yield 1, "layers", f"src/{folder} is not in the table of layers"
        return
    allowed = [folder, *MAY_USE[folder]]
    for number, line in enumerate(code, 1):
        include = INCLUDE.match(line)
        if not include:
            continue
        quote, name = include.groups()
        source = name.split("/")[0]
        if quote == '"' and source not in allowed:
            yield number, "layers", f'{folder} may not include "{name}": only {", ".join(allowed)} and <tenure/...>'
        if quote == "<" and source in MAY_USE and "/" in name:
            yield number, "layers", f'write "{name}", in quotes'


def check_bans(path, code):
    folder = path.split("/")[1]
    if path.endswith("_test.cc"):
        return
    for rule, pattern, folders, exceptions in BANS:
        if folder not in folders or path.removeprefix("src/") in exceptions:
            continue
        for number, line in enumerate(code, 1):
            found = re.search(pattern, line)
            if found:
                where = f"; only {exceptions[0]} may" if exceptions else ""
                yield number, rule, f"{found[0].strip()} is banned in src/{folder}{where}"


def check_public_header(code):
    for number, line in enumerate(code, 1):
        include = INCLUDE.match(line)
        if not include:
            continue
        name = include[2]
        if not name.startswith("tenure/") and not (include[1] == "<" and STANDARD_HEADER.match(name)):
            yield number, "public", f"a public header may include only the standard library and tenure/, not {name}"
    for number, line in enumerate(code, 1):
        unmarked = UNMARKED.match(line)
        if unmarked:
            yield number, "public", f"{unmarked[1] or unmarked[2]} is not in libtenure.so: mark it TENURE_API"


def check(path, text):
    """Yields (line, rule, message) for each thing wrong in the file; `path` is relative to the repository."""
    if text and not text.endswith("\n"):
        yield text.count("\n") + 1, "final-newline", "no newline at the end"
    for number, line in enumerate(text.split("\n"), 1):
        if UNFINISHED.search(line):
            yield number, "unfinished", "open an issue instead"
        if path.endswith(CPP) and "\t" in line:
            yield number, "tab", "a tab"
        if path.endswith(CPP) and not line.isascii():
            yield number, "ascii", "a character outside ASCII (write it as an escape)"
    if not path.endswith(CPP):
        return
    if text.count("\n") > LINES_MAX:
        yield LINES_MAX, "length", f"more than {LINES_MAX} lines: find the cut"
    code = code_of(text).split("\n")
    if path.startswith("src/"):
        yield from check_layers(path, code)
        yield from check_bans(path, code)
    if path.startswith("include/"):
        yield from check_public_header(code)


def check_repository(root):
    files = bad = 0
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root)
        if LEFT_ALONE & set(name.parts) or not path.is_file():
            continue
        if not name.name.endswith(CPP + SCRIPTS) and name.parts[0] not in ("scripts", "Makefile", ".ci"):
            continue
        files += 1
        for line, rule, message in check(name.as_posix(), path.read_text(encoding="utf-8", errors="replace")):
            print(f"{name}:{line}: {rule}: {message}")
            bad += 1
    print(f"layering: {files} files, {bad} findings")
    return 1 if bad else 0


# Rule (None: nothing wrong), path, text.
EXAMPLES = [
    ("layers", "src/base/a.h", '#include "core/record.h"\n'),
    ("layers", "src/core/a.cc", '#include "journal/frame.h"\n'),
    ("layers", "src/core/a_test.cc", '  #  include "authority/authority.h"\n'),
    ("layers", "src/journal/a.cc", '#include "core/record.h"\n'),
    ("layers", "src/wire/a.cc", '#include "journal/frame.h"\n'),
    ("layers", "src/server/a.cc", '#include "client/client.h"\n'),
    ("layers", "src/core/a.cc", '#include "record.h"\n'),
    ("layers", "src/core/a.cc", "#include <base/bytes.h>\n"),
    ("layers", "src/extra/a.cc", "\n"),
    (None, "src/authority/a.cc", '#include "core/record.h"\n#include "journal/frame.h"\n#include <tenure/types.h>\n'),
    (None, "src/core/a.cc", '// #include "journal/frame.h"\n#include "core/record.h"\n#include "base/bytes.h"\n'),
    (None, "src/cli/a.cc", '#include "client/client.h"\n'),
    (None, "tests/e2e/a_test.cc", '#include "server/listener.h"\n'),
    ("public", "include/tenure/a.h", "#include <absl/types/span.h>\n"),
    ("public", "include/tenure/a.h", "#include <stdint.h>\n"),
    ("public", "include/tenure/a.h", '#include "core/record.h"\n'),
    ("public", "include/tenure/a.h", "class Tasks {\n"),
    ("public", "include/tenure/a.h", "class NotHeld : public Error {\n"),
    ("public", "include/tenure/a.h", "std::string_view to_string(ErrorCode code);\n"),
    (None, "include/tenure/a.h", "class LockDesk;\nclass TENURE_API Tasks {\nTENURE_API Millis f(int n);\n  int g();\n"),
    (None, "include/tenure/a.h", "#include <cstdint>\n#include <string_view>\n#include <tenure/types.h>\n"),
    ("clock", "src/core/a.cc", "auto t = std::chrono::steady_clock::now();\n"),
    ("clock", "src/server/a.cc", "using Clock = std::chrono::system_clock;\n"),
    ("clock", "src/base/files.cc", "clock_gettime(CLOCK_REALTIME, &now);\n"),
    ("clock", "src/journal/a.cc", "auto t = time(nullptr);\n"),
    ("clock", "src/journal/a.cc", "auto t = std::time(0);\n"),
    ("clock", "src/cli/a.cc", "gettimeofday(&now, nullptr);\n"),
    ("clock", "src/core/a.h", "#include <ctime>\n"),
    ("clock", "src/core/a.h", '#include "base/clock.h"\n'),
    (None, "src/base/clock.cc", "#include <ctime>\nclock_gettime(CLOCK_REALTIME, &now);\n"),
    (None, "src/core/a_test.cc", "auto t = std::chrono::steady_clock::now();\n"),
    (None, "src/core/a.cc", "// no steady_clock\n/* std::thread\n std::mutex */ Instant time() const;\nrun_time(0);\n"),
    (None, "src/core/a.cc", 'auto a = "std::thread"; auto b = R"(open("x"))"; auto c = 1\'000; int d = \'"\';\n'),
    ("threads", "src/core/a.cc", "std::thread worker(run);\n"),
    ("threads", "src/core/a.cc", "std::jthread worker(run);\n"),
    ("threads", "src/core/a.h", "std::mutex mutex_;\n"),
    ("threads", "src/core/a.h", "std::shared_mutex mutex_;\n"),
    ("threads", "src/core/a.h", "std::atomic<int> count_;\n"),
    ("threads", "src/core/a.h", "std::condition_variable_any ready_;\n"),
    ("threads", "src/core/a.h", "thread_local int x;\n"),
    ("threads", "src/core/a.h", "Mutex mutex_;\n"),
    ("threads", "src/core/a.h", "#include <atomic>\n"),
    ("threads", "src/core/a.h", '#include "base/mutex.h"\n'),
    (None, "src/authority/a.h", "#include <mutex>\nstd::mutex mutex_;\n"),
    ("randomness", "src/core/a.cc", "std::mt19937_64 bits(1);\n"),
    ("randomness", "src/authority/a.cc", "std::random_device device;\n"),
    ("randomness", "src/server/a.cc", "int x = rand();\n"),
    ("randomness", "src/base/files.cc", "getrandom(buffer, 8, 0);\n"),
    ("randomness", "src/core/a.cc", "#include <random>\n"),
    ("randomness", "src/core/a.cc", "SystemEntropy entropy;\n"),
    (None, "src/base/entropy.cc", "getrandom(buffer, 8, 0);\n"),
    (None, "src/core/a.cc", '#include "base/entropy.h"\nEntropy& entropy; operand(1); random_bits(2);\n'),
    ("files", "src/core/a.cc", "int fd = open(path, O_RDONLY);\n"),
    ("files", "src/journal/a.cc", "int fd = ::open(path, O_RDONLY);\n"),
    ("files", "src/cli/a.cc", "FILE* f = fopen(path, mode);\n"),
    ("files", "src/authority/a.cc", "std::ofstream out(path);\n"),
    ("files", "src/journal/a.cc", "std::filesystem::remove(path);\n"),
    ("files", "src/server/a.cc", "#include <fcntl.h>\n"),
    ("files", "src/core/a.cc", "#include <fstream>\n"),
    ("files", "src/core/a.cc", '#include "base/files.h"\n'),
    (None, "src/base/files.cc", "#include <fcntl.h>\nint fd = ::open(path, O_RDONLY);\n"),
    (None, "src/journal/a.cc", "auto journal = FileJournal::open(path); files.open(path);\n"),
    ("printing", "src/core/a.cc", "std::cout << 1;\n"),
    ("printing", "src/authority/a.cc", "std::fprintf(stderr, text);\n"),
    ("printing", "src/wire/a.cc", "fmt::print(text);\n"),
    ("printing", "src/core/a.cc", "#include <iostream>\n"),
    (None, "src/cli/a.cc", "#include <iostream>\nstd::cout << 1;\n"),
    (None, "src/core/a.cc", "snprintf(buffer, 8, text); blueprint(1);\n"),
    ("sockets", "src/core/a.cc", "int s = socket(AF_INET, SOCK_STREAM, 0);\n"),
    ("sockets", "src/wire/a.cc", "#include <sys/socket.h>\n"),
    ("sockets", "src/authority/a.cc", "#include <boost/asio.hpp>\n"),
    (None, "src/server/a.cc", "#include <boost/asio.hpp>\n#include <sys/socket.h>\n"),
    ("final-newline", "src/core/a.cc", "int x;"),
    ("final-newline", "scripts/setup", "echo"),
    ("tab", "bench/a.cc", "\tint x;\n"),
    ("ascii", "src/core/a.cc", "// a \u2192 b\n"),
    ("ascii", "include/tenure/a.h", "// it\u2019s\n"),
    ("unfinished", "src/core/a.cc", "// TO" + "DO: more\n"),
    ("unfinished", "scripts/setup", "# FIX" + "ME\n"),
    (None, "scripts/setup", "mktemp -t " + "X" * 6 + "\n"),
    ("length", "tests/a_test.cc", "\n" * (LINES_MAX + 1)),
    (None, "tests/a_test.cc", "\n" * LINES_MAX),
]


def self_test():
    bad = 0
    for rule, path, text in EXAMPLES:
        found = {finding[1] for finding in check(path, text)}
        if found != ({rule} if rule else set()):
            print(f"self-test: {path} {text[:60]!r}: expected {rule}, found {sorted(found) or None}")
            bad += 1
    # Every pattern must be the one that catches some example, or it could be broken without notice.
    for rule, pattern, folders, _ in BANS:
        examples = [code_of(text) for expected, path, text in EXAMPLES
                    if expected == rule and path.split("/")[1] in folders]
        if not any(re.search(pattern, text) for text in examples):
            print(f"self-test: no example for {rule} {pattern}")
            bad += 1
    print(f"self-test: {len(EXAMPLES)} examples, {bad} failures")
    return 1 if bad else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(self_test())
    sys.exit(check_repository(pathlib.Path(__file__).resolve().parent.parent))
