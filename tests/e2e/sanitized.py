"""What programs that were built with sanitizers need more of, and what none is blamed for. ctest's presets say which it is, in
TENURE_SANITIZED."""

import os

KIND = os.environ.get("TENURE_SANITIZED", "")  # address, thread, or nothing
SLOWER = {"": 1, "address": 3, "thread": 6}[KIND]
MORE_THREADS = {"": 0, "address": 0, "thread": 1}[KIND]  # it has one of its own
MIB = 1 << 20
LARGE_PAGES = 16 * MIB  # of which some are hardly used (docs/decisions/9)


def seconds(allowed):
    """How long it may take there."""
    return allowed * SLOWER


def memory(allowed):
    """How many bytes more it may use there: every byte has a shadow, or several, and what was freed is kept for a while."""
    return {"": allowed + LARGE_PAGES, "address": 3 * allowed + 64 * MIB, "thread": 5 * allowed + 64 * MIB}[KIND]


def environment(is_traced=False):
    """Of a server whose memory is looked at, or whose system calls are."""
    kept = dict(os.environ)
    if KIND == "address":
        options = [kept.get("ASAN_OPTIONS", ""), "quarantine_size_mb=16"]
        if is_traced:
            options.append("detect_leaks=0")  # they are found by tracing the process, and it has a tracer already
        kept["ASAN_OPTIONS"] = ":".join(options)
    return kept
