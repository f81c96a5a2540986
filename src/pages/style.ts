/**
 * The style of all pages: wide tables become cards on narrow screens, and colors follow the color scheme of the system.
 */
export const STYLE = `
:root{color-scheme:light dark;font:16px/1.45 system-ui,sans-serif;overflow-anchor:none;
--page:light-dark(#ffffff,#12161c);--ink:light-dark(#1b2026,#e2e8ee);
--line:light-dark(#d5dae1,#363d47);--soft:light-dark(#f4f6f8,#1d2229);--quiet:light-dark(#59636e,#9198a1);
--ok:light-dark(#116329,#4ac26b);--warn:light-dark(#8a4600,#e8a33d);--bad:light-dark(#b3122b,#ff7b86);--link:light-dark(#0757ba,#6cb0ff);
background:var(--page);color:var(--ink)}
*{box-sizing:border-box}
[hidden]{display:none!important}
body{margin:0 auto;max-width:80rem;padding:0 1rem 3rem}
main:focus{outline:none}
.skip{position:absolute;left:-99rem}
.skip:focus{left:1rem;top:.4rem;padding:.3rem .6rem;background:var(--page);z-index:2}
header{display:flex;flex-wrap:wrap;align-items:baseline;gap:.2rem .6rem;padding:.8rem 0;border-bottom:1px solid var(--line)}
nav{display:flex;flex-wrap:wrap;gap:.2rem .9rem;font-size:.9rem;margin-left:auto}
nav.jump{margin:.6rem 0}
a{color:var(--link);text-underline-offset:.15em}
nav [aria-current]{color:inherit;font-weight:600;text-decoration:none}
:focus-visible{outline:2px solid var(--link);outline-offset:2px}
h1{font-size:1.5rem;line-height:1.3;margin:1rem 0 .4rem;overflow-wrap:break-word}
h2{font-size:1.3rem;margin:2.2rem 0 .4rem;padding-top:1.2rem;border-top:2px solid var(--line);overflow-wrap:anywhere}
h3{font-size:1.1rem;margin:1.4rem 0 .3rem}
p{margin:.3rem 0;overflow-wrap:anywhere}
.quiet{color:var(--quiet)}.ok{color:var(--ok)}.warning{color:var(--warn)}.critical{color:var(--bad)}.info{color:var(--link)}
.note{font-size:.875rem;color:var(--quiet)}
.alert{border-left:.25rem solid var(--warn);color:var(--ink);background:var(--soft);padding:.5rem .8rem;margin:.6rem 0}
.badge{display:inline-block;border:1px solid;border-radius:1rem;padding:0 .5rem;font-size:.8rem;white-space:nowrap}
.statistics{display:flex;flex-wrap:wrap;gap:.5rem;list-style:none;margin:.6rem 0;padding:0}
.statistics li{max-width:100%;overflow-wrap:anywhere}
.statistics li>a:only-child{display:block;padding:.3rem .7rem;border:1px solid var(--line);border-radius:.5rem;background:var(--soft);color:inherit;text-decoration:none}
.statistics li>a.critical:only-child{color:var(--bad);border-color:currentColor}
.statistics li>a.warning:only-child{color:var(--warn);border-color:currentColor}
.statistics li>a.info:only-child{border-color:var(--link)}
.statistics li>a:only-child:hover{border-color:var(--link)}
.statistics b{font-size:1.1rem;font-variant-numeric:tabular-nums}
.statistics small{color:var(--quiet)}.statistics .state{font-size:.8rem}
.facts{display:flex;flex-wrap:wrap;gap:.2rem 1.6rem;margin:.6rem 0;font-size:.875rem}
.facts div,.facts dt,.facts dd{min-width:0;overflow-wrap:anywhere}.facts dt,.facts dd{display:inline;margin:0}.facts dt{color:var(--quiet);margin-right:.4rem}
table{border-collapse:collapse;width:100%;font-size:.875rem;margin:.5rem 0}
th,td{text-align:left;padding:.45rem .7rem .45rem 0;border-bottom:1px solid var(--line);vertical-align:top}
th{font-weight:600;white-space:nowrap}
tbody th small{font-weight:400}
td small,tbody th small{display:block;overflow-wrap:anywhere;font-size:.8rem;color:var(--quiet)}
code{font:.92em ui-monospace,monospace}
.id{white-space:nowrap;user-select:all}
.id span{font-size:0}.id span::before{content:"…";font-size:.8rem}
.digits{font-variant-numeric:tabular-nums;overflow-wrap:anywhere}.digits span{display:inline-block;max-width:100%;margin-left:.2em}
td small .digits{display:inline-block;max-width:100%;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;vertical-align:bottom}
.nowrap,td time{white-space:nowrap}
.bar{width:5.5rem;height:.6rem;border:1px solid;border-radius:.2rem;color:var(--link);fill:currentColor}
.bar.ok{color:var(--ok)}.bar.warning{color:var(--warn)}.bar.critical{color:var(--bad)}
td .statistics{margin:0}
summary{cursor:pointer}
details.rows>summary h3{display:inline}
details.rows{margin:1.4rem 0 .3rem}
form{display:flex;flex-wrap:wrap;align-items:center;gap:.4rem .6rem;margin:1rem 0;font-size:.875rem}
form input[type=search]{flex:1 1 16rem;max-width:40rem;min-width:0}
input,button{font:inherit;color:inherit;background:var(--page);border:1px solid var(--quiet);border-radius:.4rem;padding:.3rem .6rem}
button{background:var(--soft);cursor:pointer}
tr.watched{background:var(--soft)}
@media (min-width:68.01rem){.validators th:first-child{border-left:.25rem solid transparent;padding-left:.5rem}tr.watched th:first-child{border-left-color:var(--link)}}
.validators tbody th{font-weight:400;white-space:normal;overflow-wrap:anywhere}
pre{background:var(--soft);padding:.8rem;overflow-x:auto;font:.85rem/1.5 ui-monospace,monospace}
.state::before{display:inline-block;width:1.2em;content:"○"/""}
.state.up::before,.state.ok::before{content:"●"/""}.state.failing::before,.state.warning::before{content:"▲"/""}.state.withdrawn::before,.state.critical::before{content:"■"/""}.state.info::before{content:"◆"/""}.state.pending::before{content:"△"/""}
.state.ok{color:var(--ok)}.state.failing,.state.warning,.state.pending{color:var(--warn)}.state.withdrawn,.state.critical{color:var(--bad)}.state.initial,.state.unknown{color:var(--quiet)}.state.info{color:var(--link)}
.verdicts{list-style:none;margin:.3rem 0;padding:0}
.verdict{border-left:.3rem solid var(--quiet);background:var(--soft);padding:.5rem .8rem;margin:.6rem 0;overflow-wrap:anywhere;color:var(--ink)}
.verdict.critical{border-color:var(--bad)}.verdict.warning,.verdict.pending{border-color:var(--warn)}.verdict.info{border-color:var(--link)}
.verdict ul{margin:.2rem 0;padding-left:1.2rem;font-size:.875rem}
.verdict summary{font-size:.875rem}
.verdict ul.consequences{padding:0;font-size:inherit}.consequences .verdict{padding:.2rem .8rem}
.links{display:flex;flex-wrap:wrap;gap:.1rem 1.1rem;font-size:.875rem}
.links span{color:var(--quiet)}
h1 .state{font-weight:inherit}
header #as-of{flex-basis:100%;margin:0}
#as-of{font-size:.875rem;color:var(--quiet);margin:.8rem 0 0}
#out-of-date{position:sticky;top:0;z-index:1;margin:.6rem 0;padding:.6rem .8rem;background:var(--bad);color:var(--page)}
.old #live{display:none}
.old main{filter:grayscale(1);opacity:.7}
.tiles{display:flex;flex-wrap:wrap;gap:.6rem;list-style:none;margin:.8rem 0;padding:0}
.tiles li{flex:1 1 9rem;border:1px solid var(--line);border-radius:.6rem}
.tiles a,.tiles .none{display:flex;flex-wrap:wrap;align-items:baseline;align-content:start;gap:0 .4rem;padding:.4rem .9rem;color:inherit;text-decoration:none}
.tiles b:first-child{font-size:1.6rem;line-height:1.3;font-variant-numeric:tabular-nums}
.tiles .none,.tiles .none .state{color:var(--quiet)}
.tiles>.critical,.tiles>.warning{background:var(--soft);border-color:currentColor}
.tiles a:hover{text-decoration:underline}
.part h2{font-size:1.1rem;margin:1.6rem 0 .3rem;padding:0;border:0}
.endpoints tbody th{font-weight:400;white-space:normal}
.endpoints .target{font-weight:600;overflow-wrap:anywhere}
.endpoints td,.endpoints tbody th{padding:.35rem 1rem .35rem 0}
.endpoints th:first-child,.endpoints td:first-child{border-left:.25rem solid transparent;padding-left:.5rem}
.endpoints td p{margin:0 0 .2rem}
.endpoints td p small{display:inline}
.endpoints .statistics{gap:0 1.1rem}
.endpoints .statistics li>a:only-child{padding:0;border:0;background:none}
.endpoints .statistics li>a:only-child:hover{text-decoration:underline}
.endpoints .statistics b{font-size:inherit}
.endpoints .statistics small{display:inline}
.endpoints ul:not(.statistics){margin:.2rem 0;padding-left:1.2rem}
.nodes{list-style:none;margin:.2rem 0;padding:0}
.endpoints details{overflow-wrap:anywhere}
.endpoints p.note{display:inline-block;margin-right:.8rem}.endpoints p.note+.statistics{display:inline-flex}
.reason{font-weight:600;color:var(--bad)}
.remedy::before{content:"→ "/""}
.names{display:flex;flex-wrap:wrap;gap:.2rem 1.6rem;list-style:none;margin:.3rem 0;padding:0;font-size:.875rem}
@media (min-width:68.01rem){
.endpoints{table-layout:fixed}
.endpoints .failing td:first-child{border-left-color:var(--warn)}.endpoints .withdrawn td:first-child{border-left-color:var(--bad)}
.endpoints th:nth-child(1){width:7.5rem}.endpoints th:nth-child(2){width:15rem}.endpoints th:nth-child(3){width:9.5rem}.endpoints th:nth-child(5){width:8.5rem}
}
@media (max-width:68rem){
.cards thead{display:none}
.cards,.cards tbody{display:block}
.cards tbody tr{display:grid;grid-template-columns:repeat(auto-fill,minmax(7.5rem,1fr));gap:.5rem .8rem;border:1px solid var(--line);border-radius:.5rem;padding:.6rem .8rem;margin:.6rem 0;background:var(--soft)}
.cards tbody th{display:block;grid-column:1/-1;padding:0;border:0;min-width:0;white-space:normal;overflow-wrap:anywhere}
.cards td{display:block;padding:0;border:0;min-width:0;overflow-wrap:anywhere}
.cards td.wide{grid-column:1/-1}
.cards td.none{display:none}
.cards td .nowrap,.cards td time{white-space:normal}
.cards td::before{display:block;content:attr(data-label);color:var(--quiet);font-size:.8rem}
.endpoints tbody tr{display:block;padding:.5rem .7rem}
.endpoints tr.failing{border-left:.25rem solid var(--warn)}.endpoints tr.withdrawn{border-left:.25rem solid var(--bad)}
.endpoints td,.endpoints tbody th,.endpoints td:first-child{padding:.1rem 0;border:0}
.endpoints tr>:nth-child(-n+2){display:inline-block;margin-right:.6rem;vertical-align:top;max-width:100%}
.endpoints td:nth-child(n+4){margin-top:.3rem}
.endpoints td::before{display:none}
.endpoints .polls{display:inline}
.endpoints td:nth-child(3)::before,.endpoints td:nth-child(5)::before{display:inline;content:attr(data-label) " "}
}
@media (max-width:40rem){h1{font-size:1.2rem}}
@media print{
:root{color-scheme:only light}
nav,#as-of a,#live,#out-of-date{display:none}
tr{break-inside:avoid}
}`;
