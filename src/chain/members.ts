import type { JsonCursor } from './json-cursor.js';
import { Byte, RepeatedKey } from './json-tokens.js';
import { KnownBytes } from './known-bytes.js';
import type { Problems, Reader } from './schema.js';

/** One key of an object that is read. */
export interface Member {
  readonly name: string;
  readonly wireName: string;
  readonly read: Reader<unknown>;
}

/** A key as it was written, with the comma before it and its colon, and what it stands for; nothing for a key that is not read. */
interface WrittenKey {
  readonly written: KnownBytes;
  readonly place: Place | undefined;
}

/** A member by the place of its value among those of the object. */
interface Place {
  readonly index: number;
  readonly read: Reader<unknown>;
}

/** About what an object takes, and one of its members. */
const OBJECT_BYTES = 32;
const MEMBER_BYTES = 8;

/** Longer objects and longer keys are not worth remembering. */
const MAX_REMEMBERED = 64;

/**
 * Reads the members of an object whose opening brace has been passed; `undefined` when none of them is there though `needsKey`.
 * Nodes write the keys of every row in the same way, so the keys of the last object are tried first, as they were written; what
 * differs is looked up.
 */
export function memberReader(
  members: readonly Member[],
  needsKey: boolean,
): (cursor: JsonCursor, problems: Problems) => object | undefined {
  const places = new Map(members.map(({ wireName, read }, index): [string, Place] => [wireName, { index, read }]));
  const create = creator(members.map(({ name }) => name));
  // Of the object being read, one list for all of them, as none has another of its own kind in it. Another for each document:
  // V8 has to take note of everything new that is put into what is old.
  let values: unknown[] = [];
  let isOf = 0;

  function begin({ serial }: JsonCursor): void {
    if (serial === isOf) return;
    values = members.map(() => undefined);
    isOf = serial;
  }

  const lastKeys: WrittenKey[] = [];

  /** The key that is not the one expected; `null` at the end of the object. */
  function lookUp(cursor: JsonCursor, position: number): Place | undefined | null {
    const start = cursor.position;
    if (!cursor.hasEntry(Byte.closeBrace, position === 0)) return null;
    const place = places.get(cursor.key());
    const written = cursor.passed(start);
    if (position < MAX_REMEMBERED && written.length < MAX_REMEMBERED) {
      lastKeys[position] = { written: new KnownBytes(written), place };
    }
    return place;
  }

  function readInOrder(cursor: JsonCursor, problems: Problems): object | undefined {
    begin(cursor);
    let isRecognized = !needsKey;
    for (let position = 0; ; position += 1) {
      const expected = lastKeys[position];
      const isExpected = expected !== undefined && cursor.passes(expected.written);
      const place = isExpected ? expected.place : lookUp(cursor, position);
      if (place === null) return isRecognized ? create(values) : undefined;
      if (place === undefined) {
        cursor.skip();
        continue;
      }
      if (values[place.index] !== undefined) throw new RepeatedKey();
      values[place.index] = place.read(cursor, problems);
      isRecognized = true;
    }
  }

  /** The last of a key that stands several times counts, and nothing of the others: so they are found first, then read. */
  function readLastOfEach(cursor: JsonCursor, problems: Problems): object | undefined {
    const positions = new Map<Place, number>();
    for (let isFirst = true; cursor.hasEntry(Byte.closeBrace, isFirst); isFirst = false) {
      const place = places.get(cursor.key());
      if (place !== undefined) positions.set(place, cursor.position);
      cursor.skip();
    }
    const end = cursor.position;
    begin(cursor);
    for (const [place, position] of positions) {
      cursor.position = position;
      values[place.index] = place.read(cursor, problems);
    }
    cursor.position = end;
    return needsKey && positions.size === 0 ? undefined : create(values);
  }

  return (cursor, problems) => {
    cursor.spend(OBJECT_BYTES + MEMBER_BYTES * members.length);
    return cursor.expectsRepeatedKeys ? readLastOfEach(cursor, problems) : readInOrder(cursor, problems);
  };
}

/**
 * Makes objects with these keys, which are names of our own and none of a document, by one literal: setting members by name
 * takes four times as long, a fifth of the time of reading a document. The values are taken out of the list.
 */
function creator(names: readonly string[]): (values: unknown[]) => object {
  const members = names.map((name, index) => `${JSON.stringify(name)}: values[${index}]`);
  const emptied = names.map((_, index) => `values[${index}] = undefined;`);
  const body = `const object = { ${members.join(', ')} }; ${emptied.join(' ')} return object;`;
  // oxlint-disable-next-line typescript/no-implied-eval -- of constants only
  return new Function('values', body) as (values: unknown[]) => object;
}
