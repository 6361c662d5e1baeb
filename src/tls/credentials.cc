#include "tls/credentials.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/pem.h>

#include "base/check.h"
#include "base/whole_file.h"

namespace tenure::tls {
namespace {

using Bio = std::unique_ptr<BIO, Freeing<BIO_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freeing<EVP_PKEY_free>>;

constexpr std::uint64_t kPemBytesMax = std::uint64_t{1} << 20;
// Of TLS 1.2: those that keep what was said secret also from whoever learns the key later. All of 1.3 do.
constexpr const char* kCiphers = "ECDHE+AESGCM:ECDHE+CHACHA20";

tl::unexpected<Failure> unfit(const PemFile& file, std::string_view expected) {
  return fail_with(ErrorCode::kInvalid, "{} {}: expected {}, found: {}", file.setting, file.path, expected,
                   last_reason());
}

Result<std::string> text_of(Files& files, const PemFile& file) {
  if (file.path.empty()) {
    return fail_with(ErrorCode::kInvalid, "{}: expected a file, found none: a certificate and its key come together",
                     file.setting);
  }
  auto text = read_whole(files, file.path, kPemBytesMax);
  if (!text) return fail_with(ErrorCode::kInvalid, "{}: {}", file.setting, text.error().message);
  return text;
}

// The text outlives it.
Bio reader_of(const std::string& text) { return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))); }

int no_passphrase(char* /*into*/, int /*size*/, int /*is_writing*/, void* was_asked) {
  *static_cast<bool*>(was_asked) = true;
  return -1;
}

// Whom this machine believes, if no file says otherwise.
Result<Done> believe_authorities(SSL_CTX* context, Files& files, const std::string& path) {
  if (!path.empty()) {
    const auto authorities = read_certificates(files, {"tls.ca_file", path});
    if (!authorities) return tl::unexpected(authorities.error());
    return believe(context, *authorities);
  }
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_default_verify_paths(context);
  return Done{};
}

}  // namespace

std::string last_reason() {
  const char* text = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return text == nullptr ? "no reason given" : text;
}

Context new_context(const SSL_METHOD* method) {
  Context context(SSL_CTX_new(method));
  TENURE_CHECK(context != nullptr, "OpenSSL gives no context: {}", last_reason());
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_cipher_list(context.get(), kCiphers);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_IGNORE_UNEXPECTED_EOF);
  return context;
}

Result<std::vector<Certificate>> read_certificates(Files& files, const PemFile& file) {
  const auto text = text_of(files, file);
  if (!text) return tl::unexpected(text.error());
  const Bio reader = reader_of(*text);
  std::vector<Certificate> all;
  while (X509* const next = PEM_read_bio_X509(reader.get(), nullptr, nullptr, nullptr)) all.emplace_back(next);
  if (all.empty()) return unfit(file, "certificates in PEM");
  ERR_clear_error();  // it tells the end of the text as one
  return all;
}

Result<Done> show_certificate(SSL_CTX* context, Files& files, const PemFile& file) {
  const auto chain = read_certificates(files, file);
  if (!chain) return tl::unexpected(chain.error());
  if (SSL_CTX_use_certificate(context, chain->front().get()) != 1) return unfit(file, "a certificate for TLS");
  for (std::size_t i = 1; i < chain->size(); ++i) {
    if (SSL_CTX_add1_chain_cert(context, (*chain)[i].get()) != 1) return unfit(file, "a chain of certificates");
  }
  return Done{};
}

Result<Done> take_key(SSL_CTX* context, Files& files, const PemFile& file) {
  const auto text = text_of(files, file);
  if (!text) return tl::unexpected(text.error());
  const Bio reader = reader_of(*text);
  bool was_asked = false;
  const Key key(PEM_read_bio_PrivateKey(reader.get(), nullptr, no_passphrase, &was_asked));
  if (key == nullptr && was_asked) {
    ERR_clear_error();
    return fail_with(ErrorCode::kInvalid, "{} {}: expected a key without a passphrase, found one with", file.setting,
                     file.path);
  }
  if (key == nullptr) return unfit(file, "a private key in PEM");
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1 || SSL_CTX_check_private_key(context) != 1) {
    return unfit(file, "the key of the certificate");
  }
  return Done{};
}

Result<Done> believe(SSL_CTX* context, const std::vector<Certificate>& authorities) {
  for (const Certificate& authority : authorities) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get()) != 1) {
      return fail_with(ErrorCode::kInvalid, "an authority's certificate: expected one for TLS, found: {}",
                       last_reason());
    }
  }
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  return Done{};
}

Result<Context> client_context(Files& files, const ClientTls& given) {
  Context context = new_context(TLS_client_method());
  auto taken = believe_authorities(context.get(), files, given.ca_file);
  if (taken && (!given.certificate_file.empty() || !given.key_file.empty())) {
    taken = show_certificate(context.get(), files, {"tls.certificate_file", given.certificate_file});
    if (taken) taken = take_key(context.get(), files, {"tls.key_file", given.key_file});
  }
  if (!taken) return tl::unexpected(taken.error());
  return context;
}

}  // namespace tenure::tls
