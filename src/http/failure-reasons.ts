/** Descriptions and remedies of failures, by the value of the label `reason`. */
export const failureReasons = {
  dns: {
    description: 'The host name of the node or its proxy does not resolve.',
    remedy: 'Check the host name in the URL and the DNS resolver of this machine.',
  },
  connect: {
    description: 'No TCP connection to the node or its proxy: connection refused or host unreachable.',
    remedy: 'Check that the node and its proxy are up and accept connections from this machine.',
  },
  tls: {
    description:
      'The TLS handshake failed (certificate, host name or protocol version), or the node rejected the client certificate.',
    remedy:
      'Check that the port uses TLS, and the host name and expiry of the certificate; tls_config takes ca_file, server_name and a client certificate.',
  },
  timeout: {
    description: 'The requests of the poll did not complete within poll.timeout.',
    remedy: 'Check the load of the node; raise poll.timeout if its document takes that long.',
  },
  aborted: {
    description: 'The connection was lost before the response was complete, or the response is not valid HTTP.',
    remedy: 'Check the logs of the node, and of proxies in front of it, at the time of the failure.',
  },
  too_large: {
    description:
      'The decoded body is larger than poll.max_body_size, the headers are larger than 16 KiB, or it is larger than 2 MiB and has more than one JSON value per 24 bytes, or more than fit into the heap.',
    remedy: 'Raise poll.max_body_size, or the memory limit, if the document really is that large.',
  },
  status: {
    description:
      'The node, or a proxy in front of it, responded with a status other than 200 that no other reason covers; redirects are not followed.',
    remedy:
      'Check the node and the proxies in front of it; 404 and 501 mean that the node does not serve the paths of the message: a wrong URL, a wrong dialect, or a chain without this document.',
  },
  unauthorized: {
    description:
      'The node, or a proxy or firewall in front of it, responded with status 401 or 403. Its text is in the message.',
    remedy:
      'Check the credentials of this endpoint if it has any or the message asks for them; otherwise, something in front of the node refuses this machine or the User-Agent of the exporter, which http_headers can set.',
  },
  rate_limited: {
    description:
      'The node, or a proxy in front of it, responded with status 429, or a JSON-RPC endpoint with the error of a limit.',
    remedy: 'Raise poll.interval or external.interval, or the rate limit of the node or provider.',
  },
  response_too_large_upstream: {
    description: 'The node responded with status 429 and code 8: its document is larger than its gRPC message limit.',
    remedy:
      'Raise the gRPC message limit of the node (max-recv-msg-size). A lower limit of a cross-chain document shortens only its list of pending transactions.',
  },
  bad_request: {
    description:
      'A configuration error: the node responded with status 400; or no request was sent, because a password, token or certificate file cannot be used.',
    remedy: 'Correct what the message names and reload.',
  },
  not_json: {
    description: 'The body is not JSON: HTML, truncated, empty, invalid UTF-8 or in an unsupported content encoding.',
    remedy:
      'Check that the URL is that of the REST API of the node, or of external that of a JSON-RPC endpoint, and not of a web page or a login form.',
  },
  schema: {
    description: 'The body is JSON but not the expected document: none of its fields is present.',
    remedy:
      'Check the URL: the response is a different document or an error, which the message quotes if it is short. The node of external has to be of the right chain and in sync.',
  },
  regression: {
    description:
      'The hub height is below that of the previous document: the node lags behind others or was rolled back. The third one since the last success is accepted.',
    remedy: 'Poll one node instead of several behind a load balancer; after a rollback, wait for the third poll.',
  },
  internal: {
    description:
      'The limit of open files or of the address space of the exporter is reached; otherwise, a bug in the exporter.',
    remedy: 'Report a bug, with the log of the exporter.',
  },
} as const satisfies Readonly<Record<string, { readonly description: string; readonly remedy: string }>>;

export type FailureReason = keyof typeof failureReasons;

/** Remedies for responses that say more than the reason. */
export const remedies = {
  proxyCredentials: 'Check the user and the password of proxy_url.',
  redirect: 'Set the URL to the target of the redirect, if that is the node.',
  truncated:
    'The response ends too early: check the log of the node, and the limits of size and time of the proxies in front of it.',
} as const;

export function chooseRemedy({ reason, remedy }: Pick<PollError, 'reason' | 'remedy'>): string {
  return remedy ?? failureReasons[reason].remedy;
}

export const failureReasonNames = Object.keys(failureReasons) as readonly FailureReason[];

/** An expected failure of a poll. */
export interface PollError {
  readonly reason: FailureReason;
  /** A line with endpoint, event and limit. */
  readonly message: string;
  /** More specific than the remedy of the reason. */
  readonly remedy?: string | undefined;
  /** Whether the node serves none of the paths, according to its responses. */
  readonly isNotServed?: boolean;
  /** How long the server asks the client to wait. */
  readonly retryAfterMs?: number | undefined;
}

export interface Failure {
  readonly ok: false;
  readonly error: PollError;
}

export function failure(reason: FailureReason, message: string): Failure {
  return { ok: false, error: { reason, message } };
}

/** The failure of a request, with details of an error response. */
export interface HttpFailure extends Failure {
  readonly statusCode?: number | undefined;
  /** Whether the response says that the path is not served. */
  readonly isPathNotServed?: boolean | undefined;
}

/** Thrown within a request for an expected failure. Its message has no secrets. */
export class RequestError extends Error {
  readonly reason: FailureReason;
  readonly details: Omit<HttpFailure, keyof Failure> & Pick<PollError, 'remedy' | 'retryAfterMs'>;
  constructor(reason: FailureReason, message: string, details: RequestError['details'] = {}) {
    super(message);
    this.reason = reason;
    this.details = details;
  }
}

/** Thrown before the connection is established. Its message may contain untrusted text. */
export class ConnectError extends RequestError {}
