import type { JsonCursor } from './json-cursor.js';
import { Byte, RepeatedKey } from './json-tokens.js';
import { BytePattern } from './byte-pattern.js';
import { INVALID } from './field.js';
import type { FieldProblems, Reader } from './shape.js';

/** One key of an object that is read. */
export interface Member {
  readonly name: string;
  readonly wireName: string;
  readonly read: Reader<unknown>;
}

/** A key whose object is not made: its members stand among those of the object around it. */
export interface Inlined {
  readonly wireName: string;
  readonly members: readonly Member[];
  /** Reads what is no object and not missing. */
  readonly readOther: Reader<never>;
}

/** A key as it was written, with the comma before it and its colon, and what it stands for; nothing for a key that is not read. */
interface WrittenKey {
  readonly written: BytePattern;
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

type MembersReader<Result> = (cursor: JsonCursor, problems: FieldProblems) => Result;

/**
 * Reads the members of an object whose opening brace has been passed; `undefined` when none of them is there though `needsKey`.
 * Nodes write the keys of every row in the same way, so the keys of the last object are tried first, as they were written; what
 * differs is looked up.
 */
export function memberReader(
  members: readonly (Member | Inlined)[],
  needsKey: boolean,
): MembersReader<object | undefined> {
  // Of the object being read, one list for all of them, as none has another of its own kind in it. Another for each document:
  // V8 has to take note of everything new that is put into what is old.
  let values: unknown[] = [];
  let isOf = 0;

  const names = members.flatMap((member) => ('members' in member ? member.members : [member])).map(({ name }) => name);
  // After those of the object, whether each that is inlined has been read.
  const marks = members.filter((member) => 'members' in member);
  const size = names.length + marks.length;
  const create = creator(names, size);

  function readerOf(list: readonly (Member | Inlined)[]): MembersReader<boolean> {
    const places = list.map((member): [string, Place] => [
      member.wireName,
      'members' in member
        ? { index: names.length + marks.indexOf(member), read: inlinedReader(member) }
        : { index: names.indexOf(member.name), read: member.read },
    ]);
    return keysReader(new Map(places), () => values);
  }

  function inlinedReader({ members: inner, readOther }: Inlined): Reader<unknown> {
    const readInner = readerOf(inner);
    const indexes = inner.map(({ name }) => names.indexOf(name));
    return (cursor, problems) => {
      if (cursor.enters(Byte.openBrace)) {
        readInner(cursor, problems);
        return true;
      }
      if (cursor.passesNull()) return undefined;
      for (const index of indexes) values[index] = INVALID;
      return readOther(cursor, problems);
    };
  }

  const readAll = readerOf(members);
  return (cursor, problems) => {
    cursor.spend(OBJECT_BYTES + MEMBER_BYTES * names.length);
    if (cursor.serial !== isOf) {
      values = Array.from({ length: size }, () => undefined);
      isOf = cursor.serial;
    }
    const isRecognized = readAll(cursor, problems);
    return isRecognized || !needsKey ? create(values) : undefined;
  };
}

/** Reads the members of an object into a list of values, and says whether it has any. */
function keysReader(places: ReadonlyMap<string, Place>, valuesNow: () => unknown[]): MembersReader<boolean> {
  const lastKeys: WrittenKey[] = [];

  /** The key that is not the one expected; `null` at the end of the object. */
  function lookUp(cursor: JsonCursor, position: number): Place | undefined | null {
    const start = cursor.position;
    if (!cursor.hasEntry(Byte.closeBrace, position === 0)) return null;
    const place = places.get(cursor.key());
    const written = cursor.passed(start);
    if (position < MAX_REMEMBERED && written.length < MAX_REMEMBERED) {
      lastKeys[position] = { written: new BytePattern(written), place };
    }
    return place;
  }

  function readInOrder(cursor: JsonCursor, problems: FieldProblems): boolean {
    const values = valuesNow();
    let isRecognized = false;
    for (let position = 0; ; position += 1) {
      const expected = lastKeys[position];
      const isExpected = expected !== undefined && cursor.passes(expected.written);
      const place = isExpected ? expected.place : lookUp(cursor, position);
      if (place === null) return isRecognized;
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
  function readLastOfEach(cursor: JsonCursor, problems: FieldProblems): boolean {
    const positions = new Map<Place, number>();
    for (let isFirst = true; cursor.hasEntry(Byte.closeBrace, isFirst); isFirst = false) {
      const place = places.get(cursor.key());
      if (place !== undefined) positions.set(place, cursor.position);
      cursor.skip();
    }
    const end = cursor.position;
    const values = valuesNow();
    for (const [place, position] of positions) {
      cursor.position = position;
      values[place.index] = place.read(cursor, problems);
    }
    cursor.position = end;
    return positions.size > 0;
  }

  return (cursor, problems) =>
    cursor.expectsRepeatedKeys ? readLastOfEach(cursor, problems) : readInOrder(cursor, problems);
}

/**
 * Makes objects with these keys, which are names of our own and none of a document, by one literal: setting members by name
 * takes four times as long, a fifth of the time of reading a document. All that is in the list, of this size, is taken out.
 */
function creator(names: readonly string[], size: number): (values: unknown[]) => object {
  const members = names.map((name, index) => `${JSON.stringify(name)}: values[${index}]`);
  const emptied = Array.from({ length: size }, (_, index) => `values[${index}] = undefined;`);
  const body = `const object = { ${members.join(', ')} }; ${emptied.join(' ')} return object;`;
  // oxlint-disable-next-line typescript/no-implied-eval -- of constants only
  return new Function('values', body) as (values: unknown[]) => object;
}
