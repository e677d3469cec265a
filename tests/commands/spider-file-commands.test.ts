/** From one process to many with a spider's file alone, as the README has it. */

import { readFileSync, writeFileSync } from 'node:fs'
import { startFakeWeb, startRedis, tempDir } from '@webloom/testkit'
import { afterAll, expect, test } from 'vitest'
import { SHORT_TIMES } from '../cluster/cluster-crawl.ts'
import { CommandLine } from '../projects/command-line.ts'
import { projectFolder } from '../projects/project-folder.ts'

const line = new CommandLine()
afterAll(() => line[Symbol.asyncDispose]())

test('seed, worker, status and clear take the file of a spider', async () => {
  const redis = await startRedis()
  await using web = await startFakeWeb({ seed: 1, pagesPerHost: 5 })
  await using folder = await projectFolder()
  writeFileSync(
    folder.join('pages.ts'),
    `import { RedisSpider, type Response } from 'webloom'
export default class Pages extends RedisSpider {
  name = 'pages'
  maxIdleTime = 1
  async *parse(response: Response) {
    yield { url: response.url }
    yield* response.followAll()
  }
}
`,
  )
  const here = async (command: string, ...args: string[]) => {
    const words = [command, 'pages.ts', ...args, '-s', `REDIS_URL=${redis.url}`]
    const { code, stdout } = await line.run(words, { cwd: folder.path })
    return { exitCode: code, text: stdout }
  }
  try {
    for (const command of ['status', 'clear'])
      expect((await here(command)).text, command).toContain('nobody has begun ')
    expect((await here('seed', web.seeds[0]!)).exitCode).toBe(0)
    const { code, stderr } = await line.run(['worker', 'pages.ts', '-o', 'pages.jsonl'], {
      cwd: folder.path,
      factor: SHORT_TIMES,
      env: { REDIS_URL: redis.url, WEBLOOM_SCHEDULER_PERSIST: 'true' },
    })
    expect(code, stderr).toBe(0)
    expect(readFileSync(folder.join('pages.jsonl'), 'utf8')).not.toBe('')
    const status = JSON.parse((await here('status', '--json')).text) as { crawl: string }
    expect(status.crawl).toBe('{pages}')
    expect((await here('clear')).text).toContain('is gone')
    const { text } = await here('status')
    expect(text).toMatch(/idle/)
    expect(text).not.toContain('nobody has begun')
  } finally {
    await redis.stop()
  }
})

test('outside a project a name is answered with what takes its place: the file', async () => {
  await using folder = await tempDir()
  writeFileSync(folder.join('quotes.ts'), '')
  const answerTo = async (named: string) => {
    const { code, stderr } = await line.run(['status', named], { cwd: folder.path })
    expect(code).toBe(2)
    return stderr
  }
  expect(await answerTo('quotes')).toContain('takes its file as well: quotes.ts in place of quotes')
  expect(await answerTo('qoutes')).toContain(
    'takes its file as well; there is no file qoutes.ts. Did you mean quotes.ts?',
  )
})
