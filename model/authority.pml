/* One task, an authority that may crash, two workers that may stall anywhere, a network that loses, repeats and delays,
 * and a resource that checks fences. `make model` searches all of it; docs/model.md says what each part stands for.
 *
 * A macro named on the command line takes one rule away; the search must then find a law broken:
 *   ANSWER_BEFORE_SYNC    an answer leaves before what it rests on is on the disk
 *   FENCE_IN_MEMORY       the highest fence is not restored at a start
 *   ANY_TOKEN             a report is taken from whoever sends it
 *   EARLY_EXPIRY          a lease is ended before its time
 *   FORGOTTEN_REQUESTS    a repeated request is a new one
 *   DEADLINE_FROM_ANSWER  a worker counts its lease from when it heard of it
 *   UNGUARDED             the resource takes every write
 */
#define is_over(b) (b.fence <= passed)
#include "rules.pml"

#define WORKERS 2
#define ROUNDS 2 /* the most lease requests of one worker */
#ifndef FIRST_ROUNDS
#define FIRST_ROUNDS 2
#endif
#ifndef SECOND_ROUNDS
#define SECOND_ROUNDS 1
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef REPEATS
#define REPEATS 1 /* of one request */
#endif

/* Requests, and answers. */
#define LEASE 1
#define COMPLETE 2
#define FAIL 3
#define GRANTED 1
#define EMPTY 2
#define COMMITTED 3
#define CANCELLED 4

/* What the authority knows; `live` is its memory, `disk` what a start would replay. */
Book live, disk;
int live_grant[WORKERS * ROUNDS], disk_grant[WORKERS * ROUNDS]; /* the fence that a request got, remembered by its id */

/* Answers that wait for the disk. */
typedef Held {
  byte kind;
  byte request;
  int fence;
  bool durable;
}
Held held[WORKERS];

chan asked[WORKERS] = [1] of {byte, byte, int}; /* kind, request id, fence */
chan told[WORKERS] = [1] of {byte, byte, int};

/* Time. `passed`: leases up to this fence are past their end by the authority's clock. `open_window[w]`: the request of
 * w whose time, counted from before it was sent, has not passed by the worker's own clock. */
int passed = 0;
byte open_window[WORKERS];
int believed[WORKERS]; /* the fence that w takes for valid */

/* For the laws alone: nothing above depends on it. */
int told_max = 0;          /* the highest fence that anybody was told */
int committed = 0;         /* the fence whose completion was acknowledged */
int newest_write = 0;      /* the fence of the last write that the resource took */
byte crashes = 0;
int seen = 0;              /* the resource's own: the highest fence it has seen */

#define SLOT(w, r) ((w) * ROUNDS + (r) - 1)

inline check_laws() {
  assert(!(believed[0] != 0 && believed[1] != 0));                            /* one holder at a time */
  assert(committed == 0 || (disk.state == COMPLETED && disk.ended_by == committed)) /* nothing acknowledged is lost */
}

inline answer(w, k, r, f) {
  held[w].kind = k;
  held[w].request = r;
  held[w].fence = f;
  held[w].durable = false
}

/* An inline takes no field of a structure for its argument. */
hidden int current;

inline end_lease() {
  current = live.fence;
  lease_expired(live, current)
}

inline expire_if_due() {
  if
  :: live.state == LEASED && is_over(live) -> end_lease()
  :: else
  fi
}

inline decide_lease(w, r) {
  expire_if_due();
  if
#ifndef FORGOTTEN_REQUESTS
  :: live_grant[SLOT(w, r)] != 0 ->
     if
     :: live.state == LEASED && live.fence == live_grant[SLOT(w, r)] -> current = live.fence; answer(w, GRANTED, r, current)
     :: else -> answer(w, EMPTY, r, 0)
     fi
  :: live_grant[SLOT(w, r)] == 0 && live.state == WAITING ->
#else
  :: live.state == WAITING ->
#endif
     assert(live.top + 1 > told_max);               /* fences increase, whatever was lost */
     assert(disk_grant[SLOT(w, r)] == 0);           /* one request, one effect */
     current = live.top + 1;
     lease_granted(live, current);
     live_grant[SLOT(w, r)] = live.top;
     answer(w, GRANTED, r, current)
  :: else -> answer(w, EMPTY, r, 0)
  fi
}

