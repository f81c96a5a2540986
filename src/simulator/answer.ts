import type { Model } from './model.js';

export type Endpoint = 'module_state' | 'rate_limiter_input';

/** What goes over the wire when nothing fails on the way. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export const HEIGHT_HEADER = 'Grpc-Metadata-X-Cosmos-Block-Height';

const PATHS: Readonly<Record<string, Endpoint>> = {
  '/bridge/v1/module_state': 'module_state',
  '/chain/crosschain/rateLimiterInput': 'rate_limiter_input',
};
export const endpointPaths: readonly string[] = Object.keys(PATHS);

/** Status codes of gRPC, as error bodies carry them. */
const INVALID_ARGUMENT = 3;
const UNIMPLEMENTED = 12;

const MOST_INT64 = 2n ** 63n - 1n;

export interface Route {
  readonly endpoint: Endpoint;
  readonly parameters: URLSearchParams;
}

/**
 * Where a request goes, or how it is refused. Unknown paths and, on a known path, methods other than GET and HEAD are
 * both `Unimplemented` for the gateway in front of a real node, which it answers with 501; the texts differ.
 */
export function findRoute(method: string, target: string): Route | Answer {
  const [path = '', ...query] = target.split('?');
  const endpoint = Object.hasOwn(PATHS, path) ? PATHS[path] : undefined;
  if (endpoint === undefined) return refusal(501, UNIMPLEMENTED, 'Not Implemented');
  if (method !== 'GET' && method !== 'HEAD') return refusal(501, UNIMPLEMENTED, 'Method Not Allowed');
  return { endpoint, parameters: new URLSearchParams(query.join('?')) };
}

/** Parameters the spec does not name are ignored, and of a repeated one the first counts, as the gateway does it. */
export function answerQuery(model: Model, { endpoint, parameters }: Route): Answer {
  if (endpoint === 'module_state') return documentAnswer(model, model.moduleState());
  const limit = readInt64(parameters, 'limit');
  const window = readInt64(parameters, 'window');
  if (typeof limit === 'string') return refusal(400, INVALID_ARGUMENT, limit);
  if (typeof window === 'string') return refusal(400, INVALID_ARGUMENT, window);
  return documentAnswer(model, model.rateLimiterInput({ limit, window }));
}

export function refusal(status: number, code: number, message: string): Answer {
  const headers = { 'Content-Type': 'application/json' };
  return { status, headers, body: Buffer.from(JSON.stringify({ code, message, details: [] })) };
}

function documentAnswer(model: Model, document: unknown): Answer {
  const headers = { 'Content-Type': 'application/json', [HEIGHT_HEADER]: String(model.height) };
  return { status: 200, headers, body: Buffer.from(JSON.stringify(document)) };
}

/** The number, nothing when it is left out, or as text what is wrong with it. */
function readInt64(parameters: URLSearchParams, name: string): bigint | string | undefined {
  const text = parameters.get(name);
  if (text === null) return undefined;
  const wrong = `type mismatch, parameter: ${name}, error: parsing ${JSON.stringify(text)}`;
  if (!/^\d+$/.test(text)) return `${wrong}: not decimal digits`;
  const value = BigInt(text);
  return value > MOST_INT64 ? `${wrong}: value out of range` : value;
}
