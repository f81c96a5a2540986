import { describe, expect, it } from 'vitest';
import { contactHtml } from '../../src/pages/contacts.js';
import { pendingView } from '../../src/pages/pending-view.js';
import { pendingPage } from '../../src/pages/pending-page.js';
import { batch, idleState } from '../facts/items/bridge-state.js';
import {
  at,
  BRIDGE,
  bridgeResult,
  HOSTILE,
  initialSnapshots,
  TARGET,
  targetVerdicts,
  testLinks,
} from './sample-snapshots.js';

const website = (text: string): string => contactHtml({ securityContact: null, website: text }).html;

describe('the contact of a validator', () => {
  it('is beside its name where it is blocking', () => {
    const snapshots = initialSnapshots();
    // A batch that none of the four validators has signed.
    snapshots.record(BRIDGE, bridgeResult({ ...idleState, batches: [batch('1', '600', '500')] }, '1000'), at(0));
    const contact = { securityContact: 'ops@example.org', website: 'https://example.org/a' };
    const contacts = new Map([[TARGET, new Map([['pqqqq', contact]])]]);
    const links = testLinks();
    const document = pendingView(snapshots.states(), [targetVerdicts()], links, at(0), TARGET, undefined, {
      contacts,
    });
    const blocking = document?.targets[0]?.blocking ?? [];
    expect(blocking.map((validator) => validator.contact)).toEqual([undefined, contact, undefined, undefined]);
    const html = document && pendingPage(document, undefined, links, { telemetryPath: '/metrics', version: '0' });
    expect(html).toContain(
      'published contact: ops@example.org, <a href="https://example.org/a" rel="noreferrer nofollow">https://example.org/a</a>',
    );
    expect(html?.split('published contact').length).toBe(2);
  });

  it.each([
    'http://example.org',
    'javascript:alert(1)',
    'https:example.org',
    'https://',
    'https://user:password@example.org',
    'https://example.org@evil.example',
    'https://еxample.org',
    'https://example.org/ javascript:',
    'example.org',
    'HTTPS//x',
  ])('is text and no link: %s', (text) => {
    expect(website(text)).not.toContain('<a');
    expect(website(text)).toContain(text);
  });

  it.each(['https://example.org', 'https://example.org/a?b=c#d', 'https://example.org?q=1'])(
    'is a link: %s',
    (text) => {
      expect(website(text)).toContain(`<a href="${text}"`);
    },
  );

  it('is escaped', () => {
    const { html } = contactHtml({ securityContact: HOSTILE, website: `https://example.org/"><script>` });
    expect(html).not.toContain('<script>');
    expect(html).toContain('href="https://example.org/&quot;&gt;&lt;script&gt;"');
  });

  it('is absent without one', () => {
    expect(contactHtml(undefined).html).toBe('');
  });
});
