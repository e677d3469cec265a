/** Opens the servers of a project's crawls one by one: where the crawls are on several, those that are there are served. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '@webloom/core'
import type { SchedulePlace } from './schedule-places.ts'

/** A server that is away is tried again after so long; each try takes up to REDIS_START_TIMEOUT. */
const AGAIN_MS = 2000

export interface OpenPlacesOptions {
  /** Called with each place whose servers take writes. */
  readonly opened: (place: SchedulePlace) => Promise<void>
  /** Nothing is tried again afterwards. */
  readonly signal: AbortSignal
  readonly logger: Logger
}

/**
 * Resolves when one place is open; the others are opened meanwhile. One that is away is told, and tried again until it is there. Rejects
 * when none can be opened, with what is wrong with the first.
 */
export async function openPlaces(
  places: readonly SchedulePlace[],
  options: OpenPlacesOptions,
): Promise<void> {
  const tries = places.map((place) => openPlace(place, options))
  try {
    await Promise.any(tries)
  } catch (error) {
    throw (error as AggregateError).errors[0]
  }
  for (const [n, opening] of tries.entries())
    opening.catch((error: Error) => openLater(places[n]!, error, options))
}

async function openPlace(place: SchedulePlace, { opened }: OpenPlacesOptions): Promise<void> {
  await place.servers.open({ forWriting: true })
  await opened(place)
}

async function openLater(away: SchedulePlace, { message }: Error, options: OpenPlacesOptions): Promise<void> {
  const { signal, logger } = options
  const names = away.spiders.map(({ name }) => name).join(', ')
  logger.warn(`not served now: ${names}. ${message} It is tried again until it is there`)
  while (!signal.aborted) {
    await sleep(AGAIN_MS, undefined, { signal }).catch(() => {})
    if (signal.aborted) return
    const place = away.anew()
    const close = () => place.servers.close()
    signal.addEventListener('abort', close, { once: true })
    try {
      await openPlace(place, options)
      logger.info(`${place.shown} is there: serves ${names}, too`)
      return
    } catch (err) {
      close()
      logger.debug({ err }, `${place.shown} is still away`)
    } finally {
      signal.removeEventListener('abort', close)
    }
  }
}
