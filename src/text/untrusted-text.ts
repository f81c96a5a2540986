/* Untrusted text: names and ids on the chain, messages of nodes and proxies. */

/**
 * Characters that are invisible or change the text around them: a hostile name must not hide or rearrange its
 * surroundings. Variation selectors, which choose the look of an emoji, are harmless.
 */
const HIDDEN = String.raw`(?![\uFE0E\uFE0F])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]`;
const HIDDEN_OR_SPACE = new RegExp(`(?:${HIDDEN}|\\s)+`, 'gu');
const HIDDEN_EXCEPT_LINE_FEED = new RegExp(`(?!\n)${HIDDEN}`, 'gu');

/** Marks stacked on one letter, which reach over other lines. No language needs more than three. */
const STACKED_MARKS = /(?<=\p{M}{3})\p{M}+/gu;

/** Longer text is cut before it is matched. */
const MAX_LENGTH = 1000;

const MAX_CHARACTERS = 200;

/** The text in one truncated line without hidden characters, for log lines, summaries and labels. */
export function cleanText(text: string, maxCharacters = MAX_CHARACTERS): string {
  return truncate(text.slice(0, MAX_LENGTH).toWellFormed().replaceAll(HIDDEN_OR_SPACE, ' ').trim(), maxCharacters);
}

/** The text for pages: replaces hidden characters by a visible character, and keeps line breaks. */
export function visibleText(text: string): string {
  return text.toWellFormed().replaceAll(STACKED_MARKS, '').replaceAll(HIDDEN_EXCEPT_LINE_FEED, '\uFFFD');
}

/** The text in at most this many characters, the last of which is an ellipsis if there are more. */
export function truncate(text: string, maxCharacters: number): string {
  const characters = Array.from(text);
  return characters.length <= maxCharacters ? text : `${characters.slice(0, maxCharacters - 1).join('')}…`;
}

const HEAD_CHARACTERS = 8;
const TAIL_CHARACTERS = 6;

/** An address or hash in three parts: its ends are enough to recognize it. */
export function splitAddress(address: string): readonly [head: string, middle: string, tail: string] {
  const characters = Array.from(address);
  const end = Math.max(HEAD_CHARACTERS, characters.length - TAIL_CHARACTERS);
  const part = (from: number, to?: number): string => characters.slice(from, to).join('');
  return [part(0, HEAD_CHARACTERS), part(HEAD_CHARACTERS, end), part(end)];
}
