// SPDX-License-Identifier: Apache-2.0
// label: no_sanitizer (hundreds of kernels through the run-time compiler)
// Compiles the kernels of the product library, without a GPU: no spilled registers, no stack frame and,
// except in single_fast, no operation that rounds differently from the CPU. Numbers of a trade are data:
// trades of one shape share a text. Suites named _long compile every product with every feed in every
// precision on every architecture, thousands of kernels. The others compile a share in which each product,
// feed, precision and architecture takes turns, and check every kernel that tests/data/kernels.txt knows.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "engine/market/market_state.h"
#include "engine/plan/trade_program.h"
#include "engine/plan/unite.h"
#include "engine/reading/library.h"
#include "engine/reading/settings/precision_named.h"
#include "engine/walk/arrays/shock_writer.h"
#include "engine/walk/cuda/compile/compiler.h"
#include "engine/walk/cuda/compile/decide.h"
#include "engine/walk/cuda/compile/feeds.h"
#include "engine/walk/cuda/compile/kernel_text.h"
#include "engine/walk/cuda/device/spaces.h"
#include "products/program/precision.h"
#include "tests/every_model.h"
#include "tests/known_kernels.h"
#include "tests/made_book.h"
#include "tests/own_folder.h"
#include "tests/surface_program.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::library_kernels_test {
namespace {

using program::precision;

const std::vector<std::string> architectures = {"sm_80", "sm_90"};

enum class share { turns, all };

std::size_t number_of(precision in) {
    const auto& names = program::precision_names();
    return static_cast<std::size_t>(std::ranges::find(names, program::name_of(in)) - names.begin());
}

bool is_due(share of, std::size_t turn, precision in) {
    return of == share::all || turn % program::precision_names().size() == number_of(in);
}
bool is_due(share of, std::size_t turn, precision in, const std::string& architecture) {
    const std::size_t round = turn / program::precision_names().size();
    return of == share::all ||
           (is_due(of, turn, in) && architectures[round % architectures.size()] == architecture);
}

bool runs_on(const cuda::feed_entry& feed, const std::string& architecture) {
    return feed.least_compute_capability <= std::stoi(architecture.substr(3));
}

// Writes every fma of the source as inline assembly, to tell it from one that the compiler makes.
std::string with_fma_as_written(const std::string& text) {
    return R"(#define fma written_fma
static __forceinline__ double written_fma(double a, double b, double c) {
    double r;
    asm("fma.rn.f64 %0, %1, %2, %3;" : "=d"(r) : "d"(a), "d"(b), "d"(c));
    return r;
}
static __forceinline__ float written_fma(float a, float b, float c) {
    float r;
    asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(r) : "f"(a), "f"(b), "f"(c));
    return r;
}
)" + text;
}

const market& demo_market() {
    static const market m = market::load(std::string(TILEWALK_SOURCE_DIR) + "/configs/markets/demo.yaml");
    return m;
}

program::path_program program_of(const books::trade& t, precision to = precision::double_,
                                 const market& in = demo_market()) {
    if (t.failure) throw *t.failure;
    return plan::plan_trade(t, state_of(in), to).code;
}

program::path_program example_of(const std::string& product, precision in = precision::double_) {
    for (const auto& page : product_pages()) {
        if (page.name != product) continue;
        const book one = book::parse("trades:\n  - " + page.example + '\n');
        return program_of(state_of(one).trades.at(0), in);
    }
    throw std::logic_error("no product " + product);
}

std::vector<std::string> products() {
    std::vector<std::string> names;
    for (const auto& page : product_pages()) names.push_back(page.name);
    return names;
}

class dice {
  public:
    explicit dice(std::uint64_t seed) : bits_(seed) {}
    double between(double low, double high) {
        return low + (high - low) * static_cast<double>(bits_() >> 11) * 0x1p-53;
    }
    std::size_t below(std::size_t count) {
        return static_cast<std::size_t>(between(0, static_cast<double>(count)));
    }

  private:
    std::mt19937_64 bits_;
};

struct varied_trade {
    std::string text;     // trade in YAML
    std::string choices;  // choices that may change the kernel's text
};

