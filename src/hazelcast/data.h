// Texts as Hazelcast serializes them, and where they belong: the same for clients in every language, so that all of
// them mean the same lock.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tenure::hazelcast {

// A text as a key. Java's texts are UTF-8 here.
std::string text_data(std::string_view text);

// Which of the cluster's partitions a key belongs to.
std::int32_t partition_of(std::string_view data, std::int32_t partitions);

// MurmurHash3, the variant of 32 bits.
std::uint32_t murmur3(std::string_view bytes, std::uint32_t seed);

}  // namespace tenure::hazelcast
