import { lookup } from 'node:dns/promises';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIPv6 } from 'node:net';
import type { WebOptions } from '../cli/options.js';
import type { LoadedTls } from '../server/tls.js';
import { type CommandContext, type ExitCode, printProblems } from './context.js';
import { readWebOptions } from './load-config.js';

/** Below the usual timeout of a health check, which is 5 s. */
const TIMEOUT_MS = 4_000;

/** The guard of a healthy daemon answers requests without a password with 401. */
const HEALTHY: ReadonlySet<number | undefined> = new Set([200, 401]);

/** `healthcheck`: requests `/-/healthy` of a daemon on this machine with the same web settings. */
export async function runHealthcheck(options: WebOptions, context: CommandContext): Promise<ExitCode> {
  const web = await readWebOptions(options);
  if (!web.ok) return printProblems(context, web.problems);
  const { listen, webConfig } = web.options;
  const ended = new AbortController();
  const timer = setTimeout(() => ended.abort(), TIMEOUT_MS);
  try {
    const addresses = await addressesOf(listen.host);
    const probes = addresses.map(async (address) => probe(address, listen.port, webConfig?.config.tls, ended.signal));
    await Promise.any(probes);
    return 0;
  } catch (error) {
    const problems: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
    for (const problem of problems) {
      context.printError(`bridge-exporter: ${problem instanceof Error ? problem.message : String(problem)}`);
    }
    return 1;
  } finally {
    clearTimeout(timer);
    ended.abort();
  }
}

/** Hosts that stand for one or both of the loopback addresses. */
const LOCAL: ReadonlySet<string> = new Set(['', '0.0.0.0', '::', 'localhost']);

async function addressesOf(host = ''): Promise<readonly string[]> {
  if (LOCAL.has(host)) return ['127.0.0.1', '::1'];
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/** Rejects with the problem, if there is one. */
async function probe(address: string, port: number, tls: LoadedTls | undefined, signal: AbortSignal): Promise<void> {
  const url = `${tls ? 'https' : 'http'}://${isIPv6(address) ? `[${address}]` : address}:${port}/-/healthy`;
  return new Promise((resolve, reject) => {
    const options = { host: address, port, path: '/-/healthy', agent: false, signal } as const;
    const request = tls ? requestHttps({ ...options, rejectUnauthorized: false }) : requestHttp(options);
    request.on('error', ({ message }) => {
      reject(new Error(`${url}: ${signal.aborted ? `timed out after ${TIMEOUT_MS} ms` : message}`));
    });
    request.on('response', ({ statusCode }) => {
      request.destroy();
      if (HEALTHY.has(statusCode)) resolve();
      else reject(new Error(`${url}: status ${statusCode}`));
    });
    if (tls?.clientAuthType === 'RequireAndVerifyClientCert') {
      // The server verifies the client certificate after the handshake, and this command sends none.
      request.on('socket', (socket) => socket.on('secureConnect', resolve));
    }
    request.end();
  });
}
