// Sockets on the loopback interface, and whoever owns a descriptor. Failures are thrown, with the system's reason.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

namespace tenure::bench {

[[noreturn]] void throw_system_error(std::string_view what);

// Owns a file descriptor. One thread.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();

  [[nodiscard]] int get() const { return number_; }

 private:
  int number_;
};

Descriptor make_poll();
// Adds a descriptor to the poll, which tells of it by the key; rewatch() changes what for.
void watch(const Descriptor& poll, const Descriptor& watched, std::uint32_t events, std::uint64_t key);
void rewatch(const Descriptor& poll, const Descriptor& watched, std::uint32_t events, std::uint64_t key);

// All are non-blocking and send at once.
Descriptor connect_to(std::uint16_t port);
Descriptor listen_at(std::uint16_t port);
std::uint16_t port_of(const Descriptor& listener);
// A descriptor of -1 if nobody waits.
Descriptor accept_from(const Descriptor& listener);

}  // namespace tenure::bench
