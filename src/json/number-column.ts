import { compareNumerals, EXACT_LENGTH, type Digits, type Numeral, type Sum } from './decimal.js';

/** Which of the kept numbers of a document is meant. */
export type NumberIndex = number & { readonly __brand: 'place of a number' };

/**
 * Numbers of a document of which there are many, such as the amounts of its transfers: side by side rather than an object or a text
 * each. Those of up to 30 digits in two halves, as they are added up; others, which hardly any are, as text.
 */
export class NumberColumn {
  /** The two halves of each. */
  #halves = new Float64Array(1024);
  #length = 0;
  readonly #others = new Map<NumberIndex, Numeral>();

  /** Keeps `high` × 10^15 + `low`. */
  keep(high: number, low: number): NumberIndex {
    const place = this.#length;
    if (place === this.#halves.length) {
      const grown = new Float64Array(2 * place);
      grown.set(this.#halves);
      this.#halves = grown;
    }
    this.#halves[place] = high;
    this.#halves[place + 1] = low;
    this.#length = place + 2;
    return place as NumberIndex;
  }

  keepOther(numeral: Numeral): NumberIndex {
    const place = this.keep(0, 0);
    this.#others.set(place, numeral);
    return place;
  }

  at(place: NumberIndex): Numeral {
    const other = this.#others.get(place);
    if (other !== undefined) return other;
    const high = this.#halves[place] ?? 0;
    const low = this.#halves[place + 1] ?? 0;
    return high === 0 ? low : (`${high}${String(low).padStart(EXACT_LENGTH, '0')}` as Digits);
  }

  /** Negative, zero or positive as the one at `a` is below, equal to or above the one at `b`. */
  compare(a: NumberIndex, b: NumberIndex): number {
    if (this.#others.has(a) || this.#others.has(b)) return compareNumerals(this.at(a), this.at(b));
    const halves = this.#halves;
    return (halves[a] ?? 0) - (halves[b] ?? 0) || (halves[a + 1] ?? 0) - (halves[b + 1] ?? 0);
  }

  addTo(sum: Sum, place: NumberIndex): void {
    sum.addHalves(this.#halves[place] ?? 0, this.#halves[place + 1] ?? 0);
    if (this.#others.size === 0) return;
    const other = this.#others.get(place);
    if (other !== undefined) sum.add(other);
  }
}
