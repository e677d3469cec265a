import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const read = (name: string) =>
  readFileSync(new URL(`../testdata/certificates/${name}`, import.meta.url), 'utf8')

/** A certificate authority of the tests. */
export const LOCAL_CA = read('ca.crt')

/** For `localhost`, loopback, `a.example`, `b.example` and `site.test`, signed by `LOCAL_CA`. */
export const LOCAL_CERTIFICATE = { key: read('site.key'), cert: read('site.crt') }

/** The same, but it held in January 2020 only. */
export const EXPIRED_CERTIFICATE = { key: read('site.key'), cert: read('expired.crt') }

/** For `localhost` and 127.0.0.1, signed by nobody else. */
export const SELF_SIGNED_CERTIFICATE = { key: read('site.key'), cert: read('self-signed.crt') }

/** Path of `LOCAL_CA`, for DOWNLOAD_CA_CERTIFICATES. */
export const LOCAL_CA_FILE = fileURLToPath(new URL('../testdata/certificates/ca.crt', import.meta.url))
