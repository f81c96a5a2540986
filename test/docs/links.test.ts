import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectFileExists } from '../support/project-files.js';
import { pages, type Page } from './pages.js';

/** The targets of all links and images of a page. */
function linksIn({ prose }: Page): string[] {
  const inline = prose.matchAll(/\]\(([^()\s]+)\)/g);
  const defined = prose.matchAll(/^\[[^\]]+\]: (\S+)$/gm);
  return [...inline, ...defined].map(([, target = '']) => target);
}

/** The anchors that GitHub generates for the headings of a page. */
function anchorsOf({ prose }: Page): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of prose.matchAll(/^#{1,6} (.+)$/gm)) {
    const anchor = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-');
    const duplicates = [...anchors].filter((other) => other.replace(/-\d+$/, '') === anchor).length;
    anchors.add(duplicates === 0 ? anchor : `${anchor}-${duplicates}`);
  }
  return anchors;
}

const isExternal = (link: string): boolean => /^[a-z]+:/.test(link);

/** The path of the linked file from the root of the project. */
const fileOf = (page: Page, link: string): string => {
  const [path = ''] = link.split('#');
  return path === '' ? page.file : normalize(join(dirname(page.file), path));
};

describe('the links', () => {
  it.each(pages)('of $file have existing targets', (page) => {
    const broken = linksIn(page)
      .filter((link) => !isExternal(link))
      .filter((link) => {
        const file = fileOf(page, link);
        const [, anchor] = link.split('#');
        if (file.startsWith('..') || !projectFileExists(file)) return true;
        const linked = pages.find((other) => other.file === file);
        return anchor !== undefined && !(linked && anchorsOf(linked).has(anchor));
      });
    expect(broken).toEqual([]);
  });

  it('of the README include every page of docs', () => {
    const readme = pages.find(({ file }) => file === 'README.md');
    const linked = readme ? linksIn(readme).map((link) => fileOf(readme, link)) : [];
    const docs = pages.map(({ file }) => file).filter((file) => /^docs\/|^[A-Z]+\.md$/.test(file));
    expect(docs.filter((file) => file !== 'README.md' && !linked.includes(file))).toEqual([]);
  });

  it('are found in all pages', () => {
    expect(pages.length).toBeGreaterThan(15);
    expect(pages.flatMap(linksIn).length).toBeGreaterThan(100);
  });
});
