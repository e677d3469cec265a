import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Settings } from '@webloom/core'

/** Tells this process from all others of a crawl. */
export function newWorkerId(): string {
  return `${hostname()}:${process.pid}:${randomBytes(4).toString('hex')}`
}

/** Returns the fields by which each log line says whose it is: lines of many workers and crawls come together in one place. */
export function lineFields(spider: string, settings: Settings, worker: string): Record<string, string> {
  return { spider, crawl: settings.get('CRAWL_ID') ?? spider, worker }
}
