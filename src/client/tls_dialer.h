// TLS over another stream, by OpenSSL: tls_dialer.cc is the one file of the client that knows it.
#pragma once

#include <memory>

#include <tenure/client.h>
#include "base/files.h"
#include "base/result.h"
#include "client/stream.h"

namespace tenure::client {

// Streams of `below`, on which the server proves who it is before anything is said. Says which file is missing, or not
// what it should be.
Result<std::unique_ptr<Dialer>> make_tls_dialer(Files& files, const ClientTls& given, std::unique_ptr<Dialer> below);

}  // namespace tenure::client