varied_trade vary(const language::product& product, dice& d) {
    using language::parameter_type;
    const std::string pays_cash = "CASHCOW";
    const std::vector<std::string> assets = {"ACME", "BETA", "GAMMA", "DELTA", "INDEX", pays_cash};
    varied_trade out = {"{id: varied, product: " + product.name, ""};
    // Counts that may change the text: bonds of an annuity, payments of a constant-maturity rate's swap.
    const bool has_annuity = product.payoff.source().find("annuity(") != std::string::npos,
               has_swap_rate = product.payoff.source().find("constant_maturity_rate(") != std::string::npos;
    // An interval in which the asset's path stops is watched in parts.
    const bool has_intervals = product.payoff.source().find(" every ") != std::string::npos;
    const bool is_on_rates = std::ranges::none_of(product.parameters, [](const language::parameter& p) {
        return p.type == parameter_type::asset || p.type == parameter_type::asset_list;
    });
    if (is_on_rates) out.text += ", currency: AUD";
    std::map<std::string, std::size_t> length;  // length of lists, by parameter
    std::map<std::string, std::string> chosen;  // by asset, the parameter that chose it first
    const auto number = [&](const language::parameter& p) {
        const bool is_rate = p.type == parameter_type::rate;
        const double low = p.above.value_or(p.minimum.value_or(0));
        const double high = p.below.value_or(p.maximum.value_or(low + (is_rate ? 0.5 : 200)));
        return fmt::format("{:.6f}", d.between(low + 0.01 * (high - low), high));
    };
    for (const auto& p : product.parameters) {
        // Whether an optional parameter is given decides which lines of its script are recorded.
        if (p.optional) {
            const bool is_given = d.below(2) == 0;
            out.choices += (is_given ? "given " : "no ") + p.name + "; ";
            if (!is_given) continue;
        }
        if (!p.same_as.empty() && d.below(2) == 0) {
            out.choices += p.name + " as " + p.same_as + "; ";
            continue;
        }
        // A choice is never left out: that would be its default, which is drawn as well.
        const bool is_choice = p.type == parameter_type::choice;
        if (p.fallback && !is_choice && d.below(3) == 0) {
            // Left-out dates (or a past date, today) make other events, hence another text.
            if (p.type == parameter_type::schedule || p.type == parameter_type::date || has_swap_rate)
                out.choices += "no " + p.name + "; ";
            continue;
        }
        std::string value;
        switch (p.type) {
            case parameter_type::asset:
                value = assets[d.below(assets.size())];
                if (value == pays_cash) out.choices += "cash dividends of " + p.name + "; ";
                if (has_intervals) out.choices += "stops of " + value + "; ";
                if (const auto [same, is_new] = chosen.emplace(value, p.name); !is_new) {
                    out.choices += p.name + " as " + same->second + "; ";
                }
                break;
            case parameter_type::asset_list: {
                std::vector<std::string> left = assets;
                const std::size_t count = 2 + d.below(2);
                for (std::size_t i = 0; i < count; ++i) {
                    const std::size_t at = d.below(left.size());
                    value += (i > 0 ? ", " : "") + left[at];
                    if (left[at] == pays_cash) out.choices += fmt::format("cash dividends of asset {}; ", i);
                    left.erase(left.begin() + static_cast<std::ptrdiff_t>(at));
                }
                value = '[' + value + ']';
                length[p.name] = count;
                out.choices += fmt::format("{} {}; ", count, p.name);
                break;
            }
            case parameter_type::choice:
                value = p.choices[d.below(p.choices.size())];
                out.choices += value + "; ";
                break;
            case parameter_type::date: {
                // In trades on rates, the date may lie before the schedule or after it.
                const bool is_early = p.fallback || (is_on_rates && d.below(2) == 0);
                value = fmt::format("{:.4f}", is_early ? d.between(0, 0.1) : d.between(1.5, 3));
                break;
            }
            case parameter_type::schedule: {
                const std::size_t count = 2 + d.below(8);
                value = fmt::format("{{start: {:.3f}, end: {:.3f}, count: {}}}", d.between(0, 0.2),
                                    d.between(0.5, 1.5), count);
                length[p.name] = count;
                if (has_annuity) out.choices += fmt::format("{} {}; ", count, p.name);
                break;
            }
            case parameter_type::currency:
                value = is_on_rates ? "AUD" : "USD";
                break;
            case parameter_type::boolean:
                value = d.below(2) == 0 ? "true" : "false";
                out.choices += value + "; ";
                break;
            case parameter_type::integer:
                value = fmt::format("{}", 1 + d.below(10));
                if (has_swap_rate) out.choices += value + " " + p.name + "; ";
                break;
            case parameter_type::amount:
            case parameter_type::number:
            case parameter_type::rate:
                if (has_swap_rate && p.type == parameter_type::number) {
                    value = fmt::format("{}", 1 + d.below(5));
                    out.choices += value + " " + p.name + "; ";
                } else if (p.per.empty() || !length.contains(p.per) || d.below(2) == 0) {
                    value = number(p);
                } else {
                    for (std::size_t i = 0; i < length.at(p.per); ++i)
                        value += (i > 0 ? ", " : "[") + number(p);
                    value += ']';
                }
                break;
        }
        out.text += ", " + p.name + ": " + value;
    }
    out.text += '}';
    return out;
}

