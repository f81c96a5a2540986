import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { createModel } from '../../src/simulator/model.js';
import { createTempFolder } from '../support/temp-folder.js';
import { startTestSimulator } from '../support/test-simulator.js';
import { describeIf, hasTool } from '../support/tools.js';
import { pages } from './pages.js';

/* The commands of the runbook that read a node, at simulated nodes during an incident. */

/** The commands of a block: a command goes on after a pipe, a backslash, or within quotes. */
function splitCommands(code: string): readonly string[] {
  const commands: string[] = [];
  let open = '';
  for (const line of code.split('\n')) {
    open = open === '' ? line : `${open}\n${line}`;
    const isOpen = /(?:[|\\]|; do)\s*$/.test(line) || (open.match(/'/g) ?? []).length % 2 === 1;
    if (isOpen || (open.startsWith('for ') && !/done\s*$/.test(line))) continue;
    commands.push(open);
    open = '';
  }
  return commands;
}

const commands = pages
  .filter(({ file }) => file === 'docs/runbook.md')
  .flatMap(({ blocks }) =>
    blocks.filter(({ language }) => language === 'sh').flatMap(({ code }) => splitCommands(code)),
  )
  .filter((command) => /curl[^#]*\$(?:REST|API)\b/.test(command));

const inShell = promisify(execFile);

describeIf(hasTool('curl') && hasTool('jq'), 'the commands of the runbook', async () => {
  const options = { seed: 3, startTime: 1_790_000_000, blockTimeMs: 2000 };
  const bridge = createModel({ ...options, scenario: 'unsigned-batch' });
  const crosschain = createModel({ ...options, scenario: 'stuck-chain' });
  for (const model of [bridge, crosschain]) model.advanceTime(30 * 60_000);
  const peggy = await startTestSimulator({ model: bridge, dialect: 'peggy' });
  const zeta = await startTestSimulator({ model: crosschain, dialect: 'zeta' });
  const { batches, orchestrator_addresses: registrations } = bridge.moduleState().state;
  const withHash = crosschain
    .rateLimiterInput({})
    .cctxs_pending.find(({ outbound_params }) => outbound_params.at(-1)?.hash !== '');
  const outbound = withHash?.outbound_params.at(-1);
  const variables = {
    REST: peggy.url,
    API: zeta.url,
    BATCH: batches[0]?.batch_nonce,
    TOKEN: batches[0]?.token_contract,
    // Of a validator that has left.
    ORCH: registrations.find(({ orchestrator }) => bridge.bridge.orchestrator(orchestrator) === undefined)
      ?.orchestrator,
    VALOPER: bridge.bridge.validators[0]?.operator,
    CHAIN: outbound?.receiver_chainId,
    NONCE: outbound?.tss_nonce,
    INDEX: withHash?.index,
  };
  const folder = createTempFolder();

  it('are found, with values for their variables', () => {
    expect(commands.length).toBeGreaterThan(30);
    expect(Object.entries(variables).filter(([, value]) => (value ?? '') === '')).toEqual([]);
  });

  it.each(commands)('are answered by a simulated node: %s', async (command) => {
    const script = `set -o pipefail\ncurl() { command curl --fail-with-body "$@"; }\n${command}`;
    const { stdout } = await inShell('bash', ['-c', script], {
      cwd: folder.path,
      env: { ...process.env, ...variables },
    });
    expect(stdout).not.toMatch(/^null$/m);
  });
});
