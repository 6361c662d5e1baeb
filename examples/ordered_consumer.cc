// Books the entries of a folder of JSON lines: each file is an account, each line an entry, and an account's entries
// are booked in order, whatever else goes on. Run again, it books nothing twice.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <tenure/authority.h>
#include <tenure/ordered.h>

namespace {

// The files of a folder, one line of each in turn.
class FolderOfLines final : public tenure::OrderedSource {
 public:
  explicit FolderOfLines(const std::filesystem::path& folder) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".jsonl") continue;
      std::ifstream file(entry.path());
      auto& lines = files_[entry.path().stem().string()];
      for (std::string line; std::getline(file, line);) lines.push_back(line);
      longest_ = std::max(longest_, lines.size());
    }
    file_ = files_.begin();
  }

  std::optional<tenure::OrderedItem> next(const std::stop_token& /*stop*/) override {
    while (line_ < longest_) {
      if (file_ == files_.end()) {
        file_ = files_.begin();
        ++line_;
        continue;
      }
      const auto& [account, lines] = *file_++;
      if (line_ < lines.size()) {
        return tenure::OrderedItem{account, tenure::Offset{static_cast<std::int64_t>(line_)}, lines[line_]};
      }
    }
    return std::nullopt;
  }

  // What an earlier run has left goes first, wherever this one reads.
  std::optional<std::string> fetch(std::string_view domain, tenure::Offset offset) override {
    const auto file = files_.find(std::string(domain));
    const auto line = static_cast<std::size_t>(offset.value);
    if (file == files_.end() || line >= file->second.size()) return std::nullopt;
    return file->second[line];
  }

 private:
  std::map<std::string, std::vector<std::string>> files_;
  std::map<std::string, std::vector<std::string>>::iterator file_;
  std::size_t line_ = 0;
  std::size_t longest_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const std::filesystem::path folder = argc > 1 ? argv[1] : "ledger";
  auto authority = tenure::Authority::in_memory();

  std::mutex mutex;
  std::map<std::string, std::vector<std::string>> booked;
  const auto book = [&](const tenure::OrderedWork& work) {
    const std::lock_guard guard(mutex);
    booked[work.domain].push_back(work.payload);
  };

  FolderOfLines source(folder);
  tenure::Orchestrator orchestrator(authority->work(), {.threads = 4});
  const auto tally = orchestrator.run(source, book);

  bool in_order = true;
  for (const auto& [account, entries] : booked) {
    std::printf("%s: %zu entries, the last %s\n", account.c_str(), entries.size(), entries.back().c_str());
    in_order = in_order && std::ranges::is_sorted(entries);
  }
  FolderOfLines same(folder);
  const auto again = tenure::Orchestrator(authority->work()).run(same, book);
  std::printf("booked %llu, then %llu\n", static_cast<unsigned long long>(tally.processed),
              static_cast<unsigned long long>(again.processed));
  return in_order && tally.processed > 0 && again.processed == 0 && again.skipped == tally.processed ? 0 : 1;
}
