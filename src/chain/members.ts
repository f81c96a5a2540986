import type { JsonCursor } from './json-cursor.js';
import { Byte, RepeatedKey } from './json-tokens.js';
import type { Problems, Reader } from './schema.js';

/** One key of an object that is read. */
export interface Member {
  readonly name: string;
  readonly wireName: string;
  readonly read: Reader<unknown>;
}

export interface Members {
  readonly found: Readonly<Record<string, unknown>>;
  /** Whether at least one of the keys was there. */
  readonly isRecognized: boolean;
}

/** A key as it was written, and what it stands for; nothing for a key that is not read. */
interface WrittenKey {
  readonly quoted: Uint8Array;
  readonly member: Member | undefined;
}

/** About what an object takes, and one of its members. */
const OBJECT_BYTES = 32;
const MEMBER_BYTES = 8;

/** Longer objects and longer keys are not worth remembering. */
const MAX_REMEMBERED = 64;

/**
 * Reads the members of an object whose opening brace has been passed. Nodes write the keys of every row in the same order, so the
 * keys of the last object are tried first, byte by byte; what differs is looked up.
 */
export function memberReader(members: readonly Member[]): (cursor: JsonCursor, problems: Problems) => Members {
  const byWireName = new Map(members.map((member) => [member.wireName, member]));
  const blank: Readonly<Record<string, unknown>> = Object.fromEntries(members.map(({ name }) => [name, undefined]));
  const lastKeys: WrittenKey[] = [];

  function nextMember(cursor: JsonCursor, position: number): Member | undefined {
    const expected = lastKeys[position];
    if (expected !== undefined && cursor.passesKey(expected.quoted)) return expected.member;
    const { name, quoted } = cursor.key();
    const member = byWireName.get(name);
    if (position < MAX_REMEMBERED && quoted.length < MAX_REMEMBERED) {
      // A copy, or it would keep the whole document.
      lastKeys[position] = { quoted: Uint8Array.from(quoted), member };
    }
    return member;
  }

  function readInOrder(cursor: JsonCursor, problems: Problems): Members {
    const found: Record<string, unknown> = { ...blank };
    let isRecognized = false;
    for (let position = 0; cursor.hasEntry(Byte.closeBrace, position === 0); position += 1) {
      const member = nextMember(cursor, position);
      if (member === undefined) {
        cursor.skip();
        continue;
      }
      if (found[member.name] !== undefined) throw new RepeatedKey();
      found[member.name] = member.read(cursor, problems);
      isRecognized = true;
    }
    return { found, isRecognized };
  }

  /** The last of a key that stands several times counts, and nothing of the others: so they are found first, then read. */
  function readLastOfEach(cursor: JsonCursor, problems: Problems): Members {
    const positions = new Map<Member, number>();
    for (let isFirst = true; cursor.hasEntry(Byte.closeBrace, isFirst); isFirst = false) {
      const member = byWireName.get(cursor.key().name);
      if (member !== undefined) positions.set(member, cursor.position);
      cursor.skip();
    }
    const end = cursor.position;
    const found: Record<string, unknown> = { ...blank };
    for (const [member, position] of positions) {
      cursor.position = position;
      found[member.name] = member.read(cursor, problems);
    }
    cursor.position = end;
    return { found, isRecognized: positions.size > 0 };
  }

  return (cursor, problems) => {
    cursor.spend(OBJECT_BYTES + MEMBER_BYTES * members.length);
    return cursor.expectsRepeatedKeys ? readLastOfEach(cursor, problems) : readInOrder(cursor, problems);
  };
}
