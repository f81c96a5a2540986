import { describe, expect, it } from 'vitest';
import { rules } from '../../src/problems/rules.js';
import { createTempFolder } from '../support/temp-folder.js';
import { hasTool, runTool } from '../support/tools.js';
import { blocksOf } from './pages.js';

/* The routes of docs/notifications.md: which alerts wake a validator, an operator of the bridge and an observer. */

const folder = createTempFolder();
const [validator, operator, observer] = blocksOf('yaml')
  .filter(({ file }) => file === 'docs/notifications.md')
  .map(({ code }, index) => folder.write(`${index}.yml`, code));

/** The receivers of an alert. */
function receiversOf(config: string | undefined, ...labels: readonly string[]): string {
  const { status, output } = runTool('amtool', ['config', 'routes', 'test', `--config.file=${config}`, ...labels]);
  expect(status, output).toBe(0);
  return output.replaceAll(/^Warning.*$/gm, '').trim();
}

describe.skipIf(!hasTool('amtool'))('the routes', () => {
  it('of a validator wake for its own validator and for what endangers everybody', () => {
    const own = ['alertname=BridgeOrchestratorMissingVotes', 'severity=warning'];
    expect(receiversOf(validator, ...own, 'watched=true')).toBe('phone');
    expect(receiversOf(validator, ...own, 'watched=false')).toBe('nobody');
    expect(receiversOf(validator, 'alertname=BridgeWatchedValidatorInactive', 'severity=critical')).toBe('phone');
    expect(receiversOf(validator, 'alertname=BridgeClaimWithoutBatch', 'severity=critical')).toBe('phone');
    expect(receiversOf(validator, 'alertname=BridgeOracleStalled', 'severity=critical')).toBe('chat');
    expect(receiversOf(validator, 'alertname=CrosschainBacklogStuck', 'severity=critical')).toBe('nobody');
  });

  it('of an operator wake for every critical alert', () => {
    for (const [severity, receiver] of Object.entries({ critical: 'pager', warning: 'chat', info: 'record' })) {
      expect(receiversOf(operator, 'alertname=BridgeParamsChanged', `severity=${severity}`)).toBe(receiver);
    }
  });

  it('of an observer wake for chains, and not for the bridge', () => {
    expect(receiversOf(observer, 'alertname=CrosschainBacklogStuck', 'severity=critical')).toBe('pager');
    expect(receiversOf(observer, 'alertname=CrosschainOldestPendingTooOld', 'severity=warning')).toBe('chat');
    expect(receiversOf(observer, 'alertname=BridgeBatchUnsigned', 'severity=critical')).toBe('nobody');
  });

  it('send the heartbeat, and wake when the exporter is gone, in every role', () => {
    for (const config of [validator, operator, observer]) {
      expect(receiversOf(config, 'alertname=BridgeWatchdog', 'severity=none')).toBe('heartbeat');
      expect(receiversOf(config, 'alertname=BridgeExporterAbsent', 'severity=critical')).toMatch(/^(phone|pager)$/);
    }
  });

  it('name alerts that exist', () => {
    const names = new Set(rules.map(({ name }) => name));
    const text = blocksOf('yaml').flatMap(({ file, code }) => (file === 'docs/notifications.md' ? code : []));
    const named = text.join('\n').match(/\b(?:Bridge|Crosschain)[A-Z]\w+\b(?!\.\*)/g) ?? [];
    expect(named.filter((name) => !names.has(name))).toEqual([]);
  });
});
