import { markup } from './html.js';
import { layout, type Site } from './layout.js';
import { timeElement } from './time.js';

/** The effective configuration of this process. `text` has no secrets. */
export function configPage(text: string, loadedAt: string, site: Site): string {
  const body = markup`<p class="note">With all defaults, as <code>--config.check</code> prints it; secrets are redacted. Loaded at ${timeElement(loadedAt)}.</p>
<pre tabindex="0" role="region" aria-label="Configuration file">${text}</pre>`;
  return layout({ path: '/config', title: 'Configuration', heading: markup`Configuration`, body }, site);
}