class library_kernels : public testing::TestWithParam<std::string> {
  protected:
    void SetUp() override {
        if (const std::string why = cuda::why_no_compiler(); !why.empty()) GTEST_SKIP() << why;
    }
};
class library_kernels_long : public library_kernels {};

class kernels_by_precision : public testing::TestWithParam<std::string> {
  protected:
    void SetUp() override {
        if (const std::string why = cuda::why_no_compiler(); !why.empty()) GTEST_SKIP() << why;
    }
    precision in() const { return precision_named(GetParam()); }
};

cuda::kernel_decision usual(const program::path_program& code, precision in, std::string_view feed) {
    cuda::kernel_wish asked;
    asked.precision = in;
    asked.feed = feed;
    return cuda::decide(asked, code, [](const cuda::kernel_decision&, int) { return true; });
}

// Compiles a kernel and applies all checks; unless it is `due`, only if the ledger knows the kernel.
void judge(bool due, const program::path_program& code, const cuda::kernel_decision& how,
           const std::string& architecture, const std::string& product) {
    const cuda::compile_request kernel{cuda::path_kernel_text(code, how), architecture};
    if (!due && !tests::is_known(kernel)) return;
    const std::string in(program::name_of(how.precision));
    const std::string what = fmt::format("{}, feed {}, {}, {}", product, how.feed, in, architecture);
    tests::kernel_facts got;
    try {
        got = tests::facts_of(kernel);
    } catch (const error& e) {
        ADD_FAILURE() << what << '\n' << e.what();
        return;
    }
    EXPECT_EQ(got.warnings, 0) << what << '\n' << got;
    EXPECT_TRUE(got.is_in_registers()) << what << '\n' << got;
    if (how.precision != precision::single_fast) {
        EXPECT_EQ(got.inexact, 0) << what << '\n' << got;
    }
}

// True if it is the turn of a product: with the default feed, with another way to draw shocks in registers,
// or with one feed more.
bool is_due(share of, std::size_t product, std::size_t feed, precision in, const std::string& architecture) {
    if (of == share::all) return true;
    if (cuda::feeds()[feed].name != "inline")
        return product % cuda::feeds().size() == feed && is_due(of, product + feed, in, architecture);
    return is_due(of, product, in, architecture) || (in == precision::double_ && architecture == "sm_90");
}

void judge_product(const std::string& product, share of) {
    const std::vector<std::string> all = products();
    const auto number = static_cast<std::size_t>(std::ranges::find(all, product) - all.begin());
    int judged = 0;
    for (const std::string& name : program::precision_names()) {
        const precision in = precision_named(name);
        const auto code = example_of(product, in);
        for (std::size_t of_feed = 0; of_feed < cuda::feeds().size(); ++of_feed) {
            const auto& feed = cuda::feeds()[of_feed];
            for (const std::string& architecture : architectures) {
                if (!runs_on(feed, architecture)) continue;
                const bool due = is_due(of, number, of_feed, in, architecture);
                judge(due, code, usual(code, in, feed.name), architecture, product);
                judged += due;
            }
        }
    }
    EXPECT_GE(judged, 1) << product;
}

TEST_P(library_kernels, neither_spill_nor_approximate) {
    judge_product(GetParam(), share::turns);
}
TEST_P(library_kernels_long, neither_spill_nor_approximate) {
    judge_product(GetParam(), share::all);
}

