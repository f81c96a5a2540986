import { gunzipSync } from 'node:zlib';
import { request } from 'undici';
import type { Simulator } from '../../src/simulator/simulator.js';

export const MODULE_STATE = '/bridge/v1/module_state';
export const RATE_LIMITER_INPUT = '/chain/crosschain/rateLimiterInput';

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
  readonly text: string;
}

/** One request, its whole answer; nothing is decoded, followed or retried on the way. */
export async function get(
  { url }: Pick<Simulator, 'url'>,
  path: string,
  options: { readonly method?: string; readonly headers?: Record<string, string> } = {},
): Promise<Reply> {
  const { method = 'GET', headers = {} } = options;
  const { statusCode, headers: received, body } = await request(`${url}${path}`, { method, headers });
  const bytes = Buffer.from(await body.arrayBuffer());
  const text = received['content-encoding'] === 'gzip' && bytes.length > 0 ? gunzipped(bytes) : bytes.toString();
  return { status: statusCode, headers: received, bytes, text };
}

/** What is not gzip despite its header shows as it came. */
function gunzipped(bytes: Buffer): string {
  try {
    return gunzipSync(bytes).toString();
  } catch {
    return bytes.toString();
  }
}
