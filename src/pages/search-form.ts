import { count } from '../text/format.js';
import { isolated, markup, type Markup } from './html.js';
import { pendingLink, relative } from './layout.js';
import type { ListSection, PageContext } from './table.js';

/* The search on the page of a target: the tables with the rows that it has found. */

/** The text of `?q=`; `undefined` without one. */
export function parseSearch({ q }: Readonly<Record<string, unknown>>): string | undefined {
  return typeof q === 'string' && q.trim() !== '' ? q : undefined;
}

/** The form. It works without JavaScript. */
export function searchSection({ search, view }: PageContext, result: Markup = markup``): Markup {
  return markup`<section id="search" aria-label="Search">
<form id="search-form" role="search" method="get" action="${relative('/pending')}">
<input type="hidden" name="target" value="${view.target}">
<label for="search-text">Find by nonce, id, hash, address or name</label>
<input id="search-text" type="search" name="q" maxlength="200" autocomplete="off" spellcheck="false" required value="${search?.query ?? ''}">
<button>Search</button>
</form>
${result}
</section>
`;
}

/** The form with the found rows, and what was searched and what was not. */
export function searchResult(page: PageContext, lists: readonly ListSection[]): Markup {
  const { query = '', items = {} } = page.search ?? {};
  const searched = lists.flatMap((section) => (section.searched === undefined ? [] : [section]));
  const found = searched.reduce((sum, { total }) => sum + (total ?? 0), 0);
  const what = searched.map(({ title, searched: number }) => `${title} ${number}`);
  const unreadable = lists.flatMap(({ title, searched: number }) => (number === undefined ? [title] : []));
  const withoutItems = Object.entries(items).flatMap(([document, own]) => (own === null ? [document] : []));
  const not = [...unreadable, ...withoutItems];
  const result = markup`<p role="status">“${isolated(query)}”: <b>${count(found, 'row')}</b> found. <a href="${pendingLink(page.view.target)}">Clear the search</a></p>
<p class="note">Searched by nonces, ids, hashes, addresses and names: ${what.length === 0 ? 'nothing' : what.join(', ')}. Digits alone are a whole nonce or id. Observed events, executed batches and finished cctxs are in no document.</p>
${not.length === 0 ? '' : markup`<p class="alert">Not searched, because there is nothing current or it cannot be read: ${not.join(', ')}.</p>`}
${searched.map(({ total, html }) => (total === 0 ? '' : html))}`;
  return searchSection(page, result);
}
