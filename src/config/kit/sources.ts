import { checkCertificates, checkPrivateKey } from './pem.js';
import type { SecretSource } from '../http-client-config.js';
import { createSecret } from './secret.js';
import * as value from './values.js';

/* The kinds of texts that say how a node is reached: as they are, hidden, or in a file. None is shown when it is wrong. */

export const file = () =>
  value.secretKind({ type: 'file', expected: 'the name of a file' }, (text) =>
    value.acceptIf<SecretSource>(/^\P{Control}{1,4096}$/u.test(text), { file: text }),
  );

/** Of a text that is sent; no node takes headers that long. */
const MAX_SENT = 8192;

export const secret = () =>
  hidden({ type: 'secret', expected: `text of at most ${MAX_SENT} characters` }, (text) => {
    return text !== '' && checkSecret(text) === undefined;
  });

/** What is wrong with the text of a file. */
export function checkSecret(text: string): string | undefined {
  return text.length > MAX_SENT ? `is over ${MAX_SENT} characters` : undefined;
}

/** A line break would begin another header. */
const headerText = new RegExp(`^[\\t\\x20-\\x7e]{1,${MAX_SENT}}$`);
const HEADER_TEXT = `at most ${MAX_SENT} visible ASCII characters, since a header carries them`;

export function checkHeaderValue(text: string): string | undefined {
  return headerText.test(text) ? undefined : `is not ${HEADER_TEXT}`;
}

export const headerSecret = () => hidden({ type: 'secret', expected: HEADER_TEXT }, (text) => headerText.test(text));

export const headerValue = () =>
  value.secretKind({ type: 'text', expected: HEADER_TEXT }, (text) =>
    value.acceptIf<SecretSource>(headerText.test(text), { text }),
  );

/** The first colon of what is sent ends the user name, and control characters are not for it (RFC 7617). */
const userText = /^[^:\p{Control}]+$/u;

export const username = () =>
  value.secretKind({ type: 'text', expected: 'a user name, without colons and control characters' }, (text) =>
    value.acceptIf<SecretSource>(checkUsername(text) === undefined, { text }),
  );

export function checkUsername(text: string): string | undefined {
  return userText.test(text) ? checkSecret(text) : 'holds a colon or control characters, which no user name can have';
}

export const certificates = () =>
  value.secretKind({ type: 'PEM', expected: 'certificates in PEM form' }, (text) => {
    const wrong = text === '' ? 'is empty' : checkCertificates(text);
    return wrong === undefined ? value.accept<SecretSource>({ text }) : value.reject(wrong);
  });

export const privateKey = () =>
  hidden({ type: 'secret', expected: 'a private key in PEM form, without passphrase' }, (text) => {
    return checkPrivateKey(text) === undefined;
  });

function hidden(about: value.Kind, isRight: (text: string) => boolean) {
  return value.secretKind(about, (text) =>
    isRight(text) ? value.accept<SecretSource>({ secret: createSecret(text) }) : value.reject(),
  );
}
