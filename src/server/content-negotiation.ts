import type { Format } from '../metrics/text-format.js';

/*
 * Content negotiation by `Accept`. `negotiator`, which Express uses for `Accept-Encoding`, does not fit here: it ignores a media
 * range with a parameter that it was not offered, such as Prometheus' `escaping`, and lets `application/*` select OpenMetrics.
 */

export const contentTypes: Readonly<Record<Format, string>> = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

/** Text 0.0.4, unless OpenMetrics 1.0.0 is named with at least the same quality. */
export function negotiateFormat(accept: string | undefined): Format {
  let text = 0;
  let openmetrics = 0;
  for (const { type, version, quality } of parseAccept(accept)) {
    if (type === 'application/openmetrics-text' && (version ?? '1.0.0') === '1.0.0') {
      openmetrics = Math.max(openmetrics, quality);
    } else if (['text/plain', 'text/*', '*/*'].includes(type) && (version ?? '0.0.4') === '0.0.4') {
      text = Math.max(text, quality);
    }
  }
  return openmetrics > 0 && openmetrics >= text ? 'openmetrics' : 'text';
}

/** Whether JSON is named with at least the quality of HTML; browsers do not name it. */
export function prefersJson(accept: string | undefined): boolean {
  const ranges = parseAccept(accept);
  const qualityOf = (type: string): number => ranges.find((range) => range.type === type)?.quality ?? 0;
  return qualityOf('application/json') > 0 && qualityOf('application/json') >= qualityOf('text/html');
}

/** The media ranges of the header, with the parameters that decide. */
function parseAccept(accept = '') {
  return accept.split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const parameter = (name: string): string | undefined =>
      parameters
        .find((candidate) => candidate.startsWith(`${name}=`))
        ?.slice(name.length + 1)
        .replaceAll('"', '');
    const quality = Number(parameter('q') ?? '1');
    return { type, version: parameter('version'), quality: Number.isFinite(quality) ? quality : 0 };
  });
}
