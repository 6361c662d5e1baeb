// Until when a holder may count on its lease: by its own clock, from before the request was sent, however long the
// answer was under way, less a margin. So a holder stops before the authority lets the next one in.
//
// Nothing here knows what time it is: times are of one clock that never runs backwards, and whoever asks gives them.
#pragma once

#include <tenure/types.h>

namespace tenure {

// A request that was answered.
struct Asked {
  Millis sent;  // before the first try, if it took several
  Millis answered;
};

// Some of a lease is given away: for clocks that run apart, and so that a holder stops first.
Millis margin_of(Millis lease);
// The same of one of which more may be left than it was granted for, because it was extended.
Millis margin_of(Millis lease, Millis remaining);

// `remaining` is what the answer says.
Millis local_deadline(const Asked& asked, Millis remaining, Millis margin);

// Whether the answer took so long, as after a wait, that it is worth while to ask for the same once more, under the
// same request id: that changes nothing, and what is left of it is counted from before that.
bool is_worth_counting_anew(const Asked& asked, Millis margin);

// --- when to ask for more ---
// A third of the lease after `sent`; `remaining` may be less than the lease.
Millis first_renewal(Millis sent, Millis remaining, Millis lease);
Millis next_renewal(Millis sent, Millis lease);
// Nobody could be asked: sooner.
Millis renewal_after_failure(Millis now, Millis lease);

}  // namespace tenure
