import { findInPath } from '../processes/find-in-path.ts'
import { runProcess } from '../processes/run-process.ts'

/** What runs a Redis on this machine: its own `redis-server`, or a container engine that has an image of it. */
export type RedisProgram =
  | { readonly kind: 'binary'; readonly path: string }
  | { readonly kind: 'container'; readonly engine: string; readonly image: string }

/** Resolves to what is here already; nothing is installed or pulled. */
export async function findRedis(): Promise<RedisProgram | undefined> {
  const path = findInPath('redis-server')
  if (path !== undefined) return { kind: 'binary', path }
  for (const engine of enginesInPath()) {
    for (const image of REDIS_IMAGES) {
      if ((await engineSays(engine, 'image', 'inspect', image)).code === 0)
        return { kind: 'container', engine, image }
    }
  }
  return undefined
}

/** In the order in which they are tried. */
export const REDIS_IMAGES = ['redis:8-alpine', 'redis:7'] as const

/** The container engines there are commands for; whether they answer is another question. */
export function enginesInPath(): string[] {
  return ['docker', 'podman'].filter((engine) => findInPath(engine) !== undefined)
}

/** Runs a command of the engine to its end. */
export function engineSays(engine: string, ...args: string[]) {
  return runProcess(engine, args, { timeoutMs: ENGINE_TIMEOUT_MS })
}

/** As long as pulling an image over a slow line takes. */
const ENGINE_TIMEOUT_MS = 300_000
