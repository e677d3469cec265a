/** `/healthz` and `/readyz`: what starts and stops processes asks whether one lives, and whether it does its work. */

import { Hono } from 'hono'

/** Whether it is so, and why not. */
export interface Verdict {
  readonly ok: boolean
  readonly why?: string
}

export interface Health {
  /** False: only another process in the place of this one would help. */
  alive(): Verdict
  ready(): Verdict | Promise<Verdict>
}

/** A Hono app that answers 200 and `{"ok":true}`, or 503 and `{"ok":false,"why":"…"}`. */
export function healthRoutes(health: Health): Hono {
  const app = new Hono()
  const answers = { '/healthz': () => health.alive(), '/readyz': () => health.ready() }
  for (const [path, verdict] of Object.entries(answers))
    app.get(path, async (c) => {
      const { ok, why } = await verdict()
      return c.json(ok ? { ok } : { ok, why }, ok ? 200 : 503, { 'Cache-Control': 'no-store' })
    })
  return app
}
