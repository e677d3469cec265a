/** How fast hosts may be asked, as the settings have it. */

import { didYouMean, type HostPace, type Settings, SettingsError, slotNamed } from '@webloom/core'

/** Returns the pace of each slot. */
export function paceOf(settings: Settings): (slot: string) => HostPace {
  const [pace, slots] = [paceFrom(settings), slotPaces(settings)]
  return (slot) => ({ ...pace, ...slots[slot] })
}

/** Returns the pace of all hosts but those that DOWNLOAD_SLOTS names. */
export function paceFrom(settings: Settings): HostPace {
  return {
    delayMs: settings.getMs('DOWNLOAD_DELAY'),
    concurrency: settings.getInt('CONCURRENT_REQUESTS_PER_DOMAIN'),
    randomize: settings.getBool('RANDOMIZE_DOWNLOAD_DELAY'),
    jitter: settings.getFloat('DOWNLOAD_DELAY_JITTER'),
  }
}

/** Returns how many requests of a slot may be in flight at once: with a delay one; infinity where nothing bounds them. */
export function mostAtOnce({ delayMs, concurrency }: HostPace): number {
  if (delayMs > 0) return 1
  return concurrency > 0 ? concurrency : Number.POSITIVE_INFINITY
}

const JITTER = 0.5

/** Returns the delay, made longer or shorter by `chance`, a random number from 0 to 1. */
export function drawnDelayMs({ delayMs, randomize, jitter = JITTER }: HostPace, chance: number): number {
  return randomize ? delayMs * (1 + jitter * (2 * chance - 1)) : delayMs
}

/**
 * Returns how long so many requests of a slot take at least, milliseconds: the first may start now. Drawn delays are added up as chance
 * has them in all but one of a thousand cases, three standard deviations below their mean.
 *
 * @param learnedMs the delay that robots.txt or the host's answers ask for, which an order overrides
 */
export function leastTimeMs(pace: HostPace, starts: number, learnedMs = 0): number {
  const delays = Math.max(0, starts - 1)
  const { delayMs, randomize, jitter = JITTER, isOrdered } = pace
  const spread = randomize ? Math.min(jitter * delays, jitter * Math.sqrt(3 * delays)) : 0
  return Math.round(Math.max(delayMs * (delays - spread), isOrdered ? 0 : learnedMs * delays))
}

/** What an entry of DOWNLOAD_SLOTS may have. */
const SLOT_OPTIONS: Record<
  string,
  { readonly expected: string; readonly isValid: (value: unknown) => boolean }
> = {
  delay: {
    expected: 'seconds, a number from 0 on',
    isValid: (value) => typeof value === 'number' && value >= 0,
  },
  concurrency: {
    expected: 'a whole number from 0 on (0: no bound)',
    isValid: (value) => Number.isInteger(value) && (value as number) >= 0,
  },
  jitter: {
    expected: 'a number from 0 to 1',
    isValid: (value) => typeof value === 'number' && value >= 0 && value <= 1,
  },
  randomize_delay: { expected: 'true or false', isValid: (value) => typeof value === 'boolean' },
}

/**
 * DOWNLOAD_SLOTS as Scrapy has it: `{slot: {delay: seconds, concurrency, jitter, randomize_delay}}`. Slots are named by the host alone. What is named by
 * its port or a URL may be a `meta.download_slot`, or that host, as whoever wrote it believed: of the host it holds where it makes it slower.
 */
export function slotPaces(settings: Settings): Record<string, Partial<HostPace>> {
  // Without a prototype: a slot may have the name of what objects inherit.
  const paces: Record<string, Partial<HostPace>> = Object.create(null)
  const owned = new Set<string>()
  const entries = Object.entries(settings.getDict('DOWNLOAD_SLOTS'))
  const { place } = settings.explain('DOWNLOAD_SLOTS').layers.at(-1)!
  const problems = entries.flatMap(([slot, given]) => slotProblems(slot, given, place))
  if (problems.length > 0) throw new SettingsError(problems)
  for (const [slot, given] of entries) {
    const { delay, concurrency, jitter, randomize_delay: randomize } = given as Record<string, unknown>
    owned.add(slot)
    paces[slot] = {
      ...(typeof delay === 'number' && { delayMs: delay * 1000 }),
      ...(typeof concurrency === 'number' && { concurrency }),
      ...(typeof randomize === 'boolean' && { randomize }),
      ...(typeof jitter === 'number' && { randomize: jitter > 0, jitter }),
    }
  }
  const usual = paceFrom(settings)
  for (const [name, pace] of Object.entries(paces)) {
    const host = slotNamed(name)
    if (host !== undefined && host !== name && !owned.has(host))
      paces[host] = slower(paces[host] ?? {}, pace, usual)
  }
  return paces
}

function slotProblems(slot: string, given: unknown, place: string): string[] {
  const name = `DOWNLOAD_SLOTS[${JSON.stringify(slot)}]`
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return [
      `${name} is ${JSON.stringify(given)} (from ${place}); expected an object, such as {"delay": 2, "concurrency": 1}`,
    ]
  const known = Object.keys(SLOT_OPTIONS)
  return Object.entries(given).flatMap(([key, value]) => {
    const option = Object.hasOwn(SLOT_OPTIONS, key) ? SLOT_OPTIONS[key] : undefined
    if (!option)
      return `${name} has ${key} (from ${place}); known are ${known.join(', ')}.${didYouMean(key, known)}`
    return option.isValid(value)
      ? []
      : `${name}.${key} is ${JSON.stringify(value)} (from ${place}); expected ${option.expected}`
  })
}

/** Returns what of two paces of one host is slower than the usual one: the longer delay, as it varies, and the lesser concurrency. */
function slower(one: Partial<HostPace>, other: Partial<HostPace>, usual: HostPace): Partial<HostPace> {
  const { concurrency: _, ...delay } = (other.delayMs ?? 0) > (one.delayMs ?? usual.delayMs) ? other : one
  const most = [one, other, usual].flatMap(({ concurrency }) => concurrency || [])
  return {
    ...(delay.delayMs !== undefined && delay),
    ...(most.length > 0 && { concurrency: Math.min(...most) }),
  }
}