void expect_written_fma_alone(bool due, const std::string& product, precision in) {
    cuda::kernel_decision how;
    how.precision = in;
    const cuda::compile_request kernel{with_fma_as_written(cuda::path_kernel_text(example_of(product), how)),
                                       "sm_90"};
    if (!due && !tests::is_known(kernel, {"fma."})) return;
    const auto got = tests::facts_of(kernel, {"fma."});
    EXPECT_EQ(got.contracted, 0) << product << ", " << program::name_of(in) << '\n' << got;
    EXPECT_GT(got.words.at(0), 0) << product;
}

constexpr precision exact_precisions[] = {precision::double_, precision::single, precision::mixed};

TEST_P(library_kernels, fuse_only_where_the_source_says_so) {
    const std::vector<std::string> all = products();
    const auto number = static_cast<std::size_t>(std::ranges::find(all, GetParam()) - all.begin());
    for (const precision in : exact_precisions)
        expect_written_fma_alone(in == exact_precisions[number % 3], GetParam(), in);
}
TEST_P(library_kernels_long, fuse_only_where_the_source_says_so) {
    for (const precision in : exact_precisions) expect_written_fma_alone(true, GetParam(), in);
}

INSTANTIATE_TEST_SUITE_P(all, library_kernels, testing::ValuesIn(products()),
                         [](const auto& at) { return at.param; });
INSTANTIATE_TEST_SUITE_P(all, library_kernels_long, testing::ValuesIn(products()),
                         [](const auto& at) { return at.param; });

const market& market_of_scenarios() {
    static const market m = [] {
        const tests::own_folder folder;
        const auto file = folder / "volatilities";
        const std::vector<double> numbers(2, 0.2);
        arrays::write_shocks<double>(file, {2, 1, 0, 1, numbers, {}});
        std::string text = "as_of: 2026-01-15\ncurrencies: {USD: {rate: 0.03}, EUR: {rate: 0.02}}\nassets:\n";
        for (const char* name : {"ACME", "BETA", "INDEX"}) {
            text += fmt::format(
                "  {}: {{currency: USD, spot: 100, volatility: {{scenarios: {}, times: [1, 5]}}}}\n", name,
                file.string());
        }
        text +=
            "fx: {EURUSD: {rate: 1.1, volatility: 0.1}}\n"
            "correlations: [[ACME, BETA, 0.4], [ACME, INDEX, 0.3], [BETA, INDEX, 0.2], [ACME, EURUSD, "
            "0.1]]\n";
        return market::parse(text, "scenarios");  // the market keeps its file mapped
    }();
    return m;
}

void judge_with_scenarios(precision in, share of) {
    const book trades = book::parse(R"(trades:
  - {id: asian, product: asian, underlying: ACME, strike: 100, averaging_dates: {start: 0, end: 1, count: 12},
     currency: EUR}
  - {id: barrier, product: barrier, underlying: ACME, strike: 100, maturity: 1.0, direction: down, barrier: 85,
     rebate: 2, rebate_paid: at_hit}
  - {id: autocallable, product: autocallable, basket: [ACME, BETA, INDEX], initial_level: 100,
     observations: {start: 0, end: 2, count: 8}, coupon: 0.1, protection: 0.6, notional: 1000}
)");
    std::size_t turn = 0;
    for (const auto& t : state_of(trades).trades) {
        const auto code = program_of(t, precision::double_, market_of_scenarios());
        ASSERT_EQ(code.scenarios_per_step, t.id == "autocallable" ? 3 : 1);
        for (const auto& feed : cuda::feeds()) {
            ++turn;
            for (const std::string& architecture : architectures) {
                if (!runs_on(feed, architecture)) continue;
                judge(is_due(of, turn, in, architecture), code, usual(code, in, feed.name), architecture,
                      t.id + " with scenarios");
            }
        }
        const bool due = is_due(of, ++turn, in);
        cuda::kernel_decision how;
        how.precision = in;
        if (t.id == "asian") {
            how[cuda::knobs::width] = 4;  // the number of paths a thread that a run chooses
            judge(due, code, how, "sm_90", t.id + " with scenarios on four paths a thread");
            how[cuda::knobs::width] = 1;
        }
        how.feed = "none";
        how.space = "texture";
        judge(due, code, how, "sm_90", t.id + " with scenarios in a texture");
    }
}

