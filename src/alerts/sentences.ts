import type { ClaimType } from '../chain/claim.js';
import type {
  BatchItem,
  BlockSpan,
  BridgeItems,
  ClaimItem,
  CoinItem,
  CrosschainItems,
  ItemList,
  Member,
  Members,
  Signatures,
} from '../facts/items/items.js';
import { groupBy } from '../facts/grouping.js';
import { count, duration, list, percent } from '../text/format.js';
import { cleanText, splitAddress } from '../text/untrusted-text.js';
import type { Samples } from './samples.js';
import type { AlertLabels, PollView } from './view.js';

/*
 * The sentences of verdicts, their parts, and the items that they name. They are plain text of one line; other people choose the names in
 * them, so pages escape them.
 */

const MAX_NAME_CHARACTERS = 40;

/** A name or address of the chain in one line. */
export function shortName(text: string): string {
  return cleanText(text, MAX_NAME_CHARACTERS);
}

/** An address without its middle. */
export function shortAddress(address: string): string {
  const [head, middle, tail] = splitAddress(address);
  return shortName(Array.from(middle).length > 1 ? `${head}…${tail}` : address);
}

export interface Validator {
  readonly name: string;
  readonly address: string;
  readonly isWatched: boolean;
}

/** The name of a validator, else its address. */
export function validatorName({ name, address, isWatched }: Validator): string {
  return (quoted(shortName(name)) || shortAddress(address)) + (isWatched ? ' (yours)' : '');
}

/** Quotes a name with punctuation, so that it can imitate neither `(yours)` nor another entry of the list. */
function quoted(name: string): string {
  return /[^\p{L}\p{M}\p{N} .&'_+|/@#!*-]/u.test(name) ? `“${name.replaceAll(/[“”"]/g, "'")}”` : name;
}

/** At most five validators, the watched ones first. Anyone can choose any name, so equal names are followed by the address. */
export function validators(members: readonly Validator[], total = members.length): string {
  const watchedFirst = members.toSorted((a, b) => Number(b.isWatched) - Number(a.isWatched));
  const names = watchedFirst.map(validatorName);
  const distinct = names.map((name, index) => {
    const address = watchedFirst[index]?.address ?? '';
    return names.indexOf(name) === names.lastIndexOf(name) ? name : `${name} ${shortAddress(address)}`;
  });
  return list(distinct, total);
}

/** "6 validators with 53 % of the power have not voted: Alpha, Beta and 4 more"; empty when nobody is known to be missing. */
export function missingValidators(missing: Members | null, haveNot: string): string {
  if (missing === null || missing.total === 0) return '';
  const { total, powerRatio } = missing;
  const who = validators(membersOf(missing), total);
  return `${numberAndPower(total, powerRatio)} ${haveOrHas(total)} not ${haveNot}${who === '' ? '' : `: ${who}`}`;
}

/** "2 validators with 12 % of the power"; without the power if it is unknown. */
export function numberAndPower(number: number, powerRatio: number | null): string {
  const having = powerRatio === null ? '' : ` with ${percent(powerRatio)} of the power`;
  return count(number, 'validator') + having;
}

export function haveOrHas(number: number): string {
  return number === 1 ? 'has' : 'have';
}

/** An action with your own validators first, if any of these is. */
export function ownFirst(members: readonly Validator[], action: string): string {
  const own = members.filter(({ isWatched }) => isWatched).map((validator) => ({ ...validator, isWatched: false }));
  if (own.length === 0) return action;
  return `Check the orchestrator of your ${own.length === 1 ? 'validator' : 'validators'} ${validators(own)} first. ${action}`;
}

/** The listed members of a validator set. */
export function membersOf(members: Members | null | undefined): readonly Validator[] {
  return (members?.members ?? []).map(validatorOf);
}

function validatorOf({ name, orchestrator, externalAddress, watched }: Member): Validator {
  return { name: name ?? '', address: orchestrator ?? externalAddress, isWatched: watched };
}

/** "event 31 (batch 8 of USDT)"; only the event of a claim that cannot be read. */
export function claimText({ eventNonce, type, token, amount, batchNonce, valsetNonce }: ClaimItem): string {
  const name =
    token === null ? 'an unknown token' : shortName(token.symbol ?? '') || shortAddress(token.contract ?? '');
  const whole = amount?.wholeAmount ?? null;
  const texts: Readonly<Record<ClaimType, string>> = {
    deposit: `deposit of ${whole === null ? '' : `${whole} `}${name}`,
    withdraw: `batch ${batchNonce ?? 'of unknown nonce'} of ${name}`,
    valset: `validator set ${valsetNonce ?? 'of unknown nonce'}`,
    erc20_deployed: `deployment of ${name}`,
  };
  return `event ${eventNonce}${type === null ? '' : ` (${texts[type]})`}`;
}

/** A token by its configured symbol, else by its contract. */
export function tokenName(samples: Samples<'bridge_token_info'>, contract: string): string {
  const info = samples.series('bridge_token_info').find(({ labels }) => labels['token_contract'] === contract);
  return shortName(info?.labels['symbol'] ?? '') || shortAddress(contract);
}

/** "1.2M USDT, 30 WETH": the amounts with known decimals that wait in batches, or in no batch; empty without one. */
export function waitingAmounts(
  items: Pick<BridgeItems, 'tokens'> | undefined,
  where: readonly ('batched' | 'unbatched' | 'relayable')[],
  contract?: string,
): string {
  const amounts = listedRows(items?.tokens)
    .filter(({ token }) => contract === undefined || token.contract === contract)
    .flatMap((waiting) => sumText(where.flatMap((place) => waiting[place] ?? [])));
  return list(amounts);
}

/** "1.2M USDT": the sum of amounts of one token; nothing without decimals, or when an amount is unknown or all are 0. */
function sumText(coins: readonly CoinItem[]): readonly string[] {
  const [first] = coins;
  const whole = coins.map(({ wholeAmount }) => wholeAmount);
  const sum = whole.reduce((total, amount) => total + Number(amount), 0);
  if (first === undefined || whole.includes(null) || sum === 0) return [];
  return [`${COMPACT.format(sum)} ${shortName(first.symbol ?? '') || shortAddress(first.contract ?? '')}`];
}

const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });

