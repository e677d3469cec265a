/** Mails as a server gets them. */

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type Notification, Settings } from '@webloom/core'
import { tempDir } from '@webloom/testkit'
import { SMTPServer } from 'smtp-server'
import { expect, test } from 'vitest'
import { mailOf } from './mail.ts'

const NOTIFICATION: Notification = {
  id: '7f1c',
  spider: 'quotes',
  run: 'r1',
  alerts: [
    {
      id: 'coverage/price',
      words: 'price: 0 % of the last 412 items have it; at least 95 % must',
      at: '2026-01-01T00:00:00.000Z',
      pages: ['https://books.example/1'],
    },
  ],
  pages: 9,
  items: 7,
}

interface Got {
  readonly from: string
  readonly to: readonly string[]
  readonly text: string
}

/** As a client sends it. */
const base64 = (text: string) => Buffer.from(text).toString('base64')

/** Takes mail of whoever knows the password, and repeats what a stranger has said. */
async function postOffice() {
  const got: Got[] = []
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    onAuth: ({ username, password }, _session, done) => {
      if (username === 'ops' && password === 'hush') return done(null, { user: username })
      const sent = [`\0${username}\0${password}`, `${password}`].map(base64)
      return done(new Error(`who are you, ${username} ${password} ${sent.join(' ')}?`))
    },
    onData: (stream, { envelope: { mailFrom, rcptTo } }, done) => {
      let text = ''
      stream.setEncoding('utf8').on('data', (part: string) => (text += part))
      stream.on('end', () => {
        const from = mailFrom === false ? '' : mailFrom.address
        got.push({ from, to: rcptTo.map(({ address }) => address), text })
        done()
      })
    },
  })
  const listening = server.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  return {
    got,
    port: (listening.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(resolve)),
  }
}

const settingsOf = (port: number, more: Readonly<Record<string, unknown>> = {}) =>
  Settings.fromLayers({
    command: {
      MONITOR_MAIL_TO: ['ops@example.com', 'boss@example.com'],
      MAIL_HOST: '127.0.0.1',
      MAIL_PORT: port,
      MAIL_FROM: 'crawler@example.com',
      MAIL_USER: 'ops',
      MAIL_PASS: 'hush',
      ...more,
    },
  })

test('a mail says what was found and shows pages, under an id that is the same when it is sent again', async () => {
  await using office = await postOffice()
  const mail = await mailOf(settingsOf(office.port), import.meta.dirname)
  await mail!.send(NOTIFICATION)
  await mail!.send(NOTIFICATION)
  await mail!.close()
  expect(office.got).toHaveLength(2)
  const { from, to, text } = office.got[0]!
  expect([from, to]).toEqual(['crawler@example.com', ['ops@example.com', 'boss@example.com']])
  expect(text).toMatch(/^Subject: \[webloom\] quotes: a monitor has found something while the crawl\s+runs$/m)
  expect(text).toContain('price: 0 % of the last 412 items have it; at least 95 % must')
  expect(text).toContain('https://books.example/1')
  expect(text).not.toContain('hush')
  for (const one of office.got) expect(one.text).toMatch(/^Message-ID: <7f1c@webloom>$/im)
})

test('a server that does not let us in, and one that is not there, are told', async () => {
  await using office = await postOffice()
  const stranger = await mailOf(settingsOf(office.port, { MAIL_PASS: 'wrong' }), import.meta.dirname)
  await expect(stranger!.send(NOTIFICATION)).rejects.toThrow('who are you, ops *** *** ***?')
  const nobody = await mailOf(settingsOf(1), import.meta.dirname)
  await expect(nobody!.send(NOTIFICATION)).rejects.toThrow('ECONNREFUSED')
})

test('without nodemailer it is told what to install, before anything is fetched', async () => {
  await using folder = await tempDir()
  const made = mailOf(settingsOf(1), folder.path, folder.join('ours.js'))
  await expect(made).rejects.toThrow(/Install it: {2}npm install nodemailer/)
  expect(await mailOf(Settings.fromLayers({}), folder.path, folder.join('ours.js'))).toBeUndefined()
})
