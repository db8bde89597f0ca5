// SPDX-License-Identifier: Apache-2.0
#include "engine/reading/rolled.h"

#include <variant>
#include <vector>

namespace tilewalk::books {

namespace {

class roll {
  public:
    explicit roll(int days) : days_(days) {}

    void operator()(dates::time_point& t) const {
        if (double* const years = std::get_if<double>(&t.when)) *years -= days_ / 365.0;
    }
    void operator()(dates::schedule& s) const {
        (*this)(s.times);
        if (s.anchor) (*this)(*s.anchor);
    }
    void operator()(std::vector<dates::time_point>& times) const {
        for (dates::time_point& t : times) (*this)(t);
    }
    template <class other>
    void operator()(other&) const {}

  private:
    int days_;
};

}  // namespace

trade rolled(trade t, int days) {
    for (auto& [name, value] : t.args) std::visit(roll(days), value);
    return t;
}

}  // namespace tilewalk::books
