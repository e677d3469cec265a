import { readFileSync } from 'node:fs'
import { createSecureContext, getCACertificates, type SecureContextOptions } from 'node:tls'
import { type Settings, SettingsError } from '@webloom/core'

/** How encrypted connections are made, to sites and to proxies. */
export interface TlsOptions
  extends Pick<SecureContextOptions, 'minVersion' | 'maxVersion' | 'ciphers' | 'ca'> {
  /** False: every certificate is accepted. */
  readonly rejectUnauthorized: boolean
}

/**
 * Returns the TLS options of the settings. Throws `SettingsError` for versions, ciphers and certificates that cannot be
 * used.
 */
export function tlsFromSettings(settings: Settings): TlsOptions {
  const method = settings.get('DOWNLOADER_CLIENT_TLS_METHOD')
  const only = method === 'TLS' ? null : method
  const [min, max] = [
    settings.get('DOWNLOAD_TLS_MIN_VERSION') ?? only,
    settings.get('DOWNLOAD_TLS_MAX_VERSION') ?? only,
  ]
  if (min && max && min > max) throw new SettingsError([`TLS from ${min} to ${max} allows no version`])
  const ciphers = settings.getString('DOWNLOADER_CLIENT_TLS_CIPHERS')
  const certificates = settings.get('DOWNLOAD_CA_CERTIFICATES')
  const options = {
    rejectUnauthorized: settings.getBool('DOWNLOAD_VERIFY_CERTIFICATES'),
    ...(min && { minVersion: min }),
    ...(max && { maxVersion: max }),
    ...(ciphers !== 'DEFAULT' && { ciphers }),
    ...(certificates && { ca: [...getCACertificates('default'), pem(certificates)] }),
  }
  try {
    createSecureContext(options)
  } catch (error) {
    throw new SettingsError([`ciphers or certificates of TLS cannot be used: ${(error as Error).message}`])
  }
  return options
}

function pem(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new SettingsError([`DOWNLOAD_CA_CERTIFICATES cannot be read: ${(error as Error).message}`])
  }
}
