// SPDX-License-Identifier: Apache-2.0
// Metrics of runs for Prometheus: the text keeps to the format's grammar, and each metric has its value.
#include "tilewalk/metrics.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <charconv>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/texts.h"

namespace tilewalk::metrics_test {
namespace {

using label_set = std::map<std::string, std::string>;
struct family {
    std::string help, type;
    std::map<label_set, double> samples{};
};
using families = std::map<std::string, family>;

// A strict reader of Prometheus' text format. A family's HELP and TYPE come before its samples, and its
// samples come together; no series is repeated; names and escapes are as the specification has them.
class reader {
  public:
    explicit reader(std::string_view text) : text_(text) {}

    families all() {
        EXPECT_TRUE(text_.empty() || text_.ends_with('\n'));
        while (at_ < text_.size()) {
            const std::size_t begin = at_;
            read_family();
            if (testing::Test::HasFailure() || at_ == begin) {
                ADD_FAILURE() << "at " << text_.substr(begin, 80);
                break;
            }
        }
        return std::move(out_);
    }

  private:
    bool takes(std::string_view wanted) {
        if (!text_.substr(at_).starts_with(wanted)) return false;
        at_ += wanted.size();
        return true;
    }
    std::string name() {
        const auto is_first = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
        std::string out;
        while (at_ < text_.size() &&
               (is_first(text_[at_]) || (!out.empty() && text_[at_] >= '0' && text_[at_] <= '9')))
            out += text_[at_++];
        EXPECT_FALSE(out.empty()) << text_.substr(at_, 40);
        return out;
    }
    std::string rest_of_line() {
        const std::size_t end = text_.find('\n', at_);
        std::string out(text_.substr(at_, end - at_));
        at_ = end + 1;
        return out;
    }
    void read_family() {
        ASSERT_TRUE(takes("# HELP "));
        const std::string of = name();
        ASSERT_TRUE(takes(" "));
        ASSERT_FALSE(out_.contains(of)) << of << " comes twice";
        family& to = out_[of];
        to.help = rest_of_line();
        EXPECT_EQ(to.help.find('\\'), std::string::npos);
        ASSERT_TRUE(takes("# TYPE ") && name() == of && takes(" "));
        to.type = rest_of_line();
        while (takes(of + "{")) {
            label_set labels;
            do {
                const std::string label = name();
                ASSERT_TRUE(takes("=\""));
                ASSERT_TRUE(labels.emplace(label, value_of_label()).second) << label;
            } while (takes(","));
            ASSERT_TRUE(takes("} "));
            const std::string number = rest_of_line();
            double value = 0;
            const char* const end = number.data() + number.size();
            ASSERT_EQ(std::from_chars(number.data(), end, value).ptr, end) << number;
            ASSERT_TRUE(to.samples.emplace(labels, value).second) << of << ": a series twice";
        }
    }
    std::string value_of_label() {
        std::string out;
        for (; at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n'; ++at_) {
            if (text_[at_] != '\\') {
                out += text_[at_];
                continue;
            }
            ++at_;
            EXPECT_TRUE(text_[at_] == '\\' || text_[at_] == '"' || text_[at_] == 'n') << text_[at_];
            out += text_[at_] == 'n' ? '\n' : text_[at_];
        }
        EXPECT_TRUE(takes("\""));
        return out;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    families out_;
};

price_row priced(const std::string& currency, double quantity, double price, double error) {
    price_row row;
    row.trade = "t" + currency + std::to_string(price);
    row.currency = currency;
    row.status = trade_status::priced;
    row.quantity = quantity;
    row.price = price;
    row.standard_error = error;
    return row;
}

results made() {
    results r;
    r.rows = {priced("USD", -10, 100, 0.5),   priced("USD", 1, 0, 3), priced("EUR", 2, -4, 0.5),
              priced("EUR", 1, 7, no_figure), priced("GBP", 1, 5, 0), {}};
    r.rows[1].misses_tolerance = true;
    r.rows[2].thin = true;
    r.manifest.version = "1.2";
    r.manifest.as_of = "2026-01-15";
    r.manifest.paths = 4096;
    r.manifest.path_steps = std::uint64_t{1} << 40;
    r.manifest.total_seconds = 1.5;
    r.manifest.devices = {"NVIDIA H100", "NVIDIA H100"};
    r.manifest.lost_devices = {"NVIDIA H100: it fell off the bus"};
    r.manifest.kernels_compiled = 3;
    return r;
}

double value(const families& of, const std::string& name, const label_set& more = {}) {
    label_set labels = more;
    labels.insert({{"command", "price"}, {"book", "book.yaml"}});
    const auto found = of.find(name);
    if (found == of.end() || !found->second.samples.contains(labels)) return -1;
    return found->second.samples.at(labels);
}

TEST(metrics, say_how_a_run_went) {
    results r = made();
    r.greeks.resize(3);
    r.greeks[1].message = "no";
    scenario_results s;
    s.scenarios.resize(2);
    s.gains = {1, no_figure, 2, 3};
    const timings::account times{{{"planning", 0.25, 0}, {"walking paths", 1, 0.5}}, 1.25};
    const std::chrono::system_clock::time_point at{std::chrono::milliseconds(1796000000250)};
    const families got = reader(metrics_text({"price", "book.yaml", r, &s, &times, at})).all();
    const auto is = [&](const std::string& name, double wanted, const label_set& more = {}) {
        EXPECT_EQ(value(got, name, more), wanted) << name;
    };
    is("tilewalk_info", 1,
       {{"version", "1.2"},
        {"compiler", ""},
        {"instruction_set", ""},
        {"precision", "double"},
        {"random", "auto"},
        {"as_of", "2026-01-15"}});
    is("tilewalk_last_success_timestamp_seconds", 1796000000.25);
    is("tilewalk_duration_seconds", 1.5);
    is("tilewalk_phase_seconds", 0.25, {{"phase", "planning"}});
    is("tilewalk_phase_seconds", 1, {{"phase", "walking paths"}});
    is("tilewalk_trades", 4, {{"status", "priced"}});
    is("tilewalk_trades", 1, {{"status", "tolerance not met"}});
    is("tilewalk_trades", 1, {{"status", "failed"}});
    is("tilewalk_thin_trades", 1);
    is("tilewalk_worst_relative_error", 0.125);  // prices of 0 don't count
    is("tilewalk_worst_value_error", 5, {{"currency", "USD"}});
    is("tilewalk_worst_value_error", 1, {{"currency", "EUR"}});
    is("tilewalk_worst_value_error", 0, {{"currency", "GBP"}});
    is("tilewalk_total_value", -1000, {{"currency", "USD"}});
    is("tilewalk_sensitivities", 2, {{"status", "found"}});
    is("tilewalk_sensitivities", 1, {{"status", "failed"}});
    is("tilewalk_scenarios", 2);
    is("tilewalk_gains", 3, {{"status", "found"}});
    is("tilewalk_gains", 1, {{"status", "failed"}});
    is("tilewalk_paths", 4096);
    is("tilewalk_path_steps", 1099511627776);
    is("tilewalk_gpus_used", 2);
    is("tilewalk_gpus_lost", 1);
    is("tilewalk_kernels_compiled", 3);
    for (const auto& [name, of] : got) EXPECT_EQ(of.type, "gauge") << name;
}

TEST(metrics, of_what_is_not_known_have_no_line) {
    results r;
    r.manifest.total_seconds = no_figure;
    const families got = reader(metrics_text({"price", "book.yaml", r})).all();
    for (const char* name :
         {"tilewalk_duration_seconds", "tilewalk_phase_seconds", "tilewalk_worst_relative_error",
          "tilewalk_worst_value_error", "tilewalk_total_value", "tilewalk_sensitivities",
          "tilewalk_scenarios", "tilewalk_gains"})
        EXPECT_FALSE(got.contains(name)) << name;
    EXPECT_EQ(value(got, "tilewalk_trades", {{"status", "failed"}}), 0);
    r.rows = {priced("USD", 1, 1, no_figure)};
    EXPECT_FALSE(reader(metrics_text({"price", "b", r})).all().contains("tilewalk_worst_value_error"));
}

TEST(metrics, of_a_shard_say_how_it_went) {
    results r = made();
    for (price_row& row : r.rows) row.price = row.standard_error = no_figure;
    const timings::account times{{{"planning", 0.25, 0}}, 1.25};
    const std::chrono::system_clock::time_point at{std::chrono::milliseconds(1796000000250)};
    const families got =
        reader(metrics_text({"run", "book.yaml", r, nullptr, &times, at, "3/16", "pricing"})).all();
    const label_set mine{{"command", "run"}, {"shard", "3/16"}, {"stage", "pricing"}};
    const auto is = [&](const std::string& name, double wanted, label_set more = {}) {
        more.insert(mine.begin(), mine.end());
        EXPECT_EQ(value(got, name, more), wanted) << name;
    };
    is("tilewalk_last_success_timestamp_seconds", 1796000000.25);
    is("tilewalk_duration_seconds", 1.5);
    is("tilewalk_phase_seconds", 0.25, {{"phase", "planning"}});
    is("tilewalk_trades", 1, {{"status", "failed"}});
    is("tilewalk_paths", 4096);
    is("tilewalk_gpus_used", 2);
    is("tilewalk_gpus_lost", 1);
    is("tilewalk_kernels_compiled", 3);
    std::string told;
    for (const auto& [name, of] : got) {
        told += (told.empty() ? "`" : ", `") + name + "`";
        for (const auto& [labels, number] : of.samples)
            for (const auto& [label, word] : mine) EXPECT_EQ(labels.at(label), word) << name;
    }
    EXPECT_NE(tests::own_text("docs/clusters.md").find("\n" + told + "\n"), std::string::npos)
        << "docs/clusters.md should say, in one line\n"
        << told;
}

TEST(metrics, escape_what_labels_can_not_hold) {
    results r;
    const std::string odd = "a \"b\" \\ c\nd \xc3\xa9";
    const families got = reader(metrics_text({"price", odd + "\xff", r})).all();
    ASSERT_FALSE(got.at("tilewalk_paths").samples.empty());
    EXPECT_EQ(got.at("tilewalk_paths").samples.begin()->first.at("book"), odd + "\xef\xbf\xbd");
}

TEST(metrics, are_read_strictly) {
    const std::string good = "# HELP a b\n# TYPE a gauge\na{c=\"d\"} 1\n";
    for (const std::string bad :
         {"# HELP a b\n# TYPE a gauge\na{c=\"d\"} 1", "# TYPE a gauge\na{c=\"d\"} 1\n",
          "# HELP a b\n# TYPE b gauge\n", "# HELP a b\n# TYPE a gauge\na{c=\"d\"} one\n",
          "# HELP a b\n# TYPE a gauge\na{c=\"\\d\"} 1\n",
          "# HELP a b\n# TYPE a gauge\na{c=\"d\"} 1\na{c=\"d\"} 2\n",
          "# HELP a b\n# TYPE a gauge\nb{c=\"d\"} 1\n"}) {
        testing::TestPartResultArray failures;
        {
            testing::ScopedFakeTestPartResultReporter instead(
                testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &failures);
            reader(bad).all();
        }
        EXPECT_GT(failures.size(), 0) << bad;
    }
    EXPECT_EQ(reader(good).all().at("a").samples.size(), 1u);
}

TEST(metrics, are_documented) {
    results r = made();
    r.greeks.resize(1);
    scenario_results s;
    s.scenarios.resize(1);
    s.gains = {1};
    const timings::account times{{{"planning", 0.25, 0}}, 1.25};
    const std::string text = metrics_text({"price", "book.yaml", r, &s, &times});
    std::string rows = "| metric | what it is |\n|---|---|\n";
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("# HELP ")) continue;
        const std::size_t end = line.find(' ', 7);
        rows += "| `" + line.substr(7, end - 7) + "` | " + line.substr(end + 1) + " |\n";
    }
    EXPECT_NE(tests::own_text("docs/results.md").find("\n" + rows + "\n"), std::string::npos)
        << "docs/results.md should say\n"
        << rows;
}

}  // namespace
}  // namespace tilewalk::metrics_test
