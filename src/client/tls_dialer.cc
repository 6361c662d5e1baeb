#include "client/tls_dialer.h"

#include <arpa/inet.h>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/bio.h>
#include <openssl/x509v3.h>

#include "base/check.h"
#include "tls/credentials.h"

namespace tenure::client {
namespace {

using Names = std::unique_ptr<GENERAL_NAMES, tls::Freeing<GENERAL_NAMES_free>>;

constexpr std::size_t kBytesAtOnce = std::size_t{64} << 10;

// --- who the server is ---

std::string text_of(const ASN1_STRING* text) {
  const auto* const begin = reinterpret_cast<const char*>(ASN1_STRING_get0_data(text));
  return {begin, static_cast<std::size_t>(ASN1_STRING_length(text))};
}

std::string address_of(const ASN1_OCTET_STRING* bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = ASN1_STRING_length(bytes) == 4 ? AF_INET : AF_INET6;
  const char* const shown =
      ::inet_ntop(family, ASN1_STRING_get0_data(bytes), text.data(), static_cast<socklen_t>(text.size()));
  return shown == nullptr ? "an address" : shown;
}

// Whom a certificate is for.
std::string names_in(X509* certificate) {
  if (certificate == nullptr) return "nobody";
  std::vector<std::string> names;
  const Names found(static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; found != nullptr && i < sk_GENERAL_NAME_num(found.get()); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(found.get(), i);
    if (name->type == GEN_DNS) names.push_back(text_of(name->d.dNSName));
    if (name->type == GEN_IPADD) names.push_back(address_of(name->d.iPAddress));
  }
  if (!names.empty()) return fmt::format("{}", fmt::join(names, ", "));
  const X509_NAME* const subject = X509_get_subject_name(certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  return at < 0 ? "nobody" : text_of(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
}

bool is_an_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return ::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

bool is_plain_text(unsigned long error) {
  const int reason = ERR_GET_REASON(error);
  return reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_PACKET_LENGTH_TOO_LONG ||
         reason == SSL_R_UNEXPECTED_MESSAGE || reason == SSL_R_HTTP_REQUEST;
}

// What OpenSSL reads and writes are bytes in memory, which are passed on to and taken from the stream below. One
// thread.
class TlsStream final : public Stream {
 public:
  // `expected` is the name that the server's certificate must be for, `believed` who must have signed it.
  TlsStream(SSL_CTX* context, std::unique_ptr<Stream> below, std::string expected, std::string believed);

  [[nodiscard]] int descriptor() const override { return below_->descriptor(); }
  [[nodiscard]] bool wants_to_write() const override { return below_->wants_to_write() || has_output(); }
  [[nodiscard]] bool is_refused() const override { return is_refused_; }
  Result<bool> advance() override;
  Result<std::size_t> send(std::string_view bytes) override;
  Result<std::size_t> receive(std::string& to) override;

 private:
  [[nodiscard]] bool has_output() const { return sent_ < output_.size(); }
  Result<Done> pass_on();
  Result<std::size_t> fetch();
  tl::unexpected<Failure> refuse();

  static int note_refused(int is_good, X509_STORE_CTX* verification);

  const std::unique_ptr<Stream> below_;
  const std::string expected_;
  const std::string believed_;
  std::string found_ = "nobody";  // whom the certificate is for that was refused
  tls::Session ssl_;
  BIO* in_;   // the session's
  BIO* out_;  // likewise
  std::string output_;
  std::size_t sent_ = 0;  // of the output
  bool is_connected_ = false;
  bool is_refused_ = false;
};

TlsStream::TlsStream(SSL_CTX* context, std::unique_ptr<Stream> below, std::string expected, std::string believed)
    : below_(std::move(below)),
      expected_(std::move(expected)),
      believed_(std::move(believed)),
      ssl_(SSL_new(context)),
      in_(BIO_new(BIO_s_mem())),
      out_(BIO_new(BIO_s_mem())) {
  TENURE_CHECK(ssl_ != nullptr && in_ != nullptr && out_ != nullptr, "OpenSSL gives no session: {}",
               tls::last_reason());
  SSL_set_bio(ssl_.get(), in_, out_);
  SSL_set_connect_state(ssl_.get());
  SSL_set_app_data(ssl_.get(), this);
  SSL_set_verify(ssl_.get(), SSL_VERIFY_PEER, &TlsStream::note_refused);
  if (is_an_address(expected_)) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_.get()), expected_.c_str());
  } else {
    SSL_set1_host(ssl_.get(), expected_.c_str());
    SSL_set_tlsext_host_name(ssl_.get(), expected_.c_str());
  }
}

// The session does not keep a certificate that it has refused.
int TlsStream::note_refused(int is_good, X509_STORE_CTX* verification) {
  const auto* const session =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(verification, SSL_get_ex_data_X509_STORE_CTX_idx()));
  if (is_good == 0) {
    static_cast<TlsStream*>(SSL_get_app_data(session))->found_ =
        names_in(X509_STORE_CTX_get_current_cert(verification));
  }
  return is_good;
}

