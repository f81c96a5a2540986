import { subtract, type Numeral } from '../chain/numeral.js';
import { validOrUndefined } from '../chain/fields.js';
import { wallSeconds, type Instant } from '../clock.js';
import { measuredHubBlockTime } from '../facts/bridge/block-times.js';
import { measuredBlockTime } from '../facts/hub-blocks.js';
import { required } from '../facts/required-fields.js';
import {
  BEHIND_SECONDS,
  CLOCK_BEHIND_SECONDS,
  isNodeBehind,
  latestBlock,
  nodeDelaySeconds,
  upgradeAt,
} from '../queries/node-status.js';
import { documentNames, type DocumentName } from '../document-types.js';
import { durationInWords, list } from '../text/format.js';
import { DAY_SECONDS } from '../units.js';
import { findEntry } from './marks.js';
import { byNewAnswer, defineProblem, type Evidence } from './problem.js';
import { shortName } from './sentence.js';

/*
 * Nodes that stand still, are behind the chain, or have an older state than before: causes of the other problems of a
 * document. And the clock by which the ages of problems are measured.
 */

const hubDocuments = ['module_state', 'rate_limiter_input'] as const;
type HubDocument = (typeof hubDocuments)[number];

const UPGRADE_ACTION =
  'Start the version of the upgrade on this node and on your validators: the hub continues when two thirds of the power run it. If other nodes have a higher height, only this node stands still.';

/** The height of the last document, and the first document with it: a single document proves no standstill. */
interface HeightMark {
  readonly height: string;
  readonly at: Instant;
}

function heightStalled<Alert extends string>(document: HubDocument, name: Alert, what: string) {
  return defineProblem(document, {
    name,
    severity: 'critical',
    afterMinutes: 15,
    description: `Polls succeed, but ${what} stays the same.`,
    action: 'Compare the height with another node: the node or the hub has halted, or a cache serves old responses.',
    mark: {
      isDebounced: true,
      next: ({ height, input }: Evidence<HubDocument>, before: HeightMark | undefined) => {
        const present = String(required(height));
        return { height: present, at: present === before?.height ? before.at : input.at };
      },
    },
    find: ({ height, input, answers }: Evidence<HubDocument>, mark: HeightMark | undefined) => {
      const present = required(height);
      if (mark === undefined || mark.at >= input.at) return undefined;
      const upgrade = upgradeAt(answers, present);
      const progressKey = String(present);
      if (upgrade === undefined) return { progressKey, summary: `${what} does not advance from ${present}` };
      return {
        progressKey,
        summary: `${what} stands at ${present}, where the upgrade ${shortName(upgrade)} is planned`,
        action: UPGRADE_ACTION,
      };
    },
    inhibitsDocument: true,
    // While the hub makes no blocks, its newest block gets old.
    inhibits: [{ problem: 'BridgeNodeBehind', equal: ['document'] }],
  });
}

/** A node that was restored may catch up within the hour. */
const BEHIND_MINUTES = { warning: 10, critical: 60 } as const;

function nodeBehind(document: HubDocument, severity: keyof typeof BEHIND_MINUTES) {
  const isCritical = severity === 'critical';
  return defineProblem(document, {
    name: 'BridgeNodeBehind',
    severity,
    afterMinutes: BEHIND_MINUTES[severity],
    description: `Polls succeed and the height advances, but the newest block of the node is more than ${BEHIND_SECONDS / 60} minutes old.${isCritical ? ' No other node of the document is current.' : ' Meanwhile deadlines are not judged.'}`,
    action: 'Poll another node until this one has caught up; if it does not catch up, check its peers and its load.',
    find: ({ input, answers }: Evidence<HubDocument>) => {
      const seconds = required(nodeDelaySeconds(answers, input));
      if (seconds <= BEHIND_SECONDS) return undefined;
      return {
        // The hour begins with the first old document: its age says nothing about how fast the node catches up.
        ...(!isCritical && { chainStart: wallSeconds(input.at, input) - seconds + BEHIND_SECONDS }),
        summary: `the node of ${document} is behind the chain`,
        details: [`its newest block is ${durationInWords(seconds)} old, and so is all data of the document`],
      };
    },
    inhibitsDocument: true,
  });
}

