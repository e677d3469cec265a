/**
 * What request a curl command would send.
 *
 * Scrapy's parser knows fourteen options and takes the value of any other for the URL. Here the options that carry a
 * value are known, so that those which mean nothing to a crawl (`-o file`, `--max-time 10`) can be passed over whole.
 */

import { WebloomError } from '../errors.ts'
import { shellWords } from './shell-words.ts'

/** What a curl command says of a request. */
export interface CurlRequest {
  /** As curl would ask for it. */
  readonly url: string
  /** All else that is kept of the command. */
  readonly init: CurlRequestInit
  /** Options that say something which is not kept, as they were written. */
  readonly ignored: readonly string[]
}

/** The parts of such a request. What the command does not mention is absent. */
export interface CurlRequestInit {
  /** `-X`, or what the other options imply. */
  method: string
  /** `-H` and the options that stand for a header, in their order. */
  headers?: [name: string, value: string][]
  /** `-d` and the like, joined. */
  body?: string
  /** `-b`, and the header Cookie, by name. */
  cookies?: Record<string, string>
}

/** Throws WL_REQUEST_INVALID for a command that is none, has no URL or reads a file. */
export function parseCurl(command: string): CurlRequest {
  const [program, ...words] = shellWords(command)
  if (program !== 'curl')
    throw invalid(`it begins with ${JSON.stringify(program ?? '')}; expected a command that begins with curl`)
  const given = new CurlOptions()
  readOptions(words, given)
  return given.request()
}

class CurlOptions {
  readonly headers: [string, string][] = []
  readonly cookies = new Map<string, string>()
  readonly ignored: string[] = []
  readonly #urls: string[] = []
  #parts: string[] | undefined
  #method: string | undefined
  #isHead = false
  #isQuery = false

  /** Takes in one option with its value; false when it is not known, or says nothing that is kept. */
  take(option: string, value: string): boolean {
    switch (option) {
      case '--url':
        this.#urls.push(value)
        return true
      case '-X':
      case '--request':
        this.#method = value
        return true
      case '-I':
      case '--head':
        this.#isHead = true
        return true
      case '-G':
      case '--get':
        this.#isQuery = true
        return true
      case '-H':
      case '--header':
        return this.#header(value)
      case '-A':
      case '--user-agent':
        return this.#header(`User-Agent: ${value}`)
      case '-e':
      case '--referer':
        return this.#header(`Referer: ${value}`)
      case '-u':
      case '--user':
        return this.#header(`Authorization: Basic ${Buffer.from(withColon(value)).toString('base64')}`)
      case '-b':
      case '--cookie':
        return value.includes('=') && this.#cookies(value)
      default:
        return this.#body(option, value)
    }
  }

  request(): CurlRequest {
    const [url, ...more] = this.#urls
    if (url === undefined) throw invalid('it has no URL')
    if (more.length > 0) this.ignored.push(...more)
    const body = this.#parts?.join('&')
    const isBody = body !== undefined && !this.#isQuery
    if (isBody) this.#default('Content-Type', 'application/x-www-form-urlencoded')
    return {
      url: body !== undefined && this.#isQuery ? withMoreQuery(withScheme(url), body) : withScheme(url),
      init: {
        method: this.#method ?? (this.#isHead ? 'HEAD' : isBody ? 'POST' : 'GET'),
        ...(isBody && { body }),
        ...(this.headers.length > 0 && { headers: this.headers }),
        ...(this.cookies.size > 0 && { cookies: Object.fromEntries(this.cookies) }),
      },
      ignored: this.ignored,
    }
  }

  #body(option: string, value: string): boolean {
    switch (option) {
      case '-d':
      case '--data':
      case '--data-ascii':
      case '--data-binary':
        return this.#part(notAFile(option, value))
      case '--data-raw':
        return this.#part(value)
      case '--data-urlencode':
        return this.#part(urlencoded(notAFile(option, value)))
      case '--json':
        this.#default('Content-Type', 'application/json')
        this.#default('Accept', 'application/json')
        return this.#part(notAFile(option, value))
      default:
        return false
    }
  }

  #part(part: string): true {
    this.#parts ??= []
    this.#parts.push(part)
    return true
  }

  /** `Name: value`; `Name;` is a header without a value. */
  #header(line: string): true {
    const [, name, value] = /^([^:]+):(.*)$/s.exec(line) ?? /^([^:]+);()$/s.exec(line) ?? []
    if (name === undefined) throw invalid(`the header ${JSON.stringify(line)} has no colon`)
    if (/^\s*cookie\s*$/i.test(name)) return this.#cookies(value!)
    this.headers.push([name.trim(), value!.trim()])
    return true
  }

  #cookies(pairs: string): true {
    for (const pair of pairs.split(';')) {
      const at = pair.indexOf('=')
      if (at > 0) this.cookies.set(pair.slice(0, at).trim(), pair.slice(at + 1).trim())
    }
    return true
  }

  #default(name: string, value: string): void {
    const isGiven = this.headers.some(([given]) => given.toLowerCase() === name.toLowerCase())
    if (!isGiven) this.headers.push([name, value])
  }
}

