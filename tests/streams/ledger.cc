#include "ledger.h"

#include <array>
#include <fcntl.h>
#include <poll.h>
#include <sstream>
#include <stdexcept>
#include <unistd.h>

#include <fmt/format.h>

#include "log.h"

namespace tenure::testing {
namespace {

constexpr int kPipeBytes = 4096;        // the least there is
constexpr std::size_t kReadBytes = 64;  // a few lines

}  // namespace

Ledger::Ledger() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  page_ = ends[0];
  pen_ = ends[1];
  ::fcntl(pen_, F_SETPIPE_SZ, kPipeBytes);
}

Ledger::~Ledger() {
  ::close(page_);
  ::close(pen_);
}

std::optional<Booking> Ledger::next(Millis patience) {
  while (text_.find('\n') == std::string::npos) {
    pollfd waiting{.fd = page_, .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, static_cast<int>(patience.count())) <= 0) return std::nullopt;
    std::array<char, kReadBytes> bytes{};
    const ssize_t count = ::read(page_, bytes.data(), bytes.size());
    if (count > 0) text_.append(bytes.data(), static_cast<std::size_t>(count));
  }
  const std::size_t end = text_.find('\n');
  std::istringstream line(text_.substr(0, end));
  text_.erase(0, end + 1);
  Booking booking;
  if (!(line >> booking.domain >> booking.offset.value >> booking.fence.value >> booking.payload)) {
    throw std::runtime_error("expected a booking, found " + line.str());
  }
  return booking;
}

void Books::enter(const Booking& booking) {
  const auto wrong = [&](const char* what) {
    throw std::runtime_error(
        fmt::format("{} {} under fence {}: {}", booking.domain, booking.offset.value, booking.fence.value, what));
  };
  if (!guard_.admit(booking.domain, booking.fence)) {
    ++refused_;
    return;
  }
  if (booking.payload != Log::payload(booking.domain, booking.offset)) wrong("not its payload");
  Page& page = pages_.try_emplace(booking.domain, Page{.next = first_, .fence = booking.fence}).first->second;
  const bool is_again = booking.offset.value + 1 == page.next.value;
  if (is_again && booking.fence <= page.fence) wrong("again, without a higher fence");
  if (!is_again && booking.offset != page.next) wrong("not in order");
  if (is_again) {
    ++repeated_;
  } else {
    ++page.next.value;
  }
  page.fence = booking.fence;
  page.fences.insert(booking.fence);
}

std::int64_t Books::entered(const std::string& domain) const {
  const auto page = pages_.find(domain);
  return page == pages_.end() ? 0 : page->second.next.value - first_.value;
}

std::size_t Books::holders(const std::string& domain) const {
  const auto page = pages_.find(domain);
  return page == pages_.end() ? 0 : page->second.fences.size();
}

}  // namespace tenure::testing
