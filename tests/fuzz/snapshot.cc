// A snapshot file: any bytes as the file, and as the pairs of a file that is whole.
#include <algorithm>
#include <string>

#include "authority/snapshots.h"
#include "base/check.h"
#include "base/faulty_files.h"
#include "core/state.h"
#include "fuzz.h"
#include "journal/snapshot_file.h"

namespace tenure {
namespace {

constexpr std::string_view kPath = "data/fuzzed.snapshot";
constexpr std::string_view kDigest = "0123456789abcdef";

void load(FaultyFiles& files, const std::string& path) {
  const auto reader = SnapshotReader::open(files, path);
  if (!reader) return;
  (void)(*reader)->verify();
  State state;
  if (load_snapshot(**reader, state)) {
    TENURE_CHECK(state.digest() == state.recompute_digest(), "the digest is not the state's");
  }
}

std::string_view take_line(std::string_view& input) {
  const std::string_view line = input.substr(0, input.find('\n'));
  input.remove_prefix(std::min(input.size(), line.size() + 1));
  return line;
}

void load_pairs(std::string_view input) {
  FaultyFiles files;
  (void)files.make_folder("data");
  auto writer = SnapshotWriter::create(files, "data", {.journal = {.high = 1, .low = 2}, .sequence = 1, .chain = 3});
  TENURE_CHECK(writer.has_value(), "{}", writer.error().message);
  // A line is a key, the next its value; keys come in order.
  std::string_view last;
  while (!input.empty()) {
    const std::string_view key = take_line(input);
    const std::string_view value = take_line(input);
    if (key <= last) break;
    TENURE_CHECK((*writer)->add(key, value).has_value(), "a pair that cannot be written");
    last = key;
  }
  if (!(*writer)->complete(kDigest) || !(*writer)->publish()) return;
  const auto names = files.list("data");
  TENURE_CHECK(names.has_value() && names->size() == 1, "expected one snapshot");
  load(files, "data/" + names->front());
}

}  // namespace

void fuzz(std::string_view input) {
  FaultyFiles files;
  files.put(std::string(kPath), input);
  load(files, std::string(kPath));
  load_pairs(input);
}

}  // namespace tenure