inline decide_report(w, k, r, f) {
  expire_if_due();
  if
#ifdef ANY_TOKEN
  :: live.state == LEASED && k == COMPLETE -> current = live.fence; task_completed(live, current); answer(w, COMMITTED, r, f)
#else
  :: live.state == LEASED && live.fence == f && k == COMPLETE ->
     task_completed(live, f);
     answer(w, COMMITTED, r, f)
#endif
  :: live.state == LEASED && live.fence == f && k == FAIL ->
     task_failed(live, f, WAITING);
     answer(w, COMMITTED, r, 0)
  :: live.state == COMPLETED && live.ended_by == f && k == COMPLETE -> answer(w, COMMITTED, r, f)
  :: else -> task_cancelled(live, f); answer(w, CANCELLED, r, f)
  fi
}

inline copy_book(to, from) {
  to.state = from.state;
  to.fence = from.fence;
  to.top = from.top;
  to.ended_by = from.ended_by
}

#define COPY_GRANTS(to, from) \
  to[0] = from[0]; \
  to[1] = from[1]; \
  to[2] = from[2]; \
  to[3] = from[3]

inline sync() {
  copy_book(disk, live);
  COPY_GRANTS(disk_grant, live_grant);
  held[0].durable = true;
  held[1].durable = true
}

inline drop_answer(w) {
  held[w].kind = 0;
  held[w].request = 0;
  held[w].fence = 0;
  held[w].durable = false
}

/* What was not on the disk is gone, and so are the answers, those that could have left as well. Of a lease that was lost
 * nobody has heard; its number may be given again, and its time begins anew. */
inline crash() {
  crashes++;
  copy_book(live, disk);
  COPY_GRANTS(live_grant, disk_grant);
  drop_answer(0);
  drop_answer(1);
  if
  :: passed > live.top -> passed = live.top
  :: else
  fi;
#ifdef FENCE_IN_MEMORY
  live.top = live.fence
#endif
}

/* Whoever holds this lease has stopped by its own clock: the assumption on clocks, and the margin that a client keeps. */
#define HOLDER_STOPPED \
  ((live_grant[SLOT(0, 1)] != live.fence || open_window[0] != 1) && \
   (live_grant[SLOT(0, 2)] != live.fence || open_window[0] != 2) && \
   (live_grant[SLOT(1, 1)] != live.fence || open_window[1] != 1) && \
   (live_grant[SLOT(1, 2)] != live.fence || open_window[1] != 2))

inline tell(w) {
  if
  :: held[w].kind == GRANTED ->
     if
     :: held[w].fence > told_max -> told_max = held[w].fence
     :: else
     fi
  :: held[w].kind == COMMITTED && held[w].fence != 0 ->
     assert(committed == 0 || committed == held[w].fence); /* a task is completed once */
     committed = held[w].fence
  :: held[w].kind == CANCELLED -> assert(committed != held[w].fence)
  :: else
  fi;
  told[w]!held[w].kind, held[w].request, held[w].fence;
  drop_answer(w)
}

#ifdef ANSWER_BEFORE_SYNC
#define MAY_LEAVE(w) (held[w].kind != 0 && nfull(told[w]))
#else
#define MAY_LEAVE(w) (held[w].kind != 0 && held[w].durable && nfull(told[w]))
#endif

