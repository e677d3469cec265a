/** Each way to tell people of alerts, to a real server on loopback. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { type DownloadHandler, Response, Settings } from '@webloom/core'
import { SMTPServer } from 'smtp-server'
import { describe, test } from 'vitest'
import {
  type ChannelUnderTest,
  notificationChannelContract,
  type Received,
} from '../../testing/notification-channel-contract.ts'
import { mailOf } from './mail.ts'
import { Webhook } from './webhook.ts'

const portOf = (address: unknown) => (address as AddressInfo).port

const overHttp: DownloadHandler = {
  async download(request, { signal }) {
    const { status } = await fetch(request.url, {
      method: request.method,
      headers: [...request.headers],
      body: Buffer.from(request.body ?? ''),
      ...(signal && { signal }),
    })
    return new Response(request.url, { status, request })
  },
}

async function webhook() {
  const received: Received[] = []
  let status = 200
  const server = createServer(async (request, response) => {
    const body = await text(request)
    if (status === 200) received.push({ id: `${request.headers['x-webloom-id']}`, text: body })
    response.writeHead(status).end('T1/hush')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${portOf(server.address())}/T1/hush`
  const subject: ChannelUnderTest = {
    channel: new Webhook({ url, handler: overHttp, secret: 'key-of-signatures' }),
    received,
    secrets: ['hush', 'key-of-signatures'],
    refuse: (how) => {
      status = how === 'for now' ? 503 : 410
    },
  }
  return { subject, dispose: async () => void server.close() }
}

async function mail() {
  const received: Received[] = []
  let refuses = false
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    onAuth: ({ username, password }, _session, done) =>
      refuses ? done(new Error(`not now, ${username} ${password}`)) : done(null, { user: 'ops' }),
    onData: (stream, _session, done) =>
      void text(stream).then((body) => {
        received.push({ id: /^Message-ID: (.*)$/im.exec(body)?.[1] ?? '', text: body })
        done()
      }),
  })
  const listening = server.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  const command = {
    ...{
      MONITOR_MAIL_TO: ['ops@example.com'],
      MAIL_HOST: '127.0.0.1',
      MAIL_PORT: portOf(listening.address()),
    },
    ...{ MAIL_USER: 'ops', MAIL_PASS: 'hush' },
  }
  const channel = await mailOf(Settings.fromLayers({ command }), import.meta.dirname)
  const subject: ChannelUnderTest = {
    channel: channel!,
    received,
    secrets: ['hush'],
    refuse: () => {
      refuses = true
    },
  }
  return { subject, dispose: () => new Promise<void>((resolve) => server.close(resolve)) }
}

notificationChannelContract({ describe, test }, { name: 'Webhook', create: webhook })
notificationChannelContract(
  { describe, test },
  {
    name: 'Mail',
    create: mail,
    deviations: [
      {
        test: 'one that will never take it is not asked again: NotificationRefused',
        reason: 'what a mail server refuses today, as a password or a full mailbox, it may take in an hour',
      },
    ],
  },
)
