// Records: what can be decoded is encoded to bytes that mean the same; and a state refuses what breaks it, unchanged.
#include <string>

#include "base/bytes.h"
#include "base/check.h"
#include "core/record_codec.h"
#include "core/state.h"
#include "fuzz.h"

namespace tenure {

void fuzz(std::string_view input) {
  State state;
  ByteReader in(input);
  for (std::int64_t stamp = 1; !in.at_end(); stamp += 20'000) {
    const auto record = decode(in);
    if (!record) break;
    (void)to_json(*record);
    std::string bytes;
    encode(*record, bytes);
    ByteReader again(bytes);
    const auto same = decode(again);
    TENURE_CHECK(same && *same == *record && again.at_end(), "{} is another record when it is read again",
                 to_json(*record));
    const Digest before = state.digest();
    if (state.apply(Instant{stamp}, *record) != nullptr) {
      TENURE_CHECK(state.digest() == before, "{} was refused, and changed something", to_json(*record));
    }
  }
  TENURE_CHECK(state.digest() == state.recompute_digest(), "the digest is not the state's");
}

}  // namespace tenure
