#include "server/tls.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "base/check.h"
#include "base/whole_file.h"

namespace tenure::server {

// OpenSSL's things, freed when they end. Not in the unnamed namespace: members have these types.
namespace openssl {

template <auto kFree>
struct Freeing {
  template <class T>
  void operator()(T* thing) const {
    kFree(thing);
  }
};
using Context = std::unique_ptr<SSL_CTX, Freeing<SSL_CTX_free>>;
using Bio = std::unique_ptr<BIO, Freeing<BIO_free>>;
using Certificate = std::unique_ptr<X509, Freeing<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freeing<EVP_PKEY_free>>;
using Session = std::unique_ptr<SSL, Freeing<SSL_free>>;

}  // namespace openssl

namespace {

using openssl::Bio;
using openssl::Certificate;
using openssl::Context;
using openssl::Key;

constexpr std::uint64_t kPemBytesMax = std::uint64_t{1} << 20;
// Of TLS 1.2: those that keep what was said secret also from whoever learns the key later. All of 1.3 do.
constexpr const char* kCiphers = "ECDHE+AESGCM:ECDHE+CHACHA20";

// The last thing that went wrong.
std::string reason() {
  const char* text = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return text == nullptr ? "no reason given" : text;
}

tl::unexpected<Failure> unfit(std::string_view flag, const std::string& path, std::string_view expected) {
  return fail_with(ErrorCode::kInvalid, "{} {}: expected {}, found: {}", flag, path, expected, reason());
}

// A reader of the file's text, which is read to its end first and outlives it.
Result<std::string> pem_text(Files& files, std::string_view flag, const std::string& path) {
  if (path.empty()) {
    return fail_with(ErrorCode::kInvalid, "{}: expected a file, found none: TLS needs --tls-cert and --tls-key", flag);
  }
  auto text = read_whole(files, path, kPemBytesMax);
  if (!text) return fail_with(text.error().code, "{}: {}", flag, text.error().message);
  return text;
}
Bio reader_of(const std::string& text) { return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))); }

Certificate next_certificate(BIO* reader) { return Certificate(PEM_read_bio_X509(reader, nullptr, nullptr, nullptr)); }

// Nobody is there to be asked.
int no_passphrase(char* /*into*/, int /*size*/, int /*is_writing*/, void* was_asked) {
  *static_cast<bool*>(was_asked) = true;
  return -1;
}

Context new_context() {
  Context context(SSL_CTX_new(TLS_server_method()));
  TENURE_CHECK(context != nullptr, "OpenSSL gives no context: {}", reason());
  SSL_CTX* const raw = context.get();
  SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION);
  SSL_CTX_set_cipher_list(raw, kCiphers);
  SSL_CTX_set_options(raw, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION |
                               SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(raw, 0);
  // A connection that is idle keeps no buffers.
  SSL_CTX_set_mode(raw, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  return context;
}

Result<Done> take_certificate(SSL_CTX* context, Files& files, const std::string& path) {
  const auto text = pem_text(files, "--tls-cert", path);
  if (!text) return tl::unexpected(text.error());
  const Bio reader = reader_of(*text);
  const Certificate own = next_certificate(reader.get());
  if (own == nullptr) return unfit("--tls-cert", path, "a certificate in PEM");
  if (SSL_CTX_use_certificate(context, own.get()) != 1) return unfit("--tls-cert", path, "a certificate for a server");
  while (const Certificate above = next_certificate(reader.get())) {
    if (SSL_CTX_add1_chain_cert(context, above.get()) != 1) return unfit("--tls-cert", path, "a chain of certificates");
  }
  ERR_clear_error();
  return Done{};
}

Result<Done> take_key(SSL_CTX* context, Files& files, const std::string& path) {
  const auto text = pem_text(files, "--tls-key", path);
  if (!text) return tl::unexpected(text.error());
  const Bio reader = reader_of(*text);
  bool was_asked = false;
  const Key key(PEM_read_bio_PrivateKey(reader.get(), nullptr, no_passphrase, &was_asked));
  if (key == nullptr && was_asked) {
    ERR_clear_error();
    return fail_with(ErrorCode::kInvalid, "--tls-key {}: expected a key without a passphrase, found one with", path);
  }
  if (key == nullptr) return unfit("--tls-key", path, "a private key in PEM");
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1 || SSL_CTX_check_private_key(context) != 1) {
    return unfit("--tls-key", path, "the key of the certificate");
  }
  return Done{};
}

Result<Done> take_client_authorities(SSL_CTX* context, Files& files, const std::string& path) {
  const auto text = pem_text(files, "--tls-client-ca", path);
  if (!text) return tl::unexpected(text.error());
  const Bio reader = reader_of(*text);
  int count = 0;
  while (const Certificate authority = next_certificate(reader.get())) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get());
    SSL_CTX_add_client_CA(context, authority.get());
    ++count;
  }
  if (count == 0) return unfit("--tls-client-ca", path, "certificates in PEM");
  ERR_clear_error();
  // Who shows none comes in, and signs in otherwise.
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  return Done{};
}

}  // namespace

// --- what is shown ---

struct TlsIdentity::Parts {
  openssl::Context context;
};

TlsIdentity::TlsIdentity(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
TlsIdentity::~TlsIdentity() = default;

Result<std::shared_ptr<const TlsIdentity>> TlsIdentity::load(Files& files, const Paths& paths) {
  auto parts = std::make_unique<Parts>(Parts{.context = new_context()});
  SSL_CTX* const context = parts->context.get();
  if (auto taken = take_certificate(context, files, paths.certificate); !taken) return tl::unexpected(taken.error());
  if (auto taken = take_key(context, files, paths.key); !taken) return tl::unexpected(taken.error());
  if (!paths.client_ca.empty()) {
    if (auto taken = take_client_authorities(context, files, paths.client_ca); !taken) {
      return tl::unexpected(taken.error());
    }
  }
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
  openssl::Session ssl;
};

// OpenSSL keeps the context as long as the session needs it.
TlsSession::TlsSession(const std::shared_ptr<const TlsIdentity>& identity, int socket)
    : parts_(std::make_unique<Parts>()) {
  parts_->ssl.reset(SSL_new(identity->parts_->context.get()));
  TENURE_CHECK(parts_->ssl != nullptr, "OpenSSL gives no session: {}", reason());
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
  why_ = verified == X509_V_OK ? reason() : fmt::format("its certificate: {}", X509_verify_cert_error_string(verified));
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
  const Certificate shown(SSL_get1_peer_certificate(parts_->ssl.get()));
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
