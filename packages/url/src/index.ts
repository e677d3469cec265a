// URLs: made safe, compared, joined and taken apart

export { baseUrlOf } from './base-url.ts'
export { type CanonicalizeOptions, canonicalizeUrl } from './canonicalize-url.ts'
export { isPlainRooted, plainRoot, urlJoin } from './join.ts'
export { quoter, unquote } from './percent.ts'
export { type ReferrerPolicy, referrerOf, referrerPolicyNamed } from './referrer-policy.ts'
export { type SafeUrlOptions, safeUrlString } from './safe-url.ts'
export { NEWEST_URL_RULES, type UrlRules } from './url-rules.ts'
export { splitParams, type UrlParts, urlSplit, urlUnsplit } from './urlsplit.ts'

// Hosts

export { hostAndPort } from './host/host-and-port.ts'
export { hostNameOf } from './host/host-name.ts'
export { idnaEncode } from './host/idna.ts'
export { type Netloc, splitNetloc } from './host/netloc.ts'
export { originOf } from './host/origin.ts'

// Encodings of pages and of what is sent to their sites

export { encoderFor, type TextEncoderOf } from './charset/charset-encode.ts'
export {
  byteHead,
  decodeText,
  detectEncoding,
  HEAD_BYTES,
  urlEncodingOf,
} from './charset/page-encoding.ts'

// Requests as browsers copy them

export { type CurlRequest, type CurlRequestInit, parseCurl } from './curl/curl-command.ts'
export { type CurlLineParts, curlLine } from './curl/curl-line.ts'

// What our packages share: errors, options that authors write, texts that are cut out of pages

export { InvalidUrl, WebloomError } from './errors.ts'
export { stripHtmlSpace } from './html-space.ts'
export type { JsonValue } from './json-value.ts'
export { checkOptions, type OptionNames, type OptionsPlace, valueShown } from './options/known-options.ts'
export { didYouMean, editDistance } from './options/nearest-names.ts'
export { checkText } from './options/text-given.ts'
export { ownCopy } from './own-copy.ts'
