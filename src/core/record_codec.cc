#include "core/record_codec.h"

#include "core/table_codec.h"

namespace tenure {

std::string_view to_string(TaskState state) {
  static constexpr std::string_view kWords[] = {"WAITING", "LEASED", "COMPLETED", "FAILED", "DEAD"};
  return kWords[static_cast<std::size_t>(state)];
}

std::string_view to_string(AttemptOutcome outcome) {
  static constexpr std::string_view kWords[] = {"LEASED", "COMPLETED", "FAILED", "EXPIRED", "KILLED"};
  return kWords[static_cast<std::size_t>(outcome)];
}

std::string_view to_string(ReleaseCause cause) {
  static constexpr std::string_view kWords[] = {"by holder", "disconnected", "undelivered"};
  return kWords[static_cast<std::size_t>(cause)];
}

std::string_view to_string(LostCause cause) {
  static constexpr std::string_view kWords[] = {"its lease expired", "it was released by force", "its session ended",
                                                "its grant could not be delivered"};
  return kWords[static_cast<std::size_t>(cause)];
}

std::string_view to_string(Remembered kind) {
  static constexpr std::string_view kWords[] = {"task", "task request", "work request", "lock request", "lost lease"};
  return kWords[static_cast<std::size_t>(kind)];
}

void encode(const Record& record, std::string& out) { table_codec::encode_any(record, out); }

Result<Record> decode(ByteReader& in) { return table_codec::decode_any<Record>(in, "record"); }

std::string_view name_of(const Record& record) { return table_codec::name_of_any(record); }

std::string to_json(const Record& record) { return table_codec::json_of_any(record, "record"); }

const std::vector<std::string_view>& record_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    table_codec::any_type<Record>([&]<class T>() {
      all.push_back(T::kName);
      return false;
    });
    return all;
  }();
  return names;
}

}  // namespace tenure
