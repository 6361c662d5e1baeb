"""Judges histories. Each checker answers the violations it found, as sentences; all of them sort, and look once."""

from collections import defaultdict


def check_fences(operations, kind):
    """Of grants of one name: a fence is one grant's, and one that was asked for after another was there is higher."""
    violations = []
    for name, grants in by_name(granted(operations, kind)).items():
        owners = {}
        for grant in grants:
            if owners.setdefault(grant.fence, grant.client) != grant.client:
                violations.append(f"{name}: fence {grant.fence} was given to {owners[grant.fence]} and {grant.client}")
        ended = sorted(grants, key=lambda grant: grant.end)
        highest, at = 0, 0
        for grant in sorted(grants, key=lambda grant: grant.begin):
            while at < len(ended) and ended[at].end < grant.begin:
                highest = max(highest, ended[at].fence)
                at += 1
            # The same fence again is the same grant, asked for once more.
            if grant.fence < highest:
                violations.append(f"{name}: fence {grant.fence} was given after {highest}")
    return violations


def check_exclusion(operations, kind="acquire"):
    """Never do two believe at the same time that they hold one name."""
    violations = []
    for name, grants in by_name(granted(operations, kind)).items():
        holds = sorted((grant for grant in grants if grant.until > grant.end), key=lambda grant: grant.end)
        for before, after in zip(holds, holds[1:]):
            if after.end < before.until and after.client != before.client:
                both = (before.until - after.end) / 1e6
                violations.append(f"{name}: held by {before.client} (fence {before.fence}) and {after.client} "
                                  f"(fence {after.fence}) for {both:.1f} ms")
    return violations


def check_tasks(operations, states):
    """Whatever was acknowledged is there; every task completed is completed by one lease alone.

    `states`: task id -> its state in the end.
    """
    violations = []
    committed = defaultdict(set)
    for operation in operations:
        if operation.kind == "submit" and operation.answer is not None and operation.name not in states:
            violations.append(f"{operation.name}: its submission was acknowledged, and it is lost")
        if operation.kind == "complete" and operation.answer == "COMMITTED":
            committed[operation.name].add(operation.fence)
    for task, fences in committed.items():
        if len(fences) > 1:
            violations.append(f"{task}: completed by leases {sorted(fences)}")
        if states.get(task) != "COMPLETED":
            violations.append(f"{task}: its completion was acknowledged, and it is {states.get(task)}")
    for task, state in states.items():
        if state != "COMPLETED":
            violations.append(f"{task}: everybody is done, and it is {state}")
    return violations


def check_domains(operations, done):
    """In each domain offsets succeed in their order, each behind the one before it; none is lost.

    `done`: domain -> the highest offset up to which all are processed in the end.
    """
    violations = []
    for name, successes in by_name(op for op in operations if op.kind == "succeed" and op.answer is not None).items():
        ended = sorted(successes, key=lambda success: success.end)
        highest, at = -1, 0
        for success in sorted(successes, key=lambda success: success.begin):
            while at < len(ended) and ended[at].end < success.begin:
                highest = max(highest, ended[at].offset)
                at += 1
            if success.offset < highest:
                violations.append(f"{name}: offset {success.offset} succeeded after {highest}")
        most = max(success.offset for success in successes)
        if done.get(name, -1) < most:
            violations.append(f"{name}: {most} succeeded, and {done.get(name, -1)} is what is done")
    return violations


def check_writes(writes):
    """Of what a resource took, in its order (name, fence): a lower fence never comes behind a higher one."""
    violations = []
    highest = {}
    for name, fence in writes:
        if fence < highest.get(name, 0):
            violations.append(f"{name}: a write of fence {fence} behind one of {highest[name]}")
        highest[name] = max(fence, highest.get(name, 0))
    return violations


def granted(operations, kind):
    return [op for op in operations if op.kind == kind and op.fence != 0 and op.end is not None]


def by_name(operations):
    found = defaultdict(list)
    for operation in operations:
        found[operation.name].append(operation)
    return found
