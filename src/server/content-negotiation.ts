import type { Format } from '../metrics/text-format.js';

export const contentTypes: Readonly<Record<Format, string>> = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

/** The format an `Accept` header likes best: text 0.0.4 unless OpenMetrics 1.0.0 is named and liked at least as well. */
export function negotiateFormat(accept: string | undefined): Format {
  let text = 0;
  let openmetrics = 0;
  for (const range of ranges(accept ?? '')) {
    if (range.type === 'application/openmetrics-text' && (range.version ?? '1.0.0') === '1.0.0') {
      openmetrics = Math.max(openmetrics, range.q);
    } else if (['text/plain', 'text/*', '*/*'].includes(range.type) && (range.version ?? '0.0.4') === '0.0.4') {
      text = Math.max(text, range.q);
    }
  }
  return openmetrics > 0 && openmetrics >= text ? 'openmetrics' : 'text';
}

/** Whether an `Accept` header names JSON and likes it at least as well as HTML; browsers do not name it. */
export function prefersJson(accept: string | undefined): boolean {
  const found = ranges(accept ?? '');
  const liking = (type: string): number => found.find((range) => range.type === type)?.q ?? 0;
  return liking('application/json') > 0 && liking('application/json') >= liking('text/html');
}

interface Range {
  readonly type: string;
  readonly version: string | undefined;
  readonly q: number;
}

function ranges(header: string): Range[] {
  return header.split(',').map((part) => {
    const [type = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase());
    const parameter = (name: string): string | undefined =>
      parameters
        .find((text) => text.startsWith(`${name}=`))
        ?.slice(name.length + 1)
        .replaceAll('"', '');
    const q = Number(parameter('q') ?? '1');
    return { type, version: parameter('version'), q: Number.isFinite(q) ? q : 0 };
  });
}
