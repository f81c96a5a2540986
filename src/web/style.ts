/** Both pages: wide tables become cards on a phone; colours follow the system. */
export const STYLE = `
:root{color-scheme:light dark;font:16px/1.45 system-ui,sans-serif;
--line:light-dark(#d5dae1,#363d47);--soft:light-dark(#f4f6f8,#1d2229);--quiet:light-dark(#59636e,#9198a1);
--ok:light-dark(#116329,#4ac26b);--bad:light-dark(#b3122b,#ff7b86);--link:light-dark(#0757ba,#6cb0ff);
background:light-dark(#fff,#12161c);color:light-dark(#1b2026,#e2e8ee)}
*{box-sizing:border-box}
body{margin:0 auto;max-width:80rem;padding:0 1rem 3rem}
header{display:flex;flex-wrap:wrap;align-items:baseline;gap:.2rem .6rem;padding:.8rem 0;border-bottom:1px solid var(--line)}
nav{display:flex;flex-wrap:wrap;gap:.2rem .9rem;font-size:.9rem;margin-left:auto}
a{color:var(--link);text-underline-offset:.15em}
h1{font-size:1.5rem;margin:1rem 0 .4rem}
h2{font-size:1.3rem;margin:2.2rem 0 .4rem;padding-top:1.2rem;border-top:2px solid var(--line);overflow-wrap:anywhere}
h3{font-size:1.1rem;margin:1.4rem 0 .3rem}
h4{font-size:1rem;margin:1.8rem 0 .3rem}
p{margin:.3rem 0;overflow-wrap:anywhere}
.quiet{color:var(--quiet)}.ok{color:var(--ok)}.bad{color:var(--bad)}
.note{font-size:.875rem;color:var(--quiet)}
.alert{border-left:.25rem solid var(--bad);background:var(--soft);padding:.5rem .8rem;margin:.6rem 0}
.badge{display:inline-block;border:1px solid;border-radius:1rem;padding:0 .5rem;font-size:.8rem;white-space:nowrap}
.figures{display:flex;flex-wrap:wrap;gap:.5rem;list-style:none;margin:.6rem 0;padding:0}
.figures a{display:block;padding:.3rem .7rem;border:1px solid var(--line);border-radius:.5rem;background:var(--soft);color:inherit;text-decoration:none}
.figures a.bad{color:var(--bad);border-color:currentColor}
.figures a:hover{border-color:var(--link)}
.figures b{font-size:1.1rem;font-variant-numeric:tabular-nums}
.facts{display:flex;flex-wrap:wrap;gap:.2rem 1.6rem;margin:.6rem 0;font-size:.875rem}
.facts div{display:flex;gap:.4rem}.facts dt{color:var(--quiet)}.facts dd{margin:0}
section>div{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.875rem;margin:.5rem 0}
th,td{text-align:left;padding:.45rem .7rem .45rem 0;border-bottom:1px solid var(--line);vertical-align:top}
th{font-weight:600;white-space:nowrap}th a{color:inherit}th[aria-sort] a{color:var(--link)}
td small{display:block;font-size:.8rem;color:var(--quiet)}
code{font:.92em ui-monospace,monospace}
.id{white-space:nowrap;user-select:all}
.id span{font-size:0}.id span::before{content:"…";font-size:.8rem}
.digits{font-variant-numeric:tabular-nums;overflow-wrap:anywhere}.digits span{display:inline-block;margin-left:.2em}
.nowrap{white-space:nowrap}
.bar{display:inline-block;width:5.5rem;height:.6rem;border:1px solid;border-radius:.2rem;color:var(--link);background:linear-gradient(to right,currentColor var(--share),transparent 0)}
.bar.ok{color:var(--ok)}.bar.bad{color:var(--bad)}
td .figures{margin:0}
summary{cursor:pointer}
details ol{margin:.3rem 0;padding-left:1.5rem}
details li.watched{font-weight:600}
@media (min-width:68.01rem){details li{white-space:nowrap}}
@media (max-width:68rem){
.cards thead tr{display:flex;flex-wrap:wrap;gap:.2rem .9rem}
.cards thead tr:has(a)::before{content:"Sort by";color:var(--quiet)}
.cards thead th{padding:0;border:0}
.cards thead th.fixed{display:none}
.cards,.cards thead,.cards tbody{display:block}
.cards tbody tr{display:grid;grid-template-columns:repeat(auto-fill,minmax(7.5rem,1fr));gap:.5rem .8rem;border:1px solid var(--line);border-radius:.5rem;padding:.6rem .8rem;margin:.6rem 0;background:var(--soft)}
.cards td{display:block;padding:0;border:0;min-width:0;overflow-wrap:anywhere}
.cards td.wide{grid-column:span 2}
.cards td::before{display:block;content:attr(data-label);color:var(--quiet);font-size:.8rem}
}`;
