import type { ClaimType } from '../chain/claim.js';
import { sum, type Numeral } from '../chain/numeral.js';
import type { Batch } from '../chain/module-state.js';
import type { Cctx } from '../chain/rate-limiter-input.js';
import { isoTime } from '../clock.js';
import { secondsToExternalHeight } from '../facts/bridge/block-times.js';
import type { BridgeInput, WatchedOrchestrator } from '../facts/bridge/bridge-input.js';
import {
  configuredTokens,
  contractLabel,
  totalAmount,
  type CoinItem,
  coinItem,
  hubCoin,
} from '../facts/bridge/tokens.js';
import { chainName } from '../facts/crosschain/chains.js';
import type { CrosschainInput } from '../facts/crosschain/crosschain-input.js';
import { groupBy } from '../facts/grouping.js';
import { inWholeUnits, MAX_ID_CHARACTERS } from '../facts/plain-values.js';
import { orEmpty, orUndefined, required, rows } from '../facts/required-fields.js';
import { count, durationInWords, list, percent, cleanText, splitAddress } from '../text/format.js';
import type { Members } from '../facts/bridge/valsets.js';
import { DAY_SECONDS } from '../units.js';
import type { ClaimItem } from '../facts/bridge/integrity.js';
import { cctxCoin, currentOutbound, distinctCctxs } from '../facts/crosschain/cctxs.js';

/* The sentences of problems and their parts: plain text of one line. Names in it are untrusted, so pages escape it. */

/** The maximum length of a name in sentences and on pages. */
export const MAX_NAME_CHARACTERS = 40;

/** A name or address on one line. */
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
  /** Whether another validator has the same name. */
  readonly hasNamesake: boolean;
}

/** The name of a validator, with its address if the name is not unique; without a name the address. */
function shownValidatorName({ name, address, hasNamesake }: Omit<Validator, 'isWatched'>): string {
  const shownName = quoted(shortName(name));
  if (shownName === '') return shortAddress(address);
  return hasNamesake ? `${shownName} ${shortAddress(address)}` : shownName;
}

/** "your validator Alpha". */
export function yourValidator(validator: Omit<Validator, 'isWatched'>): string {
  return `your validator ${shownValidatorName(validator)}`;
}

export function yours({ orchestrator: address, name, hasNamesake }: WatchedOrchestrator): string {
  return yourValidator({ name, address, hasNamesake });
}

