/** Tells by mail, with the project's own nodemailer: no dependency of webloom, as few crawls need it. */

import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Notification, type Settings, SettingsError, UsageError } from '@webloom/core'
import { type NotificationChannel, notificationText, notificationTitle } from './notification.ts'

/** What is used of nodemailer. */
interface Transport {
  sendMail(mail: {
    readonly from: string
    readonly to: readonly string[]
    readonly subject: string
    readonly text: string
    readonly messageId: string
  }): Promise<{ readonly response?: string }>
  close(): void
}

interface Nodemailer {
  createTransport(options: object): Transport
}

interface MailOptions {
  readonly from: string
  readonly to: readonly string[]
  readonly auth?: MailAuth | undefined
  /** Said of a mail that is not sent. Default: nothing. */
  readonly hint?: string
}

interface MailAuth {
  readonly user: string
  readonly pass: string
}

const ANSWER_MS_MAX = 10_000
/** `ops@example.com`, or `Ops <ops@example.com>`. */
const ADDRESS = /[^\s@<>]@[^\s@<>]/

export class Mail implements NotificationChannel {
  readonly name: string
  readonly #transport: Transport
  readonly #from: string
  readonly #to: readonly string[]
  readonly #secrets: readonly string[]
  readonly #hint: string

  constructor(transport: Transport, { from, to, auth, hint = '' }: MailOptions) {
    this.#transport = transport
    this.#from = from
    this.#to = to
    this.#secrets = auth ? secretsOf(auth) : []
    this.#hint = hint
    this.name = `mail to ${to.join(', ')}`
  }

  async send(notification: Notification): Promise<string | undefined> {
    const sending = this.#transport.sendMail({
      from: this.#from,
      to: this.#to,
      subject: `[webloom] ${notificationTitle(notification)}`,
      text: `${notificationText(notification)}\n`,
      // A mail that is sent again is shown once by most readers.
      messageId: `<${notification.id}@webloom>`,
    })
    try {
      const { response } = await sending
      return response && this.#withoutSecrets(response)
    } catch (error) {
      throw new Error(this.#withoutSecrets((error as Error).message) + this.#hint)
    }
  }

  /** Some servers repeat what they were told. */
  #withoutSecrets(answer: string): string {
    return this.#secrets.reduce((text, secret) => text.replaceAll(secret, '***'), answer)
  }

  async close(): Promise<void> {
    this.#transport.close()
  }
}

/**
 * MONITOR_MAIL_TO; undefined where nobody is named. Throws before anything is fetched: `SettingsError` for what is no address, and WL_USAGE
 * where nodemailer is missing.
 *
 * @param ours a file of ours: what is installed beside it is taken where the project has none
 */
export async function mailOf(
  settings: Settings,
  folder: string,
  ours = import.meta.filename,
): Promise<Mail | undefined> {
  const to = settings.getList('MONITOR_MAIL_TO').map(String)
  if (to.length === 0) return undefined
  const bad = to.filter((address) => !ADDRESS.test(address))
  if (bad.length > 0)
    throw new SettingsError(
      bad.map(
        (address) =>
          `MONITOR_MAIL_TO has ${JSON.stringify(address)}; expected addresses such as ops@example.com, with commas between`,
      ),
    )
  const nodemailer = await nodemailerOf(folder, ours)
  const user = settings.get('MAIL_USER')
  const auth = user === null ? undefined : { user, pass: settings.get('MAIL_PASS') ?? '' }
  const transport = nodemailer.createTransport({
    host: settings.get('MAIL_HOST'),
    port: settings.getInt('MAIL_PORT'),
    secure: settings.getBool('MAIL_SSL'),
    requireTLS: settings.getBool('MAIL_TLS'),
    ...(auth && { auth }),
    connectionTimeout: ANSWER_MS_MAX,
    greetingTimeout: ANSWER_MS_MAX,
    socketTimeout: ANSWER_MS_MAX,
  })
  const hint =
    settings.source('MAIL_HOST') === 'default'
      ? `; MAIL_HOST is not set, so ${settings.get('MAIL_HOST')} was asked`
      : ''
  return new Mail(transport, { from: settings.getString('MAIL_FROM'), to, auth, hint })
}

/** The password as it is sent: by AUTH PLAIN with the user before it, by AUTH LOGIN alone, both as base64. */
function secretsOf({ user, pass }: MailAuth): string[] {
  if (pass === '') return []
  const sent = [`\0${user}\0${pass}`, pass].map((text) => Buffer.from(text).toString('base64'))
  return [...sent, ...sent.map((text) => text.replace(/=+$/, '')), pass]
}

/** Resolves to the project's nodemailer, or to one that is found beside webloom. */
async function nodemailerOf(folder: string, ours: string): Promise<Nodemailer> {
  for (const place of [join(folder, 'package.json'), ours]) {
    try {
      const path = createRequire(place).resolve('nodemailer')
      const module = (await import(pathToFileURL(path).href)) as {
        readonly default?: Nodemailer
      } & Nodemailer
      return module.default ?? module
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error
    }
  }
  throw new UsageError(
    'WL_USAGE',
    'MONITOR_MAIL_TO is set, and mails are sent by the package nodemailer, which is not installed. Install it:  npm install nodemailer',
  )
}
