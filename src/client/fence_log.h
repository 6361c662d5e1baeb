// The file of a durable fence guard.
//
//   file    := "tenure fences 1\n" record*
//   record  := fixed64 hash, fixed64 size, body        the hash is of size and body, seeded with the record's place
//   body    := bytes resource, varint fence            the last record of a resource counts
//
// A record is synced before the next one is begun, so only the last can be torn: what is wrong within one record's
// length of the end is cut, what is wrong before that is damage and refused.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <tenure/types.h>
#include "base/files.h"
#include "base/result.h"

namespace tenure {

// One thread.
class FenceLog {
 public:
  using Fences = std::map<std::string, Fence, std::less<>>;

  // Reads what is there into `fences`.
  static Result<std::unique_ptr<FenceLog>> open(Files& files, const std::string& path, Fences& fences);
  // Durable when it returns. After a failure the log is of no more use. `all` has the new fence in it.
  Result<Done> append(std::string_view resource, Fence fence, const Fences& all);

 private:
  FenceLog(Files& files, std::string path) : files_(files), path_(std::move(path)) {}
  Result<Done> load(Fences& fences);
  // Writes the file anew, with one record for each resource.
  Result<Done> rewrite(const Fences& fences);

  Files& files_;
  const std::string path_;
  std::unique_ptr<FileLock> lock_;
  std::unique_ptr<File> file_;
  std::uint64_t size_ = 0;
  std::uint64_t size_when_rewritten_ = 0;
};

}  // namespace tenure
