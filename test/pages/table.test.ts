import { describe, expect, it } from 'vitest';
import { markup } from '../../src/pages/html.js';
import { tableHtml } from '../../src/pages/table.js';

describe('a table', () => {
  it('has a heading for each column, an id for each row, and labels for narrow screens', () => {
    const rows = ['a', '<', '<'].map((letter) => ({
      id: letter,
      cssClass: letter === 'a' ? 'first' : '',
      cells: [
        { title: 'Letter', html: markup`${letter}`, isHeader: true },
        { title: 'Twice', html: markup`${letter.repeat(2)}`, isWide: true },
      ],
    }));
    expect(tableHtml('Letters', rows).html).toBe(`<table class="cards" role="table" aria-label="Letters">
<thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">Letter<th role="columnheader" scope="col">Twice</tr></thead>
<tbody role="rowgroup">
<tr role="row" id="a" class="first"><th role="rowheader" scope="row">a<td role="cell" data-label="Twice" class="wide">aa
<tr role="row" id="&lt;"><th role="rowheader" scope="row">&lt;<td role="cell" data-label="Twice" class="wide">&lt;&lt;
<tr role="row" id="&lt;/1"><th role="rowheader" scope="row">&lt;<td role="cell" data-label="Twice" class="wide">&lt;&lt;
</tbody>
</table>`);
  });
});
