import type { FailureReason } from './errors.js';

/** What to do about each reason, in a line that fits beside the message. */
export const remedies: Readonly<Record<FailureReason, string>> = {
  dns: 'Check the host name in the URL, and the resolver of this machine.',
  connect: 'Check that the node, and proxy_url if one is set, is up and lets this machine in.',
  tls: 'Check certificate, name and expiry; tls_config takes ca_file, server_name and a client certificate.',
  timeout: 'Check the load of the node; raise poll.timeout if its document takes that long.',
  aborted: 'Look into the logs of the node, and of proxies before it, at the time of the failure.',
  too_large:
    'Raise poll.max_body_size, or the memory, if the document really is that large; a cross-chain one shrinks with limit.',
  status:
    'Look after the node and the proxies before it; 404 and 501 mean a wrong URL, dialect or a node without the module.',
  unauthorized: 'Check the credentials of this endpoint; files with passwords and tokens are read anew by each poll.',
  rate_limited: 'Raise poll.interval, or have the node allow more.',
  response_too_large_upstream: 'Lower limit of a cross-chain endpoint, or raise the cap of the node.',
  bad_request: 'Correct what the message names and reload; real cross-chain nodes want a window.',
  not_json: 'Check that the URL leads to the REST interface of the node, and not to a web page or a login.',
  schema: 'Check URL and dialect: another document is answered here.',
  regression: 'Ask one node instead of several behind one address; after a rollback, wait for the third poll.',
  internal: 'Report it, with the log of the exporter.',
};