// Options without a value that are taken, or change nothing here: pages are decoded, redirects followed, and so on.
const UNDERSTOOD = new Set(
  `-# --progress-bar --compressed -s --silent -S --show-error -v --verbose -i --include -k --insecure -L --location
   -N --no-buffer -f --fail --fail-with-body -g --globoff --path-as-is -0 --http1.0 --http1.1 --http2
   --http2-prior-knowledge --http3 -1 --tlsv1 --tlsv1.2 --tlsv1.3 -4 --ipv4 -6 --ipv6 -q --disable --no-keepalive
   --no-progress-meter -O --remote-name -J --remote-header-name -I --head -G --get`.split(/\s+/),
)
// Short options that have a value; of the long ones all have, but for those above and these.
const SHORT_WITH_VALUE = 'XHAeubdmowxcTFECrtKyYzUDPQ'
// Those among them that would change something.
const LONG_WITHOUT_VALUE = new Set(
  `--anyauth --append --basic --create-dirs --crlf --digest --disable-eprt --disable-epsv --doh-insecure --form-escape
   --ftp-create-dirs --ftp-pasv --ftp-ssl-reqd --haproxy-protocol --ignore-content-length --junk-session-cookies
   --list-only --location-trusted --mail-rcpt-allowfails --manual --metalink --negotiate --netrc --netrc-optional
   --ntlm --parallel --parallel-immediate --post301 --post302 --post303 --proxy-anyauth --proxy-basic --proxy-digest
   --proxy-insecure --proxy-negotiate --proxy-ntlm --proxytunnel --raw --remote-name-all --remote-time --ssl
   --ssl-allow-beast --ssl-no-revoke --ssl-reqd --sslv2 --sslv3 --styled-output --suppress-connect-headers
   --tcp-fastopen --tcp-nodelay --tr-encoding --trace-time --use-ascii --version --xattr`.split(/\s+/),
)

function readOptions(words: readonly string[], given: CurlOptions): void {
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!
    if (!word.startsWith('-') || word === '-') given.take('--url', word)
    else if (word.startsWith('--')) at += readLong(word, words[at + 1], given)
    else at += readShort(word, words[at + 1], given)
  }
}

/** How many words more than the option itself were read. */
function readLong(word: string, next: string | undefined, given: CurlOptions): 0 | 1 {
  const [, option = word, value] = /^(--[^=]+)=(.*)$/s.exec(word) ?? []
  if (value === undefined && (UNDERSTOOD.has(option) || LONG_WITHOUT_VALUE.has(option))) {
    if (!given.take(option, '') && !UNDERSTOOD.has(option)) given.ignored.push(word)
    return 0
  }
  if (value === undefined && next === undefined) throw invalid(`${option} needs a value`)
  if (!given.take(option, value ?? next!)) given.ignored.push(value === undefined ? `${word} ${next!}` : word)
  return value === undefined ? 1 : 0
}

/** Short options may stand together, the last with its value right behind: `-sXPOST`. */
function readShort(word: string, next: string | undefined, given: CurlOptions): 0 | 1 {
  for (let at = 1; at < word.length; at++) {
    const option = `-${word[at]}`
    if (!SHORT_WITH_VALUE.includes(word[at]!)) {
      if (!given.take(option, '') && !UNDERSTOOD.has(option)) given.ignored.push(option)
      continue
    }
    const attached = word.slice(at + 1)
    if (attached === '' && next === undefined) throw invalid(`${option} needs a value`)
    if (!given.take(option, attached || next!)) given.ignored.push(`${option} ${attached || next!}`)
    return attached === '' ? 1 : 0
  }
  return 0
}

function notAFile(option: string, value: string): string {
  if (!value.startsWith('@') && !(option === '--data-urlencode' && /^[^=]*@/.test(value))) return value
  throw invalid(`${option} ${value} reads a file, which is not done here; put its content into the command`)
}

/** curl's `--data-urlencode`: `content`, `=content` or `name=content`. */
function urlencoded(value: string): string {
  const at = value.indexOf('=')
  const name = at > 0 ? `${value.slice(0, at)}=` : ''
  return name + encodeURIComponent(value.slice(at + 1))
}

function withMoreQuery(url: string, more: string): string {
  const [page = '', ...fragment] = url.split('#')
  return [`${page}${page.includes('?') ? '&' : '?'}${more}`, ...fragment].join('#')
}

/** As curl does; `localhost:8000` is a host and its port. */
function withScheme(url: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? url : `http://${url}`
}

function withColon(user: string): string {
  return user.includes(':') ? user : `${user}:`
}

function invalid(reason: string): WebloomError {
  return new WebloomError('WL_REQUEST_INVALID', `the curl command cannot be read: ${reason}`)
}
