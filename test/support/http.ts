import { gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { waitFor } from './wait-for.js';

const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body as received. */
  readonly bytes: Buffer;
  /** The body without gzip, as text. */
  readonly text: string;
}

/** Sends one request and reads the whole response; follows no redirect. */
export async function get(
  url: string,
  options: { readonly method?: string; readonly headers?: Record<string, string> } = {},
): Promise<HttpResponse> {
  const { method = 'GET', headers = {} } = options;
  const { statusCode, headers: received, body } = await request(url, { method, headers });
  const bytes = Buffer.from(await body.arrayBuffer());
  // A body that is not gzip despite its header is returned as received.
  const isGzip = received['content-encoding'] === 'gzip' && bytes.subarray(0, 2).equals(GZIP_MAGIC);
  return { status: statusCode, headers: received, bytes, text: (isGzip ? gunzipSync(bytes) : bytes).toString() };
}

/** The text of the metrics page of an exporter. */
export async function scrape({ url }: { readonly url: string }, accept?: string): Promise<string> {
  const { text } = await get(`${url}/metrics`, accept === undefined ? {} : { headers: { accept } });
  return text;
}

export async function scrapeUntil(
  exporter: { readonly url: string },
  isDone: (text: string) => boolean,
): Promise<string> {
  return waitFor(async () => scrape(exporter), isDone);
}
