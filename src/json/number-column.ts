import { compareNumerals, EXACT_LENGTH, type Digits, type Numeral, type Sum } from './decimal.js';

/** Which of the kept numbers of a document is meant. */
export type NumberPlace = number & { readonly __brand: 'place of a number' };

/**
 * Numbers of a document of which there are many, such as the amounts of its transfers: side by side rather than an object or a text
 * each. Those of up to 30 digits in two halves, as they are added up; others, which hardly any are, as text.
 */
export class KeptNumbers {
  /** The two halves of each. */
  #halves = new Float64Array(1024);
  #length = 0;
  readonly #others = new Map<NumberPlace, Numeral>();

  /** Keeps `high` × 10^15 + `low`. */
  keep(high: number, low: number): NumberPlace {
    const place = this.#length;
    if (place === this.#halves.length) {
      const grown = new Float64Array(2 * place);
      grown.set(this.#halves);
      this.#halves = grown;
    }
    this.#halves[place] = high;
    this.#halves[place + 1] = low;
    this.#length = place + 2;
    return place as NumberPlace;
  }

  keepOther(numeral: Numeral): NumberPlace {
    const place = this.keep(0, 0);
    this.#others.set(place, numeral);
    return place;
  }

  at(place: NumberPlace): Numeral {
    const other = this.#others.get(place);
    if (other !== undefined) return other;
    const high = this.#halves[place] ?? 0;
    const low = this.#halves[place + 1] ?? 0;
    return high === 0 ? low : (`${high}${String(low).padStart(EXACT_LENGTH, '0')}` as Digits);
  }

  /** Negative, zero or positive as the one at `a` is below, equal to or above the one at `b`. */
  compare(a: NumberPlace, b: NumberPlace): number {
    if (this.#others.has(a) || this.#others.has(b)) return compareNumerals(this.at(a), this.at(b));
    const halves = this.#halves;
    return (halves[a] ?? 0) - (halves[b] ?? 0) || (halves[a + 1] ?? 0) - (halves[b + 1] ?? 0);
  }

  addTo(sum: Sum, place: NumberPlace): void {
    sum.addHalves(this.#halves[place] ?? 0, this.#halves[place + 1] ?? 0);
    if (this.#others.size === 0) return;
    const other = this.#others.get(place);
    if (other !== undefined) sum.add(other);
  }
}
