import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { projectPath, readProjectFile } from '../support/project-files.js';

/*
 * The Markdown files of the project.
 */

export interface Page {
  /** Path from the root of the project, such as `docs/faq.md`. */
  readonly file: string;
  readonly text: string;
  /** The text without code blocks. */
  readonly prose: string;
  readonly blocks: readonly Block[];
}

export interface Block {
  readonly language: string;
  readonly code: string;
}

const IGNORED_FOLDERS = new Set(['node_modules', 'dist', 'coverage', '.git']);

function markdownIn(folder: string): string[] {
  return readdirSync(projectPath(folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return IGNORED_FOLDERS.has(entry.name) ? [] : markdownIn(path);
    return entry.name.endsWith('.md') ? [path] : [];
  });
}

/** Matches fenced code blocks, which may be indented in a list. */
const FENCED = /^( *)```(\w*)\n([^]*?)^\1```$/gm;

export const pages: readonly Page[] = markdownIn('').map((file) => {
  const text = readProjectFile(file);
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

/** The inline code in the prose of a page. */
export function inlineCodeIn({ prose }: Page): string[] {
  return Array.from(prose.matchAll(/`([^`\n]+)`/g), ([, code = '']) => code);
}
