import type { IncomingMessage, ServerResponse } from 'node:http';

/** Names and texts of headers, one after the other, as `writeHead` takes them. */
export type HeaderList = readonly string[];

/**
 * Answers a request, with these headers among others. They are handed on rather than set at once, as setting them one by one
 * takes as long as all else there is to do for a scrape.
 */
export type Listener = (request: IncomingMessage, response: ServerResponse, headers: HeaderList) => void;

export function setHeaders(response: ServerResponse, headers: HeaderList): void {
  for (let at = 0; at < headers.length; at += 2) response.setHeader(headers[at] ?? '', headers[at + 1] ?? '');
}

export function pathOf({ url = '' }: IncomingMessage): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}

export function queryOf(request: IncomingMessage): URLSearchParams {
  return new URLSearchParams(request.url?.slice(pathOf(request).length));
}
