// SPDX-License-Identifier: Apache-2.0
// The style sheet of the report page. Lines differ by dash as well as by colour, and blue against
// orange stays apart in every common colour blindness.
#pragma once

#include <string_view>

namespace ferry::replay {

inline constexpr std::string_view kReportStyle = R"css(
:root {
  color-scheme: light dark;
  --page: #f4f6f8; --card: #ffffff; --ink: #1c2430; --soft: #5a6675; --rule: #dde3ea;
  --grid: #e4e9ef; --live: #a9d3ee; --ferry: #0a4f9e; --recorded: #c95000; --capacity: #5a6675;
  --good: #14684a; --good-back: #e0f3ea; --bad: #a3162a; --bad-back: #fde9ea;
  --note-back: #eef2f6;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14191f; --card: #1c232b; --ink: #e6eaef; --soft: #9caab9; --rule: #323d49;
    --grid: #2a343f; --live: #2c5874; --ferry: #86c5ff; --recorded: #ff9d52; --capacity: #9caab9;
    --good: #7fdcb4; --good-back: #17372c; --bad: #ff9aa5; --bad-back: #43212a;
    --note-back: #252e38;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 24px clamp(10px, 3vw, 40px) 40px; max-width: 1240px;
  background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  font-variant-numeric: tabular-nums;
}
h1 { font-size: 1.5rem; margin: 0; letter-spacing: -.01em; }
h2 { font-size: 1.2rem; margin: 0; overflow-wrap: anywhere; }
h3 { font-size: 1rem; margin: 24px 0 0; padding-top: 14px; border-top: 1px solid var(--rule); }
h3 .badge { margin-left: 6px; }
a { color: var(--ferry); }
p { margin: 0; }
.soft, figcaption, footer { color: var(--soft); font-size: .875rem; }
header { margin-bottom: 20px; }
section {
  background: var(--card); border: 1px solid var(--rule); border-radius: 10px;
  padding: clamp(12px, 2vw, 24px); margin-bottom: 20px;
}
.head { display: flex; flex-wrap: wrap; gap: 4px 12px; align-items: baseline; }
.badge {
  border-radius: 999px; padding: 1px 10px; font-size: .8125rem; font-weight: 600;
  white-space: nowrap;
}
.badge.good { color: var(--good); background: var(--good-back); }
.badge.bad { color: var(--bad); background: var(--bad-back); }
.result { font-size: 1.125rem; font-weight: 600; margin: 10px 0 2px; text-wrap: balance; }
.details { margin-bottom: 14px; }
.notes {
  margin: 12px 0 0; padding: 8px 12px 8px 30px; background: var(--note-back); border-radius: 6px;
  font-size: .875rem; overflow-wrap: anywhere;
}
.error {
  margin: 12px 0; padding: 10px 14px; border-left: 4px solid var(--bad); border-radius: 4px;
  background: var(--bad-back); font-size: .875rem; overflow-wrap: anywhere;
}
pre.error {
  overflow: auto; max-height: 26em; white-space: pre-wrap; line-height: 1.45;
  font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: .8125rem;
}
figure { margin: 0; }
.legend {
  display: flex; flex-wrap: wrap; gap: 2px 22px; margin: 0 0 4px; padding: 0; list-style: none;
  font-size: .875rem;
}
.legend li { display: flex; align-items: center; gap: 8px; }
.legend svg { flex: none; }
.plot { position: relative; margin: 42px 8px 0 76px; height: clamp(200px, 30vw, 340px); }
.plot > svg { position: absolute; inset: 0; width: 100%; height: 100%; overflow: visible; }
svg text { font-size: 12px; fill: var(--soft); }
svg.strip {
  display: block; width: calc(100% - 84px); height: 40px; margin: 10px 8px 26px 76px;
  overflow: visible;
}
.axis line { stroke: var(--grid); }
.axis text, .strip-name { text-anchor: end; }
.axis .first, text.first { text-anchor: start; }
.axis .middle, .strip-none { text-anchor: middle; }
.axis .last, text.last { text-anchor: end; }
path { fill: none; stroke-width: 2; vector-effect: non-scaling-stroke; stroke-linejoin: round; }
/* The stroke keeps a peak visible that is narrower than a pixel. */
.live { fill: var(--live); stroke: var(--live); stroke-width: 1; }
circle.peak { fill: var(--ink); stroke: var(--card); stroke-width: 1.5; }
text.peak { fill: var(--ink); }
.ferry { stroke: var(--ferry); }
.recorded { stroke: var(--recorded); stroke-dasharray: 7 4; }
.capacity { stroke: var(--capacity); stroke-width: 1.5; stroke-dasharray: 2 3; }
.calls { fill: var(--ferry); stroke: var(--ferry); stroke-width: .6; }
rect.unreached { fill: var(--bad-back); opacity: .5; }
line.stop { stroke: var(--bad); stroke-width: 1.5; }
text.stop { fill: var(--bad); font-weight: 600; }
.hover rect { fill: var(--ink); opacity: 0; }
.hover g text { visibility: hidden; fill: var(--ink); font-weight: 600; }
.hover g tspan { fill: var(--soft); font-weight: 400; }
.hover g:hover rect { opacity: .1; }
.hover g:hover text { visibility: visible; }
.hover:hover .hint { visibility: hidden; }
.tables {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 290px), 1fr));
  gap: 16px 40px; margin-top: 18px; align-items: start;
}
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .875rem; }
caption { text-align: left; font-weight: 600; padding-bottom: 4px; }
th, td { padding: 3px 0 3px 14px; text-align: right; border-top: 1px solid var(--rule); }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
td { white-space: nowrap; }
thead th, thead td { border-top: 0; color: var(--soft); font-weight: 500; vertical-align: bottom; }
tbody th { font-weight: 400; }
.total th, .total td { font-weight: 600; }
.overview th { white-space: nowrap; }
.overview .badges { text-align: left; }
.overview .name { white-space: normal; overflow-wrap: anywhere; min-width: 14ch; }
@media (hover: none) { .hint { display: none; } }
@media (max-width: 560px) {
  body { font-size: 14px; }
  .alternate, .hint { display: none; }
  .plot { margin-left: 58px; }
  svg.strip { width: calc(100% - 66px); margin-left: 58px; }
  svg text { font-size: 11px; }
  .hover g text { font-size: 10px; transform: translateX(-52px); }
  .strip-name { font-size: 10px; }
}
)css";

}  // namespace ferry::replay
