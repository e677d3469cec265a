/** One world: a site, Redis servers, a crawl by several workers, faults that strike at their points, and what came of it. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Verdict } from '@webloom/testkit'
import { CommandNames } from '../worker-faults/command-names.ts'
import { MachineWatch } from './world-machine.ts'
import type { Fault, WorldPlan } from './world-plan.ts'
import { type WorkersWay, WorldServers } from './world-servers.ts'
import { type Site, startSite } from './world-site.ts'
import { judged, type Struck, type WorldVerdict } from './world-verdict.ts'
import type { WorkerEnd, WorkerPool, WorldWorker } from './world-workers.ts'

/** To say what it waits for. */
const TELLS_MS = 500
/**
 * A crawl that asks for no page for so long never ends. Time in which the machine lets no command pass does not count: one that
 * has stood still for half a minute says nothing of its crawls.
 */
const STANDS_STILL_MS = 30_000
/** One that asks for pages again and again. */
const WORLD_MS_MAX = 120_000
/** However busy the machine is. */
const STUCK_MS_MAX = 300_000
const LOOK_EVERY_MS = 500
const NAMES = new CommandNames()

/** Is shown every command of every worker, for traces. */
export type OnCommand = (worker: string, name: string, command: readonly string[]) => void

/** A worker in its world. */
interface Living {
  readonly name: string
  readonly spider: string
  readonly worker: WorldWorker
  readonly way: WorkersWay
  readonly end: Promise<void>
  ended: WorkerEnd | undefined
  /** The world ends its process: another fault must not have it come back a second time. */
  isDoomed: boolean
}

export interface WorldResult extends WorldVerdict {
  readonly seed: string
  readonly ms: number
  /** What the workers have said, for whoever has to find out why. */
  readonly logs: string
}

/** Runs it to its end, however it ends. */
export async function runWorld(
  plan: WorldPlan,
  pool: WorkerPool,
  onCommand?: OnCommand,
): Promise<WorldResult> {
  const workers = await pool.take(workersOf(plan))
  const begunMs = performance.now()
  await using servers = await WorldServers.start(plan)
  await using site = await startSite(plan)
  const world = new World(plan, { workers, servers, site, onCommand })
  const result = { seed: plan.seed, ...(await world.run()), ms: Math.round(performance.now() - begunMs) }
  pool.giveBack(workers)
  return result
}

/** With those that come in place of killed ones. */
function workersOf({ workers, isShared, visitedPages, faults }: WorldPlan): number {
  const atOnce = visitedPages > 0 ? workers + 1 : isShared ? 2 * workers : workers
  const more = faults.map(({ kind }) =>
    kind === 'kill' || kind === 'visit' ? 1 : kind === 'restart cluster' ? atOnce : 0,
  )
  return more.reduce((sum, count) => sum + count, atOnce)
}

class World {
  readonly #plan: WorldPlan
  /** Who has not begun yet. */
  readonly #spare: WorldWorker[]
  readonly #servers: WorldServers
  readonly #site: Site
  readonly #counts = new Map<string, number>()
  readonly #struck: Struck[] = []
  readonly #living = new Set<Living>()
  readonly #gone: Living[] = []
  readonly #acts = new Set<Promise<void>>()
  readonly #onCommand: OnCommand | undefined
  #left: Fault[]
  #visiting: Promise<void> = Promise.resolve()
  #workers = 0
  #repliesToLose = 0
  #isOver = false

  constructor(
    plan: WorldPlan,
    parts: {
      workers: readonly WorldWorker[]
      servers: WorldServers
      site: Site
      onCommand: OnCommand | undefined
    },
  ) {
    this.#onCommand = parts.onCommand
    this.#plan = plan
    this.#spare = [...parts.workers]
    this.#servers = parts.servers
    this.#site = parts.site
    this.#left = [...plan.faults]
  }

