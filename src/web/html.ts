const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text that can stand in an element or a quoted attribute, whatever a token issuer wrote into it. */
function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** Markup as against text. Only `markup` makes it, so nothing reaches a page unescaped by being forgotten. */
export interface Markup {
  readonly html: string;
}

type Part = Markup | string | number | readonly Part[];

/** Template of a piece of a page: what is filled in is escaped unless it is markup itself. */
export function markup(pieces: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return { html: pieces.map((piece, index) => piece + written(parts[index] ?? '')).join('') };
}

function written(part: Part): string {
  if (typeof part === 'string') return escapeHtml(part);
  if (typeof part === 'number') return String(part);
  return 'html' in part ? part.html : part.map(written).join('');
}
