import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIPv6 } from 'node:net';
import type { InvocationOf } from '../cli/flags.js';
import type { LoadedTls } from '../server/tls.js';
import { type CommandContext, type ExitCode, printProblems } from './context.js';
import { readWebOptions } from './load-config.js';

/** Below the usual timeout of a health check, which is 5 s. */
const TIMEOUT_MS = 4_000;

/** The guard of a healthy daemon answers requests without a password with 401. */
const HEALTHY: ReadonlySet<number | undefined> = new Set([200, 401]);

/** `healthcheck`: requests `/-/healthy` of a daemon on this machine with the same web settings. */
export async function runHealthcheck(flags: InvocationOf<'healthcheck'>, context: CommandContext): Promise<ExitCode> {
  const web = await readWebOptions(flags.web);
  if (!web.ok) return printProblems(context, web.problems);
  const { listen, webConfig } = web.options;
  const host = loopbackOf(listen.host);
  const tls = webConfig?.config.tls;
  const url = `${tls ? 'https' : 'http'}://${isIPv6(host) ? `[${host}]` : host}:${listen.port}/-/healthy`;
  const problem = await probe(url, tls);
  if (problem === undefined) return 0;
  context.printError(`bridge-exporter: ${url}: ${problem}`);
  return 1;
}

/** A daemon that listens on all addresses also listens on this one. */
function loopbackOf(host: string | undefined): string {
  if (host === undefined || host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}

/** Returns the problem, if there is one. */
async function probe(url: string, tls: LoadedTls | undefined): Promise<string | undefined> {
  return new Promise((resolve) => {
    const request = tls ? requestHttps(url, { agent: false, rejectUnauthorized: false }) : requestHttp(url);
    const timer = setTimeout(() => finish(`timed out after ${TIMEOUT_MS} ms`), TIMEOUT_MS);
    const finish = (problem?: string): void => {
      clearTimeout(timer);
      request.destroy();
      resolve(problem);
    };
    request.on('error', ({ message }) => finish(message));
    request.on('response', ({ statusCode }) => finish(HEALTHY.has(statusCode) ? undefined : `status ${statusCode}`));
    if (tls?.clientAuthType === 'RequireAndVerifyClientCert') {
      // The server verifies the client certificate after the handshake, and this command sends none.
      request.on('socket', (socket) => socket.on('secureConnect', () => finish()));
    }
    request.end();
  });
}
