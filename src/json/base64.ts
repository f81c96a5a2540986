/** By the code of a character: its six bits; 64 for one that is none of base64. */
const SIX_BITS = new Uint8Array(256).fill(64);
for (const [bits, code] of Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/').entries()) {
  SIX_BITS[code] = bits;
}
const PADDING = 0x3d;

/** A longer text gets memory of its own, so that one that is hostile does not leave its size behind. */
const REUSED_BYTES = 16 * 1024;
const reused = new Uint8Array(REUSED_BYTES);

/**
 * The bytes of a text in base64 that stands between two places, until the next call; `undefined` unless it is strict: no other
 * characters, padded, and nothing in the bits that stand for no byte. Node.js takes anything for base64.
 */
export function strictBase64(text: Uint8Array, start: number, end: number): Uint8Array | undefined {
  const length = end - start;
  if (length % 4 !== 0) return undefined;
  const paddings = text[end - 1] !== PADDING || length === 0 ? 0 : text[end - 2] === PADDING ? 2 : 1;
  const size = (length / 4) * 3 - paddings;
  const bytes = size <= REUSED_BYTES ? reused : new Uint8Array(size);
  const last = end - 4;
  let to = 0;
  for (let at = start; at < end; at += 4) {
    const isLast = at === last;
    const first = sixBits(text, at);
    const second = sixBits(text, at + 1);
    const third = isLast && paddings === 2 ? 0 : sixBits(text, at + 2);
    const fourth = isLast && paddings > 0 ? 0 : sixBits(text, at + 3);
    if ((first | second | third | fourth) > 63) return undefined;
    const word = (first << 18) | (second << 12) | (third << 6) | fourth;
    if (isLast && (word & ((1 << (8 * paddings)) - 1)) !== 0) return undefined;
    bytes[to] = word >> 16;
    bytes[to + 1] = (word >> 8) & 0xff;
    bytes[to + 2] = word & 0xff;
    to += 3;
  }
  return bytes.subarray(0, size);
}

function sixBits(text: Uint8Array, at: number): number {
  return SIX_BITS[text[at] ?? 0] ?? 64;
}