/** Quotes a name with punctuation, so that it can imitate neither `yours` nor another entry of the list. */
function quoted(name: string): string {
  return /^yours$|[^\p{L}\p{M}\p{N} .&'_+|/@#!*-]/iu.test(name) ? `“${name.replaceAll(/[“”"]/g, "'")}”` : name;
}

/** The names of at most five validators, watched ones first. */
export function validators(members: readonly Validator[], total = members.length): string {
  const sorted = members.toSorted((a, b) => Number(b.isWatched) - Number(a.isWatched));
  const names = sorted.map((validator) => shownValidatorName(validator) + (validator.isWatched ? ' (yours)' : ''));
  return list(names, total);
}

/** "batch 8 of USDT". */
export function batchText(input: BridgeInput, { batch_nonce, token_contract }: Batch): string {
  const nonce = orUndefined(() => required(batch_nonce)) ?? 'of unknown nonce';
  return `batch ${nonce} of ${tokenName(input, contractLabel(token_contract))}`;
}

/** From this share of the power on, validators are late for a common cause, if there are several. */
export const MOST_RATIO = 2 / 3;

export function isCommon(validatorCount: number, powerRatio: number | null): boolean {
  return validatorCount >= 3 && powerRatio !== null && powerRatio >= MOST_RATIO;
}

export const COMMON_CAUSE =
  'So many validators at once have a common cause, such as a release, fees of the hub, or nodes of the external chain. Compare with other operators before you restart your own orchestrator.';

/**
 * The texts about members that have not signed or voted. The summary has the names of watched ones, unless most have
 * not.
 */
export function missingTexts(missing: Members | null | undefined, haveNot: string) {
  const members = listMembers(missing);
  const others = members.filter(({ isWatched }) => !isWatched);
  const own = members.filter(({ isWatched }) => isWatched).map((validator) => ({ ...validator, isWatched: false }));
  const ownText = `your ${own.length === 1 ? 'validator' : 'validators'}`;
  const { total, powerRatio } = missing ?? { total: 0, powerRatio: null };
  const who = joinTexts(', ', own.length === 0 ? '' : 'yours', validators(others, total - own.length));
  const isOwnCause = own.length > 0 && !isCommon(total, powerRatio);
  return {
    /** "your validator Alpha has not voted: event 31 is not observed". */
    summary: (summary: string): string =>
      !isOwnCause ? summary : `${ownText} ${validators(own)} ${haveOrHas(own.length)} not ${haveNot}: ${summary}`,
    /**
     * "6 validators with 53 % of the power have not voted: yours, Alpha, Beta and 3 more"; empty when nobody is missing
     * or that is unknown.
     */
    details: (haveNotWhat: string): string =>
      total === 0
        ? ''
        : `${numberAndPower(total, powerRatio)} ${haveOrHas(total)} not ${haveNotWhat}${who === '' ? '' : `: ${who}`}`,
    action: (action: string): string => {
      if (isOwnCause) return `Check the orchestrator of ${ownText} first. ${action}`;
      return own.length > 0 ? COMMON_CAUSE : action;
    },
  };
}

/** "2 validators with 12 % of the power"; without the power if unknown. */
export function numberAndPower(number: number, powerRatio: number | null): string {
  const having = powerRatio === null ? '' : ` with ${percent(powerRatio)} of the power`;
  return count(number, 'validator') + having;
}

export function haveOrHas(number: number): string {
  return number === 1 ? 'has' : 'have';
}

/** "6 validators with 53 % of the power: Alpha, Beta and 4 more"; without the power unless that of each is known. */
export function numberAndNames(found: readonly (Validator & { readonly power: number | undefined })[]): string {
  const powers = found.flatMap(({ power }) => power ?? []);
  const all = powers.length === found.length ? powers.reduce((total, power) => total + power, 0) : null;
  return `${numberAndPower(found.length, all)}: ${validators(found)}`;
}

/** The listed members of a validator set. */
export function listMembers(members: Members | null | undefined): readonly Validator[] {
  return (members?.members ?? []).map(({ name, orchestrator, externalAddress, watched, hasNamesake }) => ({
    name: name ?? '',
    address: orchestrator ?? externalAddress,
    isWatched: watched,
    hasNamesake,
  }));
}

/** "event 31 (batch 8 of USDT)"; only the event of an unreadable claim. */
export function claimText(claim: ClaimItem): string {
  const content = contentText(claim);
  return `event ${claim.eventNonce}${content === '' ? '' : ` (${content})`}`;
}

/** "batch 8 of USDT", "deposit of 5 USDT"; empty for an unreadable claim, or one of an unknown type. */
export function contentText({ type, token, amount, batchNonce, valsetNonce }: ClaimItem): string {
  const name = token === null ? 'an unknown token' : coinName(token);
  const whole = amount?.wholeAmount ?? null;
  const texts: Readonly<Record<ClaimType, string>> = {
    deposit: `deposit of ${whole === null ? '' : `${whole} `}${name}`,
    withdraw: `batch ${batchNonce ?? 'of unknown nonce'} of ${name}`,
    valset: `validator set ${valsetNonce ?? 'of unknown nonce'}`,
    erc20_deployed: `deployment of ${name}`,
  };
  return type === null ? '' : texts[type];
}

type Coin = Pick<CoinItem, 'symbol'> & Partial<Pick<CoinItem, 'contract'>>;
type Amount = Coin & Pick<CoinItem, 'wholeAmount'>;

/** The symbol, else the contract. */
function coinName({ symbol, contract }: Coin): string {
  return shortName(symbol ?? '') || shortAddress(contract ?? '');
}

/** "1.2M USDT": the sum of amounts of a token; none when decimals or an amount are unknown, and for 0. */
export function sumText(coins: readonly Amount[]): readonly string[] {
  const [first] = coins;
  const whole = coins.map(({ wholeAmount }) => wholeAmount);
  const total = whole.reduce((before, amount) => before + Number(amount), 0);
  if (first === undefined || whole.includes(null) || total === 0) return [];
  return [`${compactNumber(total)} ${coinName(first)}`];
}

const COMPACT = { notation: 'compact', maximumSignificantDigits: 3 } as const;

/** "3.09M". A formatter made when this module is loaded would take 20 ms of the start of every command. */
export function compactNumber(value: number): string {
  return value.toLocaleString('en', COMPACT);
}

/** "43.1 INJ": an amount of the coin that pays for transactions on the hub. */
export function hubCoinText(input: BridgeInput, amount: Numeral): string {
  const { symbol = null, decimals } = orUndefined(() => hubCoin(input)) ?? {};
  if (decimals === undefined) return `${amount} smallest units`;
  return `${compactNumber(Number(inWholeUnits(String(amount), decimals)))} ${coinName({ symbol })}`;
}

/** "3.09M usdt, 30 weth in them": the amounts of batches by token; empty without configured decimals. */
export function amountsText(input: BridgeInput, batches: readonly Batch[]): string {
  const amounts = orEmpty(() => {
    const byToken = groupBy(batches, ({ token_contract }) => contractLabel(token_contract));
    return Array.from(byToken).flatMap(([contract, tokenBatches]) =>
      sumText([
        coinItem(input, {
          contract,
          amount: orUndefined(() => sum(tokenBatches.map(({ transactions }) => totalAmount(rows(transactions))))),
        }),
      ]),
    );
  });
  return amounts.length === 0 ? '' : `${list(amounts)} in them`;
}

/** The consequence of tokens without `min_batch_fee`; empty without such tokens. */
export function unknownMinimumsText(tokens: number): string {
  if (tokens === 0) return '';
  return `${count(tokens, 'token has', 'tokens have')} no min_batch_fee: alerts about batches that are not built are at most warnings; so are alerts about unrelayed batches, until ten of them were executed`;
}

/** "1.3 eth, 40 usdc in them": the amounts of cross-chain transactions by coin; empty without known decimals. */
export function cctxAmountsText(input: CrosschainInput, cctxs: readonly Cctx[]): string {
  const byCoin = groupBy(
    cctxs.map((cctx) => cctxCoin(input, cctx)),
    ({ symbol }) => symbol,
  );
  const amounts = Array.from(byCoin.values()).flatMap(sumText);
  return amounts.length === 0 ? '' : `${list(amounts)} in them`;
}

/** A chain by its configured name and id. */
export function chainText(input: Pick<CrosschainInput, 'chains'>, chainId: string): string {
  if (chainId === '') return 'without id';
  const name = chainName(chainId, input);
  return name === '' ? shortName(chainId) : `${shortName(name)} (${shortName(chainId)})`;
}

/** What a summary and the details (in full, to look it up) say about the outbound of a transaction. */
export function outboundTexts(input: CrosschainInput, cctx: Cctx | undefined) {
  const readHash = (other: Cctx): string | undefined => orUndefined(() => required(currentOutbound(other)?.hash));
  // Some nodes list no hashes. Otherwise a hash is empty until an observer posts it.
  const hasHashes = distinctCctxs.pending(input).some((other) => (readHash(other) ?? '') !== '');
  const hash = hasHashes && cctx !== undefined ? readHash(cctx) : undefined;
  const index = cleanText(orUndefined(() => required(cctx?.index)) ?? '', MAX_ID_CHARACTERS);
  return {
    hash: hash === undefined ? '' : ` ${hash === '' ? 'without' : 'with'} an outbound hash`,
    ids: joinTexts(
      ', ',
      index === '' ? '' : `index ${index}`,
      (hash ?? '') === '' ? '' : `outbound hash ${cleanText(hash ?? '', MAX_ID_CHARACTERS)}`,
    ),
  };
}

/** "80 transactions pending on the chain" and "1.3 eth in them". */
export function pendingTexts(input: CrosschainInput, cctxs: readonly Cctx[]): readonly string[] {
  return [`${count(cctxs.length, 'transaction')} pending on the chain`, cctxAmountsText(input, cctxs)];
}

/** A token by its configured symbol, else by its contract. */
export function tokenName(input: BridgeInput, contract: string): string {
  return coinName({ symbol: configuredTokens(input).get(contract)?.symbol ?? null, contract });
}

/** The time until a batch times out, by the estimated external height. */
export function secondsToTimeout(input: BridgeInput, { batch_timeout }: Batch): number | undefined {
  return secondsToExternalHeight(input, () => required(batch_timeout));
}

/** "it times out in about 2 h 5 min"; empty without an estimate, and after the timeout. */
export function timeoutText(input: BridgeInput, batch: Batch | undefined, what = 'it'): string {
  const seconds = batch && secondsToTimeout(input, batch);
  return seconds === undefined || seconds <= 0 ? '' : `${what} times out in ${about(input, seconds)}`;
}

/** "about 2 h 5 min, at 04:12 UTC"; without the time from a day on. */
export function about(input: BridgeInput, seconds: number): string {
  return `about ${durationInWords(seconds)}${seconds < DAY_SECONDS ? `, at ${clockTime(input, seconds)}` : ''}`;
}

/** "04:12 UTC", this many seconds from now. */
export function clockTime({ at, clockOffset }: Pick<BridgeInput, 'at' | 'clockOffset'>, seconds: number): string {
  return `${isoTime(at + clockOffset + seconds).slice(11, 16)} UTC`;
}

/** What the age of a problem is the time of: since it began, over a limit that varies, or since a change. */
export type AgeKind = 'lasting' | 'over' | 'ago';

/** "for 18 min", "for at least 18 min", "over the limit for 18 min", "18 min ago"; empty for a new problem. */
export function ageText(kind: AgeKind, ageSeconds: number, isProven = true): string {
  if (ageSeconds < 1) return '';
  const age = `${isProven ? '' : 'at least '}${durationInWords(ageSeconds)}`;
  if (kind === 'ago') return `${age} ago`;
  return kind === 'lasting' ? `for ${age}` : `over the limit for ${age}`;
}

const MAX_SUMMARY_CHARACTERS = 200;
const MAX_ACTION_CHARACTERS = 240;

/** Summary and action, cut to the size of labels: they are the same on pages and in notifications. */
export function labelTexts(summary: string, action: string) {
  return { summary: cleanText(summary, MAX_SUMMARY_CHARACTERS), action: cleanText(action, MAX_ACTION_CHARACTERS) };
}

/** The texts that are not empty. */
export function joinTexts(separator: ', ' | '; ', ...texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join(separator);
}
