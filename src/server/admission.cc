// Who may come in, and do what.
#include <csignal>

#include <fmt/format.h>

#include "base/files.h"
#include "server/server.h"
#include "wire/permissions.h"

namespace tenure::server {
namespace {

using boost::system::error_code;

// Whom AUTH with a password alone means, as Redis has it.
constexpr std::string_view kDefaultUser = "default";

}  // namespace

std::optional<Failure> Server::refusal(const wire::Conversation& conversation, const wire::Verb& verb,
                                       const wire::Request& request) {
  if (users_ == nullptr) return std::nullopt;
  return wire::refusal_of(conversation.user().get(), verb, request, [this](std::string_view task_id) {
    return engine_.inspect([&](const State& state) -> std::optional<std::string> {
      const Task* task = state.tasks().find(task_id);
      return task == nullptr ? std::nullopt : std::optional<std::string>(task->queue->name);
    });
  });
}

// Names are not logged: people mistake the field for the password's.
void Server::check(wire::Conversation& conversation, const wire::Credentials& credentials,
                   wire::Conversation::SignIn done) {
  if (users_ == nullptr) {
    return done(fail_with(ErrorCode::kErr, "AUTH: expected no password, since no users are configured; found one"));
  }
  sign_ins_.check(
      users_->find(credentials.user.value_or(kDefaultUser)), credentials.password,
      [this, id = conversation.client_id(), done = std::move(done)](Result<SignIns::UserPointer> user) mutable {
        if (user) user = as_of_now(*user);
        if (!user) log_refused_sign_in(id);
        done(std::move(user));
      });
}

void Server::log_refused_sign_in(std::uint64_t id) const {
  const auto found = connections_.find(id);
  log_warning("sign_in.refused", "its sign-in is refused",
              {{"client", id}, {"address", found == connections_.end() ? "" : found->second->address()}});
}

// Users may have changed while the password was checked.
Result<SignIns::UserPointer> Server::as_of_now(const SignIns::UserPointer& user) const {
  auto now = users_->find(user->name);
  if (now != nullptr && now->hash == user->hash) return now;
  return fail_with(ErrorCode::kNoAuth, "AUTH: expected a user who is there, found one who has changed meanwhile");
}

void Server::await_reload() {
  error_code ignored;
  hang_ups_.add(SIGHUP, ignored);
  hang_ups_.async_wait([this](const error_code& error, int /*number*/) {
    if (error) return;
    reload_users();
    await_reload();
  });
}

void Server::reload_users() {
  if (users_ == nullptr) return log_info("users.none", "SIGHUP: there are no users to read again");
  auto users = users::load_users(real_files(), config_.users);
  if (!users) {
    return log_error("users.refused", fmt::format("SIGHUP: the users stay as they are: {}", users.error().message));
  }
  users_ = std::make_shared<const users::Users>(std::move(*users));
  log_info("users.read", fmt::format("SIGHUP: read {} users from {}", users_->size(), config_.users));
  recheck_all();
}

// Who has gone, or has another password, must sign in again; roles count from now on.
void Server::recheck_all() {
  std::vector<std::shared_ptr<Connection>> all;
  for (const auto& [id, connection] : connections_) {
    if (connection->user() != nullptr) all.push_back(connection);
  }
  for (const auto& connection : all) connection->become(as_of_now(connection->user()).value_or(nullptr));
}

}  // namespace tenure::server
