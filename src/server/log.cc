// The one file that knows spdlog.
#include "server/log.h"

#include <algorithm>

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "base/text.h"

namespace tenure::server {
namespace {

LogFormat format_of_log = LogFormat::kText;  // NOLINT: set once, before it is read

spdlog::level::level_enum level_of(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    default:
      return spdlog::level::err;
  }
}

// Readable where it can be; control characters and what is no text byte by byte.
std::string harmless(std::string_view text) {
  if (is_clean(text)) return std::string(text);
  std::string shown;
  for (const char letter : text) {
    const bool is_plain = letter >= ' ' && letter <= '~';
    shown += is_plain ? std::string(1, letter) : fmt::format("\\x{:02x}", static_cast<unsigned char>(letter));
  }
  return shown;
}

bool needs_no_quotes(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char letter) {
    const bool is_word =
        (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9');
    return is_word || std::string_view("-_.:/[]+").find(letter) != std::string_view::npos;
  });
}

void append_pair(std::string& line, std::string_view name, std::string_view value) {
  line += fmt::format(" {}=", name);
  if (needs_no_quotes(value)) {
    line += value;
  } else {
    append_json_string(line, harmless(value));
  }
}

}  // namespace

std::string text_line(std::string_view event, std::string_view message, LogFields fields) {
  std::string line(event);
  for (const LogField& field : fields) append_pair(line, field.name, field.value);
  if (!message.empty()) {
    line += " msg=";
    append_json_string(line, harmless(message));
  }
  return line;
}

std::string json_members(std::string_view event, std::string_view message, LogFields fields) {
  std::string line = fmt::format(R"("event":"{}")", event);
  for (const LogField& field : fields) {
    line += fmt::format(R"(,"{}":)", field.name);
    if (field.is_number) {
      line += field.value;
    } else {
      append_json_string(line, harmless(field.value));
    }
  }
  if (!message.empty()) {
    line += R"(,"msg":)";
    append_json_string(line, harmless(message));
  }
  return line;
}

void set_up_log(LogLevel least, LogFormat format) {
  format_of_log = format;
  auto log = spdlog::stderr_logger_mt("tenured");
  log->set_pattern(format == LogFormat::kText ? "%Y-%m-%dT%H:%M:%S.%eZ %l %v"
                                              : R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})",
                   spdlog::pattern_time_type::utc);
  log->set_level(level_of(least));
  log->flush_on(spdlog::level::debug);
  spdlog::set_default_logger(std::move(log));
}

bool is_logged(LogLevel level) { return spdlog::should_log(level_of(level)); }

void log_event(LogLevel level, std::string_view event, std::string_view message, LogFields fields) {
  if (!is_logged(level)) return;
  const bool is_text = format_of_log == LogFormat::kText;
  spdlog::log(level_of(level), "{}",
              is_text ? text_line(event, message, fields) : json_members(event, message, fields));
}

bool LogValve::lets_through(double seconds) {
  left_ = std::min(at_once_, left_ + (seconds - last_) * per_second_);
  last_ = seconds;
  if (left_ < 1) {
    ++held_back_;
    return false;
  }
  left_ -= 1;
  return true;
}

}  // namespace tenure::server
