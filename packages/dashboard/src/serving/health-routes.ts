/** `/healthz` and `/readyz`: what starts and stops processes asks whether one lives, and whether it does its work. */

import type { Health } from '@webloom/core'
import { Hono } from 'hono'

/** A Hono app that answers 200 and `{"ok":true}`, or 503 and `{"ok":false,"why":"…"}`. */
export function healthRoutes(health: Health): Hono {
  const app = new Hono()
  const answers = { '/healthz': () => health.alive(), '/readyz': () => health.ready() }
  for (const [path, answer] of Object.entries(answers))
    app.get(path, async (c) => {
      const { ok, why } = await answer()
      return c.json(ok ? { ok } : { ok, why }, ok ? 200 : 503, { 'Cache-Control': 'no-store' })
    })
  return app
}
