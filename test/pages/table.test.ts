import { describe, expect, it } from 'vitest';
import { markup } from '../../src/pages/html.js';
import { tableHtml, type Table } from '../../src/pages/table.js';

describe('a table', () => {
  const table: Table<string, number> = {
    title: 'Letters',
    columns: [
      { title: 'Letter', cell: (row) => markup`${row}`, type: 'row-header' },
      {
        title: 'Times',
        cell: (row, times) => markup`${row.repeat(times)}`,
        type: 'wide',
      },
    ],
    rowId: (row) => row,
    rowClass: (row) => (row === 'a' ? 'first' : ''),
  };

  it('has a heading for each column, an id for each row, and labels for narrow screens', () => {
    expect(tableHtml(table, ['a', '<', '<'], 2).html).toBe(`<table class="cards" role="table" aria-label="Letters">
<thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">Letter<th role="columnheader" scope="col">Times</tr></thead>
<tbody role="rowgroup">
<tr role="row" id="a" class="first"><th role="rowheader" scope="row">a<td role="cell" data-label="Times" class="wide">aa
<tr role="row" id="&lt;"><th role="rowheader" scope="row">&lt;<td role="cell" data-label="Times" class="wide">&lt;&lt;
<tr role="row" id="&lt;/1"><th role="rowheader" scope="row">&lt;<td role="cell" data-label="Times" class="wide">&lt;&lt;
</tbody>
</table>`);
  });
});
