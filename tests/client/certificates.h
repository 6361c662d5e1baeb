// Certificates made with the openssl program, in a folder.
#pragma once

#include <string>
#include <unistd.h>
#include <vector>

#include "base/check.h"
#include "child.h"

namespace tenure::testing {

// Signs certificates.
class Signer {
 public:
  struct Pair {
    std::string certificate;
    std::string key;
  };

  Signer(std::string folder, const std::string& name) : folder_(std::move(folder)), own_(files_of(name)) {
    make_key(name, own_.key, {"-x509", "-days", "2", "-out", own_.certificate});
  }
  [[nodiscard]] const std::string& certificate() const { return own_.certificate; }
  // For `host`, an address, if one is given.
  [[nodiscard]] Pair sign(const std::string& name, const std::string& host = "") const {
    const Pair signed_pair = files_of(name);
    const std::string request = folder_ + "/" + name + ".csr";
    std::vector<std::string> more = {"-out", request};
    if (!host.empty()) more.insert(more.end(), {"-addext", "subjectAltName=IP:" + host});
    make_key(name, signed_pair.key, more);
    openssl({"x509", "-req", "-in", request, "-CA", own_.certificate, "-CAkey", own_.key, "-days", "1",
             "-copy_extensions", "copy", "-out", signed_pair.certificate});
    return signed_pair;
  }

 private:
  [[nodiscard]] Pair files_of(const std::string& name) const {
    return {folder_ + "/" + name + ".pem", folder_ + "/" + name + ".key"};
  }
  static void make_key(const std::string& name, const std::string& key, const std::vector<std::string>& more) {
    std::vector<std::string> words = {"req",    "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                                      "-nodes", "-keyout", key,  "-subj",    "/CN=" + name};
    words.insert(words.end(), more.begin(), more.end());
    openssl(words);
  }
  static void openssl(std::vector<std::string> words) {
    words.insert(words.begin(), "openssl");
    TENURE_CHECK(Child(words, STDERR_FILENO).succeeds(), "openssl {} fails", words[1]);
  }

  const std::string folder_;
  const Pair own_;
};

}  // namespace tenure::testing
