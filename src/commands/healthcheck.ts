import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIPv6 } from 'node:net';
import { type CommandContext, type ExitCode, printProblems } from './context.js';
import { readWebOptions, type WebFlags } from './flags.js';
import { systemErrorText } from '../text/error-text.js';

/** Below the usual timeout of a health check, which is 5 s. */
const TIMEOUT_MS = 4_000;

/** Hosts that stand for all addresses. Node.js tries both addresses of `localhost`. */
const ALL_ADDRESSES: ReadonlySet<string> = new Set(['', '0.0.0.0', '::']);

/** `healthcheck`: requests `/-/healthy` of a daemon on this machine with the same web settings. */
export async function runHealthcheck(options: WebFlags, context: CommandContext): Promise<ExitCode> {
  const web = await readWebOptions(options);
  if (!web.ok) return printProblems(context, web.problems);
  const { listen, webConfig } = web.options;
  const tls = webConfig?.config.tls;
  const { host: listenHost = '' } = listen;
  const host = ALL_ADDRESSES.has(listenHost) ? 'localhost' : listenHost;
  const url = `${tls ? 'https' : 'http'}://${isIPv6(host) ? `[${host}]` : host}:${listen.port}/-/healthy`;
  const request = (tls ? requestHttps : requestHttp)(url, { agent: false, rejectUnauthorized: false });
  const timer = setTimeout(() => request.destroy(new Error(`timed out after ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
  try {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      request.on('error', reject).on('response', ({ statusCode }) => resolve(statusCode));
      if (tls?.verifiesClients === true) {
        // The server requires a client certificate after the handshake, and this command sends none.
        request.on('socket', (socket) => socket.on('secureConnect', () => resolve(401)));
      }
      request.end();
    });
    // A healthy daemon answers requests without a password with 401.
    if (status !== 200 && status !== 401) throw new Error(`status ${status}`);
    return 0;
  } catch (error) {
    // Node.js reports an error per address.
    for (const problem of error instanceof AggregateError ? (error.errors as unknown[]) : [error]) {
      const address = problem instanceof Error && 'address' in problem ? ` by ${String(problem.address)}` : '';
      context.printError(`bridge-exporter: ${url}: ${systemErrorText(problem)}${address}`);
    }
    return 1;
  } finally {
    clearTimeout(timer);
    request.destroy();
  }
}
