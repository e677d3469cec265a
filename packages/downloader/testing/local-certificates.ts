import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A certificate for these hosts, signed by a certificate authority made for this test alone. */
export interface LocalCertificates {
  readonly ca: string
  readonly key: string
  readonly cert: string
}

/** Undefined where there is no openssl: Node can read certificates but make none. */
export function localCertificates(hosts: readonly string[]): LocalCertificates | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'webloom-ca-'))
  const file = (name: string) => join(folder, name)
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe' })
  const read = (name: string) => readFileSync(file(name), 'utf8')
  try {
    writeFileSync(file('names'), `subjectAltName=${hosts.map((host) => `DNS:${host}`).join(',')}`)
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
    const authority = ['-x509', '-subj', '/CN=Test CA', '-keyout', file('ca.key'), '-out', file('ca.crt')]
    openssl('req', ...curve, ...authority, '-days', '1')
    openssl('req', ...curve, '-subj', '/CN=site', '-keyout', file('key'), '-out', file('request'))
    const signing = ['-CA', file('ca.crt'), '-CAkey', file('ca.key'), '-CAcreateserial']
    openssl(
      'x509',
      '-req',
      '-in',
      file('request'),
      ...signing,
      '-extfile',
      file('names'),
      '-out',
      file('crt'),
    )
    return { ca: read('ca.crt'), key: read('key'), cert: read('crt') }
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return undefined
    throw error
  } finally {
    rmSync(folder, { recursive: true })
  }
}
