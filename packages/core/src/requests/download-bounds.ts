import { timerMs } from '../waiting/deadline.ts'
import type { Request } from './request.ts'

/**
 * Returns how many bytes the body of this request may have: `meta.download_maxsize`, else DOWNLOAD_MAXSIZE. 0: no bound. What is
 * no number of bytes, such as a negative one, sets no other bound than that of the settings.
 */
export function bodyBytesMaxOf(request: Request, fromSettings: number): number {
  const bytesMax = request.hasMeta ? request.meta.download_maxsize : undefined
  return typeof bytesMax === 'number' && bytesMax >= 0 ? bytesMax : fromSettings
}

/** Returns how long a download may take: `meta.download_timeout` (seconds), else the milliseconds of DOWNLOAD_TIMEOUT. */
export function downloadTimeoutMsOf(request: Request, fromSettingsMs: number): number {
  const seconds = request.hasMeta ? request.meta.download_timeout : undefined
  return timerMs(typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : fromSettingsMs)
}
