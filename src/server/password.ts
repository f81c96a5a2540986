import { timingSafeEqual } from 'node:crypto';
import { hashSync } from 'bcryptjs';

/** Algorithm, cost and salt, which a bcrypt hash begins with. */
const SALT_LENGTH = 29;

/** Takes a tenth of a second and more: not for the main thread. Passwords count up to 72 bytes, as everywhere in bcrypt. */
export function isPasswordOf(hash: string, password: string): boolean {
  const computed = hashSync(password, hash.slice(0, SALT_LENGTH));
  // The salt comes back in its canonical form, so only what follows it is compared.
  return timingSafeEqual(Buffer.from(computed.slice(SALT_LENGTH)), Buffer.from(hash.slice(SALT_LENGTH)));
}
