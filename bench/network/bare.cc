#include "bare.h"

#include <array>
#include <cerrno>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "resp.h"

namespace tenure::bench {
namespace {

std::uint64_t key_of(const Descriptor& descriptor) { return static_cast<std::uint64_t>(descriptor.get()); }

// A client that does not take its answers loses them, and fails over it: it is the load, which always does.
void answer(const Descriptor& socket, std::size_t times) {
  std::string replies;
  for (std::size_t i = 0; i < times; ++i) replies += "+OK\r\n";
  ::send(socket.get(), replies.data(), replies.size(), MSG_NOSIGNAL);
}

}  // namespace

BareServer::BareServer(std::uint16_t port, const std::string& path)
    : listener_(listen_at(port)), poll_(make_poll()), commit_(path) {
  watch(poll_, listener_, EPOLLIN, key_of(listener_));
  watch(poll_, commit_.done(), EPOLLIN, key_of(commit_.done()));
}

void BareServer::run() {
  std::array<epoll_event, 256> events{};
  while (true) {
    const int count = ::epoll_wait(poll_.get(), events.data(), static_cast<int>(events.size()), -1);
    if (count < 0 && errno != EINTR) throw_system_error("epoll_wait");
    for (int i = 0; i < count; ++i) serve(events.at(static_cast<std::size_t>(i)).data.u64);
    begin_batch();
  }
}

void BareServer::serve(std::uint64_t key) {
  if (key == key_of(listener_)) return accept_all();
  if (key == key_of(commit_.done())) return finish_batch();
  const auto found = clients_.find(key);
  if (found == clients_.end()) return;
  receive(std::shared_ptr(found->second));
}

void BareServer::accept_all() {
  while (true) {
    Descriptor socket = accept_from(listener_);
    if (socket.get() < 0) return;
    const std::uint64_t key = key_of(socket);
    watch(poll_, socket, EPOLLIN, key);
    clients_[key] = std::make_shared<Client>(Client{.socket = std::move(socket), .input = {}});
  }
}

void BareServer::receive(const std::shared_ptr<Client>& client) {
  std::array<char, std::size_t{64} << 10> chunk;  // not filled: 64 KiB for nothing
  const ssize_t bytes = ::recv(client->socket.get(), chunk.data(), chunk.size(), 0);
  if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (bytes <= 0) {
    ::epoll_ctl(poll_.get(), EPOLL_CTL_DEL, client->socket.get(), nullptr);
    clients_.erase(key_of(client->socket));
    return;
  }
  client->input.append(chunk.data(), static_cast<std::size_t>(bytes));
  take_requests(client);
}

void BareServer::take_requests(const std::shared_ptr<Client>& client) {
  std::size_t requests = 0;
  std::size_t taken = 0;
  const std::string_view input = client->input;
  while (const std::size_t end = find_resp_end(input.substr(taken))) {
    taken += end;
    ++requests;
  }
  if (requests == 0) return;
  pending_ += input.substr(0, taken);
  client->input.erase(0, taken);
  pending_owed_.emplace_back(client, requests);
}

void BareServer::finish_batch() {
  std::uint64_t batches = 0;
  if (::read(commit_.done().get(), &batches, sizeof batches) != sizeof batches) return;
  is_syncing_ = false;
  // The next batch is on its way before this one's answers are.
  Owed answered;
  answered.swap(syncing_owed_);
  begin_batch();
  for (const auto& [client, requests] : answered) answer(client->socket, requests);
}

void BareServer::begin_batch() {
  if (is_syncing_ || pending_.empty()) return;
  is_syncing_ = true;
  syncing_owed_.swap(pending_owed_);
  commit_.begin(pending_);
}

}  // namespace tenure::bench