class library_kernels_with_scenarios : public kernels_by_precision {};
class library_kernels_with_scenarios_long : public kernels_by_precision {};

TEST_P(library_kernels_with_scenarios, neither_spill_nor_approximate) {
    judge_with_scenarios(in(), share::turns);
}
TEST_P(library_kernels_with_scenarios_long, neither_spill_nor_approximate) {
    judge_with_scenarios(in(), share::all);
}

INSTANTIATE_TEST_SUITE_P(all, library_kernels_with_scenarios, testing::ValuesIn(program::precision_names()),
                         [](const auto& at) { return at.param; });
INSTANTIATE_TEST_SUITE_P(all, library_kernels_with_scenarios_long,
                         testing::ValuesIn(program::precision_names()),
                         [](const auto& at) { return at.param; });

// Models whose paths read rows at places of their own (tables), with each memory space, with shocks from
// registers and from a feed: no local memory is used.
void judge_models(precision in, share of) {
    const book trades = book::parse(book_of_every_model(), "models");
    std::size_t turn = 0;
    for (const auto& t : state_of(trades).trades) {
        ++turn;
        const auto code = program_of(t, in, *trades.market());
        std::size_t of_feed = 0;
        for (const char* feed : {"inline", "smem_rolling_async"}) {
            const bool is_other = of_feed++ != turn / 2 % 2;
            for (const std::string& architecture : architectures) {
                const bool due = is_due(of, turn, in, architecture) && (of == share::all || !is_other);
                judge(due, code, usual(code, in, feed), architecture, t.id);
            }
        }
    }
}

class library_kernels_of_models : public kernels_by_precision {};
class library_kernels_of_models_long : public kernels_by_precision {};

TEST_P(library_kernels_of_models, neither_spill_nor_approximate) {
    judge_models(in(), share::turns);
}
TEST_P(library_kernels_of_models_long, neither_spill_nor_approximate) {
    judge_models(in(), share::all);
}

INSTANTIATE_TEST_SUITE_P(all, library_kernels_of_models, testing::ValuesIn(program::precision_names()),
                         [](const auto& at) { return at.param; });
INSTANTIATE_TEST_SUITE_P(all, library_kernels_of_models_long, testing::ValuesIn(program::precision_names()),
                         [](const auto& at) { return at.param; });

void judge_intervals(precision in, share of) {
    std::string products, trades;
    const auto add = [&](const std::string& name, const std::string& gains,
                         const std::vector<std::string>& assets) {
        products += fmt::format(
            "  - product: {0}\n    summary: It.\n    parameters:\n      underlying: {{type: asset, help: "
            "It.}}\n"
            "      level: {{type: amount, help: It.}}\n      maturity: {{type: date, help: It.}}\n"
            "    example: {{underlying: A, level: 1, maturity: 1}}\n    script: |\n      total = 0\n"
            "      between start and maturity every 0.25:\n          total = total + step * {1}\n"
            "      on maturity:\n          pay max(total - level, 0)\n",
            name, gains);
        for (const std::string& asset : assets) {
            trades += fmt::format(
                "  - {{id: {0}_{1}, product: {0}, underlying: {1}, level: 90, maturity: 1}}\n", name, asset);
        }
    };
    add("means",
        "(mean_spot(underlying) + time_above(underlying, level) - time_below(underlying, 0.9 * level))",
        {"FLAT", "TERM"});
    add("laws",
        "(mean_log_spot(underlying) + variance_of_mean_spot(underlying) + "
        "level * variance_of_mean_log_spot(underlying) + variance_of_time_above(underlying, level) + "
        "variance_of_time_below(underlying, level))",
        {"FLAT", "TERM"});
    add("touches", "(touched_below(underlying, level) + touched_outside(underlying, level, 2 * level))",
        {"TERM"});
    add("samples", "(highest(underlying) - lowest(underlying) + touch_time_below(underlying, level))",
        {"TERM"});
    add("draws",
        "(touches_below(underlying, level) * last_time_below(underlying, level) + "
        "drawn_time_above(underlying, "
        "level))",
        {"FLAT", "TERM"});
    const book b = book::parse(
        "market:\n  as_of: 2026-01-15\n  currencies: {USD: {rate: 0.05}}\n  assets:\n"
        "    FLAT: {currency: USD, spot: 100, volatility: 0.2}\n"
        "    TERM: {currency: USD, spot: 100, volatility: {0.1: 0.2, 0.6: 0.25}, "
        "dividends: [{date: 0.4, amount: 2}]}\nproducts:\n" +
            products + "trades:\n" + trades,
        "intervals");
    std::size_t turn = 0;
    for (const auto& t : state_of(b).trades) {
        if (t.failure) throw *t.failure;
        const auto code = program_of(t, in, *b.market());
        ++turn;
        for (const std::string& architecture : architectures) {
            judge(is_due(of, turn, in, architecture), code, usual(code, in, "inline"), architecture, t.id);
        }
    }
}

