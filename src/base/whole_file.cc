#include "base/whole_file.h"

namespace tenure {

Result<std::string> read_whole(Files& files, const std::string& path, std::uint64_t bytes_max) {
  const auto file = files.open(path, Files::Mode::kRead);
  if (!file) return tl::unexpected(file.error());
  const auto size = (*file)->size();
  if (!size) return tl::unexpected(size.error());
  if (*size > bytes_max) {
    return fail_with(ErrorCode::kInvalid, "{}: expected at most {} bytes, found {}", path, bytes_max, *size);
  }
  std::string text(*size, '\0');
  const auto read = (*file)->read_at(0, absl::MakeSpan(text));
  if (!read) return tl::unexpected(read.error());
  text.resize(*read);
  return text;
}

}  // namespace tenure
