// SPDX-License-Identifier: Apache-2.0
#include "engine/tell/page/markup.h"

namespace tilewalk::page {

namespace {

// Every text colour has a contrast of at least 4.5 to its background (measured by tests/drawn_pages_test.py).
constexpr const char* light =
    "--paper:#fff;--raised:#f6f7f9;--ink:#1b2026;--quiet:#59626d;--rule:#d9dde2;--accent:#0065a8;--alarm:#"
    "b3400a;"
    "--alarm-paper:#fdf1ea;"
    "--m4:#f2a07a;--m3:#f6bb9f;--m2:#fad6c5;--m1:#fdece3;--z:#f6f7f9;--p1:#e4eff9;--p2:#c8dff3;--p3:#a5cbeb;"
    "--p4:#7fb4e0";
constexpr const char* dark =
    "--paper:#14171a;--raised:#1d2125;--ink:#e6e9ec;--quiet:#a5aeb8;--rule:#363c43;--accent:#66b5f0;"
    "--alarm:#ff9a62;--alarm-paper:#33231a;"
    "--m4:#8a3d14;--m3:#6d3214;--m2:#502815;--m1:#352017;--z:#1d2125;--p1:#19293a;--p2:#1a3851;--p3:#1b476b;"
    "--p4:#1d5886";
constexpr const char* rules = R"(
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif}
header,main,footer{max-width:76rem;margin:0 auto;padding:0 clamp(.75rem,3vw,2rem)}
header{padding-top:1.5rem}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 .25rem;overflow-wrap:anywhere}
h2{font-size:1.2rem;margin:2.25rem 0 .5rem;padding-top:.75rem;border-top:1px solid var(--rule)}
h3{font-size:1rem;margin:1.25rem 0 .4rem;overflow-wrap:anywhere}
p{margin:.4rem 0;max-width:70ch;overflow-wrap:anywhere}
ul{margin:.4rem 0;padding-left:1.2rem}
li{overflow-wrap:anywhere;max-width:90ch}
a{color:var(--accent)}
.quiet,figcaption{color:var(--quiet);font-size:.875rem}
nav ul{display:flex;flex-wrap:wrap;gap:.2rem 1rem;list-style:none;padding:0;margin:.75rem 0 0}
.wide{overflow-x:auto;margin:.5rem 0;max-width:100%}
.wide:focus-visible,summary:focus-visible,a:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
table{border-collapse:collapse;font-size:.875rem;line-height:1.35;font-variant-numeric:tabular-nums}
th,td{padding:.28rem .65rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--rule);vertical-align:top}
th{font-weight:600;text-align:right}
th[scope=row],.t{text-align:left}
thead th{border-bottom:2px solid var(--quiet);vertical-align:bottom}
tbody tr:nth-child(even){background:var(--raised)}
tbody tr.alarm,tbody tr.alarm:nth-child(even){background:var(--alarm-paper)}
.says{white-space:normal;display:inline-block;min-width:16rem;max-width:44rem;overflow-wrap:anywhere}
th .says{font-weight:400;min-width:9rem}
.id{white-space:normal;overflow-wrap:break-word;display:inline-block;max-width:min(18rem,40vw)}
.alarm .mark{color:var(--alarm);font-weight:600}
.p{vertical-align:middle}
.pictures{display:flex;flex-wrap:wrap;gap:1rem 1.5rem;margin:.75rem 0}
.pictures>*{min-width:0;max-width:100%}
figure{margin:0;width:340px;max-width:100%}
details{margin:.75rem 0}
summary{cursor:pointer;padding:.2rem 0;font-weight:600}
pre{background:var(--raised);border:1px solid var(--rule);border-radius:4px;padding:.75rem;white-space:pre-wrap;overflow-wrap:anywhere;font-size:.875rem;font-family:ui-monospace,'DejaVu Sans Mono',monospace}
code{font-family:ui-monospace,'DejaVu Sans Mono',monospace;overflow-wrap:anywhere}
.heat{border-collapse:separate;border-spacing:2px}
.heat td,.heat th{border:0;padding:.35rem .6rem;text-align:right}
.heat tbody tr:nth-child(even){background:none}
.heat caption{text-align:left;padding-bottom:.3rem;white-space:normal}
.m4{background:var(--m4)}.m3{background:var(--m3)}.m2{background:var(--m2)}.m1{background:var(--m1)}.z{background:var(--z)}
.p1{background:var(--p1)}.p2{background:var(--p2)}.p3{background:var(--p3)}.p4{background:var(--p4)}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,17rem),1fr));gap:.75rem;margin:.75rem 0}
.card{background:var(--raised);border:1px solid var(--rule);border-radius:6px;padding:.7rem .9rem}
.card .value{font-size:1.35rem;font-weight:600;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.card p{margin:.1rem 0}
footer{padding-top:1.5rem;padding-bottom:2rem}
@media print{
:root{color-scheme:light}
body{font-size:10pt}
nav{display:none}
.wide{overflow:visible}
th,td{padding:.15rem .35rem}
h2,h3,h2+p,figcaption,.heat caption{break-after:avoid}
p{orphans:3;widows:3}
.pictures{display:block}
.pictures>*{display:inline-block;vertical-align:top;margin:0 1rem .75rem 0}
details::details-content{content-visibility:visible;block-size:auto;opacity:1}
tr,figure,.card,.heat{break-inside:avoid}
thead{display:table-header-group}
table{font-size:8pt}
*{print-color-adjust:exact}
}
)";

}  // namespace

std::string style() {
    std::string out = ":root{color-scheme:light dark;";
    out += light;
    out += "}\n@media screen and (prefers-color-scheme:dark){:root{";
    out += dark;
    out += "}}";
    out += rules;
    out += rules_of_room();
    return out;
}

}  // namespace tilewalk::page
