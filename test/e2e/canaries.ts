import { randomBytes } from 'node:crypto';

/*
 * Canaries are random secrets that a test configures and then looks for in all output.
 */

/** A random secret with characters that encoders change. */
export function createCanary(): string {
  return `canary ${randomBytes(8).toString('hex')}+/=&%é"<${randomBytes(8).toString('base64url')}`;
}

/** A canary without characters that are invalid in an HTTP header. */
export const createHeaderCanary = (): string => createCanary().replace('é', '~');

/** Substrings that reveal a part of the secret, in plain text or in a common encoding. */
export function tracesOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const parts = [secret.slice(0, 20), secret.slice(-10)];
  return [
    ...parts,
    ...parts.map(encodeURIComponent),
    bytes.toString('hex').slice(0, 24),
    // Base64 of the secret depends on how many bytes precede it, modulo 3.
    ...[0, 1, 2].map((offset) => base64At(offset, bytes)),
    ...[0, 1, 2].map((offset) => base64At(offset, bytes).replaceAll('+', '-').replaceAll('/', '_')),
  ];
}

function base64At(offset: number, bytes: Buffer): string {
  const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
  return encoded.slice(4, 24);
}

/** The names of the secrets that the output reveals. */
export function revealedSecrets(output: string, secrets: Readonly<Record<string, string>>): string[] {
  return Object.entries(secrets).flatMap(([name, secret]) =>
    tracesOf(secret).some((trace) => output.includes(trace)) ? [name] : [],
  );
}
