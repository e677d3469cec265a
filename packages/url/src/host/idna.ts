import punycode from 'punycode/punycode.js'
import { isAscii } from '../percent.ts'
import { nameprep } from './nameprep.ts'

/**
 * Returns a host name in ASCII by IDNA2003, as Python's `idna` codec writes it, or undefined when it refuses.
 *
 * Not `url.domainToASCII`: browsers follow UTS 46, which keeps ß, ς and joiners, where IDNA2003 maps or drops them.
 * Fingerprints made by Scrapy hold the 2003 form.
 */
export function idnaEncode(host: string): string | undefined {
  if (host === '') return ''
  if (isAscii(host)) return host.split('.').every(fitsUnlessLast) ? host : undefined
  // A page's links share few hosts, so the last one is remembered.
  if (host !== lastHost) {
    lastEncoded = encodeLabels(host)
    lastHost = host
  }
  return lastEncoded
}

let lastHost: string | undefined
let lastEncoded: string | undefined

function encodeLabels(host: string): string | undefined {
  // Full stops of East Asian input methods separate labels too (RFC 3490 §3.1).
  const labels = host.split(/[.\u3002\uff0e\uff61]/)
  const trailingDot = labels.at(-1) === '' ? '.' : ''
  if (trailingDot) labels.pop()
  const encoded: string[] = []
  for (const label of labels) {
    const ascii = labelToAscii(label)
    if (ascii === undefined) return undefined
    encoded.push(ascii)
  }
  return encoded.join('.') + trailingDot
}

// RFC 1034 §3.1: a label has at most 63 octets. Only the root's, at the very end, is empty.
const LABEL_MAX = 63
// As Python: a longer label is not even prepared.
const LABEL_RAW_MAX = 1024

function fitsUnlessLast(label: string, index: number, labels: readonly string[]): boolean {
  return label.length <= LABEL_MAX && (label !== '' || index === labels.length - 1)
}

function labelToAscii(label: string): string | undefined {
  if (isAscii(label)) return fits(label)
  const prepared = label.length > LABEL_RAW_MAX ? undefined : nameprep(label)
  if (prepared === undefined) return undefined
  if (isAscii(prepared)) return fits(prepared)
  // Punycode has at least one character for each; it takes time quadratic in their number.
  if (Array.from(prepared).length > LABEL_MAX) return undefined
  return prepared.toLowerCase().startsWith('xn--') ? undefined : fits(`xn--${punycode.encode(prepared)}`)
}

function fits(label: string): string | undefined {
  return label !== '' && label.length <= LABEL_MAX ? label : undefined
}