function clockBehind(document: HubDocument) {
  return defineProblem(document, {
    name: 'BridgeClockBehind',
    severity: 'warning',
    afterMinutes: 0,
    description: `The newest block of the node is more than ${CLOCK_BEHIND_SECONDS} seconds in the future by the clock of the exporter.`,
    action: 'Set the clock of the machine on which the exporter runs, and check its time service.',
    find: (evidence: Evidence<HubDocument>) =>
      byNewAnswer(evidence, latestBlock, () => {
        const aheadSeconds = -required(nodeDelaySeconds(evidence.answers, evidence.input));
        if (aheadSeconds <= CLOCK_BEHIND_SECONDS) return undefined;
        return {
          summary: `the clock of the exporter is behind the newest block of ${document}`,
          details: [`by ${durationInWords(aheadSeconds)}; ages are too short by the same time`],
        };
      }),
  });
}

const externalNodeBehind = defineProblem('external_contract', {
  name: 'BridgeNodeBehind',
  severity: 'warning',
  afterMinutes: BEHIND_MINUTES.warning,
  description: `The newest block of the node of the external chain is more than ${BEHIND_SECONDS / 60} minutes old. Meanwhile the backing of tokens is not judged.`,
  action: 'Use another JSON-RPC endpoint, or check whether the external chain has halted.',
  find: ({ input }) => {
    const age = wallSeconds(input.at, input) - input.blockSeconds;
    if (age <= BEHIND_SECONDS) return undefined;
    return {
      chainStart: input.blockSeconds + BEHIND_SECONDS,
      summary: 'the node of the external chain is behind its chain',
      details: [`its newest block is ${durationInWords(age)} old`],
    };
  },
});

function nodeDown(document: DocumentName) {
  return defineProblem(document, {
    name: 'BridgeNodeDown',
    severity: 'warning',
    afterMinutes: 30,
    description: 'One of several nodes fails its polls or probes, while another node answers.',
    action:
      'Check the node and the connection to it, or remove it from nodes. While it is down, fewer nodes can replace the one in use.',
    find: ({ nodes = [] }) => {
      const down = nodes.flatMap(({ source, trouble }) => (trouble?.isDown === true ? [{ source, ...trouble }] : []));
      if (down.length === 0) return undefined;
      const sources = list(down.map(({ source }) => source));
      return {
        progressKey: sources,
        start: Math.min(...down.map(({ since }) => since)),
        summary: `${down.length === 1 ? `node ${sources} is` : `nodes ${sources} are`} down, and another one serves ${document}`,
        details: [
          down.length === 1 ? '' : `${down.length} of ${nodes.length} nodes`,
          list(down.map(({ message }) => message)),
        ],
      };
    },
  });
}

interface DatedHeight {
  readonly height: number;
  readonly at: Instant;
}

/**
 * The highest values of the last day of numbers that only grow, and the last documents with them; of the contract with
 * this address.
 */
interface HighestMark {
  readonly contract: string;
  readonly values: Readonly<Record<string, { readonly value: Numeral; readonly at: Instant }>>;
  /** The first document with a lower height than the highest. Numbers, so that two marks agree on the earlier one. */
  readonly low?: DatedHeight;
  /** The block time as measured before the height went back. */
  readonly blockTimeMs?: number;
}

/** A node whose height grows this many times faster than the hub makes blocks is catching up. */
const CATCHES_UP_TIMES = 1.5;

function isCatchingUp({ low, blockTimeMs }: HighestMark, height: Numeral, at: Instant): boolean {
  if (low === undefined || blockTimeMs === undefined || at <= low.at) return false;
  return ((Number(height) - low.height) * blockTimeMs) / 1000 > CATCHES_UP_TIMES * (at - low.at);
}