class library_kernels_of_intervals : public kernels_by_precision {};
class library_kernels_of_intervals_long : public kernels_by_precision {};

TEST_P(library_kernels_of_intervals, neither_spill_nor_approximate) {
    judge_intervals(in(), share::turns);
}
TEST_P(library_kernels_of_intervals_long, neither_spill_nor_approximate) {
    judge_intervals(in(), share::all);
}

INSTANTIATE_TEST_SUITE_P(all, library_kernels_of_intervals, testing::ValuesIn(program::precision_names()),
                         [](const auto& at) { return at.param; });
INSTANTIATE_TEST_SUITE_P(all, library_kernels_of_intervals_long,
                         testing::ValuesIn(program::precision_names()),
                         [](const auto& at) { return at.param; });

void judge_with_tables(precision in, share of) {
    std::size_t turn = 0;
    const auto judge_next = [&](const program::path_program& code, const cuda::kernel_decision& how,
                                const std::string& architecture, const std::string& what) {
        judge(is_due(of, turn++, in), code, how, architecture, what);
    };
    for (const std::size_t size : {2u, 100u}) {
        for (const std::size_t every : {1u, 2u}) {
            const tests::surface_program p(12, size, every);
            const std::string what = fmt::format("tables of {}, paid after {} steps", size, every);
            for (const std::string& architecture : architectures)
                judge_next(p.code, usual(p.code, in, "inline"), architecture, what);
        }
    }
    const tests::surface_program p(12, 100, 2);
    for (const auto& feed : cuda::feeds()) {
        for (const std::string& architecture : architectures)
            if (runs_on(feed, architecture))
                judge_next(p.code, usual(p.code, in, feed.name), architecture, "tables");
    }
    cuda::kernel_decision how;
    how.precision = in;
    for (const int width : {1, 2, 4}) {
        how[cuda::knobs::width] = width;
        judge_next(p.code, how, "sm_90", fmt::format("tables, {} paths a thread", width));
    }
    for (const auto& space : cuda::spaces()) {
        if (!space.holds_rows) continue;
        how[cuda::knobs::width] = 1;
        how.row_space = space.name;
        judge_next(p.code, how, "sm_90", fmt::format("tables in {}", space.name));
    }
}

class library_kernels_with_tables : public kernels_by_precision {};
class library_kernels_with_tables_long : public kernels_by_precision {};

TEST_P(library_kernels_with_tables, neither_spill_nor_approximate) {
    judge_with_tables(in(), share::turns);
}
TEST_P(library_kernels_with_tables_long, neither_spill_nor_approximate) {
    judge_with_tables(in(), share::all);
}

INSTANTIATE_TEST_SUITE_P(all, library_kernels_with_tables, testing::ValuesIn(program::precision_names()),
                         [](const auto& at) { return at.param; });
INSTANTIATE_TEST_SUITE_P(all, library_kernels_with_tables_long, testing::ValuesIn(program::precision_names()),
                         [](const auto& at) { return at.param; });

class library_kernels_of_targets : public kernels_by_precision {};

// Bridges keep targets and points between beside the numbers of a step, which takes registers.
TEST_P(library_kernels_of_targets, neither_spill_nor_approximate) {
    cuda::kernel_wish asked;
    asked.precision = in();
    asked.reads_shocks = true;
    asked.points = cuda::point_way::targets;
    for (const char* const product :
         {"asian", "autocallable", "barrier", "himalaya", "swaption", "lookback"}) {
        const auto code = example_of(product, in());
        const auto how = cuda::decide(asked, code, [](const cuda::kernel_decision&, int) { return true; });
        ASSERT_EQ(how.feed, "inline");
        ASSERT_NE(cuda::path_kernel_text(code, how).find("draws_to_targets"), std::string::npos);
        for (const std::string& architecture : architectures)
            judge(true, code, how, architecture, fmt::format("{} to targets", product));
    }
}