/** A chain by its configured name and id. */
export function chainName(name: string, id: string): string {
  if (id === '') return 'without id';
  return name === '' ? shortName(id) : `${shortName(name)} (${shortName(id)})`;
}

/** What a verdict says in one line, without the target. */
export interface Sentence {
  /** What is wrong, and for how long: the heading of a page. */
  readonly fact: string;
  /** Between fact and details: a colon before a list of what the fact is about. */
  readonly separator: '; ' | ': ';
  /** What the heading has no room for: who, how much, until when. Empty if the fact says it all. */
  readonly details: string;
}

export function sentenceText({ fact, separator, details }: Sentence): string {
  return details === '' ? fact : `${fact}${separator}${details}`;
}

/** A fact, and what else is known. */
export function withDetails(fact: string, ...details: readonly string[]): Sentence {
  return { fact, separator: '; ', details: parts(...details) };
}

/** A fact, the list of what it is about, and what else is known. */
export function withList(fact: string, listed: string, ...details: readonly string[]): Sentence {
  return { fact, separator: ': ', details: parts(listed, ...details) };
}

/** Details; empty ones are left out. */
export function parts(...all: readonly string[]): string {
  return all.filter((part) => part !== '').join('; ');
}

/** "5 external blocks (about 60 s)". */
export function blocksFor(blocks: number, blockTime: number | undefined, kind: string): string {
  const time = blockTime === undefined ? '' : ` (about ${duration(blocks * blockTime)})`;
  return `${count(blocks, `${kind} block`)}${time}`;
}

/** The items of the module state. */
export function bridgeItemsOf({ items }: Pick<PollView, 'items'>): BridgeItems | undefined {
  return items?.document === 'module_state' ? items : undefined;
}

/** The items of the rate limiter input. */
export function crosschainItemsOf({ items }: Pick<PollView, 'items'>): CrosschainItems | undefined {
  return items?.document === 'rate_limiter_input' ? items : undefined;
}

/** An ISO 8601 time of the items in Unix seconds. */
export function unixSecondsOf(time: string | null | undefined): number | undefined {
  return time === null || time === undefined ? undefined : Date.parse(time) / 1000;
}

/** Signatures and votes take a minute or two. */
const USUAL_SECONDS = 300;

/** Whether something has waited longer for signatures or votes than usual. An item of unknown age may have. */
export function isLate(age: BlockSpan | null): boolean {
  return (age?.seconds ?? USUAL_SECONDS) >= USUAL_SECONDS;
}

/** None when the list could not be read. */
export function listedRows<Row>(items: ItemList<Row> | undefined): readonly Row[] {
  return items?.readable === true ? items.rows : [];
}

/** The oldest listed batch, or validator set, without sufficient signatures. */
export function belowThreshold<Row extends Signatures>(items: ItemList<Row> | undefined): Row | undefined {
  return listedRows(items).find((row) => row.belowThreshold === true);
}

/** "about 11 h 23 min"; empty without an estimate, and when the deadline has passed. */
export function timeLeft(left: BlockSpan | null | undefined, describe: (time: string) => string): string {
  const seconds = left?.seconds ?? 0;
  if (seconds <= 0) return '';
  return describe(`about ${duration(seconds)}`);
}

/** Identifies a member of the newest validator set by the labels of its series. */
export function orchestratorKey(labels: AlertLabels): string {
  return JSON.stringify([labels['orchestrator'], labels['external_address']]);
}

/** "3.09M usdt, 30 weth in them": what is in some batches, by token, the most worth first. */
export function amountsIn(items: BridgeItems | undefined, isSelected: (batch: BatchItem) => boolean): string {
  const batches = groupBy(listedRows(items?.batches).filter(isSelected), ({ token }) => token.contract);
  const byWorth = listedRows(items?.tokens).map(({ token }) => batches.get(token.contract) ?? []);
  const amounts = byWorth.flatMap((ofToken) => sumText(ofToken.map(({ amount }) => amount)));
  return amounts.length === 0 ? '' : `${list(amounts)} in them`;
}
