import { resolve } from 'node:path';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { checkCertificates, isKeyPair, checkPrivateKey } from '../config/kit/pem.js';
import { readSmallFile } from '../config/kit/small-file.js';
import { accept, type ParseResult } from '../config/kit/value-types.js';
import type { ClientRules, Pem, TlsFile } from './tls-config.js';

/** TLS with all that is in files, ready to serve. */
export interface Tls {
  readonly context: SecureContextOptions;
  readonly clients: ClientRules;
}

export type TlsResult =
  { readonly ok: true; readonly tls: Tls } | { readonly ok: false; readonly problems: readonly TlsProblem[] };

/** Without a key it concerns all of them together. */
export interface TlsProblem {
  readonly key?: Pem['key'];
  readonly message: string;
}

/** The names of the files, relative ones from the folder of the configuration. */
export function tlsPaths({ cert, key, clientCa }: TlsFile, folder: string): string[] {
  return [cert, key, clientCa].flatMap((pem) => (pem && 'file' in pem ? [resolve(folder, pem.file)] : []));
}

/** Reads certificate, key and authorities, and tries whether they serve; no message has a word of their content. */
export async function readTls(written: TlsFile, folder: string): Promise<TlsResult> {
  const [cert, key, clientCa] = await Promise.all([
    readPem(written.cert, folder, checkCertificates),
    readPem(written.key, folder, checkPrivateKey),
    written.clientCa && readPem(written.clientCa, folder, checkCertificates),
  ]);
  const problems = [cert, key, clientCa].flatMap((read) => (read && 'problem' in read ? [read.problem] : []));
  if ('problem' in cert || 'problem' in key || (clientCa && 'problem' in clientCa)) return { ok: false, problems };
  if (!isKeyPair(cert.text, key.text)) {
    return { ok: false, problems: [{ key: written.key.key, message: 'is not the key of the certificate' }] };
  }
  const context = { ...written.options, cert: cert.text, key: key.text, ...(clientCa && { ca: clientCa.text }) };
  const problem = contextProblem(context);
  if (problem !== undefined) return { ok: false, problems: [{ message: `cannot be used: ${problem}` }] };
  return { ok: true, tls: { context, clients: written.clients } };
}

type PemResult = { readonly text: string } | { readonly problem: TlsProblem };

async function readPem(pem: Pem, folder: string, problemOf: (text: string) => string | undefined): Promise<PemResult> {
  const read: ParseResult<string> = 'file' in pem ? await readSmallFile(resolve(folder, pem.file)) : accept(pem.inline);
  const wrong = read.ok ? problemOf(read.value) : (read.problem ?? 'cannot be read');
  if (read.ok && wrong === undefined) return { text: read.value };
  const message = 'file' in pem ? `${resolve(folder, pem.file)} ${wrong}` : `${wrong}`;
  return { problem: { key: pem.key, message } };
}

/** A key too short for OpenSSL, say. */
function contextProblem(context: SecureContextOptions): string | undefined {
  try {
    createSecureContext(context);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
