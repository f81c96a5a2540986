import type { SearchResult } from '../facts/items/search.js';
import { count } from '../text/format.js';
import { foundTable } from './cctx-table.js';
import { isolated, markup, type Markup } from './html.js';
import type { PageContext } from './item-table.js';
import { pendingLink, relative } from './layout.js';
import { tableHtml } from './table.js';

/** The text of `?q=`; `undefined` without one. */
export function parseSearch({ q }: Readonly<Record<string, unknown>>): string | undefined {
  return typeof q === 'string' && q.trim() !== '' ? q : undefined;
}

/** The form, and what was found. It works without JavaScript. */
export function searchSection(result: SearchResult | null, page: PageContext): Markup {
  const { target } = page.view;
  return markup`<section id="search" aria-label="Search">
<form id="search-form" role="search" method="get" action="${relative('/pending')}">
<input type="hidden" name="target" value="${target}">
<label for="search-text">Find a cctx by hash, address, index or nonce</label>
<input id="search-text" type="search" name="q" maxlength="200" autocomplete="off" spellcheck="false" required value="${result?.query ?? ''}">
<button>Search</button>
</form>
${result === null ? '' : resultHtml(result, page)}
</section>
`;
}

function resultHtml({ query, searched, found, rows }: SearchResult, page: PageContext): Markup {
  const oldest = found > rows.length ? `, of which the ${rows.length} oldest follow,` : '';
  const table = rows.length === 0 ? '' : tableHtml(foundTable, rows, page);
  return markup`<p role="status"><b>${count(found, 'match', 'matches')}</b>${oldest} for “${isolated(query)}” in all ${searched} listed cctxs. <a href="${pendingLink(page.view.target)}">Clear the search</a></p>
${table}`;
}
