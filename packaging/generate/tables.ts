import { readFileSync } from 'node:fs';

/** A table of Markdown; the cells are text without line breaks. */
export function markdownTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |\n`;
  return `${row(titles)}|${'---|'.repeat(titles.length)}\n${rows.map(row).join('')}`;
}

const firstLine = (table: string): string => table.slice(0, table.indexOf('\n'));

/** A page with these tables, in order, in the place of those with the same titles. The prose is written by hand. */
export function withTables(file: string, tables: readonly string[]): string {
  const remaining = [...tables];
  const text = readFileSync(file, 'utf8').replaceAll(/^(?:\|.*\n)+/gm, (table) => {
    const [next] = remaining;
    if (next === undefined || firstLine(next) !== firstLine(table)) return table;
    remaining.shift();
    return next;
  });
  if (remaining[0] !== undefined) throw new Error(`${file} has no table ${firstLine(remaining[0])}`);
  return text;
}
