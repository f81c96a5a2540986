import type { FoundCctx, SearchHits, SearchResult } from '../facts/items/search.js';
import { count } from '../text/format.js';
import { foundTransferTable, transferSummary } from './bridge-tables.js';
import * as cells from './cells.js';
import { cctxColumns } from './crosschain-tables.js';
import { isolated, markup, type Markup } from './html.js';
import { anchor, pendingLink, relative } from './layout.js';
import { tableHtml, type PageContext, type Table } from './table.js';

/* The search on the page of a target: by sender or id, for a transfer or transaction and the reason why it waits. */

const foundCctxTable: Table<FoundCctx, PageContext> = {
  title: 'Found cctxs',
  columns: [
    { title: 'List', cell: ({ list }) => markup`${list}` },
    ...cctxColumns,
    { title: 'Origin', cell: ({ origin }) => cells.identifier(origin) },
  ],
  rowId: ({ list, index }) => anchor('found', list, index),
};

/** The text of `?q=`; `undefined` without one. */
export function parseSearch({ q }: Readonly<Record<string, unknown>>): string | undefined {
  return typeof q === 'string' && q.trim() !== '' ? q : undefined;
}

/** The form and the result. It works without JavaScript. */
export function searchSection(page: PageContext): Markup {
  const { search, view } = page;
  return markup`<section id="search" aria-label="Search">
<form id="search-form" role="search" method="get" action="${relative('/pending')}">
<input type="hidden" name="target" value="${view.target}">
<label for="search-text">Find a transfer or cctx by address, hash, id or nonce</label>
<input id="search-text" type="search" name="q" maxlength="200" autocomplete="off" spellcheck="false" required value="${search?.query ?? ''}">
<button>Search</button>
</form>
${search === null ? '' : resultHtml(search, page)}
</section>
`;
}

function resultHtml({ query, transfers, cctxs }: SearchResult, page: PageContext): Markup {
  const counts = [
    ...(transfers === null ? [] : [countOf(transfers, 'transfer')]),
    ...(cctxs === null ? [] : [countOf(cctxs, 'cctx')]),
  ].join('; ');
  return markup`<p role="status">“${isolated(query)}”: <b>${counts}</b>. <a href="${pendingLink(page.view.target)}">Clear the search</a></p>
${transfers === null ? '' : markup`${tableOf(foundTransferTable, transfers, page)}${transferSummary('Found transfers', transfers.rows)}`}${cctxs === null ? '' : tableOf(foundCctxTable, cctxs, page)}`;
}

function countOf({ searched, found, rows }: SearchHits<unknown>, what: string): string {
  const first = found > rows.length ? `, of which the first ${rows.length} follow` : '';
  return `${found} of ${count(searched, `listed ${what}`)}${first}`;
}

function tableOf<Row>(table: Table<Row, PageContext>, { rows }: SearchHits<Row>, page: PageContext): Markup {
  return rows.length === 0 ? markup`` : tableHtml(table, rows, page);
}
