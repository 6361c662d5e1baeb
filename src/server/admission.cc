// Who may come in, and do what.
#include <csignal>

#include <fmt/format.h>

#include "base/files.h"
#include "server/server.h"
#include "wire/permissions.h"
#include "wire/word.h"

namespace tenure::server {
namespace {

using boost::system::error_code;

// Whom AUTH with a password alone means, as Redis has it.
constexpr std::string_view kDefaultUser = "default";

}  // namespace

std::optional<Failure> Server::refusal(const wire::Conversation& conversation, const wire::Verb& verb,
                                       const wire::Request& request) {
  return users_ == nullptr ? std::nullopt : refusal(conversation.user().get(), verb, request);
}

std::optional<Failure> Server::refusal(const users::User& user, const wire::Verb& verb, const wire::Request& request) {
  return refusal(&user, verb, request);
}

std::optional<Failure> Server::refusal(const users::User* user, const wire::Verb& verb, const wire::Request& request) {
  return wire::refusal_of(user, verb, request, [this](std::string_view task_id) {
    return engine_.inspect([&](const State& state) -> std::optional<std::string> {
      const Task* task = state.tasks().find(task_id);
      return task == nullptr ? std::nullopt : std::optional<std::string>(task->queue->name);
    });
  });
}

void Server::check(wire::Conversation& conversation, const wire::Credentials& credentials,
                   wire::Conversation::SignIn done) {
  check(conversation.client_id(), credentials, std::move(done));
}
void Server::check(HttpConversation& conversation, const wire::Credentials& credentials,
                   wire::Conversation::SignIn done) {
  check(conversation.client_id(), credentials, std::move(done));
}

// Names are not logged: people mistake the field for the password's.
void Server::check(std::uint64_t client_id, const wire::Credentials& credentials, wire::Conversation::SignIn done) {
  if (users_ == nullptr) {
    return done(fail_with(ErrorCode::kErr, "AUTH: expected no password, since no users are configured; found one"));
  }
  sign_ins_.check(users_->find(credentials.user.value_or(kDefaultUser)), credentials.password,
                  [this, id = client_id, done = std::move(done)](Result<SignIns::UserPointer> user) mutable {
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
    reload_identity();
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

// Connections that are there go on with what they were shown.
void Server::reload_identity() {
  if (identity_ == nullptr) return;
  auto identity = TlsIdentity::load(real_files(), config_.tls);
  if (!identity) {
    return log_error("certificate.refused",
                     fmt::format("SIGHUP: the certificates stay as they are: {}", identity.error().message));
  }
  identity_ = std::move(*identity);
  log_info("certificate.read", fmt::format("SIGHUP: read the certificate from {}", config_.tls.certificate));
  if (identity_->is_out_of_date()) log_warning("certificate.out_of_date", out_of_date(config_.tls));
}

// --- strangers ---

void Server::on_certificate(Connection& connection, const std::string& name) {
  if (users_ == nullptr) return;
  const auto user = users_->find(name);
  if (user == nullptr) {
    log_warning("certificate.of_nobody", "its certificate is good for a name that is no user's",
                {{"client", connection.id()}, {"address", connection.address()}, {"name", name}});
  }
  connection.certify(user);
}

void Server::on_stranger(Connection& connection, bool is_stranger) {
  if (is_stranger) {
    strangers_.insert(connection.id());
  } else {
    strangers_.erase(connection.id());
  }
}

// Whose password is being checked has done its part.
bool Server::close_oldest_stranger() {
  for (const std::uint64_t id : strangers_) {
    const auto found = connections_.find(id);
    if (found == connections_.end() || found->second->is_signing_in()) continue;
    found->second->close("too many have not signed in, and it is the oldest of them");
    return true;
  }
  return false;
}

// --- users who have changed ---

// Who has gone, or has another password, must sign in again; roles count from now on.
void Server::recheck_all() {
  std::vector<Connection*> all;
  for (const auto& [id, connection] : connections_) {
    if (connection->user() != nullptr) all.push_back(connection.get());
  }
  for (Connection* const connection : all) {
    const auto user = connection->user();
    // A certificate is no password, and does not change with it.
    const bool is_certified = user->name == connection->certified_name();
    connection->become(is_certified ? users_->find(user->name) : as_of_now(user).value_or(nullptr));
  }
}

}  // namespace tenure::server
