// SPDX-License-Identifier: Apache-2.0
// Every entry of the table of settings: read, refused, written, ranked, and used in books and manifests.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tilewalk/book.h"
#include "tilewalk/engine.h"
#include "tilewalk/setting_table.h"

namespace tilewalk::settings_test {
namespace {

const run_setting& named(const std::string& name) {
    for (const auto& setting : setting_table())
        if (setting.name == name) return setting;
    throw std::out_of_range(name);
}

struct accepted {
    const char *name, *text, *kept;
};
struct refused {
    const char *name, *text, *expected;
};

const accepted good[] = {
    {"paths", "65536", "65536"},
    {"paths", "100k", "100000"},
    {"paths", "1M", "1000000"},
    {"paths", "1e6", "1000000"},
    {"paths", "1.5e3", "1500"},
    {"paths", "1099511627776", "1099511627776"},
    {"seed", "0", "0"},
    {"seed", "18446744073709551615", "18446744073709551615"},
    {"threads", "0", "0"},
    {"threads", "1024", "1024"},
    {"device", "cpu", "cpu"},
    {"device", "auto", "auto"},
    {"device", "cuda", "cuda"},
    {"device", "0", "0"},
    {"device", "3,0,63", "3,0,63"},
    {"precision", "double", "double"},
    {"precision", "single", "single"},
    {"precision", "single_fast", "single_fast"},
    {"precision", "mixed", "mixed"},
    {"random", "curand_mrg32k3a", "curand_mrg32k3a"},
    {"randomisations", "32", "32"},
    {"construction", "steps", "steps"},
    {"controls", "none", "none"},
    {"controls", "auto", "auto"},
    {"antithetic", "pairs", "pairs"},
    {"preintegration", "auto", "auto"},
    {"importance", "auto", "auto"},
    {"tolerance", "0.01", "0.01"},
    {"tolerance", "1bp", "1bp"},
    {"tolerance", "1e3 total", "1000 total"},
    {"confidence", "0.99", "0.99"},
    {"budget", "30s", "30s"},
    {"budget", "1.5h", "90m"},
    {"decisions", "a folder/results.json", "a folder/results.json"},
    {"replay", "a folder/shocks.npy", "a folder/shocks.npy"},
    {"training_paths", "1", "1"},
    {"training_paths", "16k", "16000"},
    {"policy", "a folder/policies.json", "a folder/policies.json"},
    {"upper", "regression", "regression"},
    {"upper", "nested", "nested"},
    {"prefetch", "smem_rolling_async", "smem_rolling_async"},
    {"prefetch", "auto", "auto"},
    {"distance", "1", "1"},
    {"distance", "032", "32"},
    {"layout", "transposed", "transposed"},
    {"padding", "auto", "auto"},
    {"padding", "0", "0"},
    {"padding", "64", "64"},
    {"width", "1", "1"},
    {"width", "2", "2"},
    {"width", "4", "4"},
    {"rows", "64", "64"},
    {"block", "64", "64"},
    {"block", "128", "128"},
    {"block", "256", "256"},
    {"space", "read_only", "read_only"},
    {"row_space", "constant", "constant"},
    {"reduction", "tree", "tree"},
    {"reduction", "last_block", "last_block"},
    {"correlation", "matrix", "matrix"},
    {"memory_bytes", "0", "0"},
    {"memory_bytes", "512MB", "512000000"},
    {"memory_bytes", "40GiB", "42949672960"},
    {"memory_bytes", "7B", "7"},
    {"memory_bytes", "1TiB", "1099511627776"},
};

const refused bad[] = {
    {"paths", "0", "a whole number from 1 to 2^40, such as 65536, 100k or 1M"},
    {"paths", "1099511627777", "a whole number"},
    {"paths", "", "a whole number"},
    {"paths", "-1", "a whole number"},
    {"paths", "+1", "a whole number"},
    {"paths", " 1", "a whole number"},
    {"paths", "1 ", "a whole number"},
    {"paths", "1.5", "a whole number"},
    {"paths", "5G", "a whole number"},
    {"paths", "k", "a whole number"},
    {"paths", "1e400", "a whole number"},
    {"paths", "1e17", "a whole number"},
    {"paths", "0x10", "a whole number"},
    {"paths", "18446744073709551615M", "a whole number"},
    {"seed", "18446744073709551616", "a whole number from 0 to 2^64 - 1"},
    {"threads", "1025", "a whole number from 0 to 1024"},
    {"device", "gpu", "; did you mean 'cuda'? expected auto, cpu, cuda or numbers of GPUs, such as 0 or 0,1"},
    {"device", "cdua",
     "; did you mean 'cuda'? expected auto, cpu, cuda or numbers of GPUs, such as 0 or 0,1"},
    {"device", "", "auto"},
    {"device", "0,", "auto"},
    {"device", ",0", "auto"},
    {"device", "0,0", "auto"},
    {"device", "0, 1", "auto"},
    {"device", "00", "auto"},
    {"device", "-1", "auto"},
    {"device", "64", "auto"},
    {"device", "99999999999999999999", "auto"},
    {"device", "0,cpu", "auto"},
    {"precision", "Double", "; did you mean 'double'? expected double, single, single_fast, mixed"},
    {"precision", "half", "double, single, single_fast, mixed"},
    {"random", "", "auto, philox, philox_7, sobol, curand_philox, "},
    {"random", "pilox", "; did you mean 'philox'? expected auto, philox, philox_7, sobol, curand_philox"},
    {"randomisations", "7", "a whole number from 8 to 64"},
    {"randomisations", "65", "a whole number from 8 to 64"},
    {"construction", "brige", "; did you mean 'bridge'? expected auto, steps, bridge, principal, coarse"},
    {"controls", "aut", "; did you mean 'auto'? expected none, auto"},
    {"antithetic", "pair", "; did you mean 'pairs'? expected none, pairs"},
    {"preintegration", "yes", "none, auto"},
    {"importance", "yes", "none, auto"},
    {"tolerance", "0", "an amount above 0, such as 0.01, basis points"},
    {"tolerance", "-1bp", "an amount above 0"},
    {"tolerance", "1 bp", "an amount above 0"},
    {"tolerance", "1bp total", "an amount above 0"},
    {"tolerance", "nan", "an amount above 0"},
    {"tolerance", "inf", "an amount above 0"},
    {"confidence", "0.5", "a share above 0.5 and below 1, such as 0.99"},
    {"confidence", "1", "a share above 0.5"},
    {"confidence", "95", "a share above 0.5"},
    {"budget", "0s", "a time above 0, such as 30s, 5m or 2h"},
    {"budget", "30 s", "a time above 0"},
    {"budget", "1d", "a time above 0"},
    {"decisions", "", "the name of a file"},
    {"replay", "", "the name of a file"},
    {"training_paths", "0", "a whole number from 1 to 2^40, such as 65536, 100k or 1M"},
    {"training_paths", "auto", "a whole number from 1 to 2^40"},
    {"policy", "", "the name of a file"},
    {"upper", "nestd", "; did you mean 'nested'? expected regression, nested"},
    {"upper", "", "regression, nested"},
    {"prefetch", "smem_roling", "auto, none, unroll, register_batched"},
    {"space", "constant", "global, read_only, texture"},
    {"row_space", "textur",
     "; did you mean 'texture'? expected global, read_only, constant, texture, l2_persisting, mapped"},
    {"distance", "0", "a whole number from 1 to 32"},
    {"distance", "33", "a whole number from 1 to 32"},
    {"layout", "pad", "plain, padded, transposed"},
    {"layout", "paded", "; did you mean 'padded'? expected plain, padded, transposed"},
    {"padding", "65", "auto or a whole number from 0 to 64"},
    {"padding", "atuo", "; did you mean 'auto'? expected auto or a whole number from 0 to 64"},
    {"width", "3", "1, 2, 4"},
    {"width", "02", "1, 2, 4"},
    {"rows", "0", "a whole number from 1 to 64"},
    {"rows", "65", "a whole number from 1 to 64"},
    {"block", "512", "64, 128, 256"},
    {"correlation", "kernels", "; did you mean 'kernel'? expected auto, kernel, matrix"},
    {"memory_bytes", "lots", "a number of bytes up to 2^50, such as 512MB or 40GiB"},
    {"memory_bytes", "40 GiB", "a number of bytes"},
    {"memory_bytes", "40G", "a number of bytes"},
    {"memory_bytes", "99999999TiB", "a number of bytes"},
    {"reduction", "last_blok",
     "; did you mean 'last_block'? expected tree, last_block, warp_atomic, atomic, store"},
};

TEST(settings, are_read_and_written) {
    std::set<std::string> met;
    for (const auto& c : good) {
        run_settings into;
        const auto wrong = named(c.name).read(c.text, into);
        EXPECT_FALSE(wrong) << c.name << ": " << c.text << " was refused" << *wrong;
        EXPECT_EQ(named(c.name).text(into), c.kept) << c.name << ": " << c.text;
        for (const auto& other : setting_table())
            EXPECT_EQ(other.text(into).has_value(), other.name == c.name) << c.name << " set " << other.name;
        EXPECT_NO_THROW(check(into)) << c.name << ": " << c.text;
        met.insert(c.name);
    }
    EXPECT_EQ(met.size(), setting_table().size()) << "a setting without a case";
}

TEST(settings, are_refused_with_what_was_expected) {
    for (const auto& c : bad) {
        run_settings into;
        const auto wrong = named(c.name).read(c.text, into);
        ASSERT_TRUE(wrong) << c.name << ": '" << c.text << "' was accepted";
        const bool is_near = *c.expected == ';';
        const std::string said = is_near ? *wrong : wrong->substr(wrong->find(" expected ") + 10);
        EXPECT_TRUE(said.starts_with(c.expected)) << c.name << ": '" << c.text << "': " << *wrong;
        EXPECT_FALSE(named(c.name).text(into)) << c.name << ": '" << c.text << "'";
    }
}

// The text of a setting's value; checks that it reads back as the same value.
template <class type>
std::string text_of(std::optional<type> run_settings::*member, const type& value) {
    for (const run_setting& setting : setting_table()) {
        const auto* const at = std::get_if<std::optional<type> run_settings::*>(&setting.value);
        if (at == nullptr || *at != member) continue;
        run_settings said, read;
        said.*member = value;
        const std::string text = setting.text(said).value();
        EXPECT_FALSE(setting.read(text, read)) << setting.name << ": " << text;
        EXPECT_EQ(read.*member, said.*member) << setting.name << ": " << text;
        return text;
    }
    return "no setting";
}

template <choice type>
void expect_names(std::optional<type> run_settings::*member) {
    for (std::size_t i = 0; i < choice_names<type>.size(); ++i)
        EXPECT_EQ(text_of(member, static_cast<type>(i)), choice_names<type>[i]);
    EXPECT_EQ(name_of(static_cast<type>(choice_names<type>.size())), "");
}

TEST(settings, that_are_typed_have_texts) {
    using s = run_settings;
    expect_names(&s::precision);
    expect_names(&s::construction);
    for (const auto member : {&s::controls, &s::preintegration, &s::importance}) expect_names(member);
    expect_names(&s::antithetic);
    expect_names(&s::upper);
    const std::pair<accuracy, const char*> tolerances[] = {
        {accuracy::amount(0.01), "0.01"},       {accuracy::amount(1e5), "100000"},
        {accuracy::amount(0.0001), "0.0001"},   {accuracy::amount(1e-9), "1e-09"},
        {accuracy::amount(1e300), "1e+300"},    {accuracy::basis_points(1), "1bp"},
        {accuracy::basis_points(0.5), "0.5bp"}, {accuracy::of_totals(100), "100 total"}};
    for (const auto& [value, text] : tolerances) EXPECT_EQ(text_of(&s::tolerance, value), text);
    EXPECT_EQ(text_of(&s::confidence, 0.99), "0.99");
    using seconds = std::chrono::duration<double>;
    const std::pair<double, const char*> budgets[] = {
        {30, "30s"},       {60, "1m"},           {90, "90s"},
        {300, "5m"},       {5400, "90m"},        {7200, "2h"},
        {0.001, "0.001s"}, {1e9, "1000000000s"}, {1.0 / 3, "0.3333333333333333s"},
        {1e300, "1e+300s"}};
    for (const auto& [value, text] : budgets) EXPECT_EQ(text_of(&s::budget, seconds(value)), text);
}

TEST(settings, have_one_name_everywhere) {
    std::set<std::string> options, variables;
    for (const auto& setting : setting_table()) {
        options.insert(setting.option());
        variables.insert(setting.variable());
        EXPECT_FALSE(setting.meaning.empty()) << setting.name;
        if (!setting.preset.empty()) {
            run_settings into;
            EXPECT_FALSE(setting.read(setting.preset, into)) << setting.name << ": " << setting.preset;
            EXPECT_EQ(setting.text(into), setting.preset) << setting.name << " is kept in another form";
        }
    }
    EXPECT_EQ(options.size(), setting_table().size());
    EXPECT_EQ(variables.size(), setting_table().size());
    EXPECT_EQ(named("row_space").option(), "--row-space");
    EXPECT_EQ(named("row_space").variable(), "TILEWALK_ROW_SPACE");
}

TEST(settings, of_the_table_are_all_there_are) {
    std::size_t bytes = 0;
    for (const auto& setting : setting_table())
        bytes += std::visit([](auto member) { return sizeof(run_settings{}.*member); }, setting.value);
    EXPECT_EQ(bytes, sizeof(run_settings)) << "a field of run_settings has no entry in the table";
}

TEST(settings, that_are_said_first_count) {
    for (const auto& c : good) {
        run_settings said, other = default_settings();
        named(c.name).read(c.text, said);
        const run_settings both = over(said, other);
        for (const auto& setting : setting_table())
            EXPECT_EQ(setting.text(both), setting.name == c.name ? c.kept : setting.text(other))
                << c.name << ": " << setting.name;
    }
    const run_settings preset = default_settings();
    EXPECT_EQ(preset.paths, default_paths);
    EXPECT_EQ(preset.seed, default_seed);
    EXPECT_EQ(preset.precision, precision::double_);
    EXPECT_FALSE(preset.distance);
}

TEST(settings, of_a_caller_are_checked) {
    const auto said_of = [](const run_settings& settings) -> std::string {
        try {
            check(settings);
        } catch (const error& e) {
            return e.kind() == error_kind::usage ? e.what() : "another kind";
        }
        return "accepted";
    };
    run_settings settings;
    EXPECT_EQ(said_of(settings), "accepted");
    settings.distance = 33;
    EXPECT_EQ(said_of(settings), "distance: found '33', expected a whole number from 1 to 32");
    settings.distance = -1;
    EXPECT_EQ(said_of(settings), "distance: found '-1', expected a whole number from 1 to 32");
    settings = {};
    settings.layout = "plan";
    EXPECT_EQ(said_of(settings),
              "layout: found 'plan'; did you mean 'plain'? expected plain, padded, transposed");
    settings.layout = "a\nb";
    EXPECT_EQ(said_of(settings), "layout: found 'a\\nb', expected plain, padded, transposed");
    settings = {};
    settings.confidence = 95;
    EXPECT_EQ(said_of(settings),
              "confidence: found '95', expected a share above 0.5 and below 1, such as 0.99");
    settings = {};
    settings.budget = std::chrono::seconds(-1);
    EXPECT_EQ(said_of(settings), "budget: found '-1s', expected a time above 0, such as 30s, 5m or 2h");
    settings = {};
    settings.upper = static_cast<upper_bound>(2);
    EXPECT_EQ(said_of(settings), "upper: found '', expected regression, nested");
}

std::string book_with(const std::string& settings) {
    return "settings:\n  " + settings + "\ntrades: []\n";
}

TEST(settings, of_a_book) {
    for (const auto& c : good) {
        // Options of the command may begin with zeros, but YAML may take such numbers for octal.
        if (named(c.name).takes == run_setting::value_type::file || std::string(c.text) == "032") continue;
        const auto read = book::parse(book_with(std::string(c.name) + ": " + c.text)).settings();
        EXPECT_EQ(named(c.name).text(read), c.kept) << c.name << ": " << c.text;
    }
    EXPECT_EQ(book::parse(book_with("replay: ../shocks.npy"), "b", "folder/books").settings().replay,
              "folder/shocks.npy")
        << "files count from the folder of the book";
    EXPECT_EQ(book::parse(book_with("replay: /data/shocks.npy"), "b", "folder").settings().replay,
              "/data/shocks.npy");
    EXPECT_EQ(book::parse(book_with("device: [0, 2]")).settings().device, "0,2");
    EXPECT_EQ(book::parse(book_with("device: '0,2'")).settings().device, "0,2");
}

TEST(settings, of_a_book_are_refused_where_they_stand) {
    const std::pair<const char*, const char*> cases[] = {
        {"distance: 33", "b:2:13: settings.distance: found '33', expected a whole number from 1 to 32"},
        {"distance: \"3\"", "b:2:13: settings.distance: found the quoted text '3', expected a whole number"},
        {"distance: [3]", "b:2:13: settings.distance: found a list, expected a whole number from 1 to 32"},
        {"distance:", "settings.distance: found nothing, expected a whole number from 1 to 32"},
        {"layout: {a: b}", "b:2:11: settings.layout: found a mapping, expected plain, padded, transposed"},
        {"layout: paded", "did you mean 'padded'?"},
        {"layuot: padded",
         "b:2:3: settings.layuot: unknown key 'layuot'; did you mean 'layout'? known keys: layout, random,"},
        {"layuot: padded", "did you mean 'layout'?"},
        {"seed: 010",
         "b:2:9: settings.seed: found '010', expected a whole number from 0 to 2^64 - 1, such as "},
        {"seed: 010", "; write 10, or 8 if it is in base 8"},
        {"distance: 032", "; write 32, or 26 if it is in base 8"},
        {"paths: 00100k", "b:2:10: settings.paths: found '00100k', expected a whole number"},
        {"row-space: global", "did you mean 'row_space'?"},
        {"device: []", "settings.device: found a list, expected auto, cpu, cuda or numbers of GPUs"},
        {"device: [0, cpu]",
         "settings.device: found a list; did you mean 'cpu'? expected auto, cpu, cuda or numbers of GPUs"},
        {"device: [0, [1]]", "settings.device[1]: found a list, expected a text"},
        {"replay: ''", "settings.replay: found the quoted text '', expected the name of a file"},
        {"precision: singel",
         "b:2:14: settings.precision: found 'singel'; did you mean 'single'? expected double, single, "
         "single_fast, mixed"},
        {"importance: atuo",
         "b:2:15: settings.importance: found 'atuo'; did you mean 'auto'? expected none, auto"},
        {"tolerance: 1 bp", "b:2:14: settings.tolerance: found '1 bp', expected an amount above 0, such as"},
        {"budget: 30 s", "b:2:11: settings.budget: found '30 s', expected a time above 0, such as 30s"},
        {"memory_bytes: 40 GiB", "settings.memory_bytes: found '40 GiB', expected a number of bytes"},
    };
    for (const auto& [text, said] : cases) {
        try {
            book::parse(book_with(text), "b");
            ADD_FAILURE() << text << " was accepted";
        } catch (const error& e) {
            EXPECT_EQ(e.kind(), error_kind::input);
            EXPECT_NE(std::string(e.what()).find(said), std::string::npos) << text << "\n" << e.what();
        }
    }
}

TEST(settings, of_a_run_are_in_its_manifest) {
    const auto in = market::parse("as_of: 2026-01-15\ncurrencies: {USD: {rate: 0.03}}\n");
    run_options options;
    options.overrides.seed = 3;
    options.overrides.threads = 1;
    const auto priced = engine().price(book::parse(book_with("paths: 4096")), in, options);
    EXPECT_EQ(priced.manifest.settings.paths, 4096U);
    EXPECT_EQ(priced.manifest.settings.seed, 3U);
    EXPECT_FALSE(priced.manifest.settings.precision);
    EXPECT_EQ(priced.manifest.precision, "double");
    EXPECT_EQ(priced.manifest.random, "auto");
    EXPECT_EQ(priced.manifest.paths, 4096U);
    options.overrides.rows = 65;
    EXPECT_THROW(engine().price(book::parse("trades: []"), in, options), error);
}

}  // namespace
}  // namespace tilewalk::settings_test
