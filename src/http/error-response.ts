import type { PollError, Sanitize, FailureReason } from './errors.js';

/** gRPC's ResourceExhausted. A gateway answers it with 429, though it means that the document is too large to send. */
const RESOURCE_EXHAUSTED = 8;

/** What an answer with another status than 200 means. `body` is the start of what came with it. */
export function errorResponse(path: string, statusCode: number, body: string, quote: Sanitize): PollError {
  const error = errorBody(body);
  const said = error.message === undefined ? '' : `: ${quote(error.message)}`;
  return {
    reason: reasonForStatus(statusCode, error.code),
    message: `${path} was answered with status ${statusCode}${said}`,
  };
}

export function reasonForStatus(statusCode: number, code: number | undefined): FailureReason {
  switch (statusCode) {
    case 400:
      return 'bad_request';
    case 401:
    case 403:
      return 'unauthorized';
    case 429:
      return code === RESOURCE_EXHAUSTED ? 'response_too_large_upstream' : 'rate_limited';
    default:
      return 'status';
  }
}

/** The gateway's `{code, message, details}`; proxies send something else, of which nothing is quoted. */
function errorBody(body: string): { readonly code?: number | undefined; readonly message?: string | undefined } {
  try {
    const json: unknown = JSON.parse(body);
    if (typeof json !== 'object' || json === null) return {};
    const { code, message }: { code?: unknown; message?: unknown } = json;
    return {
      code: typeof code === 'number' ? code : undefined,
      message: typeof message === 'string' ? message : undefined,
    };
  } catch {
    return {};
  }
}
