// OpenSSL's contexts with certificates, keys and authorities from files of PEM: what a client shows and believes is
// read as a server's is. For the files that know OpenSSL: they include its headers through this one.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <tenure/client.h>
#include "base/files.h"
#include "base/result.h"

namespace tenure::tls {

// OpenSSL's things, freed when they end.
template <auto kFree>
struct Freeing {
  template <class T>
  void operator()(T* thing) const {
    kFree(thing);
  }
};
using Context = std::unique_ptr<SSL_CTX, Freeing<SSL_CTX_free>>;
using Certificate = std::unique_ptr<X509, Freeing<X509_free>>;
using Session = std::unique_ptr<SSL, Freeing<SSL_free>>;

// The last thing that went wrong, in OpenSSL's words. Forgets it.
std::string last_reason();

// TLS 1.2 and later, with secrets that outlive the key's; no renegotiation, no compression.
Context new_context(const SSL_METHOD* method);

// A file, and what names it in messages: a flag, or a setting. Both outlive it.
struct PemFile {
  std::string_view setting;
  const std::string& path;
};

// Those that are in the file, at least one.
Result<std::vector<Certificate>> read_certificates(Files& files, const PemFile& file);
// The first is what is shown, those behind it lead to one that the other side believes.
Result<Done> show_certificate(SSL_CTX* context, Files& files, const PemFile& file);
// Of the certificate that is shown; without a passphrase: nobody is there to be asked.
Result<Done> take_key(SSL_CTX* context, Files& files, const PemFile& file);
// Whoever these have signed is believed.
Result<Done> believe(SSL_CTX* context, const std::vector<Certificate>& authorities);

// With all that a client's settings say; they are called tls.ca_file and so on.
Result<Context> client_context(Files& files, const ClientTls& given);

}  // namespace tenure::tls
