"""The checkers find what they are for: each is given a history that is right, and ones with one thing wrong."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import checkers  # noqa: E402
import linear  # noqa: E402
from history import Operation  # noqa: E402


def grant(client, begin, end, fence, until=0, kind="acquire"):
    return Operation(client, kind, "n", begin, end, "granted", fence, until=until or end)


def release(client, begin, end, fence, answer="released"):
    return Operation(client, "release", "n", begin, end, answer, fence)


class Fences(unittest.TestCase):
    def test_in_order(self):
        self.assertEqual([], checkers.check_fences([grant("a", 0, 5, 1), grant("b", 6, 9, 2)], "acquire"))

    def test_of_two_at_once_any_may_be_first(self):
        self.assertEqual([], checkers.check_fences([grant("a", 0, 5, 2), grant("b", 1, 9, 1)], "acquire"))

    def test_a_lower_one_later(self):
        self.assertEqual(1, len(checkers.check_fences([grant("a", 0, 5, 2), grant("b", 6, 9, 1)], "acquire")))

    def test_one_for_two(self):
        self.assertEqual(1, len(checkers.check_fences([grant("a", 0, 5, 1), grant("b", 1, 9, 1)], "acquire")))


class Exclusion(unittest.TestCase):
    def test_one_behind_the_other(self):
        self.assertEqual([], checkers.check_exclusion([grant("a", 0, 5, 1, until=7), grant("b", 6, 8, 2, until=9)]))

    def test_both(self):
        self.assertEqual(1, len(checkers.check_exclusion([grant("a", 0, 5, 1, until=9), grant("b", 6, 8, 2, until=12)])))

    def test_a_grant_that_came_too_late_to_be_believed(self):
        self.assertEqual([], checkers.check_exclusion([grant("a", 0, 5, 1, until=3), grant("b", 2, 4, 2, until=9)]))


class Tasks(unittest.TestCase):
    SUBMIT = Operation("a", "submit", "t", 0, 1, "CREATED")

    def complete(self, fence):
        return Operation("a", "complete", "t", 2, 3, "COMMITTED", fence)

    def test_completed(self):
        self.assertEqual([], checkers.check_tasks([self.SUBMIT, self.complete(1)], {"t": "COMPLETED"}))

    def test_asked_twice(self):
        twice = [self.SUBMIT, self.complete(1), self.complete(1)]
        self.assertEqual([], checkers.check_tasks(twice, {"t": "COMPLETED"}))

    def test_lost(self):
        self.assertEqual(1, len(checkers.check_tasks([self.SUBMIT], {})))

    def test_completed_by_two_leases(self):
        twice = [self.SUBMIT, self.complete(1), self.complete(2)]
        self.assertEqual(1, len(checkers.check_tasks(twice, {"t": "COMPLETED"})))

    def test_a_completion_that_is_lost(self):
        self.assertEqual(2, len(checkers.check_tasks([self.SUBMIT, self.complete(1)], {"t": "WAITING"})))


class Domains(unittest.TestCase):
    def succeed(self, begin, end, offset):
        return Operation("a", "succeed", "d", begin, end, "done", 1, offset)

    def test_in_order(self):
        self.assertEqual([], checkers.check_domains([self.succeed(0, 1, 0), self.succeed(2, 3, 1)], {"d": 1}))

    def test_out_of_order(self):
        self.assertEqual(1, len(checkers.check_domains([self.succeed(0, 1, 1), self.succeed(2, 3, 0)], {"d": 1})))

    def test_lost(self):
        self.assertEqual(1, len(checkers.check_domains([self.succeed(0, 1, 0), self.succeed(2, 3, 1)], {"d": 0})))


class Writes(unittest.TestCase):
    def test_in_order(self):
        self.assertEqual([], checkers.check_writes([("a", 1), ("b", 1), ("a", 1), ("a", 2)]))

    def test_a_stale_one(self):
        self.assertEqual(1, len(checkers.check_writes([("a", 2), ("b", 3), ("a", 1)])))


class Orders(unittest.TestCase):
    def judge(self, operations):
        pieces = linear.pieces(operations)
        self.assertTrue(pieces)
        return all(linear.is_linearizable(piece, holder) for piece, holder in pieces)

    def refused(self, client, begin, end):
        return Operation(client, "acquire", "n", begin, end, "refused")

    def test_taken_in_turns(self):
        self.assertTrue(self.judge([grant("a", 0, 5, 1), release("a", 6, 9, 1), grant("b", 8, 12, 2),
                                    release("b", 13, 14, 2)]))

    def test_held_twice(self):
        self.assertFalse(self.judge([grant("a", 0, 5, 1), grant("b", 6, 9, 2), release("a", 10, 11, 1),
                                     release("b", 12, 13, 2)]))

    def test_refused_while_it_is_free(self):
        self.assertFalse(self.judge([grant("a", 0, 5, 1), release("a", 6, 9, 1), self.refused("b", 10, 12)]))

    def test_refused_while_another_may_hold_it(self):
        self.assertTrue(self.judge([grant("a", 0, 5, 1), self.refused("b", 2, 3), release("a", 6, 9, 1)]))

    def test_a_release_that_may_have_happened(self):
        maybe = Operation("a", "release", "n", 6, None, None, 1)
        self.assertEqual([], linear.pieces([grant("a", 0, 5, 1), maybe, grant("b", 10, 12, 2), release("b", 14, 15, 2)]))
        both = [linear.Step(0, 5, "acquire", 1, "granted"), linear.Step(6, 99, "release", 1, None)]
        self.assertTrue(linear.is_linearizable([*both, linear.Step(10, 12, "acquire", 2, "granted")]))
        self.assertTrue(linear.is_linearizable([*both, linear.Step(10, 12, "acquire", 0, "refused")]))
        self.assertFalse(linear.is_linearizable([*both, linear.Step(10, 12, "acquire", 2, "granted"),
                                                 linear.Step(13, 14, "acquire", 3, "granted")]))

    def test_a_grant_that_was_never_given_back_is_not_judged(self):
        self.assertEqual([], linear.pieces([grant("a", 0, 5, 1)]))

    def test_what_is_not_known_is_not_judged(self):
        unknown = Operation("a", "acquire", "n", 0, None, None)
        self.assertEqual([], linear.pieces([unknown, grant("b", 5, 6, 1)]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
