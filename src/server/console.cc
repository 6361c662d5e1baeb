#include "server/console.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/check.h"
#include "base/hash.h"

// Where console_files.S has put them.
#define TENURE_CONSOLE_FILE(name)              \
  extern "C" const char tenure_##name##_begin; \
  extern "C" const char tenure_##name##_end
TENURE_CONSOLE_FILE(console_html);
TENURE_CONSOLE_FILE(console_js);
TENURE_CONSOLE_FILE(console_css);
TENURE_CONSOLE_FILE(console_svg);
#undef TENURE_CONSOLE_FILE

namespace tenure::server {
namespace {

struct ConsoleFile {
  std::string_view path;
  std::string_view content_type;
  std::string_view encoding;
  std::string_view bytes;
  std::string etag;
};

ConsoleFile console_file(std::string_view path, std::string_view content_type, const char& begin, const char& end) {
  const std::string_view bytes(&begin, static_cast<std::size_t>(&end - &begin));
  // Quoted, as tags are.
  return {path, content_type, "gzip", bytes, fmt::format("\"{:016x}\"", hash64(bytes))};
}

const std::array<ConsoleFile, 4>& console_files() {
  static const std::array<ConsoleFile, 4> files = {
      console_file("/", "text/html; charset=utf-8", tenure_console_html_begin, tenure_console_html_end),
      console_file("/console.js", "text/javascript; charset=utf-8", tenure_console_js_begin, tenure_console_js_end),
      console_file("/console.css", "text/css; charset=utf-8", tenure_console_css_begin, tenure_console_css_end),
      console_file("/console.svg", "image/svg+xml", tenure_console_svg_begin, tenure_console_svg_end),
  };
  return files;
}

}  // namespace

wire::HttpReply console_page(std::string_view path) {
  const auto& files = console_files();
  const auto* const file =
      std::find_if(files.begin(), files.end(), [&](const auto& each) { return each.path == path; });
  TENURE_CHECK(file != files.end(), "the console has no {}", path);
  return {.body = std::string(file->bytes),
          .content_type = file->content_type,
          .encoding = file->encoding,
          .etag = file->etag};
}

}  // namespace tenure::server
