import type {
  DownloadOptions,
  DownloadResult,
  HostNews,
  InFlight,
  Lease,
  Request,
  RetryWhen,
} from '@webloom/core'

/** What the engine needs of `@webloom/scheduler`. */
export interface EngineScheduler {
  open(signal?: AbortSignal): Promise<void>
  close(): Promise<void>
  enqueueStart(request: Request, asker: string): Promise<number>
  /** Elements of start(), the first of which has the number `from`; undefined for one that is no request. */
  enqueueStarts(elements: readonly (Request | undefined)[], from: number): Promise<number>
  enqueue(requests: readonly Request[], asker: string): Promise<number>
  next(max: number, signal?: AbortSignal): Promise<Lease[]>
  commit(
    lease: Lease,
    requests: readonly Request[],
    options?: { marksAll?: boolean; host?: HostNews },
  ): Promise<void>
  retry(lease: Lease, request: Request, when: RetryWhen, host?: HostNews): Promise<void>
  requeue(lease: Lease): Promise<void>
  /** The committed page of `lease` can be met again. */
  forget(lease: Lease): Promise<void>
  reject(lease: Lease, reason: string): Promise<void>
  /** Fewer than `mark` requests wait, and what keeps them can take more. */
  hasRoom(mark: number): Promise<boolean>
  /** What the queue has in flight in this worker's name. */
  inFlight(): Promise<readonly InFlight[]>
  /** Nothing is waiting, delayed or leased. */
  isEmpty(signal: AbortSignal): Promise<boolean>
}

/** What the engine needs of `@webloom/downloader`. */
export interface EngineDownloader {
  fetch(request: Request, options: DownloadOptions): Promise<DownloadResult>
  close(): Promise<void>
}
