#include "host.h"

#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "authority/seat.h"
#include "base/check.h"
#include "server/server.h"

namespace tenure::testing {

struct Host::Parts {
  server::Config config;
  boost::asio::io_context io{1};
  std::unique_ptr<Seat> seat;
  std::optional<server::Server> server;
  std::thread loop;
};

Host::Host(const Settings& settings) : parts_(std::make_unique<Parts>()) {
  spdlog::set_level(spdlog::level::warn);
  parts_->config.settings = settings;
  auto seat = Seat::in_memory(settings);
  TENURE_CHECK(seat.has_value(), "{}", seat.error().message);
  parts_->seat = std::move(*seat);
  auto listener = server::Listener::bind(parts_->io, "127.0.0.1", 0);
  TENURE_CHECK(listener.has_value(), "{}", listener.error().message);
  address_ = fmt::format("127.0.0.1:{}", (*listener)->address().port());
  std::vector<std::unique_ptr<server::Listener>> listeners;
  listeners.push_back(std::move(*listener));
  parts_->server.emplace(parts_->config,
                         server::Server::Ports{.io = parts_->io,
                                               .engine = parts_->seat->engine(),
                                               .journal = parts_->seat->journal(),
                                               .snapshots = nullptr,
                                               .clock = parts_->seat->clock()},
                         std::move(listeners), 1);
  const auto open = parts_->server->open();
  TENURE_CHECK(open.has_value(), "{}", open.error().message);
  parts_->loop = std::thread([this] { static_cast<void>(parts_->server->run()); });
}

Host::~Host() {
  parts_->server->stop("the test is over");
  parts_->loop.join();
  static_cast<void>(parts_->seat->close());
}

}  // namespace tenure::testing
