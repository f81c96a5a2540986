const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text that can stand in an element or a quoted attribute, whatever a token issuer wrote into it. */
function escapeHtml(text: string): string {
  return /[&<>"']/.test(text) ? text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character) : text;
}

/** Markup as against text. Only `markup` makes it, so nothing reaches a page unescaped by being forgotten. */
export interface Markup {
  readonly html: string;
}

type Part = Markup | string | number | readonly Part[];

/** Template of a piece of a page: what is filled in is escaped unless it is markup itself. */
export function markup(pieces: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  const texts = [pieces[0] ?? ''];
  for (const [index, part] of parts.entries()) {
    write(part, texts);
    texts.push(pieces[index + 1] ?? '');
  }
  return { html: texts.join('') };
}

function write(part: Part, texts: string[]): void {
  if (typeof part === 'string') texts.push(escapeHtml(part));
  else if (typeof part === 'number') texts.push(String(part));
  else if ('html' in part) texts.push(part.html);
  else for (const inner of part) write(inner, texts);
}