active proctype Authority() {
  byte kind, request;
  int fence;
  d_step { task_created(live); sync() };
end:
  do
  :: atomic { asked[0]?kind, request, fence ->
       if
       :: kind == LEASE -> decide_lease(0, request)
       :: else -> decide_report(0, kind, request, fence)
       fi;
       kind = 0; request = 0; fence = 0;
       check_laws() }
  :: atomic { asked[1]?kind, request, fence ->
       if
       :: kind == LEASE -> decide_lease(1, request)
       :: else -> decide_report(1, kind, request, fence)
       fi;
       kind = 0; request = 0; fence = 0;
       check_laws() }
  :: atomic { live.state != disk.state || live.fence != disk.fence || live.top != disk.top || held[0].kind != 0 ||
              held[1].kind != 0 -> sync(); check_laws() }
  :: atomic { MAY_LEAVE(0) -> tell(0); check_laws() }
  :: atomic { MAY_LEAVE(1) -> tell(1); check_laws() }
#ifdef EARLY_EXPIRY
  :: atomic { live.state == LEASED -> end_lease(); check_laws() }
#else
  :: atomic { live.state == LEASED && is_over(live) -> end_lease(); check_laws() }
#endif
  :: atomic { live.state == LEASED && !is_over(live) && HOLDER_STOPPED -> passed = live.fence }
  :: atomic { crashes < CRASHES -> crash(); check_laws() }
  od
}

/* A message that finds no room is lost. (That any may be lost adds nothing: a crash loses the answer, and a worker may give up.) */
inline send(w, k, r, f) {
  if
  :: nfull(asked[w]) -> asked[w]!k, r, f
  :: full(asked[w])
  fi
}

inline write(f) {
#ifdef UNGUARDED
  assert(f >= newest_write); /* writes come in the order of their fences */
  newest_write = f
#else
  if
  :: f >= seen -> seen = f; assert(f >= newest_write); newest_write = f
  :: else
  fi
#endif
}

proctype Worker(byte w; byte rounds) {
  byte request, repeats, kind, heard;
  int mine, fence;
end:
  do
  :: request == rounds -> break
  :: request < rounds ->
     atomic {
       request++;
       repeats = 0;
       mine = 0;
       open_window[w] = request;
       send(w, LEASE, request, 0)
     };
     do
     :: atomic { told[w]?kind, heard, fence ->
          if
          :: heard == request && kind == GRANTED ->
             mine = fence;
#ifdef DEADLINE_FROM_ANSWER
             believed[w] = mine;
#else
             if
             :: open_window[w] == request -> believed[w] = mine
             :: else
             fi;
#endif
             check_laws();
             kind = 0; heard = 0; fence = 0;
             break
          :: heard == request && kind == EMPTY -> kind = 0; heard = 0; fence = 0; break
          :: else -> kind = 0; heard = 0; fence = 0
          fi }
     :: atomic { repeats < REPEATS -> repeats++; send(w, LEASE, request, 0) }
     :: break /* gives up waiting */
     od;
     if
     :: mine == 0
     :: mine != 0 ->
        /* It looks at its deadline, and then, however much later, writes. */
        if
        :: believed[w] != 0 -> atomic { write(mine) }
        :: true
        fi;
        atomic {
          believed[w] = 0;
          repeats = 0;
          if
          :: kind = COMPLETE
          :: kind = FAIL
          fi;
          send(w, kind, request, mine)
        };
        do
        :: atomic { told[w]?heard, _, _ ->
             if
             :: heard == COMMITTED || heard == CANCELLED -> break
             :: else -> heard = 0
             fi }
        :: atomic { repeats < REPEATS -> repeats++; send(w, kind, request, mine) }
        :: break
        od;
        mine = 0; kind = 0; heard = 0
     fi
  od
}

/* A worker's own clock: it may say at any time that the lease it counts from its request is over. */
active proctype Clocks() {
end:
  do
  :: atomic { open_window[0] != 0 -> open_window[0] = 0; believed[0] = 0 }
  :: atomic { open_window[1] != 0 -> open_window[1] = 0; believed[1] = 0 }
  od
}

init {
  atomic { run Worker(0, FIRST_ROUNDS); run Worker(1, SECOND_ROUNDS) }
}
