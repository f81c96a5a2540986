/* The units of Grafana that the tables of the overview have. */

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
    case 'short': {
      const [size, name] = THOUSANDS.findLast(([from]) => Math.abs(value) >= from) ?? THOUSANDS[0];
      return rounded(value / size) + name;
    }
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

const THOUSANDS = [
  [1, ''],
  [1000, ' K'],
  [1e6, ' Mil'],
  [1e9, ' Bil'],
] as const;

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
