import { describe, expect, it } from 'vitest';
import { asDecimalString } from '../../src/chain/numeral.js';
import { markup } from '../../src/pages/html.js';
import { exact, sortRows, tableHtml, type ColumnSort, type Table } from '../../src/pages/table.js';

describe('the rows of a table', () => {
  const sorted = <Row>(rows: readonly Row[], sort: Omit<ColumnSort<Row>, 'key'>, descending: boolean) =>
    sortRows(rows, { key: 'column', ...sort }, descending);

  it('are sorted by exact digits, with unknown values last in both directions', () => {
    const rows = ['9007199254740993', '10', null, '9007199254740992', '-3', '0.5'];
    const value = (row: string | null) => exact(row === null ? null : asDecimalString(row));
    const ascending = ['-3', '0.5', '10', '9007199254740992', '9007199254740993'];
    expect(sorted(rows, { value }, false)).toEqual([...ascending, null]);
    expect(sorted(rows, { value }, true)).toEqual([...ascending.toReversed(), null]);
  });

  it('are sorted by numbers and by strings', () => {
    expect(sorted([2, null, 10, 1], { value: (row) => row }, true)).toEqual([10, 2, 1, null]);
    expect(sorted(['b', null, 'a'], { value: (row) => row }, false)).toEqual(['a', 'b', null]);
  });

  it('are sorted within groups whose values cannot be compared', () => {
    const rows = ['b1', 'a5', 'b3', 'a7'];
    const value = (row: string) => Number(row.slice(1));
    expect(sorted(rows, { value, group: (row) => row.slice(0, 1) }, true)).toEqual(['a7', 'a5', 'b3', 'b1']);
  });
});

describe('a table', () => {
  const table: Table<string, number> = {
    title: 'Letters',
    columns: [
      { title: 'Letter', cell: (row) => markup`${row}`, type: 'row-header' },
      {
        title: 'Times',
        cell: (row, times) => markup`${row.repeat(times)}`,
        type: 'wide',
        sort: { key: 'times', value: (row) => row, largestFirst: true },
      },
    ],
    rowId: (row) => row,
    rowClass: (row) => (row === 'a' ? 'first' : ''),
  };
  const url = (key: string, descending: boolean) => `?${key}=${descending}`;

  it('has a heading for each column, an id for each row, and labels for narrow screens', () => {
    expect(tableHtml(table, ['a', '<', '<'], 2).html).toBe(`<table class="cards" role="table" aria-label="Letters">
<thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col" class="fixed">Letter<th role="columnheader" scope="col" class="fixed">Times</tr></thead>
<tbody role="rowgroup">
<tr role="row" id="a" class="first"><th role="rowheader" scope="row">a<td role="cell" data-label="Times" class="wide">aa
<tr role="row" id="&lt;"><th role="rowheader" scope="row">&lt;<td role="cell" data-label="Times" class="wide">&lt;&lt;
<tr role="row" id="&lt;/1"><th role="rowheader" scope="row">&lt;<td role="cell" data-label="Times" class="wide">&lt;&lt;
</tbody>
</table>`);
  });

  it('links a heading to the order of its column, and reverses it when the column is sorted', () => {
    const headings = (key: string | undefined, descending: boolean) =>
      /scope="col"(?! class)[^]*?(?=<\/tr)/.exec(tableHtml(table, [], 2, { key, descending, url }).html)?.[0];
    expect(headings(undefined, false)).toBe('scope="col"><a href="?times=true">Times</a>');
    expect(headings('times', true)).toBe('scope="col" aria-sort="descending"><a href="?times=false">Times</a> ↓');
    expect(headings('times', false)).toBe('scope="col" aria-sort="ascending"><a href="?times=true">Times</a> ↑');
  });
});