INSTANTIATE_TEST_SUITE_P(all, library_kernels_of_targets, testing::ValuesIn(program::precision_names()),
                         [](const auto& at) { return at.param; });

class library_kernels_that_make_points : public kernels_by_precision {};

TEST_P(library_kernels_that_make_points, neither_spill_nor_approximate) {
    cuda::kernel_wish asked;
    asked.precision = in();
    asked.reads_shocks = true;
    asked.points = cuda::point_way::made;
    for (const char* const product : {"european", "digital", "asian", "autocallable", "cliquet", "barrier"}) {
        const auto code = example_of(product, in());
        const auto how = cuda::decide(asked, code, [](const cuda::kernel_decision&, int) { return true; });
        ASSERT_EQ(how.feed, "inline");
        ASSERT_NE(cuda::path_kernel_text(code, how).find("draws_of_points"), std::string::npos);
        for (const std::string& architecture : architectures)
            judge(true, code, how, architecture, fmt::format("{} that makes points", product));
    }
}

INSTANTIATE_TEST_SUITE_P(all, library_kernels_that_make_points, testing::ValuesIn(program::precision_names()),
                         [](const auto& at) { return at.param; });

TEST(library_kernels_tables, fuse_only_where_the_source_says_so) {
    if (const std::string why = cuda::why_no_compiler(); !why.empty()) GTEST_SKIP() << why;
    const tests::surface_program p(12, 100, 2);
    for (const precision in : exact_precisions) {
        cuda::kernel_decision how;
        how.precision = in;
        const std::string text = cuda::path_kernel_text(p.code, how);
        const auto got = tests::facts_of({with_fma_as_written(text), "sm_90"});
        EXPECT_EQ(got.contracted, 0) << program::name_of(in) << '\n' << got;
    }
}

void judge_united(precision in, share of) {
    const book made = book_of_every_kind();
    std::vector<program::path_program> own;
    std::set<std::string> known;
    for (const auto& t : state_of(made).trades) {
        auto code = program_of(t, in);
        if (!code.sections.empty() && known.insert(program::shape_of(code)).second)
            own.push_back(std::move(code));
    }
    std::vector<const program::path_program*> shapes;
    for (const auto& one : own) shapes.push_back(&one);
    const auto united = plan::unite(shapes);
    fmt::print("{} shapes in {} kernels\n", shapes.size(), united.programs.size());
    ASSERT_FALSE(united.programs.empty());
    std::size_t turn = 0;
    for (const auto& code : united.programs) {
        judge(is_due(of, turn++, in), code, usual(code, in, "inline"), "sm_90",
              fmt::format("united, of {} sections", code.sections.size()));
    }
}

class library_kernels_united : public kernels_by_precision {};
class library_kernels_united_long : public kernels_by_precision {};

TEST_P(library_kernels_united, neither_spill_nor_approximate) {
    judge_united(in(), share::turns);
}
TEST_P(library_kernels_united_long, neither_spill_nor_approximate) {
    judge_united(in(), share::all);
}

INSTANTIATE_TEST_SUITE_P(all, library_kernels_united, testing::ValuesIn(program::precision_names()),
                         [](const auto& at) { return at.param; });
INSTANTIATE_TEST_SUITE_P(all, library_kernels_united_long, testing::ValuesIn(program::precision_names()),
                         [](const auto& at) { return at.param; });