function highestAfter(
  values: Readonly<Record<string, Numeral>>,
  now: number,
  before: HighestMark['values'] | undefined,
): HighestMark['values'] {
  return Object.fromEntries(
    Object.entries(values).map(([kind, value]) => {
      const last = findEntry(before, kind);
      const isLower = last !== undefined && value < last.value;
      return [kind, isLower && now - last.at <= DAY_SECONDS ? last : { value, at: now }];
    }),
  );
}

const KIND_WORDS: Readonly<Record<string, string>> = {
  height: 'the hub height',
  observed_nonce: 'the last observed nonce',
  batch_id: 'the id of the last batch',
};

function rolledBack<Name extends HubDocument>(
  document: Name,
  readValues: (evidence: Evidence<Name>) => Readonly<Record<string, Numeral>>,
  measureBlockTime: (evidence: Evidence<Name>) => number | undefined,
  /** After a migration to another contract, the numbers begin anew. */
  readContract: (evidence: Evidence<Name>) => string = () => '',
) {
  return defineProblem(document, {
    name: 'BridgeStateRolledBack',
    severity: 'critical',
    // Outlasts a node behind a load balancer that is slower than the others.
    afterMinutes: 15,
    description:
      'The hub height, the last observed nonce or the last batch id went back and stayed back, and the node is not catching up.',
    action:
      'Compare height and last observed nonce with other nodes. If the hub was rolled back, compare its nonces with those of the contract: events and batches after that point may be executed twice or lost.',
    mark: {
      isDebounced: true,
      next: (evidence: Evidence<Name>, before: HighestMark | undefined): HighestMark => {
        const contract = readContract(evidence);
        const { at } = evidence.input;
        const known = before?.contract === contract ? before : undefined;
        const present = readValues(evidence);
        const { height } = present;
        const values = highestAfter(present, at, known?.values);
        if (height === undefined) return { ...known, contract, values };
        if (height < (values['height']?.value ?? height))
          return { ...known, contract, values, low: known?.low ?? { height: Number(height), at } };
        const blockTimeMs = measureBlockTime(evidence) ?? known?.blockTimeMs;
        return { contract, values, ...(blockTimeMs !== undefined && { blockTimeMs }) };
      },
    },
    find: (evidence: Evidence<Name>, mark: HighestMark | undefined) => {
      const values = readValues(evidence);
      // A node that catches up has old blocks; after a rollback of the hub, blocks are new.
      if (isNodeBehind(evidence.answers, evidence.input)) return undefined;
      const { height } = values;
      if (mark !== undefined && height !== undefined && isCatchingUp(mark, height, evidence.input.at)) return undefined;
      return Object.entries(values).map(([kind, value]) => {
        const highest = findEntry(mark?.values, kind);
        if (highest === undefined || value >= highest.value) return undefined;
        const details = [`by ${subtract(highest.value, value)}`];
        return { subject: { kind }, summary: `${KIND_WORDS[kind] ?? kind} went back`, details };
      });
    },
  });
}

export const nodeProblems = [
  heightStalled('module_state', 'BridgeHeightStalled', 'the hub height'),
  heightStalled('rate_limiter_input', 'CrosschainHeightStalled', 'the hub height of the cross-chain input'),
  rolledBack(
    'module_state',
    ({ input: { state, height } }) => ({
      ...(height !== undefined && { height }),
      observed_nonce: required(state.last_observed_nonce),
      batch_id: required(state.last_outgoing_batch_id),
    }),
    ({ input }) => measuredHubBlockTime(input),
    ({ input: { state } }) => validOrUndefined(validOrUndefined(state.params)?.bridge_external_address) ?? '',
  ),
  rolledBack(
    'rate_limiter_input',
    ({ input }) => ({ height: required(input.document.height) }),
    ({ input }) => measuredBlockTime(input),
  ),
  ...hubDocuments.map((document) => nodeBehind(document, 'critical')),
  ...hubDocuments.map((document) => nodeBehind(document, 'warning')),
  externalNodeBehind,
  ...documentNames.map(nodeDown),
  ...hubDocuments.map(clockBehind),
];