Result<bool> TlsStream::advance() {
  if (!is_connected_) {
    auto connected = below_->advance();
    if (!connected || !*connected) return connected;
    is_connected_ = true;
  }
  while (true) {
    ERR_clear_error();
    const int result = SSL_do_handshake(ssl_.get());
    const bool needs_more = result != 1 && SSL_get_error(ssl_.get(), result) == SSL_ERROR_WANT_READ;
    if (result != 1 && !needs_more) return refuse();
    if (const auto passed_on = pass_on(); !passed_on) return tl::unexpected(passed_on.error());
    if (result == 1) return true;
    const auto fetched = fetch();
    if (!fetched) return fail_with(ErrorCode::kUnavailable, "TLS: no handshake: {}", fetched.error().message);
    if (*fetched == 0) return false;
  }
}

Result<std::size_t> TlsStream::send(std::string_view bytes) {
  if (const auto passed_on = pass_on(); !passed_on) return tl::unexpected(passed_on.error());
  if (bytes.empty() || has_output()) return 0;
  ERR_clear_error();
  std::size_t count = 0;
  if (SSL_write_ex(ssl_.get(), bytes.data(), std::min(bytes.size(), kBytesAtOnce), &count) != 1) return refuse();
  if (const auto passed_on = pass_on(); !passed_on) return tl::unexpected(passed_on.error());
  return count;
}

// Whatever was fetched is read to its end: the descriptor does not tell of what lies here.
Result<std::size_t> TlsStream::receive(std::string& to) {
  const auto fetched = fetch();
  if (!fetched) return tl::unexpected(fetched.error());
  std::array<char, std::size_t{16} << 10> bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init): written by OpenSSL
  const std::size_t before = to.size();
  while (true) {
    ERR_clear_error();
    std::size_t count = 0;
    const int result = SSL_read_ex(ssl_.get(), bytes.data(), bytes.size(), &count);
    if (result == 1) {
      to.append(bytes.data(), count);
      continue;
    }
    const int error = SSL_get_error(ssl_.get(), result);
    if (error == SSL_ERROR_WANT_READ || to.size() > before) break;  // the next call meets the end again
    if (error == SSL_ERROR_ZERO_RETURN)
      return fail_with(ErrorCode::kUnavailable, "the server has closed the connection");
    return refuse();
  }
  if (const auto passed_on = pass_on(); !passed_on) return tl::unexpected(passed_on.error());
  return to.size() - before;
}

Result<Done> TlsStream::pass_on() {
  std::array<char, std::size_t{16} << 10> bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init): written by OpenSSL
  for (int count = 0; (count = BIO_read(out_, bytes.data(), static_cast<int>(bytes.size()))) > 0;) {
    output_.append(bytes.data(), static_cast<std::size_t>(count));
  }
  while (has_output()) {
    const auto sent = below_->send(std::string_view(output_).substr(sent_));
    if (!sent) return tl::unexpected(sent.error());
    if (*sent == 0) return Done{};
    sent_ += *sent;
  }
  output_.clear();
  sent_ = 0;
  return Done{};
}

Result<std::size_t> TlsStream::fetch() {
  std::string bytes;
  const auto received = below_->receive(bytes);
  if (received && *received > 0) BIO_write(in_, bytes.data(), static_cast<int>(bytes.size()));
  return received;
}

// Another try would end alike: the server is not the one that was expected, or does not want this client.
tl::unexpected<Failure> TlsStream::refuse() {
  is_refused_ = true;
  const unsigned long error = ERR_peek_last_error();
  const std::string reason = tls::last_reason();
  const long verified = SSL_get_verify_result(ssl_.get());
  static_cast<void>(pass_on());  // the server is told, too
  if (verified == X509_V_ERR_HOSTNAME_MISMATCH || verified == X509_V_ERR_IP_ADDRESS_MISMATCH) {
    return fail_with(ErrorCode::kUnavailable, "TLS: expected a certificate for {}, found one for {}", expected_,
                     found_);
  }
  if (verified != X509_V_OK) {
    return fail_with(ErrorCode::kUnavailable, "TLS: expected a certificate that is valid and signed by {}, found: {}",
                     believed_, X509_verify_cert_error_string(verified));
  }
  if (is_plain_text(error)) {
    return fail_with(ErrorCode::kUnavailable, "TLS: expected a server that speaks it, found one that does not");
  }
  return fail_with(ErrorCode::kUnavailable, "TLS: expected to be let in, found: {}", reason);
}

// One thread.
class TlsDialer final : public Dialer {
 public:
  TlsDialer(tls::Context context, ClientTls given, std::unique_ptr<Dialer> below)
      : context_(std::move(context)), given_(std::move(given)), below_(std::move(below)) {}

  Result<std::unique_ptr<Stream>> dial(const std::string& address) override {
    const auto where = read_address(address);
    if (!where) return tl::unexpected(where.error());
    auto stream = below_->dial(address);
    if (!stream) return stream;
    return std::make_unique<TlsStream>(context_.get(), std::move(*stream),
                                       given_.server_name.empty() ? where->host : given_.server_name,
                                       given_.ca_file.empty() ? "whom this machine believes" : given_.ca_file);
  }

 private:
  const tls::Context context_;
  const ClientTls given_;
  const std::unique_ptr<Dialer> below_;
};

}  // namespace

Result<std::unique_ptr<Dialer>> make_tls_dialer(Files& files, const ClientTls& given, std::unique_ptr<Dialer> below) {
  auto context = tls::client_context(files, given);
  if (!context) return tl::unexpected(context.error());
  SSL_CTX_set_mode(context->get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_RELEASE_BUFFERS);
  return std::make_unique<TlsDialer>(std::move(*context), given, std::move(below));
}

}  // namespace tenure::client
