import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * Every Markdown file of the project, taken apart.
 */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface Page {
  /** From the root of the project: `docs/faq.md`. */
  readonly file: string;
  readonly text: string;
  /** Without the blocks of code. */
  readonly prose: string;
  readonly blocks: readonly Block[];
}

export interface Block {
  readonly language: string;
  readonly code: string;
}

const NOT_OURS = new Set(['node_modules', 'dist', 'coverage', '.git']);

function markdownIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return NOT_OURS.has(entry.name) ? [] : markdownIn(path);
    return entry.name.endsWith('.md') ? [path] : [];
  });
}

/** A block may be indented, as in a list. */
const FENCED = /^( *)```(\w*)\n([^]*?)^\1```$/gm;

export const pages: readonly Page[] = markdownIn('').map((file) => {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const blocks = Array.from(text.matchAll(FENCED), ([, indent = '', language = '', code = '']) => ({
    language,
    code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }));
  return { file, text, prose: text.replaceAll(FENCED, ''), blocks };
});

export function blocksOf(language: string): { readonly file: string; readonly code: string }[] {
  return pages.flatMap(({ file, blocks }) =>
    blocks.filter((block) => block.language === language).map(({ code }) => ({ file, code })),
  );
}

/** What stands in backticks in the prose of a page. */
export function quotedIn({ prose }: Page): string[] {
  return Array.from(prose.matchAll(/`([^`\n]+)`/g), ([, quoted = '']) => quoted);
}
