// SPDX-License-Identifier: Apache-2.0
// Sets a C locale with a decimal comma, as a program that uses the library may.
#pragma once

#include <clocale>
#include <cstdlib>
#include <string>

#include "tests/own_folder.h"

namespace tilewalk::tests {

// The locale holds while this object lives. It is made in a folder of its own, so none has to be installed.
class comma_locale {
  public:
    comma_locale() : before_(std::setlocale(LC_ALL, nullptr)) {
        const std::string made = (folder_ / "de_DE.UTF-8").string();
        const std::string make = "localedef -i de_DE -f UTF-8 '" + made + "' 2>/dev/null";
        if (std::system(make.c_str()) != 0) return;
        ::setenv("LOCPATH", folder_.path().c_str(), 1);
        is_set_ = std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr;
    }
    ~comma_locale() {
        std::setlocale(LC_ALL, before_.c_str());
        ::unsetenv("LOCPATH");
    }
    comma_locale(const comma_locale&) = delete;
    comma_locale& operator=(const comma_locale&) = delete;

    // False if it could not be made, because the system has no definitions of locales.
    bool is_set() const { return is_set_ && std::localeconv()->decimal_point == std::string(","); }

  private:
    own_folder folder_;
    std::string before_;
    bool is_set_ = false;
};

}  // namespace tilewalk::tests
