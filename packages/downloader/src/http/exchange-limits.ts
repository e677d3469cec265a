import type { Settings } from '@webloom/core'

/** The bounds of one answer. 0 stands for no bound. */
export interface ExchangeLimits {
  /** DOWNLOAD_MAXSIZE: bytes of the body as sent. */
  readonly bodyBytesMax: number
  /** True: of a longer body the beginning is returned. Otherwise such a body is a failure. */
  readonly cutsBody?: boolean
  /** DOWNLOAD_FAIL_ON_DATALOSS. False: a body that ends too early is returned as it is. */
  readonly failOnDataLoss: boolean
  /** DOWNLOAD_MAX_HEADERS. */
  readonly headersMax: number
  /** DOWNLOAD_MAX_INTERIM_ANSWERS: 1xx answers before the real one. */
  readonly interimAnswersMax: number
  /** DOWNLOAD_MIN_RATE, bytes a second. */
  readonly rateMin: number
  /** DOWNLOAD_RATE_WINDOW. */
  readonly rateWindowMs: number
}

/** The defaults of the settings, for handlers that are made without them. */
export const DEFAULT_LIMITS: ExchangeLimits = {
  bodyBytesMax: 33_554_432,
  failOnDataLoss: true,
  headersMax: 500,
  interimAnswersMax: 20,
  rateMin: 100,
  rateWindowMs: 30_000,
}

export function exchangeLimitsOf(settings: Settings): ExchangeLimits {
  return {
    bodyBytesMax: settings.getInt('DOWNLOAD_MAXSIZE'),
    failOnDataLoss: settings.getBool('DOWNLOAD_FAIL_ON_DATALOSS'),
    headersMax: settings.getInt('DOWNLOAD_MAX_HEADERS'),
    interimAnswersMax: settings.getInt('DOWNLOAD_MAX_INTERIM_ANSWERS'),
    rateMin: settings.getFloat('DOWNLOAD_MIN_RATE'),
    rateWindowMs: settings.getMs('DOWNLOAD_RATE_WINDOW'),
  }
}
