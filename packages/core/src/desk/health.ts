/** How a process is, for whatever starts and stops processes: what `/healthz` and `/readyz` answer. */

/** Whether it is so, and why not. */
export interface HealthAnswer {
  readonly ok: boolean
  readonly why?: string
}

export interface Health {
  /** False: nothing changes by itself, and only another process in the place of this one would help. */
  alive(): HealthAnswer
  /** Whether it does its work now. */
  ready(): HealthAnswer | Promise<HealthAnswer>
}
