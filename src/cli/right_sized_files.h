// Segments that were cut short or made longer behind the journal's back: how to look at them as if they had the size
// their headers say, and how to give it back to them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/files.h"
#include "journal/recovery.h"

namespace tenure::cli {

struct WrongSize {
  SegmentFile segment;
  std::uint64_t expected = 0;  // as the header says
  std::uint64_t found = 0;
};

// The segments with a readable header and another size than it says.
Result<std::vector<WrongSize>> find_wrong_sizes(Files& files, const std::vector<SegmentFile>& segments);

// Copies the file to a path that is free, and gives it its size: zeros where bytes are missing. Both are durable then.
Result<Done> right_size(Files& files, const WrongSize& wrong, const std::string& copy);

// Files for reading, in which these have the size they should: zeros where bytes are missing. One thread.
class RightSizedFiles final : public Files {
 public:
  RightSizedFiles(Files& files, std::vector<WrongSize> wrong) : files_(files), wrong_(std::move(wrong)) {}

  Result<std::unique_ptr<File>> open(const std::string& path, Mode mode) override;
  Result<std::uint64_t> size_of(const std::string& path) override;

  Result<std::vector<std::string>> list(const std::string& folder) override { return files_.list(folder); }
  bool exists(const std::string& path) override { return files_.exists(path); }
  Result<std::uint64_t> free_space(const std::string& folder) override { return files_.free_space(folder); }

  // Nothing is changed through it.
  Result<Done> rename(const std::string& from, const std::string& to) override;
  Result<Done> remove(const std::string& path) override;
  Result<Done> make_folder(const std::string& path) override;
  Result<Done> sync_folder(const std::string& path) override;
  Result<std::unique_ptr<FileLock>> lock(const std::string& path) override;

 private:
  [[nodiscard]] const WrongSize* find(const std::string& path) const;

  Files& files_;
  const std::vector<WrongSize> wrong_;
};

}  // namespace tenure::cli
