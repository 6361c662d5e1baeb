// A member that a test plays: what it says is written here by hand, byte by byte as the protocol has it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hazelcast/cluster.h"
#include "hazelcast/message.h"

namespace tenure::hazelcast {

template <class Word>
void pack(std::string& to, Word word) {
  to.append(reinterpret_cast<const char*>(&word), sizeof word);
}

// Frames of an answer or an event.
class Speech {
 public:
  Speech(std::uint32_t type, std::int64_t correlation, std::uint16_t more_flags = 0) {
    std::string first;
    pack(first, type);
    pack(first, correlation);
    frames_.push_back({.flags = static_cast<std::uint16_t>(flags::kWhole | more_flags), .content = std::move(first)});
  }
  template <class Word>
  Speech& value(Word word) {
    pack(frames_.front().content, word);
    return *this;
  }
  Speech& uuid(const Uuid& uuid) {
    value(std::uint8_t{0}).value(uuid.high);
    return value(uuid.low);
  }
  Speech& frame(std::string_view content, std::uint16_t with = 0) {
    frames_.push_back({.flags = with, .content = std::string(content)});
    return *this;
  }
  Speech& begin() { return frame("", flags::kBegin); }
  Speech& end() { return frame("", flags::kEnd); }

  [[nodiscard]] std::string bytes() const {
    std::string bytes;
    for (std::size_t i = 0; i < frames_.size(); ++i) {
      const bool is_last = i + 1 == frames_.size();
      pack(bytes, static_cast<std::uint32_t>(frames_[i].content.size() + 6));
      pack(bytes, static_cast<std::uint16_t>(frames_[i].flags | (is_last ? flags::kFinal : 0)));
      bytes += frames_[i].content;
    }
    return bytes;
  }

 private:
  std::vector<Frame> frames_;
};

inline std::string uuid_bytes(const Uuid& uuid) {
  std::string bytes(1, '\0');
  pack(bytes, uuid.high);
  pack(bytes, uuid.low);
  return bytes;
}

inline constexpr Uuid kClusterId{.high = 77, .low = 7};

inline std::string welcome_of(const Uuid& member, std::int64_t correlation, std::int32_t partitions,
                              const Uuid& cluster = kClusterId) {
  Speech speech(0x101, correlation);
  speech.value(std::uint8_t{0}).value(std::uint8_t{0}).uuid(member).value(std::uint8_t{1}).value(partitions);
  speech.uuid(cluster).value(std::uint8_t{0});
  return speech.frame("", flags::kNull).frame("5.3.6").frame("more", 0).bytes();
}

inline std::string refusal_of_sign_in(std::int64_t correlation, std::uint8_t status) {
  Speech speech(0x101, correlation);
  speech.value(std::uint8_t{0}).value(status).value(std::uint8_t{1}).value(std::uint64_t{0}).value(std::uint64_t{0});
  return speech.frame("", flags::kNull).frame("5.3.6").bytes();
}

inline std::string members_of(const std::vector<Member>& members, std::int64_t correlation) {
  Speech speech(0x302, correlation, flags::kEvent);
  speech.value(std::int32_t{-1}).value(std::int32_t{1}).begin();
  for (const Member& member : members) {
    std::string port;
    pack(port, member.port);
    speech.begin().frame(uuid_bytes(member.uuid) + std::string(1, member.is_lite ? '\1' : '\0'));
    speech.begin().frame(port).frame(member.host).end();
    speech.begin().frame("attribute").frame("of it").end();  // and whatever else there may be
    speech.end();
  }
  return speech.end().bytes();
}

inline std::string partitions_of(const std::vector<Ownership>& table, std::int64_t correlation) {
  Speech speech(0x303, correlation, flags::kEvent);
  speech.value(std::int32_t{-1}).value(std::int32_t{1}).begin();
  std::string members;
  for (const Ownership& ownership : table) {
    std::string numbers;
    for (const std::int32_t partition : ownership.partitions) pack(numbers, partition);
    speech.frame(numbers);
    members += uuid_bytes(ownership.member);
  }
  return speech.end().frame(members).bytes();
}

inline std::string bool_answer(std::uint32_t request_type, std::int64_t correlation, bool value) {
  return Speech(request_type + 1, correlation).value(std::uint8_t{0}).value(std::uint8_t{value}).bytes();
}

inline std::string error_answer(std::int64_t correlation, std::int32_t code, std::string_view name) {
  std::string number;
  pack(number, code);
  Speech speech(0, correlation);
  speech.value(std::uint8_t{0}).begin().begin().frame(number).frame(name).frame("because");
  return speech.begin().end().end().end().bytes();
}

// Sockets that a test holds the other ends of.
class StageNetwork final : public Network {
 public:
  struct End {
    HostAndPort address;
    std::string output{};  // that was sent and not yet looked at
    bool is_open = true;
  };

  std::unique_ptr<Link> dial(const HostAndPort& address, LinkId id) override {
    ends[id] = {.address = address};
    return std::make_unique<StageLink>(*this, id);
  }

  std::map<LinkId, End> ends;

 private:
  class StageLink final : public Link {
   public:
    StageLink(StageNetwork& network, LinkId id) : network_(network), id_(id) {}
    ~StageLink() override { network_.ends[id_].is_open = false; }
    StageLink(const StageLink&) = delete;
    StageLink& operator=(const StageLink&) = delete;
    void send(std::string bytes) override { network_.ends[id_].output += bytes; }

   private:
    StageNetwork& network_;
    const LinkId id_;
  };
};

}  // namespace tenure::hazelcast
