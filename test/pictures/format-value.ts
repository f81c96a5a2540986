/* The units of Grafana that the dashboards use. */

interface Format {
  readonly unit: string;
  readonly decimals?: number | undefined;
  /** Milliseconds; times of this day are shown without the date. */
  readonly now: number;
}

export function formatValue(value: number, { unit, decimals, now }: Format): string {
  const rounded = (number: number): string => number.toFixed(decimals ?? autoDecimals(number));
  switch (unit) {
    case 'percentunit':
      return `${rounded(value * 100)}%`;
    case 's':
      return scaled(value, SECONDS, rounded);
    case 'bytes':
      return scaled(value, BYTES, rounded);
    case 'short':
      return scaled(value, THOUSANDS, rounded);
    case 'dtdurations':
      return inWords(value, 1 + (decimals ?? 0));
    case 'dtdhms':
      return clockTime(value);
    case 'dateTimeAsIsoNoDateIfToday':
      return dateTime(value, now);
    case 'none':
      return rounded(value);
    default:
      if (unit.startsWith('suffix:')) return rounded(value) + unit.slice('suffix:'.length);
      throw new Error(`the unit ${unit} is not known here`);
  }
}

const SECONDS = [
  [1, ' s'],
  [60, ' mins'],
  [3600, ' hours'],
  [86_400, ' days'],
] as const;
const BYTES = [
  [1, ' B'],
  [1024, ' KiB'],
  [1024 ** 2, ' MiB'],
] as const;
const THOUSANDS = [
  [1, ''],
  [1000, ' K'],
  [1e6, ' Mil'],
  [1e9, ' Bil'],
] as const;

const WORDS = [
  [604_800, 'week'],
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
] as const;

/** The number of units that begin with the largest one. */
function inWords(seconds: number, units: number): string {
  const first = WORDS.findIndex(([size]) => seconds >= size);
  return WORDS.slice(first === -1 ? -1 : first)
    .slice(0, units)
    .map(([size, word], index, { [index - 1]: larger }) => {
      const number = Math.floor((larger === undefined ? seconds : seconds % larger[0]) / size);
      return `${number} ${word}${number === 1 ? '' : 's'}`;
    })
    .join(', ');
}

function scaled(
  value: number,
  units: readonly (readonly [size: number, name: string])[],
  rounded: (number: number) => string,
): string {
  const [size, name] = units.findLast(([from]) => Math.abs(value) >= from) ?? units[0]!;
  return rounded(value / size) + name;
}

/** Two or three digits. */
function autoDecimals(value: number): number {
  const size = Math.abs(value);
  return Number.isInteger(value) || size >= 100 ? 0 : Math.max(0, 1 - Math.floor(Math.log10(size)));
}

function clockTime(seconds: number): string {
  const days = Math.floor(seconds / 86_400);
  const time = new Date((seconds % 86_400) * 1000).toISOString().slice(11, 19);
  return days === 0 ? time : `${days} d ${time}`;
}

function dateTime(ms: number, now: number): string {
  const [date, time] = new Date(ms).toISOString().slice(0, 19).split('T');
  return date === new Date(now).toISOString().slice(0, 10) ? time! : `${date} ${time}`;
}
