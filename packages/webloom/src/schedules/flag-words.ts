/**
 * The flags of a schedule as words: as they are typed, as people may see them, and as a process is given them.
 *
 * What a process is started with is seen by everybody on its machine (`ps`), and what is in its environment only by its user. So settings,
 * arguments and outputs that hold a secret go there, all in one variable, and the others stay among the words.
 */

import { withoutUrlSecrets } from '@webloom/core'
import type { ScheduledFlags } from '@webloom/queue'
import { shownPair } from '../terminal/shown-pair.ts'

const VARIABLE = 'WEBLOOM_SECRET_FLAGS'

/** The flags of a schedule as they are typed. */
export function flagWords({ set, argument, output, overwriteOutput }: ScheduledFlags): string[] {
  const words = (flag: string, values: readonly string[] = []) => values.flatMap((value) => [flag, value])
  return [
    ...words('-s', set),
    ...words('-a', argument),
    ...words('-o', output),
    ...words('-O', overwriteOutput),
  ]
}

/** The same without what is a secret by its name or its form. */
export function shownFlags(flags: ScheduledFlags): ScheduledFlags {
  return eachValue(flags, (values, isPair) => values.map(isPair ? shownPair : withoutUrlSecrets))
}

/** Returns those of `before` whose setting, argument or output is not among `after`, with whatever value. */
export function flagsGone(before: ScheduledFlags, after: ScheduledFlags): ScheduledFlags {
  return eachValue(before, (values, isPair, kind) => {
    const named = (value: string) => (isPair ? nameOf(value) : value)
    const there = new Set((after[kind] ?? []).map(named))
    return values.filter((value) => !there.has(named(value)))
  })
}

/** Returns how a process is started with these flags. */
export function startedWith(flags: ScheduledFlags): {
  readonly words: readonly string[]
  readonly env: Readonly<Record<string, string>>
} {
  const secret = eachValue(flags, (values, isPair) =>
    values.filter(isPair ? isSecretAmong(values) : isSecretOutput),
  )
  const others = eachValue(flags, (values, isPair) => {
    const isSecret = isPair ? isSecretAmong(values) : isSecretOutput
    return values.filter((value) => !isSecret(value))
  })
  const env = Object.keys(secret).length > 0 ? { [VARIABLE]: JSON.stringify(secret) } : {}
  return { words: flagWords(others), env }
}

/** Adds to a process's flags those that its environment holds. Processes that it starts itself do not get them. */
export function withSecretFlags<Flags extends ScheduledFlags>(
  flags: Flags,
  env: Record<string, string | undefined> = process.env,
): Flags {
  const text = env[VARIABLE]
  if (text === undefined) return flags
  delete env[VARIABLE]
  const secret = JSON.parse(text) as ScheduledFlags
  const together = eachValue(secret, (values, _isPair, kind) => [...(flags[kind] ?? []), ...values])
  return { ...flags, ...together }
}

const KINDS = ['set', 'argument', 'output', 'overwriteOutput'] as const
type Kind = (typeof KINDS)[number]

/** Kinds for which nothing is left are left out. */
function eachValue(
  flags: ScheduledFlags,
  change: (values: readonly string[], isPair: boolean, kind: Kind) => readonly string[],
): ScheduledFlags {
  return Object.fromEntries(
    KINDS.flatMap((kind) => {
      const values = change(flags[kind] ?? [], kind === 'set' || kind === 'argument', kind)
      return values.length > 0 ? [[kind, values]] : []
    }),
  )
}

/** Of pairs with one name the last counts: they stay together. */
function isSecretAmong(pairs: readonly string[]): (pair: string) => boolean {
  const secret = new Set(pairs.filter((pair) => shownPair(pair) !== pair).map(nameOf))
  return (pair) => secret.has(nameOf(pair))
}

function isSecretOutput(text: string): boolean {
  return withoutUrlSecrets(text) !== text
}

function nameOf(pair: string): string {
  return pair.slice(0, pair.indexOf('='))
}
