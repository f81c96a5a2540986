/** Why a poll failed. Each reason is a label value from the start, so the list is closed. */
export const failureReasons = {
  dns: 'The name of the node does not resolve.',
  connect: 'No connection to the node or its proxy: refused, unreachable.',
  tls: 'The TLS handshake failed: certificate, name, protocol version; or the node refused the client certificate.',
  timeout: 'The whole exchange did not end within poll.timeout.',
  aborted: 'The connection was lost in the middle of an answer, or the answer is not valid HTTP.',
  too_large:
    'The decoded body is over poll.max_body_size, the headers are over their limit, or reading the document took more memory than allowed.',
  status: 'The node answered with a status other than 200 that no other reason covers; redirects are not followed.',
  unauthorized: 'The node answered 401 or 403.',
  rate_limited: 'The node answered 429: it, or a proxy before it, throttles.',
  response_too_large_upstream:
    'The node answered 429 with code 8: its own document is larger than it may send. Waiting does not help; a lower limit, or a higher cap in the node, does.',
  bad_request:
    'A configuration error: the node answered 400, as it does without a window; or a file the configuration names, of a password or certificate, cannot be used, and nothing was asked.',
  not_json: 'The body is not JSON: HTML, cut off, empty, invalid UTF-8 or a content encoding that cannot be decoded.',
  schema: 'The body is JSON but not the document: none of its fields is there.',
  regression:
    'The hub height is below that of the last answer: a node behind the others, or rolled back. The third in a row is accepted.',
  internal: 'A fault of the exporter itself; please report it.',
} as const;

export type FailureReason = keyof typeof failureReasons;

export const failureReasonNames = Object.keys(failureReasons) as readonly FailureReason[];

/** An expected failure of a poll. Plain data, because an Error loses its fields on its way between threads. */
export interface PollError {
  readonly reason: FailureReason;
  /** One line for people: endpoint, what happened and which limit. */
  readonly message: string;
}

const MAX_QUOTED_CHARACTERS = 200;

/** Makes text from outside fit to be shown. */
export type Sanitize = (text: string) => string;

/** Text from outside, fit for one log line: no control characters, bounded, well-formed. */
export function sanitize(text: string): string {
  const start = text.slice(0, 4 * MAX_QUOTED_CHARACTERS);
  const line = start
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim();
  return line.length > MAX_QUOTED_CHARACTERS ? `${line.slice(0, MAX_QUOTED_CHARACTERS).toWellFormed()}…` : line;
}
