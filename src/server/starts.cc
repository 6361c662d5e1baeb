#include "server/starts.h"

#include "base/text.h"
#include "journal/file_names.h"

namespace tenure::server {
namespace {

std::uint64_t starts_in(Files& files, const std::string& path) {
  if (!files.exists(path)) return 0;
  const auto file = files.open(path, Files::Mode::kRead);
  if (!file) return 0;
  char text[32];
  const auto size = (*file)->read_at(0, absl::MakeSpan(text));
  return parse_decimal(std::string_view(text, size.value_or(0))).value_or(0);
}

}  // namespace

Result<std::uint64_t> count_start(Files& files, const std::string& folder) {
  const std::string path = path_of(folder, kStartsName);
  const std::string draft = path + std::string(kTemporarySuffix);
  const std::uint64_t before = starts_in(files, path);
  if (files.exists(draft)) {
    if (auto removed = files.remove(draft); !removed) return tl::unexpected(removed.error());
  }
  auto file = files.open(draft, Files::Mode::kCreate);
  if (!file) return tl::unexpected(file.error());
  if (auto written = (*file)->write_at(0, std::to_string(before + 1)); !written) return tl::unexpected(written.error());
  if (auto renamed = files.rename(draft, path); !renamed) return tl::unexpected(renamed.error());
  return before;
}

}  // namespace tenure::server
