#include "core/portrait.h"

#include <initializer_list>

#include "base/bytes.h"
#include "core/table_codec.h"

namespace tenure {
namespace {

// Names contain no NUL, so one ends a name; numbers are written so that their bytes sort as they do.
std::string key(char kind, std::initializer_list<std::string_view> names) {
  std::string text(1, kind);
  for (const std::string_view name : names) text.append(name).append(1, '\0');
  return text;
}

std::string big_endian(std::uint64_t value) {
  std::string bytes(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>(value >> (56 - 8 * i));
  return bytes;
}

std::string big_endian(Offset offset) {
  return big_endian(static_cast<std::uint64_t>(offset.value) ^ std::uint64_t{1} << 63);
}

std::string key_for(const portrait::Counters&) { return keys::counters(); }
std::string key_for(const portrait::Task& task) { return keys::task(task.task_id); }
std::string key_for(const portrait::Attempt& attempt) {
  return keys::task(attempt.task_id) + big_endian(attempt.attempt);
}
std::string key_for(const portrait::PausedQueue& queue) { return keys::queue(queue.queue); }
std::string key_for(const portrait::Request& request) { return keys::request(request.face, request.id); }
std::string key_for(const portrait::Domain& domain) { return keys::domain(domain.domain); }
std::string key_for(const portrait::DoneOffsets& done) {
  return keys::domain(done.domain) + (done.failed ? 'f' : 'p') + big_endian(done.first);
}
std::string key_for(const portrait::BacklogEntry& entry) {
  return keys::domain(entry.domain) + 'w' + big_endian(entry.place);
}
std::string key_for(const portrait::Lock& lock) { return keys::lock(lock.space, lock.domain, lock.identifier); }
std::string key_for(const portrait::LostLease& lost) { return keys::lost_lease(lost.token); }
std::string key_for(const portrait::Session& session) { return keys::session(session.session); }

}  // namespace

namespace keys {

std::string counters() { return "c"; }
std::string task(std::string_view task_id) { return key('t', {task_id}); }
std::string queue(std::string_view name) { return key('q', {name}); }
std::string request(Remembered face, std::string_view id) {
  return key('r', {std::string(1, static_cast<char>('0' + static_cast<int>(face))), id});
}
std::string domain(std::string_view name) { return key('d', {name}); }
std::string lock(std::string_view space, std::string_view domain, std::string_view identifier) {
  return key('l', {space, domain, identifier});
}
std::string lost_lease(Token token) { return "o" + big_endian(token.fence.value) + big_endian(token.secret); }
std::string session(std::string_view name) { return key('s', {name}); }

std::string_view owner_of(std::string_view key) {
  const bool has_parts = key.starts_with('t') || key.starts_with('d');
  return has_parts ? key.substr(0, key.find('\0') + 1) : key;
}

}  // namespace keys

void encode(const Portrait& portrait, std::string& out) { table_codec::encode_any(portrait, out); }

Result<Portrait> decode_portrait(ByteReader& in) { return table_codec::decode_any<Portrait>(in, "portrait"); }

std::string to_json(const Portrait& portrait) { return table_codec::json_of_any(portrait, "portrait"); }

std::string key_of(const Portrait& portrait) {
  return std::visit([](const auto& one) { return key_for(one); }, portrait);
}

}  // namespace tenure
