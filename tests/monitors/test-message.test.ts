/** `webloom monitors test`: what receivers get, and what is said of their answers. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TempDir } from '@webloom/testkit'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CommandLine } from '../projects/command-line.ts'
import { projectFolder } from '../projects/project-folder.ts'

const line = new CommandLine()
let folder: TempDir
beforeAll(async () => {
  folder = await projectFolder({
    'webloom.config.ts': `export default { spiders: 'spiders', settings: { PRIVATE_ADDRESSES_ALLOWED: ['127.0.0.1'] } }`,
    'spiders/shop.ts': `import { Spider } from 'webloom'
export class Shop extends Spider {
  static override monitors = { items: { min: 100 } }
  override name = 'shop'
}`,
  })
})
afterAll(() => Promise.all([line[Symbol.asyncDispose](), folder.remove()]))

const monitorsTest = (...words: string[]) =>
  line.run(['monitors', 'test', 'shop', ...words], { cwd: folder.path })

/** Takes POSTs, answers those to /gone with 410, and never ends its answer at /talks. */
async function receiver() {
  const told: string[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (part: string) => (text += part))
    request.on('end', () => {
      told.push(text)
      if (request.url!.startsWith('/talks')) response.writeHead(200).write('well')
      else response.writeHead(request.url!.startsWith('/gone') ? 410 : 204).end()
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    told,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

test('each channel gets one message that says it is a test, and what came back is told without secrets', async () => {
  await using hook = await receiver()
  const mails: string[] = []
  const office = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData: (stream, _session, done) => {
      let text = ''
      stream.setEncoding('utf8').on('data', (part: string) => (text += part))
      stream.on('end', () => {
        mails.push(text)
        done(null, 'kept as 17')
      })
    },
  })
  const listening = office.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  try {
    const { port } = listening.address() as AddressInfo
    const mail = [
      '-s',
      'MONITOR_MAIL_TO=ops@example.com',
      '-s',
      'MAIL_HOST=127.0.0.1',
      '-s',
      `MAIL_PORT=${port}`,
    ]
    const hooks = ['-s', `MONITOR_WEBHOOKS=${hook.url}/ok?token=hush,${hook.url}/talks`]
    const { code, stdout, stderr } = await monitorsTest(...mail, ...hooks, '-s', 'CRAWL_ID=big')
    const host = hook.url.slice('http://'.length)
    expect(stdout.split('\n')).toEqual([
      `taken   webhook of ${host}: 204`,
      `taken   webhook of ${host} (2): 200`,
      'taken   mail to ops@example.com: 250 kept as 17',
      'taken   log: written, at level ERROR',
      '',
    ])
    expect(code).toBe(0)
    expect(stderr).toContain('monitor test: this is a test')
    expect(stdout + stderr).not.toContain('hush')
  } finally {
    await new Promise<void>((resolve) => office.close(resolve))
  }
  expect(mails).toHaveLength(1)
  expect(mails[0]).toMatch(/^Subject: \[webloom\] shop@big: a test of its alerts$/m)
  expect(hook.told).toHaveLength(2)
  expect(hook.told.slice(0, 1).map((text) => JSON.parse(text) as object)).toMatchObject([
    {
      event: 'test',
      isTest: true,
      spider: 'shop',
      crawlId: 'big',
      more: expect.stringMatching(/ -s CRAWL_ID=big$/),
    },
  ])
})

test('one receiver that refuses, or is not there: exit code 1, and each is told by its host alone', async () => {
  await using hook = await receiver()
  const urls = [`${hook.url}/ok`, `${hook.url}/gone/T1/hush`, 'http://127.0.0.1:1/T1/hush']
  const { code, stdout } = await monitorsTest('-s', `MONITOR_WEBHOOKS=${urls.join(',')}`, '--json')
  const answers = JSON.parse(stdout) as { readonly isAccepted: boolean; readonly answer: string }[]
  expect(code).toBe(1)
  expect(stdout).not.toContain('hush')
  expect(answers.map(({ isAccepted }) => isAccepted)).toEqual([true, false, false, true])
  expect(answers.slice(1, 3).map(({ answer }) => answer)).toEqual([
    'it answers 410',
    expect.stringMatching(/refused|ECONNREFUSED/),
  ])
})

test('two receivers with a space between are refused, and not taken as one', async () => {
  const { code, stderr } = await monitorsTest(
    '-s',
    'MONITOR_WEBHOOKS=http://a.example/T1/hush http://b.example/',
  )
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('MONITOR_WEBHOOKS[0] has a space in it; write commas between addresses'),
  ])
  expect(stderr).not.toContain('hush')
})

test('with nobody to tell it says which setting to set', async () => {
  const { code, stderr } = await monitorsTest()
  expect([code, stderr]).toEqual([2, expect.stringContaining('Set MONITOR_WEBHOOKS=https://')])
})
