import { list } from '../text/format.js';
import { markup } from './html.js';
import { layout, type Site } from './layout.js';
import { timeElement } from './time.js';

/** The effective configuration of this process. `text` has no secrets. */
export function configPage(text: string, loadedAt: string, unmatched: readonly string[], site: Site): string {
  const note =
    unmatched.length === 0
      ? ''
      : markup`<p class="note">Entries that match nothing in the documents of the last day: ${list(unmatched)}.</p>`;
  const body = markup`<p class="note">With all defaults, as <code>--config.check</code> prints it; secrets are redacted. Loaded at ${timeElement(loadedAt)}.</p>
${note}
<pre tabindex="0" role="region" aria-label="Configuration file">${text}</pre>`;
  return layout({ path: '/config', title: 'Configuration', heading: markup`Configuration`, body }, site);
}
