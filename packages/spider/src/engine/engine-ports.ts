import type {
  DownloadOptions,
  DownloadResult,
  GivenUp,
  HostNews,
  InFlight,
  Lease,
  Request,
  RetryWhen,
} from '@webloom/core'

/** The part of `@webloom/scheduler` that the engine calls. */
export interface EngineScheduler {
  open(signal?: AbortSignal): Promise<void>
  close(): Promise<void>
  enqueueStart(request: Request, asker: string): Promise<number>
  /** Queues elements of start(). The first one has the number `from`; undefined stands for an element that is not a request. */
  enqueueStarts(elements: readonly (Request | undefined)[], from: number): Promise<number>
  /** Called once, before `next`, with what is settled when the first requests of start() are queued, or there are none here. */
  dueAfter?(firstStarts: Promise<void>): void
  enqueue(requests: readonly Request[], asker: string): Promise<number>
  next(max: number, signal?: AbortSignal): Promise<Lease[]>
  commit(
    lease: Lease,
    requests: readonly Request[],
    options?: { marksAll?: boolean; host?: HostNews; failure?: GivenUp },
  ): Promise<void>
  retry(lease: Lease, request: Request, when: RetryWhen, host?: HostNews): Promise<void>
  requeue(lease: Lease): Promise<void>
  /** Makes the filter forget the committed page of `lease`, so that it is new again. */
  forget(lease: Lease): Promise<void>
  reject(lease: Lease, reason: string): Promise<unknown>
  /** Resolves to true when fewer than `mark` requests wait, and their store can take more. */
  hasRoom(mark: number): Promise<boolean>
  /** Resolves to the requests that the queue counts as in flight for this worker. */
  inFlight(): Promise<readonly InFlight[]>
  /** Resolves to true when no request is waiting, delayed or leased. */
  isEmpty(signal: AbortSignal): Promise<boolean>
}

/** The part of `@webloom/downloader` that the engine calls. */
export interface EngineDownloader {
  fetch(request: Request, options: DownloadOptions): Promise<DownloadResult>
  close(): Promise<void>
}
