"""A second opinion on locks: is there one order of the operations, each at some moment between its begin and its end,
in which every answer is right? Searched as Wing and Gong did, with Lowe's memory of what was tried; for short pieces.

Where a lease may have ended by time nothing is judged: elsewhere a lock is held from its grant to its release.
"""

from typing import NamedTuple, Optional

FOREVER = 1 << 62


class Step(NamedTuple):
    begin: int
    end: int
    kind: str  # acquire, release
    fence: int  # of a release, and of an acquire that was granted
    answer: Optional[str]  # granted, refused, released; None: unknown, it may have happened or not


def next_state(holder, step):
    """The fence that holds behind this step; None: the answer would be wrong."""
    if step.kind == "acquire":
        if step.answer == "granted":
            return step.fence if holder == 0 else None
        if step.answer == "refused":
            return holder if holder != 0 else None
        return None  # unknown: whoever got it cannot release it, so such pieces are not judged
    return 0 if holder == step.fence else None


def is_linearizable(steps, holder=0):
    """True: there is such an order."""
    steps = sorted(steps)
    every = (1 << len(steps)) - 1
    certain = sum(1 << i for i, step in enumerate(steps) if step.answer is not None)
    tried = set()
    stack = [(0, holder)]
    while stack:
        taken, state = stack.pop()
        if taken & certain == certain:
            return True
        if (taken, state) in tried:
            continue
        tried.add((taken, state))
        # The next in order must have begun before any that is left has ended.
        first_end = min(step.end for i, step in enumerate(steps) if not taken >> i & 1)
        for i, step in enumerate(steps):
            if taken >> i & 1 or step.begin > first_end:
                continue
            following = next_state(state, step)
            if following is not None:
                stack.append((taken | 1 << i, following))
    return every == 0


def pieces(operations, most=14):
    """A lock's history in pieces that can be judged alone, each as (steps, who holds before): cut where nothing is under
    way. A piece with an acquire whose outcome nobody knows, or that is too long, is left out, and so is all up to the
    next moment at which the holder is known: behind a release."""
    steps = sorted(steps_of(operations))
    found, piece, piece_end, holder = [], [], -1, 0
    for step in steps:
        if piece and step.begin > piece_end:
            found.append((piece, holder))
            holder = holder_behind(piece, holder)
            piece, piece_end = [], -1
        piece.append(step)
        piece_end = max(piece_end, step.end)
    if piece:
        found.append((piece, holder))
    return [(piece, holder) for piece, holder in found if holder is not None and len(piece) <= most and is_known(piece)]


def is_known(piece):
    return all(step.answer is not None or step.kind == "release" for step in piece)


def holder_behind(piece, holder):
    """Who holds when all of it is done; None: it cannot be told."""
    if not is_known(piece) or any(step.end == FOREVER for step in piece):
        return None
    grants = {step.fence for step in piece if step.answer == "granted"}
    releases = {step.fence for step in piece if step.answer == "released"}
    if holder is None:
        return 0 if releases and grants <= releases else None
    left = ({holder} | grants) - releases - {0}
    return left.pop() if len(left) == 1 else 0 if not left else None


def steps_of(operations):
    """A grant that was not given back ended by time: when, nobody knows, but not much later than its lease."""
    operations = list(operations)
    released = {op.fence for op in operations if op.kind == "release" and op.answer == "released"}
    for op in operations:
        end = op.end or op.until or FOREVER
        if op.kind == "acquire" and op.fence and op.fence not in released:
            yield Step(op.begin, end + 2 * op.lease, "acquire", op.fence, None)
        elif op.kind == "acquire":
            answer = None if op.answer is None else "granted" if op.fence else "refused"
            yield Step(op.begin, end, "acquire", op.fence, answer)
        elif op.kind == "release" and op.answer in ("released", None):
            yield Step(op.begin, end, "release", op.fence, op.answer)
