import { spawn, type ChildProcess } from 'node:child_process';
import { promises as dns, type LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { failureReasons } from '../../src/http/failure-reasons.js';
import { atEnd } from '../support/at-end.js';
import { createAuthority } from '../support/certificates.js';
import { sendTo, outcome, startNode } from './nodes.js';

/*
 * Names with several addresses, and unusual names. Only the answers of the resolver are made up: a machine has no such names.
 */

const authority = createAuthority();
const { cert, key } = authority.issue('node.example');

const addresses = new Map<string, readonly string[]>();
const lookedUp: string[] = [];
/** Names whose lookups do not end. */
const unresolved = new Set<string>();

beforeEach(() => {
  const { lookup } = dns;
  const answer = async (host: string): Promise<readonly LookupAddress[]> => {
    lookedUp.push(host);
    if (unresolved.has(host)) return new Promise(() => undefined);
    const known = addresses.get(host);
    if (known === undefined) return lookup(host, { all: true });
    return known.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  };
  vi.spyOn(dns, 'lookup').mockImplementation(answer as unknown as typeof lookup);
});

afterEach(() => {
  vi.restoreAllMocks();
  addresses.clear();
  unresolved.clear();
  lookedUp.length = 0;
});

/** An HTTP server that does not accept connections until it is told to: the system drops their first packets, as a packet filter does. */
async function startUnresponsive(): Promise<{ readonly port: number; readonly accept: () => void }> {
  const code = `require('http').createServer((q, r) => r.end('{}')).listen({ host: '127.0.0.1', port: 0, backlog: 1 }, function () { console.log(this.address().port) })`;
  const child: ChildProcess = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  const fillers: Socket[] = [];
  atEnd(() => {
    child.kill('SIGKILL');
    for (const socket of fillers) socket.destroy();
  });
  if (child.stdout === null) throw new Error('the output is a pipe');
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(line.toString());
  child.kill('SIGSTOP');
  // Connections that nobody accepts, until the queue of the server is full.
  for (let isFull = false; !isFull;) {
    const socket = connect({ host: '127.0.0.1', port }).on('error', () => undefined);
    fillers.push(socket);
    isFull = await Promise.race([
      once(socket, 'connect').then(() => false),
      new Promise<boolean>((resolve) => {
        setTimeout(() => resolve(true), 300);
      }),
    ]);
  }
  return {
    port,
    accept: () => {
      for (const socket of fillers) socket.destroy();
      child.kill('SIGCONT');
    },
  };
}

/** No connection to it is possible: it is an address for documentation (RFC 3849). */
const UNREACHABLE = '2001:db8::1';

/** A name of the addresses, with the port of the first. */
function nameOf(port: number, ...all: readonly string[]): string {
  addresses.set('node.example', all);
  return `http://node.example:${port}`;
}

describe('a name with several addresses', () => {
  it('is connected when the first address takes a second and the second one is unreachable', async () => {
    const slow = await startUnresponsive();
    setTimeout(slow.accept, 700);
    const started = performance.now();
    expect(await outcome(nameOf(slow.port, '127.0.0.1', UNREACHABLE), {})).toBe('ok');
    expect(performance.now() - started).toBeGreaterThan(900);
  });

  it('is connected after a quarter of the timeout when the first address does not respond and the second one does', async () => {
    const silent = await startUnresponsive();
    const server = createServer((_request, response) => response.end('{}')).listen(silent.port, '127.0.0.2');
    atEnd(() => server.close());
    await once(server, 'listening');
    const attempts = (): number =>
      process.getActiveResourcesInfo().filter((name) => name.endsWith('ConnectWrap')).length;
    const before = attempts();
    const started = performance.now();
    expect(await outcome(nameOf(silent.port, '127.0.0.1', '127.0.0.2'), {}, { timeoutMs: 8000 })).toBe('ok');
    expect(performance.now() - started).toBeGreaterThan(1900);
    expect(performance.now() - started).toBeLessThan(5000);
    expect(attempts(), 'the other attempt has ended').toBe(before);
  });

  it('fails with the error of every address', async () => {
    expect(await outcome(nameOf(1, '127.0.0.2', '::1', UNREACHABLE), {})).toMatch(
      /^connect: \/state: request failed: connect ECONNREFUSED 127\.0\.0\.2:1, connect ECONNREFUSED ::1:1, connect E\w+ 2001:db8::1:1\b/,
    );
  });

  it('fails with the error of every address of a proxy, which is named', async () => {
    const keys = { proxy_url: nameOf(1, '127.0.0.2', '127.0.0.3') };
    const message = 'proxy http://node.example:1: connect ECONNREFUSED 127.0.0.2:1, connect ECONNREFUSED 127.0.0.3:1';
    for (const scheme of ['http', 'https']) {
      expect(await outcome(`${scheme}://127.0.0.1:2`, keys)).toBe(`connect: /state: request failed: ${message}`);
    }
  });

  it('says at the deadline of the poll that the host has not responded', async () => {
    const silent = await startUnresponsive();
    const url = nameOf(silent.port, '127.0.0.2', '127.0.0.1');
    const result = await sendTo(url, {}, { timeoutMs: 600 });
    expect(result).toMatchObject({
      error: {
        reason: 'timeout',
        message: `node.example:${silent.port}/state: timed out after 600 ms (poll.timeout) while connecting: no response from node.example:${silent.port}`,
        remedy: failureReasons.connect.remedy,
      },
    });
  });
});

describe('the name of a node', () => {
  it('is looked up once while it resolves slowly, however many polls time out meanwhile', async () => {
    unresolved.add('dead.example');
    const message = 'while connecting: the name dead.example was not resolved';
    for (let poll = 0; poll < 3; poll += 1) {
      expect(await outcome('http://dead.example', {}, { timeoutMs: 50 })).toContain(message);
    }
    expect(lookedUp).toEqual(['dead.example']);
  });

  it('with a dot at its end is in no certificate and in no SNI', async () => {
    const names: unknown[] = [];
    const node = await startNode({
      tls: {
        cert,
        key,
        SNICallback: (name, callback) => {
          names.push(name);
          callback(null);
        },
      },
    });
    addresses.set('node.example.', ['127.0.0.1']);
    const keys = { tls_config: { ca_file: authority.certFile } };
    expect(await outcome(`https://node.example.:${node.port}`, keys)).toBe('ok');
    expect(names).toEqual(['node.example']);
  });
});