TEST(library_kernels_texts, terms_are_data) {
    constexpr int trades_a_product = 40;
    std::size_t planned_in_all = 0;
    for (const auto& product : books::read_library()) {
        dice d(planned_in_all + 1);
        std::map<std::string, std::set<std::string>> texts;  // texts by all choices that may change them
        std::set<std::string> all;
        int planned = 0;
        for (int tries = 0; planned < trades_a_product && tries < 20 * trades_a_product; ++tries) {
            const varied_trade made = vary(*product, d);
            const book one = book::parse("trades:\n  - " + made.text + '\n');
            program::path_program code;
            try {
                code = program_of(state_of(one).trades.at(0));
            } catch (const error& e) {
                // A script may refuse a combination, such as dates for a barrier watched continuously.
                ASSERT_EQ(static_cast<int>(e.kind()), static_cast<int>(error_kind::input)) << e.what();
                continue;
            }
            ++planned;
            // Dates may coincide with all stops of a path or not. In a book such trades share a kernel anyway
            // (plan/unite.h), so the mark is removed.
            for (auto& s : code.sections) s.is_on_every_step = false;
            const std::string text = cuda::path_kernel_text(code, {});
            all.insert(text);
            auto& same = texts[made.choices];
            if (same.insert(text).second) {
                EXPECT_EQ(same.size(), 1u) << made.text << "\ndiffers from others with " << made.choices;
            }
        }
        fmt::print("{}: {} trades, {} choices, {} texts\n", product->name, planned, texts.size(), all.size());
        EXPECT_EQ(planned, trades_a_product) << product->name;
        planned_in_all += static_cast<std::size_t>(planned);
    }
    EXPECT_GE(planned_in_all, 200u);
}

TEST(library_kernels_judges, find_what_is_planted) {
    if (const std::string why = cuda::why_no_compiler(); !why.empty()) GTEST_SKIP() << why;
    cuda::kernel_decision how;
    how.precision = precision::mixed;
    const std::string text = cuda::path_kernel_text(example_of("european"), how);
    const auto planted = [&](const std::string& statement) {
        const std::string end = "walk_tile<tilewalk::kernels::generated::choice>(a, shared);";
        const std::size_t at = text.find(end);
        if (at == std::string::npos) throw std::logic_error("the text ends otherwise");
        return std::string(text).insert(
            at + end.size(),
            "\n    double* out = reinterpret_cast<double*>(a.results) + threadIdx.x;\n"
            "    double x = out[1], y = out[2];\n    float s = float(x), t = float(y);\n"
            "    *out = " +
                statement + ";\n");
    };
    const auto ptx_of = [](const std::string& of) {
        return cuda::nvrtc_compiler().compile({of, "sm_90"}, true).ptx;
    };
    using tests::contracted_in, tests::inexact_in;
    EXPECT_EQ(inexact_in(ptx_of(planted("x * y + x / sqrt(y)"))), "");
    for (const char* inexact : {"__expf(s)", "__logf(s)", "__fdividef(s, t)", "rsqrt(x)", "__sinf(s)",
                                "__fsqrt_rz(s)", "__dadd_rz(x, y)", "__frcp_ru(s)", "__fmaf_rd(s, t, s)"}) {
        EXPECT_NE(inexact_in(ptx_of(planted(inexact))), "") << inexact;
    }
    EXPECT_EQ(contracted_in(ptx_of(with_fma_as_written(planted("x * y + x")))), "");
    EXPECT_NE(contracted_in(ptx_of(with_fma_as_written(planted("__fma_rn(x, y, x)")))), "");
    EXPECT_NE(contracted_in(ptx_of(with_fma_as_written(planted("__fmaf_rn(s, t, s)")))), "");
    const std::string none = "ptxas . 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n";
    EXPECT_TRUE(tests::measured({"", "", none}).is_in_registers());
    EXPECT_FALSE(tests::measured({"", "", ""}).is_in_registers());
    for (const char* const figures :
         {"8 bytes stack frame, 4 bytes spill stores, 4", "64 bytes stack frame, 0 bytes spill stores, 0",
          "0 bytes stack frame, 4 bytes spill stores, 0", "0 bytes stack frame, 0 bytes spill stores, 4"}) {
        const std::string some = fmt::format("ptxas . {} bytes spill loads\n", figures);
        EXPECT_FALSE(tests::measured({"", "", some + none}).is_in_registers()) << some;
        EXPECT_FALSE(tests::measured({"", "", none + some}).is_in_registers()) << some;
    }
    EXPECT_NE(inexact_in("\tadd.f64 \t%fd1, %fd2, %fd3;\n"), "");  // ptxas may contract "add"
    EXPECT_NE(inexact_in("\t@%p1 call.uni (retval0), f, (param0);\n"), "");
}

}  // namespace
}  // namespace tilewalk::library_kernels_test
