// What happens in a simulation, one line for each event, for people to read.
#pragma once

#include <functional>
#include <string>

#include <fmt/format.h>

#include "agenda.h"

namespace tenure::sim {

// One thread. Without a listener nothing is written, which is most of the time.
class Story {
 public:
  using Listener = std::function<void(const std::string& line)>;

  Story(const Agenda& agenda, Listener listener) : agenda_(agenda), listener_(std::move(listener)) {}

  template <class... Args>
  void tell(fmt::format_string<Args...> text, Args&&... args) {
    if (!listener_) return;
    listener_(fmt::format("{:>7} {}", agenda_.now().count(), fmt::format(text, std::forward<Args>(args)...)));
  }
  [[nodiscard]] bool is_heard() const { return listener_ != nullptr; }

 private:
  const Agenda& agenda_;
  const Listener listener_;
};

}  // namespace tenure::sim
