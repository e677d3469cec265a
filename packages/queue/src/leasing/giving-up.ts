/** When a request is given up, and what is kept of it. */
export interface GivingUp {
  /** QUARANTINE_AFTER. */
  readonly quarantineAfter?: number
  /** How long a rejected request is held back. Default: that of `times`. */
  readonly rejectedMs?: number
  /** FAILED_MAX. Default: 0, no failure is kept. */
  readonly failedMax?: number
  /** Called with how many failures were removed for it. */
  readonly onTrimmed?: (count: number) => void
}
