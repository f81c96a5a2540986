const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for the content of an element and for a quoted attribute. */
function escapeHtml(text: string): string {
  return /[&<>"']/.test(text) ? text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character) : text;
}

/** HTML, as opposed to text that needs escaping. Created by `markup` only, so that no text gets into a page unescaped. */
export interface Markup {
  readonly html: string;
}

type Value = Markup | string | number | readonly Value[];

/** A template tag: escapes every value that is not markup. */
export function markup(literals: TemplateStringsArray, ...values: readonly Value[]): Markup {
  const output = [literals[0] ?? ''];
  for (const [index, value] of values.entries()) {
    append(value, output);
    output.push(literals[index + 1] ?? '');
  }
  return { html: output.join('') };
}

function append(value: Value, output: string[]): void {
  if (typeof value === 'string') output.push(escapeHtml(value));
  else if (typeof value === 'number') output.push(String(value));
  else if ('html' in value) output.push(value.html);
  else for (const inner of value) append(inner, output);
}
