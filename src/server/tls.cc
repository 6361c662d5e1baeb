#include "server/tls.h"

#include <fmt/format.h>

#include "base/check.h"
#include "tls/credentials.h"

namespace tenure::server {
namespace {

tls::Context new_server_context() {
  tls::Context context = tls::new_context(TLS_server_method());
  SSL_CTX* const raw = context.get();
  SSL_CTX_set_options(raw, SSL_OP_NO_TICKET | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(raw, 0);
  // A connection that is idle keeps no buffers.
  SSL_CTX_set_mode(raw, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  return context;
}

// Who shows no certificate comes in, and signs in otherwise.
Result<Done> ask_for_certificates(SSL_CTX* context, Files& files, const std::string& path) {
  const auto authorities = tls::read_certificates(files, {"--tls-client-ca", path});
  if (!authorities) return tl::unexpected(authorities.error());
  for (const tls::Certificate& authority : *authorities) SSL_CTX_add_client_CA(context, authority.get());
  return tls::believe(context, *authorities);
}

}  // namespace

// --- what is shown ---

struct TlsIdentity::Parts {
  tls::Context context;
};

TlsIdentity::TlsIdentity(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
TlsIdentity::~TlsIdentity() = default;

Result<std::shared_ptr<const TlsIdentity>> TlsIdentity::load(Files& files, const Paths& paths) {
  auto parts = std::make_unique<Parts>(Parts{.context = new_server_context()});
  SSL_CTX* const context = parts->context.get();
  auto taken = tls::show_certificate(context, files, {"--tls-cert", paths.certificate});
  if (taken) taken = tls::take_key(context, files, {"--tls-key", paths.key});
  if (taken && !paths.client_ca.empty()) taken = ask_for_certificates(context, files, paths.client_ca);
  if (!taken) return tl::unexpected(taken.error());
  return std::shared_ptr<const TlsIdentity>(new TlsIdentity(std::move(parts)));
}

bool TlsIdentity::is_out_of_date() const {
  const X509* own = SSL_CTX_get0_certificate(parts_->context.get());
  return X509_cmp_current_time(X509_get0_notAfter(own)) < 0 || X509_cmp_current_time(X509_get0_notBefore(own)) > 0;
}

std::string out_of_date(const TlsIdentity::Paths& paths) {
  return fmt::format("--tls-cert {}: the certificate has expired, or is not valid yet: clients will refuse it",
                     paths.certificate);
}

// --- sessions ---

struct TlsSession::Parts {
  tls::Session ssl;
};

// OpenSSL keeps the context as long as the session needs it.
TlsSession::TlsSession(const std::shared_ptr<const TlsIdentity>& identity, int socket)
    : parts_(std::make_unique<Parts>()) {
  parts_->ssl.reset(SSL_new(identity->parts_->context.get()));
  TENURE_CHECK(parts_->ssl != nullptr, "OpenSSL gives no session: {}", tls::last_reason());
  SSL_set_fd(parts_->ssl.get(), socket);
  SSL_set_accept_state(parts_->ssl.get());
}
TlsSession::~TlsSession() = default;

TlsSession::Step TlsSession::shake_hands() {
  ERR_clear_error();
  return step_of(SSL_do_handshake(parts_->ssl.get()), 0);
}

TlsSession::Step TlsSession::read(absl::Span<char> into) {
  ERR_clear_error();
  std::size_t count = 0;
  const int result = SSL_read_ex(parts_->ssl.get(), into.data(), into.size(), &count);
  return step_of(result, count);
}

TlsSession::Step TlsSession::write(std::string_view bytes) {
  ERR_clear_error();
  std::size_t count = 0;
  const int result = SSL_write_ex(parts_->ssl.get(), bytes.data(), bytes.size(), &count);
  return step_of(result, count);
}

TlsSession::Step TlsSession::step_of(int result, std::size_t count) {
  if (result == 1) return {Outcome::kDone, count};
  switch (SSL_get_error(parts_->ssl.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return {Outcome::kNeedsRead};
    case SSL_ERROR_WANT_WRITE:
      return {Outcome::kNeedsWrite};
    case SSL_ERROR_ZERO_RETURN:
      return {Outcome::kEnd};
    case SSL_ERROR_SYSCALL:
      why_ = "the client has gone";
      return {Outcome::kFailed};
    default:
      break;
  }
  const long verified = SSL_get_verify_result(parts_->ssl.get());
  why_ = verified == X509_V_OK ? tls::last_reason()
                               : fmt::format("its certificate: {}", X509_verify_cert_error_string(verified));
  ERR_clear_error();
  return {Outcome::kFailed};
}

bool TlsSession::has_more() const { return SSL_has_pending(parts_->ssl.get()) == 1; }

void TlsSession::say_goodbye() {
  if (!why_.empty() || SSL_is_init_finished(parts_->ssl.get()) == 0) return;
  ERR_clear_error();
  SSL_shutdown(parts_->ssl.get());
  ERR_clear_error();
}

std::string TlsSession::peer_name() const {
  const tls::Certificate shown(SSL_get1_peer_certificate(parts_->ssl.get()));
  if (shown == nullptr || SSL_get_verify_result(parts_->ssl.get()) != X509_V_OK) return "";
  const X509_NAME* subject = X509_get_subject_name(shown.get());
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at < 0 || X509_NAME_get_index_by_NID(subject, NID_commonName, at) >= 0) return "";
  unsigned char* text = nullptr;
  const int size = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
  if (size < 0) return "";
  std::string name(text, text + size);
  OPENSSL_free(text);
  return name;
}

}  // namespace tenure::server
