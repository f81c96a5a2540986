import { groupBy } from '../../src/facts/grouping.js';
import { specFields } from './spec-fields.js';
import { notExported } from './not-exported.js';
import { markdownTable, withTables } from './tables.js';

/** Every field of the spec: those that metrics read, and the others with the reason. */
export function coverageReference(): string {
  return withTables('contributing/coverage.md', [fieldTable(), reasonTable()]);
}

function fieldTable(): string {
  const rows = Object.entries(specFields).map(([object, fields]) => {
    const read = Object.keys(fields).filter((field) => notExported[`${object}.${field}`] === undefined);
    return [object, read.map((field) => `\`${field}\``).join(', ')];
  });
  return markdownTable(
    ['object', 'read by metrics'],
    rows.filter(([, read]) => read !== ''),
  );
}

function reasonTable(): string {
  const byReason = groupBy(Object.entries(notExported), ([, reason]) => reason);
  return markdownTable(
    ['not exported', 'reason'],
    Array.from(byReason, ([reason, fields]) => [fields.map(([key]) => `\`${key}\``).join(', '), reason]),
  );
}
