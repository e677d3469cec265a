import { boundedHostLists, type HostLists, mergedHostLists } from './host-lists.ts'

/** Returns the lists that a part of the crawl knows of, each unsorted and of any length; those that it leaves out are empty. */
export type HostListSource = () => Partial<HostLists>

/**
 * What stands out among the hosts of this process, gathered from the parts of the crawl when somebody looks. A part keeps its
 * own notes, so a crawl at which nobody looks gathers nothing.
 */
export class HostListSources {
  readonly #sources: HostListSource[] = []

  /** Adds a part of the crawl. It is asked each time somebody looks; on Redis the heartbeat does so every ten seconds. */
  add(source: HostListSource): void {
    this.#sources.push(source)
  }

  /** Returns the lists as they are now, sorted and within all bounds. */
  now(): HostLists {
    return boundedHostLists(mergedHostLists(this.#sources.map((source) => source())))
  }
}
