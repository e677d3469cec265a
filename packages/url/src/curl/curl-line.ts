import { WebloomError } from '../errors.ts'

/** What is written into a command. */
export interface CurlLineParts {
  /** What is asked for. */
  readonly url: string
  /** GET and HEAD are written as curl has them by itself. */
  readonly method: string
  /** Each becomes a `-H`. */
  readonly headers: Iterable<readonly [name: string, value: string]>
  /** Becomes `--data-raw`; throws WL_REQUEST_INVALID when it is not UTF-8 text. */
  readonly body: Uint8Array
  /** Become one `-b`. */
  readonly cookies: Readonly<Record<string, string>> | readonly { name: string; value: string }[] | null
}

/** Returns the command line that has curl send the request, quoted for a POSIX shell. `parseCurl` reads it back. */
export function curlLine(request: CurlLineParts): string {
  const { method, url, headers, body, cookies } = request
  const options = [
    ...(method === 'HEAD' ? ['-I'] : method === 'GET' && body.length === 0 ? [] : ['-X', method]),
    ...[...headers].flatMap(([name, value]) => ['-H', value === '' ? `${name};` : `${name}: ${value}`]),
    ...(cookies ? ['-b', cookiePairs(cookies)] : []),
    ...(body.length > 0 ? ['--data-raw', textOf(request)] : []),
  ]
  return ['curl', url, ...options].map(shellQuoted).join(' ')
}

function cookiePairs(cookies: NonNullable<CurlLineParts['cookies']>): string {
  const pairs: (readonly [string, unknown])[] = Array.isArray(cookies)
    ? cookies.map(({ name, value }) => [name, value])
    : Object.entries(cookies)
  return pairs.map(([name, value]) => `${name}=${value}`).join('; ')
}

function textOf({ body, url }: CurlLineParts): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
  } catch (cause) {
    throw new WebloomError(
      'WL_REQUEST_INVALID',
      `the body for ${url} is not UTF-8 text, and a command line holds nothing else`,
      { cause },
    )
  }
}

function shellQuoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
