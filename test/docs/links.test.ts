import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pages, ROOT, type Page } from './pages.js';

/** Where the links and images of a page lead to, as written. */
function linksIn({ prose }: Page): string[] {
  const inline = prose.matchAll(/\]\(([^()\s]+)\)/g);
  const defined = prose.matchAll(/^\[[^\]]+\]: (\S+)$/gm);
  return [...inline, ...defined].map(([, target = '']) => target);
}

/** The anchors GitHub gives to the headings of a page. */
function anchorsOf({ prose }: Page): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of prose.matchAll(/^#{1,6} (.+)$/gm)) {
    const anchor = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-');
    const same = [...anchors].filter((other) => other.replace(/-\d+$/, '') === anchor).length;
    anchors.add(same === 0 ? anchor : `${anchor}-${same}`);
  }
  return anchors;
}

const isOutside = (link: string): boolean => /^[a-z]+:/.test(link);

/** The file a link of a page leads to, from the root of the project. */
const fileOf = (page: Page, link: string): string => {
  const [path = ''] = link.split('#');
  return path === '' ? page.file : normalize(join(dirname(page.file), path));
};

describe('links', () => {
  it.each(pages)('of $file lead somewhere', (page) => {
    const broken = linksIn(page)
      .filter((link) => !isOutside(link))
      .filter((link) => {
        const file = fileOf(page, link);
        const [, anchor] = link.split('#');
        if (file.startsWith('..') || !existsSync(join(ROOT, file))) return true;
        const linked = pages.find((other) => other.file === file);
        return anchor !== undefined && !(linked && anchorsOf(linked).has(anchor));
      });
    expect(broken).toEqual([]);
  });

  it('lead from the README to every page of docs', () => {
    const readme = pages.find(({ file }) => file === 'README.md');
    const linked = readme ? linksIn(readme).map((link) => fileOf(readme, link)) : [];
    const docs = pages.map(({ file }) => file).filter((file) => /^docs\/|^[A-Z]+\.md$/.test(file));
    expect(docs.filter((file) => file !== 'README.md' && !linked.includes(file))).toEqual([]);
  });

  it('are looked for in enough places', () => {
    expect(pages.length).toBeGreaterThan(15);
    expect(pages.flatMap(linksIn).length).toBeGreaterThan(100);
  });
});