  async run(): Promise<Omit<WorldResult, 'seed' | 'ms'>> {
    for (const fault of this.#plan.faults)
      if (fault.kind === 'promote replica') await this.#servers.follow(fault.role)
    const { isShared, visitedPages } = this.#plan
    const spiders = isShared && visitedPages === 0 ? ['pages', 'others'] : ['pages']
    const starts = spiders.flatMap((spider) =>
      Array.from({ length: this.#plan.workers }, () => this.#start(spider)),
    )
    const machine = new MachineWatch(this.#servers)
    await Promise.all(starts)
    const isStuck = await this.#end(machine)
    const heldUp = await machine.stop()
    this.#isOver = true
    const all = [...this.#gone, ...this.#living]
    if (isStuck) await this.#killAll()
    const verdict = await judged({
      plan: this.#plan,
      site: this.#site,
      servers: this.#servers,
      struck: this.#struck,
      missed: this.#left,
      isStuck,
      ends: all.map(({ name, ended }) => ({ name, end: ended })),
      stoodStill: all.map(({ name, worker }) => ({ name, spans: [...worker.stoodStill, ...heldUp] })),
    })
    const logs = all.map(({ name, worker }) => `--- ${name}\n${worker.log}`).join('\n')
    return { ...verdict, logs }
  }

  async #killAll(): Promise<void> {
    const left = [...this.#living].filter(({ ended }) => !ended)
    for (const { worker } of left) worker.signal('SIGUSR2')
    // Waits: a worker that hangs tells nothing that could be awaited.
    await sleep(TELLS_MS)
    for (const one of left) {
      one.isDoomed = true
      one.worker.signal('SIGKILL')
    }
    await Promise.all(left.map(({ end }) => end))
  }

  /** Resolves when every worker has ended and every fault that struck is over: with true when that never comes. */
  async #end(machine: MachineWatch): Promise<boolean> {
    const begunMs = performance.now()
    const ranMs = () => performance.now() - begunMs - machine.heldUpMs
    let [hits, movedMs] = [0, 0]
    while (
      ranMs() < Math.min(movedMs + STANDS_STILL_MS, WORLD_MS_MAX) &&
      performance.now() < begunMs + STUCK_MS_MAX
    ) {
      const open = [...this.#acts, ...[...this.#living].filter(({ ended }) => !ended).map(({ end }) => end)]
      if (open.length === 0) return false
      // Waits: a site that stands still tells nothing: it is looked at.
      await Promise.race([...open, sleep(LOOK_EVERY_MS, undefined, { ref: false })])
      const { web, visited } = this.#site
      const hitsNow = web.hits.length + (visited?.hits.length ?? 0)
      if (hitsNow > hits) [hits, movedMs] = [hitsNow, ranMs()]
    }
    return true
  }

  async #start(spider: string, visit?: { readonly flushes: boolean }): Promise<void> {
    const worker = this.#spare.shift()!
    const name = `${spider}-${++this.#workers}`
    const way = await this.#servers.wayOf(spider, (command) => this.#judge(living, command))
    const ending = worker.crawl({
      spider,
      startUrls: (this.#isVisitor(spider) ? this.#site.visited! : this.#site.web).seeds,
      settings: {
        ...this.#settings(name, way),
        // Who visits empties what is its own when it ends, and with the flush when it begins.
        ...(this.#isVisitor(spider) && { SCHEDULER_PERSIST: false }),
        ...(visit?.flushes && { SCHEDULER_FLUSH_ON_START: true }),
      },
      begins: visit !== undefined,
      factor: this.#plan.factor,
    })
    const end = ending.then((ended) => {
      const hasDied = 'killed' in ended
      living.ended =
        hasDied && !living.isDoomed ? { failed: 'its process died, and nobody killed it' } : ended
      if (!hasDied) return
      this.#living.delete(living)
      this.#gone.push(living)
    })
    const living: Living = { name, spider, worker, way, end, ended: undefined, isDoomed: false }
    this.#living.add(living)
  }

  #isVisitor(spider: string): boolean {
    return this.#site.visited !== undefined && spider === 'others'
  }

  /** One visit at a time, and only while there is somebody to visit. */
  #visit(visit: { readonly flushes: boolean }): Promise<void> {
    this.#visiting = this.#visiting.then(async () => {
      if (![...this.#living].some(({ spider, ended }) => spider === 'pages' && !ended)) return
      await this.#start('others', visit)
      while (true) {
        const open = [...this.#living].filter(({ spider, ended }) => spider === 'others' && !ended)
        if (open.length === 0) return
        await Promise.all(open.map(({ end }) => end))
      }
    })
    return this.#visiting
  }

  #settings(name: string, { proxies }: WorkersWay): Record<string, unknown> {
    const { mode, concurrency, delayMs, isShared, hasOwnQueue, servers, factor } = this.#plan
    return {
      ...(servers === 1 && !hasOwnQueue
        ? { REDIS_URL: proxies.queue.url }
        : { QUEUE_REDIS_URL: proxies.queue.url, DUPEFILTER_REDIS_URL: [proxies.filter.url] }),
      QUEUE_MODE: mode,
      CONCURRENT_REQUESTS: concurrency,
      DOWNLOAD_DELAY: delayMs / 1000,
      RANDOMIZE_DOWNLOAD_DELAY: false,
      DUPEFILTER_PENDING_STALE: 10 * factor,
      WORKER_BLOCKED_MAX: 60 * factor,
      REDIS_PARAMS: { socket_timeout: Math.max(0.5, 4 * factor) },
      USER_AGENT: name,
      ROBOTSTXT_OBEY: false,
      PRIVATE_ADDRESSES_ALLOWED: ['127.0.0.0/8', '::1'],
      ...(isShared && { SCHEDULER_DUPEFILTER_KEY: 'shared:dupefilter', SCHEDULER_PERSIST: true }),
    }
  }

  /** Called for each command of each worker, before it reaches Redis. */
  #judge(sender: Living, command: readonly string[]): Verdict {
    const name = NAMES.nameOf(command)
    this.#onCommand?.(sender.name, name, command)
    const count = (this.#counts.get(name) ?? 0) + 1
    this.#counts.set(name, count)
    if (this.#repliesToLose > 0 && isWrite(name)) {
      this.#repliesToLose--
      return 'cut its reply'
    }
    const fault = this.#left.find(({ at }) => at.name === name && at.nth <= count)
    if (!fault || this.#isOver) return 'forward'
    this.#left = this.#left.filter((one) => one !== fault)
    return this.#strike(fault, sender)
  }

  #strike(fault: Fault, sender: Living): Verdict {
    const struck: Struck = {
      fault,
      worker: sender.name,
      fromMs: performance.now(),
      untilMs: Number.POSITIVE_INFINITY,
    }
    this.#struck.push(struck)
    const act = this.#act(fault, sender)
      .catch((error: unknown) => {
        struck.failed = error as Error
      })
      .finally(() => {
        struck.untilMs = performance.now()
        this.#acts.delete(act)
      })
    this.#acts.add(act)
    switch (fault.kind) {
      case 'kill':
        return fault.when === 'before' ? 'cut before it' : 'forward'
      case 'lose replies':
        this.#repliesToLose = fault.times - 1
        return 'cut its reply'
      case 'hold reply':
        return { holdReplyMs: fault.ms }
      case 'cut before':
        return 'cut before it'
      default:
        return 'forward'
    }
  }

  async #act(fault: Fault, sender: Living): Promise<void> {
    switch (fault.kind) {
      case 'kill':
        // It goes down with all others.
        if (sender.isDoomed) return
        await this.#kill(sender)
        // Waits: so long the worker is away.
        await sleep(fault.backInMs)
        return this.#start(sender.spider)
      case 'pause':
        sender.worker.signal('SIGSTOP')
        // Waits: so long the worker stands still.
        await sleep(fault.ms)
        return sender.worker.signal('SIGCONT')
      case 'silence':
        return sender.way.silence(fault.ms)
      case 'hold reply':
        // Waits: so long the reply is held.
        await sleep(fault.ms)
        return
      case 'jump':
        return sender.worker.jump(fault.ms)
      case 'set back':
        return this.#servers.setBack(fault.role, fault.byMs)
      case 'restart redis':
        return this.#servers.restart(fault.role, fault.downMs)
      case 'promote replica':
        return this.#servers.promote(fault.role, fault.lagMs)
      case 'full':
        return this.#servers.fill(fault.role, fault.ms)
      case 'refuse':
        return this.#servers.refuse(fault.role, fault.ms)
      case 'restart cluster':
        return this.#restartCluster(fault.downMs)
      case 'visit':
        return this.#visit(fault)
      default:
        return
    }
  }

  /** What Redis was sent before has been done by then. */
  async #kill(victim: Living): Promise<void> {
    victim.isDoomed = true
    victim.worker.signal('SIGSTOP')
    await Promise.all(this.#servers.current.map((server) => server.command('PING').catch(() => {})))
    victim.worker.signal('SIGKILL')
    await victim.end
    await victim.way.close()
  }

  async #restartCluster(downMs: number): Promise<void> {
    const all = [...this.#living].filter(({ ended, isDoomed }) => !ended && !isDoomed)
    await Promise.all(all.map((one) => this.#kill(one)))
    // Waits: so long the workers are away.
    await sleep(downMs)
    await Promise.all(all.map(({ spider }) => this.#start(spider)))
  }
}

/** Commands whose second coming could do something twice. */
function isWrite(name: string): boolean {
  return /^(buckets|jobs|crawl|members|seeds)\/|^bullmq |^redis\/ask$/.test(name)
}
