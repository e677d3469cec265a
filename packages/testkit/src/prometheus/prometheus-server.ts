import { writeFileSync } from 'node:fs'
import { startProcess } from '../processes/run-process.ts'
import { tempDir } from '../processes/temp-dir.ts'
import { freePort } from '../redis/redis-port.ts'
import { ensurePrometheus } from './prometheus-install.ts'

/** A Prometheus that scrapes, on loopback; `await using` ends it. */
export interface PrometheusServer extends AsyncDisposable {
  readonly url: string
  /** Answers of its HTTP API: `query`, `targets`, `rules`. Throws when it refuses one. */
  ask(path: string, parameters?: Readonly<Record<string, string>>): Promise<unknown>
}

/** Its configuration, as YAML or JSON. */
export async function startPrometheus(config: string): Promise<PrometheusServer> {
  const { prometheus } = await ensurePrometheus()
  const folder = await tempDir()
  const port = await freePort()
  const file = folder.join('prometheus.yml')
  writeFileSync(file, config)
  const server = startProcess(
    prometheus,
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${folder.join('tsdb')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=warn',
    ],
    { timeoutMs: LIFE_MS_MAX },
  )
  const url = `http://127.0.0.1:${port}`
  const end = async () => {
    server.kill('SIGKILL')
    await server.exited.catch(() => {})
    await folder.remove()
  }
  if (!(await answers(`${url}/-/ready`))) {
    await end()
    throw new Error(`prometheus did not start:\n${server.stderr}`)
  }
  return {
    url,
    async ask(path, parameters = {}) {
      const answer = await fetch(`${url}/api/v1/${path}?${new URLSearchParams(parameters)}`)
      const { status, data, error } = (await answer.json()) as Record<string, unknown>
      if (status !== 'success') throw new Error(`${path} ${JSON.stringify(parameters)}: ${error}`)
      return data
    },
    [Symbol.asyncDispose]: end,
  }
}

const LIFE_MS_MAX = 300_000
const START_MS_MAX = 30_000
const ASK_EVERY_MS = 100

async function answers(url: string): Promise<boolean> {
  const until = performance.now() + START_MS_MAX
  while (performance.now() < until) {
    const answer = await fetch(url).catch(() => undefined)
    if (answer?.ok) return true
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS))
  }
  return false
}
