#include "cli/journal_text.h"

#include <chrono>

#include <fmt/format.h>

#include "base/text.h"
#include "core/record_codec.h"

namespace tenure::cli {
namespace {

constexpr std::int64_t kYear10000 = 253'402'300'800'000;

}  // namespace

std::string iso_time(Instant at) {
  if (at.ms < 0 || at.ms >= kYear10000) return fmt::format("{} ms", at.ms);
  const std::chrono::sys_time<Millis> time{Millis{at.ms}};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
}

std::string seconds_text(Millis time) { return fmt::format("{} s", static_cast<double>(time.count()) / 1000); }

std::string shown(std::string_view text) {
  if (is_clean(text)) return std::string(text);
  if (!is_utf8(text)) return "base64:" + base64(text);
  std::string quoted;
  append_json_string(quoted, text);
  return quoted;
}

std::string frame_fields(const Frame& frame) {
  return fmt::format(R"({{"sequence":{},"stamp":{},"time":"{}")", frame.sequence, frame.stamp.ms,
                     iso_time(frame.stamp));
}

std::string record_line(const Frame& frame, const Record& record) {
  return frame_fields(frame).append(",").append(std::string_view(to_json(record)).substr(1));
}

}  // namespace tenure::cli
