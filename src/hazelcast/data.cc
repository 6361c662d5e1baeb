#include "hazelcast/data.h"

#include <bit>
#include <cstring>
#include <limits>

#include "base/bytes.h"

namespace tenure::hazelcast {
namespace {

// data := hash:u32 type:i32 value, big-endian. A hash of 0: it is made from the value.
constexpr std::size_t kValueAt = 8;
constexpr std::int32_t kTextType = -11;
constexpr std::uint32_t kPartitionSeed = 0x01000193;

void append_big_endian(std::string& to, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) to += static_cast<char>(value >> shift);
}

constexpr std::uint32_t scramble(std::uint32_t block) { return std::rotl(block * 0xcc9e2d51, 15) * 0x1b873593; }

}  // namespace

std::string text_data(std::string_view text) {
  std::string data;
  data.reserve(kValueAt + 4 + text.size());
  append_big_endian(data, 0);
  append_big_endian(data, static_cast<std::uint32_t>(kTextType));
  append_big_endian(data, static_cast<std::uint32_t>(text.size()));
  data += text;
  return data;
}

std::int32_t partition_of(std::string_view data, std::int32_t partitions) {
  const auto hash = static_cast<std::int32_t>(murmur3(data.substr(kValueAt), kPartitionSeed));
  if (hash == std::numeric_limits<std::int32_t>::min()) return 0;  // it has no absolute value
  return (hash < 0 ? -hash : hash) % partitions;
}

std::uint32_t murmur3(std::string_view bytes, std::uint32_t seed) {
  std::uint32_t hash = seed;
  std::string_view rest = bytes;
  for (; rest.size() >= 4; rest.remove_prefix(4)) {
    hash = std::rotl(hash ^ scramble(load<std::uint32_t>(&rest.front())), 13) * 5 + 0xe6546b64;
  }
  std::uint32_t tail = 0;
  std::memcpy(&tail, rest.data(), rest.size());
  if (!rest.empty()) hash ^= scramble(tail);
  hash ^= static_cast<std::uint32_t>(bytes.size());
  hash = (hash ^ (hash >> 16)) * 0x85ebca6b;
  hash = (hash ^ (hash >> 13)) * 0xc2b2ae35;
  return hash ^ (hash >> 16);
}

}  // namespace tenure::hazelcast
