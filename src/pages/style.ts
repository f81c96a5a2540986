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
body{margin:0 auto;max-width:80rem;padding:0 1rem 3rem;overflow-wrap:anywhere}
main:focus{outline:none}
.skip{position:absolute;left:-99rem}
.skip:focus{left:1rem;top:.4rem;padding:.3rem .6rem;background:var(--page);z-index:2}
header{display:flex;flex-wrap:wrap;align-items:baseline;gap:.2rem .6rem;padding:.8rem 0;border-bottom:1px solid var(--line)}
nav{display:flex;flex-wrap:wrap;gap:.2rem .9rem;font-size:.9rem;margin-left:auto}
a{color:var(--link);text-underline-offset:.15em}
nav [aria-current]{color:inherit;font-weight:600;text-decoration:none}
:focus-visible{outline:2px solid var(--link);outline-offset:2px}
h1{font-size:1.5rem;line-height:1.3;margin:1rem 0 .4rem;overflow-wrap:break-word}
h2{font-size:1.3rem;margin:1.8rem 0 .4rem}
h3{font-size:1.1rem;margin:1.4rem 0 .3rem}
p{margin:.3rem 0}
.quiet,small{color:var(--quiet)}.warning{color:var(--warn)}.critical{color:var(--bad)}
.note,.links,.facts,form,summary,.problem ul{font-size:.875rem}.note{color:var(--quiet)}
.alert{border-left:.25rem solid var(--warn);background:var(--soft);padding:.5rem .8rem;margin:.6rem 0}
.plain{list-style:none;margin:.3rem 0;padding:0}
.facts{display:flex;flex-wrap:wrap;gap:.2rem 1.6rem;margin:.6rem 0}
.facts dt,.facts dd{display:inline;margin:0}.facts dt{color:var(--quiet);margin-right:.4rem}
table{border-collapse:collapse;width:100%;font-size:.875rem;margin:.5rem 0}
th,td{text-align:left;padding:.45rem .7rem .45rem 0;border-bottom:1px solid var(--line);vertical-align:top}
th{font-weight:600;overflow-wrap:normal}
thead th,th>.state{white-space:nowrap}
#validators tbody th{min-width:9rem;overflow-wrap:anywhere}
td>small,tbody th small{display:block;font-weight:400;overflow-wrap:anywhere}
code{font:.92em ui-monospace,monospace}
.id{white-space:nowrap;user-select:all}
.id span{font-size:0}.id span::before{content:"…";font-size:.8rem}
.nowrap,td time{white-space:nowrap}
summary{cursor:pointer}
form{display:flex;flex-wrap:wrap;align-items:center;gap:.4rem .6rem;margin:1rem 0}
form input[type=search]{flex:1 1 16rem;max-width:40rem;min-width:0}
input,button{font:inherit;color:inherit;background:var(--page);border:1px solid var(--quiet);border-radius:.4rem;padding:.3rem .6rem}
tr.watched{background:var(--soft)}
pre{background:var(--soft);padding:.8rem;overflow-x:auto;font:.85rem/1.5 ui-monospace,monospace;overflow-wrap:normal}
.state::before{display:inline-block;width:1.2em;content:"○"/""}
.state.up::before,.state.ok::before{content:"●"/""}.state.failing::before,.state.warning::before{content:"▲"/""}.state.withdrawn::before,.state.critical::before{content:"■"/""}.state.info::before{content:"◆"/""}.state.pending::before{content:"△"/""}
.state.ok{color:var(--ok)}.state.failing,.state.warning,.state.pending,.reason{color:var(--warn)}.state.withdrawn,.state.critical{color:var(--bad)}.state.info{color:var(--link)}
.problem{border-left:.3rem solid var(--quiet);background:var(--soft);padding:.5rem .8rem;margin:.6rem 0;color:var(--ink)}
.problem.critical{border-color:var(--bad)}.problem.warning,.problem.pending{border-color:var(--warn)}.problem.info{border-color:var(--link)}
.remedy::before{content:"→ "/""}
.links span{color:var(--quiet);margin-right:1rem}
header #as-of{flex-basis:100%;margin:0;font-size:.875rem;color:var(--quiet)}
#out-of-date{position:sticky;top:0;z-index:1;margin:.6rem 0;padding:.6rem .8rem;background:var(--bad);color:var(--page)}
.old #live{display:none}
.old main{filter:grayscale(1);opacity:.7}
@media (max-width:68rem){
.cards thead{display:none}
.cards,.cards tbody{display:block}
.cards tbody tr{display:grid;grid-template-columns:repeat(auto-fill,minmax(7.5rem,1fr));gap:.5rem .8rem;border:1px solid var(--line);border-radius:.5rem;padding:.6rem .8rem;margin:.6rem 0;background:var(--soft)}
.cards td,.cards tbody th{display:block;padding:0;border:0;min-width:0;overflow-wrap:anywhere}
.cards tbody th,.cards td.wide{grid-column:1/-1}
.cards td.none{display:none}
.cards td .nowrap,.cards td time,.cards th>.state{white-space:normal}
.cards td::before{display:block;content:attr(data-label);color:var(--quiet);font-size:.8rem}
}
@media (max-width:40rem){h1{font-size:1.2rem}}
@media print{
:root{color-scheme:only light}
nav,#as-of a,#live,#out-of-date{display:none}
tr{break-inside:avoid}
}`;
