/* The rules of a task's records: what each may follow and what it changes. One inline a record, named as in the journal.
 *
 * Two things stand on them: the model in authority.pml, which searches every interleaving, and journal_rules.py, which
 * turns the journal of a real run into a sequence of these calls and has it checked by the same asserts.
 */
#define ABSENT 0
#define WAITING 1
#define LEASED 2
#define COMPLETED 3
#define FAILED 4
#define DEAD 5

/* A task as its records tell it. */
typedef Book {
  byte state;
  int fence;     /* of the current lease; 0: there is none */
  int top;       /* the highest fence granted */
  int ended_by;  /* the fence whose report completed the task */
}

/* Time is not in the journal: whoever includes this file says when the time of the current lease is past. */

inline task_created(b) {
  assert(b.state == ABSENT);
  b.state = WAITING
}

/* An expiry may be left unsaid: then the grant that follows implies it. */
inline lease_granted(b, f) {
  assert(b.state == WAITING || (b.state == LEASED && is_over(b)));
  assert(f > b.top);
  b.state = LEASED;
  b.fence = f;
  b.top = f
}

inline lease_extended(b, f) {
  assert(b.state == LEASED && b.fence == f);
  assert(!is_over(b))
}

inline lease_expired(b, f) {
  assert(b.state == LEASED && b.fence == f);
  assert(is_over(b));
  b.state = WAITING;
  b.fence = 0
}

inline task_completed(b, f) {
  assert(b.state == LEASED && b.fence == f);
  assert(!is_over(b));
  b.state = COMPLETED;
  b.fence = 0;
  b.ended_by = f
}

inline task_failed(b, f, next) {
  assert(b.state == LEASED && b.fence == f);
  assert(!is_over(b));
  assert(next == WAITING || next == FAILED);
  b.state = next;
  b.fence = 0
}

/* A report refused: never one of the current lease, and nothing changes. */
inline task_cancelled(b, f) {
  assert(b.state != ABSENT);
  assert(!(b.state == LEASED && b.fence == f && !is_over(b)))
}

inline task_dead(b) {
  assert(b.state == WAITING || b.state == LEASED);
  b.state = DEAD;
  b.fence = 0
}

inline task_forgotten(b) {
  assert(b.state == COMPLETED || b.state == FAILED || b.state == DEAD);
  b.state = ABSENT;
  b.ended_by = 0
}
