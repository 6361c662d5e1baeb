// Whether a session may have ended, as far as this side of its connections can tell.
//
// The server ends a session once it has had no connection for the grace. When it loses one cannot be seen from here;
// but every answer proves that the connection was still there when its request was sent. So the grace is counted from
// the last such time, and whoever joins again within it has joined the same life of the session. Without a grace a
// session lives only while a connection of that life does.
#pragma once

#include <map>

#include <tenure/types.h>
#include "client/line.h"

namespace tenure::client {

// One thread.
class SessionWatch final : public Line::Witness {
 public:
  static constexpr Millis kNever = Millis::max();

  explicit SessionWatch(Millis grace) : grace_(grace) {}
  void set_grace(Millis grace) { grace_ = grace; }
  // How often something must be asked, so that an end is neither feared too early nor noticed too late.
  [[nodiscard]] Millis question_interval() const;

  // A greeting ends with joining the session.
  void greeted(const Line& line, Millis sent, Millis now) override;
  void answered(const Line& line, Millis sent) override;
  void broken(const Line& line) override;

  // When it may have ended, unless something is heard before.
  [[nodiscard]] Millis may_end_at() const;
  // True, once for each life: it may have ended. What is connected now belongs to the next one.
  bool may_have_ended(Millis now);

 private:
  struct Membership {
    Millis sent{0};  // the request to join
    Millis joined{0};
    bool is_of_this_life = false;  // beyond doubt
  };

  Millis grace_;
  bool is_alive_ = false;
  Millis proven_{0};  // it was alive then
  std::map<const Line*, Membership> members_;
};

}  // namespace tenure::client
