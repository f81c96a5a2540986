interface Unit {
  readonly name: string;
  readonly factor: number;
}

const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

export const MINUTE_SECONDS = 60;
export const HOUR_SECONDS = 60 * MINUTE_SECONDS;
export const DAY_SECONDS = 24 * HOUR_SECONDS;

export const MEBIBYTE = 2 ** 20;

// As in Prometheus (model.ParseDuration): a year has 365 days; units are ordered, each at most once, without fractions.
const durationUnits: readonly Unit[] = [
  { name: 'y', factor: 365 * DAY_MS },
  { name: 'w', factor: 7 * DAY_MS },
  { name: 'd', factor: DAY_MS },
  { name: 'h', factor: HOUR_MS },
  { name: 'm', factor: MINUTE_MS },
  { name: 's', factor: SECOND_MS },
  { name: 'ms', factor: 1 },
];

const durationPattern = new RegExp(`^(?=\\d)${durationUnits.map(({ name }) => `(?:(\\d+)${name})?`).join('')}$`);

/** Milliseconds of a duration in the format of Prometheus: 30s, 1m30s, 500ms. */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  const counts = durationPattern.exec(text)?.slice(1);
  if (!counts) return undefined;
  const milliseconds = durationUnits.reduce((sum, { factor }, index) => sum + Number(counts[index] ?? '0') * factor, 0);
  return Number.isSafeInteger(milliseconds) ? milliseconds : undefined;
}

export function formatDuration(milliseconds: number): string {
  if (milliseconds === 0) return '0s';
  let rest = milliseconds;
  let text = '';
  // Without years and weeks: 7d is easier to read than 1w.
  for (const { name, factor } of durationUnits.slice(2)) {
    const count = Math.floor(rest / factor);
    if (count > 0) text += `${count}${name}`;
    rest %= factor;
  }
  return text;
}

const sizeUnits: readonly Unit[] = [
  { name: 'GiB', factor: 2 ** 30 },
  { name: 'MiB', factor: MEBIBYTE },
  { name: 'KiB', factor: 2 ** 10 },
  { name: 'GB', factor: 1e9 },
  { name: 'MB', factor: 1e6 },
  { name: 'KB', factor: 1e3 },
  { name: 'B', factor: 1 },
];

const sizePattern = /^(\d+)([A-Za-z]*)$/;

/** Bytes of a size: 64MiB, 10MB, or a plain number of bytes. */
export function parseSize(text: string): number | undefined {
  const [, count, name] = sizePattern.exec(text) ?? [];
  const unit = sizeUnits.find((candidate) => candidate.name === (name === '' ? 'B' : name));
  if (count === undefined || !unit) return undefined;
  const bytes = Number(count) * unit.factor;
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** The size in the largest unit that divides it, so that parsing returns the same number. */
export function formatSize(bytes: number): string {
  const unit = sizeUnits.find(({ factor }) => bytes >= factor && bytes % factor === 0);
  return unit ? `${bytes / unit.factor}${unit.name}` : `${bytes}B`;
}
